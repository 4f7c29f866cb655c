"""normalize: mean 0 and mean square 1 along axes, in one row for layer and group normalisation.

Without `centered` the mean stays: root-mean-square normalisation. Where a trace records or kernels
are asked for, `nn/functional_normalization.py` writes it with other rows, which fuse. Next:
`lookup.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numen.dispatch.backends import module_of
from numen.dispatch.primitive import Primitive
from numen.errors import DTypeError, describe
from numen.ops.common import count
from numen.ops.elementwise import sqrt
from numen.ops.promotion import ACCUMULATOR, is_small
from numen.ops.reductions import mean, reducer
from numen.ops.samples import DType, Errors, Inputs, Rng, distinct
from numen.ops.windows import FLOAT16

Axes = tuple[int, ...]

_sum = reducer("sum", np.add)


def _normalize(a: Any, axis: Axes, eps: float, centered: bool) -> Any:
    dtype = a.dtype
    if dtype.kind != "f" and not is_small(dtype):
        raise DTypeError(f"normalize: expected a real floating array, got {describe(a)}")
    if dtype == FLOAT16 or is_small(dtype):
        a = a.astype(ACCUMULATOR)
    total = _sum(a, axis, True)
    n = count(a.shape, axis) or 1
    if centered:
        a = a - total / n
    scale = 1 / module_of(a).sqrt(_sum(a * a, axis, True) / n + eps)
    out = a * scale
    return out if out.dtype == dtype else out.astype(dtype)


def _scale(a: Any, axis: Axes, eps: float, centered: bool) -> Any:
    """What the (centred) elements are multiplied by."""
    if centered:
        a = a - mean(a, axis=axis, keepdims=True)
    return 1 / sqrt(mean(a * a, axis=axis, keepdims=True) + eps)


def _project(x: Any, out: Any, a: Any, axis: Axes, eps: float, centered: bool) -> Any:
    """The derivative, a symmetric map: scale (x - mean(x) - out mean(x out))."""
    rest = out * mean(x * out, axis=axis, keepdims=True)
    if centered:
        rest = rest + mean(x, axis=axis, keepdims=True)
    return (x - rest) * _scale(a, axis, eps, centered)


def _vjp(needs: Sequence[bool], g: Any, out: Any, a: Any, **params: Any) -> tuple[Any, ...]:
    return (_project(g, out, a, **params),)


def _jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    return _project(tangents[0], out, args[0], **params)


def _batch(size: int, args: Sequence[Any], axes: Sequence[bool], axis: Axes, **params: Any) -> Any:
    return normalize(args[0], axis=tuple([i + 1 for i in axis]), **params)


def _samples(rng: Rng, dtype: DType) -> Inputs:
    a = distinct(rng, (2, 3, 4), dtype)
    return [
        ((a,), {"axis": (2,), "eps": 1e-5, "centered": True}),
        ((a,), {"axis": (0, 2), "eps": 0.1, "centered": True}),
        ((a,), {"axis": (1, 2), "eps": 1e-3, "centered": False}),
        ((a[:0],), {"axis": (1,), "eps": 1e-5, "centered": True}),
    ]


def _errors() -> Errors:
    params = {"axis": (0,), "eps": 1e-5, "centered": True}
    return [
        ((np.ones(3, np.int64),), params, TypeError),
        ((np.ones(3),), {**params, "axis": (1,)}, np.exceptions.AxisError),
    ]


normalize: Primitive = Primitive(
    "normalize",
    _normalize,
    vjp=_vjp,
    jvp=_jvp,
    batch=_batch,
    saves=(0,),
    saves_out=True,
    exact=False,
    samples=_samples,
    errors=_errors,
)

ROWS = (normalize,)
