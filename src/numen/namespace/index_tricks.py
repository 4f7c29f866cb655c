"""Index tricks: mgrid, ogrid, r_, c_, s_, ix_, and index arrays of triangles and diagonals.

What is index objects alone is NumPy's own; results are Arrays, and gradients flow through `r_` and
`c_`. Next: `selecting.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from numen.dispatch.convert import as_array
from numen.dispatch.core import ArrayCore
from numen.namespace.calling import composes, host, wrap_results
from numen.namespace.creation import array, asarray, followed, known, made, unwrapped
from numen.namespace.devices import alongside, host_model
from numen.namespace.filled import check_size
from numen.namespace.ranges import arange, linspace
from numen.ops import table

__all__ = ["c_", "diag_indices", "diag_indices_from", "index_exp", "ix_", "mask_indices", "mgrid"]
__all__ += ["ndenumerate", "ndindex", "ogrid", "r_", "ravel_multi_index", "s_", "tril_indices"]
__all__ += ["tril_indices_from", "triu_indices", "triu_indices_from", "unravel_index"]

s_ = np.s_
index_exp = np.index_exp
ndindex = np.ndindex


class Grid:
    """`mgrid[slices]` and `ogrid[slices]`: full or open coordinate arrays; an imaginary step is a
    number of points.

    Examples
    --------
    >>> import numen as nm
    >>> nm.mgrid[0:2, 0:3][1]
    array([[0, 1, 2],
           [0, 1, 2]])
    """

    def __init__(self, numpy_grid: Any, name: str) -> None:
        self._numpy = numpy_grid
        self._name = name

    def __getitem__(self, key: Any) -> Any:
        key = known(key, self._name)
        result = self._numpy[key]
        return tuple(map(made, result)) if isinstance(result, tuple) else made(result)


mgrid = Grid(np.mgrid, "mgrid")
ogrid = Grid(np.ogrid, "ogrid")


class Joiner:
    """`r_[...]` and `c_[...]`: arrays, numbers and ranges joined along an axis.

    Examples
    --------
    >>> import numen as nm
    >>> nm.r_[nm.array([1, 2]), 0, 3:5]
    array([1, 2, 0, 3, 4])
    >>> nm.c_[nm.array([1, 2]), nm.array([3, 4])]
    array([[1, 3],
           [2, 4]])
    """

    def __init__(self, numpy_joiner: Any, axis: int, ndmin: int, trans1d: int, name: str) -> None:
        self._numpy = numpy_joiner
        self._defaults = axis, ndmin, trans1d
        self._name = name

    def __len__(self) -> int:
        return 0

    def __getitem__(self, key: Any) -> Any:
        entries = key if type(key) is tuple else (key,)
        if any([followed(e) or _has_followed_ends(e) for e in entries]):
            return self._joined(entries)
        result = self._numpy[known(key, self._name)]
        return result if isinstance(result, np.matrix) else made(result)

    def _joined(self, entries: tuple[Any, ...]) -> Any:
        """The same by rows."""
        axis, ndmin, trans1d = self._defaults
        parts: list[Any] = []
        weak: list[Any] = []
        for i, entry in enumerate(entries):
            if isinstance(entry, str):
                if i:
                    raise ValueError("special directives must be the first entry.")
                numbers = [int(part) for part in entry.split(",")]  # as NumPy, if it is no matrix
                axis, ndmin, trans1d = [*numbers, *(axis, ndmin, trans1d)[len(numbers) :]]
                continue
            if isinstance(entry, slice):
                part = _range_of(entry)
            elif type(entry) in (int, float, complex, bool):
                weak.append(entry)
                part = entry
            else:
                part = array(entry, copy=None)
            parts.append(part)
        strong = [p._d.dtype for p in parts if isinstance(p, ArrayCore)]
        dtype = np.result_type(*strong, *weak)
        ready = []
        for part in parts:
            rank = part._d.ndim if isinstance(part, ArrayCore) else 0
            part = alongside(as_array(part, dtype), *parts)
            ready.append(_with_rank(part, rank, ndmin, trans1d))
        return table["concatenate"](*ready, axis=axis % ready[0]._d.ndim)


def _has_followed_ends(entry: Any) -> bool:
    return isinstance(entry, slice) and followed(entry.start, entry.stop, entry.step)


def _range_of(entry: slice) -> Any:
    """The values of a slice: arange, or linspace where the step is imaginary."""
    step = 1 if entry.step is None else entry.step
    start = 0 if entry.start is None else entry.start
    if isinstance(step, complex):
        return linspace(start, entry.stop, int(abs(step)))
    return arange(start, entry.stop, step)


def _with_rank(x: Any, rank: int, ndmin: int, trans1d: int) -> Any:
    """x with at least `ndmin` axes; `trans1d` says where its own ones are placed among them."""
    if not rank:
        return table["reshape"](x, shape=(1,) * max(ndmin, 1))
    if rank >= ndmin:
        return x
    own = trans1d if trans1d >= 0 else trans1d + ndmin - rank + 1
    sizes = [1] * ndmin
    sizes[own : own + rank] = x._d.shape
    return table["reshape"](x, shape=tuple(sizes[:ndmin]))


r_ = Joiner(np.r_, 0, 1, -1, "r_")
c_ = Joiner(np.c_, -1, 2, 0, "c_")


@composes(np.ix_)
def ix_(*args: Any) -> Any:
    """Open index arrays that pick the cross product of their positions.

    Examples
    --------
    >>> import numen as nm
    >>> nm.arange(9).reshape(3, 3)[nm.ix_([0, 2], [1, 2])]
    array([[1, 2],
           [7, 8]])
    """
    parts = [asarray(a) for a in args]
    if any([p._d.ndim != 1 or p._d.dtype.kind not in "iu" for p in parts]):
        return NotImplemented  # masks' positions depend on values
    rank = len(parts)
    return tuple(
        [
            table["reshape"](p, shape=(*(1,) * i, p._d.size, *(1,) * (rank - i - 1)))
            for i, p in enumerate(parts)
        ]
    )


class ndenumerate:  # noqa: N801
    """Iterator over (index, element) pairs.

    Examples
    --------
    >>> import numen as nm
    >>> [(i, int(v)) for i, v in nm.ndenumerate(nm.array([[5, 6]]))]
    [((0, 0), 5), ((0, 1), 6)]
    """

    def __init__(self, arr: Any) -> None:
        self._array = asarray(arr)
        self._indices = np.ndindex(self._array.shape)

    def __next__(self) -> tuple[tuple[int, ...], Any]:
        index = next(self._indices)
        return index, self._array[index]

    def __iter__(self) -> Iterator[tuple[tuple[int, ...], Any]]:
        return self


# ------------------------------------------------------------ index arrays

tril_indices = host(
    np.tril_indices,
    """Indices of the lower triangle of an n x m matrix: tril_indices(n, k=0, m=None).

    Examples
    --------
    >>> import numen as nm
    >>> nm.tril_indices(2)
    (array([0, 1, 1]), array([0, 0, 1]))
    """,
)
triu_indices = host(
    np.triu_indices,
    """Indices of the upper triangle of an n x m matrix: triu_indices(n, k=0, m=None).

    Examples
    --------
    >>> import numen as nm
    >>> nm.triu_indices(2)
    (array([0, 0, 1]), array([0, 1, 1]))
    """,
)
diag_indices = host(np.diag_indices, "Indices of the main diagonal: diag_indices(n, ndim=2).")
unravel_index = host(
    np.unravel_index,
    """Coordinates of flat positions: unravel_index(indices, shape, order='C').

    Examples
    --------
    >>> import numen as nm
    >>> nm.unravel_index([4, 5], (2, 3))
    (array([1, 1]), array([1, 2]))
    """,
)
ravel_multi_index = host(
    np.ravel_multi_index,
    """Flat positions of coordinates: ravel_multi_index(multi_index, dims, mode='raise', order='C').

    Examples
    --------
    >>> import numen as nm
    >>> nm.ravel_multi_index(([1, 1], [1, 2]), (2, 3))
    array([4, 5])
    """,
)


def tril_indices_from(arr: Any, k: int = 0) -> Any:
    """Indices of the lower triangle of a matrix.

    Raises
    ------
    ValueError
        If `arr` has another number of axes than two.
    """
    return wrap_results(np.tril_indices_from(_model(arr), known(k, "k")), "tril_indices_from")


def triu_indices_from(arr: Any, k: int = 0) -> Any:
    """Indices of the upper triangle of a matrix.

    Raises
    ------
    ValueError
        If `arr` has another number of axes than two.
    """
    return wrap_results(np.triu_indices_from(_model(arr), known(k, "k")), "triu_indices_from")


def diag_indices_from(arr: Any) -> Any:
    """Indices of the main diagonal of an array with equal extents.

    Raises
    ------
    ValueError
        If the extents differ, or there are fewer than two.
    """
    return wrap_results(np.diag_indices_from(_model(arr)), "diag_indices_from")


def _model(arr: Any) -> Any:
    """The argument of a function that reads its shape alone."""
    if not isinstance(arr, ArrayCore):
        return unwrapped(arr)
    return arr._d if isinstance(arr._d, np.ndarray) else host_model(arr._d)


def mask_indices(n: int, mask_func: Callable[..., Any], k: Any = 0) -> Any:
    """Indices of the elements that `mask_func(ones((n, n)), k)` keeps."""
    size = known(n, "mask_indices")
    check_size((size, size), int)
    kept = mask_func(made(np.ones((size, size), int)), k)
    return host(np.nonzero)(asarray(kept) != 0)
