"""When two results are equal: shape, dtype, and values within the bound of their dtype.

A pointwise operation is compared element by element, anything that sums relative to the largest
term. Next: `operations.py`.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

BOUNDS = {
    "float64": 1e-7,
    "complex128": 1e-7,
    "float32": 1e-4,
    "complex64": 1e-4,
    "float16": 4e-3,
    "bfloat16": 3e-2,
}
"""Relative distance allowed, by the less precise dtype of the two; integers are exact."""

FLOORS = {"float32": 0.1, "complex64": 0.1}
"""Least size of the largest term, by dtype, else 0.001: where everything cancels, roundings of
terms of order one remain."""

ROUNDINGS = 16
"""What a pointwise result may lose beyond that: roundings of intermediate terms of order one."""


def finite_eps(dtype: np.dtype) -> float:
    return float(ml_dtypes.finfo(dtype).eps) if dtype.kind not in "biu" else 0.0


def close(ours: np.ndarray, theirs: np.ndarray, elementwise: bool = False) -> str | None:
    """None where two arrays of one shape agree, else what differs."""
    if ours.size == 0:
        return None
    bound = max(BOUNDS.get(ours.dtype.name, 0.0), BOUNDS.get(theirs.dtype.name, 0.0))
    if not bound:
        unequal = np.flatnonzero(ours.ravel() != theirs.ravel())
        return f"{where(ours, theirs, unequal)}" if unequal.size else None
    wide = np.complex128 if "c" in (ours.dtype.kind, theirs.dtype.kind) else np.float64
    a, b = ours.astype(wide).ravel(), theirs.astype(wide).ravel()
    with np.errstate(all="ignore"):
        sizes = np.abs(b)
        terms = np.max(sizes, initial=0.0, where=np.isfinite(sizes))
        if elementwise:
            precision = max(finite_eps(ours.dtype), finite_eps(theirs.dtype))
            allowed = bound * sizes + ROUNDINGS * precision
        else:
            floor = max(FLOORS.get(d.dtype.name, 1e-3) for d in (ours, theirs))
            allowed = bound * np.maximum(terms, floor)
        far = ~(np.abs(a - b) <= allowed)
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        if wide is np.complex128:  # infinities: part by part
            same |= alike(a.real, b.real) & alike(a.imag, b.imag)
    unequal = np.flatnonzero(far & ~same)
    return where(ours, theirs, unequal) if unequal.size else None


def alike(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= 1e-6 * np.abs(b))


def where(ours: np.ndarray, theirs: np.ndarray, unequal: np.ndarray) -> str:
    first = int(unequal[0])
    place = np.unravel_index(first, ours.shape)
    at = ", ".join(str(int(i)) for i in place)
    return (
        f"{unequal.size} of {ours.size} differ, first at ({at}): "
        f"{ours.ravel()[first]!r} here, {theirs.ravel()[first]!r} in torch"
    )
