"""The sum of every window along the last axes, and its transpose.

Windows are given by kernel, stride and padding of the last axes (and a dilation, for the maximum),
and by `count`, how many there are along each axis: they may reach over the padded end. Used for
averages by `nn/functional_pooling.py`. Next: `pooling.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numen.dispatch.backends import module_of
from numen.dispatch.derived import linear
from numen.dispatch.primitive import Primitive
from numen.errors import ShapeError, describe
from numen.ops.samples import DType, Errors, Inputs, Rng
from numen.ops.windows import Extents, Pairs, coarse, padded, span, wide

Impl = Callable[..., Any]


def room(
    op: str, x: Any, kernel: Extents, stride: Extents, padding: Pairs, dilation: Extents, out: Any
) -> Pairs:
    """The padding that every window fits into, however far it reaches over the end.

    Raises
    ------
    ShapeError
        If the array has too few axes.
    """
    if x.ndim < len(kernel) or min(out, default=1) < 1:
        raise ShapeError(
            f"{op}: expected at least {len(kernel)} axes and windows that fit; got {describe(x)}"
        )
    sizes = x.shape[x.ndim - len(kernel) :]
    each = zip(sizes, kernel, stride, padding, dilation, out, strict=True)
    return tuple(
        [
            (low, max(high, (o - 1) * s + span(k, d) - low - n))
            for n, k, s, (low, high), d, o in each
        ]
    )


def _window_sum(x: Any, kernel: Extents, stride: Extents, padding: Pairs, count: Extents) -> Any:
    one = (1,) * len(kernel)
    x = padded(x, room("window_sum", x, kernel, stride, padding, one, count))
    rank = len(kernel)
    for axis, (k, s, o) in enumerate(zip(kernel, stride, count, strict=True)):  # one axis at a time
        total = None
        for i in range(k):
            index = (..., slice(i, i + (o - 1) * s + 1, s), *(slice(None),) * (rank - 1 - axis))
            part = x[index]
            if total is None:
                total = module_of(part).array(part)
            else:
                total += part
        x = total
    return x


def _window_sum_transpose(
    g: Any, x: Any, kernel: Extents, stride: Extents, padding: Pairs, count: Extents
) -> Any:
    shape = tuple(x.shape[len(x.shape) - len(kernel) :])
    return window_spread(g, kernel=kernel, stride=stride, padding=padding, shape=shape)


def _window_spread(g: Any, kernel: Extents, stride: Extents, padding: Pairs, shape: Extents) -> Any:
    if g.ndim < len(kernel):
        raise ShapeError(f"window_spread: expected at least {len(kernel)} axes; got {describe(g)}")
    xp, rank = module_of(g), len(kernel)
    for axis, (k, s) in enumerate(zip(kernel, stride, strict=True)):
        at = g.ndim - rank + axis
        o = g.shape[at]
        full = xp.zeros((*g.shape[:at], (o - 1) * s + k, *g.shape[at + 1 :]), g.dtype)
        rest = (slice(None),) * (rank - 1 - axis)
        for i in range(k):
            full[(..., slice(i, i + (o - 1) * s + 1, s), *rest)] += g
        g = full
    sizes = g.shape[g.ndim - rank :]
    ends = [(-low, low + n - m) for (low, _), n, m in zip(padding, shape, sizes, strict=True)]
    return padded(g, tuple(ends))


def _window_spread_transpose(
    g: Any, a: Any, kernel: Extents, stride: Extents, padding: Pairs, shape: Extents
) -> Any:
    out = tuple(a.shape[len(a.shape) - len(kernel) :])
    return window_sum(g, kernel=kernel, stride=stride, padding=padding, count=out)


def _plain_batch(row: Callable[[], Primitive]) -> Impl:
    def batch(size: int, a: Any, **params: Any) -> Any:
        return row()(a, **params)

    return batch


# samples

WINDOWS: tuple[tuple[Extents, dict[str, Any]], ...] = (
    ((2, 3, 7), {"kernel": (3,), "stride": (2,), "padding": ((1, 1),), "count": (4,)}),
    (
        (2, 5, 4),
        {"kernel": (2, 3), "stride": (2, 1), "padding": ((0, 0), (1, 0)), "count": (3, 3)},
    ),
    (
        (2, 3, 2, 3),
        {"kernel": (1, 2, 2), "stride": (1, 1, 2), "padding": ((0, 0),) * 3, "count": (3, 1, 2)},
    ),
    ((0, 4), {"kernel": (2,), "stride": (2,), "padding": ((0, 0),), "count": (2,)}),
)
"""Shapes and windows; some reach over the end."""


def _sum_samples(rng: Rng, dtype: DType) -> Inputs:
    return [((coarse(rng, shape, dtype),), params) for shape, params in WINDOWS]


def _spread_samples(rng: Rng, dtype: DType) -> Inputs:
    out: Inputs = []
    for shape, params in WINDOWS:
        rank = len(params["kernel"])
        rest = {name: value for name, value in params.items() if name != "count"}
        g = coarse(rng, (*shape[: len(shape) - rank], *params["count"]), dtype)
        out.append(((g,), {**rest, "shape": shape[len(shape) - rank :]}))
    return out


def window_axes(kernel: Sequence[int], **rest: Any) -> tuple[int, ...]:
    """The least number of axes of a windowed array: those that the windows span."""
    return (len(kernel),)


def window_errors(**more: Any) -> Callable[[], Errors]:
    params = {"kernel": (2, 2), "stride": (1, 1), "padding": ((0, 0),) * 2, **more}
    return lambda: [((np.ones(3),), params, ValueError)]


window_sum: Primitive = linear(
    "window_sum",
    wide(_window_sum),
    _window_sum_transpose,
    _plain_batch(lambda: window_sum),
    samples=_sum_samples,
    errors=window_errors(count=(1, 1)),
    least_ndim=window_axes,
)

window_spread: Primitive = linear(
    "window_spread",
    wide(_window_spread),
    _window_spread_transpose,
    _plain_batch(lambda: window_spread),
    samples=_spread_samples,
    errors=window_errors(shape=(2, 2)),
    least_ndim=window_axes,
)

ROWS = (window_sum, window_spread)
