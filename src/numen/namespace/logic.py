"""Comparisons of whole arrays: equal, close, and whether that holds everywhere.

allclose, array_equal and array_equiv return Python's bool, as NumPy's. Next: `places.py` for any
and all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch import core, modes
from numen.namespace.calling import composes
from numen.namespace.devices import beside
from numen.namespace.reducing import is_nan, numeric, reduce
from numen.ops import table

__all__ = ["isclose", "allclose", "array_equal", "array_equiv"]


def _close(a: Any, b: Any, rtol: Any, atol: Any, equal_nan: Any) -> Any:
    """Where a and b are close; NotImplemented for what is no number."""
    x, y = beside(a, b), beside(b, a)
    if not numeric(x) or not numeric(y):
        return NotImplemented
    with modes.no_grad(), np.errstate(invalid="ignore"):
        y = y.astype(np.result_type(y._d.dtype, 1.0), copy=False)  # an int's distance may overflow
        near = table["less_equal"](_size(x - y), atol + rtol * _size(y))
        finite = table["less"](_size(y), np.inf)
        close = table["maximum"](table["multiply"](near, finite), table["equal"](x, y))
        if equal_nan:
            close = table["maximum"](close, table["multiply"](is_nan(x), is_nan(y)))
    return close if close._d.ndim or close._v is core.SCALAR else close[()]


@composes(np.isclose)
def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False) -> Any:
    """Where |a - b| <= atol + rtol * |b|.

    Parameters
    ----------
    a, b : array_like
        What is compared; b is the reference.
    rtol, atol : array_like
        Relative and absolute tolerance.
    equal_nan : bool
        Take NaN as equal to NaN.

    Examples
    --------
    >>> import numen as nm
    >>> nm.isclose(nm.array([1.0, 2.0]), nm.array([1.0, 2.1]))
    array([ True, False])
    """
    return _close(a, b, rtol, atol, equal_nan)


def _size(x: Any) -> Any:
    return table["absolute"](x)


@composes(np.allclose)
def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False) -> Any:
    """Whether |a - b| <= atol + rtol * |b| everywhere. Parameters as `isclose`'s.

    Examples
    --------
    >>> import numen as nm
    >>> nm.allclose(nm.array([1.0, 2.0]), nm.array([1.0, 2.1]))
    False
    """
    close = _close(a, b, rtol, atol, equal_nan)
    return NotImplemented if close is NotImplemented else bool(reduce("all", close, None))


def _pair(a1: Any, a2: Any) -> tuple[Any, Any] | None:
    """Two arrays of numbers; None for others, and for what makes no array."""
    try:
        x, y = beside(a1, a2), beside(a2, a1)
    except ValueError:
        return None
    return (x, y) if numeric(x) and numeric(y) else None


@composes(np.array_equal)
def array_equal(a1: Any, a2: Any, equal_nan: Any = False) -> Any:
    """Whether two arrays have the same shape and elements.

    Examples
    --------
    >>> import numen as nm
    >>> nm.array_equal(nm.array([1, 2]), [1, 2])
    True
    """
    pair = _pair(a1, a2)
    if pair is None:
        return NotImplemented
    x, y = pair
    if x._d.shape != y._d.shape:
        return False
    same = table["equal"](x, y)
    if equal_nan:
        same = table["maximum"](same, table["multiply"](is_nan(x), is_nan(y)))
    return bool(reduce("all", same, None))


@composes(np.array_equiv)
def array_equiv(a1: Any, a2: Any) -> Any:
    """Whether two arrays have the same elements once broadcast against each other.

    Examples
    --------
    >>> import numen as nm
    >>> nm.array_equiv(nm.array([1, 2]), [[1, 2], [1, 2]])
    True
    """
    pair = _pair(a1, a2)
    if pair is None:
        return NotImplemented
    x, y = pair
    try:
        np.broadcast_shapes(x._d.shape, y._d.shape)
    except ValueError:
        return False
    return bool(reduce("all", table["equal"](x, y), None))
