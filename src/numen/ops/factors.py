"""cholesky and pinv: a triangular factor of a Hermitian matrix, and the Moore-Penrose inverse.

Called by `numen.linalg`. Of Hermitian (real: symmetric) matrices the lower triangle is read, and of
its diagonal the real part, so their gradients lie there: `hermitian` and `folded`. Next:
`orthogonal.py` for qr, `spectra.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numen.dispatch.backends import module_of
from numen.dispatch.derived import broadcast_to
from numen.dispatch.primitive import Primitive
from numen.ops.common import constant, ndim, zeros
from numen.ops.linear_algebra import adjoint, even, matmul
from numen.ops.matrices import no_matrices, no_squares, regular, same_batch, solve
from numen.ops.samples import DType, Errors, Inputs, Rng

# Triangles


def _half(x: Any) -> Any:
    """The strict lower triangle and half of the diagonal."""
    n = x.shape[-1]
    weights = (np.tril(np.ones((n, n)), -1) + np.eye(n) / 2).astype(x.dtype)
    return x * constant(weights, x)


def hermitian(x: Any) -> Any:
    """The Hermitian matrix whose lower triangle is x's: what LAPACK reads of one."""
    half = _half(x)
    return half + adjoint(half)


def folded(g: Any) -> Any:
    """The transpose of `hermitian`: the cotangent of the lower triangle."""
    return _half(g + adjoint(g))


# cholesky: the lower factor of a Hermitian matrix, of which the lower triangle is read


def _cholesky(a: Any) -> Any:
    return module_of(a).linalg.cholesky(a)


def _between_inverses(factor: Any, x: Any) -> Any:
    """factor^-1 x factor^-H."""
    return adjoint(solve(factor, adjoint(solve(factor, x))))


def _cholesky_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any) -> tuple[Any, ...]:
    # Murray 2016 (arXiv:1602.07527): s = l^-H half(l^H g) l^-1 in the Hermitian a, folded onto the
    # triangle that is read
    turned = adjoint(out)
    s = _between_inverses(turned, _half(matmul(turned, g)))
    return (folded(s),)


def _cholesky_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    return matmul(out, _half(_between_inverses(out, hermitian(tangents[0]))))


def _cholesky_samples(rng: Rng, dtype: DType) -> Inputs:
    out: Inputs = []
    for shape in ((1, 3, 3), (2, 4, 4), (1, 1)):
        a = regular(rng, shape, dtype) if dtype.kind in "fc" else np.zeros(shape, dtype)
        heavy = np.matmul(a, np.conj(a.swapaxes(-1, -2))) + np.eye(shape[-1], dtype=dtype)
        out.append(((heavy.astype(dtype),), {}))
    return out


def _cholesky_errors() -> Errors:
    return [*no_squares(), ((-np.eye(2),), {}, np.linalg.LinAlgError)]


cholesky: Primitive = Primitive(
    "cholesky",
    _cholesky,
    vjp=_cholesky_vjp,
    jvp=_cholesky_jvp,
    batch=same_batch(lambda: cholesky),
    saves_out=True,
    samples=_cholesky_samples,
    errors=_cholesky_errors,
)


# pinv: singular values up to rcond of the largest count as zero; rcond is a number, or an array of
# one for each matrix


def _pinv(a: Any, rcond: Any) -> Any:
    return module_of(a, rcond).linalg.pinv(a, rcond)


def _pinv_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any, rcond: Any) -> tuple[Any, ...]:
    if not needs[0]:
        return None, None
    # The transpose of _pinv_jvp
    p, pt, gt = out, adjoint(out), adjoint(g)
    through = -matmul(matmul(pt, g), pt)
    left = matmul(matmul(gt, p), pt)
    right = matmul(matmul(pt, p), gt)
    left = left - matmul(a, matmul(p, left))
    right = right - matmul(matmul(right, p), a)
    return through + left + right, None


def _pinv_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    # Golub and Pereyra 1973, at constant rank:
    # -p da p + p p^H da^H (1 - a p) + (1 - p a) da^H p^H p
    (a, _), (t, _) = args, tangents
    if t is None:
        return zeros(tuple(out.shape), out.dtype, out)
    p, pt, tt = out, adjoint(out), adjoint(t)
    left = matmul(matmul(p, pt), tt)
    right = matmul(matmul(tt, pt), p)
    left = left - matmul(matmul(left, a), p)
    right = right - matmul(p, matmul(a, right))
    return left + right - matmul(matmul(p, t), p)


def _pinv_samples(rng: Rng, dtype: DType) -> Inputs:
    return [
        ((regular(rng, (4, 4), dtype)[:, :3], 1e-15), {}),
        ((regular(rng, (2, 3, 3), dtype)[:, :2], 1e-6), {}),
        ((regular(rng, (2, 2), dtype), np.array(1e-6, np.float32)), {}),
        ((regular(rng, (2, 3, 3), dtype)[..., :2], np.array([1e-6, 1e-5], np.float32)), {}),
    ]


def _pinv_errors() -> Errors:
    return [((*args, 1e-15), {}, error) for args, _, error in no_matrices()]


def _pinv_batch(size: int, args: Sequence[Any], axes: Sequence[bool]) -> Any:
    a, rcond = args
    if axes[1]:  # as many matrices as numbers, their other batch axes behind
        a = a if axes[0] else broadcast_to(a, (size, *a.shape))
        rank = max(ndim(rcond), ndim(a) - 2) - 1
        a, rcond = even(a, True, rank + 2), even(rcond, True, rank)
    return pinv(a, rcond)


pinv: Primitive = Primitive(
    "pinv",
    _pinv,
    vjp=_pinv_vjp,
    jvp=_pinv_jvp,
    batch=_pinv_batch,
    saves=(0,),
    saves_out=True,
    samples=_pinv_samples,
    errors=_pinv_errors,
    least_ndim=(2,),
)

ROWS = (cholesky, pinv)
