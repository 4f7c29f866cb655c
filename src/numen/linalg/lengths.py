"""Norms of vectors and matrices, the condition number and the rank.

Next: `ops/norms.py` for the Euclidean one, whose gradient is 0 at 0; the others are composed here.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numen.dispatch.convert import as_array, normalize_axes
from numen.linalg.systems import LinAlgError
from numen.namespace.axes import transpose
from numen.namespace.calling import composes, host
from numen.ops import table

__all__ = ["norm", "vector_norm", "matrix_norm", "cond", "matrix_rank"]


@composes(np.linalg.norm)
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """The norm of a vector or matrix; without arguments the Euclidean one of all elements.

    Parameters
    ----------
    x : array_like
    ord : {int, float, inf, -inf, 'fro', 'nuc'}, optional
        Which norm, as NumPy's: of vectors the sum of ``abs(x)**ord`` to ``1 / ord``; of matrices by
        rows (inf), columns (1), singular values (2, 'nuc') or elements ('fro').
    axis : int or pair of ints, optional
        One axis: of vectors; two: of matrices.
    keepdims : bool
        Whether reduced axes stay, with one element.

    Raises
    ------
    ValueError
        If `ord` is no norm of a vector or matrix, or there are more than two axes.

    Examples
    --------
    >>> import numen as nm
    >>> from numen.linalg import norm
    >>> x = nm.array([3.0, 4.0], requires_grad=True)
    >>> norm(x).backward()
    >>> x.grad
    array([0.6, 0.8])
    """
    a = _floating(as_array(x))
    ndim = a.ndim
    if axis is None:
        if ord is None or (ord in ("f", "fro") and ndim == 2) or (ord == 2 and ndim == 1):
            length = table["norm"](a.ravel(), axis=(0,), keepdims=False)
            return length.reshape((1,) * ndim) if keepdims else length
        axis = tuple(range(ndim))
    axes = tuple([normalize_axes(i, ndim, "norm")[0] for i in _as_tuple(axis)])
    if len(axes) == 1:
        return _of_vectors(a, ord, axes, bool(keepdims))
    if len(axes) != 2:
        raise ValueError(f"norm: expected one or two axes, got {axis}")
    if axes[0] == axes[1]:
        raise ValueError(f"norm: duplicate axes {axis}")
    return _of_matrices(a, ord, axes, bool(keepdims))


def _floating(a: Any) -> Any:
    return a if a._d.dtype.kind in "fc" else a.astype(np.float64)


def _as_tuple(axis: Any) -> tuple[Any, ...]:
    if isinstance(axis, tuple):
        return axis
    try:
        return (int(axis),)
    except Exception as error:
        raise TypeError("norm: 'axis' must be None, an integer or a tuple of integers") from error


def _of_vectors(a: Any, ord: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    how: dict[str, Any] = {"axis": axis, "keepdims": keepdims}
    if ord is None or ord == 2:
        return table["norm"](a, **how)
    if isinstance(ord, str):
        raise ValueError(f"norm: {ord!r} is no norm of vectors")
    if ord == 0:
        nonzero = table["not_equal"](a, 0)
        return table["sum"](nonzero.astype(_real(a)), **how)
    sizes = table["absolute"](a)
    if ord in (math.inf, -math.inf):
        return table["max" if ord > 0 else "min"](sizes, **how)
    if ord == 1:
        return table["sum"](sizes, **how)
    if ord < 0 and not a._d.size:
        return NotImplemented  # infinite, or an error
    # Zeros stay out of the powers, whose derivatives are infinite there
    where, power, p = table["where"], table["power"], float(ord)
    zero = table["equal"](sizes, 0)
    powers = power(where(zero, 1.0, sizes), p)
    total = table["sum"](where(zero, 0.0 if p > 0 else math.inf, powers), **how)
    root = power(where(table["equal"](total, 0), 1.0, total), 1 / p)
    return root * table["not_equal"](total, 0)


def _real(a: Any) -> np.dtype[Any]:
    return np.empty(0, a._d.dtype).real.dtype


def _of_matrices(a: Any, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    if ord in (None, "fro", "f"):
        return table["norm"](a, axis=tuple(sorted(axes)), keepdims=keepdims)
    rest = [i for i in range(a.ndim) if i not in axes]
    x = transpose(a, (*rest, *axes))
    n = len(rest)
    if ord in (2, -2, "nuc"):
        values = table["svdvals"](x)
        if ord != -2 and values._d.size:
            values = _of_rank(values, max(x.shape[-2:]))
        by = {2: "max", -2: "min", "nuc": "sum"}[ord]
    elif ord in (1, -1, math.inf, -math.inf):
        over = n if ord in (1, -1) else n + 1
        values = table["sum"](table["absolute"](x), axis=(over,), keepdims=False)
        by = "max" if ord > 0 else "min"
    else:
        raise ValueError(f"norm: {ord!r} is no norm of matrices")
    result = table[by](values, axis=(n,), keepdims=False)
    if keepdims:
        return result.reshape(tuple([1 if i in axes else k for i, k in enumerate(a.shape)]))
    return result


def _of_rank(values: Any, size: int) -> Any:
    """Singular values, those that rounding alone tells from 0 as constant zeros: their slope is 0,
    as that of every norm at 0."""
    eps = float(np.finfo(values.dtype).eps)
    largest = table["max"](values, axis=(values.ndim - 1,), keepdims=True)
    return table["where"](table["greater"](values, largest * (size * eps)), values, 0)


@composes(np.linalg.vector_norm)
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """The norm of vectors along one axis, several, or all.

    Raises
    ------
    ValueError
        If `ord` is no number.
    """
    a = _floating(as_array(x))
    axes = normalize_axes(axis, a.ndim, "vector_norm")
    rest = [i for i in range(a.ndim) if i not in axes]
    size = math.prod([a.shape[i] for i in axes])
    flat = transpose(a, (*rest, *axes)).reshape((*[a.shape[i] for i in rest], size))
    result = _of_vectors(flat, ord, (len(rest),), False)
    if keepdims and result is not NotImplemented:
        return result.reshape(tuple([1 if i in axes else n for i, n in enumerate(a.shape)]))
    return result


@composes(np.linalg.matrix_norm)
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """The norm of a matrix, or of each of a stack.

    Raises
    ------
    ValueError
        If `ord` is no norm of matrices.
    """
    return norm(x, ord, (-2, -1), keepdims)


@composes(np.linalg.cond)
def cond(x: Any, p: Any = None) -> Any:
    """The condition number: the norm of a matrix times that of its inverse.

    Raises
    ------
    LinAlgError
        If the matrix is empty, or not square where the norm needs the inverse.
    """
    a = as_array(x)
    if a.ndim < 2 or not a._d.size:
        return NotImplemented
    if p is None or p in (2, -2):
        values = table["svdvals"](a)
        first, last = values[..., 0], values[..., -1]
        return last / first if p == -2 else first / last
    try:
        inverse = table["inv"](a)
    except LinAlgError:
        return NotImplemented  # infinite, or not square
    return norm(a, p, (-2, -1)) * norm(inverse, p, (-2, -1))


matrix_rank = host(
    np.linalg.matrix_rank,
    """The number of singular values above a tolerance.

    See `numpy.linalg.matrix_rank`.
    """,
)
