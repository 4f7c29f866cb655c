"""Layers of normalisation: batch, instance, group, layer and root-mean-square.

Those over the batch hold running statistics, which a training step updates in place, under jit too.
They call `functional_normalization.py`. Next: `dropout.py`.
"""

from __future__ import annotations

import math
from operator import index
from typing import Any

import numpy as np

from numen.dispatch import modes, views
from numen.errors import ShapeError, describe
from numen.nn import functional_normalization as functional
from numen.nn.initial import buffer, floats_of, full
from numen.nn.module import Module
from numen.nn.parameter import Parameter

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "GroupNorm", "InstanceNorm1d"]
__all__ += ["InstanceNorm2d", "InstanceNorm3d", "LayerNorm", "LocalResponseNorm", "RMSNorm"]


class _Tracked(Module):
    """What batch and instance normalisation share: scale, shift, running statistics."""

    ranks: tuple[int, ...]
    weight: Parameter | None
    bias: Parameter | None
    running_mean: Any
    running_var: Any
    num_batches_tracked: Any

    def __init__(
        self,
        num_features: int,
        eps: float,
        momentum: float | None,
        affine: bool,
        track_running_stats: bool,
        device: Any,
        dtype: Any,
        bias: bool,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps, self.momentum = eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        shape = (num_features,)
        self.weight = full(shape, 1.0, dtype) if affine else None
        self.bias = full(shape, 0.0, dtype) if affine and bias else None
        kind = floats_of(dtype)
        kept = track_running_stats
        self.register_buffer("running_mean", buffer(shape, 0.0, kind) if kept else None)
        self.register_buffer("running_var", buffer(shape, 1.0, kind) if kept else None)
        self.register_buffer("num_batches_tracked", buffer((), 0, np.int64) if kept else None)
        if device is not None:
            self.to(device)

    def reset_running_stats(self) -> None:
        """Forget the running statistics."""
        if self.track_running_stats:
            with modes.no_grad():
                for held, value in (
                    (self.running_mean, 0.0),
                    (self.running_var, 1.0),
                    (self.num_batches_tracked, 0),
                ):
                    views.write(held, value, "reset_running_stats", casting="unsafe")

    def _check(self, input: Any) -> None:
        shape, channels = input.shape, self.ranks
        axis = len(shape) - channels[0] + 1 if self._unbatched(len(shape)) else 1
        if (len(shape) not in channels and axis == 1) or shape[axis] != self.num_features:
            raise ShapeError(
                f"{type(self).__name__}: expected input of {' or '.join(map(str, channels))} axes "
                f"with {self.num_features} channels, got {describe(input)}"
            )

    def _unbatched(self, rank: int) -> bool:
        return False

    def _momentum(self) -> Any:
        """Weight of this batch; with no momentum, of one among all batches so far."""
        if self.num_batches_tracked is None:
            return 0.0 if self.momentum is None else self.momentum
        with modes.no_grad():
            count = self.num_batches_tracked
            count += 1
            if self.momentum is not None:
                return self.momentum
            return 1.0 / count.astype(self.running_mean.dtype)

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )


class _BatchNorm(_Tracked):
    """Mean 0 and variance 1 of each channel over the batch."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias
        )

    def forward(self, input: Any) -> Any:
        """Normalise (N, C, ...): by the batch in training, else by the running statistics.

        Raises
        ------
        ValueError
            In training, if there is one value a channel; the running statistics stay as they were.
        ShapeError
            If the axes or channels are others.
        """
        self._check(input)
        by_batch = self.training or self.running_mean is None
        if by_batch and math.prod(input.shape) == self.num_features:
            raise ValueError(
                f"{type(self).__name__}: expected more than 1 value per channel when training, got "
                f"{describe(input)}. Hint: drop a last batch of one example, or call eval()"
            )
        update = self.training and self.track_running_stats
        return functional.batch_norm(
            input,
            self.running_mean if update or not by_batch else None,
            self.running_var if update or not by_batch else None,
            self.weight,
            self.bias,
            by_batch,
            self._momentum() if update else 0.0,
            self.eps,
        )


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of (N, C) or (N, C, L); parameters as `BatchNorm2d`."""

    ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of (N, C, H, W) (Ioffe and Szegedy, 2015).

    Parameters
    ----------
    num_features : int
        Channels C.
    eps : float
        Added to the variance.
    momentum : float or None
        Weight of each batch in the running statistics; None weighs all batches alike.
    affine, bias : bool
        Whether channels are scaled, and shifted too, afterwards.
    track_running_stats : bool
        Whether running statistics are kept, and used in evaluation.
    device, dtype
        Of parameters and statistics; float32 by default.

    Attributes
    ----------
    weight, bias : Parameter of shape (C,) or None
        1 and 0 at first.
    running_mean, running_var : Array of shape (C,) or None
        The variance divides by m - 1.
    num_batches_tracked : Array of int64, 0-d, or None

    Examples
    --------
    >>> import numen as nm
    >>> layer = nm.nn.BatchNorm2d(3)
    >>> layer(nm.ones((2, 3, 4, 4), nm.float32)).shape, layer.num_batches_tracked.item()
    ((2, 3, 4, 4), 1)
    """

    ranks = (4,)


class BatchNorm3d(_BatchNorm):
    """Batch normalisation of (N, C, D, H, W); parameters as `BatchNorm2d`."""

    ranks = (5,)


class _InstanceNorm(_Tracked):
    """Mean 0 and variance 1 of each channel of each example."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias
        )

    def _unbatched(self, rank: int) -> bool:
        return rank == self.ranks[0] - 1

    def _check(self, input: Any) -> None:
        rank = len(input.shape)
        axis = rank - self.ranks[0] + 1
        if rank not in (self.ranks[0] - 1, self.ranks[0]) or (
            (self.affine or self.track_running_stats) and input.shape[axis] != self.num_features
        ):
            raise ShapeError(
                f"{type(self).__name__}: expected input of shape (N, C, *spatial) or (C, *spatial) "
                f"with {self.num_features} channels and {self.ranks[0]} axes for a batch, got "
                f"{describe(input)}"
            )

    def forward(self, input: Any) -> Any:
        """Normalise (N, C, *spatial) or (C, *spatial).

        Raises
        ------
        ValueError
            If there is one value a channel.
        ShapeError
            If the axes or channels are others.
        """
        self._check(input)
        alone = self._unbatched(len(input.shape))
        x = input.reshape((1, *input.shape)) if alone else input
        by_input = self.training or not self.track_running_stats
        out = functional.instance_norm(
            x,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            by_input,
            self.momentum if by_input else 0.0,
            self.eps,
        )
        return out[0] if alone else out


class InstanceNorm1d(_InstanceNorm):
    """Instance normalisation of (N, C, L); parameters as `InstanceNorm2d`."""

    ranks = (3,)


class InstanceNorm2d(_InstanceNorm):
    """Instance normalisation of (N, C, H, W) (Ulyanov, Vedaldi, Lempitsky, 2016).

    Parameters
    ----------
    num_features, eps, momentum, affine, track_running_stats, device, dtype, bias
        As for `BatchNorm2d`; by default without scale, shift and running statistics.

    Examples
    --------
    >>> import numen as nm
    >>> nm.nn.InstanceNorm2d(3)(nm.ones((2, 3, 4, 4), nm.float32)).shape
    (2, 3, 4, 4)
    """

    ranks = (4,)


class InstanceNorm3d(_InstanceNorm):
    """Instance normalisation of (N, C, D, H, W); parameters as `InstanceNorm2d`."""

    ranks = (5,)


class GroupNorm(Module):
    """Mean 0 and variance 1 over groups of channels (Wu and He, 2018).

    Parameters
    ----------
    num_groups, num_channels : int
        The second is a multiple of the first.
    eps : float
        Added to the variance.
    affine, bias : bool
        Whether channels are scaled, and shifted too, afterwards.
    device, dtype
        Of the parameters.

    Raises
    ------
    ValueError
        If the channels can't be grouped.

    Examples
    --------
    >>> import numen as nm
    >>> nm.nn.GroupNorm(2, 4)(nm.ones((3, 4, 5), nm.float32)).shape
    (3, 4, 5)
    """

    weight: Parameter | None
    bias: Parameter | None

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_groups < 1 or num_channels % num_groups:
            raise ValueError(
                f"GroupNorm: expected num_channels to be a multiple of num_groups, got "
                f"{num_channels} and {num_groups}"
            )
        self.num_groups, self.num_channels, self.eps = num_groups, num_channels, eps
        self.affine = affine
        self.weight = full((num_channels,), 1.0, dtype) if affine else None
        self.bias = full((num_channels,), 0.0, dtype) if affine and bias else None
        if device is not None:
            self.to(device)

    def forward(self, input: Any) -> Any:
        return functional.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class LayerNorm(Module):
    """Mean 0 and variance 1 over the last axes (Ba, Kiros, Hinton, 2016).

    Parameters
    ----------
    normalized_shape : int or sequence of int
        Extents of those axes.
    eps : float
        Added to the variance.
    elementwise_affine, bias : bool
        Whether elements are scaled, and shifted too, afterwards.
    device, dtype
        Of the parameters.

    Examples
    --------
    >>> import numen as nm
    >>> nm.nn.LayerNorm(4)(nm.ones((2, 3, 4), nm.float32)).shape
    (2, 3, 4)
    """

    weight: Parameter | None
    bias: Parameter | None

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        affine = elementwise_affine
        self.weight = full(self.normalized_shape, 1.0, dtype) if affine else None
        self.bias = full(self.normalized_shape, 0.0, dtype) if affine and bias else None
        if device is not None:
            self.to(device)

    def forward(self, input: Any) -> Any:
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """Mean square 1 over the last axes (Zhang and Sennrich, 2019).

    Parameters
    ----------
    normalized_shape : int or sequence of int
        Extents of those axes.
    eps : float or None
        Added to the mean square; None is the dtype's own.
    elementwise_affine : bool
        Whether elements are scaled afterwards.
    device, dtype
        Of the parameters.

    Examples
    --------
    >>> import numen as nm
    >>> nm.nn.RMSNorm(2)(nm.array([[3.0, 3.0]], nm.float32)).tolist()
    [[1.0, 1.0]]
    """

    weight: Parameter | None

    def __init__(
        self,
        normalized_shape: Any,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self.weight = full(self.normalized_shape, 1.0, dtype) if elementwise_affine else None
        if device is not None:
            self.to(device)

    def forward(self, input: Any) -> Any:
        return functional.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


def _shape(normalized_shape: Any) -> tuple[int, ...]:
    if isinstance(normalized_shape, (tuple, list)):
        return tuple(map(index, normalized_shape))
    return (index(normalized_shape),)


class LocalResponseNorm(Module):
    """Divide by a power of the squares of neighbouring channels (Krizhevsky et al., 2012).

    Parameters
    ----------
    size : int
        How many channels count.
    alpha, beta, k : float
        input / (k + alpha * average of squares) ** beta.
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Any) -> Any:
        return functional.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
