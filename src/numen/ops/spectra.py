"""The SVD and the Hermitian eigenproblem: svdvals, svd_parts, eigvalsh, eigh_parts.

The parts rows hold all factors as the rows of one matrix, so that one call of LAPACK serves the
values and the derivatives: svd_parts those of u (M, K), of s (K,) and of v (N, K) with
a = u s v^H and K = min(M, N); eigh_parts those of v and w of a Hermitian matrix, of which the lower
triangle is read. Vectors are unique up to sign, complex ones up to a factor of modulus 1 (of the
columns of u and v together): the rules hold for functions that do not depend on it, and a backward
pass of others raises GradientError. Vectors of equal values have no derivative: their gradient is
NaN, except where nothing depends on them.
Called by `numen.linalg`. Next: `eigen.py` for general matrices, `orthogonal.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numen.dispatch import modes
from numen.dispatch.backends import module_of
from numen.dispatch.core import unwrap
from numen.dispatch.derived import times
from numen.dispatch.primitive import Primitive
from numen.errors import GradientError
from numen.ops.common import constant
from numen.ops.comparisons import equal
from numen.ops.complex_parts import imag, real
from numen.ops.factors import folded, hermitian
from numen.ops.indexing import getitem
from numen.ops.joining import concatenate
from numen.ops.linear_algebra import adjoint, column, flip, matmul, row
from numen.ops.matrices import no_matrices, no_squares, same_batch
from numen.ops.reductions import sum
from numen.ops.samples import DType, Inputs, Rng, distinct, draw
from numen.ops.selection import where

# What the rules share


def rows_of(x: Any, start: int, stop: int) -> Any:
    """Some rows of each matrix."""
    return getitem(x, index=(*(slice(None),) * (len(x.shape) - 2), slice(start, stop, 1)))


def last_row(x: Any, at: int) -> Any:
    """One row of each matrix, as a vector."""
    return getitem(x, index=(*(slice(None),) * (len(x.shape) - 2), at))


def packed(*parts: Any) -> Any:
    """Matrices of as many columns below each other."""
    return concatenate(*parts, axis=len(parts[0].shape) - 2)


def reciprocal(x: Any) -> Any:
    """1 / x, NaN where x is 0: there the vectors have no derivative."""
    zero = equal(x, 0)
    return where(zero, np.nan, 1 / where(zero, 1, x))


def gaps(values: Any) -> Any:
    """1 / (values_j - values_i) as a matrix, 0 on its diagonal."""
    same = constant(np.eye(values.shape[-1], dtype=np.bool_), values)
    between = row(values) - column(values)
    return where(same, 0, reciprocal(where(same, 1, between)))


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
    return where(same, times(imag(p), row(reciprocal(s)) / 2), 0) * 1j


def refuse_choice(name: str, choice: str, excess: Any, g: Any) -> None:
    """Refuse a cotangent g that depends on a choice of LAPACK's, where its values are known: then
    `excess` is not 0.

    Raises
    ------
    GradientError
        If an element of `excess` is more than rounding makes it.
    """
    if modes.ACTIVE or not excess.shape or 0 in excess.shape:
        return
    data, scale = unwrap(excess), unwrap(g)
    xp = module_of(data)
    if xp.absolute(data).max() > xp.absolute(scale).max() * float(np.finfo(data.dtype).eps) ** 0.5:
        raise GradientError(
            f"backward: {name} has no derivative through {choice}, except of functions that do not "
            "depend on the choice"
        )


def phase_excess(*products: Any) -> Any:
    """The imaginary part of the diagonal of x^H g, summed over factors x with cotangents g: what a
    function changes when the phases of their columns do."""
    same = constant(np.eye(products[0].shape[-1], dtype=np.bool_), products[0])
    total = None
    for product in products:
        part = where(same, imag(product), 0)
        total = part if total is None else total + part
    return total


PHASES = "the phases of its vectors, of which any would do"


def diagonal_of_product(a: Any, b: Any) -> Any:
    """The diagonal of a b."""
    return sum(a * flip(b), axis=(len(a.shape) - 1,), keepdims=False)


def _outside(x: Any, basis: Any, s: Any) -> Any:
    """x without its part in the span of the orthonormal columns of `basis`, over s; 0 where they
    span everything."""
    if basis.shape[-2] == basis.shape[-1]:
        return 0
    return times(x - matmul(basis, matmul(adjoint(basis), x)), row(reciprocal(s)))


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


def split_svd(parts: Any, m: int) -> tuple[Any, Any, Any]:
    """u, s and v of svd_parts of matrices of m rows."""
    u, v = rows_of(parts, 0, m), rows_of(parts, m + 1, parts.shape[-2])
    return u, real(last_row(parts, m)), v


def _svdvals(a: Any) -> Any:
    return module_of(a).linalg.svd(a, compute_uv=False)


def _svdvals_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any) -> tuple[Any, ...]:
    u, _, v = split_svd(svd_parts(a), a.shape[-2])
    return (matmul(u * row(g), adjoint(v)),)


def _svdvals_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    (a,), (t,) = args, tangents
    u, _, v = split_svd(svd_parts(a), a.shape[-2])
    return real(diagonal_of_product(matmul(adjoint(u), t), v))


svdvals: Primitive = Primitive(
    "svdvals",
    _svdvals,
    vjp=_svdvals_vjp,
    jvp=_svdvals_jvp,
    batch=same_batch(lambda: svdvals),
    saves=(0,),
    samples=_matrices,
    errors=no_matrices,
    least_ndim=(2,),
)


def _svd_parts(a: Any) -> Any:
    xp = module_of(a)
    u, s, v = xp.linalg.svd(a, full_matrices=False)
    return xp.concatenate([u, s[..., None, :], xp.conj(xp.swapaxes(v, -1, -2))], axis=-2)


def _svd_parts_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any) -> tuple[Any, ...]:
    # The transpose of _svd_parts_jvp
    m = a.shape[-2]
    u, s, v = split_svd(out, m)
    gu, gs, gv = split_svd(g, m)
    left, right = matmul(adjoint(u), gu), matmul(adjoint(v), gv)
    if out.dtype.kind == "c":
        refuse_choice("svd", PHASES, phase_excess(left, right), g)
    by_column, by_row = _couplings(s)
    within = times(left - adjoint(left), by_column) + times(right - adjoint(right), by_row)
    within = within + _turns(left, s) - _turns(right, s)
    inner = matmul(u, within) + u * row(gs) + _outside(gu, u, s)
    result = matmul(inner, adjoint(v))
    outside = _outside(gv, v, s)
    return (result if isinstance(outside, int) else result + matmul(u, adjoint(outside)),)


def _svd_parts_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    # With p = u^H da v and couplings c: u (c_j p + c_i p^H) and v (c_i p + c_j p^H), and what lies
    # outside their spans
    (t,) = tangents
    u, s, v = split_svd(out, t.shape[-2])
    moved, turned = matmul(t, v), matmul(adjoint(t), u)
    p, (by_column, by_row) = matmul(adjoint(u), moved), _couplings(s)
    q, turns = adjoint(p), _turns(p, s)
    tu = matmul(u, times(p, by_column) + times(q, by_row) + turns) + _outside(moved, u, s)
    tv = matmul(v, times(p, by_row) + times(q, by_column) - turns) + _outside(turned, v, s)
    return packed(tu, row(real(diagonal_of_product(adjoint(u), moved))), tv)


svd_parts: Primitive = Primitive(
    "svd_parts",
    _svd_parts,
    vjp=_svd_parts_vjp,
    jvp=_svd_parts_jvp,
    batch=same_batch(lambda: svd_parts),
    saves_out=True,
    samples=_matrices,
    errors=no_matrices,
    least_ndim=(2,),
)


# eigh


def split_eigen(parts: Any) -> tuple[Any, Any]:
    """v and w of eigh_parts and of eig_parts; of the former, w is real."""
    n = parts.shape[-1]
    return rows_of(parts, 0, n), last_row(parts, n)


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
    v, _ = split_eigen(eigh_parts(a))
    return (folded(matmul(v * row(g), adjoint(v))),)


def _eigvalsh_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    v, _ = split_eigen(eigh_parts(args[0]))
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
    least_ndim=(2,),
)


def _eigh_parts(a: Any) -> Any:
    xp = module_of(a)
    w, v = xp.linalg.eigh(a)
    return xp.concatenate([v, w[..., None, :]], axis=-2)


def _eigh_parts_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any) -> tuple[Any, ...]:
    (v, w), (gv, gw) = split_eigen(out), split_eigen(g)
    left = matmul(adjoint(v), gv)
    if out.dtype.kind == "c":
        refuse_choice("eigh", PHASES, phase_excess(left), g)
    within = times((left - adjoint(left)) / 2, gaps(real(w)))  # the rest would be folded to 0
    return (folded(matmul(matmul(v, within) + v * row(real(gw)), adjoint(v))),)


def _eigh_parts_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    v, w = split_eigen(out)
    moved = matmul(matmul(adjoint(v), hermitian(tangents[0])), v)
    same = constant(np.eye(v.shape[-1], dtype=np.bool_), v)
    slopes = sum(where(same, moved, 0), axis=(len(v.shape) - 1,), keepdims=False)
    return packed(matmul(v, times(moved, gaps(real(w)))), row(real(slopes)))


eigh_parts: Primitive = Primitive(
    "eigh_parts",
    _eigh_parts,
    vjp=_eigh_parts_vjp,
    jvp=_eigh_parts_jvp,
    batch=same_batch(lambda: eigh_parts),
    saves_out=True,
    samples=_symmetric_samples,
    errors=no_squares,
    least_ndim=(2,),
)

ROWS = (svdvals, svd_parts, eigvalsh, eigh_parts)
