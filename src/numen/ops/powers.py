"""Squares, cubic roots, reciprocals, float_power, and what the operator `**` computes.

`power` and `sqrt` are in `elementwise.py`. `power_row` is called by Array's `**`. Next:
`rounding.py`.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from numen.dispatch.core import ArrayCore
from numen.dispatch.derived import broadcast_to, conj, elementwise, times
from numen.dispatch.primitive import Primitive
from numen.ops.common import add_tangents, aligned_batch, is_number, zeros
from numen.ops.comparisons import equal, greater, not_equal
from numen.ops.elementwise import log, power, sqrt
from numen.ops.masked import over
from numen.ops.samples import (
    DType,
    Inputs,
    Rng,
    draw,
    nonzero,
    singles,
    text_operand,
    unequal_shapes,
)
from numen.ops.selection import cast, where

FLOAT64, COMPLEX128 = np.dtype(np.float64), np.dtype(np.complex128)

square = elementwise(
    "square",
    np.square,
    lambda a: 2 * a,
    ufunc=np.square,
    samples=singles,
    errors=text_operand,
)

reciprocal = elementwise(
    "reciprocal",
    np.reciprocal,
    lambda o: -(o * o),
    ufunc=np.reciprocal,
    samples=nonzero,
    errors=text_operand,
)


def _cbrt_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any) -> tuple[Any, ...]:
    return (over(g, 3.0 * (out * out)),)


cbrt = elementwise(
    "cbrt",
    np.cbrt,
    lambda o: 1.0 / (3.0 * (o * o)),
    vjp=_cbrt_vjp,
    exact=False,
    ufunc=np.cbrt,
    samples=nonzero,
    errors=text_operand,
)


# float_power


def _by_base(a: Any, b: Any) -> Any:
    """b a**(b-1), exactly 0 where b is 0."""
    if is_number(b):
        return b * float_power(a, b - 1)
    return b * float_power(a, where(equal(b, 0), 0, b - 1))


def _by_exponent(a: Any, b: Any) -> Any:
    """a**b log(a) where a > 0 (among complex numbers, where it is not 0), else exactly 0."""
    if is_number(a):
        if isinstance(a, complex) or b.dtype.kind == "c":
            return cmath.log(a) * float_power(a, b) if a else None
        return math.log(a) * float_power(a, b) if a > 0 else None
    is_complex = "c" in (a.dtype.kind, b.dtype.kind)
    inside = not_equal(a, 0) if is_complex else greater(a, 0)
    base = cast(where(inside, a, 1), dtype=COMPLEX128 if is_complex else FLOAT64)
    return where(inside, float_power(base, b) * log(base), 0)


def _float_power_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any, b: Any) -> tuple[Any, ...]:
    cotangents: list[Any] = []
    for needed, slope in zip(needs, (_by_base, _by_exponent), strict=True):
        if not needed:
            cotangents.append(None)
            continue
        factor = slope(a, b)
        if factor is None:
            cotangents.append(zeros(g.shape, g.dtype, g))
        else:
            cotangents.append(times(g, factor if g.dtype.kind != "c" else conj(factor)))
    return tuple(cotangents)


def _float_power_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    total = None
    for t, slope in zip(tangents, (_by_base, _by_exponent), strict=True):
        factor = None if t is None else slope(*args)
        if factor is not None:
            total = add_tangents(total, times(t, factor))
    return zeros(out.shape, out.dtype, out) if total is None else broadcast_to(total, out.shape)


def _float_power_samples(rng: Rng, dtype: DType) -> Inputs:
    def base(*shape: int) -> Any:
        return draw(rng, shape, dtype, 0.5, 2.0)

    def exponent(*shape: int) -> Any:
        return draw(rng, shape, dtype, 0.5, 3.0)

    return [
        ((base(3, 4), exponent(3, 4)), {}),
        ((base(3, 1), exponent(2, 1, 4)), {}),
        ((2, exponent(5)), {}),
        ((base(3), 2), {}),
        ((base(3), 0), {}),
        ((base(3), -1.5), {}),
    ]


float_power: Primitive = Primitive(
    "float_power",
    np.float_power,
    vjp=_float_power_vjp,
    jvp=_float_power_jvp,
    batch=aligned_batch(lambda: float_power),
    saves_for=((0, 1), (0, 1)),
    exact=False,
    ufunc=np.float_power,
    samples=_float_power_samples,
    errors=unequal_shapes,
)


# The operator **


def power_row(a: Any, b: Any) -> tuple[Primitive, tuple[Any, ...]]:
    """The row, and its operands, that NumPy's operator `a ** b` computes.

    Its operator squares where the exponent is the Python int 2 (a bool array gives int8 then, not
    np.power's int64), and takes roots and reciprocals of floats where it is 0.5 or the int -1. For
    real floats power gives the bits of the square and the reciprocal, and has kernels: it stays.

    Parameters
    ----------
    a, b : Array or Python scalar
        Operands; a 0-d array is no Python scalar.

    Examples
    --------
    >>> import numen as nm
    >>> row, operands = power_row(nm.array([True]), 2)
    >>> row, len(operands)
    (<primitive square>, 1)
    """
    kind = type(b)
    if (kind is int or kind is float) and isinstance(a, ArrayCore):
        family = a._d.dtype.kind
        if kind is float:
            if b == 0.5 and family in "fc":
                return sqrt, (a,)
        elif b == 2:
            if family not in "fVO":
                return square, (a,)
        elif b == -1 and family == "c":
            return reciprocal, (a,)
    return power, (a, b)


def power_operator(a: Any, b: Any) -> Any:
    """`a ** b` as NumPy's operator computes it.

    >>> import numen as nm
    >>> power_operator(nm.array([True, False]), 2).dtype
    dtype('int8')
    """
    row, operands = power_row(a, b)
    return row(*operands)


ROWS = (square, reciprocal, cbrt, float_power)
