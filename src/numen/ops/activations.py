"""Rows that activation functions are made of: sigmoid, softplus and the error function.

They take floating arrays alone, in which they differ from NumPy's ufuncs. Called by
`nn/functional_activations.py`; next: `normalization.py`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from numen.dispatch.backends import module_of, placed_like
from numen.dispatch.core import is_differentiable
from numen.dispatch.derived import elementwise
from numen.dispatch.primitive import Primitive
from numen.errors import DTypeError, describe
from numen.ops.elementwise import exp
from numen.ops.exponential import expm1
from numen.ops.promotion import ACCUMULATOR, is_small
from numen.ops.samples import Errors, singles
from numen.ops.windows import FLOAT16

Impl = Callable[[Any], Any]


def _of_floats(name: str, function: Impl) -> Impl:
    """The implementation for floating arrays; small floats and float16 in float32, rounded
    once."""

    def impl(a: Any) -> Any:
        if not hasattr(a, "dtype"):
            a = np.asarray(a)
        dtype = a.dtype
        if not is_differentiable(dtype) or dtype.kind == "c":
            raise DTypeError(f"{name}: expected a real floating array, got {describe(a)}")
        if dtype == FLOAT16 or is_small(dtype):
            return function(a.astype(ACCUMULATOR)).astype(dtype)
        return function(a)

    return impl


def _sigmoid(a: Any) -> Any:
    """1 / (1 + exp(-a)); no exponential overflows."""
    xp = module_of(a)
    e = xp.exp(-xp.absolute(a))
    return xp.where(a >= 0, 1, e) / (1 + e)


def _softplus(a: Any) -> Any:
    """log(1 + exp(a)) = log(1 + exp(-|a|)) + max(a, 0)."""
    xp = module_of(a)
    return xp.log1p(xp.exp(-xp.absolute(a))) + xp.maximum(a, 0)


# erf: a table of its Taylor series around multiples of 1/16

STEPS = 16
LAST = 6
"""From here on erf rounds to 1 in float64."""
DEGREES = {np.dtype(np.float32): 5, np.dtype(np.float64): 11}
PRECISION = 256
"""Bits behind the point in which the table is computed."""


def _erf(a: Any) -> Any:
    """The error function, <= 2 ulp: the series around the nearest multiple x of 1/16, in h = |a| -
    x.

    Its coefficients follow from those of the derivative 2 / sqrt(pi) exp(-x**2) (Abramowitz and
    Stegun, "Handbook of Mathematical Functions", 7.1.1 and 7.1.5); around 0 it is odd, which keeps
    the relative error of small results.
    """
    xp = module_of(a)
    tables = _erf_tables(a.dtype if a.dtype in DEGREES else np.dtype(np.float64))
    size = xp.absolute(a)
    size = xp.where(size < LAST, size, LAST).astype(a.dtype)  # NaN too
    nearest = xp.rint(size * STEPS)
    h = size - nearest / STEPS
    index = nearest.astype(np.intp)
    total = placed_like(tables[-1], a)[index]
    for table in tables[-2::-1]:
        total = total * h + placed_like(table, a)[index]
    return xp.where(a == a, xp.copysign(total, a), a)


@functools.cache
def _erf_tables(dtype: np.dtype[Any]) -> list[Any]:
    """Coefficients of each power of h around 0, 1/16, 2/16 ..., correctly rounded."""
    degree = DEGREES[dtype]
    columns = [_series(k, degree) for k in range(LAST * STEPS + 1)]
    return [np.array([c[n] for c in columns], dtype) for n in range(degree + 1)]


def _series(k: int, degree: int) -> list[float]:
    """The coefficients around x = k / STEPS, computed in integers scaled by 2**PRECISION."""
    one = 1 << PRECISION
    x = k * one // STEPS
    square = x * x >> PRECISION
    # erf(x) = 2 / sqrt(pi) sum (-1)**n x**(2 n + 1) / (n! (2 n + 1)); exp(-x**2) the like
    power, n, integral, bell = x, 0, 0, 0
    term = one
    while term or power:
        integral += power // (2 * n + 1)
        bell += term
        n += 1
        power = -(power * square >> PRECISION) // n if abs(power) > 1 else 0
        term = -(term * square >> PRECISION) // n if abs(term) > 1 else 0
    factor = 2 * one * one // math.isqrt(_pi() << PRECISION)
    derivative = [bell * factor >> PRECISION]
    for n in range(degree):  # y' = -2 x y
        before = derivative[n - 1] if n else 0
        derivative.append(-2 * ((x * derivative[n] >> PRECISION) + before) // (n + 1))
    out = [integral * factor >> PRECISION]
    out += [derivative[n] // (n + 1) for n in range(degree)]
    return [c / one for c in out]


def _pi() -> int:
    """Machin's formula: pi = 16 arctan(1/5) - 4 arctan(1/239), scaled by 2**PRECISION."""

    def arctan(inverse: int) -> int:
        term = (1 << PRECISION + 32) // inverse
        total, n, sign = 0, 1, 1
        while term:
            total += sign * (term // n)
            term //= inverse * inverse
            n, sign = n + 2, -sign
        return total

    return (16 * arctan(5) - 4 * arctan(239)) >> 32


TWO_OVER_ROOT_PI = 2 / math.sqrt(math.pi)


def _erf_slope(a: Any) -> Any:
    return TWO_OVER_ROOT_PI * exp(-a * a)


def _errors() -> Errors:
    return [
        ((np.array(["x"]),), {}, TypeError),
        ((np.ones(3, np.int64),), {}, TypeError),
        ((np.ones(3, np.complex128),), {}, TypeError),
    ]


def _row(name: str, function: Impl, slope: Any) -> Primitive:
    impl = _of_floats(name, function)
    return elementwise(name, impl, slope, exact=False, samples=singles, errors=_errors)


sigmoid = _row("sigmoid", _sigmoid, lambda o: o * (1 - o))
softplus = _row("softplus", _softplus, lambda o: -expm1(-o))
erf = _row("erf", _erf, _erf_slope)

ROWS = (sigmoid, softplus, erf)
