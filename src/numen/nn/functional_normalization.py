"""Normalisation: batch, layer, group, instance and root-mean-square, and vectors of unit length.

Plain small arrays take one row of `ops/normalization.py`; a trace, the kernel engine and large
arrays get the same composed of rows that fuse. float16 and small floats are computed in float32.
Called by `normalization.py`; `functional.py` re-exports `__all__`.
"""

from __future__ import annotations

import math
from operator import index
from typing import Any

import numpy as np

from numen.dispatch import modes, views
from numen.dispatch.convert import as_array
from numen.errors import ShapeError, describe
from numen.namespace import abs as _abs
from numen.namespace import finfo, maximum, not_equal, sqrt
from numen.nn.arguments import floating, is_small
from numen.nn.functional_pooling import avg_pool1d
from numen.ops.normalization import normalize as _normalize

__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm", "local_response_norm"]
__all__ += ["normalize", "rms_norm"]


def _wide(x: Any) -> Any:
    return x.astype(np.float32) if x.dtype.itemsize < 4 else x


def standardized(x: Any, axis: tuple[int, ...], eps: float, centered: bool = True) -> Any:
    """(x - mean) / sqrt(variance + eps) along axes; without `centered`, x / sqrt(mean of x**2 +
    eps)."""
    if is_small(x):
        return _normalize(x, axis=axis, eps=eps, centered=centered)
    wide = _wide(x)
    if centered:
        wide = wide - wide.mean(axis=axis, keepdims=True)
    out = wide * (1.0 / sqrt((wide * wide).mean(axis=axis, keepdims=True) + eps))
    return out if out.dtype == x.dtype else out.astype(x.dtype)


def _like(weight: Any, bias: Any) -> Any:
    """What the input is cast to the dtype of."""
    return weight if weight is not None else bias


def _scaled(x: Any, weight: Any, bias: Any) -> Any:
    if weight is not None:
        x = x * weight
    return x if bias is None else x + bias


# over the last axes


def _trailing(op: str, x: Any, normalized_shape: Any, *others: Any) -> tuple[int, ...]:
    """The axes that normalized_shape names.

    Raises
    ------
    ShapeError
        If x does not end in that shape, or weight and bias have another.
    """
    if isinstance(normalized_shape, (tuple, list)):
        shape = tuple(map(index, normalized_shape))
    else:
        shape = (index(normalized_shape),)
    rank = len(shape)
    wrong = [a for a in others if a is not None and tuple(a.shape) != shape]
    if not rank or tuple(x.shape[-rank:]) != shape or wrong:
        raise ShapeError(
            f"{op}: expected input of shape (..., {', '.join(map(str, shape))}), and weight and "
            f"bias of shape {shape}; got {describe(x, *[a for a in others if a is not None])}"
        )
    return tuple(range(x.ndim - rank, x.ndim))


def layer_norm(
    input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:
    """Mean 0 and variance 1 over the last axes (Ba, Kiros, Hinton, 2016).

    Parameters
    ----------
    input : array_like, shape (..., *normalized_shape)
        Floating, cast to the weight's dtype.
    normalized_shape : int or sequence of int
        The extents of the axes that are normalised together.
    weight, bias : Array, shape normalized_shape, optional
        Multiplied and added afterwards.
    eps : float
        Added to the variance.

    Raises
    ------
    ShapeError
        If the shapes do not fit.
    DTypeError
        If the input is not floating.

    Examples
    --------
    >>> import numen as nm
    >>> nm.nn.functional.layer_norm(nm.array([1.0, 3.0]), 2, eps=0.0).tolist()
    [-1.0, 1.0]
    """
    x = floating(input, "layer_norm", _like(weight, bias))
    axis = _trailing("layer_norm", x, normalized_shape, weight, bias)
    return _scaled(standardized(x, axis, eps), weight, bias)


def rms_norm(
    input: Any, normalized_shape: Any, weight: Any = None, eps: float | None = None
) -> Any:
    """Mean square 1 over the last axes (Zhang and Sennrich, 2019).

    `eps` is the dtype's own by default. Else as `layer_norm`, without centring and bias.
    """
    x = floating(input, "rms_norm", weight)
    axis = _trailing("rms_norm", x, normalized_shape, weight)
    small = float(finfo(x.dtype).eps) if eps is None else eps
    return _scaled(standardized(x, axis, small, centered=False), weight, None)


# over groups of channels


def _by_channel(a: Any, x: Any, op: str) -> Any:
    """A parameter of shape (C,) as it broadcasts against (N, C, ...).

    Raises
    ------
    ShapeError
        If it has another shape.
    """
    if a is None:
        return None
    a = as_array(a)
    if a.shape != (x.shape[1],):
        raise ShapeError(f"{op}: expected one value a channel of axis 1; got {describe(a, x)}")
    return a if x.ndim == 2 else a.reshape((-1, *(1,) * (x.ndim - 2)))


def group_norm(
    input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:
    """Mean 0 and variance 1 over each group of channels of each example (Wu and He, 2018).

    Parameters
    ----------
    input : array_like, shape (N, C, ...)
        Floating, cast to the weight's dtype.
    num_groups : int
        A divisor of C.
    weight, bias : Array, shape (C,), optional
        Multiplied and added afterwards.
    eps : float
        Added to the variance.

    Raises
    ------
    ShapeError
        If the shapes do not fit.
    """
    x = floating(input, "group_norm", _like(weight, bias))
    if x.ndim < 2 or num_groups < 1 or x.shape[1] % num_groups:
        raise ShapeError(
            f"group_norm: expected input of shape (N, C, ...) with C a multiple of "
            f"num_groups={num_groups}; got {describe(x)}"
        )
    grouped = x.reshape((x.shape[0], num_groups, math.prod(x.shape[1:]) // num_groups))
    out = standardized(grouped, (2,), eps).reshape(x.shape)
    return _scaled(out, _by_channel(weight, x, "group_norm"), _by_channel(bias, x, "group_norm"))


# over the batch


def _update(running: Any, value: Any, momentum: Any) -> None:
    """running = (1 - momentum) running + momentum value, in place."""
    if running is not None:
        with modes.no_grad():
            views.write(running, running * (1.0 - momentum) + value * momentum, "batch_norm")


def _with_statistics(
    op: str,
    x: Any,
    axis: tuple[int, ...],
    running: tuple[Any, Any],
    scale: tuple[Any, Any],
    momentum: Any,
    eps: float,
) -> Any:
    """Normalise by the statistics over `axis`, and keep running means of them.

    The variance that normalises divides by the number of values m, the running one by m - 1.
    """
    count = math.prod([x.shape[i] for i in axis])
    if not count:  # an empty batch says nothing
        out = x if scale[0] is None else x * scale[0]
        return out if scale[1] is None else out + scale[1]
    mean = x.mean(axis=axis, keepdims=True)
    rest = x - mean
    var = (rest * rest).mean(axis=axis, keepdims=True)
    if running[0] is not None or running[1] is not None:
        with modes.no_grad():
            for held, value in (
                (running[0], mean.detach()),
                (running[1], var.detach() * (count / max(count - 1, 1))),
            ):
                if held is not None:
                    if 0 not in axis:  # of each example: their average
                        value = value.mean(axis=0)
                    _update(held, value.reshape(held.shape), momentum)
    weight, bias = scale
    factor = 1.0 / sqrt(var + eps)
    out = rest * (factor if weight is None else factor * weight)
    return out if bias is None else out + bias


def _by_running(x: Any, running: tuple[Any, Any], scale: tuple[Any, Any], eps: float) -> Any:
    """Normalise by statistics that are given: one multiplication and one addition."""
    weight, bias = scale
    factor = 1.0 / sqrt(running[1] + eps)
    if weight is not None:
        factor = factor * weight
    shift = -running[0] * factor
    return x * factor + (shift if bias is None else shift + bias)


def batch_norm(
    input: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: Any = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Mean 0 and variance 1 of each channel over the batch (Ioffe and Szegedy, 2015).

    Parameters
    ----------
    input : array_like, shape (N, C, ...)
        Floating, cast to the weight's dtype.
    running_mean, running_var : Array, shape (C,), or None
        Statistics to normalise by; in training they are updated in place instead.
    weight, bias : Array, shape (C,), optional
        Multiplied and added afterwards.
    training : bool
        Whether the batch's own statistics normalise it.
    momentum : float
        Weight of the batch in the running statistics.
    eps : float
        Added to the variance.

    Raises
    ------
    ValueError
        In training, if there is one value a channel: its variance is nothing to learn from.
    ShapeError
        If the shapes do not fit.
    """
    x = floating(input, "batch_norm", _like(weight, bias))
    if x.ndim < 2:
        raise ShapeError(f"batch_norm: expected input of shape (N, C, ...), got {describe(x)}")
    scale = (_by_channel(weight, x, "batch_norm"), _by_channel(bias, x, "batch_norm"))
    running = (running_mean, running_var)
    kept = [_by_channel(a, x, "batch_norm") for a in running]
    wide = _wide(x)
    if training:
        if math.prod(x.shape) == x.shape[1]:
            raise ValueError(
                f"batch_norm: expected more than 1 value per channel when training, got "
                f"{describe(x)}. Hint: a batch of one example needs eval() or another normalisation"
            )
        axis = (0, *range(2, x.ndim))
        out = _with_statistics("batch_norm", wide, axis, running, scale, momentum, eps)
    elif running_mean is None or running_var is None:
        raise ValueError("batch_norm: expected running_mean and running_var outside of training")
    else:
        out = _by_running(wide, (kept[0], kept[1]), scale, eps)
    return out if out.dtype == x.dtype else out.astype(x.dtype)


def instance_norm(
    input: Any,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    use_input_stats: bool = True,
    momentum: Any = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Mean 0 and variance 1 of each channel of each example (Ulyanov et al., 2016).

    Parameters
    ----------
    input : array_like, shape (N, C, L, ...)
        Floating, cast to the weight's dtype.
    running_mean, running_var, weight, bias, momentum, eps
        As for `batch_norm`; running statistics are of the average over the examples.
    use_input_stats : bool
        False normalises by the running statistics.

    Raises
    ------
    ValueError
        If there is one value a channel of an example.
    ShapeError
        If the shapes do not fit.
    """
    x = floating(input, "instance_norm", _like(weight, bias))
    if x.ndim < 3:
        raise ShapeError(
            f"instance_norm: expected input of shape (N, C, L, ...), got {describe(x)}"
        )
    scale = (_by_channel(weight, x, "instance_norm"), _by_channel(bias, x, "instance_norm"))
    running = (running_mean, running_var)
    kept = [_by_channel(a, x, "instance_norm") for a in running]
    if not use_input_stats:
        if running_mean is None or running_var is None:
            raise ValueError(
                "instance_norm: expected running_mean and running_var without use_input_stats"
            )
        return _by_running(x, (kept[0], kept[1]), scale, eps)
    if math.prod(x.shape[2:]) == 1:
        raise ValueError(
            f"instance_norm: expected more than 1 value per channel of an example, got "
            f"{describe(x)}"
        )
    axis = tuple(range(2, x.ndim))
    if running_mean is None and running_var is None:
        return _scaled(standardized(x, axis, eps), *scale)
    out = _with_statistics("instance_norm", _wide(x), axis, running, scale, momentum, eps)
    return out if out.dtype == x.dtype else out.astype(x.dtype)


# lengths


def normalize(input: Any, p: float = 2.0, dim: Any = 1, eps: float = 1e-12) -> Any:
    """input / max(its p-norm along an axis, eps).

    Examples
    --------
    >>> import numen as nm
    >>> nm.nn.functional.normalize(nm.array([[3.0, 4.0]])).tolist()
    [[0.6, 0.8]]
    """
    x = floating(input, "normalize")
    if p == math.inf:
        length = _abs(x).max(axis=dim, keepdims=True)
    elif p == 1:
        length = _abs(x).sum(axis=dim, keepdims=True)
    elif p == 0:  # how many are not zero
        length = not_equal(x, 0).sum(axis=dim, keepdims=True).astype(x.dtype)
    elif p < 0:  # the smallest magnitude rules
        length = (_abs(x) ** p).sum(axis=dim, keepdims=True) ** (1.0 / p)
    else:
        # scaled by the largest magnitude: no square overflows, and 0 has gradient 0
        top = maximum(_abs(x.detach()).max(axis=dim, keepdims=True), eps)
        total = (_abs(x / top) ** p).sum(axis=dim, keepdims=True)
        length = maximum(total, eps**p) ** (1.0 / p) * top
    return x / maximum(length, eps)


def local_response_norm(
    input: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Any:
    """input / (k + alpha * average of squares over `size` neighbouring channels) ** beta.

    Raises
    ------
    ShapeError
        If the input has fewer than three axes.
    """
    x = floating(input, "local_response_norm")
    if x.ndim < 3:
        raise ShapeError(
            f"local_response_norm: expected input of shape (N, C, L, ...), got {describe(x)}"
        )
    flat = (x * x).reshape((*x.shape[:2], math.prod(x.shape[2:]))).transpose(0, 2, 1)
    around = ((size // 2, (size - 1) // 2),)
    average = avg_pool1d(flat, size, 1, around).transpose(0, 2, 1).reshape(x.shape)
    return x / (average * alpha + k) ** beta
