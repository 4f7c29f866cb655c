"""Elementwise arithmetic: operands broadcast together, each element is computed alone.

Most rows are a ufunc and its partial derivatives; power writes its own, so
that no NaN or infinity leaks into a gradient that is zero. Called by Array's operators; next:
`kinks.py`.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from numen.dispatch.derived import (
    FLOAT32,
    FLOAT64,
    MANY,
    broadcast_to,
    conj,
    count_nonzero,
    elementwise,
    ndarray,
    no_zeros,
    times,
)
from numen.dispatch.primitive import Primitive
from numen.ops.common import add_tangents, aligned_batch, is_number, zeros
from numen.ops.comparisons import equal, greater, not_equal
from numen.ops.masked import over
from numen.ops.samples import (
    DType,
    Errors,
    Inputs,
    Rng,
    away_from_zero,
    draw,
    pairs,
    singles,
    text_operand,
    unequal_shapes,
)
from numen.ops.selection import where

# Sums and products

add = elementwise("add", np.add, True, True, ufunc=np.add, samples=pairs, errors=unequal_shapes)


def _subtract_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any, b: Any) -> tuple[Any, ...]:
    return g if needs[0] else None, -g if needs[1] else None


def _subtract_errors() -> Errors:
    flags = np.array([True, False])
    return [*unequal_shapes(), ((flags, flags), {}, TypeError)]


subtract = elementwise(
    "subtract",
    np.subtract,
    True,
    lambda: -1.0,
    vjp=_subtract_vjp,
    ufunc=np.subtract,
    samples=pairs,
    errors=_subtract_errors,
)


def _multiply_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any, b: Any) -> tuple[Any, ...]:
    dtype = g.dtype
    if (
        (dtype is FLOAT32 or dtype is FLOAT64)
        and type(g) is ndarray
        and (count_nonzero(g) == g.size if g.size < MANY else no_zeros(g))  # without a call
    ):
        return g * b if needs[0] else None, g * a if needs[1] else None
    if dtype.kind == "c":
        return times(g, conj(b)) if needs[0] else None, times(g, conj(a)) if needs[1] else None
    return times(g, b) if needs[0] else None, times(g, a) if needs[1] else None


multiply = elementwise(
    "multiply",
    np.multiply,
    lambda b: b,
    lambda a: a,
    vjp=_multiply_vjp,
    ufunc=np.multiply,
    samples=pairs,
    errors=unequal_shapes,
)


def _divide_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any, b: Any) -> tuple[Any, ...]:
    # d/da = 1/b; d/db = -(a/b)/b, the quotient taken again so that the result need not be kept
    dtype = g.dtype
    if (
        (dtype is FLOAT32 or dtype is FLOAT64)
        and type(g) is ndarray
        and (count_nonzero(g) == g.size if g.size < MANY else no_zeros(g))  # without a call
    ):
        ga = g / b
        return ga if needs[0] else None, -(ga * (a / b)) if needs[1] else None
    if dtype.kind == "c":
        ga = over(g, conj(b))
        return ga if needs[0] else None, -times(ga, conj(a / b)) if needs[1] else None
    ga = over(g, b)
    return ga if needs[0] else None, -times(ga, a / b) if needs[1] else None


def _divide_samples(rng: Rng, dtype: DType) -> Inputs:
    def value(*shape: int) -> Any:
        return away_from_zero(rng, shape, dtype)

    return [
        ((value(3, 4), value(3, 4)), {}),
        ((value(3, 1), value(2, 1, 4)), {}),
        ((value(3), value()), {}),
        ((value(2, 3), 2.0), {}),
        ((2.0, value(5)), {}),
    ]


def _inverse(b: Any) -> Any:
    """1 / b, also where b is Python's zero."""
    if isinstance(b, (int, float)) and b == 0:
        return math.copysign(math.inf, b)
    return 1.0 / b


divide = elementwise(
    "divide",
    np.divide,
    lambda b: _inverse(b),
    lambda a, b: -(a / b) / b,
    vjp=_divide_vjp,
    ufunc=np.divide,
    samples=_divide_samples,
    errors=unequal_shapes,
)


def _negative_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any) -> tuple[Any, ...]:
    return (-g,)


def _negative_errors() -> Errors:
    return [((np.array([True]),), {}, TypeError)]


negative = elementwise(
    "negative",
    np.negative,
    lambda: -1.0,
    vjp=_negative_vjp,
    ufunc=np.negative,
    samples=singles,
    errors=_negative_errors,
)

positive = elementwise(
    "positive", np.positive, True, ufunc=np.positive, samples=singles, errors=_negative_errors
)


# power


def power_by_base(a: Any, b: Any) -> Any:
    """d(a**b)/da = b a**(b-1), exactly 0 where b is 0."""
    if is_number(b):
        # A number that a trace follows is not asked for its value: the trace would depend on it.
        if type(b) in (int, float, complex) and b in (0, 2):
            return b * a if b else None
        return b * a ** (b - 1)
    return b * a ** where(equal(b, 0), 0, b - 1)  # a**0 is 1 even for infinities and NaN


def power_by_exponent(a: Any, b: Any) -> Any:
    """d(a**b)/db = a**b log(a) where a > 0, else exactly 0 (that is the limit at a = 0, b > 0).

    Among complex numbers a negative `a` has a logarithm too."""
    if is_number(a):
        if isinstance(a, complex) or b.dtype.kind == "c":
            return cmath.log(a) * a**b if a else None
        return math.log(a) * a**b if a > 0 else None
    if "c" not in (a.dtype.kind, b.dtype.kind):
        inside = greater(a, 0)
        base = where(inside, a, 1)
    else:
        inside = not_equal(a, 0)
        base = where(inside, a, 1) + 0j
    return where(inside, base**b * log(base), 0)


def _power_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any, b: Any) -> tuple[Any, ...]:
    cotangents: list[Any] = []
    for needed, slope in zip(needs, (power_by_base, power_by_exponent), strict=True):
        if not needed:
            cotangents.append(None)
            continue
        factor = slope(a, b)
        if factor is None:
            cotangents.append(zeros(g.shape, g.dtype, g))
        else:
            cotangents.append(times(g, factor if g.dtype.kind != "c" else conj(factor)))
    return tuple(cotangents)


def _power_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    total = None
    for t, slope in zip(tangents, (power_by_base, power_by_exponent), strict=True):
        factor = None if t is None else slope(*args)
        if factor is not None:
            total = add_tangents(total, times(t, factor))
    return zeros(out.shape, out.dtype, out) if total is None else broadcast_to(total, out.shape)


def _power_samples(rng: Rng, dtype: DType) -> Inputs:
    def base(*shape: int) -> Any:
        return draw(rng, shape, dtype, 0.5, 2.0)

    def exponent(*shape: int) -> Any:
        return draw(rng, shape, dtype, 0.5, 3.0)

    whole = [2, 3, 1, 0] if dtype.kind in "biu" else [2, 3, 1, 0, 2.0, -1.5, 0.5]
    return [
        ((base(3, 4), exponent(3, 4)), {}),
        ((base(3, 1), exponent(2, 1, 4)), {}),
        ((2, exponent(5)), {}),
        *[((base(3), k), {}) for k in whole],
    ]


def _power_errors() -> Errors:
    return [*unequal_shapes(), ((np.arange(3), -1), {}, ValueError)]


power: Primitive = Primitive(
    "power",
    np.power,
    vjp=_power_vjp,
    jvp=_power_jvp,
    batch=aligned_batch(lambda: power),
    saves_for=((0, 1), (0, 1)),
    exact=False,
    ufunc=np.power,
    samples=_power_samples,
    errors=_power_errors,
)


# Exponential and friends

exp = elementwise(
    "exp",
    np.exp,
    lambda o: o,
    exact=False,
    ufunc=np.exp,
    samples=singles,
    errors=text_operand,
)


def _log_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any) -> tuple[Any, ...]:
    return (over(g, a if g.dtype.kind != "c" else conj(a)),)


def _positive(rng: Rng, dtype: DType) -> Inputs:
    return singles(rng, dtype, 1.0 if dtype.kind in "iu" else 0.5, 3.0)


log = elementwise(
    "log",
    np.log,
    lambda a: 1.0 / a,
    vjp=_log_vjp,
    exact=False,
    ufunc=np.log,
    samples=_positive,
    errors=text_operand,
)

tanh = elementwise(
    "tanh",
    np.tanh,
    lambda o: 1.0 - o * o,
    exact=False,
    ufunc=np.tanh,
    samples=singles,
    errors=text_operand,
)


def _sqrt_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any) -> tuple[Any, ...]:
    return (over(g, 2 * (out if g.dtype.kind != "c" else conj(out))),)


sqrt = elementwise(
    "sqrt",
    np.sqrt,
    lambda o: 0.5 / o,
    vjp=_sqrt_vjp,
    cheap=False,
    ufunc=np.sqrt,
    samples=_positive,
    errors=text_operand,
)


ROWS = (add, subtract, multiply, divide, negative, positive, power, exp, log, tanh, sqrt)
