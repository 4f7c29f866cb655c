"""Operations that index, scatter, sort and count: torch's name to numen's function. Next:
`reductions.py`."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.oracle.counterparts import integers, refuses, scalar

import numen as nm


def at(x: Any, dim: int, index: Any) -> tuple[Any, ...]:
    """The key that indexes one axis."""
    return (slice(None),) * (dim % max(x.ndim, 1)) + (index,)


def grid(x: Any, dim: int, index: Any) -> tuple[Any, ...]:
    """The key of torch's gather and scatter: the index along one axis, its own place elsewhere."""
    index = integers(index)
    key = list(np.ogrid[tuple(slice(n) for n in index.shape)])
    key[dim % index.ndim] = index
    return tuple(key)


def gather(x: Any, dim: int, index: Any, **more: Any) -> Any:
    if x.ndim == 0:
        return nm.take(x, index)
    if index.size == 0:
        return x[:0].ravel().reshape(index.shape)
    # torch lets the index be shorter than x beside the axis
    trimmed = [slice(None) if i == dim % x.ndim else slice(n) for i, n in enumerate(index.shape)]
    return nm.take_along_axis(x[tuple(trimmed)], index, dim)


def take_along_dim(x: Any, index: Any, dim: Any = None) -> Any:
    if dim is None:  # torch flattens both
        return nm.take_along_axis(x, nm.ravel(index), None)
    return nm.take_along_axis(x, index, dim)


def index_select(x: Any, dim: int, index: Any) -> Any:
    if x.ndim == 0:
        return nm.reshape(x, (1,))[integers(index).ravel()][0]
    return nm.take(x, nm.atleast_1d(index), axis=dim)


def take(x: Any, index: Any) -> Any:
    return nm.take(x, index)


def put(x: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    if accumulate:
        flat = nm.ravel(x)
        added = nm.scatter_add(flat, nm.ravel(index) % max(x.size, 1), nm.ravel(source))
        return nm.reshape(added, x.shape)
    y = nm.copy(x)
    nm.put(y, index, source)
    return y


def masked_fill(x: Any, mask: Any, value: Any) -> Any:
    if isinstance(value, nm.Array):
        value = value.astype(x.dtype)  # torch casts the 0-d tensor
    return nm.where(mask, value, x)


def masked_select(x: Any, mask: Any) -> Any:
    x, mask = nm.broadcast_arrays(x, mask)
    return nm.atleast_1d(x)[nm.atleast_1d(mask)]


def masked_scatter(x: Any, mask: Any, source: Any) -> Any:
    shape = np.broadcast_shapes(x.shape, mask.shape)
    y = nm.copy(nm.broadcast_to(x, shape))
    chosen = integers(nm.broadcast_to(mask, shape))
    y[chosen] = nm.ravel(source)[: int(chosen.sum())]
    return y


def index_fill(x: Any, dim: int, index: Any, value: Any) -> Any:
    y = nm.copy(nm.atleast_1d(x))
    y[at(y, dim, integers(nm.atleast_1d(index)))] = value
    return nm.reshape(y, x.shape)


def index_copy(x: Any, dim: int, index: Any, source: Any) -> Any:
    y = nm.copy(nm.atleast_1d(x))
    y[at(y, dim, integers(nm.atleast_1d(index)))] = nm.atleast_1d(source)
    return nm.reshape(y, x.shape)


def index_add(x: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Any:
    y, source = nm.atleast_1d(x), nm.atleast_1d(source)
    key = at(y, dim, integers(nm.atleast_1d(index)))
    return nm.reshape(nm.scatter_add(y, key, source if alpha == 1 else source * alpha), x.shape)


def index_put(x: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    key = tuple(integers(i) for i in indices)
    if accumulate:
        return nm.scatter_add(x, key, values)
    y = nm.copy(x)
    y[key] = values
    return y


def scatter(x: Any, dim: int, index: Any, src: Any, *, reduce: Any = None) -> Any:
    refuses(reduce == "multiply", "scatter by products")
    if index.size == 0:
        return nm.copy(x)
    y, index = nm.copy(nm.atleast_1d(x)), nm.atleast_1d(index)
    key = grid(y, dim, index)
    if isinstance(src, nm.Array):
        src = nm.atleast_1d(src)[tuple(slice(n) for n in index.shape)]
    if reduce == "add":
        return nm.reshape(nm.scatter_add(y, key, src), x.shape)
    y[key] = src
    return nm.reshape(y, x.shape)


def scatter_add(x: Any, dim: int, index: Any, src: Any) -> Any:
    return scatter(x, dim, index, src, reduce="add")


def scatter_reduce(
    x: Any, dim: int, index: Any, src: Any, reduce: str, *, include_self: bool = True
) -> Any:
    refuses(not include_self, "scatter without the array's own values")
    return scatter(x, dim, index, src, reduce="add")


def narrow(x: Any, dim: int, start: Any, length: int) -> Any:
    start = int(scalar(start))
    start = start + x.shape[dim] if start < 0 else start
    return x[at(x, dim, slice(start, start + length))]


def select(x: Any, dim: int, index: int) -> Any:
    return x[(*at(x, dim, index), ...)]  # the Ellipsis keeps an array where one number is left


def sliced(x: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    return x[at(x, dim, slice(start, end, step))]


def select_scatter(x: Any, src: Any, dim: int, index: int) -> Any:
    y = nm.copy(x)
    y[at(y, dim, index)] = src
    return y


def slice_scatter(
    x: Any, src: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Any:
    y = nm.copy(x)
    y[at(y, dim, slice(start, end, step))] = src
    return y


def getitem(x: Any, *key: Any) -> Any:
    key = key[0] if len(key) == 1 else key
    if isinstance(key, list):
        key = tuple(key) if any(not isinstance(k, (int, bool)) for k in key) else key
    return x[key]


def where(condition: Any, x: Any, other: Any) -> Any:
    return nm.where(condition, x, other)


def where_of(x: Any, condition: Any, other: Any) -> Any:
    return nm.where(condition, x, other)


# ------------------------------------------------------------ order


def argsorted(x: Any, dim: int, descending: bool) -> Any:
    return nm.argsort(x, axis=dim, stable=True, descending=descending)


def sort(x: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    if x.ndim == 0:
        return x[...], nm.zeros((), np.int64)
    return (
        nm.sort(x, axis=dim, stable=True, descending=descending),
        argsorted(x, dim, descending),
    )


def argsort(x: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    return argsorted(x, dim, descending) if x.ndim else nm.zeros((), np.int64)


def topk(x: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    if x.ndim == 0:
        return x[...], nm.zeros((), np.int64)
    order = argsorted(x, dim, largest)[at(x, dim, slice(k))]
    return nm.take_along_axis(x, order, dim), order


def kthvalue(x: Any, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    if x.ndim == 0:
        return x[...], nm.zeros((), np.int64)
    found = nm.partition(x, k - 1, axis=dim)[at(x, dim, slice(k - 1, k))]
    order = argsorted(x, dim, False)[at(x, dim, slice(k - 1, k))]
    return (found, order) if keepdim else (nm.squeeze(found, dim), nm.squeeze(order, dim))


def searchsorted(
    sequence: Any,
    values: Any,
    out_int32: bool = False,
    right: bool = False,
    side: Any = None,
    sorter: Any = None,
) -> Any:
    refuses(sequence.ndim != 1, "many sequences at once")
    side = side or ("right" if right else "left")
    found = nm.searchsorted(sequence, values, side=side, sorter=sorter)
    return found.astype(np.int32) if out_int32 else found


def bucketize(values: Any, boundaries: Any, out_int32: bool = False, right: bool = False) -> Any:
    return searchsorted(boundaries, values, out_int32, right)


def unique(
    x: Any,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: Any = None,
) -> Any:
    found = nm.unique(x, return_inverse=True, return_counts=True, axis=dim)
    wanted = (True, return_inverse, return_counts)
    return [f for f, w in zip(found, wanted, strict=True) if w]


def nonzero(x: Any, as_tuple: bool = False) -> Any:
    return nm.nonzero(nm.atleast_1d(x) if as_tuple else x) if as_tuple else nm.argwhere(x)


def isin(elements: Any, tests: Any, **settings: Any) -> Any:
    settings.pop("assume_unique", None)
    return nm.isin(elements, tests, **settings)


def bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    return nm.bincount(x, weights, minlength)


def histc(x: Any, bins: int = 100, min: float = 0, max: float = 0) -> Any:
    refuses(x.size == 0, "no values")
    limits = (scalar(nm.min(x)), scalar(nm.max(x))) if min == max == 0 else (min, max)
    refuses(limits[0] == limits[1], "histc of values that are all equal")
    return nm.histogram(x, bins, limits)[0].astype(x.dtype)


def histogram(
    x: Any, bins: Any, *, range: Any = None, weight: Any = None, density: bool = False
) -> Any:
    counts, edges = nm.histogram(x, bins, range, density, weight)
    return counts.astype(x.dtype), edges.astype(x.dtype)


def unravel_index(indices: Any, shape: Any) -> Any:
    return nm.unravel_index(indices, shape if isinstance(shape, tuple) else (shape,))


SELECTION: dict[str, Any] = {
    "gather": gather,
    "take_along_dim": take_along_dim,
    "index_select": index_select,
    "take": take,
    "put": put,
    "masked_fill": masked_fill,
    "masked_select": masked_select,
    "masked_scatter": masked_scatter,
    "index_fill": index_fill,
    "index_copy": index_copy,
    "index_add": index_add,
    "index_put": index_put,
    "scatter": scatter,
    "scatter_add": scatter_add,
    "scatter_reduce.sum": scatter_reduce,
    "narrow": narrow,
    "narrow_copy": narrow,
    "select": select,
    "slice": sliced,
    "select_scatter": select_scatter,
    "slice_scatter": slice_scatter,
    "__getitem__": getitem,
    "where": where_of,
    "sort": sort,
    "msort": lambda x: nm.sort(x, axis=0) if x.ndim else x[...],
    "argsort": argsort,
    "topk": topk,
    "kthvalue": kthvalue,
    "searchsorted": searchsorted,
    "bucketize": bucketize,
    "unique": unique,
    "nonzero": nonzero,
    "argwhere": nm.argwhere,
    "isin": isin,
    "bincount": bincount,
    "histc": histc,
    "histogram": histogram,
    "unravel_index": unravel_index,
    "allclose": nm.allclose,
    "equal": nm.array_equal,
}
