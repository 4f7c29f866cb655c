"""A segment to a compiler graph: casts made explicit, weak scalars given dtypes, registers turned
into values.

Comes from `tree.py` when a segment is first replayed; goes to `compiler.program.compile_graph`. The
dtypes an elementwise op computes in are NumPy's own (`ops/dtypes.py`), so graph ops see operands of
one dtype.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np

from numen.errors import InternalError
from numen.graph.graph import Graph, Value
from numen.graph.types import TensorType, contiguous_strides
from numen.ops import table
from numen.ops.dtypes import BOOL, Kind, resolve_kinds
from numen.tracing.host import HostExpr, constant
from numen.tracing.trace import Const, External, Host, Instr, Meta, Reg

Operand = Reg | Const | Host

SWAPPED = {
    "less": "greater",
    "less_equal": "greater_equal",
    "greater": "less",
    "greater_equal": "less_equal",
    "equal": "equal",
    "not_equal": "not_equal",
}
COMPARISONS = frozenset(SWAPPED)

PROMOTING = frozenset({"where", "relu", "concatenate", "masked_product", "masked_quotient"})
"""Rows that are no ufunc but promote as one."""

INT = np.dtype(np.int64)

SCALAR_DTYPES = {
    "float": np.dtype(np.float64),
    "int": INT,
    "bool": np.dtype(np.bool_),
}


def order_of(meta: Meta) -> str:
    """The memory order in which a value of this description is made: "F" where its strides say so,
    else "C".
    """
    itemsize = np.dtype(meta.dtype).itemsize
    if len(meta.shape) < 2 or meta.strides == contiguous_strides(meta.shape, itemsize):
        return "C"
    fortran = contiguous_strides(meta.shape[::-1], itemsize)[::-1]
    return "F" if meta.strides == fortran else "C"


def type_of(meta: Meta) -> TensorType:
    return TensorType(np.dtype(meta.dtype), meta.shape)


class SegmentGraph:
    """A segment's graph with what feeds it.

    inputs: ("register", reg) or ("host", expr) for each graph input; outputs: registers in output
    order.
    """

    def __init__(self) -> None:
        self.graph = Graph()
        self.inputs: list[tuple[str, Any]] = []
        self.outputs: list[Reg] = []
        self.orders: list[str] = []
        self.writes: list[Reg] = []
        self.values: dict[Reg, Value] = {}
        self._hosts: dict[tuple[HostExpr, str], Value] = {}

    def value(self, reg: Reg, metas: Mapping[Reg, Meta], external: bool) -> Value:
        """The graph value of a register; an input where it comes from outside the segment."""
        known = self.values.get(reg)
        if known is None:
            meta = metas[reg]
            strides: tuple[int, ...] | None = meta.strides
            if not external:
                itemsize = np.dtype(meta.dtype).itemsize
                strides = (
                    None
                    if order_of(meta) == "C"
                    else contiguous_strides(meta.shape[::-1], itemsize)[::-1]
                )
            known = self.graph.input(type_of(meta), name=f"r{reg}", strides=strides)
            self.values[reg] = known
            self.inputs.append(("register", reg))
        return known

    def host(self, operand: Host) -> Value:
        key = (operand.expr, operand.kind)
        known = self._hosts.get(key)
        if known is None:
            known = self.graph.input(TensorType(SCALAR_DTYPES[operand.kind], ()), kind="scalar")
            self._hosts[key] = known
            self.inputs.append(("host", operand.expr))
        return known


def build(
    items: Sequence[Instr | External],
    metas: Mapping[Reg, Meta],
    externals: Set[Reg],
    outputs: Iterable[Reg],
    writes: Iterable[tuple[Reg, Reg]],
) -> SegmentGraph:
    """Make the graph of a segment.

    items: its instructions and externals in order; externals: the registers of all externals so
    far; outputs: registers whose values leave it; writes: (external register, register of its final
    content) committed at its end.
    """
    segment = SegmentGraph()

    def value(reg: Reg) -> Value:
        return segment.value(reg, metas, reg in externals)

    for item in items:
        if isinstance(item, Instr):
            segment.values[item.out] = _instruction(segment, item, value, metas)
    for target, final in writes:
        index = segment.graph.inputs.index(value(target))
        segment.graph.writes.append((index, value(final)))
        segment.writes.append(target)
    for reg in outputs:
        segment.graph.outputs.append(value(reg))
        segment.outputs.append(reg)
        segment.orders.append(order_of(metas[reg]))
    return segment


ValueOf = Callable[[Reg], Value]


def _instruction(
    segment: SegmentGraph, item: Instr, value: ValueOf, metas: Mapping[Reg, Meta]
) -> Value:
    graph, name = segment.graph, item.name
    prim = table[name]
    if name == "copy":
        (source,) = item.args
        assert isinstance(source, int)
        return value(source)
    if prim.ufunc is not None or name in PROMOTING:
        kinds = [_kind(ref, metas) for ref in item.args]
        dtypes, _ = resolve_kinds(prim, tuple(kinds))
        if name in COMPARISONS:
            compared = _comparison(segment, item, kinds, dtypes, value)
            if compared is not None:
                return compared
        args = [
            _operand(segment, ref, dtype, value)
            for ref, dtype in zip(item.args, dtypes, strict=True)
        ]
        result = graph.op(name, args, dict(item.params))
        if result.type.dtype != np.dtype(item.meta.dtype):
            raise InternalError(
                f"{name}: the graph gives {result.type}, the trace had {item.meta.dtype}"
            )
        return result
    args = []
    for i, ref in enumerate(item.args):
        if isinstance(ref, int):
            args.append(value(ref))
            continue
        first = item.args[0]
        assigned = (
            i == 1 and name in ("setitem", "scatter_add", "scatter_set") and isinstance(first, int)
        )
        dtype = np.dtype(metas[first].dtype) if assigned else np.asarray(_example(ref)).dtype  # type: ignore[index]
        args.append(_operand(segment, ref, dtype, value))
    params = dict(item.params)
    if name in ("sum", "mean") and args[0].type.dtype != np.dtype(item.meta.dtype):
        args[0] = graph.op("cast", (args[0],), {"dtype": np.dtype(item.meta.dtype)})
    return graph.op(name, args, params, type_of(item.meta))


def _comparison(
    segment: SegmentGraph,
    item: Instr,
    kinds: Sequence[Kind],
    dtypes: tuple[np.dtype[Any], ...],
    value: ValueOf,
) -> Value | None:
    """A comparison that casts to one dtype would get wrong; None for any other.

    A Python int keeps its value, also where the array's dtype has no such number.
    """
    weak = [kind is int for kind in kinds]  # a dtype compares equal to int
    if weak[0] != weak[1] and dtypes[0].kind in "iu":
        at = weak.index(True)
        number, dtype = item.args[at], dtypes[0]
        least, most = _bounds(dtype)
        if isinstance(number, Const):
            if least <= number.value <= most:
                return None
            name = item.name if at else SWAPPED[item.name]  # with the array on the left
            wins = ("less", "less_equal") if number.value > most else ("greater", "greater_equal")
            answer = segment.graph.const(name in (*wins, "not_equal"), BOOL)
            return segment.graph.op("broadcast_to", (answer,), {"shape": item.meta.shape})
        wide = dtype if dtype == np.uint64 else np.dtype(np.int64)
        dtypes = (wide, INT) if at else (INT, wide)
        if wide == INT:
            args = [_operand(segment, r, d, value) for r, d in zip(item.args, dtypes, strict=True)]
            return segment.graph.op(item.name, args)
    if dtypes[0] == dtypes[1]:
        return None
    return _mixed_comparison(segment, item, dtypes, value)


def _bounds(dtype: np.dtype[Any]) -> tuple[int, int]:
    """The least and the largest int of a dtype."""
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def _mixed_comparison(
    segment: SegmentGraph, item: Instr, dtypes: tuple[np.dtype[Any], ...], value: ValueOf
) -> Value:
    """An int64 against a uint64, exactly, as NumPy's own loop compares them."""
    graph, name = segment.graph, item.name
    a, b = [_operand(segment, r, d, value) for r, d in zip(item.args, dtypes, strict=True)]
    if a.type.dtype.kind == "u":
        a, b, name = b, a, SWAPPED[name]
    below = graph.op("less", (a, graph.const(0, a.type.dtype)))
    compared = graph.op(name, (graph.op("cast", (a,), {"dtype": b.type.dtype}), b))
    if_below = graph.const(name in ("less", "less_equal", "not_equal"), BOOL)
    return graph.op("where", (below, if_below, compared))


def _kind(ref: Operand, metas: Mapping[Reg, Meta]) -> Kind:
    """The operand as promotion sees it: a dtype, or the type of a weak Python scalar."""
    if isinstance(ref, int):
        return np.dtype(metas[ref].dtype)
    return (
        BOOL if ref.kind == "bool" else {"int": int, "float": float, "complex": complex}[ref.kind]
    )


def _operand(segment: SegmentGraph, ref: Operand, dtype: np.dtype[Any], value: ValueOf) -> Value:
    """The graph value of an operand, cast to `dtype`."""
    if isinstance(ref, Const):
        return segment.graph.const(ref.value, dtype)
    if isinstance(ref, Host) and ref.kind == "int" and dtype.kind in "iu" and dtype != INT:
        least, most = _bounds(dtype)  # where the number does not fit, Python runs and raises
        limits = (constant(least), constant(min(most, _bounds(INT)[1])))
        ref = Host(HostExpr("fit", (ref.expr, *limits)), "int")
    given = segment.host(ref) if isinstance(ref, Host) else value(ref)
    if (
        isinstance(ref, Host) and ref.kind == "int" and dtype == np.float32
    ):  # as NumPy: by way of a double
        given = segment.graph.op("cast", (given,), {"dtype": np.dtype(np.float64)})
    return (
        given if given.type.dtype == dtype else segment.graph.op("cast", (given,), {"dtype": dtype})
    )


def _example(ref: Const | Host) -> Any:
    if isinstance(ref, Const):
        return ref.value
    return {"float": 0.0, "int": 0, "bool": False}[ref.kind]
