"""Sorting, partitions and searching in sorted arrays.

Called by Array's methods too: `sort_in_place` and `partition_in_place` are the methods' forms.
Gradients move back to where their elements came from. Next: `ops/ordering.py` for the rows.
"""

from __future__ import annotations

import functools
from operator import index
from typing import Any

import numpy as np

from numen.dispatch import views
from numen.dispatch.convert import as_array, one_axis
from numen.dispatch.core import SCALAR
from numen.namespace.axes import flip
from numen.namespace.calling import composes, host, recorded
from numen.namespace.reducing import line, numeric
from numen.ops import table

__all__ = ["sort", "argsort", "sort_complex", "lexsort", "partition", "argpartition"]
__all__ += ["searchsorted", "digitize"]


def _line(x: Any, axis: Any, name: str) -> tuple[Any, int]:
    """x and the one axis to order along; None means the flattened array."""
    if axis is None or (not x.ndim and name.startswith("arg")):
        return line(x, axis, name)
    return x, one_axis(axis, x.ndim, name)


def _ordered(name: str, x: Any, axis: Any, kind: Any, order: Any, stable: Any) -> Any:
    if order is not None or not numeric(x) or (kind is not None and stable is not None):
        return NotImplemented
    x, ax = _line(x, axis, name)
    return table[name](x, axis=ax, kind="stable" if stable else kind)


def _either_way(ascending: Any) -> Any:
    """The function with the array API standard's `descending=`, which NumPy's lacks."""
    name = ascending.__name__

    def descend(a: Any, axis: Any = -1, *rest: Any, **named: Any) -> Any:
        x, ax = _line(as_array(a), axis, name)
        # Reversed before and after, so that equal elements keep their order.
        result = flip(ascending(flip(x, ax), ax, *rest, **named), ax)
        return result.copy() if name == "sort" else x.shape[ax] - 1 - result

    @functools.wraps(ascending)
    def call(*args: Any, descending: bool = False, **kwargs: Any) -> Any:
        return (descend if descending else ascending)(*args, **kwargs)

    return call


@_either_way
@composes(np.sort)
def sort(
    a: Any,
    axis: Any = -1,
    kind: Any = None,
    order: Any = None,
    *,
    stable: Any = None,
    descending: bool = False,
) -> Any:
    """A sorted copy along an axis; NaN comes last.

    Parameters
    ----------
    a : array_like
        What is sorted.
    axis : int or None
        The axis to sort along; None flattens first.
    kind : {"quicksort", "mergesort", "heapsort", "stable"}, optional
        NumPy's algorithm.
    order : str or list of str, optional
        The fields of a structured dtype to compare, in order.
    stable : bool, optional
        Keep the order of equal elements.
    descending : bool
        Sort from the largest down, as the array API standard has it (NumPy does not).

    Examples
    --------
    >>> import numen as nm
    >>> nm.sort(nm.array([3, 1, 2])), nm.sort(nm.array([3, 1, 2]), descending=True)
    (array([1, 2, 3]), array([3, 2, 1]))
    >>> nm.grad(lambda x: nm.sort(x)[0])(nm.array([3.0, 1.0, 2.0]))
    array([0., 1., 0.])
    """
    return _ordered("sort", as_array(a), axis, kind, order, stable)


@_either_way
@composes(np.argsort)
def argsort(
    a: Any,
    axis: Any = -1,
    kind: Any = None,
    order: Any = None,
    *,
    stable: Any = None,
    descending: bool = False,
) -> Any:
    """Indices that sort along an axis; parameters as `sort`'s.

    Examples
    --------
    >>> import numen as nm
    >>> nm.argsort(nm.array([3, 1, 2]))
    array([1, 2, 0])
    """
    return _ordered("argsort", as_array(a), axis, kind, order, stable)


def _parted(name: str, x: Any, kth: Any, axis: Any, kind: Any, order: Any) -> Any:
    if order is not None or not numeric(x) or kind != "introselect":
        return NotImplemented
    given = np.asarray(kth) if isinstance(kth, (int, list, tuple, np.integer)) else None
    if given is None or given.dtype.kind != "i" or given.ndim > 1:
        return NotImplemented
    x, ax = _line(x, axis, name)
    return table[name](x, kth=tuple([index(k) for k in given.reshape(-1)]), axis=ax)


@composes(np.partition)
def partition(
    a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None
) -> Any:
    """A copy in which the kth elements are where sorting would put them: none before a kth is
    larger, none behind it smaller.

    Parameters
    ----------
    a : array_like
        What is parted.
    kth : int or sequence of int
        Places that get their sorted element.
    axis : int or None
        The axis to part along; None flattens first.

    Examples
    --------
    >>> import numen as nm
    >>> nm.partition(nm.array([7, 1, 5, 3]), 1)[1]
    np.int64(3)
    """
    return _parted("partition", as_array(a), kth, axis, kind, order)


@composes(np.argpartition)
def argpartition(
    a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None
) -> Any:
    """Indices that part along an axis; parameters as `partition`'s.

    Examples
    --------
    >>> import numen as nm
    >>> nm.argpartition(nm.array([7, 1, 5, 3]), 0)[0]
    np.int64(1)
    """
    return _parted("argpartition", as_array(a), kth, axis, kind, order)


@composes(np.sort_complex)
def sort_complex(a: Any) -> Any:
    """A sorted complex copy, by real part and then by imaginary part, along the last axis.

    Examples
    --------
    >>> import numen as nm
    >>> nm.sort_complex([2, 1 + 1j, 1])
    array([1.+0.j, 1.+1.j, 2.+0.j])
    """
    x = as_array(a)
    char = x._d.dtype.char
    if char not in "?bhBHilqILQefdFD" or not x._d.ndim:
        return NotImplemented
    ordered = sort(x)
    return ordered if char in "FD" else ordered.astype(np.complex64 if char in "bhBH" else complex)


lexsort = host(
    np.lexsort,
    "Indices that sort by several keys, the last one first. See `numpy.lexsort`.",
)
searchsorted = host(
    np.searchsorted,
    "Where values would be inserted to keep a sorted array sorted. See `numpy.searchsorted`.",
)
digitize = host(
    np.digitize,
    "The number of the bin that each value falls into. See `numpy.digitize`.",
)

_sort_memory = host(np.ndarray.sort, writes=(0,), name="sort")
_partition_memory = host(np.ndarray.partition, writes=(0,), name="partition")


def _by_rows(x: Any) -> bool:
    """Whether an array is ordered by a row and then written, not in its memory by NumPy."""
    return numeric(x) and (recorded((x,), {}) or not isinstance(x._d, np.ndarray))


def sort_in_place(x: Any, axis: Any, kind: Any, order: Any, *, stable: Any = None) -> None:
    """Sort x along an axis, in its own memory."""
    if x._v is SCALAR:
        x._d.copy().sort(axis)  # raises
    elif order is None and _by_rows(x):
        # of a copy: the gradient needs the order as it was
        views.write(x, sort(table["copy"](x), axis, kind, order, stable=stable), "sort")
    else:
        more = {} if stable is None else {"stable": stable}
        _sort_memory(x, axis, kind, order, **more)


def partition_in_place(x: Any, kth: Any, axis: Any, kind: str, order: Any) -> None:
    """Partition x along an axis, in its own memory."""
    if order is None and _by_rows(x):
        views.write(x, partition(table["copy"](x), kth, axis, kind, order), "partition")
    else:
        _partition_memory(x, kth, axis, kind, order)
