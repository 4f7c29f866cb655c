"""Sets of values: unique and the operations on sorted unique values.

Gradients go to the first place where a value was found. Which values are equal is NumPy's to say,
so a traced function that asks runs eagerly. Next: `sorting.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch.convert import as_array, normalize_axes
from numen.namespace.calling import composes, host
from numen.namespace.devices import beside
from numen.namespace.reducing import numeric
from numen.namespace.sorting import sort
from numen.ops import table

__all__ = ["unique", "unique_all", "unique_counts", "unique_inverse", "unique_values", "isin"]
__all__ += ["intersect1d", "union1d", "setdiff1d", "setxor1d"]

_unique = host(np.unique, name="unique")
_intersect = host(np.intersect1d, name="intersect1d")

isin = host(
    np.isin,
    "Whether each element is among `test_elements`. See `numpy.isin`.",
)


def _chosen(x: Any, index: Any, axis: int) -> Any:
    """x's slices at `index` along an axis."""
    return table["gather"](x, index, spec=(*[("b", slice(None))] * axis, 0))


def _flat(x: Any) -> Any:
    return x.reshape(-1)


def _firsts(x: Any, axis: Any = None, **options: Any) -> tuple[Any, ...]:
    """The unique slices of x with their gradient, and what else NumPy's unique was asked for."""
    found = _unique(x.detach(), return_index=True, axis=axis, **options)
    source, ax = (_flat(x), 0) if axis is None else (x, normalize_axes(axis, x.ndim, "unique")[0])
    return (_chosen(source, found[1], ax), *found[1:])


@composes(np.unique)
def unique(
    ar: Any,
    return_index: Any = False,
    return_inverse: Any = False,
    return_counts: Any = False,
    axis: Any = None,
    *,
    equal_nan: Any = True,
    sorted: Any = True,
) -> Any:
    """The sorted unique elements, or slices along an axis.

    Parameters
    ----------
    ar : array_like
        The values.
    return_index, return_inverse, return_counts : bool
        Return also where each first occurs, which of them each element is, how often each occurs.
    axis : int, optional
        The axis whose slices are compared; by default elements are.
    equal_nan : bool
        Take NaN as one value.
    sorted : bool
        Whether the order matters to the caller.

    Examples
    --------
    >>> import numen as nm
    >>> nm.unique(nm.array([3, 1, 3, 2]))
    array([1, 2, 3])
    """
    x = as_array(ar)
    if not numeric(x):
        return NotImplemented
    wanted = (return_index, return_inverse, return_counts)
    values, *more = _firsts(
        x,
        axis,
        return_inverse=return_inverse,
        return_counts=return_counts,
        equal_nan=equal_nan,
    )
    if not any(wanted):
        return values
    return (values, *more) if return_index else (values, *more[1:])


@composes(np.unique_all)
def unique_all(x: Any) -> Any:
    """Unique values, where each first occurs, which of them each element is, and how often."""
    v = as_array(x)
    if not numeric(v):
        return NotImplemented
    found = _firsts(v, return_inverse=True, return_counts=True, equal_nan=False)
    return type(np.unique_all(np.zeros(1)))(*found)


@composes(np.unique_counts)
def unique_counts(x: Any) -> Any:
    """Unique values and how often each occurs."""
    v = as_array(x)
    if not numeric(v):
        return NotImplemented
    values, _, counts = _firsts(v, return_counts=True, equal_nan=False)
    return type(np.unique_counts(np.zeros(1)))(values, counts)


@composes(np.unique_inverse)
def unique_inverse(x: Any) -> Any:
    """Unique values and which of them each element is."""
    v = as_array(x)
    if not numeric(v):
        return NotImplemented
    values, _, inverse = _firsts(v, return_inverse=True, equal_nan=False)
    return type(np.unique_inverse(np.zeros(1)))(values, inverse)


def _values_in_order(x: Any) -> Any:
    """NumPy's unique_values of any version, sorted."""
    return np.unique(x, equal_nan=False)


@composes(_values_in_order)
def unique_values(x: Any) -> Any:
    """Sorted unique values, each NaN by itself.

    NumPy 2.3 and newer promise no order and may hash instead; callers in the wild, such as
    scikit-learn's classifiers, count on one.

    Examples
    --------
    >>> import numen as nm
    >>> nm.unique_values(nm.array([3, 1, 3]))
    array([1, 3])
    """
    v = as_array(x)
    return _firsts(v, equal_nan=False)[0] if numeric(v) else NotImplemented


def _both(ar1: Any, ar2: Any) -> tuple[Any, Any] | None:
    """Two flat arrays of their common dtype; None where they are no numbers."""
    x, y = beside(ar1, ar2), beside(ar2, ar1)
    if not numeric(x) or not numeric(y):
        return None
    dtype = np.result_type(x._d.dtype, y._d.dtype)
    return _flat(x.astype(dtype, copy=False)), _flat(y.astype(dtype, copy=False))


@composes(np.intersect1d)
def intersect1d(ar1: Any, ar2: Any, assume_unique: Any = False, return_indices: Any = False) -> Any:
    """The sorted values that are in both; the gradient goes to the first argument.

    Examples
    --------
    >>> import numen as nm
    >>> nm.intersect1d(nm.array([1, 3, 4]), nm.array([3, 1, 7]))
    array([1, 3])
    """
    both = _both(ar1, ar2)
    if both is None:
        return NotImplemented
    x, y = both
    _, first, second = _intersect(x.detach(), y.detach(), assume_unique, True)
    values = _chosen(x, first, 0)
    return (values, first, second) if return_indices else values


@composes(np.union1d)
def union1d(ar1: Any, ar2: Any) -> Any:
    """The sorted values that are in either.

    Examples
    --------
    >>> import numen as nm
    >>> nm.union1d(nm.array([1, 3]), nm.array([3, 2]))
    array([1, 2, 3])
    """
    both = _both(ar1, ar2)
    return NotImplemented if both is None else _firsts(table["concatenate"](*both, axis=0))[0]


@composes(np.setdiff1d)
def setdiff1d(ar1: Any, ar2: Any, assume_unique: Any = False) -> Any:
    """The sorted values of the first that are not in the second.

    Examples
    --------
    >>> import numen as nm
    >>> nm.setdiff1d(nm.array([1, 3, 4]), nm.array([3, 7]))
    array([1, 4])
    """
    x = as_array(ar1)
    if not numeric(x):
        return NotImplemented
    values = _flat(x) if assume_unique else _firsts(x)[0]
    others = beside(ar2, x).detach()
    return values[isin(values.detach(), others, assume_unique=True, invert=True)]


@composes(np.setxor1d)
def setxor1d(ar1: Any, ar2: Any, assume_unique: Any = False) -> Any:
    """The sorted values that are in exactly one of the two.

    Examples
    --------
    >>> import numen as nm
    >>> nm.setxor1d(nm.array([1, 3, 4]), nm.array([3, 7]))
    array([1, 4, 7])
    """
    both = _both(ar1, ar2)
    if both is None:
        return NotImplemented
    x, y = both
    if not assume_unique:
        x, y = _firsts(x)[0], _firsts(y)[0]
    values = table["concatenate"](x, y, axis=0)
    shared = _intersect(x.detach(), y.detach(), True)
    return sort(values[isin(values.detach(), shared, invert=True)])
