"""Median, quantiles and percentiles, and the same of the elements that are not NaN.

A quantile lies between two elements of the sorted values, and the gradient goes to those. Next:
`quantile_places.py` for which they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch.convert import as_array
from numen.dispatch.core import ArrayCore
from numen.namespace.calling import composes
from numen.namespace.deviations import warn_if_any
from numen.namespace.quantile_places import METHODS, Lines, arranged, lines_of, pick
from numen.namespace.reducing import (
    NO_VALUE,
    is_nan,
    numeric,
    put_into,
    reduce,
    somewhere,
)
from numen.namespace.statistics import weights_for
from numen.ops import table
from numen.ops.common import constant
from numen.ops.ordering import take_along

__all__ = ["median", "percentile", "quantile", "nanmedian", "nanpercentile", "nanquantile"]


def _levels(q: Any) -> Any:
    """The levels as an ndarray on the host."""
    if isinstance(q, ArrayCore):
        given: Any = q
        return np.asarray(given.tolist(), q._d.dtype)
    return np.asarray(q)


def _quantile(
    name: str,
    a: Any,
    q: Any,
    axis: Any,
    out: Any,
    method: Any,
    keepdims: Any,
    weights: Any,
    skip: bool,
    percent: bool = False,
) -> Any:
    """What quantile, percentile and their nan forms share; NotImplemented where NumPy has to
    decide or to refuse."""
    x = as_array(a)
    if not numeric(x) or x._d.dtype.kind in "cb" or not x._d.size:
        return NotImplemented
    if not x._d.ndim:
        if axis is not None or weights is not None:
            return NotImplemented
        x, keepdims = table["reshape"](x, shape=(1,)), False
    if isinstance(q, ArrayCore) and q._n is not None:
        if weights is not None or out is not None:
            return NotImplemented
        return _of_level(name, x, q, axis, method, keepdims, skip, percent)
    weak = type(q) in (int, float)
    levels = _levels(q)
    if percent and levels.dtype.kind in "iuf":
        levels = np.asarray(levels / 100)
    if levels.dtype.kind not in "iuf" or method not in METHODS or levels.ndim > 2:
        return NotImplemented
    if not ((levels >= 0) & (levels <= 1)).all():
        return NotImplemented
    if skip and levels.ndim == 2 and isinstance(axis, (tuple, list)):
        return NotImplemented  # NumPy has an order of axes of its own there
    lines = lines_of(x, axis, keepdims, name)
    if weights is not None:
        if skip or method != "inverted_cdf":
            return NotImplemented
        result = _weighted(x, lines, weights, axis, levels)
        if result is NotImplemented:
            return result
        result = arranged(lines, result, levels)  # without axes NumPy's is an array, no scalar
        return result if out is None else put_into(out, result, name)
    rank = len(lines.kept)
    ordered = table["sort"](lines.values, axis=rank, kind=None)
    floats = x._d.dtype.kind == "f"
    n: Any = lines.values._d.shape[-1]
    if not (skip and floats):
        result = pick(lines, ordered, n, levels, method, weak)
        if floats:
            last = ordered[..., -1:]
            result = table["where"](is_nan(last), last, result)
        return put_into(out, arranged(lines, result, levels), name)
    n = _counts(lines.values, rank)
    result = pick(lines, ordered, n, levels, method, weak)
    nothing = constant(n == 0, x)
    warn_if_any(nothing, "All-NaN slice encountered")
    result = table["where"](nothing, np.nan, result)
    return put_into(out, arranged(lines, result, levels), name)


def _of_level(
    name: str, x: Any, q: Any, axis: Any, method: Any, keepdims: Any, skip: bool, percent: bool
) -> Any:
    """A quantile whose level carries a gradient: between two values the linear one follows it."""
    fixed = q.detach()
    args = (None, method, keepdims, None, skip, percent)
    result = _quantile(name, x, fixed, axis, *args)
    if result is NotImplemented or method != "linear":
        return result
    ends = [
        _quantile(name, x, fixed, axis, None, end, keepdims, None, skip, percent)
        for end in ("higher", "lower")
    ]
    lines = lines_of(x, axis, keepdims, name)
    n: Any = lines.values._d.shape[-1]
    if skip:
        n = _counts(lines.values, len(lines.kept))[..., 0].reshape(lines.shape)
    per_level = (n - 1) / 100 if percent else n - 1
    if skip:
        per_level = constant(np.asarray(per_level, x._d.dtype), x)
    step = table["reshape"](q - fixed, shape=(*q._d.shape, *(1,) * len(lines.shape)))
    return result + (ends[0] - ends[1]) * per_level * step


def _weighted(x: Any, lines: Lines, weights: Any, axis: Any, q: Any) -> Any:
    """The quantiles of weighted values: the first whose share of the weights reaches a level."""
    w = weights_for(x, weights, axis)
    if w is None or somewhere(w < 0):
        return NotImplemented  # NumPy raises
    w = table["broadcast_to"](w.detach(), shape=x._d.shape)
    w = lines_of(w, axis, False, "quantile").values
    rank, n = len(lines.kept), lines.values._d.shape[-1]
    order = table["argsort"](lines.values, axis=rank, kind=None)
    ordered = take_along(lines.values, order, rank)
    total = table["cumsum"](take_along(w, order, rank).astype(np.float64), axis=rank)
    shares = total / total[..., -1:]
    if somewhere(is_nan(shares)):
        return NotImplemented
    # no weight at all reaches no level, not even 0
    shares = table["where"](table["equal"](shares, 0), -1.0, shares)
    below = [reduce("sum", shares < float(level), rank, True) for level in q.reshape(-1)]
    first = table["minimum"](table["concatenate"](*below, axis=rank), n - 1)
    picked = take_along(ordered, first, rank)
    if x._d.dtype.kind != "f":
        return picked
    last = ordered[..., -1:]
    return table["where"](is_nan(last), last, picked)


def _counts(values: Any, axis: int) -> Any:
    """How many values of each line are not NaN, as ints on the host: (*kept, 1)."""
    valid = table["equal"](values, values)
    return np.asarray(reduce("sum", valid, axis, True).tolist())


@composes(np.quantile)
def quantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = False,
    method: Any = "linear",
    keepdims: Any = False,
    *,
    weights: Any = None,
) -> Any:
    """Quantiles along axes; where there is a NaN, NaN.

    Parameters
    ----------
    a : array_like
        The values.
    q : array_like of float
        Levels in [0, 1]; its axes come first in the result.
    axis : int, tuple of int or None
        The axes to reduce.
    out : Array, optional
        Where the result goes.
    overwrite_input : bool
        Lets NumPy sort `a` in place; a recorded call leaves it.
    method : str
        How a level between two values is met; NumPy's thirteen.
    keepdims : bool
        Keep the reduced axes with extent 1.
    weights : array_like, optional
        Of the values, for method "inverted_cdf"; without gradient.

    Examples
    --------
    >>> import numen as nm
    >>> nm.quantile(nm.array([1.0, 2.0, 4.0]), 0.25)
    np.float64(1.5)
    >>> nm.grad(nm.quantile)(nm.array([1.0, 2.0, 4.0]), 0.25)
    array([0.5, 0.5, 0. ])
    """
    return _quantile("quantile", a, q, axis, out, method, keepdims, weights, False)


@composes(np.percentile)
def percentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = False,
    method: Any = "linear",
    keepdims: Any = False,
    *,
    weights: Any = None,
) -> Any:
    """Percentiles along axes: `quantile` at q / 100."""
    return _quantile("percentile", a, q, axis, out, method, keepdims, weights, False, True)


@composes(np.nanquantile)
def nanquantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = False,
    method: Any = "linear",
    keepdims: Any = False,
    *,
    weights: Any = None,
) -> Any:
    """Quantiles along axes of the elements that are not NaN. Parameters as `quantile`'s."""
    return _quantile("nanquantile", a, q, axis, out, method, keepdims, weights, True)


@composes(np.nanpercentile)
def nanpercentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = False,
    method: Any = "linear",
    keepdims: Any = False,
    *,
    weights: Any = None,
) -> Any:
    """Percentiles along axes of the elements that are not NaN: `nanquantile` at q / 100."""
    return _quantile("nanpercentile", a, q, axis, out, method, keepdims, weights, True, True)


@composes(np.median)
def median(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, keepdims: Any = False
) -> Any:
    """The middle value along axes, or the mean of the two in the middle; where there is a NaN, NaN.

    Examples
    --------
    >>> import numen as nm
    >>> nm.median(nm.array([4.0, 1.0, 3.0, 2.0]))
    np.float64(2.5)
    """
    x = as_array(a)
    if not numeric(x) or x._d.dtype.kind == "b" or not x._d.size:
        return NotImplemented
    if not x._d.ndim:
        if axis is not None:
            return NotImplemented
        x, keepdims = table["reshape"](x, shape=(1,)), False
    lines = lines_of(x, axis, keepdims, "median")
    rank, n = len(lines.kept), lines.values._d.shape[-1]
    ordered = table["sort"](lines.values, axis=rank, kind=None)
    middle = table["mean"](ordered[..., (n - 1) // 2 : n // 2 + 1], axis=(rank,), keepdims=False)
    if x._d.dtype.kind in "fc":
        last = ordered[..., -1]
        middle = table["where"](is_nan(last), last, middle)
    return put_into(out, middle.reshape(lines.shape), "median")


@composes(np.nanmedian)
def nanmedian(
    a: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: Any = False,
    keepdims: Any = NO_VALUE,
) -> Any:
    """The median along axes of the elements that are not NaN."""
    x = as_array(a)
    if not numeric(x) or x._d.dtype.kind not in "fc" or not x._d.size:
        return NotImplemented
    if not x._d.ndim:
        if axis is not None:
            return NotImplemented
        x, keepdims = table["reshape"](x, shape=(1,)), False
    lines = lines_of(x, axis, keepdims, "nanmedian")
    rank = len(lines.kept)
    ordered = table["sort"](lines.values, axis=rank, kind=None)
    n = _counts(lines.values, rank)
    pair = np.concatenate([np.maximum(n - 1, 0) // 2, np.minimum(n // 2, np.maximum(n - 1, 0))], -1)
    middle = take_along(ordered, constant(pair, x), rank)
    middle = table["mean"](middle, axis=(rank,), keepdims=False)
    nothing = constant(n[..., 0] == 0, x)
    warn_if_any(nothing, "All-NaN slice encountered")
    result = table["where"](nothing, np.nan, middle)
    return put_into(out, result.reshape(lines.shape), "nanmedian")
