"""Functions that no scalar instruction computes, expanded into several: exp, log, tanh, power ...

A body and operands in, the result's handle out; called by `lower.py`'s rows. As every instruction
rounds the same way everywhere, all targets give equal bits. exp, log and tanh stay within 2 ulp of
the true value over all inputs, subnormal ones and results included, and give NumPy's results for
inf, nan and signed zeros.

The polynomials are minimax fits (Remez exchange in 200-bit arithmetic) of the function named beside
them, their coefficients rounded to the dtype afterwards, lowest power first. Next: `lower.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from numen.compiler.body import Body, Value
from numen.compiler.scalar import FLOATS, ITEMSIZE
from numen.errors import InternalError


@dataclass(frozen=True)
class _Format:
    """What exp, log and tanh need to know of a float dtype."""

    bits: str  # the integer dtype of the same size
    mantissa: int  # stored mantissa bits
    bias: int  # exponent bias
    round: float  # 1.5 * 2**mantissa: adding it leaves round(x) in the low bits of the sum
    tiny: float  # least normal number
    ln2_high: float  # ln(2) rounded to the dtype,
    ln2_low: float  # and what is left of it
    exp_range: tuple[float, float]  # outside of it exp is 0 or inf
    exp: tuple[float, ...]  # (exp(r) - 1 - r) / r**2 for |r| <= ln(2) / 2
    tanh_range: float  # from here on tanh rounds to 1
    tanh: tuple[float, ...]  # (tanh(r) - r) / r**3 in r**2 for |r| <= atanh(1/2)
    log_shift: int  # bits of 1.0 less bits of the least m in log


_FLOAT32 = _Format(
    bits="int32",
    mantissa=23,
    bias=127,
    round=12582912.0,
    tiny=2.0**-126,
    ln2_high=0.693147182464599609375,
    ln2_low=-1.904654323148236017e-9,
    exp_range=(-104.0, 89.0),
    # relative error of exp 2**-28.3
    exp=(
        0.4999999403953552,
        0.1666652113199234,
        0.04166838899254799,
        0.00836874544620514,
        0.0013814540579915047,
    ),
    tanh_range=10.0,
    # relative error of tanh 2**-29.8
    tanh=(
        -0.33333316445350647,
        0.13332590460777283,
        -0.053852785378694534,
        0.021073779091238976,
        -0.006277400068938732,
    ),
    log_shift=0x3F800000 - 0x3F2AAAAB,  # m from 2/3
)

_FLOAT64 = _Format(
    bits="int64",
    mantissa=52,
    bias=1023,
    round=6755399441055744.0,
    tiny=2.0**-1022,
    ln2_high=0.6931471805599453094,
    ln2_low=2.319046813846299615e-17,
    exp_range=(-746.0, 710.0),
    # relative error of exp 2**-57.9
    exp=(
        0.5000000000000011,
        0.1666666666666641,
        0.041666666666529725,
        0.008333333333494976,
        0.0013888888943759984,
        0.00019841269505773806,
        2.480149294961707e-05,
        2.755758680384707e-06,
        2.7630306255647857e-07,
        2.500001885308334e-08,
    ),
    tanh_range=20.0,
    # relative error of tanh 2**-60.6
    tanh=(
        -0.333333333333333,
        0.13333333333326716,
        -0.053968253963817124,
        0.021869488387523464,
        -0.008863232629585431,
        0.003592092323020426,
        -0.001455544783157927,
        0.0005884526770286175,
        -0.00023340296416597792,
        8.334791606171773e-05,
        -1.9514604962156684e-05,
    ),
    log_shift=0x3FF0000000000000 - 0x3FE6A09E667F3BCD,  # m from sqrt(1/2)
)

_FORMATS = {"float32": _FLOAT32, "float64": _FLOAT64}

_LOG2E = 1.4426950408889634

_TANH_OFFSET = -0.5849625007211562  # 1 - 2 atanh(1/2) / ln 2
"""Added to 2 |x| / ln 2 before it is rounded to an even number: below atanh(1/2) that gives 0."""

_LOG1P_FLOAT32 = (
    # (log(1 + f) - f + f**2 / 2) / f**3 for |f| <= 1/3; relative error of log 2**-27.7
    0.3333321511745453,
    -0.24999797344207764,
    0.20010405778884888,
    -0.16680487990379333,
    0.140058696269989,
    -0.12184260785579681,
    0.1398443579673767,
    -0.12891684472560883,
)

_ATANH_FLOAT64 = (
    # (2 atanh(s) - 2 s) / s**3 in z = s**2 for |s| <= 0.1716; relative error of atanh 2**-59.5
    0.6666666666666735,
    0.3999999999941109,
    0.28571428743263566,
    0.22222198475912253,
    0.1818356974302604,
    0.1531390317630429,
    0.14797508320953293,
)


def _horner(b: Body, coefficients: tuple[float, ...], x: Value) -> Value:
    """The polynomial with these coefficients, lowest power first, by fused steps."""
    result = b.const(coefficients[-1], x.dtype)
    for coefficient in coefficients[-2::-1]:
        result = b.fma(result, x, b.const(coefficient, x.dtype))
    return result


def _clamp(b: Body, x: Value, low: float, high: float) -> Value:
    """x held within [low, high]. This operand order keeps NaN and is that of a min instruction."""
    lower, upper = b.const(low, x.dtype), b.const(high, x.dtype)
    x = b.select(b.greater(lower, x), lower, x)
    return b.select(b.less(upper, x), upper, x)


def exp(b: Body, x: Value) -> Value:
    """e ** x, <= 2 ulp: x = n ln 2 + r, exp(x) = exp(r) * 2**n.

    The scale is applied as two factors, so that the second product rounds a subnormal result once.
    """
    form, dtype = _FORMATS[x.dtype], x.dtype
    x = _clamp(b, x, *form.exp_range)
    # The low bits of `shifted` hold n + 2 * bias, which is positive.
    offset = b.const(form.round + 2 * form.bias, dtype)
    shifted = b.fma(x, b.const(_LOG2E, dtype), offset)
    n = b.subtract(shifted, offset)
    r = b.fma(n, b.const(-form.ln2_high, dtype), x)
    r = b.fma(n, b.const(-form.ln2_low, dtype), r)
    result = _horner(b, (1.0, 1.0, *form.exp), r)
    # Shifting to the exponent field drops the bits of form.round: they are all above.
    both = b.bitcast(shifted, form.bits)
    half = b.lshr(both, 1)
    first = b.bitcast(b.shl(half, form.mantissa), dtype)
    second = b.bitcast(b.shl(b.subtract(both, half), form.mantissa), dtype)
    return b.multiply(b.multiply(result, first), second)


def tanh(b: Body, x: Value) -> Value:
    """Hyperbolic tangent, <= 2 ulp: |x| = n ln 2 + r and the addition theorem, then the sign of x.

    n is rounded so that n = 0 for |x| < atanh(1/2). With t = tanh(r) and s = 4**n the result is N /
    D with D = (s + 1) + t (s - 1) and N = D - 2 + 2 t. For n = 0 that is t without another
    rounding; else the quotient is above 1/2, where an error of D hardly changes it since N is taken
    from the rounded D.
    """
    form, dtype = _FORMATS[x.dtype], x.dtype
    limit = b.const(form.tanh_range, dtype)
    size = b.absolute(x)
    size = b.select(b.less(limit, size), limit, size)  # keeps NaN
    # Twice form.round rounds to even numbers: 2 n here. The low bits of `shifted` hold n + (bias +
    # 1) / 2.
    offset = b.const(2 * form.round + (form.bias + 1), dtype)
    lowered = b.fma(size, b.const(2 * _LOG2E, dtype), b.const(_TANH_OFFSET, dtype))
    shifted = b.add(lowered, offset)
    twice = b.subtract(shifted, offset)
    r = b.fma(twice, b.const(-0.5 * form.ln2_high, dtype), size)
    r = b.fma(twice, b.const(-0.5 * form.ln2_low, dtype), r)
    square = b.multiply(r, r)
    t = b.fma(b.multiply(r, square), _horner(b, form.tanh, square), r)
    scale = b.bitcast(b.shl(b.bitcast(shifted, form.bits), form.mantissa + 1), dtype)  # 2 s
    half, one, two = (b.const(value, dtype) for value in (0.5, 1.0, 2.0))
    below, above = b.fma(scale, half, b.const(-1.0, dtype)), b.fma(scale, half, one)
    denominator = b.fma(t, below, above)
    numerator = b.fma(two, t, b.subtract(denominator, two))
    result = b.divide(numerator, denominator)
    sign = b.and_(b.bitcast(x, form.bits), b.const(-(2 ** (8 * ITEMSIZE[dtype] - 1)), form.bits))
    return b.bitcast(b.or_(b.bitcast(result, form.bits), sign), dtype)


def log(b: Body, x: Value) -> Value:
    """Natural logarithm, <= 2 ulp: x = m * 2**n with m around 1, log(x) = log(m) + n ln 2."""
    form, dtype = _FORMATS[x.dtype], x.dtype
    # Subnormal x is scaled into the normal range first.
    subnormal = b.less(x, b.const(form.tiny, dtype))
    up = form.mantissa + 2
    normal = b.select(subnormal, b.multiply(x, b.const(2.0**up, dtype)), x)
    # field = n + bias, n counting from m = log_from
    bits = b.bitcast(normal, form.bits)
    field = b.lshr(b.add(bits, b.const(form.log_shift, form.bits)), form.mantissa)
    m = b.bitcast(
        b.add(
            b.subtract(bits, b.shl(field, form.mantissa)),
            b.const(form.bias << form.mantissa, form.bits),
        ),
        dtype,
    )
    # An integer below 2**mantissa, put under the exponent of 2.0**mantissa, reads 2.0**mantissa +
    # itself.
    two = 2.0**form.mantissa
    pattern = b.const((form.bias + form.mantissa) << form.mantissa, form.bits)
    n = b.subtract(
        b.bitcast(b.or_(field, pattern), dtype),
        b.select(subnormal, b.const(two + form.bias + up, dtype), b.const(two + form.bias, dtype)),
    )
    result = _log_sum(b, b.subtract(m, b.const(1.0, dtype)), n)
    # inf and NaN stay; 0 gives -inf and less than 0 NaN.
    zero, infinity = b.const(0.0, dtype), b.const(math.inf, dtype)
    result = b.select(b.less(x, infinity), result, x)
    edge = b.select(b.equal(x, zero), b.const(-math.inf, dtype), b.const(math.nan, dtype))
    return b.select(b.less_equal(x, zero), edge, result)


def _log_sum(b: Body, f: Value, n: Value) -> Value:
    """log(1 + f) + n ln 2."""
    form, dtype = _FORMATS[f.dtype], f.dtype
    high, low = b.const(form.ln2_high, dtype), b.const(form.ln2_low, dtype)
    half = b.const(0.5, dtype)
    if dtype == "float32":
        tail = _horner(b, (-0.5, *_LOG1P_FLOAT32), f)
        small = b.fma(b.multiply(f, f), tail, b.multiply(n, low))
        return b.fma(n, high, b.add(f, small))
    # log(1 + f) = 2 atanh(s) with s = f / (2 + f), in the order of fdlibm's e_log.c:
    # f - (f**2 / 2 - s (f**2 / 2 + s**2 polynomial(s**2)))
    s = b.divide(f, b.add(f, b.const(2.0, dtype)))
    square = b.multiply(s, s)
    hump = b.multiply(b.multiply(half, f), f)
    poly = b.fma(square, _horner(b, _ATANH_FLOAT64, square), hump)
    small = b.fma(s, poly, b.multiply(n, low))
    return b.fma(n, high, b.subtract(f, b.subtract(hump, small)))


def maximum(b: Body, x: Value, y: Value) -> Value:
    """NumPy's maximum: NaN where either is NaN, y where the two are equal (so for 0.0 and -0.0)."""
    return b.select(_or_nan(b, b.greater(x, y), x), x, y)


def minimum(b: Body, x: Value, y: Value) -> Value:
    """NumPy's minimum: NaN where either is NaN, y where the two are equal."""
    return b.select(_or_nan(b, b.less(x, y), x), x, y)


def _or_nan(b: Body, condition: Value, x: Value) -> Value:
    return b.or_(condition, b.not_equal(x, x)) if x.dtype in FLOATS else condition


def relu(b: Body, x: Value) -> Value:
    """max(x, 0) with +0.0 for -0.0, and NaN kept."""
    zero = b.const(0, x.dtype)
    return b.select(b.less_equal(x, zero), zero, x)


def masked_product(b: Body, x: Value, y: Value) -> Value:
    """x y, with 0 in place of y where x is 0: infinity and NaN do not count there."""
    zero = b.const(0.0, x.dtype)
    return b.multiply(x, b.select(b.equal(x, zero), zero, y))


def masked_quotient(b: Body, x: Value, y: Value) -> Value:
    """x / y, with 1 in place of y where x is 0."""
    zero, one = b.const(0.0, x.dtype), b.const(1.0, x.dtype)
    return b.divide(x, b.select(b.equal(x, zero), one, y))


POWERS = (-1.0, 0.0, 0.5, 1.0, 2.0)
"""Constant exponents with a kernel: those of NumPy's own fast paths, with their bits."""


def power(b: Body, x: Value, exponent: float) -> Value:
    """x ** exponent for a float x and one of POWERS, as NumPy's `array ** scalar` computes it."""
    if exponent == 2.0:
        return b.multiply(x, x)
    if exponent == 1.0:
        return x
    if exponent == 0.5:
        return b.sqrt(x)
    one = b.const(1.0, x.dtype)
    if exponent == 0.0:
        return one
    if exponent == -1.0:
        return b.divide(one, x)
    raise InternalError(f"power {exponent!r} has no kernel, only {POWERS}")
