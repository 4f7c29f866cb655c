"""The recorder: an eager run that notes what it does.

`jit.py` installs a Recorder as this thread's mode; dispatch calls `apply`, `wrote`, `read_grad`,
`write_grad`, `query` and `leave`. Values are real: ops run with the engine "kernels", so the traced
call itself returns what a replay will. Registers number values in order of appearance; in-place
writes give the base a new register and views are derived again. `finish` reads the changed Python
state and describes the result. Next: `tree.py`.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from numen.dispatch import core
from numen.dispatch.backward import backward
from numen.dispatch.core import NEVER_WRITTEN, SCALAR, ArrayCore, Leaf, Node, View
from numen.dispatch.primitive import Primitive
from numen.errors import TraceError, describe
from numen.tracing.host import HostExpr, HostScalar, plain, text_of
from numen.tracing.snapshot import MISSING, SCALARS, Snapshot, same_scalar
from numen.tracing.trace import Const, End, External, Host, Instr, Meta, Pull, Query, Reg, Result

CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "bool": bool,
    "int": int,
    "float": float,
    "index": operator.index,
    "item": lambda data: data.item(),
}


def meta_of(array: ArrayCore) -> Meta:
    """Describe an array for a trace."""
    d = array._d
    return Meta(
        d.dtype.name if d.dtype.isnative else d.dtype.str, d.shape, d.strides, array._v is SCALAR
    )


def stamp_of(array: ArrayCore) -> int:
    """The last write into the array's memory."""
    memory = array._v
    return NEVER_WRITTEN if memory is None else memory.t


def _noting(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let a note that can't be made end the recording, not the call: values are real, so the call
    just goes on.
    """

    @functools.wraps(method)
    def noted(self: Recorder, *args: Any) -> Any:
        if self.dead is None:
            try:
                return method(self, *args)
            except TraceError as error:
                self.dead = str(error)
        return None

    return noted


class Recorder:
    """Notes one call of a traced function.

    dead: why the call can't be compiled, or None. A dead recorder notes nothing more.
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
            reg = self._view_step(reg, prim, params, root._d.dtype)
        self._tag(array, reg)
        return reg

    def _view_step(self, reg: Reg, prim: Primitive, params: dict[str, Any], dtype: Any) -> Reg:
        frozen = _frozen(params)
        key = (reg, (prim.name, repr(frozen)))
        known = self._derived.get(key)
        if known is None:
            source = self._metas[reg]
            dummy = np.lib.stride_tricks.as_strided(
                np.empty(1, dtype), source.shape, source.strides
            )
            view = np.asarray(prim.impl(dummy, **params))
            meta = Meta(source.dtype, view.shape, view.strides, False)
            known = self._new()
            self._forward.append(Instr(prim.name, (reg,), frozen, known, meta))
            self._metas[known] = meta
            self._derived[key] = known
        return known

    @_noting
    def tag(self, array: ArrayCore, holder: ArrayCore | None = None) -> Any:
        """The tag for another Array object (`holder`) that holds the same present value."""
        return (self, self.reg(array), NEVER_WRITTEN if holder is None else stamp_of(holder))

    # ----------------------------------------------------------------------------------- operations
    def apply(self, prim: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        """Run an op and note it."""
        refs = self._operands(args)
        if errstate_is_strict():
            self.refuse("np.errstate that raises or calls inside the traced function")
        raw = [
            plain(a) if type(a) is HostScalar else a._d if isinstance(a, ArrayCore) else a
            for a in args
        ]
        result = prim.finish(tuple(args), params, prim.compute(raw, params))
        if refs is None or self.dead is not None:
            return result
        if prim.name == "setitem":
            frozen: tuple[tuple[str, Any], ...] = (("path", _frozen_path(params["path"])),)
        else:
            frozen = _frozen(params)
        out = self._new()
        meta = meta_of(result)
        self.items.append(Instr(prim.name, refs, frozen, out, meta))
        self._metas[out] = meta
        self._tag(result, out)
        node = result._n
        if type(node) is Node and node.out is not None and not isinstance(node.out, ArrayCore):
            alias = core.ARRAY(node.out)
            alias._t = (self, out, NEVER_WRITTEN)
            node.out = alias
        return result

    @_noting
    def _operands(self, args: Sequence[Any]) -> tuple[Reg | Const | Host, ...]:
        return tuple([self._operand(a) for a in args])

    def _settle(self, expr: HostExpr) -> None:
        """End the segment before an array's item feeds an op: the next one takes the value as an
        input.
        """
        unsettled = expr.registers() - self._settled
        if unsettled:
            self._settled |= unsettled
            self.items.append((Query("value", expr), None))

    def _operand(self, value: Any) -> Reg | Const | Host:
        if isinstance(value, ArrayCore):
            return self.reg(value)
        if type(value) is HostScalar:
            self._settle(value.expr)
            return Host(value.expr, type(value.value).__name__)
        if type(value) in (bool, int, float, complex):
            return Const(type(value).__name__, text_of(value), value)
        if isinstance(value, (np.ndarray, np.generic)):
            return self._constant(core.wrap(value))
        raise TraceError(f"an op got a {type(value).__name__}")

    @_noting
    def constant(self, array: ArrayCore, foreign: bool = False) -> None:
        """Note an array that the function made from host values (`nm.zeros`): the same on every
        call.

        foreign: its memory is an ndarray's, so a write into it or a result that shares it can't be
        replayed.
        """
        if foreign:
            self._foreign.add(id(array))
            self._keep.append(array)
        self._constant(array)

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

    @_noting
    def wrote(self, x: ArrayCore, value: Any) -> None:
        """Note an in-place write of `value` into all of x; called after the data changed."""
        memory = x._v
        cell = memory.cell
        root = self._root(x)
        if root is None and type(memory) is View:
            self._bind_base(memory.base, x)
            root = self._root(x)
        if root is None:
            tagged = x._t is not None and x._t[0] is self
            if not tagged:
                before = cell.t
                cell.t = NEVER_WRITTEN
                self._bind_for_write(x)
                cell.t = before
            root = self._root(x)
            if root is None:
                root = x
        if id(root) in self._foreign:
            raise TraceError("an ndarray is written through an Array")
        if root._t is None or root._t[0] is not self:
            self._bind_for_write(root)
        if isinstance(value, ArrayCore) and value is not x:
            ref: Any = self._operand(value)
        elif value is None:
            raise TraceError("an in-place write that a trace can't follow")
        else:
            ref = self._operand(value)
        skip = len(root._v.path) if type(root._v) is View else 0
        path = memory.path[skip:] if type(memory) is View else ()
        out = self._new()
        meta = self._metas[int(root._t[1])]
        self.items.append(
            Instr("setitem", (int(root._t[1]), ref), (("path", _frozen_path(path)),), out, meta)
        )
        self._metas[out] = meta
        root._t = (self, out, cell.t)
        if isinstance(value, ArrayCore) and value is not root and value._v is not None:
            if value._v.cell is cell:  # its register just now stood for what was written
                value._t = None
        if id(root) in self._by_id:
            self._written[id(root)] = (root, out)

    def _bind_for_write(self, x: ArrayCore) -> None:
        slot = self.snapshot.arrays.get(id(x))
        if id(x) not in self._by_id:
            self.bind(x, "slot" if slot else "object", slot.place if slot else id(x))

    @_noting
    def argument(self, array: ArrayCore, position: int) -> None:
        """Bind an argument of the call, unless it was bound already (`f(a, a)`)."""
        if id(array) not in self._by_id:
            self.bind(array, "arg", position)

    # ------------------------------------------------------------------------------------ gradients
    def read_grad(self, leaf: Leaf) -> Any:
        """The gradient of a leaf as the trace knows it."""
        if self.dead is not None:
            return leaf.grad
        if leaf not in self._grads:
            self._read_first(leaf)
        return self._grads.get(leaf, leaf.grad)

    @_noting
    def _read_first(self, leaf: Leaf) -> None:
        if leaf not in self._grads:
            self._leaf(leaf)
            value = leaf.grad
            self._grads[leaf] = value
            self._grad_order.append(leaf)
            register = self._leaf_register[leaf]
            if register >= 0:
                self.grad_states.append((register, None if value is None else meta_of(value)))
                if value is not None:
                    self.bind(value, "grad", register)

    def _leaf(self, leaf: Leaf) -> None:
        if leaf not in self._leaf_register:
            for slot in self.snapshot.arrays.values():
                if isinstance(slot.value, ArrayCore) and slot.value._n is leaf:
                    self.reg(slot.value)
                    return
            # A leaf made during the trace: its gradient is a value like any other.
            self._leaf_register[leaf] = -1

    def write_grad(self, leaf: Leaf, value: Any) -> None:
        """Note that a leaf's gradient is replaced."""
        if self.dead is None and leaf not in self._grads:
            self._write_first(leaf)
        self._grads[leaf] = value
        self._grads_written.add(leaf)

    @_noting
    def _write_first(self, leaf: Leaf) -> None:
        self._leaf(leaf)
        self._grad_order.append(leaf)

    # -------------------------------------------------------------------------------------- queries
    def query(self, array: ArrayCore, kind: str) -> Any:
        """Python asks for a value: the trace goes on for this outcome."""
        value = CONVERSIONS[kind](array._d)
        reg = self._register(array)
        if reg is None or self.dead is not None:
            return value
        if kind == "item" and type(value) in (int, float):
            return HostScalar(value, HostExpr("item", (reg,)), self)
        return self._ask(Query(kind, reg), value)

    @_noting
    def _register(self, array: ArrayCore) -> Reg:
        return self.reg(array)

    def query_host(self, expr: HostExpr, value: Any) -> Any:
        """Python asks for the value of a host expression."""
        if expr.op == "const" or self.dead is not None:
            return value
        return self._ask(Query("host", expr), value)

    def _ask(self, query: Query, outcome: Any) -> Any:
        self.items.append((query, outcome))
        return outcome

    def refuse(self, why: str) -> None:
        """End the recording, not the call."""
        if self.dead is None:
            self.dead = why

    def leave(self, array: ArrayCore, what: str) -> None:
        """Values leave numen: printing is harmless, the rest can't be compiled."""
        if what in ("repr()", "str()", "format()") and self.snapshot.prints:
            self.formatted = True
            return
        self.refuse(f"{what} of an array inside the traced function")

    # -------------------------------------------------------------------------------------- the end
    def close(self, output: Any) -> None:
        """Let go of the arrays the recording met."""
        for array in self._keep:
            if isinstance(array, ArrayCore):
                array._t = None
        self._keep.clear()
        self._roots.clear()
        self._written.clear()
        self._grads.clear()
        self._by_id.clear()

    def finish(self, output: Any, arguments: Sequence[Any]) -> End:
        """Describe what the call returned, wrote and stored."""
        self._record_pulls(output)
        groups: dict[int, int] = {}
        spec = self._describe(output, groups, arguments)
        stores = self._stores(groups, arguments)
        if self.formatted and (_has_text(output) or _stores_text(stores)):
            raise TraceError("the function returns or stores text made from traced values")
        self._check_nodes()
        grads = []
        for leaf in self._grad_order:
            if leaf not in self._grads_written or leaf not in self._external_leaf:
                continue
            value = self._grads[leaf]
            described = None if value is None else self._array(value, groups, fresh=True)
            grads.append((self._leaf_register[leaf], described))
        writes = tuple(
            [(self._by_id[i], int(root._t[1])) for i, (root, _) in self._written.items()]
        )
        if writes:
            self._check_aliases([root for root, _ in self._written.values()])
        if self._pulls and (writes or stores or grads):
            raise TraceError("the result carries a gradient graph and the function changes state")
        for expr in host_exprs((spec, stores)):
            if expr.may_raise():
                self._settle(expr)  # it is evaluated before the last segment changes anything
        return End(spec, writes, tuple(grads), stores, tuple(self._pulls))

    def _record_pulls(self, output: Any) -> None:
        """Record the backward pass of a returned array that still carries a graph."""
        for path, array in _arrays_in(output, ()):
            node = array._n
            if type(node) is not Node or node.args is None or id(array) in self._pull_of:
                continue
            if self._pulls:
                # Their cotangents meet inside the graph: one recorded pass can't say in which
                # order.
                raise TraceError("several results carry a gradient graph")
            self._pull_of[id(array)] = len(self._pulls)
            seed = core.ARRAY(np.ones(array._d.shape, array._d.dtype))
            items: list[Instr | External | tuple[Query, Any]] = []
            self.items = items
            try:
                reg = self.bind(seed, "seed", len(self._pulls))
                leaves = [leaf for leaf in self._leaf_register if leaf in self._external_leaf]
                found = backward([array], [seed], wrt=leaves, retain_graph=True)
            finally:
                self.items = self._forward
            pairs = [
                (self._leaf_register[leaf], self.reg(g))
                for leaf, g in zip(leaves, found, strict=True)
                if g is not None
            ]
            steps = tuple([i for i in items if not isinstance(i, tuple)])
            if len(steps) < len(items):
                raise TraceError("the backward pass of the result asks for values")
            self._pulls.append(Pull(path, reg, steps, tuple(pairs)))
            self._keep.append(array)

    def _check_nodes(self) -> None:
        self.snapshot.check_nodes()
        for e, array in self.externals.values():
            if e.kind != "constant" and array._n is not self.nodes[e.reg]:
                raise TraceError("what an input requires for gradients changed")

    def _check_aliases(self, written: list[ArrayCore]) -> None:
        for w in written:
            for e, a in self.externals.values():
                if e.kind == "constant" or e.reg == self._by_id[id(w)]:
                    continue
                if a._d is w._d or np.may_share_memory(w._d, a._d):
                    raise TraceError("an array that is written shares memory with another input")

    def _describe(self, value: Any, groups: dict[int, int], arguments: Sequence[Any]) -> Any:
        kind = type(value)
        if kind is HostScalar:
            return ("host", value.expr)
        if isinstance(value, ArrayCore):
            return self._array(value, groups)
        if kind in SCALARS:
            return Const(kind.__name__, text_of(value), value)
        if id(value) in self.given:
            raise TraceError("a container that was passed in is returned or stored")
        if self.snapshot.known(value):
            return ("same", _Identity(value))
        if kind in (list, tuple) or (isinstance(value, tuple) and hasattr(value, "_fields")):
            return ("sequence", kind, tuple([self._describe(v, groups, arguments) for v in value]))
        if kind is dict:
            if any([type(k) is HostScalar for k in value]):
                raise TraceError("a changing number is the key of a returned dict")
            return (
                "dict",
                tuple([(k, self._describe(v, groups, arguments)) for k, v in value.items()]),
            )
        for i, a in enumerate(arguments):
            if a is value:
                return ("argument", i)
        if isinstance(value, (np.dtype, type)):
            return ("same", value)
        raise TraceError(f"the function returns a {kind.__name__} made inside it")

    def _array(self, array: ArrayCore, groups: dict[int, int], fresh: bool = False) -> Any:
        freed, pull = False, -1
        if id(array) not in self._by_id:
            slot = self.snapshot.arrays.get(id(array))
            if slot is not None:
                self.bind(array, "slot", slot.place)
            else:
                self.reg(array)
        node = array._n
        if type(node) is Node:
            if node.args is not None:
                if fresh or id(array) not in self._pull_of:
                    raise TraceError("stored state carries a gradient graph")
                pull = self._pull_of[id(array)]
            else:
                freed = True
        elif type(node) is Leaf and id(array) not in self._by_id:
            raise TraceError("the function makes and returns a leaf that requires a gradient")
        known = self._by_id.get(id(array))
        if known is not None and self._is_input(known):
            return Result("external", known)
        memory = array._v
        if id(array) in self._foreign:
            raise TraceError("an Array over the memory of an ndarray is returned or stored")
        if type(memory) is View:
            root = self._root(array)
            if root is not None and id(root) in self._foreign:
                raise TraceError("an Array over the memory of an ndarray is returned or stored")
            if root is None:
                self.reg(array)
                return Result("external", self._by_id[id(array)])
            skip = len(root._v.path) if type(root._v) is View else 0
            path = _frozen_path(memory.path[skip:])
            if id(root) in self._by_id and self._is_input(self._by_id[id(root)]):
                reg, group = self._by_id[id(root)], -1
            else:
                reg, group = self.reg(root), groups.setdefault(id(memory.cell), len(groups))
            self._keep.append(array)
            serial = groups.setdefault(id(array), len(groups))
            return Result("view", reg, path, False, freed, group, pull, memory.detached, serial)
        reg = self.reg(array)
        group = -1
        if memory is not None and memory is not SCALAR:
            group = groups.setdefault(id(memory.cell), len(groups))
        else:
            group = groups.setdefault(id(array), len(groups))
            self._keep.append(array)
        return Result("value", reg, (), array._v is SCALAR, freed, group, pull)

    def _is_input(self, reg: Reg) -> bool:
        return reg in self.externals and self.externals[reg][0].kind != "constant"

    def _stores(self, groups: dict[int, int], arguments: Sequence[Any]) -> tuple[Any, ...]:
        """Compare the Python state with the snapshot: what the function changed in it."""
        stores: list[Any] = []
        grown: dict[int, str] = {}
        for items, before, name in self.snapshot.lists:
            if len(items) > len(before):
                if any(a is not b for a, b in zip(items, before, strict=False)):
                    raise TraceError(f"{name} was rearranged")
                new = tuple(
                    [self._store_value(v, name, groups, arguments) for v in items[len(before) :]]
                )
                stores.append(("append", id(items), name, new))
                grown[id(items)] = name
            elif len(items) < len(before):
                raise TraceError(f"{name} got shorter")
        for slot in self.snapshot.slots:
            now = slot.get()
            if slot.kind == "length":
                continue
            if slot.kind == "contents":
                if now != slot.value:
                    raise TraceError(f"{slot.name} changed")
                continue
            if slot.kind == "keys":
                before, after = slot.value, now
                if before != after:
                    added = [k for k in after if k not in before]
                    if isinstance(slot.container, dict) and after[: len(before)] == before:
                        for key in added:
                            value = slot.container[key]
                            if type(key) is HostScalar or (self.formatted and type(key) is str):
                                raise TraceError(f"{slot.name}: a key made from traced values")
                            described = self._store_value(
                                value, f"{slot.name}: {key!r}", groups, arguments
                            )
                            stores.append(
                                ("slot", ("entry", id(slot.container), key), slot.name, described)
                            )
                        continue
                    raise TraceError(f"{slot.name} changed")
                continue
            if now is slot.value:
                continue
            if (
                type(now) in SCALARS
                and type(slot.value) in SCALARS
                and same_scalar(now, slot.value)
            ):
                continue
            if (
                type(now) is HostScalar
                and type(slot.value) is HostScalar
                and now.expr == slot.value.expr
            ):
                continue
            if now is MISSING:
                raise TraceError(f"{slot.name} was deleted")
            described = self._store_value(now, slot.name, groups, arguments)
            stores.append(("slot", slot.place, slot.name, described))
        return tuple(stores)

    def _store_value(
        self, value: Any, name: str, groups: dict[int, int], arguments: Sequence[Any]
    ) -> Any:
        if isinstance(value, ArrayCore) or type(value) in (HostScalar, tuple, list, *SCALARS):
            return self._describe(value, groups, arguments)
        for i, a in enumerate(arguments):
            if a is value:
                return ("argument", i)
        if self.snapshot.known(value):
            return ("same", _Identity(value))
        raise TraceError(f"{name} was replaced by a {type(value).__name__}")


class _Identity:
    """An object compared by identity."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return type(other) is _Identity and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def _arrays_in(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], ArrayCore]]:
    """Arrays in nested containers, with the keys that lead to them."""
    if type(value) is HostScalar:
        return
    if isinstance(value, ArrayCore):
        yield path, value
    elif isinstance(value, (list, tuple)):
        for i, v in enumerate(value):
            yield from _arrays_in(v, (*path, i))
    elif isinstance(value, dict):
        for k, v in value.items():
            yield from _arrays_in(v, (*path, k))


def _has_text(value: Any) -> bool:
    if isinstance(value, (str, bytes)):
        return True
    if isinstance(value, (list, tuple)):
        return any(_has_text(v) for v in value)
    if isinstance(value, dict):
        return any(_has_text(v) for v in value.values())
    return False


def _stores_text(stores: Sequence[Any]) -> bool:
    """Whether text is among stored values."""
    stack = [described for *_, described in stores]
    while stack:
        part = stack.pop()
        if isinstance(part, Const):
            if part.kind in ("str", "bytes"):
                return True
        elif type(part) is tuple:
            stack.extend(part)
    return False


def host_exprs(parts: Any) -> list[HostExpr]:
    """The host expressions in described outputs and stores."""
    found, stack = [], [parts]
    while stack:
        part = stack.pop()
        if isinstance(part, HostExpr):
            found.append(part)
        elif type(part) is tuple:
            stack.extend(part)
    return found


def errstate_is_strict() -> bool:
    """Whether NumPy's error state asks for exceptions or callbacks, which only eager ops give."""
    return any(v in ("raise", "call", "log", "print") for v in np.geterr().values())


def _frozen(params: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(params.items()))


def _frozen_path(path: Sequence[tuple[Any, dict[str, Any]]]) -> tuple[Any, ...]:
    return tuple(
        [
            (prim if isinstance(prim, str) else prim.name, _frozen(dict(params)))
            for prim, params in path
        ]
    )


def new_scalar_input(recorder: Recorder, value: Any, source: tuple[str, Any]) -> HostScalar:
    """A proxy for a Python scalar that changes from call to call; `source` says where a call finds
    it.
    """
    number = len(recorder.host_inputs)
    recorder.host_inputs.append(source)
    return HostScalar(value, HostExpr("input", (number,)), recorder)
