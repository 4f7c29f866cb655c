"""Reductions that skip NaN: nansum, nanmean, nanmax and their like.

NaN elements have gradient 0. nanmedian and the nan-quantiles are in `quantiles.py`. Next:
`reducing.py` for how reductions run.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch.convert import as_array
from numen.namespace.calling import composes, host
from numen.namespace.cumulative import accumulate
from numen.namespace.deviations import checked, how_many, root, variance, warn_if_any
from numen.namespace.reducing import NO_VALUE, is_nan, masked, numeric, put_into, reduce
from numen.ops import table

__all__ = ["nansum", "nanprod", "nanmean", "nanvar", "nanstd", "nanmax", "nanmin"]
__all__ += ["nanargmax", "nanargmin", "nancumsum", "nancumprod"]


def _filled(x: Any, value: Any) -> Any:
    """x with `value` for NaN; what has no NaN as it is."""
    return table["where"](is_nan(x), value, x) if x._d.dtype.kind in "fc" else x


def _valid(x: Any, mask: Any) -> Any:
    """Where x is not NaN, and the mask holds if there is one."""
    valid = table["equal"](x, x)
    return valid if mask is None else table["multiply"](valid, mask)


@composes(np.nansum)
def nansum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> Any:
    """Sum over axes, NaN taken as 0. Parameters as `sum`'s.

    Examples
    --------
    >>> import numen as nm
    >>> nm.nansum(nm.array([1.0, nm.nan, 2.0]))
    np.float64(3.0)
    """
    x = as_array(a)
    if not numeric(x):
        return NotImplemented
    return masked("sum", _filled(x, 0), axis, keepdims, dtype, out, initial, where)


@composes(np.nanprod)
def nanprod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> Any:
    """Product over axes, NaN taken as 1. Parameters as `sum`'s."""
    x = as_array(a)
    if not numeric(x):
        return NotImplemented
    return masked("prod", _filled(x, 1), axis, keepdims, dtype, out, initial, where)


@composes(np.nancumsum)
def nancumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """Running sum along an axis, or of the flattened array, NaN taken as 0."""
    x = as_array(a)
    return accumulate("cumsum", _filled(x, 0), axis, dtype, out) if numeric(x) else NotImplemented


@composes(np.nancumprod)
def nancumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """Running product along an axis, or of the flattened array, NaN taken as 1."""
    x = as_array(a)
    return accumulate("cumprod", _filled(x, 1), axis, dtype, out) if numeric(x) else NotImplemented


@composes(np.nanmean)
def nanmean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    *,
    where: Any = True,
) -> Any:
    """Mean over axes of the elements that are not NaN. Parameters as `sum`'s.

    Examples
    --------
    >>> import numen as nm
    >>> nm.nanmean(nm.array([1.0, nm.nan, 2.0]))
    np.float64(1.5)
    """
    x = as_array(a)
    found = checked(x, dtype, 0, NO_VALUE, where)
    if found is NotImplemented or x._d.dtype.kind not in "fc":
        return NotImplemented
    valid = _valid(x, found[2])
    total = reduce("sum", table["where"](valid, x, 0), axis, keepdims, dtype)
    n = how_many(x, valid, axis, keepdims)
    none = table["equal"](n, 0)
    warn_if_any(none, "Mean of empty slice")
    average = total / table["where"](none, 1, n).astype(np.float64)
    nan = np.nan if total._d.dtype.kind != "c" else complex(np.nan, np.nan)  # 0 / 0
    result = table["where"](none, nan, average).astype(total._d.dtype, copy=False)
    return put_into(out, result, "nanmean")


def _nanvariance(
    a: Any,
    axis: Any,
    dtype: Any,
    ddof: Any,
    keepdims: Any,
    where: Any,
    mean: Any,
    correction: Any,
) -> tuple[Any, Any]:
    x = as_array(a)
    found = checked(x, dtype, ddof, correction, where)
    if found is NotImplemented or x._d.dtype.kind not in "fc":
        return NotImplemented, None
    _, free, mask = found
    return variance(x, axis, dtype, free, keepdims, _valid(x, mask), mean, nan=True)


@composes(np.nanvar)
def nanvar(
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
    """Variance over axes of the elements that are not NaN. Parameters as `var`'s."""
    result, wanted = _nanvariance(a, axis, dtype, ddof, keepdims, where, mean, correction)
    if result is NotImplemented:
        return NotImplemented
    return put_into(out, result.astype(wanted, copy=False), "nanvar")


@composes(np.nanstd)
def nanstd(
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
    """Standard deviation over axes of the elements that are not NaN. Parameters as `std`'s."""
    result, wanted = _nanvariance(a, axis, dtype, ddof, keepdims, where, mean, correction)
    if result is NotImplemented:
        return NotImplemented
    return put_into(out, root(result).astype(wanted, copy=False), "nanstd")


def _nanextremum(
    name: str, a: Any, axis: Any, out: Any, keepdims: Any, initial: Any, where: Any
) -> Any:
    x = as_array(a)
    if not numeric(x):
        return NotImplemented
    least = np.inf if name == "min" else -np.inf
    filled = _filled(x, least if x._d.dtype.kind != "c" else complex(least, least))
    if x._d.dtype.kind not in "fc" or (initial is not NO_VALUE and initial is not None):
        return masked(name, filled, axis, keepdims, None, out, initial, where)
    if where is not True and where is not NO_VALUE:
        return NotImplemented  # NumPy asks for an initial
    result = reduce(name, filled, axis, keepdims)
    nothing = reduce("all", is_nan(x), axis, keepdims)
    warn_if_any(nothing, "All-NaN slice encountered")
    return put_into(out, table["where"](nothing, np.nan, result), f"nan{name}")


@composes(np.nanmax)
def nanmax(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> Any:
    """Largest element along axes that is not NaN; ties share the gradient evenly.

    Examples
    --------
    >>> import numen as nm
    >>> nm.nanmax(nm.array([1.0, nm.nan, 2.0]))
    np.float64(2.0)
    """
    return _nanextremum("max", a, axis, out, keepdims, initial, where)


@composes(np.nanmin)
def nanmin(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> Any:
    """Smallest element along axes that is not NaN; ties share the gradient evenly."""
    return _nanextremum("min", a, axis, out, keepdims, initial, where)


nanargmax = host(
    np.nanargmax,
    "Index of the first largest element that is not NaN. See `numpy.nanargmax`.",
)
nanargmin = host(
    np.nanargmin,
    "Index of the first smallest element that is not NaN. See `numpy.nanargmin`.",
)
