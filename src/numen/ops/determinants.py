"""det, and its first and second derivative, which are finite for singular matrices too.

cofactor is the derivative of det, cofactor_slope that of cofactor: both come from an SVD, without
an inverse. Called by `numen.linalg.det`. Next: `factors.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numen.dispatch.backends import module_of
from numen.dispatch.derived import conj
from numen.dispatch.primitive import Primitive
from numen.ops.common import add_tangents, ndim
from numen.ops.linear_algebra import column, even, flip, matmul
from numen.ops.matrices import inner, inv, no_matrices, no_squares, same_batch, square_samples
from numen.ops.samples import DType, Errors, Inputs, Rng, draw

# det


def _det(a: Any) -> Any:
    return module_of(a).linalg.det(a)


def _det_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any) -> tuple[Any, ...]:
    return (column(column(g)) * conj(cofactor(a)),)


def _det_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    return inner(cofactor(args[0]), tangents[0])


det: Primitive = Primitive(
    "det",
    _det,
    vjp=_det_vjp,
    jvp=_det_jvp,
    batch=same_batch(lambda: det),
    saves=(0,),
    samples=square_samples,
    errors=no_squares,
    least_ndim=(2,),
)

# cofactor: det(a) a^-T. With the SVD a = u s v it is cofactor(u) cofactor(s) cofactor(v), and
# cofactor(u) = det(u) conj(u) for a unitary matrix.


def _cofactor(a: Any) -> Any:
    xp = module_of(a)
    u, s, v = xp.linalg.svd(a)
    n = s.shape[-1]
    others = xp.where(xp.eye(n, dtype=bool), xp.ones((), s.dtype), s[..., None, :])
    products = xp.prod(others, axis=-1)  # (..., n): of all singular values but one
    turn = xp.linalg.det(u) * xp.linalg.det(v)  # of modulus 1
    scaled = xp.conj(u) * (turn[..., None] * products)[..., None, :]
    return xp.matmul(scaled, xp.conj(v))


def _cofactor_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any) -> tuple[Any, ...]:
    # cofactor_slope is symmetric in its direction and its cotangent: the second derivative of det
    return (conj(cofactor_slope(a, conj(g))),)


def _cofactor_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    return cofactor_slope(args[0], tangents[0])


cofactor: Primitive = Primitive(
    "cofactor",
    _cofactor,
    vjp=_cofactor_vjp,
    jvp=_cofactor_jvp,
    batch=same_batch(lambda: cofactor),
    saves=(0,),
    samples=square_samples,
    errors=no_matrices,
    least_ndim=(2,),
)

# cofactor_slope: the derivative of cofactor in a direction t. Of a diagonal matrix s in direction m
# it is, with p_ij the product of all s but s_i and s_j: sum over k of p_ik m_kk on the diagonal,
# -p_ij m_ji off it.


def _products_but_two(xp: Any, s: Any) -> Any:
    """(..., n, n): the products of all s but two, 0 on the diagonal."""
    n = s.shape[-1]
    at, one = xp.arange(n), xp.ones((), s.dtype)
    wide = s[..., None, :]
    before = xp.prod(xp.where(at[None, :] < at[:, None], wide, one), axis=-1)
    after = xp.prod(xp.where(at[None, :] > at[:, None], wide, one), axis=-1)
    # Between i and j: running products along j of what lies behind i, one place later
    behind = xp.cumprod(xp.where(at[None, :] > at[:, None], wide, one), axis=-1)
    between = xp.concatenate([xp.ones_like(behind[..., :1]), behind[..., :-1]], axis=-1)
    upper = before[..., :, None] * between * after[..., None, :]
    upper = xp.where(at[None, :] > at[:, None], upper, xp.zeros((), s.dtype))
    return upper + xp.swapaxes(upper, -1, -2)


def _cofactor_slope(a: Any, t: Any) -> Any:
    xp = module_of(a, t)
    u, s, v = xp.linalg.svd(a)
    m = xp.matmul(xp.matmul(xp.conj(xp.swapaxes(u, -1, -2)), t), xp.conj(xp.swapaxes(v, -1, -2)))
    products = _products_but_two(xp, s)
    kept = xp.matmul(products, xp.diagonal(m, axis1=-2, axis2=-1)[..., None])
    middle = xp.where(xp.eye(s.shape[-1], dtype=bool), kept, -products * xp.swapaxes(m, -1, -2))
    turn = xp.linalg.det(u) * xp.linalg.det(v)
    return xp.matmul(xp.matmul(xp.conj(u) * turn[..., None, None], middle), xp.conj(v))


def _slope_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any, t: Any) -> tuple[Any, ...]:
    by_direction = conj(cofactor_slope(a, conj(g))) if needs[1] else None
    if not needs[0]:
        return None, by_direction
    return conj(_second_slope(a, t, conj(g))), by_direction


def _second_slope(a: Any, t: Any, w: Any) -> Any:
    """The derivative of cofactor_slope(a, t) in direction w of a: of a regular matrix, where it is
    <a^-T, t> c - a^-T t^T c with the cofactors c. Symmetric in t and w."""
    turned = flip(inv(a))
    moved = -matmul(matmul(turned, flip(w)), turned)  # of the inverse, transposed
    c, slope = cofactor(a), cofactor_slope(a, w)
    by_sum = column(column(inner(moved, t))) * c + column(column(inner(turned, t))) * slope
    return by_sum - matmul(matmul(moved, flip(t)), c) - matmul(matmul(turned, flip(t)), slope)


def _slope_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    (a, t), (ta, tt) = args, tangents
    return add_tangents(
        None if ta is None else _second_slope(a, t, ta),
        None if tt is None else cofactor_slope(a, tt),
    )


def _slope_batch(size: int, args: Sequence[Any], axes: Sequence[bool]) -> Any:
    rank = max(ndim(x) - t for x, t in zip(args, axes, strict=True))
    return cofactor_slope(*[even(x, t, rank) for x, t in zip(args, axes, strict=True)])


def _slope_samples(rng: Rng, dtype: DType) -> Inputs:
    return [
        ((a, draw(rng, a.shape, dtype)), params)
        for (a,), params in square_samples(rng, dtype)
        if a.shape[-1] > 1
    ]


def _slope_errors() -> Errors:
    return [((np.ones(3), np.ones((3, 3))), {}, np.linalg.LinAlgError)]


cofactor_slope: Primitive = Primitive(
    "cofactor_slope",
    _cofactor_slope,
    vjp=_slope_vjp,
    jvp=_slope_jvp,
    batch=_slope_batch,
    saves_for=((0, 1), (0,)),
    samples=_slope_samples,
    errors=_slope_errors,
    least_ndim=(2, 2),
)

ROWS = (det, cofactor, cofactor_slope)
