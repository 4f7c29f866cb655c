"""norm: the Euclidean length over one or two axes; its gradient is 0 where the length is.

Called by `numen.linalg.norm`, which composes the other norms of pointwise rows and reductions.
Next: `matrices.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numen.dispatch.backends import module_of
from numen.dispatch.derived import conj, times
from numen.dispatch.primitive import Primitive
from numen.ops.common import kept_shape
from numen.ops.comparisons import equal
from numen.ops.complex_parts import real
from numen.ops.reductions import sum
from numen.ops.samples import DType, Errors, Inputs, Rng, away_from_zero
from numen.ops.selection import where

Axes = tuple[int, ...]


def _norm(a: Any, axis: Axes, keepdims: bool) -> Any:
    xp = module_of(a)
    return xp.linalg.norm(a, axis=axis, keepdims=keepdims)


def _direction(a: Any, out: Any, axis: Axes, keepdims: bool) -> Any:
    """a over its length, 0 where that is 0."""
    if not keepdims:
        out = out.reshape(kept_shape(tuple(a.shape), axis))
    return a / where(equal(out, 0), np.inf, out)


def _vjp(
    needs: Sequence[bool], g: Any, out: Any, a: Any, axis: Axes, keepdims: bool
) -> tuple[Any, ...]:
    if not keepdims:
        g = g.reshape(kept_shape(tuple(a.shape), axis))
    return (times(g, _direction(a, out, axis, keepdims)),)


def _jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any], axis: Axes, keepdims: bool) -> Any:
    (a,), (t,) = args, tangents
    along = real(times(t, conj(_direction(a, out, axis, keepdims))))
    return sum(along, axis=axis, keepdims=keepdims)


def _batch(size: int, args: Sequence[Any], axes: Sequence[bool], axis: Axes, keepdims: bool) -> Any:
    return norm(args[0], axis=tuple([i + 1 for i in axis]), keepdims=keepdims)


def _samples(rng: Rng, dtype: DType) -> Inputs:
    a = away_from_zero(rng, (2, 3, 4), dtype)
    return [
        ((a,), {"axis": (1,), "keepdims": False}),
        ((a,), {"axis": (0, 2), "keepdims": True}),
        ((a[0],), {"axis": (0, 1), "keepdims": False}),
        ((a[0, 0],), {"axis": (0,), "keepdims": True}),
        ((a[:0],), {"axis": (1,), "keepdims": False}),
    ]


def _errors() -> Errors:
    return [((np.ones(3),), {"axis": (1,), "keepdims": False}, np.exceptions.AxisError)]


norm = Primitive(
    "norm",
    _norm,
    vjp=_vjp,
    jvp=_jvp,
    batch=_batch,
    saves=(0,),
    saves_out=True,
    samples=_samples,
    errors=_errors,
)

ROWS = (norm,)
