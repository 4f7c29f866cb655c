"""The hooks of an array's gradient: the part of the class Array beside `grad` and `backward`.

`array.py` inherits it; the hooks themselves are kept in `dispatch/hooks.py`, and the backward pass
runs them. Next: `dispatch/hooks.py`.
"""

from __future__ import annotations

import weakref
from typing import Any

from numen.dispatch import hooks, modes
from numen.dispatch.core import Leaf, Node
from numen.dispatch.hooks import Hook, HookHandle
from numen.errors import GradientError, describe
from numen.namespace.attributes import Attributes


class GradientState(Attributes):
    """Hooks on gradients, and the graph behind an array."""

    __slots__ = ()

    @property
    def grad_fn(self) -> Node | None:
        """The node of the op that made this array, None for a leaf or without gradients.

        It has `name()`, `next_functions`, `register_hook`, `register_prehook` and `metadata`.

        Examples
        --------
        >>> import numen as nm
        >>> x = nm.array([1.0, 2.0], requires_grad=True)
        >>> (x * 2).grad_fn.name()
        'multiply'
        """
        return self._n if type(self._n) is Node else None

    def register_hook(self, hook: Hook) -> HookHandle:
        """Call `hook(gradient)` whenever the gradient of this array is computed.

        What the hook returns, if not None, goes on in place of the gradient; it must have its shape
        and dtype. Hooks run in the order of their registration, in `backward()` and in the
        transforms. They belong to the value that the array holds now: after a write in place they
        see the gradient of the value before it.

        Parameters
        ----------
        hook : callable
            (Array) to an Array or None. The Array is its own to keep.

        Returns
        -------
        HookHandle
            `remove()` takes the hook away.

        Raises
        ------
        GradientError
            If this array does not require a gradient.

        Examples
        --------
        >>> import numen as nm
        >>> x = nm.array([1.0, 2.0], requires_grad=True)
        >>> y = x * x
        >>> handle = y.register_hook(lambda g: g * 10)
        >>> y.sum().backward()
        >>> x.grad
        array([20., 40.])
        """
        return hooks.add(self._required("register_hook"), "values", hook, "register_hook")

    def register_post_accumulate_grad_hook(self, hook: Hook) -> HookHandle:
        """Call `hook(array)` after `backward()` has added to this leaf's `grad`.

        Raises
        ------
        GradientError
            If this array is no leaf, or does not require a gradient.

        Examples
        --------
        >>> import numen as nm
        >>> x = nm.array([1.0, 2.0], requires_grad=True)
        >>> handle = x.register_post_accumulate_grad_hook(lambda leaf: print(leaf.grad))
        >>> (x * x).sum().backward()
        [2. 4.]
        """
        name = "register_post_accumulate_grad_hook"
        node = self._required(name)
        if type(node) is not Leaf:
            raise GradientError(
                f"{name}: only leaves accumulate gradients; got {describe(self)}, which "
                f"{node.name()} made. Hint: register_hook"
            )
        return hooks.add(node, "accumulated", hook, name, lambda given: (given, weakref.ref(self)))

    def retain_grad(self) -> None:
        """Let `backward()` fill `grad` of this array also if an op made it.

        The gradient is that of the values the array holds when `backward()` starts.

        Raises
        ------
        GradientError
            If this array does not require a gradient.

        Examples
        --------
        >>> import numen as nm
        >>> x = nm.array([1.0, 2.0], requires_grad=True)
        >>> y = x * x
        >>> y.retain_grad()
        >>> (3 * y).sum().backward()
        >>> y.grad
        array([3., 3.])
        """
        if type(self._required("retain_grad")) is not Node:
            return
        if modes.ACTIVE and modes.state.recorder is not None:
            modes.state.recorder.refuse("retain_grad inside the traced function")
        hooks.retain(self)

    @property
    def retains_grad(self) -> bool:
        """Whether `retain_grad` was called for this array, which an op made."""
        return type(self._n) is Node and hooks.retains(self)

    def _required(self, op: str) -> Any:
        if self._n is None:
            raise GradientError(
                f"{op}: this array does not require a gradient; got {describe(self)}. Hint: "
                "requires_grad_()"
            )
        return self._n
