"""Packs: one node for a call with several results.

The backward pass knows one cotangent per node. A call whose results share one backward step has one
node, whose cotangent is a Pack of theirs, and above it an unpacking node for each result. Used by
`recording.py` and `rerunning.py`.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from numen.dispatch import backends, core, modes, places, slots, views
from numen.dispatch.backward import register_of
from numen.dispatch.core import SCALAR, Cell, Node, View
from numen.dispatch.frames import innermost
from numen.dispatch.primitive import Primitive


class Form(NamedTuple):
    """What an array looks like: shape, dtype, and the backend of its values (None: the host)."""

    shape: tuple[int, ...]
    dtype: Any
    backend: Any

    @classmethod
    def of(cls, array: Any) -> Form:
        raw = array._d
        return cls(tuple(raw.shape), raw.dtype, backends.backend_of((innermost(raw),)))

    def zeros(self, dtype: Any = None) -> Any:
        """An Array of zeros of this form."""
        return self.placed(np.zeros(self.shape, self.dtype if dtype is None else dtype))

    def placed(self, data: Any) -> Any:
        """An ndarray as an Array on this form's device."""
        return core.new_constant(data if self.backend is None else self.backend.from_host(data))


class Pack:
    """The cotangents of a call's results, None for those that have none.

    Looks like an array of objects to the backward pass, which adds cotangents and compares their
    shapes and dtypes with the node's.
    """

    __slots__ = ("parts", "shape")
    dtype: np.dtype[Any] = np.dtype(object)
    ndim = 1
    size = 0

    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts = parts
        self.shape = (len(parts),)

    def __add__(self, other: Pack) -> Pack:
        pairs = zip(self.parts, other.parts, strict=True)
        return Pack([b if a is None else a if b is None else a + b for a, b in pairs])


def _picked(parts: Any, index: int, count: int) -> Any:
    return parts[index]


def _into_pack(
    needs: Sequence[bool], g: Any, out: Any, parts: Any, index: int, count: int
) -> tuple[Any, ...]:
    return (Pack([g if i == index else None for i in range(count)]),)


UNPACK = Primitive("unpack", _picked, vjp=_into_pack)
"""The row of one result of a call: only its backward pass is ever run."""


def call_node(
    prim: Primitive,
    parents: tuple[Any, ...],
    args: tuple[Any, ...],
    params: dict[str, Any],
    results: Sequence[Any],
) -> Node:
    """The node of a call with these raw results."""
    data = results[0] if len(results) == 1 else Pack([None] * len(results))
    node = Node(prim, parents, args, params, None, data)
    places.mark(node, 1)
    return node


def result_node(call: Node, index: int, count: int, data: Any) -> Node:
    """The node of result `index` of `count`; the call's own where there is one result."""
    if count == 1:
        return call
    return Node(UNPACK, (call,), (None,), {"index": index, "count": count}, None, data)


def cotangents_of(g: Any) -> tuple[list[Any], bool]:
    """The cotangents of a call's results, and whether they are raw."""
    parts = list(g.parts) if type(g) is Pack else [g]
    return parts, not any([hasattr(p, "_d") for p in parts])


def shares(out: Any, arguments: Sequence[Any]) -> bool:
    """Whether a result is a view of an argument."""
    if type(out._v) is not View:
        return False
    cell = out._v.cell
    return any([getattr(getattr(b, "_v", None), "cell", None) is cell for b in arguments])


def with_node(values: list[Any], index: int, node: Node, copied: bool) -> Any:
    """An Array with the values of the result `values[index]` and `node`.

    It shares the result's memory, and the notes about that if somebody else holds the result: the
    caller has no reference but the one in `values`, which is dropped here. `copied` gives the Array
    memory of its own.
    """
    out = values[index]
    if copied:
        bare = core.ARRAY(out._d)
        bare._t = register_of(out)
        with modes.no_grad():
            out = slots.primitive("copy")(bare)
    memory = out._v
    result = core.ARRAY(out._d, node)
    if memory is SCALAR:
        result._v = SCALAR
        result._t = register_of(out, result)
        return result
    twin = core.ARRAY(out._d, None, memory)
    twin._t = register_of(out, twin)
    ref = weakref.ref(out)
    values[index] = None
    del out
    held = ref()
    if memory is None and held is not None:
        memory = held._v = Cell()
    if memory is not None:
        base = memory.base if type(memory) is View else held
        if base is None or base._n is not None:  # not to keep the graph that was dropped
            source = twin if base is None else base
            base = core.ARRAY(source._d, None, memory.cell)
            base._t = register_of(source, base)
        result._v = View(base, memory.cell, memory.path if type(memory) is View else ())
        views.remember(memory.cell, result)
    result._t = register_of(twin if held is None else held, result)
    return result


@contextmanager
def at_level(depth: int) -> Iterator[None]:
    """Outside of the transforms of this thread that are deeper than `depth`: the user's function
    starts its own transforms there, and a value of a deeper one raises."""
    state = modes.state
    levels = state.levels
    state.levels = levels[:depth]
    state.level = len(state.levels)
    try:
        yield
    finally:
        state.levels = levels
        state.level = len(levels)
