"""Spread of values: var, std, ptp; and the mean of the elements that `where=` picks.

Small floats and integers are computed as NumPy's: float16 in float32, integers in float64. Called
by Array's methods too. Next: `statistics.py`.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from numen.dispatch.convert import as_array, operand
from numen.namespace.calling import composes
from numen.namespace.reducing import (
    NO_VALUE,
    axes_of,
    mask_for,
    numeric,
    put_into,
    recording,
    reduce,
    somewhere,
)
from numen.ops import table
from numen.ops.common import count

__all__ = ["var", "std", "ptp"]


def _working(x: Any, dtype: Any) -> tuple[Any, Any]:
    """x in the dtype that NumPy averages it in, and the dtype of the result."""
    given = x._d.dtype
    if dtype is not None:
        return x.astype(dtype, copy=False), np.dtype(dtype)
    if given.kind in "biu":
        return x.astype(np.float64), np.dtype(np.float64)
    if given == np.float16:
        return x.astype(np.float32), given
    return x, given.newbyteorder("=") if given.kind in "fc" else given


def warn_if_any(x: Any, text: str) -> None:
    """Warn as NumPy does where an element of a bool array or number is true; a recorder is not
    asked, since its values change from call to call."""
    if recording():
        return
    if somewhere(x):
        warnings.warn(text, RuntimeWarning, stacklevel=5)


def mean_where(x: Any, axis: Any, dtype: Any, out: Any, keepdims: Any, where: Any) -> Any:
    """The mean of the elements where a mask holds; NotImplemented where it is no mask of x's."""
    mask = mask_for(x, where)
    if mask is None:
        return NotImplemented
    work, result_dtype = _working(x, dtype)
    total = reduce("sum", table["where"](mask, work, 0), axis, keepdims)
    n = how_many(x, mask, axis, keepdims)
    warn_if_any(table["equal"](n, 0), "Mean of empty slice.")
    result = total / n.astype(total._d.dtype)
    return put_into(out, result.astype(result_dtype, copy=False), "mean")


def how_many(x: Any, mask: Any, axis: Any, keepdims: Any) -> Any:
    """How many elements of x a mask picks along the axes."""
    return reduce("sum", table["broadcast_to"](mask, shape=x._d.shape), axis, keepdims)


def variance(
    x: Any,
    axis: Any,
    dtype: Any,
    ddof: Any,
    keepdims: Any,
    mask: Any = None,
    mean: Any = NO_VALUE,
    nan: bool = False,
) -> tuple[Any, Any]:
    """The variance in its working dtype, and the dtype it is wanted in: real, of squared distances.

    mask: the elements that count (None: all); nan: too few of them give NaN, not a division by 0.
    """
    work, result_dtype = _working(x, dtype)
    if dtype is None and x._d.dtype == np.float16:
        work = x  # unlike the mean, NumPy's variance stays in float16
    if mask is None:
        n: Any = count(x._d.shape, axes_of(x, axis, "var"))
    else:
        n = how_many(x, mask, axis, True).astype(_real(work._d.dtype))
    if mean is NO_VALUE or mean is None:
        kept = work if mask is None else table["where"](mask, work, 0)
        center = reduce("sum", kept, axis, True) / _at_least(n, 1)
    else:
        center = operand(mean)
    away = work - center
    if mask is not None:
        away = table["where"](mask, away, 0)
    if work._d.dtype.kind == "c":
        across, up = table["real"](away), table["imag"](away)
        squares, result_dtype = across * across + up * up, _real(result_dtype)
    else:
        squares = away * away
    total = reduce("sum", squares, axis, keepdims)
    free = n - ddof
    few = free <= 0
    warn_if_any(few, "Degrees of freedom <= 0 for slice" + "." * nan)
    if mask is not None:
        free, few = free.reshape(total._d.shape), few.reshape(total._d.shape)
    if nan:
        return table["where"](few, np.nan, total / table["where"](few, 1, free)), result_dtype
    return total / _at_least(free, 0), result_dtype


def _real(dtype: Any) -> Any:
    """The dtype of the parts of complex numbers; another one itself."""
    return np.empty((), dtype).real.dtype


def _at_least(n: Any, least: int) -> Any:
    if isinstance(n, (int, float)):
        return n if n > least else least
    return table["maximum"](n, least)


def checked(x: Any, dtype: Any, ddof: Any, correction: Any, where: Any) -> Any:
    """x, its lost degrees of freedom and its mask; NotImplemented for what NumPy refuses, and for
    complex numbers in another dtype."""
    if not numeric(x):
        return NotImplemented
    if dtype is not None and (np.dtype(dtype).kind != "f" or x._d.dtype.kind == "c"):
        return NotImplemented
    if correction is not NO_VALUE and correction is not None:
        if ddof != 0:
            return NotImplemented
        ddof = correction
    if where is True or where is NO_VALUE:
        return x, ddof, None
    mask = mask_for(x, where)
    return NotImplemented if mask is None else (x, ddof, mask)


@composes(np.var)
def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    where: Any = True,
    mean: Any = NO_VALUE,
    correction: Any = NO_VALUE,
) -> Any:
    """Variance over axes: the mean of squared distances from the mean, n - ddof in its divisor.

    Parameters
    ----------
    a, axis, dtype, out, keepdims, where
        As `sum`'s.
    ddof, correction : float
        What the number of elements is lowered by; two names of one thing.
    mean : array_like, optional
        The mean, with the reduced axes kept; it is taken as given.

    Examples
    --------
    >>> import numen as nm
    >>> nm.var(nm.array([1.0, 2.0, 6.0]))
    np.float64(4.666666666666667)
    """
    found = checked(as_array(a), dtype, ddof, correction, where)
    if found is NotImplemented:
        return NotImplemented
    x, free, mask = found
    result, wanted = variance(x, axis, dtype, free, keepdims, mask, mean)
    return put_into(out, result.astype(wanted, copy=False), "var")


@composes(np.std)
def std(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    where: Any = True,
    mean: Any = NO_VALUE,
    correction: Any = NO_VALUE,
) -> Any:
    """Standard deviation over axes, the root of `var`; where that is 0, so is the gradient.

    Examples
    --------
    >>> import numen as nm
    >>> nm.std(nm.array([1.0, 3.0]))
    np.float64(1.0)
    """
    found = checked(as_array(a), dtype, ddof, correction, where)
    if found is NotImplemented:
        return NotImplemented
    x, free, mask = found
    result, wanted = variance(x, axis, dtype, free, keepdims, mask, mean)
    return put_into(out, root(result).astype(wanted, copy=False), "std")


def root(variance: Any) -> Any:
    """The root of a variance; its gradient at 0, a smallest value, is 0 and not NaN."""
    positive = table["greater"](variance, 0)
    return table["where"](positive, table["sqrt"](table["where"](positive, variance, 1)), variance)


@composes(np.ptp)
def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    """The largest minus the smallest element along axes.

    Examples
    --------
    >>> import numen as nm
    >>> nm.ptp(nm.array([3, 9, 4]))
    np.int64(6)
    """
    x = as_array(a)
    if not numeric(x):
        return NotImplemented
    high = reduce("max", x, axis, keepdims)
    return put_into(out, high - reduce("min", x, axis, keepdims), "ptp")
