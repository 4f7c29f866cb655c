"""Square systems: solve, inv, detsign and logabsdet, with LAPACK's values.

Called by `numen.linalg`. detsign and logabsdet are the parts of slogdet. Matrices are the last two
axes, `...` a batch; `^H` is the conjugate of the transposed matrix. Next: `determinants.py` for
det, `factors.py` for cholesky and pinv, `spectra.py` for the SVD and eigenvalues.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numen.dispatch.backends import module_of
from numen.dispatch.derived import conj
from numen.dispatch.primitive import Primitive
from numen.ops.common import ndim, zeros
from numen.ops.complex_parts import imag, real
from numen.ops.linear_algebra import adjoint, column, even, flip, matmul, row
from numen.ops.reductions import sum
from numen.ops.samples import DType, Errors, Inputs, Rng, draw

# What the rules share


def same_batch(primitive: Any) -> Any:
    """The batch rule of a row whose matrices are its argument's last axes anyway."""

    def batch(size: int, args: Sequence[Any], axes: Sequence[bool], **params: Any) -> Any:
        return primitive()(args[0], **params)

    return batch


def inner(a: Any, b: Any) -> Any:
    """The sum of a * b over the last two axes."""
    n = ndim(a)
    return sum(a * b, axis=(n - 2, n - 1), keepdims=False)


def regular(rng: Rng, shape: tuple[int, ...], dtype: DType) -> Any:
    """Matrices far from singular: noise with a heavy diagonal."""
    noise = draw(rng, shape, dtype, -1.0, 1.0)
    if dtype.kind == "b":
        return noise | np.eye(shape[-1], dtype=dtype)
    return (noise + 3 * np.eye(shape[-1])).astype(dtype)


def square_samples(rng: Rng, dtype: DType) -> Inputs:
    """Single matrices, stacks, one element, none."""
    return [((regular(rng, shape, dtype),), {}) for shape in ((3, 3), (2, 4, 4), (1, 1), (0, 2, 2))]


def no_matrices() -> Errors:
    """A vector, and a dtype that LAPACK has no routine for."""
    return [
        ((np.ones(3),), {}, np.linalg.LinAlgError),
        ((np.ones((2, 2), np.float16),), {}, TypeError),
    ]


def no_squares() -> Errors:
    """Matrices that are not square, and what is no matrix."""
    return [*no_matrices(), ((np.ones((2, 3)),), {}, np.linalg.LinAlgError)]


def _singular() -> Errors:
    return [*no_squares(), ((np.ones((2, 2)),), {}, np.linalg.LinAlgError)]


# solve: x with a x = b; b is a vector where it has one axis


def _solve(a: Any, b: Any) -> Any:
    return module_of(a, b).linalg.solve(a, b)


def _solve_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any, b: Any) -> tuple[Any, ...]:
    # gb = a^-H g; ga = -gb x^H
    vector = ndim(out) < ndim(a)
    if not vector:
        gb = solve(adjoint(a), g)
        return -matmul(gb, adjoint(out)) if needs[0] else None, gb
    gb = solve(adjoint(a), column(g)).reshape(tuple(g.shape))
    return -(column(gb) * row(conj(out))) if needs[0] else None, gb


def _solve_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    # dx = a^-1 (db - da x)
    (a, b), (ta, tb) = args, tangents
    vector = ndim(b) == 1
    right = None if ta is None else -matmul(ta, column(out) if vector else out)
    if tb is not None:
        tb = column(tb) if vector else tb
        right = tb if right is None else tb + right
    return solve(a, right).reshape(tuple(out.shape))


def _solve_batch(size: int, args: Sequence[Any], axes: Sequence[bool]) -> Any:
    a, b = args
    vector = ndim(b) - axes[1] == 1
    b = column(b) if vector else b
    rank = max(ndim(x) - t for x, t in zip((a, b), axes, strict=True))
    x = solve(even(a, axes[0], rank), even(b, axes[1], rank))
    return x.reshape(tuple(x.shape[:-1])) if vector else x


def _solve_samples(rng: Rng, dtype: DType) -> Inputs:
    shapes = [
        ((3, 3), (3, 2)),
        ((3, 3), (3,)),
        ((2, 3, 3), (3,)),
        ((3, 3), (2, 3, 1)),
        ((2, 1, 2, 2), (3, 2, 4)),
        ((2, 0, 0), (0, 3)),
    ]
    return [((regular(rng, a, dtype), draw(rng, b, dtype)), {}) for a, b in shapes]


def _solve_errors() -> Errors:
    return [
        ((np.ones((2, 3)), np.ones(2)), {}, np.linalg.LinAlgError),
        ((np.ones((2, 2)), np.ones(2)), {}, np.linalg.LinAlgError),
        ((np.eye(2), np.ones(3)), {}, ValueError),
        ((np.eye(2, dtype=np.float16), np.ones(2, np.float16)), {}, TypeError),
    ]


solve = Primitive(
    "solve",
    _solve,
    vjp=_solve_vjp,
    jvp=_solve_jvp,
    batch=_solve_batch,
    saves=(0,),
    saves_out=True,
    samples=_solve_samples,
    errors=_solve_errors,
)


# inv


def _inv(a: Any) -> Any:
    return module_of(a).linalg.inv(a)


def _inv_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any) -> tuple[Any, ...]:
    turned = adjoint(out)
    return (-matmul(matmul(turned, g), turned),)


def _inv_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    return -matmul(matmul(out, tangents[0]), out)


inv: Primitive = Primitive(
    "inv",
    _inv,
    vjp=_inv_vjp,
    jvp=_inv_jvp,
    batch=same_batch(lambda: inv),
    saves_out=True,
    samples=square_samples,
    errors=_singular,
)


# slogdet: the sign, which real matrices keep until one is singular, and the logarithm


def _detsign(a: Any) -> Any:
    return module_of(a).linalg.slogdet(a)[0]


def _detsign_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any) -> tuple[Any, ...]:
    # d sign = i sign Im(tr(a^-1 da)): i Im(g sign*) a^-H
    if g.dtype.kind != "c":
        return (zeros(tuple(a.shape), g.dtype, g),)
    turn = imag(g * conj(out)) * 1j
    return (column(column(turn)) * adjoint(inv(a)),)


def _detsign_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    if out.dtype.kind != "c":
        return zeros(tuple(out.shape), out.dtype, out)
    return out * 1j * imag(inner(flip(inv(args[0])), tangents[0]))


detsign: Primitive = Primitive(
    "detsign",
    _detsign,
    vjp=_detsign_vjp,
    jvp=_detsign_jvp,
    batch=same_batch(lambda: detsign),
    saves=(0,),
    saves_out=True,
    samples=square_samples,
    errors=no_squares,
    least_ndim=(2,),
)


def _logabsdet(a: Any) -> Any:
    return module_of(a).linalg.slogdet(a)[1]


def _logabsdet_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any) -> tuple[Any, ...]:
    return (column(column(g)) * adjoint(inv(a)),)


def _logabsdet_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    return real(inner(flip(inv(args[0])), tangents[0]))


logabsdet: Primitive = Primitive(
    "logabsdet",
    _logabsdet,
    vjp=_logabsdet_vjp,
    jvp=_logabsdet_jvp,
    batch=same_batch(lambda: logabsdet),
    saves=(0,),
    samples=square_samples,
    errors=no_squares,
    least_ndim=(2,),
)


ROWS = (solve, inv, detsign, logabsdet)
