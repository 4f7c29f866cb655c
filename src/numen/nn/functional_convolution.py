"""Convolutions and transposed convolutions over one, two and three spatial axes, and padding.

Shapes are checked here; the rows of `ops/convolution.py` compute. Called by `convolution.py`;
`functional.py` re-exports `__all__`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch.convert import as_array
from numen.errors import ShapeError, describe
from numen.namespace import pad as _pad
from numen.namespace import take
from numen.nn.arguments import Pairs, batched, each, floating, pairs
from numen.ops.convolution import convolution, convolution_input

__all__ = ["conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d"]
__all__ += ["conv_transpose3d", "pad"]

MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}
"""PyTorch's names of ways to pad, and NumPy's."""


def same_padding(kernel: tuple[int, ...], dilation: tuple[int, ...]) -> Pairs:
    """The padding that keeps extents: the larger half of it after each axis."""
    totals = [d * (k - 1) for k, d in zip(kernel, dilation, strict=True)]
    return tuple([(total // 2, total - total // 2) for total in totals])


def _weight(weight: Any, rank: int, op: str) -> Any:
    weight = as_array(weight)
    if weight.ndim != rank + 2:
        raise ShapeError(
            f"{op}: expected weight with {rank} spatial axes, of shape (out, in / groups, "
            f"*kernel) or, transposed, (in, out / groups, *kernel); got {describe(weight)}"
        )
    return weight


def _biased(out: Any, bias: Any, rank: int, op: str) -> Any:
    if bias is None:
        return out
    if bias.shape != (out.shape[1],):
        raise ShapeError(f"{op}: expected bias of shape {(out.shape[1],)}, got {describe(bias)}")
    return out + bias.reshape((-1, *(1,) * rank))


def _conv(
    rank: int,
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
) -> Any:
    op = f"conv{rank}d"
    weight = _weight(weight, rank, op)
    x, alone = batched(floating(input, op, weight), rank, op)
    strides, dilations = each(stride, rank, op, "stride"), each(dilation, rank, op, "dilation")
    kernel = tuple(weight.shape[2:])
    if padding == "same":
        if any(s != 1 for s in strides):
            raise ValueError(f"{op}: padding 'same' needs stride 1, got {stride!r}")
        around = same_padding(kernel, dilations)
    else:
        around = pairs(0 if padding == "valid" else padding, rank, op)
    sizes = [n + sum(p) for n, p in zip(x.shape[2:], around, strict=True)]
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    fits = all(n >= k for n, k in zip(sizes, reach, strict=True))
    if groups < 1 or x.shape[1] != weight.shape[1] * groups or weight.shape[0] % groups or not fits:
        raise ShapeError(
            f"{op}: expected input of shape (N, C, *spatial), weight of shape (O, C / groups, "
            f"*kernel), O a multiple of groups={groups}, and a padded input {tuple(sizes)} no "
            f"smaller than the kernel {tuple(reach)}; got {describe(x, weight)}"
        )
    out = convolution(
        x, weight, stride=strides, padding=around, dilation=dilations, groups=int(groups)
    )
    out = _biased(out, bias, rank, op)
    return out[0] if alone else out


def conv1d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """Cross-correlation of (N, C, L) with weights of (O, C / groups, K); see `conv2d`."""
    return _conv(1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """Cross-correlation of images with filters.

    Parameters
    ----------
    input : array_like, shape (N, C, H, W) or (C, H, W)
        Floating, cast to the weight's dtype.
    weight : Array, shape (O, C / groups, KH, KW)
        As PyTorch stores it.
    bias : Array, shape (O,), optional
        Added to each channel of the result.
    stride, dilation : int or sequence of int
        Step of the window, and of the elements inside it, along each axis.
    padding : int, sequence of int, sequence of (before, after), "valid" or "same"
        Zeros around the input.
    groups : int
        In how many groups the channels are convolved apart.

    Returns
    -------
    Array, shape (N, O, H', W')
        H' = floor((H + before + after - dilation * (KH - 1) - 1) / stride) + 1.

    Raises
    ------
    ShapeError
        If the shapes do not fit.
    DTypeError
        If the input is not floating.
    ValueError
        If a setting has the wrong number of values.

    Examples
    --------
    >>> import numen as nm
    >>> image = nm.arange(16.0).reshape(1, 1, 4, 4)
    >>> nm.nn.functional.conv2d(image, nm.ones((1, 1, 3, 3)), stride=1).tolist()
    [[[[45.0, 54.0], [81.0, 90.0]]]]
    """
    return _conv(2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    """Cross-correlation of (N, C, D, H, W) with weights of (O, C / groups, KD, KH, KW); see
    `conv2d`."""
    return _conv(3, input, weight, bias, stride, padding, dilation, groups)


def _conv_transpose(
    rank: int,
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: int,
    dilation: Any,
) -> Any:
    op = f"conv_transpose{rank}d"
    weight = _weight(weight, rank, op)
    x, alone = batched(floating(input, op, weight), rank, op)
    strides, dilations = each(stride, rank, op, "stride"), each(dilation, rank, op, "dilation")
    around, extra = pairs(padding, rank, op), each(output_padding, rank, op, "output_padding", 0)
    if any(e >= max(s, d) for e, s, d in zip(extra, strides, dilations, strict=True)):
        raise ValueError(
            f"{op}: expected output_padding below the stride or the dilation; got {extra} with "
            f"stride {strides} and dilation {dilations}"
        )
    parts = zip(x.shape[2:], weight.shape[2:], strides, around, dilations, extra, strict=True)
    shape = tuple([(n - 1) * s - sum(p) + d * (k - 1) + 1 + e for n, k, s, p, d, e in parts])
    if groups < 1 or x.shape[1] != weight.shape[0] or weight.shape[0] % groups or min(shape) < 1:
        raise ShapeError(
            f"{op}: expected input of shape (N, C, *spatial), weight of shape (C, O / groups, "
            f"*kernel), C a multiple of groups={groups}, and a result with elements, not of "
            f"extents {shape}; got {describe(x, weight)}"
        )
    out = convolution_input(
        x,
        weight,
        shape=shape,
        stride=strides,
        padding=tuple([(low, high - e) for (low, high), e in zip(around, extra, strict=True)]),
        dilation=dilations,
        groups=int(groups),
    )
    out = _biased(out, bias, rank, op)
    return out[0] if alone else out


def conv_transpose1d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Any:
    """The transpose of `conv1d`; see `conv_transpose2d`."""
    return _conv_transpose(
        1, input, weight, bias, stride, padding, output_padding, groups, dilation
    )


def conv_transpose2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Any:
    """The transpose of `conv2d`: each input element adds a filter to the result.

    Parameters
    ----------
    input : array_like, shape (N, C, H, W) or (C, H, W)
        Floating, cast to the weight's dtype.
    weight : Array, shape (C, O / groups, KH, KW)
        As PyTorch stores it.
    bias : Array, shape (O,), optional
        Added to each channel of the result.
    stride, padding, groups, dilation
        Those of the convolution that this transposes.
    output_padding : int or sequence of int
        Elements added after each axis of the result, as a convolution with a stride maps several
        extents to one.

    Returns
    -------
    Array, shape (N, O, H', W')
        H' = (H - 1) * stride - before - after + dilation * (KH - 1) + output_padding + 1.

    Raises
    ------
    ShapeError
        If the shapes do not fit.
    ValueError
        If output_padding reaches the stride and the dilation.
    """
    return _conv_transpose(
        2, input, weight, bias, stride, padding, output_padding, groups, dilation
    )


def conv_transpose3d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Any:
    """The transpose of `conv3d`; see `conv_transpose2d`."""
    return _conv_transpose(
        3, input, weight, bias, stride, padding, output_padding, groups, dilation
    )


def pad(input: Any, pad: Any, mode: str = "constant", value: float | None = None) -> Any:
    """Padding with PyTorch's order: (before, after) of the last axis, then of the one before.

    Parameters
    ----------
    input : array_like
        Of any shape.
    pad : sequence of int
        An even number; negative ones cut off.
    mode : {"constant", "reflect", "replicate", "circular"}
        What stands in the padding.
    value : float, optional
        The constant, 0 by default.

    Raises
    ------
    ValueError
        If the mode or the number of widths is wrong.

    Examples
    --------
    >>> import numen as nm
    >>> nm.nn.functional.pad(nm.ones((1, 2)), (1, 0), value=5.0).tolist()
    [[5.0, 1.0, 1.0]]
    """
    x, widths = as_array(input), [int(p) for p in pad]
    if mode not in MODES or len(widths) % 2 or len(widths) > 2 * x.ndim:
        raise ValueError(
            f"pad: expected a mode of {list(MODES)} and at most {x.ndim} pairs of widths; got "
            f"{mode!r} and {pad!r}"
        )
    both = [(0, 0)] * x.ndim
    for i in range(len(widths) // 2):
        both[x.ndim - 1 - i] = (widths[2 * i], widths[2 * i + 1])
    left = [n + min(a, 0) + min(b, 0) for n, (a, b) in zip(x.shape, both, strict=True)]
    if mode == "replicate" and min(left, default=1) <= 0:
        return _replicated(x, both)
    if any(low < 0 or high < 0 for low, high in both):
        x = x[
            tuple(
                [slice(max(-a, 0), n - max(-b, 0)) for n, (a, b) in zip(x.shape, both, strict=True)]
            )
        ]
        both = [(max(a, 0), max(b, 0)) for a, b in both]
    if not any(low or high for low, high in both):
        return x
    if mode == "constant":
        return _pad(x, both, constant_values=0 if value is None else value)
    return _pad(x, both, mode=MODES[mode])


def _replicated(x: Any, both: list[tuple[int, int]]) -> Any:
    """Padding by the nearest element where a negative width cuts a whole axis away."""
    for axis, (low, high) in enumerate(both):
        n = x.shape[axis]
        nearest = np.clip(np.arange(-low, n + high), 0, max(n - 1, 0))
        x = take(x, as_array(nearest), axis=axis)
    return x
