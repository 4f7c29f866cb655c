"""Windows over the spatial axes of raw arrays: padding, strided views, slices by place.

What convolution and pooling share. All take and give raw arrays of any backend. Used by
`convolution.py` and `pooling.py`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numen.dispatch.backends import module_of
from numen.ops.promotion import ACCUMULATOR, is_small, result_type
from numen.ops.samples import DType, Rng, draw

Extents = tuple[int, ...]
Pairs = tuple[tuple[int, int], ...]

FLOAT16: DType = np.dtype(np.float16)


def span(size: int, dilation: int) -> int:
    """How many elements a dilated window reaches over."""
    return (size - 1) * dilation + 1


def out_extents(
    sizes: Sequence[int], kernel: Extents, stride: Extents, padding: Pairs, dilation: Extents
) -> Extents:
    """How many windows fit along each axis."""
    each = zip(sizes, kernel, stride, padding, dilation, strict=True)
    return tuple([(n + sum(p) - span(k, d)) // s + 1 for n, k, s, p, d in each])


def padded(x: Any, padding: Pairs, value: Any = 0) -> Any:
    """x with `value` around its last axes; a negative number of elements is cut off.

    x itself where nothing changes.
    """
    if not any([low or high for low, high in padding]):
        return x
    lead = x.ndim - len(padding)
    sizes, source, target = [], [slice(None)] * lead, [slice(None)] * lead
    for n, (low, high) in zip(x.shape[lead:], padding, strict=True):
        first, last = max(-low, 0), n - max(-high, 0)
        last = max(first, last)
        source.append(slice(first, last))
        target.append(slice(max(low, 0), max(low, 0) + last - first))
        sizes.append(max(n + low + high, 0))
    if all([low <= 0 and high <= 0 for low, high in padding]):
        return x[tuple(source)]
    xp = module_of(x)
    shape = (*x.shape[:lead], *sizes)
    out = xp.zeros(shape, x.dtype) if value == 0 else xp.full(shape, value, x.dtype)
    out[tuple(target)] = x[tuple(source)]
    return out


def strided(x: Any, shape: Extents, strides: Sequence[int]) -> Any:
    """A view of x's memory."""
    xp = module_of(x)
    if xp is np:
        return np.lib.stride_tricks.as_strided(x, shape, strides, writeable=False)
    return xp.lib.stride_tricks.as_strided(x, shape, strides)


def cut(place: Extents, out: Extents, stride: Extents, dilation: Extents) -> tuple[Any, ...]:
    """The index of what all windows have at one place of theirs, along the last axes."""
    each = zip(place, out, stride, dilation, strict=True)
    return (..., *[slice(i * d, i * d + (o - 1) * s + 1, s) for i, o, s, d in each])


def wide(impl: Callable[..., Any], indexed: bool = False) -> Callable[..., Any]:
    """The implementation of a product or sum, with operands of one dtype: small floats and float16
    in float32, rounded once. With `indexed` all but the first operand are left alone."""

    @functools.wraps(impl)
    def computed(*args: Any, **params: Any) -> Any:
        dtype = args[0].dtype
        if len(args) > 1 and args[1].dtype != dtype and not indexed:
            dtype = result_type([a.dtype for a in args])
        inner = ACCUMULATOR if dtype == FLOAT16 or is_small(dtype) else dtype
        own = 1 if indexed else len(args)
        cast = [a if a.dtype == inner else a.astype(inner) for a in args[:own]]
        out = impl(*cast, *args[own:], **params)
        return out if out.dtype == dtype else out.astype(dtype)

    return computed


def coarse(rng: Rng, shape: Extents, dtype: DType) -> Any:
    """Samples whose sums of products are exact: multiples of a quarter, or integers."""
    values = draw(rng, shape, dtype)
    if dtype.kind not in "fc":
        return values
    return (np.rint(values * 4) / 4).astype(dtype)
