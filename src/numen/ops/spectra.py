"""The parts of the SVD and of the Hermitian eigenproblem, one row each, so that all differentiate.

svdvals, svd_u, svd_v: a = u s v with min(M, N) columns in u. eigvalsh, eigh_v: of a Hermitian
matrix, of which the lower triangle is read. Vectors are unique up to sign, complex ones up to a
factor of modulus 1 (of a column of u and the row of v together), and their rules hold for functions
that do not depend on it. Where two values are equal the vectors have no derivative, and their
gradient is NaN. Called by `numen.linalg`. Next: `eigen.py` for general matrices, `orthogonal.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numen.dispatch.backends import module_of
from numen.dispatch.primitive import Primitive
from numen.ops.common import constant
from numen.ops.comparisons import equal
from numen.ops.complex_parts import imag, real
from numen.ops.factors import folded, hermitian
from numen.ops.linear_algebra import adjoint, column, flip, matmul, row
from numen.ops.matrices import no_matrices, no_squares, same_batch
from numen.ops.reductions import sum
from numen.ops.samples import DType, Inputs, Rng, distinct, draw
from numen.ops.selection import where

# What the rules share


def reciprocal(x: Any) -> Any:
    """1 / x, NaN where x is 0: there the vectors have no derivative."""
    zero = equal(x, 0)
    return where(zero, np.nan, 1 / where(zero, 1, x))


def gaps(values: Any) -> Any:
    """1 / (values_j - values_i) as a matrix, 0 on its diagonal."""
    same = constant(np.eye(values.shape[-1], dtype=np.bool_), values)
    gaps = row(values) - column(values)
    return where(same, 0, reciprocal(where(same, 1, gaps)))


def _couplings(s: Any) -> tuple[Any, Any]:
    """s_j / (s_j^2 - s_i^2) and s_i / (s_j^2 - s_i^2)."""
    between = gaps(s * s)
    return between * row(s), between * column(s)


def _turns(p: Any, s: Any) -> Any:
    """(p - p^H) / 4 s on the diagonal: half of what turns the phases of u and v apart, whose sum is
    free; 0 for real matrices."""
    if p.dtype.kind != "c":
        return 0
    same = constant(np.eye(s.shape[-1], dtype=np.bool_), s)
    return where(same, imag(p) * row(reciprocal(s)) / 2, 0) * 1j


def diagonal_of_product(a: Any, b: Any) -> Any:
    """The diagonal of a b."""
    return sum(a * flip(b), axis=(len(a.shape) - 1,), keepdims=False)


def _outside(x: Any, basis: Any, s: Any) -> Any:
    """x without its part in the span of the orthonormal columns of `basis`, over s; 0 where they
    span everything."""
    if basis.shape[-2] == basis.shape[-1]:
        return 0
    return (x - matmul(basis, matmul(adjoint(basis), x))) * row(reciprocal(s))


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
    return real(diagonal_of_product(matmul(adjoint(svd_u(a)), t), adjoint(svd_v(a))))


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
    turn = matmul(adjoint(out), g)
    p = _couplings(s)[0] * (turn - adjoint(turn)) + _turns(turn, s)
    return (matmul(matmul(out, p) + _outside(g, out, s), v),)


def _svd_u_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    # u (c_j * p + c_i * p^H) with p = u^H da v^H and couplings c, and what lies outside u's span
    (a,), (t,) = args, tangents
    s, moved = svdvals(a), matmul(t, adjoint(svd_v(a)))
    p, (by_column, by_row) = matmul(adjoint(out), moved), _couplings(s)
    within = by_column * p + by_row * adjoint(p) + _turns(p, s)
    return matmul(out, within) + _outside(moved, out, s)


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
    s, basis, turned = svdvals(a), adjoint(out), adjoint(g)
    turn = matmul(out, turned)
    p = _couplings(s)[1] * (turn - adjoint(turn)) - _turns(turn, s)
    outside = _outside(turned, basis, s)
    within = matmul(p, out)
    return (matmul(svd_u(a), within if isinstance(outside, int) else within + adjoint(outside)),)


def _svd_v_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    (a,), (t,) = args, tangents
    s, basis = svdvals(a), adjoint(out)
    moved = matmul(adjoint(t), svd_u(a))
    p, (by_column, by_row) = adjoint(matmul(out, moved)), _couplings(s)
    within = by_row * p + by_column * adjoint(p) - _turns(p, s)
    return adjoint(matmul(basis, within) + _outside(moved, basis, s))


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
    return (folded(matmul(v * row(g), adjoint(v))),)


def _eigvalsh_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    v = eigh_v(args[0])
    return real(diagonal_of_product(matmul(adjoint(v), hermitian(tangents[0])), v))


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
    turned = adjoint(out)
    turn = gaps(eigvalsh(a)) * matmul(turned, g)
    return (folded(matmul(matmul(out, turn), turned)),)


def _eigh_v_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    moved = matmul(matmul(adjoint(out), hermitian(tangents[0])), out)
    return matmul(out, gaps(eigvalsh(args[0])) * moved)


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
