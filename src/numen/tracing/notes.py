"""Notes: what dispatch tells a recorder while the function runs.

`apply` runs an op with real values and notes it; `wrote`, `read_grad`, `write_grad`, `query` and
`leave` note writes, gradients, and values that Python asks for. Next: `recorder.py`, which
describes the end of the call.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numen.dispatch import core, modes
from numen.dispatch.core import NEVER_WRITTEN, ArrayCore, Leaf, Node, View
from numen.dispatch.frames import Frame, below
from numen.dispatch.primitive import Primitive
from numen.errors import TraceError
from numen.tracing.host import HostExpr, HostScalar, plain, text_of
from numen.tracing.registers import Registers, freeze, freeze_path, meta_of, noting
from numen.tracing.trace import Const, Host, Instr, Query, Reg

CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "bool": bool,
    "int": int,
    "float": float,
    "index": operator.index,
    "item": lambda data: data.item(),
}


class Notes(Registers):
    """What a call did: ops, writes, gradients and queries, in order."""

    # ----------------------------------------------------------------------------------- operations
    def apply(self, prim: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        """Run an op and note it."""
        refs = self._operands(args)
        if modes.errstate_is_strict():
            self.refuse("np.errstate that raises or calls inside the traced function")
        raw = [
            plain(a) if type(a) is HostScalar else a._d if isinstance(a, ArrayCore) else a
            for a in args
        ]
        result = prim.finish(tuple(args), params, prim.compute(raw, params))
        if refs is None or self.dead is not None:
            return result
        if not isinstance(result, ArrayCore) or result._d.dtype.kind in "OSUmM":
            self.refuse(f"{prim.name} of text, dates or objects inside the traced function")
            return result
        if prim.name == "setitem":
            frozen: tuple[tuple[str, Any], ...] = (("path", freeze_path(params["path"])),)
        else:
            frozen = freeze(params)
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

    @noting
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
            array = core.wrap(value)
            if not isinstance(array, ArrayCore):
                raise TraceError(f"an op got a {type(value).__name__}")
            return self._constant(array)
        raise TraceError(f"an op got a {type(value).__name__}")

    @noting
    def constant(self, array: ArrayCore, foreign: bool = False) -> None:
        """Note an array that the function made from host values (`nm.zeros`): the same on every
        call.

        foreign: its memory is an ndarray's, so a write into it or a result that shares it can't be
        replayed.
        """
        if type(array._d) is Frame:
            return
        if foreign:
            self._foreign.add(id(array))
            self._keep.append(array)
        self._constant(array)

    @noting
    def wrote(self, x: ArrayCore, value: Any) -> None:
        """Note an in-place write of `value` into all of x; called after the data changed."""
        if type(x._d) is Frame:
            return  # the write into the values below was noted
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
        if any([prim.name in ("as_strided", "view_dtype") for prim, _ in path]):
            raise TraceError("a write through a view that a compiled program can't address")
        out = self._new()
        meta = self._metas[int(root._t[1])]
        self.items.append(
            Instr("setitem", (int(root._t[1]), ref), (("path", freeze_path(path)),), out, meta)
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

    @noting
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

    @noting
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

    @noting
    def _write_first(self, leaf: Leaf) -> None:
        self._leaf(leaf)
        self._grad_order.append(leaf)

    # -------------------------------------------------------------------------------------- queries
    def query(self, array: ArrayCore, kind: str) -> Any:
        """Python asks for a value: the trace goes on for this outcome."""
        if type(array._d) is Frame:
            return CONVERSIONS[kind](below(array._d, f"{kind}()"))
        value = CONVERSIONS[kind](array._d)
        reg = self._register(array)
        if reg is None or self.dead is not None:
            return value
        if kind == "item" and type(value) in (int, float):
            return HostScalar(value, HostExpr("item", (reg,)), self)
        return self._ask(Query(kind, reg), value)

    @noting
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


def new_scalar_input(recorder: Notes, value: Any, source: tuple[str, Any]) -> HostScalar:
    """A proxy for a Python scalar that changes from call to call; `source` says where a call finds
    it.
    """
    number = len(recorder.host_inputs)
    recorder.host_inputs.append(source)
    return HostScalar(value, HostExpr("input", (number,)), recorder)
