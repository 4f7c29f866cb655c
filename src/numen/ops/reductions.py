"""Reductions over axes: sum, mean, max, min, argmax, argmin, any, all.

`axis` is a sorted tuple of non-negative ints (argmax, argmin: one int). max and min share the
gradient of ties evenly. Called by the methods and functions of `namespace`; next: `cumulative.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numen.dispatch.backends import module_of
from numen.dispatch.derived import linear
from numen.dispatch.primitive import Primitive
from numen.ops.common import count, kept_shape, spread
from numen.ops.comparisons import equal
from numen.ops.kinks import maximum
from numen.ops.samples import DType, Errors, Inputs, Rng, distinct, draw
from numen.ops.selection import cast, where

EXACT_IN_FLOAT32 = 1 << 24

Axes = tuple[int, ...]


def _shift(axis: Axes) -> Axes:
    return tuple([i + 1 for i in axis])


def _samples(rng: Rng, dtype: DType) -> Inputs:
    a = draw(rng, (2, 3, 5), dtype)
    return [
        ((a,), {"axis": (0, 1, 2), "keepdims": False}),
        ((a,), {"axis": (1,), "keepdims": False}),
        ((a,), {"axis": (0, 2), "keepdims": True}),
        ((a,), {"axis": (), "keepdims": False}),
        ((a[0, 0],), {"axis": (0,), "keepdims": True}),
        ((a[0, 0, 0, ...],), {"axis": (), "keepdims": False}),
        ((a[:0],), {"axis": (1,), "keepdims": False}),
    ]


def _axis_errors() -> Errors:
    return [((np.ones(3),), {"axis": (1,), "keepdims": False}, np.exceptions.AxisError)]


# sum


def reducer(name: str, ufunc: np.ufunc) -> Callable[..., Any]:
    """NumPy's reduction called `name`; of an ndarray by its ufunc, which is quicker."""
    reduce: Any = ufunc.reduce

    def impl(a: Any, axis: Axes, keepdims: bool) -> Any:
        if type(a) is np.ndarray:
            return reduce(a, axis, keepdims=keepdims)
        return getattr(module_of(a), name)(a, axis=axis, keepdims=keepdims)

    return impl


_sum = reducer("sum", np.add)


def _sum_transpose(g: Any, a: Any, axis: Axes, keepdims: bool) -> Any:
    return spread(g, a.shape, axis, keepdims)


def _sum_batch(size: int, a: Any, axis: Axes, keepdims: bool) -> Any:
    return sum(a, axis=_shift(axis), keepdims=keepdims)


sum = linear(
    "sum", _sum, _sum_transpose, _sum_batch, exact=False, samples=_samples, errors=_axis_errors
)


# mean


def _mean(a: Any, axis: Axes, keepdims: bool) -> Any:
    if type(a) is np.ndarray and a.dtype in (np.float32, np.float64):
        total = _sum(a, axis, keepdims)
        n = count(a.shape, axis)
        if 0 < n <= EXACT_IN_FLOAT32:  # np.mean's own two steps, four times faster
            return total / n
    return module_of(a).mean(a, axis=axis, keepdims=keepdims)


def _mean_transpose(g: Any, a: Any, axis: Axes, keepdims: bool) -> Any:
    n = count(a.shape, axis) or 1  # 0: nothing is averaged, and the gradient is empty
    return spread(g / n, a.shape, axis, keepdims)


def _mean_batch(size: int, a: Any, axis: Axes, keepdims: bool) -> Any:
    return mean(a, axis=_shift(axis), keepdims=keepdims)


mean = linear(
    "mean", _mean, _mean_transpose, _mean_batch, exact=False, samples=_samples, errors=_axis_errors
)


# max and min


def _share(a: Any, out: Any, axis: Axes, dtype: DType) -> tuple[Any, Any]:
    """Where `a` attains its extremum `out` (reduced axes kept), and in how many places.

    A NaN is attained nowhere; the count is 1 then, so that nothing is divided by 0.
    """
    attained = equal(a, out)
    ties = cast(sum(attained, axis=axis, keepdims=True), dtype=dtype)
    return attained, maximum(ties, 1)


def _extremum(name: str, ufunc: np.ufunc) -> Primitive:
    def vjp(
        needs: Sequence[bool], g: Any, out: Any, a: Any, axis: Axes, keepdims: bool
    ) -> tuple[Any, ...]:
        if not keepdims:
            kept = kept_shape(a.shape, axis)
            g, out = g.reshape(kept), out.reshape(kept)
        attained, ties = _share(a, out, axis, g.dtype)
        return (where(attained, g / ties, 0),)

    def jvp(
        out: Any, args: Sequence[Any], tangents: Sequence[Any], axis: Axes, keepdims: bool
    ) -> Any:
        (a,), (t,) = args, tangents
        kept = out if keepdims else out.reshape(kept_shape(a.shape, axis))
        attained, ties = _share(a, kept, axis, t.dtype)
        mean_of_ties = sum(where(attained, t, 0), axis=axis, keepdims=True) / ties
        return mean_of_ties.reshape(tuple(out.shape))

    def batch(
        size: int, args: Sequence[Any], axes: Sequence[bool], axis: Axes, keepdims: bool
    ) -> Any:
        return row(args[0], axis=_shift(axis), keepdims=keepdims)

    def samples(rng: Rng, dtype: DType) -> Inputs:
        a = distinct(rng, (2, 3, 5), dtype)
        return [((a,) if args[0].shape == a.shape else args, p) for args, p in _samples(rng, dtype)]

    def errors() -> Errors:
        empty = ((np.ones((0, 3)),), {"axis": (0,), "keepdims": False}, ValueError)
        return [*_axis_errors(), empty]

    row = Primitive(
        name,
        reducer(name, ufunc),
        vjp=vjp,
        jvp=jvp,
        batch=batch,
        saves=(0,),
        saves_out=True,
        exact=False,  # which of two zeros or two NaNs comes out is the kernels' own
        samples=samples,
        errors=errors,
    )
    return row


max = _extremum("max", np.maximum)
min = _extremum("min", np.minimum)


# argmax and argmin


def _place(name: str) -> Primitive:
    def impl(a: Any, axis: int, keepdims: bool) -> Any:
        return getattr(module_of(a), name)(a, axis, keepdims=keepdims)

    def batch(
        size: int, args: Sequence[Any], axes: Sequence[bool], axis: int, keepdims: bool
    ) -> Any:
        return row(args[0], axis=axis + 1, keepdims=keepdims)

    row = Primitive(
        name,
        impl,
        batch=batch,
        exact=name != "argmax",  # which of two NaNs counts is its kernel's own; argmin has none
        samples=_place_samples,
        errors=_place_errors,
    )
    return row


def _place_samples(rng: Rng, dtype: DType) -> Inputs:
    a = draw(rng, (2, 3, 5), dtype)
    return [
        ((a,), {"axis": 1, "keepdims": False}),
        ((a,), {"axis": 2, "keepdims": True}),
        ((a[0, 0],), {"axis": 0, "keepdims": False}),
    ]


def _place_errors() -> Errors:
    return [
        ((np.ones(3),), {"axis": 1, "keepdims": False}, np.exceptions.AxisError),
        ((np.ones((0, 3)),), {"axis": 0, "keepdims": False}, ValueError),
    ]


argmax = _place("argmax")
argmin = _place("argmin")


# any and all


def _quantifier(name: str, ufunc: np.ufunc) -> Primitive:
    def batch(
        size: int, args: Sequence[Any], axes: Sequence[bool], axis: Axes, keepdims: bool
    ) -> Any:
        return row(args[0], axis=_shift(axis), keepdims=keepdims)

    row = Primitive(name, reducer(name, ufunc), batch=batch, samples=_samples, errors=_axis_errors)
    return row


any = _quantifier("any", np.logical_or)
all = _quantifier("all", np.logical_and)

ROWS = (sum, mean, max, min, argmax, argmin, any, all)
