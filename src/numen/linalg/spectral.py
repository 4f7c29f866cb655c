"""Singular values, eigenvalues and orthogonal factors.

svd and eigh differentiate (`ops/spectra.py`); qr, eig and eigvals have NumPy's values and no
gradient.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch.convert import as_array
from numen.namespace.axes import matrix_transpose
from numen.namespace.calling import composes, host
from numen.ops import table

__all__ = ["svd", "svdvals", "eig", "eigh", "eigvals", "eigvalsh", "qr"]

SVDResult: Any = type(np.linalg.svd(np.ones((1, 1))))
EighResult: Any = type(np.linalg.eigh(np.ones((1, 1))))


@composes(np.linalg.svd)
def svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    """Singular value decomposition a = (U * S) @ Vh, as a tuple of these names.

    Gradients flow with `full_matrices=False` or for square matrices; through U and Vh they hold for
    functions that do not depend on the vectors' signs.

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
    if hermitian or x.ndim < 2 or x._d.dtype.kind == "c":
        return NotImplemented
    if not compute_uv:
        return table["svdvals"](x)
    if (full_matrices and x.shape[-1] != x.shape[-2]) or 0 in x.shape[-2:]:
        return NotImplemented
    return SVDResult(table["svd_u"](x), table["svdvals"](x), table["svd_v"](x))


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
    the vectors it holds for functions that do not depend on their signs.

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
    return EighResult(table["eigvalsh"](x), table["eigh_v"](x))


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
    if which not in ("L", "U") or x.ndim < 2 or x._d.dtype.kind == "c":
        return None
    return x if which == "L" else matrix_transpose(x)


qr = host(
    np.linalg.qr,
    """Orthogonal and upper triangular factor, a = Q @ R.

    No gradient flows through it. See `numpy.linalg.qr`.
    """,
)
eig = host(
    np.linalg.eig,
    """Eigenvalues and eigenvectors (columns) of a square matrix.

    No gradient flows through it. See `numpy.linalg.eig`.
    """,
)
eigvals = host(
    np.linalg.eigvals,
    """Eigenvalues of a square matrix.

    No gradient flows through it. See `numpy.linalg.eigvals`.
    """,
)
