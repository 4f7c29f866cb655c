"""Where quantiles lie among sorted values: which two elements, and how far between.

`places` has NumPy's thirteen methods, on plain ints and floats; `pick` takes the elements there, so
that the gradient goes to them. Called by `quantiles.py`; next: `ops/ordering.py`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from numen.namespace.reducing import NO_VALUE, axes_of
from numen.ops import table
from numen.ops.common import constant
from numen.ops.ordering import take_along

PLOTTING = {
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "median_unbiased": (1 / 3.0, 1 / 3.0),
    "normal_unbiased": (3 / 8.0, 3 / 8.0),
}
"""alpha and beta of the plotting positions (Hyndman and Fan, Sample quantiles in statistical
packages, 1996)."""

DISCRETE = ("lower", "higher", "nearest", "inverted_cdf", "closest_observation")
"""Methods that take one element as it is."""

METHODS = (*DISCRETE, *PLOTTING, "linear", "midpoint", "averaged_inverted_cdf")
"""All names that NumPy knows."""


class Lines(NamedTuple):
    """An array's values with the reduced axes as one, the last; and the reduced shape."""

    values: Any  # (*kept, n)
    kept: tuple[int, ...]
    shape: tuple[int, ...]


def lines_of(x: Any, axis: Any, keepdims: Any, name: str) -> Lines:
    """x as lines along the axes that a function called `name` reduces."""
    axes = axes_of(x, axis, name)
    shape = x._d.shape
    rest = tuple([i for i in range(len(shape)) if i not in axes])
    kept = tuple([shape[i] for i in rest])
    n = math.prod([shape[i] for i in axes])
    values = table["transpose"](x, axes=(*rest, *axes)).reshape((*kept, n))
    full = tuple([1 if i in axes else m for i, m in enumerate(shape)])
    keep = keepdims is not NO_VALUE and bool(keepdims)
    return Lines(values, kept, full if keep else kept)


def places(n: Any, q: Any, method: str) -> tuple[Any, Any, Any]:
    """Which elements of n sorted ones a quantile lies between, and how far: (low, high, share).

    n: int or array of ints, q: array of floats, the two broadcasting. share is None for methods
    that take one element.
    """
    along = (n - 1) * q
    if method == "lower":
        low = np.floor(along)
    elif method == "higher":
        low = np.ceil(along)
    elif method == "nearest":
        low = np.around(along)
    elif method == "inverted_cdf":
        low = np.ceil(n * q - 1)
    elif method == "closest_observation":
        at = n * q - 1.5
        low = np.floor(at)
        low = np.where((at == low) & (low % 2 == 1), low, low + 1)
    elif method == "linear" and np.asarray(along).dtype.kind in "iu":
        low = np.asarray(along)
    else:
        return _between(n, q, along, method)
    low = np.clip(low, 0, np.maximum(n - 1, 0)).astype(np.intp)
    return low, low, None


def _between(n: Any, q: Any, along: Any, method: str) -> tuple[Any, Any, Any]:
    if method == "averaged_inverted_cdf":
        along = n * q - 1
    elif method == "midpoint":
        along = 0.5 * (np.floor(along) + np.ceil(along))
    elif method != "linear":
        alpha, beta = PLOTTING[method]
        along = n * q + (alpha + q * (1 - alpha - beta)) - 1
    last = np.maximum(n - 1, 0)
    low = np.floor(along)
    share = along - low
    if method == "averaged_inverted_cdf":
        share = np.where(share == 0, 0.5, 1.0)
    elif method == "midpoint":
        share = np.where(along % 1 == 0, 0.0, 0.5)
    high = np.clip(low + 1, 0, last).astype(np.intp)
    high = np.where(along < 0, 0, high)
    return np.clip(low, 0, last).astype(np.intp), high, share


def _spread(data: Any, shape: tuple[int, ...], like: Any) -> Any:
    return constant(np.ascontiguousarray(np.broadcast_to(data, shape)), like)


def pick(lines: Lines, ordered: Any, n: Any, q: Any, method: str, weak: bool) -> Any:
    """The quantiles of sorted lines, of which the first n values count: (*kept, q.size)."""
    shape = (*lines.kept, q.size)
    low, high, share = places(n, q.reshape(-1), method)
    axis = len(lines.kept)
    a = take_along(ordered, _spread(low, shape, ordered), axis)
    if share is None:
        return a
    b = take_along(ordered, _spread(high, shape, ordered), axis)
    wanted = np.result_type(ordered._d.dtype, 0.0 if weak else q.dtype)
    t = _spread(share.astype(wanted), shape, ordered)
    distance = b - a  # counted from the nearer end, as NumPy
    late = _spread(share >= 0.5, shape, ordered)
    return table["where"](late, b - distance * (1 - t), a + distance * t)


def arranged(lines: Lines, picked: Any, q: Any) -> Any:
    """(*kept, q.size) to q's axes first, then the reduced shape."""
    rank = len(lines.kept)
    moved = table["transpose"](picked, axes=(rank, *range(rank)))
    result = moved.reshape((*q.shape, *lines.shape))
    return result if result._d.flags.c_contiguous else table["lay_out"](result, order="C")
