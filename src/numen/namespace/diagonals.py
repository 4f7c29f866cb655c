"""Diagonals and triangles: diagonal (a view), trace, diag, diagflat, tril, triu.

`manipulation.py` hands `diagonal` and `trace` to the methods. Next: `ops/memory.py` for the row.
"""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from numen.dispatch import core
from numen.dispatch.backends import module_of
from numen.dispatch.convert import as_array, normalize_axes
from numen.dispatch.core import is_differentiable
from numen.namespace.calling import composes
from numen.ops import table

__all__ = ["diagonal", "trace", "diag", "diagflat", "tril", "triu"]


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The diagonal of two axes, last in the result, as a read-only view.

    Raises
    ------
    ValueError
        If the array has less than two axes, or the two are the same.
    numpy.exceptions.AxisError
        If an axis is out of bounds.

    Examples
    --------
    >>> import numen as nm
    >>> nm.diagonal(nm.arange(6).reshape(2, 3), 1)
    array([1, 5])
    """
    x = as_array(a)
    ndim = x._d.ndim
    if ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    (i,), (j,) = (normalize_axes(axis, ndim, "diagonal") for axis in (axis1, axis2))
    if i == j:
        raise ValueError("axis1 and axis2 cannot be the same")
    return table["diagonal"](x, offset=index(offset), axis1=i, axis2=j)


@composes(np.trace)
def trace(
    a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None
) -> Any:
    """The sum of the diagonal of two axes.

    Examples
    --------
    >>> import numen as nm
    >>> nm.trace(nm.eye(3)).item()
    3.0
    """
    return diagonal(a, offset, axis1, axis2).sum(-1, dtype, out)


def diag(v: Any, k: int = 0) -> Any:
    """The diagonal of a matrix as a read-only view, or the matrix with `v` on its diagonal.

    Raises
    ------
    ValueError
        If `v` has neither one nor two axes.

    Examples
    --------
    >>> import numen as nm
    >>> nm.diag(nm.array([1, 2]), 1)
    array([[0, 1, 0],
           [0, 0, 2],
           [0, 0, 0]])
    """
    x = as_array(v)
    if x._d.ndim == 1:
        return _on_diagonal(x, k)
    if x._d.ndim == 2:
        return diagonal(x, k)
    raise ValueError("Input must be 1- or 2-d.")


def _placed(v: Any, k: int = 0) -> Any:
    if v._d.dtype.kind not in "biufc" and not is_differentiable(v._d.dtype):
        return NotImplemented  # nothing that can be added
    n = v._d.size
    size = n + abs(k)
    cells = np.arange(n) * (size + 1) + (k if k >= 0 else -k * size)
    flat = core.new_constant(module_of(v._d).zeros(size * size, v._d.dtype))
    placed = table["scatter_add"](flat, v, core.new_constant(cells), spec=(0,))
    return placed.reshape(size, size)


_on_diagonal = composes(np.diag)(_placed)


@composes(np.diagflat)
def diagflat(v: Any, k: int = 0) -> Any:
    """The matrix with the flattened `v` on a diagonal."""
    return _placed(as_array(v).ravel(), index(k))


@composes(np.tril)
def tril(m: Any, k: int = 0) -> Any:
    """The matrix, or the stack of them, with zeros above the kth diagonal.

    Examples
    --------
    >>> import numen as nm
    >>> nm.tril(nm.ones((2, 2)))
    array([[1., 0.],
           [1., 1.]])
    """
    x = as_array(m)
    return _masked(x, _below(x, k))


@composes(np.triu)
def triu(m: Any, k: int = 0) -> Any:
    """The matrix, or the stack of them, with zeros below the kth diagonal."""
    x = as_array(m)
    return _masked(x, ~_below(x, k - 1))


def _below(x: Any, k: int) -> Any:
    if not x._d.ndim:
        raise TypeError("tril, triu: expected at least one axis, got a 0-d array")
    rows, *columns = x._d.shape[-2:]
    return np.tri(rows, columns[0] if columns else rows, k, np.bool_)


def _masked(x: Any, mask: Any) -> Any:
    zero = core.new_constant(np.zeros((), x._d.dtype))
    return table["where"](core.new_constant(mask), x, zero)
