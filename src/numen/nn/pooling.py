"""Layers of pooling: largest elements, averages and p-norms of windows; adaptive ones.

They hold settings and call `functional_pooling.py` and `functional_adaptive.py`. Next:
`normalization.py`.
"""

from __future__ import annotations

from typing import Any

from numen.nn import functional_adaptive as adaptive
from numen.nn import functional_pooling as functional
from numen.nn.arguments import each
from numen.nn.module import Module

__all__ = [f"{kind}Pool{n}d" for kind in ("Max", "Avg", "LP") for n in (1, 2, 3)]
__all__ += [f"Adaptive{kind}Pool{n}d" for kind in ("Avg", "Max") for n in (1, 2, 3)]
__all__ += [f"MaxUnpool{n}d" for n in (1, 2, 3)]


class _MaxPool(Module):
    """The largest element of every window."""

    rank: int

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def forward(self, input: Any) -> Any:
        pool = (functional.max_pool1d, functional.max_pool2d, functional.max_pool3d)[self.rank - 1]
        return pool(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            self.ceil_mode,
            self.return_indices,
        )

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPool):
    """Largest elements of (N, C, L); parameters as `MaxPool2d`."""

    rank = 1


class MaxPool2d(_MaxPool):
    """Largest elements of windows of (N, C, H, W).

    Parameters
    ----------
    kernel_size, stride, padding, dilation, return_indices, ceil_mode
        As for `functional.max_pool2d`.

    Examples
    --------
    >>> import numen as nm
    >>> nm.nn.MaxPool2d(2)(nm.arange(16.0).reshape(1, 1, 4, 4)).tolist()
    [[[[5.0, 7.0], [13.0, 15.0]]]]
    """

    rank = 2


class MaxPool3d(_MaxPool):
    """Largest elements of (N, C, D, H, W); parameters as `MaxPool2d`."""

    rank = 3


class _MaxUnpool(Module):
    """Elements put back to where a pooling found them."""

    rank: int

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        name, rank = type(self).__name__, self.rank
        self.kernel_size = each(kernel_size, rank, name, "kernel_size")
        wanted = self.kernel_size if stride is None else stride
        self.stride = each(wanted, rank, name, "stride")
        self.padding = each(padding, rank, name, "padding", 0)

    def forward(self, input: Any, indices: Any, output_size: Any = None) -> Any:
        unpool = (functional.max_unpool1d, functional.max_unpool2d, functional.max_unpool3d)
        return unpool[self.rank - 1](
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpool):
    """The way back of `MaxPool1d` with indices."""

    rank = 1


class MaxUnpool2d(_MaxUnpool):
    """The way back of `MaxPool2d` with indices; zeros where nothing was picked."""

    rank = 2


class MaxUnpool3d(_MaxUnpool):
    """The way back of `MaxPool3d` with indices."""

    rank = 3


class AvgPool1d(Module):
    """Averages of windows of (N, C, L); parameters as `AvgPool2d`."""

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size = _alone(kernel_size)
        self.stride = self.kernel_size if stride is None else _alone(stride)
        self.padding = _alone(padding)
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad

    def forward(self, input: Any) -> Any:
        return functional.avg_pool1d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
        )

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


def _alone(value: Any) -> Any:
    return (value,) if isinstance(value, int) else value


class _AvgPool(Module):
    """Averages of windows, with a divisor of choice."""

    rank: int

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Any) -> Any:
        pool = functional.avg_pool2d if self.rank == 2 else functional.avg_pool3d
        return pool(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool2d(_AvgPool):
    """Averages of windows of (N, C, H, W).

    Parameters
    ----------
    kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        As for `functional.avg_pool2d`.

    Examples
    --------
    >>> import numen as nm
    >>> nm.nn.AvgPool2d(2)(nm.arange(16.0).reshape(1, 1, 4, 4)).tolist()
    [[[[2.5, 4.5], [10.5, 12.5]]]]
    """

    rank = 2


class AvgPool3d(_AvgPool):
    """Averages of windows of (N, C, D, H, W); parameters as `AvgPool2d`."""

    rank = 3


class _LPPool(Module):
    """The p-norm of every window."""

    rank: int

    def __init__(
        self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> None:
        super().__init__()
        self.norm_type, self.kernel_size = norm_type, kernel_size
        self.stride, self.ceil_mode = stride, ceil_mode

    def forward(self, input: Any) -> Any:
        pool = (functional.lp_pool1d, functional.lp_pool2d, functional.lp_pool3d)[self.rank - 1]
        return pool(input, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self) -> str:
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPool):
    """(sum of x**p) ** (1 / p) over windows of (N, C, L)."""

    rank = 1


class LPPool2d(_LPPool):
    """(sum of x**p) ** (1 / p) over windows of (N, C, H, W)."""

    rank = 2


class LPPool3d(_LPPool):
    """(sum of x**p) ** (1 / p) over windows of (N, C, D, H, W)."""

    rank = 3


class _Adaptive(Module):
    """Pooling to given extents."""

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_Adaptive):
    """Averages of (N, C, L) with the given extent."""

    def forward(self, input: Any) -> Any:
        return adaptive.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_Adaptive):
    """Averages of (N, C, H, W) with the given extents.

    Parameters
    ----------
    output_size : int, None or a sequence of them
        Extents of the result; None keeps the input's.

    Examples
    --------
    >>> import numen as nm
    >>> nm.nn.AdaptiveAvgPool2d(1)(nm.ones((2, 3, 5, 4))).shape
    (2, 3, 1, 1)
    """

    def forward(self, input: Any) -> Any:
        return adaptive.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(_Adaptive):
    """Averages of (N, C, D, H, W) with the given extents."""

    def forward(self, input: Any) -> Any:
        return adaptive.adaptive_avg_pool3d(input, self.output_size)


class _AdaptiveMax(_Adaptive):
    """Largest elements, and with `return_indices` their places."""

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = return_indices


class AdaptiveMaxPool1d(_AdaptiveMax):
    """Largest elements of (N, C, L) with the given extent."""

    def forward(self, input: Any) -> Any:
        return adaptive.adaptive_max_pool1d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool2d(_AdaptiveMax):
    """Largest elements of (N, C, H, W) with the given extents."""

    def forward(self, input: Any) -> Any:
        return adaptive.adaptive_max_pool2d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool3d(_AdaptiveMax):
    """Largest elements of (N, C, D, H, W) with the given extents."""

    def forward(self, input: Any) -> Any:
        return adaptive.adaptive_max_pool3d(input, self.output_size, self.return_indices)
