"""The parts of the SVD and of the symmetric eigenproblem, one row each, so that all differentiate.

svdvals, svd_u, svd_v: a = u s v with min(M, N) columns in u. eigvalsh, eigh_v: of a symmetric
matrix, of which the lower triangle is read. Vectors are unique up to sign; where two values are
equal they have no derivative, and their gradient is NaN. Called by `numen.linalg`. Next:
`norms.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numen.dispatch.backends import module_of
from numen.dispatch.primitive import Primitive
from numen.ops.common import constant
from numen.ops.comparisons import equal
from numen.ops.factors import folded, symmetric
from numen.ops.linear_algebra import column, flip, matmul, row
from numen.ops.matrices import no_matrices, no_squares, same_batch
from numen.ops.reductions import sum
from numen.ops.samples import DType, Inputs, Rng, distinct, draw
from numen.ops.selection import where

# What the rules share


def _reciprocal(x: Any) -> Any:
    """1 / x, NaN where x is 0: there the vectors have no derivative."""
    zero = equal(x, 0)
    return where(zero, np.nan, 1 / where(zero, 1, x))


def _gaps(values: Any) -> Any:
    """1 / (values_j - values_i) as a matrix, 0 on its diagonal."""
    same = constant(np.eye(values.shape[-1], dtype=np.bool_), values)
    gaps = row(values) - column(values)
    return where(same, 0, _reciprocal(where(same, 1, gaps)))


def _couplings(s: Any) -> tuple[Any, Any]:
    """s_j / (s_j^2 - s_i^2) and s_i / (s_j^2 - s_i^2)."""
    gaps = _gaps(s * s)
    return gaps * row(s), gaps * column(s)


def _diagonal_of_product(a: Any, b: Any) -> Any:
    """The diagonal of a b."""
    return sum(a * flip(b), axis=(len(a.shape) - 1,), keepdims=False)


def _outside(x: Any, basis: Any, s: Any) -> Any:
    """x without its part in the span of the orthonormal columns of `basis`, over s; 0 where they
    span everything."""
    if basis.shape[-2] == basis.shape[-1]:
        return 0
    return (x - matmul(basis, matmul(flip(basis), x))) * row(_reciprocal(s))


def _spread_values(rng: Rng, shape: tuple[int, ...], dtype: DType) -> Any:
    """Matrices whose singular values lie apart: noise beside a ramp on the diagonal."""
    noise = draw(rng, shape, dtype, -1.0, 1.0)
    if dtype.kind in "fc":
        noise = noise * 0.3
    ramp = np.zeros(shape)
    n = min(shape[-2:])
    ramp[..., np.arange(n), np.arange(n)] = np.arange(1, n + 1)
    return noise | (ramp > 0) if dtype.kind == "b" else (noise + ramp).astype(dtype)


def _matrices(rng: Rng, dtype: DType) -> Inputs:
    shapes = ((3, 3), (1, 4, 2), (2, 2, 3), (1, 1))
    return [((_spread_values(rng, shape, dtype),), {}) for shape in shapes]


# svd


def _svdvals(a: Any) -> Any:
    return module_of(a).linalg.svd(a, compute_uv=False)


def _svdvals_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any) -> tuple[Any, ...]:
    return (matmul(svd_u(a) * row(g), svd_v(a)),)


def _svdvals_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    (a,), (t,) = args, tangents
    return _diagonal_of_product(matmul(flip(svd_u(a)), t), flip(svd_v(a)))


svdvals: Primitive = Primitive(
    "svdvals",
    _svdvals,
    vjp=_svdvals_vjp,
    jvp=_svdvals_jvp,
    batch=same_batch(lambda: svdvals),
    saves=(0,),
    samples=_matrices,
    errors=no_matrices,
)


def _svd_u(a: Any) -> Any:
    return module_of(a).linalg.svd(a, full_matrices=False)[0]


def _svd_u_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any) -> tuple[Any, ...]:
    # The transpose of _svd_u_jvp
    s, v = svdvals(a), svd_v(a)
    turn = matmul(flip(out), g)
    p = _couplings(s)[0] * (turn - flip(turn))
    return (matmul(matmul(out, p) + _outside(g, out, s), v),)


def _svd_u_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    # u (c_j * p + c_i * p^T) with p = u^T da v^T and couplings c, and what lies outside u's span
    (a,), (t,) = args, tangents
    s, moved = svdvals(a), matmul(t, flip(svd_v(a)))
    p, (by_column, by_row) = matmul(flip(out), moved), _couplings(s)
    return matmul(out, by_column * p + by_row * flip(p)) + _outside(moved, out, s)


svd_u: Primitive = Primitive(
    "svd_u",
    _svd_u,
    vjp=_svd_u_vjp,
    jvp=_svd_u_jvp,
    batch=same_batch(lambda: svd_u),
    saves=(0,),
    saves_out=True,
    samples=_matrices,
    errors=no_matrices,
)


def _svd_v(a: Any) -> Any:
    return module_of(a).linalg.svd(a, full_matrices=False)[2]


def _svd_v_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any) -> tuple[Any, ...]:
    s, basis, turned = svdvals(a), flip(out), flip(g)
    turn = matmul(out, turned)
    p = _couplings(s)[1] * (turn - flip(turn))
    outside = _outside(turned, basis, s)
    within = matmul(p, out)
    return (matmul(svd_u(a), within if isinstance(outside, int) else within + flip(outside)),)


def _svd_v_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    (a,), (t,) = args, tangents
    s, basis = svdvals(a), flip(out)
    moved = matmul(flip(t), svd_u(a))
    p, (by_column, by_row) = flip(matmul(out, moved)), _couplings(s)
    return flip(matmul(basis, by_row * p + by_column * flip(p)) + _outside(moved, basis, s))


svd_v: Primitive = Primitive(
    "svd_v",
    _svd_v,
    vjp=_svd_v_vjp,
    jvp=_svd_v_jvp,
    batch=same_batch(lambda: svd_v),
    saves=(0,),
    saves_out=True,
    samples=_matrices,
    errors=no_matrices,
)


# eigh


def _symmetric_samples(rng: Rng, dtype: DType) -> Inputs:
    out: Inputs = []
    for shape in ((3, 3), (2, 4, 4), (1, 1)):
        noise = draw(rng, shape, dtype, -1.0, 1.0)
        noise = noise * 0.3 if dtype.kind in "fc" else noise
        ramp = distinct(rng, (shape[-1],), np.dtype(np.float64), 1.0)
        a = noise | np.eye(shape[-1], dtype=bool) if dtype.kind == "b" else noise + np.diag(ramp)
        out.append(((a.astype(dtype),), {}))
    return out


def _eigvalsh(a: Any) -> Any:
    return module_of(a).linalg.eigvalsh(a)


def _eigvalsh_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any) -> tuple[Any, ...]:
    v = eigh_v(a)
    return (folded(matmul(v * row(g), flip(v))),)


def _eigvalsh_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    v = eigh_v(args[0])
    return _diagonal_of_product(matmul(flip(v), symmetric(tangents[0])), v)


eigvalsh: Primitive = Primitive(
    "eigvalsh",
    _eigvalsh,
    vjp=_eigvalsh_vjp,
    jvp=_eigvalsh_jvp,
    batch=same_batch(lambda: eigvalsh),
    saves=(0,),
    samples=_symmetric_samples,
    errors=no_squares,
)


def _eigh_v(a: Any) -> Any:
    return module_of(a).linalg.eigh(a)[1]


def _eigh_v_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any) -> tuple[Any, ...]:
    turned = flip(out)
    turn = _gaps(eigvalsh(a)) * matmul(turned, g)
    return (folded(matmul(matmul(out, turn), turned)),)


def _eigh_v_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    moved = matmul(matmul(flip(out), symmetric(tangents[0])), out)
    return matmul(out, _gaps(eigvalsh(args[0])) * moved)


eigh_v: Primitive = Primitive(
    "eigh_v",
    _eigh_v,
    vjp=_eigh_v_vjp,
    jvp=_eigh_v_jvp,
    batch=same_batch(lambda: eigh_v),
    saves=(0,),
    saves_out=True,
    samples=_symmetric_samples,
    errors=no_squares,
)

ROWS = (svdvals, svd_u, svd_v, eigvalsh, eigh_v)
