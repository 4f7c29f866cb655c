"""Registers: which value an array stands for at a point of a recorded call.

The lowest part of the recorder. Registers number values in order of appearance; an array's register
holds for one time stamp of its memory: in-place writes give the base a new one and views are
derived again when they are next read. Next: `notes.py`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numen.dispatch import core
from numen.dispatch.core import (
    NEVER_WRITTEN,
    SCALAR,
    ArrayCore,
    Leaf,
    Node,
    View,
    is_differentiable,
)
from numen.dispatch.frames import Frame
from numen.dispatch.primitive import Primitive
from numen.errors import TraceError, describe
from numen.tracing.snapshot import Snapshot
from numen.tracing.trace import External, Instr, Meta, Pull, Query, Reg


def meta_of(array: ArrayCore) -> Meta:
    """Describe an array for a trace."""
    d = array._d
    return Meta(_name_of(d.dtype), d.shape, d.strides, array._v is SCALAR)


def _name_of(dtype: np.dtype[Any]) -> str:
    return dtype.name if dtype.isnative else dtype.str


def stamp_of(array: ArrayCore) -> int:
    """The last write into the array's memory."""
    memory = array._v
    return NEVER_WRITTEN if memory is None else memory.t


def noting(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let a note that can't be made end the recording, not the call: values are real, so the call
    just goes on.
    """

    @functools.wraps(method)
    def noted(self: Registers, *args: Any) -> Any:
        if self.dead is None:
            try:
                return method(self, *args)
            except TraceError as error:
                self.dead = str(error)
        return None

    return noted


class Registers:
    """A recording's state, and the registers of the arrays it met.

    dead: why the call can't be compiled, or None. A dead recording notes nothing more.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.externals: dict[Reg, tuple[External, ArrayCore]] = {}
        self.items: list[Instr | External | tuple[Query, Any]] = []
        self.host_inputs: list[tuple[str, Any]] = []
        self.proxies: list[Any] = []
        self.given: set[int] = set()
        self.fixed: set[Any] = set()
        self.formatted = False
        self.dead: str | None = None
        self._metas: dict[Reg, Meta] = {}
        self._count = 0
        self._by_id: dict[int, Reg] = {}
        self._keep: list[Any] = []
        self._foreign: set[int] = set()
        self.nodes: dict[Reg, Any] = {}
        self._roots: dict[int, ArrayCore] = {}
        self._written: dict[int, tuple[ArrayCore, Reg]] = {}
        self._grads: dict[Leaf, Any] = {}
        self._grad_order: list[Leaf] = []
        self.grad_states: list[tuple[Reg, Meta | None]] = []
        self._grads_written: set[Leaf] = set()
        self._leaf_register: dict[Leaf, Reg] = {}
        self._external_leaf: set[Leaf] = set()
        self._derived: dict[tuple[Reg, tuple[Any, ...]], Reg] = {}
        self._settled: set[Reg] = set()
        self._forward: list[Any] = self.items
        self._pulls: list[Pull] = []
        self._pull_of: dict[int, int] = {}

    # ------------------------------------------------------------------------------------ registers
    def _new(self) -> Reg:
        self._count += 1
        return self._count - 1

    def _tag(self, array: ArrayCore, reg: Reg) -> None:
        array._t = (self, reg, stamp_of(array))

    def bind(self, array: ArrayCore, kind: str, key: Any) -> Reg:
        """Give an array that existed before the call a register."""
        dtype = array._d.dtype
        if dtype.kind not in "biufc" and not is_differentiable(dtype):
            raise TraceError(f"a {describe(array)} is used, which no compiled program reads")
        if not isinstance(array._d, np.ndarray):
            raise TraceError("an array of another device is used, which no compiled program reads")
        reg = self._new()
        external = External(reg, kind, key, meta_of(array))
        self.externals[reg] = (external, array)
        (self.items if kind == "seed" else self._forward).append(external)
        self._metas[reg] = external.meta
        self.nodes[reg] = array._n
        self._by_id[id(array)] = reg
        self._keep.append(array)
        self._tag(array, reg)
        if array._v is not None and array._v is not SCALAR:
            self._roots.setdefault(id(array._v.cell), array)
        if type(array._n) is Leaf:
            self._leaf_register.setdefault(array._n, reg)
            self._external_leaf.add(array._n)
        elif array._n is not None and kind != "constant":
            raise TraceError(
                "an input carries a gradient graph that was recorded outside the function"
            )
        return reg

    def reg(self, array: ArrayCore) -> Reg:
        """The register of an array's present value."""
        tag = array._t
        if tag is not None and tag[0] is self:
            if tag[2] == stamp_of(array):
                return int(tag[1])
            return int(self._derive(array))
        known = self._by_id.get(id(array))
        if known is not None:
            return known
        memory = array._v
        slot = self.snapshot.arrays.get(id(array))
        if type(memory) is View and self._root(array) is None:
            self._bind_base(memory.base, array)
        if type(memory) is View and self._root(array) is not None:
            if slot is not None:
                self.fixed.update(self.snapshot.places[id(array)])
                if type(array._n) is Node:
                    raise TraceError("a captured view carries a gradient graph")
            return int(self._derive(array))
        if slot is not None:
            return self.bind(array, "slot", slot.place)
        if array._v is SCALAR and array._n is None:
            return int(self._constant(array))  # immutable, so its value is all there is to it
        return self.bind(array, "object", id(array))

    def _bind_base(self, base: ArrayCore, view: ArrayCore) -> None:
        """Bind a view's base first where that is captured too: then either may be written."""
        slot = self.snapshot.arrays.get(id(base))
        if slot is not None and base._n is None and view._n is None:
            self.bind(base, "slot", slot.place)
            self.fixed.update(self.snapshot.places.get(id(view), ()))

    def _root(self, array: ArrayCore) -> ArrayCore | None:
        """The array whose register stands for this memory: an external one, or the base made in the
        trace.
        """
        memory = array._v
        root = self._roots.get(id(memory.cell))
        if root is not None:
            return root
        base = memory.base if type(memory) is View else array
        tag = base._t
        return base if tag is not None and tag[0] is self else None

    def _derive(self, array: ArrayCore) -> Reg:
        """The register of a view whose memory was written since, or that was made outside."""
        memory = array._v
        root = self._root(array)
        if root is None:
            raise TraceError(f"a {describe(array)} shares memory that the trace does not know")
        if root is array:
            return int(array._t[1])
        reg = int(root._t[1])
        skip = len(root._v.path) if type(root._v) is View else 0
        path = memory.path if type(memory) is View else ()
        if type(root._v) is View and path[:skip] != root._v.path:
            raise TraceError("two views of one outside array are used and one of them is written")
        for prim, params in path[skip:]:
            reg = self._view_step(reg, prim, params)
        self._tag(array, reg)
        return reg

    def _view_step(self, reg: Reg, prim: Primitive, params: dict[str, Any]) -> Reg:
        frozen = freeze(params)
        key = (reg, (prim.name, repr(frozen)))
        known = self._derived.get(key)
        if known is None:
            source = self._metas[reg]
            dummy = np.lib.stride_tricks.as_strided(
                np.empty(1, source.dtype), source.shape, source.strides
            )
            view = np.asarray(prim.impl(dummy, **params))
            meta = Meta(_name_of(view.dtype), view.shape, view.strides, False)
            known = self._new()
            self._forward.append(Instr(prim.name, (reg,), frozen, known, meta))
            self._metas[known] = meta
            self._derived[key] = known
        return known

    def _constant(self, array: ArrayCore) -> Reg:
        data = array._d
        if data.dtype.hasobject:
            raise TraceError("an array of objects is made inside the function")
        if data.nbytes > 1 << 26:
            raise TraceError(
                f"a constant of {data.nbytes} bytes is made inside the function; make it outside"
            )
        frozen = core.ARRAY(data.copy(), None, array._v if array._v is SCALAR else None)
        reg = self.bind(frozen, "constant", (data.dtype.str, data.shape, data.tobytes()))
        self._metas[reg] = meta_of(array)
        self._tag(array, reg)
        self._keep.append(array)
        return reg

    @noting
    def tag(self, array: ArrayCore, holder: ArrayCore | None = None) -> Any:
        """The tag for another Array object (`holder`) that holds the same present value."""
        if type(array._d) is Frame:
            return None
        return (self, self.reg(array), NEVER_WRITTEN if holder is None else stamp_of(holder))


def freeze(params: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(params.items()))


def freeze_path(path: Sequence[tuple[Any, dict[str, Any]]]) -> tuple[Any, ...]:
    return tuple(
        [
            (prim if isinstance(prim, str) else prim.name, freeze(dict(params)))
            for prim, params in path
        ]
    )
