"""a * b + c with one rounding, for float32 and float64 arrays, in NumPy without a hardware fma.

Called by `scalars.py` and `matmul.py`. Rounding to odd keeps in the last bit of an intermediate
result whether it was inexact, so that a second rounding to fewer bits is right (Boldo and
Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd",
IEEE Trans. Computers 57, 2008).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[Any]


def fma(a: Floats, b: Floats, c: Floats) -> Floats:
    """a * b + c rounded once. The operands are arrays of one float dtype that broadcast."""
    with np.errstate(all="ignore"):
        if a.dtype == np.float32:
            return _fma32(a, b, c)
        return _fma64(*np.broadcast_arrays(a, b, c))


def _fma32(a: Floats, b: Floats, c: Floats) -> Floats:
    product = a.astype(np.float64) * b.astype(np.float64)  # exact: 48 of 53 bits
    return np.asarray(_add_to_odd(product, c.astype(np.float64))).astype(np.float32)


def _two_sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """The rounded sum and its error, exactly (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _two_product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """The rounded product and its error, exactly (Dekker); nothing may over- or underflow."""
    product = a * b
    a_high, a_low = _split(a)
    b_high, b_low = _split(b)
    error = a_high * b_high - product
    return product, ((error + a_high * b_low) + a_low * b_high) + a_low * b_low


def _split(a: Floats) -> tuple[Floats, Floats]:
    scaled = a * 134217729.0  # 2**27 + 1
    high = scaled - (scaled - a)
    return high, a - high


def _add_to_odd(a: Floats, b: Floats) -> Floats:
    """a + b rounded to odd: if inexact, to the neighbour whose last mantissa bit is 1. float64."""
    total, error = _two_sum(a, b)
    total, error = np.asarray(total), np.asarray(error)
    even = (total.view(np.int64) & 1) == 0
    # An inexact even result moves one step towards the exact value, whose other neighbour is odd.
    step = np.isfinite(total) & (error != 0) & even
    towards = np.where(error > 0, np.inf, -np.inf)
    return np.where(step, np.nextafter(total, towards), total)


def _fma64(a: Floats, b: Floats, c: Floats) -> Floats:
    result = np.array(a * b + c)  # right as it is for zero products, inf and NaN
    special = (a == 0) | (b == 0) | ~np.isfinite(a) | ~np.isfinite(b) | ~np.isfinite(c)
    product = np.abs(a * b)
    # In this range nothing below over- or underflows, nor does the result.
    easy = ~special & (product >= 2.0**-900) & (product <= 2.0**900)
    easy &= (np.abs(a) <= 2.0**900) & (np.abs(b) <= 2.0**900)
    easy &= (c == 0) | ((np.abs(c) >= 2.0**-900) & (np.abs(c) <= 2.0**900))
    result[easy] = _boldo_melquiond(a[easy], b[easy], c[easy])
    for i in np.flatnonzero(~special & ~easy):
        result.flat[i] = _rational(float(a.flat[i]), float(b.flat[i]), float(c.flat[i]))
    return result


def _boldo_melquiond(a: Floats, b: Floats, c: Floats) -> Floats:
    product, product_error = _two_product(a, b)
    low, low_error = _two_sum(c, product_error)
    high, high_error = _two_sum(product, low)
    return np.asarray(high + _add_to_odd(low_error, high_error))


def _rational(a: float, b: float, c: float) -> float:
    """One element in rational arithmetic; float() of a Fraction rounds once, ties to even."""
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return a * b + c
    try:
        return float(exact)
    except OverflowError:
        return float("inf") if exact > 0 else float("-inf")
