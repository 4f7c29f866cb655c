"""softmax, log_softmax and logsumexp as one op each: what plain small arrays take.

`axis` is a sorted tuple of non-negative ints. Where a whole row is -inf (all of it masked), softmax
is 0, log_softmax and logsumexp are -inf, and no gradient is NaN; logsumexp of +inf is +inf, with
gradient 0. float16 and bfloat16 are computed
in float32 and rounded once. `namespace/exponential_sums.py` calls these, and composes the same of
other rows where kernels are concerned.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numen.dispatch.backends import module_of
from numen.dispatch.primitive import Primitive
from numen.errors import DTypeError, describe
from numen.ops.common import kept_shape
from numen.ops.comparisons import equal
from numen.ops.elementwise import exp
from numen.ops.reductions import sum
from numen.ops.samples import DType, Errors, Inputs, Rng, draw
from numen.ops.selection import where

Axes = tuple[int, ...]


def wide(a: Any, op: str) -> Any:
    """Floats of 32 bits or more, as they are computed in."""
    if a.dtype.kind == "f" and a.dtype.itemsize >= 4:
        return a
    if a.dtype.kind not in "biufV":
        raise DTypeError(f"{op}: expected real numbers, got {describe(a)}")
    return a.astype(np.float32 if a.dtype.itemsize <= 2 and a.dtype.kind in "fV" else np.float64)


def narrow(result: Any, a: Any) -> Any:
    return result.astype(a.dtype) if a.dtype.kind in "fV" and a.dtype.itemsize < 4 else result


def parts(a: Any, axis: Axes) -> tuple[Any, Any, Any, Any]:
    """a less its maximum, the maximum (0 where it is not finite), exp of the difference and its
    sum."""
    xp = module_of(a)
    if a.size:
        top = xp.max(a, axis=axis, keepdims=True)
    else:
        top = xp.full(kept_shape(a.shape, axis), -np.inf, a.dtype)
    top = xp.where(xp.isfinite(top), top, xp.zeros((), top.dtype))
    shifted = a - top
    e = xp.exp(shifted)
    return shifted, top, e, xp.sum(e, axis=axis, keepdims=True)


def _filled(s: Any) -> Any:
    """Sums with 1 in place of 0, which only masked rows have."""
    xp = module_of(s)
    return xp.where(s == 0, xp.ones((), s.dtype), s)


def _softmax(a: Any, axis: Axes) -> Any:
    _, _, e, s = parts(wide(a, "softmax"), axis)
    return narrow(e / _filled(s), a)


def _log_softmax(a: Any, axis: Axes) -> Any:
    shifted, _, _, s = parts(wide(a, "log_softmax"), axis)
    return narrow(shifted - module_of(s).log(_filled(s)), a)


def _logsumexp(a: Any, axis: Axes, keepdims: bool) -> Any:
    _, top, _, s = parts(wide(a, "logsumexp"), axis)
    xp = module_of(s)
    infinite = xp.full((), -np.inf, s.dtype)
    out = xp.where(s == 0, infinite, xp.log(_filled(s)) + top)
    if not keepdims:
        out = out.reshape(tuple([n for i, n in enumerate(out.shape) if i not in axis]))
    return narrow(out, a)


def _slope(x: Any, out: Any, axis: Axes) -> Any:
    """The derivative of softmax, which is symmetric, applied to x."""
    scaled = x * out
    return scaled - out * sum(scaled, axis=axis, keepdims=True)


def _softmax_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any, axis: Axes) -> tuple[Any, ...]:
    return (_slope(g, out, axis),)


def _softmax_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any], axis: Axes) -> Any:
    return _slope(tangents[0], out, axis)


def _log_softmax_vjp(
    needs: Sequence[bool], g: Any, out: Any, a: Any, axis: Axes
) -> tuple[Any, ...]:
    return (g - exp(out) * sum(g, axis=axis, keepdims=True),)


def _log_softmax_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any], axis: Axes) -> Any:
    t = tangents[0]
    return t - sum(t * exp(out), axis=axis, keepdims=True)


def _shares(out: Any, a: Any, axis: Axes) -> Any:
    """The part of each element in the sum of exponentials; 0 where that is infinite."""
    infinite = equal(out.reshape(kept_shape(tuple(a.shape), axis)), np.inf)
    return where(infinite, 0, softmax(where(infinite, 0, a), axis=axis))


def _logsumexp_vjp(
    needs: Sequence[bool], g: Any, out: Any, a: Any, axis: Axes, keepdims: bool
) -> tuple[Any, ...]:
    g = g.reshape(kept_shape(tuple(a.shape), axis))
    return (g * _shares(out, a, axis),)


def _logsumexp_jvp(
    out: Any, args: Sequence[Any], tangents: Sequence[Any], axis: Axes, keepdims: bool
) -> Any:
    return sum(tangents[0] * _shares(out, args[0], axis), axis=axis, keepdims=keepdims)


def _moved(axis: Axes) -> Axes:
    return tuple([i + 1 for i in axis])


def _softmax_batch(size: int, args: Sequence[Any], axes: Sequence[bool], axis: Axes) -> Any:
    return softmax(args[0], axis=_moved(axis))


def _log_softmax_batch(size: int, args: Sequence[Any], axes: Sequence[bool], axis: Axes) -> Any:
    return log_softmax(args[0], axis=_moved(axis))


def _logsumexp_batch(
    size: int, args: Sequence[Any], axes: Sequence[bool], axis: Axes, keepdims: bool
) -> Any:
    return logsumexp(args[0], axis=_moved(axis), keepdims=keepdims)


def _samples(rng: Rng, dtype: DType) -> Inputs:
    a = draw(rng, (2, 3, 4), dtype)
    return [
        ((a,), {"axis": (2,)}),
        ((a,), {"axis": (0, 1)}),
        ((a[0, 0],), {"axis": (0,)}),
        ((a[:0],), {"axis": (1,)}),
        ((a[:, :0],), {"axis": (1,)}),
    ]


def _logsumexp_samples(rng: Rng, dtype: DType) -> Inputs:
    cases = _samples(rng, dtype)[:-1]  # the sum of nothing has no difference quotient
    return [
        (args, {**params, "keepdims": keepdims})
        for args, params in cases
        for keepdims in (False, True)
    ]


def _errors() -> Errors:
    axis = ((np.ones(3),), {"axis": (1,)}, np.exceptions.AxisError)
    return [axis, ((np.ones(3, np.complex128),), {"axis": (0,)}, TypeError)]


def _logsumexp_errors() -> Errors:
    return [(args, {**params, "keepdims": False}, error) for args, params, error in _errors()]


softmax: Primitive = Primitive(
    "softmax",
    _softmax,
    vjp=_softmax_vjp,
    jvp=_softmax_jvp,
    batch=_softmax_batch,
    saves_out=True,
    samples=_samples,
    errors=_errors,
)
log_softmax: Primitive = Primitive(
    "log_softmax",
    _log_softmax,
    vjp=_log_softmax_vjp,
    jvp=_log_softmax_jvp,
    batch=_log_softmax_batch,
    saves_out=True,
    samples=_samples,
    errors=_errors,
)
logsumexp: Primitive = Primitive(
    "logsumexp",
    _logsumexp,
    vjp=_logsumexp_vjp,
    jvp=_logsumexp_jvp,
    batch=_logsumexp_batch,
    saves=(0,),
    saves_out=True,
    samples=_logsumexp_samples,
    errors=_logsumexp_errors,
)

ROWS = (softmax, log_softmax, logsumexp)
