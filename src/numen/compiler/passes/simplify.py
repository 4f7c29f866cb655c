"""Simplification without a change of any bit: idle moves, chains of views, exact identities.

The rewrites are data, each with its reason; constants are folded by the Python target, the meaning
of every kernel. Called by `pipeline.py`, before `decompose.py` and after it. Next: `cse.py`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numen.compiler.passes.fold import evaluate
from numen.compiler.passes.rewrite import Rebuilder, Rewrite, rewrite
from numen.compiler.passes.support import constant, kind_of
from numen.compiler.scalar import DTYPES
from numen.graph.graph import Graph, Value

POINTWISE = (
    *("add", "subtract", "multiply", "divide", "power", "maximum", "minimum", "negative"),
    *("exp", "log", "tanh", "sqrt", "absolute", "relu", "where", "cast"),
    *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
)


def simplify(graph: Graph) -> Graph:
    return rewrite(graph, RULES)


# Moves that move nothing


def _same_type(r: Rebuilder, value: Value) -> Value | None:
    return value.args[0] if value.args[0].type == value.type else None


def _transpose_identity(r: Rebuilder, value: Value) -> Value | None:
    axes = value.param("axes")
    return value.args[0] if list(axes) == list(range(len(axes))) else None


def _getitem_all(r: Rebuilder, value: Value) -> Value | None:
    whole = _picks_all(value.param("index"), value.args[0].shape)
    return value.args[0] if whole else None


def _picks_all(index: tuple[Any, ...], shape: tuple[int, ...]) -> bool:
    return len(index) == len(shape) and all(
        isinstance(entry, slice) and entry.indices(extent) == (0, extent, 1)
        for entry, extent in zip(index, shape, strict=True)
    )


def _view_of_view(r: Rebuilder, value: Value) -> Value | None:
    inner = value.args[0]
    if inner.op != value.op:
        return None
    if value.op == "transpose":
        axes = tuple(inner.param("axes")[axis] for axis in value.param("axes"))
        return r.op("transpose", inner.args, {"axes": axes})
    return r.op(value.op, inner.args, value.params)


def _view_of_full(r: Rebuilder, value: Value) -> Value | None:
    inner = value.args[0]
    if inner.op != "broadcast_to" or inner.args[0].op != "const":
        return None
    return r.op("broadcast_to", inner.args, {"shape": value.type.shape})


# Casts and exact identities


def _cast_back(r: Rebuilder, value: Value) -> Value | None:
    inner = value.args[0]
    if inner.op != "cast" or inner.args[0].type != value.type:
        return None
    there, back = inner.dtype, value.dtype
    exact = there.kind == back.kind and there.kind in "iuf" and there.itemsize >= back.itemsize
    return inner.args[0] if exact else None


def _double_negative(r: Rebuilder, value: Value) -> Value | None:
    inner = value.args[0]
    return inner.args[0] if inner.op == "negative" else None


def _neutral(r: Rebuilder, value: Value) -> Value | None:
    a, b = value.args
    if value.dtype.kind not in "iuf":
        return None
    if _is_neutral(value.op, constant(b), value.dtype):
        kept = a
    elif value.op in ("multiply", "add") and _is_neutral(value.op, constant(a), value.dtype):
        kept = b
    else:
        return None
    if kept.type == value.type:
        return kept
    return r.op("broadcast_to", (kept,), {"shape": value.type.shape})


def _is_neutral(op: str, number: Any, dtype: np.dtype) -> bool:
    if number is None:
        return False
    if op in ("multiply", "divide"):
        return bool(number == 1)
    if number != 0:
        return False
    if dtype.kind != "f":
        return True
    negative = math.copysign(1.0, number) < 0
    return negative if op == "add" else not negative  # x + -0.0 and x - 0.0 are x for every x


def _fold(r: Rebuilder, value: Value) -> Value | None:
    if any(arg.op != "const" for arg in value.args):
        return None
    if kind_of(value) != "pointwise":
        return None
    return r.graph.const(evaluate(value), value.dtype)


# Reductions and writes


def _reduce_nothing(r: Rebuilder, value: Value) -> Value | None:
    operand = value.args[0]
    if any(operand.shape[axis] != 1 for axis in value.param("axis")):
        return None
    if value.op in ("sum", "mean") and operand.dtype.name not in DTYPES:
        return None  # NumPy's sums of other floats start at 0, which makes 0 of -0
    if operand.dtype != value.dtype:
        operand = r.op("cast", (operand,), {"dtype": value.dtype})
    return r.op("reshape", (operand,), {"shape": value.type.shape})


def _split_keepdims(r: Rebuilder, value: Value) -> Value | None:
    if not value.param("keepdims"):
        return None
    params = dict(value.params) | {"keepdims": False}
    return r.op("reshape", (r.op(value.op, value.args, params),), {"shape": value.type.shape})


def _overwrite_all(r: Rebuilder, value: Value) -> Value | None:
    base, new = value.args
    for name, params in value.param("path"):
        if name != "getitem" or not _picks_all(_indexed(dict(params)["index"], base), base.shape):
            return None
    if new.dtype != base.dtype:
        if new.dtype.kind == "f" and base.dtype.kind != "f":
            return None  # the cast has NumPy's way with values out of range: leave it to the host
        new = r.op("cast", (new,), {"dtype": base.dtype})
    if new.type.rank > base.type.rank:
        new = r.op("reshape", (new,), {"shape": new.shape[new.type.rank - base.type.rank :]})
    if new.type.shape == base.type.shape:
        return new
    return r.op("broadcast_to", (new,), {"shape": base.type.shape})


def _indexed(index: tuple[Any, ...], base: Value) -> tuple[Any, ...]:
    return tuple(index) + (slice(None),) * (base.type.rank - len(index))


REDUCTIONS = ("sum", "max", "min", "mean", "argmax")

VIEW_CHAINS = ("reshape", "transpose", "broadcast_to")

RULES = (
    Rewrite("same type", ("cast", "reshape", "broadcast_to"), "it changes nothing", _same_type),
    Rewrite("identity", ("transpose",), "axes stay in order", _transpose_identity),
    Rewrite("whole", ("getitem",), "every element is picked, in order", _getitem_all),
    Rewrite("view of view", VIEW_CHAINS, "two views of a kind are one", _view_of_view),
    Rewrite(
        "view of a full array",
        ("reshape", "transpose", "getitem"),
        "every element is the same constant",
        _view_of_full,
    ),
    Rewrite("cast back", ("cast",), "the way through a wider dtype is exact", _cast_back),
    Rewrite("double negative", ("negative",), "a sign flips twice, ints wrap", _double_negative),
    Rewrite(
        "neutral element",
        ("add", "subtract", "multiply", "divide"),
        "x * 1, x / 1, x + -0.0 and x - 0.0 are x, NaN and signed zeros included",
        _neutral,
    ),
    Rewrite("constants", POINTWISE, "computed by the Python target, as a kernel would", _fold),
    Rewrite(
        "reduce nothing",
        REDUCTIONS[:-1],
        "the one element is the result: -0.0 + x and x / 1 are x",
        _reduce_nothing,
    ),
    Rewrite("keepdims", REDUCTIONS, "one form of reduction", _split_keepdims),
    Rewrite("overwrite", ("setitem",), "no element of the base is left", _overwrite_all),
)
