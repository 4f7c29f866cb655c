"""Linear systems: solve, inv, det and the factors and inverses beside them.

Next: `ops/matrices.py` for the derivatives.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numen.dispatch.convert import as_array
from numen.errors import describe
from numen.namespace.axes import transpose
from numen.namespace.calling import composes
from numen.namespace.devices import beside
from numen.ops import table
from numen.ops.eigen import beneath
from numen.ops.factors import hermitian as hermitian_of
from numen.ops.linear_algebra import adjoint

LinAlgError = np.linalg.LinAlgError

NO_VALUE: Any = np._NoValue
"""Stands for an argument that is not given where None means something."""

DEFAULT_RCOND = 1e-15
"""NumPy's, of pinv."""

SlogdetResult: Any = type(np.linalg.slogdet(np.ones((1, 1))))


@composes(np.linalg.solve)
def solve(a: Any, b: Any) -> Any:
    """The x with a x = b.

    Parameters
    ----------
    a : (..., M, M) array_like
    b : (M,) or (..., M, K) array_like
        A vector where it has one axis, else matrices.

    Raises
    ------
    LinAlgError
        If `a` is singular or not square.

    Examples
    --------
    >>> import numen as nm
    >>> from numen.linalg import solve
    >>> solve(nm.array([[2.0, 0.0], [0.0, 4.0]]), nm.array([2.0, 2.0]))
    array([1. , 0.5])
    """
    return table["solve"](beside(a, b), beside(b, a))


@composes(np.linalg.inv)
def inv(a: Any) -> Any:
    """The inverse of a matrix, or of each of a stack.

    Raises
    ------
    LinAlgError
        If `a` is singular or not square.

    Examples
    --------
    >>> import numen as nm
    >>> from numen.linalg import inv
    >>> inv(nm.array([[2.0, 0.0], [0.0, 4.0]]))
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    return table["inv"](as_array(a))


@composes(np.linalg.det)
def det(a: Any) -> Any:
    """The determinant; its gradient, the cofactors, is finite for singular matrices too, and so is
    its second derivative.

    Raises
    ------
    LinAlgError
        If `a` is not square.

    Examples
    --------
    >>> import numen as nm
    >>> from numen.linalg import det
    >>> x = nm.array([[1.0, 2.0], [2.0, 4.0]], requires_grad=True)
    >>> det(x).backward()
    >>> x.grad.round(6)
    array([[ 4., -2.],
           [-2.,  1.]])
    """
    return table["det"](as_array(a))


@composes(np.linalg.slogdet)
def slogdet(a: Any) -> Any:
    """The determinant's sign and the logarithm of its modulus, as `(sign, logabsdet)`.

    The sign of complex matrices, of modulus 1, has a gradient too. There is none where the matrix
    is singular: a backward pass raises LinAlgError.

    Raises
    ------
    LinAlgError
        If `a` is not square.
    """
    x = as_array(a)
    return SlogdetResult(table["detsign"](x), table["logabsdet"](x))


@composes(np.linalg.cholesky)
def cholesky(a: Any, /, *, upper: bool = False) -> Any:
    """The lower triangular l with l l^H = a, or the upper u with u^H u = a.

    Only that triangle of `a` is read, of its diagonal the real part, so the gradient lies there:
    one off the diagonal counts for the two elements of the Hermitian matrix.

    Raises
    ------
    LinAlgError
        If `a` is not positive definite or not square.
    """
    x = as_array(a)
    if not upper:
        return table["cholesky"](x)
    if x.ndim < 2:
        return NotImplemented
    return adjoint(table["cholesky"](adjoint(x)))


@composes(np.linalg.pinv)
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = NO_VALUE) -> Any:
    """The Moore-Penrose inverse; singular values up to rcond times the largest count as zero.

    The gradient holds where the rank does not change. With `hermitian`, the lower triangle is read.

    Raises
    ------
    LinAlgError
        If the SVD does not converge.
    """
    x = as_array(a)
    if x.ndim < 2 or (hermitian and x.shape[-1] != x.shape[-2]):
        return NotImplemented
    if rcond is None:
        rcond = DEFAULT_RCOND if rtol is NO_VALUE else rtol
    elif rtol is not NO_VALUE:
        return NotImplemented  # NumPy refuses both
    if rcond is None:
        rcond = max(x.shape[-2:]) * float(np.finfo(x._d.dtype).eps)
    if not isinstance(rcond, (int, float)):
        rcond = as_array(rcond)
    return table["pinv"](hermitian_of(x) if hermitian else x, rcond)


@composes(np.linalg.lstsq)
def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    """The x of least norm that minimises |a x - b|, with residuals, rank and singular values.

    The gradient holds where the rank does not change.

    Raises
    ------
    LinAlgError
        If `a` is no matrix, the rows differ, or the SVD does not converge.
    """
    x, y = beside(a, b), beside(b, a)
    if x.ndim != 2 or y.ndim not in (1, 2) or x.shape[0] != y.shape[0] or 0 in x.shape:
        return NotImplemented
    dtype = np.result_type(x.dtype, y.dtype, np.float32)
    eps = float(np.finfo(dtype).eps)
    if rcond is None or rcond == -1:
        rcond = eps * max(x.shape) if rcond is None else eps
    x, y = (m if m.dtype == dtype else m.astype(dtype) for m in (x, y))
    values = table["svdvals"](x)
    rank = (values > values[0] * float(rcond)).sum(dtype=np.int32)
    solution = table["matmul"](table["pinv"](x, float(rcond)), y)
    rows, columns = x.shape
    if rows <= columns or not bool((beneath(rank) == columns).all()):
        residuals = as_array(np.zeros(0, values.dtype))
    else:
        missed = table["matmul"](x, solution) - y
        squares = table["absolute"](missed) ** 2 if dtype.kind == "c" else missed * missed
        residuals = squares.sum(axis=0, keepdims=y.ndim == 1)
    return solution, residuals, rank, values


@composes(np.linalg.tensorsolve)
def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    """The x with tensordot(a, x, x.ndim) = b.

    Raises
    ------
    LinAlgError
        If `a` is singular, or not square as a matrix from x to b.
    """
    x, y = beside(a, b), beside(b, a)
    if axes is not None:
        order = list(range(x.ndim))
        for k in axes:
            order.remove(k)
            order.insert(x.ndim, k)
        x = transpose(x, order)
    shape = x.shape[-(x.ndim - y.ndim) :]
    size = math.prod(shape)
    if x._d.size != size * size:
        raise LinAlgError(f"tensorsolve: expected a square system of {shape}, got {describe(x, y)}")
    return table["solve"](x.reshape((size, size)), y.ravel()).reshape(shape)


@composes(np.linalg.tensorinv)
def tensorinv(a: Any, ind: int = 2) -> Any:
    """The inverse of a tensordot over the last axes; the first `ind` axes are those of the result.

    Raises
    ------
    LinAlgError
        If `a` is singular or not square as such a matrix.
    ValueError
        If `ind` is not positive.
    """
    x = as_array(a)
    if ind <= 0:
        raise ValueError(f"tensorinv: expected a positive ind, got {ind}")
    rows, columns = x.shape[:ind], x.shape[ind:]
    return table["inv"](x.reshape((math.prod(columns), -1))).reshape((*columns, *rows))


__all__ = ["LinAlgError", "solve", "inv", "det", "slogdet", "cholesky", "pinv", "lstsq"]
__all__ += ["tensorsolve", "tensorinv"]
