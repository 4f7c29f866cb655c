"""Which part of a program computes a value: a kernel, the matrix product, a host call, nobody.

Asked by `prepare.py` and `fuse.py`; `lower.py` knows the ops and dtypes that have kernels. Next:
`fuse.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from numen.compiler.lower import has_kernel
from numen.compiler.passes.layout import CopyNeeded, Layout, apply_view, dense_order, permuted
from numen.compiler.scalar import DTYPES
from numen.graph.graph import Value, input_strides
from numen.graph.infer import VIEWS
from numen.graph.types import plain_name

Kind = Literal["source", "view", "pointwise", "reduction", "write", "gemm", "host"]
GroupKind = Literal["nest", "gemm", "host"]

REDUCTIONS = frozenset({"sum", "max", "min", "argmax"})
GEMM_DTYPES = ("float32", "float64")


def kernel_dtype(dtype: np.dtype) -> bool:
    """Whether kernels can load and store the dtype."""
    return dtype.isnative and plain_name(dtype) in DTYPES


def kind_of(value: Value) -> Kind:
    """Say who computes a value."""
    op = value.op
    if op in ("input", "const"):
        return "source"
    if op in VIEWS:
        return "view"
    if not all(kernel_dtype(v.dtype) and aligned(v) for v in (value, *value.args)):
        return "host"
    if op in ("copy", "barrier"):
        return "pointwise"
    if op == "setitem":
        return "write" if write_layout(value) is not None else "host"
    if op == "matmul":
        plain = plain_name(value.dtype) in GEMM_DTYPES and min(a.type.rank for a in value.args) >= 2
        return "gemm" if plain else "host"
    if op in REDUCTIONS:
        return "reduction" if _reduces(value) else "host"
    names = [plain_name(arg.dtype) for arg in value.args]
    known = has_kernel(op, names, plain_name(value.dtype), lowering_params(value))
    return "pointwise" if known else "host"


def lowering_params(value: Value) -> Mapping[str, object]:
    """What `lower.py` wants to know of an op: the constant exponent of a power."""
    if value.op != "power":
        return {}
    return {"exponent": constant(value.args[1])}


def constant(value: Value) -> float | int | bool | None:
    """The number that every element of a value equals, or None."""
    while value.op in ("broadcast_to", "reshape", "transpose"):
        value = value.args[0]
    number: float | int | bool | None = value.param("value") if value.op == "const" else None
    return number


def _reduces(value: Value) -> bool:
    if value.param("keepdims"):
        return False
    return has_kernel(value.op, [plain_name(value.args[0].dtype)], plain_name(value.dtype), {})


def aligned(value: Value) -> bool:
    """Whether every stride is a multiple of the item size; views of an input are looked through."""
    while value.op in VIEWS:
        value = value.args[0]
    if value.op != "input":
        return True
    return all(stride % value.dtype.itemsize == 0 for stride in input_strides(value))


def write_layout(value: Value) -> Layout | None:
    """The layout that a setitem writes, in the base's memory; None where its path needs a copy."""
    base = value.args[0]
    layout = base_layout(base)
    try:
        for name, params in value.param("path"):
            layout = apply_view(layout, name, dict(params), base.dtype.itemsize)
    except CopyNeeded:
        return None
    return layout


def base_layout(base: Value) -> Layout:
    """The memory of a chain of setitems: laid out as the input at its start, or in C order."""
    origin = base
    while origin.op in ("setitem", "copy"):
        origin = origin.args[0]
    shape, itemsize = base.shape, base.dtype.itemsize
    if origin.op != "input":
        return permuted(shape, tuple(range(len(shape))), itemsize)
    return permuted(shape, dense_order(input_strides(origin)), itemsize)
