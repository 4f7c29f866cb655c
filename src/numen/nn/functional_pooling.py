"""Pooling over one, two and three spatial axes: the largest, the average or the p-norm of windows.

A window that starts outside the padded input does not count; an average over the padded end divides
by what of its window lies inside. Called by `pooling.py`; `functional.py` re-exports `__all__`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numen.dispatch.convert import as_array
from numen.errors import ShapeError, describe
from numen.namespace import absolute, sign
from numen.nn.arguments import Pairs, batched, each, floating, pairs
from numen.ops.common import constant
from numen.ops.kinks import relu
from numen.ops.pooling import max_pool, max_pool_index, pool_pick, pool_place
from numen.ops.window_sums import window_sum

__all__ = [f"{kind}_pool{n}d" for kind in ("max", "avg", "lp") for n in (1, 2, 3)]
__all__ += [f"max_unpool{n}d" for n in (1, 2, 3)]

Sizes = tuple[int, ...]


def places(
    sizes: Sequence[int], kernel: Sizes, stride: Sizes, padding: Pairs, dilation: Sizes, ceil: bool
) -> Sizes:
    """How many windows there are along each axis."""
    out = []
    for n, k, s, (low, high), d in zip(sizes, kernel, stride, padding, dilation, strict=True):
        room = n + low + high - d * (k - 1) - 1
        count = (room + (s - 1 if ceil else 0)) // s + 1
        if ceil and (count - 1) * s >= n + low:
            count -= 1
        out.append(count)
    return tuple(out)


def _settings(
    op: str,
    x: Any,
    rank: int,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil: bool,
) -> tuple[dict[str, Any], Sizes]:
    """Kernel, stride, padding and dilation for each axis, and the number of windows.

    Raises
    ------
    ShapeError
        If no window fits.
    ValueError
        If the padding is more than half of the window.
    """
    kernel = each(kernel_size, rank, op, "kernel_size")
    strides = kernel if stride is None else each(stride, rank, op, "stride")
    around, dilations = pairs(padding, rank, op), each(dilation, rank, op, "dilation")
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    if any(2 * max(p) > r for p, r in zip(around, reach, strict=True)):
        raise ValueError(
            f"{op}: expected padding of at most half the window {tuple(reach)}, got {padding!r}"
        )
    count = places(x.shape[x.ndim - rank :], kernel, strides, around, dilations, ceil)
    if min(count) < 1 or 0 in x.shape[1:]:
        raise ShapeError(f"{op}: no window of {tuple(reach)} fits into the {describe(x)}")
    return {"kernel": kernel, "stride": strides, "padding": around, "dilation": dilations}, count


# the largest


def _max(
    rank: int,
    input: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
    return_indices: bool,
) -> Any:
    op = f"max_pool{rank}d"
    x, alone = batched(as_array(input), rank, op)
    settings, count = _settings(op, x, rank, kernel_size, stride, padding, dilation, ceil_mode)
    if not return_indices:
        out = max_pool(x, **settings, count=count)
        return out[0] if alone else out
    index = max_pool_index(x, **settings, count=count)
    out = pool_pick(x, index, rank=rank)
    return (out[0], index[0]) if alone else (out, index)


def max_pool1d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of every window of (N, C, L); see `max_pool2d`."""
    return _max(1, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool2d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of every window; NaN where there is one.

    Parameters
    ----------
    input : array_like, shape (N, C, H, W) or (C, H, W)
        Real; padding counts as the least value.
    kernel_size : int or sequence of int
        Extents of the window.
    stride : int or sequence of int, optional
        Its steps; the kernel's extents by default.
    padding : int, sequence of int or of (before, after)
        At most half of the window.
    dilation : int or sequence of int
        Step between the elements of a window.
    ceil_mode : bool
        Whether a window may reach over the end.
    return_indices : bool
        Whether the flat place of each element in its image is returned too.

    Returns
    -------
    Array, or (Array, Array of int64)
        Of the input's dtype. The gradient goes to the first of equal elements.

    Raises
    ------
    ShapeError
        If the input has other axes, or no window fits.
    ValueError
        If a setting is wrong.

    Examples
    --------
    >>> import numen as nm
    >>> nm.nn.functional.max_pool2d(nm.arange(16).reshape(1, 4, 4), 2).tolist()
    [[[5, 7], [13, 15]]]
    """
    return _max(2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool3d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of every window of (N, C, D, H, W); see `max_pool2d`."""
    return _max(3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def _unpool(
    rank: int,
    input: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    output_size: Any,
) -> Any:
    op = f"max_unpool{rank}d"
    x, alone = batched(as_array(input), rank, op)
    index, _ = batched(as_array(indices), rank, op)
    kernel = each(kernel_size, rank, op, "kernel_size")
    strides = kernel if stride is None else each(stride, rank, op, "stride")
    around = each(padding, rank, op, "padding", 0)
    if output_size is None:
        parts = zip(x.shape[2:], kernel, strides, around, strict=True)
        shape = tuple([(n - 1) * s - 2 * p + k for n, k, s, p in parts])
    else:
        shape = tuple(map(int, output_size))[-rank:]
    out = pool_place(x, index, shape=shape)
    return out[0] if alone else out


def max_unpool1d(
    input: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Any:
    """Elements put back to where `max_pool1d` found them; see `max_unpool2d`."""
    return _unpool(1, input, indices, kernel_size, stride, padding, output_size)


def max_unpool2d(
    input: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Any:
    """Elements put back to where `max_pool2d` found them with `return_indices`, zeros elsewhere.

    Elements of overlapping windows that share a place are added up.

    Raises
    ------
    ShapeError
        If input and indices have different shapes.
    IndexError
        If an index is out of bounds.
    """
    return _unpool(2, input, indices, kernel_size, stride, padding, output_size)


def max_unpool3d(
    input: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Any:
    """Elements put back to where `max_pool3d` found them; see `max_unpool2d`."""
    return _unpool(3, input, indices, kernel_size, stride, padding, output_size)


# the average


def _divisor(sizes: Sequence[int], settings: dict[str, Any], count: Sizes, padded: bool) -> Any:
    """How many elements of each window count: an int where all are alike."""
    total: Any = np.ones((), np.int64)
    kernel, stride, padding = settings["kernel"], settings["stride"], settings["padding"]
    for n, k, s, (low, high), o in zip(sizes, kernel, stride, padding, count, strict=True):
        start = np.arange(o) * s - low
        end = np.minimum(start + k, n + high)
        along = end - start if padded else np.minimum(end, n) - np.maximum(start, 0)
        total = total[..., None] * along
    least, most = int(total.min()), int(total.max())
    return least if least == most else total


def _avg(
    rank: int,
    input: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Any:
    op = f"avg_pool{rank}d"
    x, alone = batched(floating(input, op), rank, op)
    settings, count = _settings(op, x, rank, kernel_size, stride, padding, 1, ceil_mode)
    if divisor_override is not None:
        divisor: Any = int(divisor_override)
        if not divisor:
            raise ValueError(f"{op}: divisor_override must not be 0")
    else:
        divisor = _divisor(x.shape[2:], settings, count, count_include_pad)
    del settings["dilation"]
    out = window_sum(x, **settings, count=count)
    out = out / (divisor if isinstance(divisor, int) else constant(divisor.astype(x.dtype), out))
    return out[0] if alone else out


def avg_pool1d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Any:
    """The average of every window of (N, C, L); see `avg_pool2d`."""
    return _avg(1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


def avg_pool2d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    """The average of every window.

    Parameters
    ----------
    input : array_like, shape (N, C, H, W) or (C, H, W)
        Floating.
    kernel_size, stride, padding, ceil_mode
        As for `max_pool2d`; the padding is zeros.
    count_include_pad : bool
        Whether the padding's elements count. What a window reaches over the padded end never does.
    divisor_override : int, optional
        What every sum is divided by instead.

    Raises
    ------
    ShapeError
        If the input has other axes, or no window fits.
    ValueError
        If a setting is wrong.

    Examples
    --------
    >>> import numen as nm
    >>> nm.nn.functional.avg_pool2d(nm.arange(16.0).reshape(1, 4, 4), 2).tolist()
    [[[2.5, 4.5], [10.5, 12.5]]]
    """
    return _avg(
        2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


def avg_pool3d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    """The average of every window of (N, C, D, H, W); see `avg_pool2d`."""
    return _avg(
        3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


# the p-norm


def _lp(
    rank: int, input: Any, norm_type: float, kernel_size: Any, stride: Any, ceil_mode: bool
) -> Any:
    op = f"lp_pool{rank}d"
    x, alone = batched(floating(input, op), rank, op)
    settings, count = _settings(op, x, rank, kernel_size, stride, 0, 1, ceil_mode)
    del settings["dilation"]
    p = float(norm_type)
    total = window_sum(x**p, **settings, count=count)
    out = (sign(total) * relu(absolute(total))) ** (1.0 / p)
    return out[0] if alone else out


def lp_pool1d(
    input: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Any:
    """(sum of x**p) ** (1 / p) over every window of (N, C, L)."""
    return _lp(1, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(
    input: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Any:
    """(sum of x**p) ** (1 / p) over every window of (N, C, H, W)."""
    return _lp(2, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool3d(
    input: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
) -> Any:
    """(sum of x**p) ** (1 / p) over every window of (N, C, D, H, W)."""
    return _lp(3, input, norm_type, kernel_size, stride, ceil_mode)
