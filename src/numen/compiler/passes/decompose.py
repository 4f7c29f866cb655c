"""Decomposition into the ops that nests and the matrix product do: mean, vectors in matmul.

A mean is a sum and a division; a product with one column is the sum of the products along the last
axis, as the numerics contract says; vectors become matrices. Called by `pipeline.py`. Next:
`prepare.py`.
"""

from __future__ import annotations

import math

from numen.compiler.passes.rewrite import Rebuilder, Rewrite, rewrite
from numen.graph.graph import Graph, Value
from numen.graph.types import plain_name

GEMM_DTYPES = ("float32", "float64")


def decompose(graph: Graph) -> Graph:
    return rewrite(graph, RULES)


def _mean(r: Rebuilder, value: Value) -> Value | None:
    operand = value.args[0]
    if plain_name(value.dtype) not in GEMM_DTYPES:
        return None
    if operand.dtype != value.dtype:
        operand = r.op("cast", (operand,), {"dtype": value.dtype})
    count = math.prod(operand.shape[axis] for axis in value.param("axis"))
    total = r.op("sum", (operand,), value.params)
    return r.op("divide", (total, r.graph.const(count, value.dtype)))


def _matmul(r: Rebuilder, value: Value) -> Value | None:
    a, b = value.args
    if plain_name(value.dtype) not in GEMM_DTYPES:
        return None
    if b.type.rank == 1 or b.shape[-1] == 1:
        return _single_column(r, value)
    if a.type.rank > 1:
        return None
    product = r.op("matmul", (r.op("reshape", (a,), {"shape": (1, *a.shape)}), b))
    return r.op("reshape", (product,), {"shape": value.type.shape})


def _single_column(r: Rebuilder, value: Value) -> Value:
    """b has one column: multiply rows of a by it and sum."""
    a, b = value.args
    if b.type.rank > 1:
        axes = tuple(range(b.type.rank))
        b = r.op("transpose", (b,), {"axes": (*axes[:-2], axes[-1], axes[-2])})
    product = r.op("multiply", (a, b))
    total = r.op("sum", (product,), {"axis": (product.type.rank - 1,), "keepdims": False})
    return r.op("reshape", (total,), {"shape": value.type.shape})


def _wide_sum(r: Rebuilder, value: Value) -> Value | None:
    operand = value.args[0]
    if operand.dtype == value.dtype or operand.dtype.kind not in "biu":
        return None
    return r.op("sum", (r.op("cast", (operand,), {"dtype": value.dtype}),), value.params)


RULES = (
    Rewrite("sum of small ints", ("sum",), "the cast to int64 or uint64 is exact", _wide_sum),
    Rewrite("mean", ("mean",), "a sum divided by the count", _mean),
    Rewrite("matmul", ("matmul",), "vectors are matrices; one column is a reduction", _matmul),
)
