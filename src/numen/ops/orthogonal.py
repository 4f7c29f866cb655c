"""The factors of qr, and what completes a basis: qr_parts, qr_rest, svd_u_rest, svd_v_rest.

a = q r with M >= N: r is upper triangular with a real diagonal, as LAPACK makes it. qr_parts holds
the rows of q and then those of r in one matrix. The rest rows hold the columns (of svd's v the
rows) that complete q, u and v to square matrices: any basis of their span would do, so their rules
hold for functions that do not depend on its choice, and a backward pass of others raises
GradientError. Called by `numen.linalg`. Next: `eigen.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numen.dispatch.backends import module_of
from numen.dispatch.primitive import Primitive
from numen.errors import GradientError, describe
from numen.ops.common import constant
from numen.ops.complex_parts import imag
from numen.ops.factors import pinv
from numen.ops.linear_algebra import adjoint, matmul
from numen.ops.matrices import no_matrices, regular, same_batch, solve
from numen.ops.samples import DType, Inputs, Rng
from numen.ops.selection import where
from numen.ops.spectra import packed, refuse_choice, rows_of

# What the rules of qr share. With x = q^H da r^-1: q^H dq is anti-Hermitian and dr r^-1 upper
# triangular with a real diagonal, and they add up to x.


def _below(x: Any) -> Any:
    """The strict lower triangle."""
    n = x.shape[-1]
    return where(constant(np.tril(np.ones((n, n), np.bool_), -1), x), x, 0)


def _phases(x: Any) -> Any:
    """i times the imaginary part of the diagonal; 0 for real matrices."""
    if x.dtype.kind != "c":
        return 0
    return where(constant(np.eye(x.shape[-1], dtype=np.bool_), x), imag(x), 0) * 1j


def _turn(x: Any) -> Any:
    """The anti-Hermitian part q^H dq of x."""
    below = _below(x)
    return below - adjoint(below) + _phases(x)


def _turn_back(k: Any) -> Any:
    """The transpose of `_turn`."""
    return _below(k - adjoint(k)) + _phases(k)


def _over(x: Any, r: Any) -> Any:
    """x r^-1."""
    return adjoint(_solved(adjoint(r), adjoint(x)))


def _over_adjoint(x: Any, r: Any) -> Any:
    """x r^-H."""
    return adjoint(_solved(r, adjoint(x)))


def _solved(r: Any, x: Any) -> Any:
    try:
        return solve(r, x)
    except np.linalg.LinAlgError as error:
        raise GradientError(
            f"backward: qr has no derivative where the columns depend on each other; got "
            f"{describe(r)} of r"
        ) from error


def _outside(x: Any, q: Any) -> Any:
    """What of x is not in the span of q's columns; 0 where they span everything."""
    return 0 if q.shape[-1] == q.shape[-2] else x - matmul(q, matmul(adjoint(q), x))


def _tall(rng: Rng, dtype: DType) -> Inputs:
    shapes = ((3, 3), (4, 2), (2, 3, 2), (1, 1), (2, 0))
    out: Inputs = []
    for shape in shapes:
        n = shape[-1]
        square = regular(rng, (*shape[:-2], max(shape[-2:]), max(shape[-2:])), dtype)
        out.append(((square[..., :n],), {}))
    return out


# qr


def split_qr(parts: Any, m: int) -> tuple[Any, Any]:
    """q and r of qr_parts of matrices of m rows."""
    return rows_of(parts, 0, m), rows_of(parts, m, parts.shape[-2])


def _qr_parts(a: Any) -> Any:
    xp = module_of(a)
    q, r = xp.linalg.qr(a)
    return xp.concatenate([q, r], axis=-2)


def _qr_parts_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any) -> tuple[Any, ...]:
    (q, r), (gq, gr) = split_qr(out, a.shape[-2]), split_qr(g, a.shape[-2])
    k = matmul(gr, adjoint(r))
    within = _turn_back(matmul(adjoint(q), gq) - k) + k
    return (_over_adjoint(matmul(q, within) + _outside(gq, q), r),)


def _qr_parts_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    q, r = split_qr(out, tangents[0].shape[-2])
    moved = _over(tangents[0], r)
    x = matmul(adjoint(q), moved)
    turn = _turn(x)
    return packed(matmul(q, turn) + _outside(moved, q), matmul(x - turn, r))


qr_parts: Primitive = Primitive(
    "qr_parts",
    _qr_parts,
    vjp=_qr_parts_vjp,
    jvp=_qr_parts_jvp,
    batch=same_batch(lambda: qr_parts),
    saves_out=True,
    samples=_tall,
    errors=no_matrices,
    least_ndim=(2,),
)

# The rest of a basis: a^H n = 0 keeps holding, and n^H dn = 0 for lack of anything better, so
# dn = -p^H da^H n with the inverse p of `pinv`


def _inverse(a: Any) -> Any:
    eps = float(np.finfo(a.dtype).eps)
    return pinv(a, eps * max(a.shape[-2:]))


BASIS = "the vectors beyond its factors, of which any basis of their span would do"


def _skew(x: Any) -> Any:
    return x - adjoint(x)


def _columns(name: str, function: str, impl: Callable[[Any], Any]) -> Primitive:
    def vjp(needs: Sequence[bool], g: Any, out: Any, a: Any) -> tuple[Any, ...]:
        refuse_choice(function, BASIS, _skew(matmul(adjoint(out), g)), g)
        return (-matmul(out, adjoint(matmul(_inverse(a), g))),)

    def jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
        (a,), (t,) = args, tangents
        return -matmul(adjoint(_inverse(a)), matmul(adjoint(t), out))

    row: Primitive = Primitive(
        name,
        impl,
        vjp=vjp,
        jvp=jvp,
        batch=same_batch(lambda: row),
        saves=(0,),
        saves_out=True,
        samples=_tall,
        errors=no_matrices,
        least_ndim=(2,),
    )
    return row


def _qr_rest(a: Any) -> Any:
    return module_of(a).linalg.qr(a, mode="complete")[0][..., min(a.shape[-2:]) :]


def _svd_u_rest(a: Any) -> Any:
    return module_of(a).linalg.svd(a)[0][..., min(a.shape[-2:]) :]


def _svd_v_rest(a: Any) -> Any:
    return module_of(a).linalg.svd(a)[2][..., min(a.shape[-2:]) :, :]


def _svd_v_rest_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any) -> tuple[Any, ...]:
    refuse_choice("svd", BASIS, _skew(matmul(out, adjoint(g))), g)
    return (-matmul(adjoint(matmul(g, _inverse(a))), out),)


def _svd_v_rest_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    (a,), (t,) = args, tangents
    return -matmul(matmul(out, adjoint(t)), adjoint(_inverse(a)))


def _wide(rng: Rng, dtype: DType) -> Inputs:
    return [((a.swapaxes(-1, -2),), params) for (a,), params in _tall(rng, dtype)]


qr_rest = _columns("qr_rest", "qr", _qr_rest)
svd_u_rest = _columns("svd_u_rest", "svd", _svd_u_rest)
svd_v_rest: Primitive = Primitive(
    "svd_v_rest",
    _svd_v_rest,
    vjp=_svd_v_rest_vjp,
    jvp=_svd_v_rest_jvp,
    batch=same_batch(lambda: svd_v_rest),
    saves=(0,),
    saves_out=True,
    samples=_wide,
    errors=no_matrices,
    least_ndim=(2,),
)

ROWS = (qr_parts, qr_rest, svd_u_rest, svd_v_rest)
