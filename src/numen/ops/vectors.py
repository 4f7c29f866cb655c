"""Products of vectors along the last axis: vecdot, matvec and vecmat, batches broadcast together.

vecdot and vecmat conjugate their first operand. NumPy 2.2 brought the last two; before, there are
no rows of them. Next: `shape.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numen.dispatch.derived import conj
from numen.dispatch.primitive import Primitive
from numen.ops.common import add_tangents
from numen.ops.linear_algebra import flip
from numen.ops.samples import DType, Errors, Inputs, Rng, draw

Rule = Callable[..., Any]
Shapes = list[tuple[tuple[int, ...], tuple[int, ...]]]


def _last(x: Any) -> Any:
    """An axis of one element at the end."""
    return x.reshape((*x.shape, 1))


def _before_last(x: Any) -> Any:
    """An axis of one element before the last."""
    return x.reshape((*x.shape[:-1], 1, x.shape[-1]))


def _product(
    name: str, cores: tuple[int, int], left: Rule, right: Rule, shapes: Shapes, substitute: Rule
) -> Any:
    """Make a row; `cores` are the axes that each operand's vector or matrix has, `left` and `right`
    its cotangents."""
    ufunc = getattr(np, name)

    def vjp(needs: Sequence[bool], g: Any, out: Any, a: Any, b: Any) -> tuple[Any, ...]:
        return left(g, b) if needs[0] else None, right(g, a) if needs[1] else None

    def jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
        (a, b), (ta, tb) = args, tangents
        return add_tangents(None if ta is None else row(ta, b), None if tb is None else row(a, tb))

    def batch(size: int, args: Sequence[Any], axes: Sequence[bool]) -> Any:
        loops = [len(x.shape) - t - core for x, t, core in zip(args, axes, cores, strict=True)]
        evened = []
        for x, t, own in zip(args, axes, loops, strict=True):
            missing = max(loops) - own
            if t and missing:
                x = x.reshape((x.shape[0], *(1,) * missing, *x.shape[1:]))
            evened.append(x)
        return row(*evened)

    def samples(rng: Rng, dtype: DType) -> Inputs:
        return [((draw(rng, a, dtype), draw(rng, b, dtype)), {}) for a, b in shapes]

    def errors() -> Errors:
        a, b = shapes[0]
        longer = (*a[:-1], a[-1] + 1)
        return [
            ((np.ones(longer), np.ones(b)), {}, ValueError),
            ((np.ones(()), np.ones(b)), {}, ValueError),
        ]

    row = Primitive(
        name,
        ufunc,
        vjp=vjp,
        jvp=jvp,
        batch=batch,
        least_ndim=cores,
        saves_for=((1,), (0,)),
        exact=False,
        ufunc=ufunc,
        substitute=substitute,
        samples=samples,
        errors=errors,
    )
    return row


vecdot = _product(
    "vecdot",
    (1, 1),
    lambda g, b: _last(conj(g)) * b,  # (..., 1) * (..., N)
    lambda g, a: _last(g) * a,
    [((4,), (4,)), ((3, 4), (4,)), ((3, 1, 4), (2, 4)), ((4,), (2, 3, 4)), ((2, 0), (0,))],
    lambda a, b: (_before_last(a.conj()) @ _last(b))[..., 0, 0],
)

ROWS: tuple[Primitive, ...] = (vecdot,)

if hasattr(np, "matvec"):
    matvec: Primitive = _product(
        "matvec",
        (2, 1),
        lambda g, b: _last(g) * _before_last(conj(b)),  # (..., M, 1) * (..., 1, N)
        lambda g, a: matvec(flip(conj(a)), g),  # (..., N, M) times (..., M)
        [((3, 4), (4,)), ((2, 3, 4), (4,)), ((3, 4), (2, 4)), ((2, 1, 3, 4), (5, 4))],
        lambda a, b: (a @ _last(b))[..., 0],
    )
    vecmat = _product(
        "vecmat",
        (1, 2),
        lambda g, b: matvec(b, conj(g)),  # (..., N, M) times (..., M)
        lambda g, a: _last(a) * _before_last(g),  # (..., N, 1) * (..., 1, M)
        [((4,), (4, 3)), ((2, 4), (4, 3)), ((4,), (2, 4, 3)), ((5, 4), (2, 1, 4, 3))],
        lambda a, b: (_before_last(a.conj()) @ b)[..., 0, :],
    )
    ROWS = (vecdot, matvec, vecmat)
