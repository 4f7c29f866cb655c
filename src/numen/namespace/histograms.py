"""Counting values: bincount, histogram and its forms with more axes.

Counts have no gradient; sums of weights have theirs, by the weights. Edges and places are NumPy's,
so a traced function that bins runs eagerly. Next: `ops/gathering.py` for scatter_add.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from numen.dispatch import modes
from numen.dispatch.convert import as_array
from numen.dispatch.core import ArrayCore
from numen.namespace.calling import composes, host
from numen.ops import table
from numen.ops.common import zeros

__all__ = ["bincount", "histogram", "histogram_bin_edges", "histogram2d", "histogramdd"]

_histogram = host(np.histogram)
_histogramdd = host(np.histogramdd)
_searchsorted = host(np.searchsorted)


@composes(np.histogram_bin_edges)
def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    """The edges that `histogram` uses."""
    return NotImplemented if isinstance(bins, str) else histogram(a, bins, range)[1]


def _weights_with_gradient(weights: Any) -> bool:
    if not isinstance(weights, ArrayCore):
        return False
    return weights._n is not None or (modes.ACTIVE > 0 and modes.state.level > 0)


def _added_up(weights: Any, places: Any, size: int) -> Any:
    """The sum of the weights at each of `size` places."""
    empty = zeros((size,), weights._d.dtype, weights)
    return table["scatter_add"](empty, weights, places, spec=(0,))


@composes(np.bincount)
def bincount(x: Any, /, weights: Any = None, minlength: Any = 0) -> Any:
    """How often each non-negative int occurs, or the sum of the weights at its places.

    Parameters
    ----------
    x : array_like of int
        One axis of non-negative ints.
    weights : array_like, optional
        One for each; the result has gradients by them.
    minlength : int
        Least length of the result.

    Examples
    --------
    >>> import numen as nm
    >>> nm.bincount(nm.array([0, 2, 2]))
    array([1, 0, 2])
    """
    places = as_array(x)
    fits = places._d.ndim == 1 and places._d.dtype.kind in "iu" and places._d.size
    if not fits or not _weights_with_gradient(weights) or weights._d.shape != places._d.shape:
        return NotImplemented
    low, high = int(places.min()), int(places.max())
    if low < 0 or not isinstance(minlength, int) or minlength < 0:
        return NotImplemented  # NumPy raises
    weights = weights.astype(np.float64, copy=False)
    return _added_up(weights, places, max(high + 1, minlength))


def _bins(values: Any, edges: Any) -> Any:
    """The number of the bin each value is in; -1 and the number of bins for those outside."""
    last = edges._d.shape[0] - 1
    places = _searchsorted(edges, values, "right") - 1
    return table["where"](table["equal"](values, edges[-1]), last - 1, places)


def _weighed(columns: Sequence[Any], edges: Sequence[Any], weights: Any, density: Any) -> Any:
    """The sum of the weights in every bin, from one column of values and one list of edges an
    axis."""
    shape = tuple([e._d.shape[0] - 1 for e in edges])
    flat: Any = 0
    inside: Any = None
    for values, edge, n in zip(columns, edges, shape, strict=True):
        place = _bins(values, edge)
        here = (place >= 0) * (place < n)
        inside = here if inside is None else inside * here
        flat = flat * n + table["where"](here, place, 0)
    kept = table["where"](inside, weights, 0)
    total = _added_up(kept, table["where"](inside, flat, 0), math.prod(shape)).reshape(shape)
    if not density:
        return total
    total = total / total.sum()
    for i, edge in enumerate(edges):
        widths = (edge[1:] - edge[:-1]).astype(np.float64)
        total = total / widths.reshape(tuple([-1 if j == i else 1 for j in range(len(edges))]))
    return total


@composes(np.histogram)
def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    """How many values are in each bin, and the bins' edges.

    Parameters
    ----------
    a : array_like
        The values.
    bins : int, sequence or str
        The number of equal bins, their edges, or the name of a rule.
    range : pair, optional
        The least and the largest edge.
    density : bool
        Divide so that the integral is 1.
    weights : array_like, optional
        What each value counts; the result has gradients by them.

    Examples
    --------
    >>> import numen as nm
    >>> counts, edges = nm.histogram(nm.array([1.0, 2.0, 1.0]), bins=[0, 1, 2, 3])
    >>> counts
    array([0, 2, 1])
    """
    if not _weights_with_gradient(weights):
        return NotImplemented
    values = as_array(a).detach()
    _, edges = _histogram(values, bins, range, None, weights.detach())
    total = _weighed([values.reshape(-1)], [edges], weights.reshape(-1), density)
    return total, edges


@composes(np.histogramdd)
def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    """How many points are in each bin of a grid, and the edges of every axis.

    Parameters
    ----------
    sample : array_like
        (N, D) points, or D arrays of coordinates.
    bins, range, density, weights
        As `histogram`'s, `bins` and `range` one for each axis.
    """
    if not _weights_with_gradient(weights):
        return NotImplemented
    if isinstance(sample, (list, tuple)):
        columns = [as_array(s).detach() for s in sample]
        given: Any = columns
    else:
        given = as_array(sample).detach()
        if given._d.ndim != 2:
            return NotImplemented
        columns = [given[:, i] for i in _numbers(given._d.shape[1])]
    if weights._d.shape != columns[0]._d.shape:
        return NotImplemented
    weights = weights.astype(np.float64, copy=False)
    _, edges = _histogramdd(given, bins, range, None, weights.detach())
    return _weighed(columns, edges, weights, density), edges


_numbers = range


@composes(np.histogram2d)
def histogram2d(
    x: Any,
    y: Any,
    bins: Any = 10,
    range: Any = None,
    density: Any = None,
    weights: Any = None,
) -> Any:
    """How many points are in each bin of a grid over two axes, and the edges of both.

    Examples
    --------
    >>> import numen as nm
    >>> counts, xs, ys = nm.histogram2d([0.0, 1.0, 1.0], [0.0, 1.0, 1.0], bins=2)
    >>> counts
    array([[1., 0.],
           [0., 2.]])
    """
    if not _weights_with_gradient(weights):
        return NotImplemented
    try:
        n = len(bins)
    except TypeError:
        n = 1
    if n not in (1, 2):
        edges = as_array(bins)
        bins = [edges, edges]
    if len(x) != len(y):
        return NotImplemented
    counts, edges = histogramdd([x, y], bins, range, density, weights)
    return counts, edges[0], edges[1]
