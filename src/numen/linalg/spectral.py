"""Singular values, eigenvalues and orthogonal factors.

All differentiate, by the rows of `ops/spectra.py`, `ops/eigen.py` and `ops/orthogonal.py`.
Eigenvectors and singular vectors are unique up to a sign, complex ones up to a phase: a gradient
through them holds for functions that do not depend on it (a backward pass of what depends on phases
raises), and is NaN where two values are equal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch.convert import as_array
from numen.namespace.calling import composes
from numen.namespace.selecting import take_along_axis
from numen.ops import table
from numen.ops.common import zeros
from numen.ops.complex_parts import real
from numen.ops.eigen import are_real
from numen.ops.linear_algebra import adjoint, matmul, row
from numen.ops.orthogonal import split_qr
from numen.ops.spectra import split_eigen, split_svd

__all__ = ["svd", "svdvals", "eig", "eigh", "eigvals", "eigvalsh", "qr"]

SVDResult: Any = type(np.linalg.svd(np.ones((1, 1))))
EighResult: Any = type(np.linalg.eigh(np.ones((1, 1))))
EigResult: Any = type(np.linalg.eig(np.ones((1, 1))))
QRResult: Any = type(np.linalg.qr(np.ones((1, 1))))


@composes(np.linalg.svd)
def svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    """Singular value decomposition a = (U * S) @ Vh, as a tuple of these names.

    Through U and Vh gradients hold for functions that do not depend on the vectors' signs (complex:
    on a common phase of a column of U and the row of Vh). The vectors beyond min(M, N) that
    `full_matrices` adds are any basis: a backward pass of what depends on its choice raises.

    Raises
    ------
    LinAlgError
        If it does not converge.

    Examples
    --------
    >>> import numen as nm
    >>> from numen.linalg import svd
    >>> svd(nm.array([[3.0, 0.0], [0.0, -2.0]])).S
    array([3., 2.])
    """
    x = as_array(a)
    if x.ndim < 2:
        return NotImplemented
    if hermitian:
        return _of_hermitian(x, compute_uv)
    if not compute_uv:
        return table["svdvals"](x)
    rows, columns = x.shape[-2:]
    u, s, v = _own(*split_svd(table["svd_parts"](x), rows))
    v = adjoint(v)
    if full_matrices and rows > columns:
        u = table["concatenate"](u, table["svd_u_rest"](x), axis=x.ndim - 1)
    elif full_matrices and rows < columns:
        v = table["concatenate"](v, table["svd_v_rest"](x), axis=x.ndim - 2)
    return SVDResult(u, s, v)


def _own(*parts: Any) -> list[Any]:
    """Copies: results that share no memory with what holds all of them."""
    return [table["copy"](part) for part in parts]


def _of_hermitian(x: Any, compute_uv: bool) -> Any:
    """The SVD from the eigenvalues: their sizes, the largest first."""
    if compute_uv:
        vectors, values = split_eigen(table["eigh_parts"](x))
        values = real(values)
    else:
        values = table["eigvalsh"](x)
    sizes = table["absolute"](values)
    order = table["argsort"](sizes, axis=x.ndim - 2, kind=None)[..., ::-1]
    sizes = take_along_axis(sizes, order, -1)
    if not compute_uv:
        return sizes
    signs = take_along_axis(table["copysign"](1.0, values), order, -1)
    u = take_along_axis(vectors, row(order), -1)
    return SVDResult(u, sizes, adjoint(u * row(signs)))


@composes(np.linalg.svdvals)
def svdvals(x: Any, /) -> Any:
    """The singular values of a matrix, the largest first.

    Raises
    ------
    LinAlgError
        If the SVD does not converge.
    """
    return table["svdvals"](as_array(x))


@composes(np.linalg.eigh)
def eigh(a: Any, UPLO: str = "L") -> Any:
    """Eigenvalues, ascending, and eigenvectors (columns) of a symmetric or Hermitian matrix.

    Only the lower ("L") or upper ("U") triangle of `a` is read, so the gradient lies on it; through
    the vectors it holds for functions that do not depend on their signs or phases.

    Raises
    ------
    LinAlgError
        If it does not converge or `a` is not square.
    ValueError
        If `UPLO` is another letter.

    Examples
    --------
    >>> import numen as nm
    >>> from numen.linalg import eigh
    >>> eigh(nm.array([[2.0, 0.0], [0.0, 1.0]])).eigenvalues
    array([1., 2.])
    """
    x = _read(a, UPLO)
    if x is None:
        return NotImplemented
    vectors, values = split_eigen(table["eigh_parts"](x))
    return EighResult(*_own(real(values), vectors))


@composes(np.linalg.eigvalsh)
def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    """Eigenvalues of a symmetric or Hermitian matrix, ascending; see `eigh`.

    Raises
    ------
    LinAlgError
        If it does not converge or `a` is not square.
    """
    x = _read(a, UPLO)
    return NotImplemented if x is None else table["eigvalsh"](x)


def _read(a: Any, triangle: str) -> Any:
    """The matrix whose lower triangle is to be read; None where NumPy must compute or complain."""
    x = as_array(a)
    which = triangle.upper()
    if which not in ("L", "U") or x.ndim < 2:
        return None
    return x if which == "L" else adjoint(x)


@composes(np.linalg.eig)
def eig(a: Any) -> Any:
    """Eigenvalues and eigenvectors (columns) of a square matrix.

    They are complex, except of a real matrix whose eigenvalues are all real. The vectors have
    length 1; a gradient through them holds for functions that do not depend on their phases.

    Raises
    ------
    LinAlgError
        If it does not converge or `a` is not square.

    Examples
    --------
    >>> import numen as nm
    >>> from numen.linalg import eig
    >>> x = nm.array([[1.0, 2.0], [0.0, 3.0]], requires_grad=True)
    >>> eig(x).eigenvalues.max().backward()
    >>> x.grad
    array([[0., 0.],
           [1., 1.]])
    """
    x = as_array(a)
    if x.ndim < 2:
        return NotImplemented
    vectors, values = split_eigen(table["eig_parts"](x))
    if are_real(x, values):
        vectors, values = real(vectors), real(values)
    return EigResult(*_own(values, vectors))


@composes(np.linalg.eigvals)
def eigvals(a: Any) -> Any:
    """Eigenvalues of a square matrix; see `eig`.

    Raises
    ------
    LinAlgError
        If it does not converge or `a` is not square.
    """
    x = as_array(a)
    if x.ndim < 2:
        return NotImplemented
    _, values = split_eigen(table["eig_parts"](x))
    return table["copy"](real(values) if are_real(x, values) else values)


@composes(np.linalg.qr)
def qr(a: Any, mode: str = "reduced") -> Any:
    """Orthogonal and upper triangular factor, a = Q @ R.

    Parameters
    ----------
    a : (..., M, N) array_like
    mode : {"reduced", "complete", "r", "raw"}
        K = min(M, N) columns in Q and rows in R, or M; R alone; or LAPACK's own form, which has no
        gradient. The columns of Q beyond K are any basis: a backward pass of what depends on its
        choice raises, as one of a matrix whose first K columns depend on each other does.

    Raises
    ------
    LinAlgError
        If `a` is no matrix.
    ValueError
        If there is no such mode.

    Examples
    --------
    >>> import numen as nm
    >>> from numen.linalg import qr
    >>> x = nm.array([[3.0, 1.0], [4.0, 2.0]], requires_grad=True)
    >>> abs(qr(x).R[0, 0]).backward()
    >>> x.grad.round(6)
    array([[0.6, 0. ],
           [0.8, 0. ]])
    """
    x = as_array(a)
    if mode not in ("reduced", "complete", "r") or x.ndim < 2:
        return NotImplemented
    rows, columns = x.shape[-2:]
    first = x if rows >= columns else x[..., :rows]
    q, r = _own(*split_qr(table["qr_parts"](first), rows))
    if rows < columns:
        r = table["concatenate"](r, matmul(adjoint(q), x[..., rows:]), axis=x.ndim - 1)
    elif mode == "complete" and rows > columns:
        below = zeros((*x.shape[:-2], rows - columns, columns), r.dtype, r)
        r = table["concatenate"](r, below, axis=x.ndim - 2)
        q = table["concatenate"](q, table["qr_rest"](x), axis=x.ndim - 1)
    return r if mode == "r" else QRResult(q, r)
