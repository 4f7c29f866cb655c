"""Hooks: functions of the user's that see, and may replace, gradients on their way back.

`HasHooks` gives the nodes of a graph their public methods; a node without hooks stores nothing, and
a backward pass asks once (`LIVE`) whether there are any at all. `core.py` inherits it for nodes;
Array's methods are in `namespace/gradient_state.py`. Next: `visitor.py`, which runs the hooks.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING, Any

from numen.dispatch import modes

if TYPE_CHECKING:
    from numen.dispatch.core import ArrayCore

Hook = Callable[..., Any]

LIVE = 0
"""How many nodes have hooks, or are observed for arrays that retain their gradients."""

_lock = threading.RLock()  # the garbage collector may run `__del__` while it is held
_numbers = count()
retaining: dict[int, weakref.ref[Any]] = {}


class Hooks:
    """The hooks of one node.

    values: on the gradient of the array that the node made; before, after: around the node's rule;
    accumulated: after a leaf's `.grad` was filled, with a reference to the leaf's array; grads:
    what arrays that retain their gradient got.
    """

    __slots__ = ("accumulated", "after", "before", "grads", "metadata", "retaining", "values")

    def __init__(self) -> None:
        global LIVE
        self.values: dict[int, Hook] = {}
        self.before: dict[int, Hook] = {}
        self.after: dict[int, Hook] = {}
        self.accumulated: dict[int, tuple[Hook, weakref.ref[Any]]] = {}
        self.retaining: dict[int, weakref.ref[Any]] = {}
        self.grads: dict[int, tuple[weakref.ref[Any], Any]] = {}
        self.metadata: dict[Any, Any] = {}
        with _lock:
            LIVE += 1

    def __del__(self) -> None:
        global LIVE
        with _lock:
            LIVE -= 1


class HookHandle:
    """What registering a hook returns: `remove()` takes the hook away; also a context manager.

    Examples
    --------
    >>> import numen as nm
    >>> x = nm.array([1.0, 2.0], requires_grad=True)
    >>> with x.register_hook(lambda g: 10 * g):
    ...     (x * x).sum().backward()
    >>> x.grad
    array([20., 40.])
    """

    __slots__ = ("_hooks", "_number", "_removed")

    def __init__(self, hooks: dict[int, Any], number: int, removed: Callable[[], None]) -> None:
        self._hooks = hooks
        self._number = number
        self._removed = removed

    def remove(self) -> None:
        """Take the hook away; a second call does nothing."""
        if self._hooks.pop(self._number, None) is not None:
            self._removed()

    def __enter__(self) -> HookHandle:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


def hooks_of(node: Any) -> Hooks | None:
    """The hooks of a node, if it has any."""
    return getattr(node, "hooks", None)


def own_hooks(node: Any) -> Hooks:
    """The hooks of a node, made now where it has none."""
    found: Hooks | None = getattr(node, "hooks", None)
    if found is None:
        found = node.hooks = Hooks()
    return found


def add(
    node: Any, place: str, hook: Any, op: str, entry: Callable[[Hook], Any] | None = None
) -> HookHandle:
    """Register a hook in one of the dicts of a node's hooks.

    Raises
    ------
    TypeError
        If it can't be called.
    """
    if not callable(hook):
        raise TypeError(f"{op}: expected a callable hook, got {hook!r}")
    if modes.ACTIVE and modes.state.recorder is not None:
        modes.state.recorder.refuse(f"{op} inside the traced function")
    hooks: dict[int, Any] = getattr(own_hooks(node), place)
    number = next(_numbers)
    hooks[number] = hook if entry is None else entry(hook)
    if len(hooks) == 1:
        node.hooks_changed()
    return HookHandle(hooks, number, type(node).hooks_changed)


def retain(array: ArrayCore) -> None:
    """Keep the gradient of an array that an op made, also after it is written in place."""
    key = id(array)
    if key not in retaining:
        retaining[key] = weakref.ref(array, lambda _: retaining.pop(key, None))


def retains(array: ArrayCore) -> bool:
    """Whether `retain` was called for an array."""
    return id(array) in retaining


def retained(array: ArrayCore) -> Any:
    """The gradient that was kept for an array, or None."""
    found = hooks_of(array._n)
    kept = None if found is None else found.grads.get(id(array))
    return kept[1] if kept is not None and kept[0]() is array else None


def forget(array: ArrayCore) -> None:
    """Drop the gradient that was kept for an array."""
    found = hooks_of(array._n)
    if found is not None:
        found.grads.pop(id(array), None)


def move(old: Any, new: Any) -> None:
    """Let a leaf that takes another's place have its hooks."""
    found = hooks_of(old)
    if found is not None:
        new.hooks = found


class HasHooks:
    """The public methods of a graph's nodes."""

    __slots__ = ()

    @staticmethod
    def hooks_changed() -> None:
        """After a first hook was registered or one was removed."""

    def name(self) -> str:
        """The op that the node stands for; "accumulate" for a leaf."""
        prim = getattr(self, "prim", None)
        return "accumulate" if prim is None else str(prim.name)

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """The nodes of the op's arguments (None where no gradient flows), each with the number of
        the output meant: always 0."""
        return tuple([(parent, 0) for parent in getattr(self, "parents", ())])

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dict for the user's own notes."""
        return own_hooks(self).metadata

    def register_hook(self, hook: Hook) -> HookHandle:
        """Call `hook(grad_inputs, grad_outputs)` after the op's gradients are computed.

        Both are tuples of Arrays or None: one gradient for each argument, one for the result. A
        tuple that the hook returns replaces `grad_inputs`. A leaf has no arguments; there the hook
        runs after the gradient was added to `.grad`.
        """
        return add(self, "after", hook, "register_hook")

    def register_prehook(self, hook: Hook) -> HookHandle:
        """Call `hook(grad_outputs)`, a tuple of one Array, before the op's gradients are computed.

        A tuple that the hook returns replaces it.
        """
        return add(self, "before", hook, "register_prehook")
