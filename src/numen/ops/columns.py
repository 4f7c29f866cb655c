"""What the convolution rows compute on memory: windows as columns of a matrix, images last.

An image's axes are turned to (C, *spatial, N) first, so that windows are copied out ("im2col") in
runs as long as a row of all images, and one matrix product does them all. Groups of one channel
("depthwise") have no product worth the name: there each place of the kernel is one multiplication
of the whole image. Operands are checked by the caller, `convolution.py`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from numen.dispatch.backends import module_of
from numen.ops.windows import Extents, Pairs, cut, padded, span, strided

CHUNK = 1 << 20
"""Elements of windows that are copied out at a time."""

BLOCK = 1 << 17
"""Elements of a depthwise product that are held at a time: they stay in the cache."""


def _chunks(count: int, each: int, most: int, whole: bool) -> list[slice]:
    """Slices of `count` images (or channels) of `each` elements that are handled together."""
    step = count if whole else max(1, most // max(each, 1))
    return [slice(i, min(i + step, count)) for i in range(0, count, max(step, 1))]


def _images_last(x: Any, padding: Pairs | None = None) -> Any:
    """(N, C, *spatial) as (C, *spatial, N) in memory, padded or cropped."""
    moved = module_of(x).transpose(x, (*range(1, x.ndim), 0))
    if padding is not None:
        moved = padded(moved, (*padding, (0, 0)))
    return module_of(x).ascontiguousarray(moved)


def _images_first(x: Any) -> Any:
    """The view (N, ...) of (..., N)."""
    return module_of(x).transpose(x, (x.ndim - 1, *range(x.ndim - 1)))


def _columns(
    x: Any, padding: Pairs, kernel: Extents, out: Extents, stride: Extents, dilation: Extents
) -> Any:
    """Every window of x (N, C, *spatial) in memory, as (C, *kernel, *out, N)."""
    x = _images_last(x, padding)
    steps = x.strides[1:-1]
    inside = [step * d for step, d in zip(steps, dilation, strict=True)]
    across = [step * s for step, s in zip(steps, stride, strict=True)]
    strides = (x.strides[0], *inside, *across, x.strides[-1])
    return strided(x, (x.shape[0], *kernel, *out, x.shape[-1]), strides)


def _is_plain(kernel: Extents, stride: Extents, padding: Pairs) -> bool:
    """Whether each window is one element and each element a window."""
    return set(kernel) <= {1} and set(stride) <= {1} and not any(map(any, padding))


def convolve(
    x: Any, w: Any, out: Extents, stride: Extents, padding: Pairs, dilation: Extents, groups: int
) -> Any:
    """(N, C, *spatial) and (O, C / groups, *kernel) -> (N, O, *out)."""
    kernel, n = tuple(w.shape[2:]), x.shape[0]
    if w.shape[1] == 1 and groups > 1:
        return _depthwise(x, w, out, stride, padding, dilation)
    xp = module_of(x, w)
    columns, places = w.shape[1] * math.prod(kernel), math.prod(out)
    matrices = w.reshape((groups, w.shape[0] // groups, columns))
    if _is_plain(kernel, stride, padding):
        product = xp.matmul(matrices, x.reshape((n, groups, columns, places)))
        return product.reshape((n, w.shape[0], *out))
    result = xp.empty((n, w.shape[0], *out), x.dtype)
    for part in _chunks(n, columns * groups * places, CHUNK, xp is not np):
        seen = _columns(x[part], padding, kernel, out, stride, dilation)
        count = part.stop - part.start
        product = xp.matmul(matrices, seen.reshape((groups, columns, places * count)))
        result[part] = _images_first(product.reshape((w.shape[0], *out, count)))
    return result


def convolve_back(
    g: Any, w: Any, shape: Extents, stride: Extents, padding: Pairs, dilation: Extents, groups: int
) -> Any:
    """(N, O, *out) and (O, C / groups, *kernel) -> (N, C, *shape): each window's element is added
    to the place it came from."""
    xp = module_of(g, w)
    kernel, out, n = tuple(w.shape[2:]), tuple(g.shape[2:]), g.shape[0]
    columns, made = w.shape[1] * math.prod(kernel), w.shape[0] // groups
    channels, places = groups * w.shape[1], math.prod(out)
    each = zip(out, kernel, stride, dilation, strict=True)
    full = tuple([(o - 1) * s + span(k, d) for o, k, s, d in each])
    if w.shape[1] == 1 and groups > 1:
        return _depthwise_back(g, w, groups, shape, full, stride, padding, dilation)
    matrices = xp.swapaxes(w.reshape((groups, made, columns)), 1, 2)
    if _is_plain(kernel, stride, padding):
        product = xp.matmul(matrices, g.reshape((n, groups, made, places)))
        return product.reshape((n, channels, *shape))
    result = xp.empty((n, channels, *shape), g.dtype)
    for part in _chunks(n, columns * groups * places, CHUNK, xp is not np):
        count = part.stop - part.start
        wanted = _images_last(g[part]).reshape((groups, made, places * count))
        spread = xp.matmul(matrices, wanted).reshape((channels, *kernel, *out, count))
        image = xp.zeros((channels, *full, count), g.dtype)
        for place in itertools.product(*map(range, kernel)):
            image[(*cut(place, out, stride, dilation), slice(None))] += spread[
                (slice(None), *place)
            ]
        result[part] = _images_first(padded(image, _rest(padding, shape, full)))
    return result


def _rest(padding: Pairs, shape: Extents, full: Extents) -> Pairs:
    """The padding from what windows reach over to the image, whose images are last: what the
    padding added is cut off, what no window reads stays 0."""
    each = zip(padding, shape, full, strict=True)
    return (*[(-low, low + m - size) for (low, _), m, size in each], (0, 0))


def weight_of(
    x: Any, g: Any, kernel: Extents, stride: Extents, padding: Pairs, dilation: Extents, groups: int
) -> Any:
    """(N, C, *spatial) and (N, O, *out) -> (O, C / groups, *kernel)."""
    xp = module_of(x, g)
    out, n = tuple(g.shape[2:]), x.shape[0]
    per_group, made = x.shape[1] // groups, g.shape[1] // groups
    columns, places = per_group * math.prod(kernel), math.prod(out)
    if per_group == 1 and groups > 1:
        return _depthwise_weight(x, g, kernel, stride, padding, dilation)
    if _is_plain(kernel, stride, padding):
        wanted = g.reshape((n, groups, made, places))
        seen = xp.swapaxes(x.reshape((n, groups, columns, places)), 2, 3)
        return xp.matmul(wanted, seen).sum(axis=0).reshape((groups * made, per_group, *kernel))
    result = xp.zeros((groups, made, columns), x.dtype)
    for part in _chunks(n, columns * groups * places, CHUNK, xp is not np):
        # images and places are summed over by one product
        seen = _columns(x[part], padding, kernel, out, stride, dilation)
        terms = places * (part.stop - part.start)
        wanted = _images_last(g[part]).reshape((groups, made, terms))
        result += xp.matmul(wanted, xp.swapaxes(seen.reshape((groups, columns, terms)), 1, 2))
    return result.reshape((groups * made, per_group, *kernel))


# groups of one channel: the channels' axis is the groups', each makes `made` results


def _blocks(channels: int, made: int, each: int, whole: bool) -> Iterator[tuple[slice, slice]]:
    """Channels that are handled together and the results that they make."""
    for part in _chunks(channels, each * made, BLOCK, whole):
        yield part, slice(part.start * made, part.stop * made)


def _depthwise(
    x: Any, w: Any, out: Extents, stride: Extents, padding: Pairs, dilation: Extents
) -> Any:
    xp = module_of(x, w)
    n, channels, kernel = x.shape[0], x.shape[1], tuple(w.shape[2:])
    made, ones = w.shape[0] // channels, (1,) * (len(kernel) + 1)
    result = xp.empty((n, w.shape[0], *out), x.dtype)
    for part, results in _blocks(channels, made, n * math.prod(out), xp is not np):
        image = xp.expand_dims(_images_last(x[:, part], padding), 1)
        count = part.stop - part.start
        weight = w[results].reshape((count, made, *kernel))
        total = xp.zeros((count, made, *out, n), x.dtype)
        for place in itertools.product(*map(range, kernel)):
            seen = image[(*cut(place, out, stride, dilation), slice(None))]
            total += seen * weight[(slice(None), slice(None), *place)].reshape((count, made, *ones))
        result[:, results] = _images_first(total.reshape((count * made, *out, n)))
    return result


def _depthwise_back(
    g: Any,
    w: Any,
    channels: int,
    shape: Extents,
    full: Extents,
    stride: Extents,
    padding: Pairs,
    dilation: Extents,
) -> Any:
    xp = module_of(g, w)
    n, kernel, out = g.shape[0], tuple(w.shape[2:]), tuple(g.shape[2:])
    rest = _rest(padding, shape, full)
    made, ones = w.shape[0] // channels, (1,) * (len(kernel) + 1)
    result = xp.empty((n, channels, *shape), g.dtype)
    for part, results in _blocks(channels, made, n * math.prod(out), xp is not np):
        count = part.stop - part.start
        wanted = _images_last(g[:, results]).reshape((count, made, *out, n))
        weight = w[results].reshape((count, made, *kernel))
        image = xp.zeros((count, *full, n), g.dtype)
        for place in itertools.product(*map(range, kernel)):
            factor = weight[(slice(None), slice(None), *place)].reshape((count, made, *ones))
            product = wanted * factor
            spread = product[:, 0] if made == 1 else product.sum(axis=1)
            image[(*cut(place, out, stride, dilation), slice(None))] += spread
        result[:, part] = _images_first(padded(image, rest))
    return result


def _depthwise_weight(
    x: Any, g: Any, kernel: Extents, stride: Extents, padding: Pairs, dilation: Extents
) -> Any:
    xp = module_of(x, g)
    n, channels, out = x.shape[0], x.shape[1], tuple(g.shape[2:])
    made = g.shape[1] // channels
    result = xp.empty((g.shape[1], 1, *kernel), x.dtype)
    for part, results in _blocks(channels, made, n * math.prod(out), xp is not np):
        image = xp.expand_dims(_images_last(x[:, part], padding), 1)
        count = part.stop - part.start
        wanted = _images_last(g[:, results]).reshape((count, made, *out, n))
        for place in itertools.product(*map(range, kernel)):
            seen = image[(*cut(place, out, stride, dilation), slice(None))]
            product = (seen * wanted).reshape((count * made, math.prod(out) * n))
            total = product.sum(axis=1)
            result[(results, 0, *place)] = total
    return result
