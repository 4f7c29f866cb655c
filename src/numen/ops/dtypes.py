"""Which dtypes an op computes in: `resolve` says what NumPy's promotion rules (NEP 50) give a call.

Used by `kernels.py` and by tracing to make casts explicit: the operands of a graph's op have the
dtype of the computation. Python ints, floats and complex numbers are weak; a Python bool is not.
Small floats follow `promotion.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from numen.dispatch.core import ArrayCore
from numen.dispatch.primitive import Primitive
from numen.ops.promotion import DType as DType
from numen.ops.promotion import Kind as Kind
from numen.ops.promotion import is_small, result_type

BOOL = np.dtype(np.bool_)


def kind_of(value: Any) -> Kind:
    """The dtype of an array or NumPy scalar; int, float or complex for a Python scalar.

    >>> kind_of(np.float32(1)), kind_of(2), kind_of(True)
    (dtype('float32'), <class 'int'>, dtype('bool'))
    """
    if isinstance(value, ArrayCore):
        return value._d.dtype  # type: ignore[no-any-return]
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype
    if isinstance(value, bool):
        return BOOL
    for scalar in (int, float, complex):
        if isinstance(value, scalar):
            return scalar
    return np.asarray(value).dtype


def resolve(prim: Primitive, args: Sequence[Any]) -> tuple[tuple[DType, ...], DType]:
    """The dtype each operand is cast to, and the result's (for a reduction, its operand's).

    Parameters
    ----------
    prim : Primitive
        The row that is called.
    args : sequence
        Arrays, ndarrays, NumPy and Python scalars, as the row takes them.

    Raises
    ------
    TypeError
        If NumPy has no loop for the dtypes.

    Examples
    --------
    >>> from numen.ops.registry import table
    >>> resolve(table["add"], (np.ones(2, np.float32), 1.5))
    ((dtype('float32'), dtype('float32')), dtype('float32'))
    """
    return resolve_kinds(prim, tuple([kind_of(a) for a in args]))


@lru_cache(maxsize=4096)
def resolve_kinds(prim: Primitive, kinds: tuple[Kind, ...]) -> tuple[tuple[DType, ...], DType]:
    """`resolve` for operands of which only the kinds are known."""
    name = prim.name
    if prim.ufunc is not None:
        if any([not isinstance(kind, type) and is_small(kind) for kind in kinds]):
            return _resolve_small(prim, kinds)
        *operands, out = prim.ufunc.resolve_dtypes((*kinds, None))
        return tuple(operands), out
    if name == "where":
        out = promoted(kinds[1:])
        return (BOOL, out, out), out
    if name in ("concatenate", "masked_product", "masked_quotient"):
        out = promoted(kinds)
        return (out,) * len(kinds), out
    fixed = tuple([concrete(kind) for kind in kinds])
    if name == "scatter_add":
        return (fixed[0], fixed[0], *fixed[2:]), fixed[0]
    return fixed, fixed[0]


def promoted(kinds: Sequence[Kind]) -> DType:
    """np.result_type, with weak Python scalars."""
    return result_type(kinds)


def _resolve_small(prim: Primitive, kinds: tuple[Kind, ...]) -> tuple[tuple[DType, ...], DType]:
    """A ufunc whose operands have a small float among them: all are cast to the common dtype."""
    dtype = result_type(kinds)
    if prim.name == "matmul":  # NumPy has float32 loops only; the row rounds
        return (dtype,) * len(kinds), dtype
    assert prim.ufunc is not None
    *_, out = prim.ufunc.resolve_dtypes((*(dtype,) * len(kinds), None))
    return (dtype,) * len(kinds), out


def concrete(kind: Kind) -> DType:
    """The dtype NumPy gives a scalar that stands alone."""
    return np.dtype(kind)
