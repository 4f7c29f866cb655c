"""Layers of convolution: Conv1d to Conv3d and their transposes.

They hold weights in PyTorch's layout and call `functional_convolution.py`. Next: `pooling.py`.
"""

from __future__ import annotations

import math
from typing import Any

from numen.nn import functional_convolution as functional
from numen.nn.arguments import each, pairs
from numen.nn.initial import bound_of, uniform
from numen.nn.module import Module
from numen.nn.parameter import Parameter

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]

PADDING_MODES = {"zeros": "constant", **{m: m for m in ("reflect", "replicate", "circular")}}


class _Convolution(Module):
    """What the six layers share: settings, weights and text."""

    rank: int
    transposed = False
    weight: Parameter
    bias: Parameter | None

    def _prepare(
        self,
        channels: tuple[int, int],
        kernel_size: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        output_padding: Any,
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any,
        dtype: Any,
    ) -> None:
        Module.__init__(self)
        name, rank = type(self).__name__, self.rank
        if groups < 1 or any(c % groups for c in channels):
            raise ValueError(
                f"{name}: expected in_channels and out_channels to be multiples of "
                f"groups={groups}, got {channels[0]} and {channels[1]}"
            )
        modes = ["zeros"] if self.transposed else list(PADDING_MODES)
        if padding_mode not in modes:
            raise ValueError(
                f"{name}: expected padding_mode to be one of {modes}, got {padding_mode!r}"
            )
        self.in_channels, self.out_channels = channels
        self.kernel_size = each(kernel_size, rank, name, "kernel_size")
        self.stride = each(stride, rank, name, "stride")
        self.dilation = each(dilation, rank, name, "dilation")
        self.output_padding = each(output_padding, rank, name, "output_padding", 0)
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"{name}: expected padding 'same' or 'valid', got {padding!r}")
            if padding == "same" and any(s != 1 for s in self.stride):
                raise ValueError(f"{name}: padding 'same' needs stride 1, got {stride!r}")
            self.padding: Any = padding
        elif isinstance(padding, (tuple, list)) and isinstance(padding[0], (tuple, list)):
            self.padding = pairs(padding, rank, name)
        else:
            self.padding = each(padding, rank, name, "padding", 0)
        self.groups, self.padding_mode = groups, padding_mode
        first, second = channels if self.transposed else channels[::-1]
        shape = (first, second // groups, *self.kernel_size)
        bound = bound_of(math.prod(shape[1:]))
        self.weight = uniform(shape, bound, dtype)
        self.bias = uniform((self.out_channels,), bound, dtype) if bias else None
        if device is not None:
            self.to(device)

    def extra_repr(self) -> str:
        parts = [f"{self.in_channels}, {self.out_channels}"]
        parts += [f"kernel_size={self.kernel_size}, stride={self.stride}"]
        none = (0,) * self.rank
        if self.padding != none:
            parts.append(f"padding={self.padding}")
        if any(d != 1 for d in self.dilation):
            parts.append(f"dilation={self.dilation}")
        if self.output_padding != none:
            parts.append(f"output_padding={self.output_padding}")
        if self.groups != 1:
            parts.append(f"groups={self.groups}")
        if self.bias is None:
            parts.append("bias=False")
        if self.padding_mode != "zeros":
            parts.append(f"padding_mode={self.padding_mode}")
        return ", ".join(parts)


class _Conv(_Convolution):
    """Cross-correlation with learned filters."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        channels = (in_channels, out_channels)
        self._prepare(
            channels, kernel_size, stride, padding, dilation, 0, groups, bias, padding_mode,
            device, dtype,
        )  # fmt: skip

    def _around(self) -> list[int]:
        """The padding in the order of `functional.pad`: last axis first."""
        if self.padding == "valid":
            return [0] * (2 * self.rank)
        if self.padding == "same":
            both = functional.same_padding(self.kernel_size, self.dilation)
        else:
            both = pairs(self.padding, self.rank, type(self).__name__)
        return [p for low_high in reversed(both) for p in low_high]

    def forward(self, input: Any) -> Any:
        """Convolve (N, in_channels, *spatial) to (N, out_channels, *spatial').

        Raises
        ------
        ShapeError
            If the input's channels or extents do not fit.
        DTypeError
            If it is not floating.
        """
        padding = self.padding
        if self.padding_mode != "zeros":
            input = functional.pad(input, self._around(), PADDING_MODES[self.padding_mode])
            padding = 0
        convolve = (functional.conv1d, functional.conv2d, functional.conv3d)[self.rank - 1]
        return convolve(
            input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups
        )


class Conv1d(_Conv):
    """Convolution of (N, C, L); parameters as `Conv2d`."""

    rank = 1


class Conv2d(_Conv):
    """Convolution of images (N, C, H, W).

    Parameters
    ----------
    in_channels, out_channels : int
        Channels of the input and of the result.
    kernel_size : int or sequence of int
        Extents of the filters.
    stride, dilation : int or sequence of int
        Step of the window, and of the elements inside it.
    padding : int, sequence of int or of (before, after), "valid" or "same"
        Elements around the input.
    groups : int
        In how many groups the channels are convolved apart.
    bias : bool
        Whether something is added to each channel.
    padding_mode : {"zeros", "reflect", "replicate", "circular"}
        What stands in the padding.
    device, dtype
        Of the parameters; float32 by default.

    Attributes
    ----------
    weight : Parameter of shape (out_channels, in_channels / groups, *kernel_size)
        Uniform in [-k, k) at first, k = 1 / sqrt(in_channels / groups * kernel elements).
    bias : Parameter of shape (out_channels,) or None
        The same distribution.

    Raises
    ------
    ValueError
        If a setting is wrong.

    Examples
    --------
    >>> import numen as nm
    >>> layer = nm.nn.Conv2d(3, 8, 3, padding=1)
    >>> layer(nm.ones((2, 3, 6, 6), nm.float32)).shape, layer
    ((2, 8, 6, 6), Conv2d(3, 8, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1)))
    """

    rank = 2


class Conv3d(_Conv):
    """Convolution of (N, C, D, H, W); parameters as `Conv2d`."""

    rank = 3


class _ConvTranspose(_Convolution):
    """The transpose of a convolution."""

    transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        channels = (in_channels, out_channels)
        self._prepare(
            channels, kernel_size, stride, padding, dilation, output_padding, groups, bias,
            padding_mode, device, dtype,
        )  # fmt: skip

    def _extra(self, input: Any, output_size: Any) -> tuple[int, ...]:
        """The output padding that gives a wanted size.

        Raises
        ------
        ValueError
            If no output padding does.
        """
        if output_size is None:
            return self.output_padding
        sizes = tuple(map(int, output_size))[-self.rank :]
        around = pairs(self.padding, self.rank, type(self).__name__)
        extra = []
        parts = zip(
            sizes, input.shape[-self.rank :], self.stride, around, self.dilation, self.kernel_size,
            strict=True,
        )  # fmt: skip
        for wanted, n, s, p, d, k in parts:
            least = (n - 1) * s - sum(p) + d * (k - 1) + 1
            if not least <= wanted < least + s:
                raise ValueError(
                    f"{type(self).__name__}: expected output sizes in [{least}, {least + s}), "
                    f"got {output_size!r}"
                )
            extra.append(wanted - least)
        return tuple(extra)

    def forward(self, input: Any, output_size: Any = None) -> Any:
        """Map (N, in_channels, *spatial) to (N, out_channels, *spatial').

        Raises
        ------
        ShapeError
            If the input's channels do not fit.
        ValueError
            If output_size can't be had.
        """
        transposes = (
            functional.conv_transpose1d,
            functional.conv_transpose2d,
            functional.conv_transpose3d,
        )
        extra = self._extra(input, output_size)
        return transposes[self.rank - 1](
            input, self.weight, self.bias, self.stride, self.padding, extra, self.groups,
            self.dilation,
        )  # fmt: skip


class ConvTranspose1d(_ConvTranspose):
    """The transpose of `Conv1d`; parameters as `ConvTranspose2d`."""

    rank = 1


class ConvTranspose2d(_ConvTranspose):
    """The transpose of `Conv2d`: maps (N, in_channels, H, W) to a larger image.

    Parameters
    ----------
    in_channels, out_channels, kernel_size, stride, padding, groups, bias, dilation, device, dtype
        As for `Conv2d`.
    output_padding : int or sequence of int
        Elements added after each axis of the result; `forward` finds them from an `output_size`.
    padding_mode : {"zeros"}
        There is no other.

    Attributes
    ----------
    weight : Parameter of shape (in_channels, out_channels / groups, *kernel_size)
        Uniform in [-k, k) at first, k = 1 / sqrt(out_channels / groups * kernel elements).
    bias : Parameter of shape (out_channels,) or None
        The same distribution.

    Examples
    --------
    >>> import numen as nm
    >>> layer = nm.nn.ConvTranspose2d(8, 3, 2, stride=2)
    >>> layer(nm.ones((2, 8, 6, 6), nm.float32)).shape
    (2, 3, 12, 12)
    """

    rank = 2


class ConvTranspose3d(_ConvTranspose):
    """The transpose of `Conv3d`; parameters as `ConvTranspose2d`."""

    rank = 3
