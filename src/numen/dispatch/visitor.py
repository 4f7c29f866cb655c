"""One backward pass's visits to the hooks: which run at a node, what they get and may replace.

`backward.py` asks `visitor` once a pass; only where hooks live does its loop call `arrived` (a
node's gradient is complete), `pulled` (around its rule) and `accumulated` (a leaf got its `.grad`).
Next: `backward.py`.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numen.dispatch import core, hooks, modes, slots
from numen.dispatch.core import ArrayCore, Leaf, Node
from numen.dispatch.hooks import Hook, Hooks, hooks_of, own_hooks
from numen.errors import GradientError, describe


def visitor(wanted: dict[Any, Any] | None, wrapped: bool, within: bool = False) -> Visitor | None:
    """What runs the hooks in one backward pass; None where no hook lives.

    wanted: the nodes at which the pass stops, None where it fills leaves; wrapped: whether
    gradients are Arrays rather than raw; within: the pass is part of another one, which visits the
    nodes in `wanted`.
    """
    for ref in list(hooks.retaining.values()):
        array = ref()
        if array is not None and type(array._n) is Node:
            own_hooks(array._n).retaining[id(array)] = ref
    return Visitor(wanted, wrapped, within) if hooks.LIVE else None


class Visitor:
    """The hooks of one backward pass."""

    def __init__(self, wanted: dict[Any, Any] | None, wrapped: bool, within: bool = False) -> None:
        self._wanted = wanted
        self._wrapped = wrapped
        self._elsewhere = wanted if within and wanted is not None else ()

    def arrived(self, node: Any, g: Any) -> Any:
        """A node's complete gradient after the hooks on its array."""
        own = hooks_of(node)
        if own is None or node in self._elsewhere:
            return g
        leaf = type(node) is Leaf
        if leaf and self._wanted is not None and node not in self._wanted:
            return g  # nothing is accumulated there
        for hook in tuple(own.values.values()):
            g = self._replaced(hook, node, g)
        for key, ref in list(own.retaining.items()):
            self._retain(own, key, ref, g)
        if leaf and self._wanted is None:
            g = self._prepared(own, node, g)
        return g

    def pulled(self, node: Any, g: Any, pull: Callable[[Any], Sequence[Any]]) -> Sequence[Any]:
        """The gradients of a node's arguments between its own hooks; `pull` computes them."""
        own = hooks_of(node)
        if own is None or not (own.before or own.after):
            return pull(g)
        parents = node.parents
        prepared = self._prepared(own, node, g)
        found = list(pull(prepared))
        if prepared is not g:  # each argument has its own, as the pass sees to with g
            found = [self._checked(c, c, node) if c is prepared else c for c in found]
            g = prepared
        for hook in tuple(own.after.values()):
            given = tuple([None if c is None else self._array(c) for c in found])
            answer = self._call(hook, given, (self._array(g),))
            if answer is None:
                continue
            if not isinstance(answer, (tuple, list)) or len(answer) != len(found):
                raise GradientError(
                    f"hook of {node.name()}: expected a tuple of {len(found)} gradients or None, "
                    f"got {describe(answer)}"
                )
            found = [
                None if c is None or parent is None else self._checked(c, parent, node)
                for c, parent in zip(answer, parents, strict=True)
            ]
        return found

    def accumulated(self, leaf: Any) -> None:
        """After a leaf's `.grad` was filled."""
        own = hooks_of(leaf)
        if own is None:
            return
        for hook in tuple(own.after.values()):
            self._call(hook, (), (leaf.grad,))
        for hook, ref in tuple(own.accumulated.values()):
            array = ref()
            if array is not None:
                self._call(hook, array)

    def _prepared(self, own: Hooks, node: Any, g: Any) -> Any:
        for hook in tuple(own.before.values()):
            answer = self._call(hook, (self._array(g),))
            if answer is None:
                continue
            if not isinstance(answer, (tuple, list)) or len(answer) != 1:
                raise GradientError(
                    f"prehook of {node.name()}: expected a tuple of one gradient or None, got "
                    f"{describe(answer)}"
                )
            g = self._checked(answer[0], node, node)
        return g

    def _replaced(self, hook: Hook, node: Any, g: Any) -> Any:
        """g, or what a hook on the array puts in its place; also by writing into it."""
        given = self._array(g)
        answer = self._call(hook, given)
        if answer is not None:
            return self._checked(answer, node, node)
        written = given._v is not None and given._v.t < 0
        return self._checked(given, node, node) if written else g

    def _call(self, hook: Hook, *given: Any) -> Any:
        recorder = modes.state.recorder if modes.ACTIVE else None
        if recorder is not None:
            recorder.refuse("a gradient hook runs inside the traced function")
        if self._wrapped:
            return hook(*given)
        with modes.no_grad():
            return hook(*given)

    def _array(self, g: Any) -> Any:
        """An Array of the hook's own, whatever it does with it."""
        if isinstance(g, ArrayCore):
            return slots.primitive("copy")(g)
        return core.ARRAY(np.array(g))

    def _checked(self, value: Any, like: Any, node: Any) -> Any:
        """What a hook returned, raw where the pass is, if it fits."""
        raw = core.unwrap(value)
        if isinstance(raw, (np.ndarray, np.generic)) or isinstance(value, ArrayCore):
            if tuple(raw.shape) == tuple(like.shape) and raw.dtype == like.dtype:
                if not self._wrapped:
                    return np.array(raw)
                return self._array(value if isinstance(value, ArrayCore) else raw)
        raise GradientError(
            f"hook on the gradient of {node.name()}: expected None or a {like.dtype} array of "
            f"shape {tuple(like.shape)}, got {describe(value)}"
        )

    def _retain(self, own: Hooks, key: int, ref: weakref.ref[Any], g: Any) -> None:
        array = ref()
        if array is None or array._n is None or hooks_of(array._n) is not own:
            own.retaining.pop(key, None)  # the array has gone, or has another value now
            return
        kept = own.grads.get(key)
        g = self._array(g)
        if kept is not None and kept[0]() is array:
            g = kept[1] + g
        own.grads[key] = (ref, g)
