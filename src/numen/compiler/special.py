"""sigmoid, softplus and erf as scalar instructions; called by `lower.py`'s rows, like `math.py`.

Each stays within 4 ulp of the true value. The polynomials go through Chebyshev's points of the
function named beside them, computed in 160-bit arithmetic, lowest power first.
"""

from __future__ import annotations

from dataclasses import dataclass

from numen.compiler.body import Body, Value
from numen.compiler.math import _horner, _log_sum, exp, relu
from numen.compiler.scalar import ITEMSIZE


def sigmoid(b: Body, x: Value) -> Value:
    """1 / (1 + exp(-x)); the exponential is of -|x|, so nothing overflows."""
    one = b.const(1.0, x.dtype)
    small = exp(b, b.negative(b.absolute(x)))
    return b.divide(b.select(b.less(x, b.const(0.0, x.dtype)), small, one), b.add(one, small))


_HALVED = {"float32": 1 / 3, "float64": 2**0.5 - 1}
"""Up to here `_log_sum` takes u itself."""


def softplus(b: Body, x: Value) -> Value:
    """log(1 + exp(x)) = max(x, 0) + log(1 + u) with u = exp(-|x|).

    For large u, log(1 + u) = log(1 + (u - 1) / 2) + ln 2, in the range of `math.log`'s polynomials.
    """
    dtype = x.dtype
    zero, one, half = (b.const(value, dtype) for value in (0.0, 1.0, 0.5))
    u = exp(b, b.negative(b.absolute(x)))
    large = b.greater(u, b.const(_HALVED[dtype], dtype))
    f = b.select(large, b.multiply(b.subtract(u, one), half), u)
    return b.add(relu(b, x), _log_sum(b, f, b.select(large, one, zero)))


@dataclass(frozen=True)
class _Erf:
    bits: str  # the integer dtype of the same size
    limit: float  # from here on erf rounds to 1
    near: tuple[float, ...]  # erf(x) / x - 1 in x**2 for |x| <= 1
    far: tuple[float, ...]  # erfc(x) exp(x**2) in (x - 2) / (x + 2) for 1 <= x <= limit


_ERF = {
    "float32": _Erf(
        "int32",
        4.0,
        (
            0.12837916706154343,
            -0.3761263846802871,
            0.11283782495236845,
            -0.026865430727670243,
            0.005221031807858023,
            -0.0008484080405535107,
            0.00011265959025606609,
            -9.667044571486996e-06,
        ),
        (
            0.25539567631050575,
            -0.42718584831165,
            0.24165819411285702,
            -0.07897847314706918,
            0.0037329080273491746,
            0.006993954025083926,
            -0.0008476555786712168,
            -0.0009395269021825955,
            4.9876741933444445e-05,
        ),
    ),
    "float64": _Erf(
        "int64",
        6.0,
        (
            0.1283791670955126,
            -0.37612638903183754,
            0.1128379167095512,
            -0.02686617064512984,
            0.0052239776254232985,
            -0.000854832702193483,
            0.00012055332902888736,
            -1.4925647567519332e-05,
            1.6462045441468418e-06,
            -1.6364642158167616e-07,
            1.4792401209404813e-08,
            -1.216456005728345e-09,
            8.709045129053106e-11,
            -4.230945824295338e-12,
        ),
        (
            0.25539567631050575,
            -0.4271858474139584,
            0.24165819424246635,
            -0.07897858101573307,
            0.003732892404344617,
            0.006997461739289359,
            -0.0008471432519791012,
            -0.0009819770300382499,
            4.355563625422083e-05,
            0.0001743612301523324,
            2.7524858073592343e-05,
            -2.758040999497952e-05,
            -1.3961435485530436e-05,
            1.3933694614170019e-06,
            3.749252793129386e-06,
            1.1954890930098656e-06,
            -4.114710965297881e-07,
            -5.143808653845284e-07,
            -1.363330829462481e-07,
            9.610629801816115e-08,
            5.5122843241217635e-08,
        ),
    ),
}


def erf(b: Body, x: Value) -> Value:
    """The error function: x + x p(x**2) below 1, else 1 - exp(-x**2) q((x - 2) / (x + 2))."""
    form, dtype = _ERF[x.dtype], x.dtype
    one, two, limit = (b.const(value, dtype) for value in (1.0, 2.0, form.limit))
    size = b.absolute(x)
    size = b.select(b.less(limit, size), limit, size)  # keeps NaN
    square = b.multiply(size, size)
    near = b.fma(size, _horner(b, form.near, square), size)
    t = b.divide(b.subtract(size, two), b.add(size, two))
    tail = b.multiply(exp(b, b.negative(square)), _horner(b, form.far, t))
    result = b.select(b.less(size, one), near, b.subtract(one, tail))
    sign = b.and_(b.bitcast(x, form.bits), b.const(-(2 ** (8 * ITEMSIZE[dtype] - 1)), form.bits))
    return b.bitcast(b.or_(b.bitcast(result, form.bits), sign), dtype)
