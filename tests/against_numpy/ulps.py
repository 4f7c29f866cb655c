"""Distance between floats in units in the last place. Used by the accuracy and contract tests."""

from __future__ import annotations

from typing import Any

import numpy as np

FAR = np.uint64(2**64 - 1)
"""The distance of NaN to a number."""


def ulps(actual: Any, expected: Any) -> Any:
    """How many floats lie between two arrays' elements, as uint64; NaN matches NaN alone."""
    if actual.dtype.kind == "c":
        return np.maximum(ulps(actual.real, expected.real), ulps(actual.imag, expected.imag))
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    a, b = _ordered(actual), _ordered(expected)
    apart = np.maximum(a, b) - np.minimum(a, b)
    nan = np.isnan(actual), np.isnan(expected)
    return np.where(nan[0] | nan[1], np.where(nan[0] & nan[1], np.uint64(0), FAR), apart)


def _ordered(x: Any) -> Any:
    """Unsigned integers in the order of the floats, both zeros the same."""
    whole = np.dtype(f"u{x.dtype.itemsize}")
    bits = np.ascontiguousarray(x).astype(x.dtype.newbyteorder("=")).view(whole)
    bits = bits.reshape(x.shape).astype(np.uint64)
    top = np.uint64(1) << np.uint64(8 * whole.itemsize - 1)
    return np.where(bits & top, top - (bits & ~top), bits + top)
