"""matmul: NumPy's matrix product of vectors, matrices and batches of matrices.

Called by `x @ y` and `nm.matmul`. Shapes in comments: M x K times K x N, `...` a batch. Next:
`matrices.py` for solve, inv and det, `norms.py`, `shape.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numen.dispatch.backends import module_of
from numen.dispatch.core import ArrayCore
from numen.dispatch.derived import conj
from numen.dispatch.primitive import Primitive
from numen.ops.common import add_tangents, ndim
from numen.ops.samples import DType, Errors, Inputs, Rng, draw
from numen.ops.shape import transpose


def _matmul(a: Any, b: Any) -> Any:
    if ndim(a) == 2 == ndim(b) and a.dtype == b.dtype and 1 not in a.shape and 1 not in b.shape:
        return a.dot(b)  # the same BLAS call, reached three times faster; not so for rows, columns
    return module_of(a, b).matmul(a, b)


def flip(x: Any) -> Any:
    """The matrix (or each matrix of a batch) transposed."""
    if isinstance(x, ArrayCore):
        n = ndim(x)
        return transpose(x, axes=(*range(n - 2), n - 1, n - 2))
    return x.swapaxes(-1, -2)


def adjoint(x: Any) -> Any:
    """The conjugate of the transposed matrix (of each of a batch)."""
    return conj(flip(x))


def column(x: Any) -> Any:
    """(..., M) as (..., M, 1)."""
    return x.reshape((*x.shape, 1))


def row(x: Any) -> Any:
    """(..., N) as (..., 1, N)."""
    return x.reshape((*x.shape[:-1], 1, x.shape[-1]))


def rows(x: Any) -> Any:
    """All matrices of a batch as one matrix of their rows."""
    return x.reshape((_size(x.shape[:-1]), x.shape[-1]))


def _size(shape: tuple[int, ...]) -> int:
    n = 1
    for extent in shape:
        n *= extent
    return n


def _by_left(g: Any, a: Any, b: Any) -> Any:
    """The cotangent of a: g b^H; axes that broadcasting added are summed by the backward pass."""
    na, nb = len(a.shape), len(b.shape)
    b = conj(b)
    if nb == 1:
        return g * b if na == 1 else column(g) * b  # (..., M, 1) * (K,)
    if na == 1:
        product = matmul(b, g) if nb == 2 else matmul(b, column(g))  # (..., K, N) times (..., N)
        return product if nb == 2 else product.reshape(product.shape[:-1])
    return matmul(g, flip(b))


def _by_right(g: Any, a: Any, b: Any) -> Any:
    """The cotangent of b: a^H g."""
    na, nb = len(a.shape), len(b.shape)
    a = conj(a)
    if na == 1:
        return g * a if nb == 1 else column(a) * row(g)  # (K, 1) * (..., 1, N)
    if nb == 1:
        return matmul(flip(rows(a)), g.reshape((_size(g.shape),)))  # (K, ...M) times (...M,)
    if na > 2 and nb == 2:
        return matmul(flip(rows(a)), rows(g))  # one product instead of a batch and a sum
    return matmul(flip(a), g)


def _vjp(needs: Sequence[bool], g: Any, out: Any, a: Any, b: Any) -> tuple[Any, ...]:
    return _by_left(g, a, b) if needs[0] else None, _by_right(g, a, b) if needs[1] else None


def _jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    (a, b), (ta, tb) = args, tangents
    return add_tangents(
        None if ta is None else matmul(ta, b), None if tb is None else matmul(a, tb)
    )


def _batch(size: int, args: Sequence[Any], axes: Sequence[bool]) -> Any:
    """Vectors become matrices, ranks are evened, and the added axes are dropped again."""
    a, b = args
    vector_a, vector_b = (len(x.shape) - t == 1 for x, t in zip(args, axes, strict=True))
    if vector_a and axes[0] and not axes[1] and not vector_b and len(b.shape) == 2:
        return matmul(a, b)  # (B, K) times (K, N): one product
    a, b = row(a) if vector_a else a, column(b) if vector_b else b
    rank = max(len(x.shape) - t for x, t in zip((a, b), axes, strict=True))
    a, b = even(a, axes[0], rank), even(b, axes[1], rank)
    out = matmul(a, b)
    shape = list(out.shape)
    if vector_b:
        del shape[-1]
    if vector_a:
        del shape[-1 if vector_b else -2]
    return out.reshape(tuple(shape)) if vector_a or vector_b else out


def even(x: Any, batched: bool, rank: int) -> Any:
    """A batched operand with exactly `rank` axes behind its batch axis."""
    missing = rank - (len(x.shape) - batched)
    if not batched or not missing:
        return x
    return x.reshape((x.shape[0], *(1,) * missing, *x.shape[1:]))


def _samples(rng: Rng, dtype: DType) -> Inputs:
    shapes = [
        ((3, 4), (4, 5)),
        ((4,), (4,)),
        ((4,), (4, 5)),
        ((3, 4), (4,)),
        ((2, 3, 4), (4, 5)),
        ((3, 4), (2, 4, 5)),
        ((2, 1, 3, 4), (5, 4, 2)),
        ((4,), (2, 4, 5)),
        ((2, 3, 4), (4,)),
        ((3, 0), (0, 2)),
    ]
    return [((draw(rng, a, dtype), draw(rng, b, dtype)), {}) for a, b in shapes]


def _errors() -> Errors:
    return [
        ((np.ones((2, 3)), np.ones((2, 3))), {}, ValueError),
        ((np.ones((2, 3)), np.ones(2)), {}, ValueError),
        ((np.ones((2, 3)), np.ones(())), {}, ValueError),
    ]


matmul = Primitive(
    "matmul",
    _matmul,
    vjp=_vjp,
    jvp=_jvp,
    batch=_batch,
    saves_for=((1,), (0,)),
    exact=False,
    least_ndim=(1, 1),
    ufunc=np.matmul,
    samples=_samples,
    errors=_errors,
)

ROWS = (matmul,)
