"""Layers and losses as functions: linear, activations, softmax; the losses and attention.

Everything is written with primitives, without looking at values, so a trace records it. Called by
`layers.py` and by users as `nm.nn.functional`.
"""

from __future__ import annotations

from typing import Any

from numen import namespace
from numen.dispatch.convert import as_array, normalize_axes
from numen.errors import ShapeError, describe
from numen.nn import (
    functional_activations,
    functional_adaptive,
    functional_attention,
    functional_classification,
    functional_convolution,
    functional_ctc,
    functional_distances,
    functional_dropout,
    functional_lookup,
    functional_losses,
    functional_normalization,
    functional_pooling,
    functional_probabilities,
)
from numen.nn.arguments import floating
from numen.nn.functional_activations import *  # noqa: F403
from numen.nn.functional_adaptive import *  # noqa: F403
from numen.nn.functional_attention import *  # noqa: F403
from numen.nn.functional_classification import *  # noqa: F403
from numen.nn.functional_convolution import *  # noqa: F403
from numen.nn.functional_ctc import *  # noqa: F403
from numen.nn.functional_distances import *  # noqa: F403
from numen.nn.functional_dropout import *  # noqa: F403
from numen.nn.functional_lookup import *  # noqa: F403
from numen.nn.functional_losses import *  # noqa: F403
from numen.nn.functional_normalization import *  # noqa: F403
from numen.nn.functional_pooling import *  # noqa: F403
from numen.nn.functional_probabilities import *  # noqa: F403

__all__ = ["linear", "bilinear", "flatten", "softmax", "softmin", "log_softmax"]
__all__ += functional_activations.__all__ + functional_convolution.__all__
__all__ += functional_pooling.__all__ + functional_adaptive.__all__
__all__ += functional_normalization.__all__ + functional_dropout.__all__
__all__ += functional_lookup.__all__
__all__ += functional_losses.__all__ + functional_classification.__all__
__all__ += functional_probabilities.__all__
__all__ += functional_distances.__all__
__all__ += functional_ctc.__all__ + functional_attention.__all__


def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """input @ weight.T + bias; floating input is cast to the weight's dtype.

    Parameters
    ----------
    input : array_like, shape (..., in_features)
        Floating input.
    weight : Array, shape (out_features, in_features)
        As PyTorch stores it.
    bias : Array, shape (out_features,), optional
        Added to each row.

    Returns
    -------
    Array, shape (..., out_features)
        Of the weight's dtype.

    Raises
    ------
    ShapeError
        If the shapes do not fit.
    DTypeError
        If the input is not of a floating dtype.
    """
    x = floating(input, "linear", weight)
    if weight.ndim != 2 or not x.ndim or x.shape[-1] != weight.shape[1]:
        raise ShapeError(
            f"linear: expected input of shape (..., in_features) and weight of shape "
            f"(out_features, in_features); "
            f"got {describe(x, weight)}"
        )
    if bias is None:
        return x @ weight.T
    if bias.shape != weight.shape[:1]:
        raise ShapeError(f"linear: expected bias of shape {weight.shape[:1]}, got {describe(bias)}")
    return x @ weight.T + bias


def bilinear(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Any:
    """input1 @ weight[o] @ input2 for every output o, + bias.

    Parameters
    ----------
    input1 : array_like, shape (..., in1_features)
    input2 : array_like, shape (..., in2_features)
    weight : Array, shape (out_features, in1_features, in2_features)
    bias : Array, shape (out_features,), optional

    Returns
    -------
    Array, shape (..., out_features)

    Raises
    ------
    ShapeError
        If the shapes do not fit.
    """
    a, b = floating(input1, "bilinear", weight), floating(input2, "bilinear", weight)
    inner = (*a.shape[-1:], *b.shape[-1:])
    if weight.ndim != 3 or inner != tuple(weight.shape[1:]) or a.shape[:-1] != b.shape[:-1]:
        raise ShapeError(
            "bilinear: expected inputs of shapes (..., in1) and (..., in2) and weight of shape "
            f"(out, in1, in2); got {describe(a, b, weight)}"
        )
    out = namespace.einsum("...i,oij,...j->...o", a, weight, b)
    return out if bias is None else out + bias


def flatten(input: Any, start_dim: int = 1, end_dim: int = -1) -> Any:
    """Join the axes from start_dim to end_dim (inclusive) into one.

    Raises
    ------
    numpy.exceptions.AxisError
        If an axis is out of bounds.
    ValueError
        If start_dim comes after end_dim.
    """
    x = as_array(input)
    (first,) = normalize_axes(start_dim, x.ndim, "flatten")
    (last,) = normalize_axes(end_dim, x.ndim, "flatten")
    if first > last:
        raise ValueError(
            f"flatten: start_dim {start_dim} comes after end_dim {end_dim}; got {describe(x)}"
        )
    joined = 1
    for n in x.shape[first : last + 1]:
        joined *= n
    return x.reshape((*x.shape[:first], joined, *x.shape[last + 1 :]))


def softmax(input: Any, dim: int = -1, dtype: Any = None) -> Any:
    """exp(input) / sum(exp(input)) along an axis, as `numen.softmax`, of floating input.

    Parameters
    ----------
    input : array_like
        Floating.
    dim : int
        The axis over which the result sums to 1.
    dtype : dtype, optional
        What the input is cast to first.

    Raises
    ------
    DTypeError
        If the input is not of a floating dtype.
    """
    return namespace.softmax(_cast(input, dtype, "softmax"), dim)


def softmin(input: Any, dim: int = -1, dtype: Any = None) -> Any:
    """softmax(-input)."""
    return namespace.softmax(-_cast(input, dtype, "softmin"), dim)


def log_softmax(input: Any, dim: int = -1, dtype: Any = None) -> Any:
    """The logarithm of softmax, exact where the softmax underflows.

    Raises
    ------
    DTypeError
        If the input is not of a floating dtype.
    """
    return namespace.log_softmax(_cast(input, dtype, "log_softmax"), dim)


def _cast(x: Any, dtype: Any, op: str) -> Any:
    return floating(x if dtype is None else as_array(x).astype(dtype), op)
