"""Running sums and products along an axis, and the product over axes whose gradient they make.

No rule divides, so zeros among the factors are right in every order: a product without one factor
is what stands before it times what stands behind it. Called by `namespace/cumulative.py` and
`namespace/reductions.py`; next: `ordering.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numen.dispatch.backends import module_of
from numen.dispatch.derived import conj, linear
from numen.dispatch.primitive import Primitive
from numen.ops.common import constant, kept_shape, zeros
from numen.ops.joining import concatenate
from numen.ops.reductions import reducer, sum
from numen.ops.samples import DType, Errors, Inputs, Rng, draw
from numen.ops.shape import transpose

Axes = tuple[int, ...]


def along(axis: int, part: slice) -> tuple[slice, ...]:
    """The index that takes `part` of an axis and all of the axes before it."""
    return (slice(None),) * axis + (part,)


BACKWARDS = slice(None, None, -1)


def _flipped(x: Any, axis: int) -> Any:
    return x[along(axis, BACKWARDS)]


def _samples(rng: Rng, dtype: DType) -> Inputs:
    a = draw(rng, (2, 4, 5), dtype)
    some_zeros = draw(rng, (3, 6), dtype)
    some_zeros[0, 2] = some_zeros[1, 0] = some_zeros[1, 4] = 0
    return [
        ((a,), {"axis": 0}),
        ((a,), {"axis": 1}),
        ((a,), {"axis": 2}),
        ((some_zeros,), {"axis": 1}),
        ((a[0, 0, :1],), {"axis": 0}),
        ((a[:0],), {"axis": 1}),
        ((a[:0],), {"axis": 0}),
    ]


def _errors() -> Errors:
    return [((np.ones(3),), {"axis": 1}, np.exceptions.AxisError)]


# cumsum


def _cumsum(a: Any, axis: int) -> Any:
    return module_of(a).cumsum(a, axis)


def _cumsum_transpose(g: Any, a: Any, axis: int) -> Any:
    # element i is in every sum from the i-th on
    return _flipped(cumsum(_flipped(g, axis), axis=axis), axis)


def _cumsum_batch(size: int, a: Any, axis: int) -> Any:
    return cumsum(a, axis=axis + 1)


cumsum = linear(
    "cumsum", _cumsum, _cumsum_transpose, _cumsum_batch, samples=_samples, errors=_errors
)


# cumprod


def _cumprod(a: Any, axis: int) -> Any:
    return module_of(a).cumprod(a, axis)


def _recurrence(a: Any, b: Any, axis: int) -> Any:
    """s[k] = b[k] + a[k] s[k-1] along an axis, in log2(n) steps.

    Each step joins two windows: after it, s[k] = b[k] + a[k] s[k - 2 step]. (Hillis and Steele,
    Data parallel algorithms, 1986.)
    """
    n = b.shape[axis]
    step = 1
    while step < n:
        first, rest = along(axis, slice(None, step)), along(axis, slice(step, None))
        before = along(axis, slice(None, n - step))
        b, a = (
            concatenate(b[first], b[rest] + a[rest] * b[before], axis=axis),
            concatenate(a[first], a[rest] * a[before], axis=axis),
        )
        step *= 2
    return b


def _shifted(x: Any, axis: int) -> Any:
    """x one place later along an axis, a one in front."""
    shape = list(x.shape)
    shape[axis] = min(1, shape[axis])
    ones = constant(np.ones(shape, x.dtype), x)
    return concatenate(ones, x[along(axis, slice(None, -1))], axis=axis)


def _before(a: Any, axis: int) -> Any:
    """The product of everything before each element."""
    return cumprod(_shifted(a, axis), axis=axis)


def _cumprod_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any, axis: int) -> tuple[Any, ...]:
    # da[j] = before[j] s[j] with s[j] = g[j] + a[j+1] s[j+1], the last one first
    a = conj(a)
    factors = _shifted(_flipped(a, axis), axis)
    s = _recurrence(factors, _flipped(g, axis), axis)
    return (_before(a, axis) * _flipped(s, axis),)


def _cumprod_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any], axis: int) -> Any:
    # t_out[k] = a[k] t_out[k-1] + before[k] t[k]
    (a,), (t,) = args, tangents
    return _recurrence(a, _before(a, axis) * t, axis)


def _cumprod_batch(size: int, args: Sequence[Any], axes: Sequence[bool], axis: int) -> Any:
    return cumprod(args[0], axis=axis + 1)


cumprod = Primitive(
    "cumprod",
    _cumprod,
    vjp=_cumprod_vjp,
    jvp=_cumprod_jvp,
    batch=_cumprod_batch,
    saves=(0,),
    samples=_samples,
    errors=_errors,
)


# prod


def _others(a: Any, axis: Axes) -> Any:
    """The product of all other elements that are reduced together with each, in a's shape."""
    shape = tuple(a.shape)
    if 0 in shape:
        return zeros(shape, a.dtype, a)
    kept = tuple([i for i in range(len(shape)) if i not in axis])
    order = (*kept, *axis)
    moved = transpose(a, axes=order)
    flat = moved.reshape((*[shape[i] for i in kept], -1))
    last = len(kept)
    behind = _flipped(_before(_flipped(flat, last), last), last)
    others = (_before(flat, last) * behind).reshape(tuple(moved.shape))
    inverse = tuple(sorted(range(len(order)), key=order.__getitem__))
    return transpose(others, axes=inverse)


def _prod_vjp(
    needs: Sequence[bool], g: Any, out: Any, a: Any, axis: Axes, keepdims: bool
) -> tuple[Any, ...]:
    if not keepdims:
        g = g.reshape(kept_shape(a.shape, axis))
    return (g * _others(conj(a), axis),)


def _prod_jvp(
    out: Any, args: Sequence[Any], tangents: Sequence[Any], axis: Axes, keepdims: bool
) -> Any:
    return sum(tangents[0] * _others(args[0], axis), axis=axis, keepdims=keepdims)


def _prod_batch(
    size: int, args: Sequence[Any], axes: Sequence[bool], axis: Axes, keepdims: bool
) -> Any:
    return prod(args[0], axis=tuple([i + 1 for i in axis]), keepdims=keepdims)


def _prod_samples(rng: Rng, dtype: DType) -> Inputs:
    a = draw(rng, (2, 3, 4), dtype)
    some_zeros = draw(rng, (3, 6), dtype)
    some_zeros[0, 2] = some_zeros[1, 0] = some_zeros[1, 4] = 0
    return [
        ((a[:, :2, :2],), {"axis": (0, 1, 2), "keepdims": False}),
        ((a,), {"axis": (1,), "keepdims": False}),
        ((a,), {"axis": (0, 2), "keepdims": True}),
        ((a,), {"axis": (), "keepdims": False}),
        ((some_zeros,), {"axis": (1,), "keepdims": False}),
        ((a[0, 0],), {"axis": (0,), "keepdims": True}),
        ((a[0, 0, 0, ...],), {"axis": (), "keepdims": False}),
        ((a[:0],), {"axis": (1,), "keepdims": False}),
    ]


def _prod_errors() -> Errors:
    return [((np.ones(3),), {"axis": (1,), "keepdims": False}, np.exceptions.AxisError)]


prod = Primitive(
    "prod",
    reducer("prod", np.multiply),
    vjp=_prod_vjp,
    jvp=_prod_jvp,
    batch=_prod_batch,
    saves=(0,),
    samples=_prod_samples,
    errors=_prod_errors,
)

ROWS = (cumsum, cumprod, prod)
