"""Pooling: the largest element of every window along the last axes, and where it is.

`pool_pick` reads one element a window by its flat place among the last axes, `pool_place` adds them
back: the derivative of a maximum goes to the element that was picked, the first of equal ones; NaN
wins. Windows are given as in `window_sums.py`. Called by `nn/functional_pooling.py`. Next:
`activations.py`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from numen.dispatch.backends import module_of, placed_like
from numen.dispatch.primitive import Primitive
from numen.errors import DTypeError, ShapeError, describe
from numen.ops.promotion import is_small
from numen.ops.samples import DType, Errors, Inputs, Rng, distinct
from numen.ops.shape import broadcast_to
from numen.ops.window_sums import WINDOWS, room, window_axes, window_errors
from numen.ops.windows import Extents, Pairs, coarse, cut, padded, wide

Impl = Callable[..., Any]


def _least(dtype: DType, op: str, x: Any) -> Any:
    """What padding a maximum does not see."""
    if dtype.kind == "f" or is_small(dtype):
        if dtype.name.startswith("float8"):  # some have no infinity
            return ml_dtypes.finfo(dtype).min  # type: ignore[no-untyped-call]
        return -math.inf
    if dtype.kind in "iu":
        return np.iinfo(dtype).min
    if dtype.kind == "b":
        return False
    raise DTypeError(f"{op}: expected a real array, got {describe(x)}")


# max_pool


def _max_pool(
    x: Any, kernel: Extents, stride: Extents, padding: Pairs, dilation: Extents, count: Extents
) -> Any:
    around = room("max_pool", x, kernel, stride, padding, dilation, count)
    xp = module_of(x)
    x = padded(x, around, _least(x.dtype, "max_pool", x))
    result = None
    for place in itertools.product(*map(range, kernel)):
        part = x[cut(place, count, stride, dilation)]
        if result is None:
            result = xp.array(part)
        else:
            xp.maximum(result, part, out=result)
    return result


def _max_pool_index(
    x: Any, kernel: Extents, stride: Extents, padding: Pairs, dilation: Extents, count: Extents
) -> Any:
    around = room("max_pool_index", x, kernel, stride, padding, dilation, count)
    xp = module_of(x)
    sizes = x.shape[x.ndim - len(kernel) :]
    lead = x.shape[: x.ndim - len(kernel)]
    full = padded(x, around, _least(x.dtype, "max_pool_index", x))
    # A window of the least values alone has its first element inside the array.
    first = np.zeros((), np.int64)
    for n, s, d, (low, _), o in zip(sizes, stride, dilation, padding, count, strict=True):
        start = np.arange(o, dtype=np.int64) * s - low
        inside = np.where(start < 0, start + -(-np.maximum(-start, 0) // d) * d, start)
        first = first[..., None] * n + np.minimum(inside, n - 1)
    floats = x.dtype.kind == "f" or is_small(x.dtype)
    shape = (*lead, *count)
    parts = [full[cut(k, count, stride, dilation)] for k in itertools.product(*map(range, kernel))]
    if xp is np:
        chosen, best = _first_of_largest(parts, _least(x.dtype, "max_pool_index", x), shape)
        if not (floats and np.isnan(best).any()):
            index = _flat_places(sizes, kernel, dilation).take(chosen)
            index += _flat_starts(sizes, stride, padding, count)
            if any(map(any, padding)):
                np.copyto(index, first, where=chosen == 0)
            return index
    index = xp.array(xp.broadcast_to(placed_like(first, x), shape))
    best = xp.full(shape, _least(x.dtype, "max_pool_index", x), x.dtype)
    starts = _flat_starts(sizes, stride, padding, count)
    places = _flat_places(sizes, kernel, dilation)[1:]
    for part, place in zip(parts, places, strict=True):
        better = part > best
        if floats:
            better |= (part != part) & (best == best)  # the first NaN
        index = xp.where(better, placed_like(starts + place, x), index)
        best = xp.where(better, part, best)
    return index


def _first_of_largest(parts: Sequence[Any], least: Any, shape: Extents) -> tuple[Any, Any]:
    """Which part is the first to hold the largest element (from 1 on; 0: none is above `least`),
    and that element; NaN is not looked for."""
    best = np.full(shape, least, parts[0].dtype)
    chosen = np.zeros(shape, np.min_scalar_type(len(parts)))
    for number, part in enumerate(parts, 1):
        # a later part has a larger number: no branch, which would be mispredicted half the time
        np.maximum(chosen, (part > best) * chosen.dtype.type(number), out=chosen)
        np.maximum(best, part, out=best)
    return chosen, best


def _flat_places(sizes: Extents, kernel: Extents, dilation: Extents) -> Any:
    """How far each place of a window is from its start in flat order; in front of them, for
    windows without a largest element, that of the first."""
    flat = np.zeros((), np.int64)
    for n, k, d in zip(sizes, kernel, dilation, strict=True):
        flat = flat[..., None] * n + np.arange(k, dtype=np.int64) * d
    return np.concatenate([[0], flat.reshape(-1)])


def _flat_starts(sizes: Extents, stride: Extents, padding: Pairs, count: Extents) -> Any:
    """Where each window starts in flat order; before 0 where that is in the padding."""
    flat = np.zeros((), np.int64)
    for n, s, (low, _), o in zip(sizes, stride, padding, count, strict=True):
        flat = flat[..., None] * n + (np.arange(o, dtype=np.int64) * s - low)
    return flat


def _max_pool_vjp(
    needs: Sequence[bool], g: Any, out: Any, x: Any, **params: Any
) -> tuple[Any, ...]:
    shape = tuple(x.shape[len(x.shape) - len(params["kernel"]) :])
    return (pool_place(g, max_pool_index(x, **params), shape=shape),)


def _max_pool_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    index = max_pool_index(args[0], **params)
    return pool_pick(tangents[0], index, rank=len(params["kernel"]))


def _over_leading(row: Callable[[], Primitive]) -> Impl:
    """Batch rule of a row that leaves all but the last axes alone."""

    def batch(size: int, args: Sequence[Any], axes: Sequence[bool], **params: Any) -> Any:
        return row()(args[0], **params)

    return batch


# pool_pick and pool_place


def _flat(x: Any, rank: int) -> Any:
    """The last axes as one."""
    lead = x.shape[: x.ndim - rank]
    return x.reshape((*lead, math.prod(x.shape[x.ndim - rank :])))


def _pool_pick(x: Any, index: Any, rank: int) -> Any:
    lead = x.shape[: x.ndim - rank]
    if index.shape[: index.ndim - rank] != lead:
        raise ShapeError(
            f"pool_pick: expected indices with the array's leading axes; got {describe(x, index)}"
        )
    picked = module_of(x, index).take_along_axis(_flat(x, rank), _flat(index, rank), -1)
    return picked.reshape(index.shape)


def _pool_pick_vjp(
    needs: Sequence[bool], g: Any, out: Any, x: Any, index: Any, rank: int
) -> tuple[Any, ...]:
    return pool_place(g, index, shape=tuple(x.shape[len(x.shape) - rank :])), None


def _pool_pick_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any], rank: int) -> Any:
    return pool_pick(tangents[0], args[1], rank=rank)


def _pool_place(g: Any, index: Any, shape: Extents) -> Any:
    if g.shape != index.shape:
        raise ShapeError(f"pool_place: expected one index an element; got {describe(g, index)}")
    xp = module_of(g, index)
    lead, size = g.shape[: g.ndim - len(shape)], math.prod(shape)
    out = xp.zeros((*lead, *shape), g.dtype)
    rows = xp.arange(math.prod(lead)).reshape((*lead, 1)) * size
    places = (rows + _flat(index, len(shape))).reshape(-1)
    xp.add.at(out.reshape(-1), places, g.reshape(-1))
    return out


def _pool_place_vjp(
    needs: Sequence[bool], g: Any, out: Any, a: Any, index: Any, shape: Extents
) -> tuple[Any, ...]:
    return pool_pick(g, index, rank=len(shape)), None


def _pool_place_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any], shape: Extents) -> Any:
    return pool_place(tangents[0], args[1], shape=shape)


def _pair_batch(row: Callable[[], Primitive]) -> Impl:
    def batch(size: int, args: Sequence[Any], axes: Sequence[bool], **params: Any) -> Any:
        both = [
            a if t else broadcast_to(a, shape=(size, *a.shape))
            for a, t in zip(args, axes, strict=True)
        ]
        return row()(*both, **params)

    return batch


# samples


def _max_samples(rng: Rng, dtype: DType) -> Inputs:
    settings = [(shape, {**p, "dilation": (1,) * len(p["kernel"])}) for shape, p in WINDOWS]
    dilated = {
        "kernel": (3,),
        "stride": (1,),
        "padding": ((1, 0),),
        "dilation": (2,),
        "count": (3,),
    }
    settings.append(((2, 6), dilated))
    return [((distinct(rng, shape, dtype),), params) for shape, params in settings]


def _pick_samples(rng: Rng, dtype: DType) -> Inputs:
    index = np.array([[[0, 5], [5, 2]], [[3, 3], [3, 1]]])
    return [
        ((coarse(rng, (2, 2, 3), dtype), index), {"rank": 2}),
        ((coarse(rng, (2, 2, 6), dtype), index), {"rank": 1}),
        ((coarse(rng, (0, 4), dtype), np.zeros((0, 2), np.int64)), {"rank": 1}),
    ]


def _place_samples(rng: Rng, dtype: DType) -> Inputs:
    return [
        ((coarse(rng, index.shape, dtype), index), {"shape": x.shape[x.ndim - params["rank"] :]})
        for (x, index), params in _pick_samples(rng, dtype)
    ]


def _pick_errors() -> Errors:
    return [
        ((np.ones((2, 3)), np.zeros((3, 1), int)), {"rank": 1}, ValueError),
        ((np.ones((2, 3)), np.full((2, 1), 3)), {"rank": 1}, IndexError),
    ]


def _place_errors() -> Errors:
    return [((np.ones((2, 3)), np.zeros((2, 1), int)), {"shape": (3,)}, ValueError)]


max_pool: Primitive = Primitive(
    "max_pool",
    _max_pool,
    vjp=_max_pool_vjp,
    jvp=_max_pool_jvp,
    batch=_over_leading(lambda: max_pool),
    saves=(0,),
    samples=_max_samples,
    errors=window_errors(dilation=(1, 1), count=(1, 1)),
    least_ndim=window_axes,
)

max_pool_index: Primitive = Primitive(
    "max_pool_index",
    _max_pool_index,
    batch=_over_leading(lambda: max_pool_index),
    samples=_max_samples,
    errors=window_errors(dilation=(1, 1), count=(1, 1)),
    least_ndim=window_axes,
)

pool_pick: Primitive = Primitive(
    "pool_pick",
    _pool_pick,
    vjp=_pool_pick_vjp,
    jvp=_pool_pick_jvp,
    batch=_pair_batch(lambda: pool_pick),
    saves=(1,),
    samples=_pick_samples,
    errors=_pick_errors,
)

pool_place: Primitive = Primitive(
    "pool_place",
    wide(_pool_place, indexed=True),
    vjp=_pool_place_vjp,
    jvp=_pool_place_jvp,
    batch=_pair_batch(lambda: pool_place),
    saves=(1,),
    samples=_place_samples,
    errors=_place_errors,
)

ROWS = (max_pool, max_pool_index, pool_pick, pool_place)
