"""convolve and correlate of two vectors; every mode is a slice of the row convolve.

Next: `ops/filters.py` for the row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch.convert import as_array
from numen.errors import describe
from numen.namespace.calling import composes
from numen.namespace.complex_numbers import conj_of
from numen.namespace.devices import beside
from numen.ops import table

__all__ = ["convolve", "correlate"]


@composes(np.convolve)
def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """Discrete convolution of two vectors.

    Parameters
    ----------
    a, v : (N,) and (M,) array_like
    mode : {'full', 'same', 'valid'}
        Every overlap (N + M - 1), the middle max(N, M) of them, or the complete ones.

    Raises
    ------
    ValueError
        If an operand is empty or no vector, or the mode another.

    Examples
    --------
    >>> import numen as nm
    >>> nm.convolve([1, 2, 3], [0, 1, 0.5])
    array([0. , 1. , 2.5, 4. , 1.5])
    """
    x, y = _vector(beside(a, v), "convolve"), _vector(beside(v, a), "convolve")
    kind = _mode(mode)
    if kind is None:
        return NotImplemented
    return _part(table["convolve"](x, y), x.shape[0], y.shape[0], kind, 0)


@composes(np.correlate)
def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    """Cross-correlation of two vectors: sums of a[n + k] * conj(v[n]).

    Parameters
    ----------
    a, v : (N,) and (M,) array_like
    mode : {'valid', 'same', 'full'}
        The complete overlaps, the middle max(N, M) of them, or all.

    Raises
    ------
    ValueError
        If an operand is empty or no vector, or the mode another.

    Examples
    --------
    >>> import numen as nm
    >>> nm.correlate([1, 2, 3], [0, 1, 0.5], "full")
    array([0.5, 2. , 3.5, 3. , 0. ])
    """
    x, y = beside(a, v), beside(v, a)
    if not x.ndim or not y.ndim:
        return NotImplemented  # NumPy says what is wrong
    x, y = _vector(x, "correlate"), _vector(y, "correlate")
    kind = _mode(mode)
    if kind is None:
        return NotImplemented
    n, m = x.shape[0], y.shape[0]
    # Of an even number of overlaps to drop, NumPy counts from v's end where v is the longer
    late = 1 if m > n and not n % 2 else 0
    return _part(table["convolve"](x, conj_of(y)[::-1]), n, m, kind, late)


def _vector(x: Any, op: str) -> Any:
    a = as_array(x)
    if not a.ndim:
        return a.reshape((1,))
    if a.ndim > 1 or not a._d.size:
        raise ValueError(f"{op}: expected a vector with elements, got {describe(a)}")
    return a


def _mode(mode: Any) -> str | None:
    """The mode's first letter; None for the forms that NumPy alone knows."""
    if mode in ("full", "same", "valid"):
        return str(mode[0])
    return None


def _part(full: Any, n: int, m: int, kind: str, late: int) -> Any:
    """The overlaps that a mode keeps."""
    long, short = max(n, m), min(n, m)
    if kind == "f":
        return full
    if kind == "v":
        return full[short - 1 : long]
    start = (short - 1) // 2 + late
    return full[start : start + long]
