"""Activation functions, element by element but for softmin and glu.

Each is written with rows that have kernels, so that they fuse with their neighbours under jit. At
the kinks the gradients are PyTorch's. Called by `activations.py`; `functional.py` re-exports
`__all__`.
"""

from __future__ import annotations

import math
from typing import Any

from numen.dispatch.convert import as_array, normalize_axes
from numen.errors import ShapeError, describe
from numen.namespace import absolute, expm1, where
from numen.namespace import tanh as _tanh
from numen.nn.arguments import floating, in_place
from numen.ops.activations import erf as _erf
from numen.ops.activations import sigmoid as _sigmoid
from numen.ops.activations import softplus as _softplus
from numen.ops.kinks import relu as _relu

__all__ = ["celu", "elu", "gelu", "glu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh"]
__all__ += ["leaky_relu", "logsigmoid", "mish", "prelu", "relu", "relu6", "selu", "sigmoid"]
__all__ += ["silu", "softplus", "softshrink", "softsign", "tanh", "tanhshrink", "threshold"]

ROOT_HALF = math.sqrt(0.5)
ROOT_TWO_OVER_PI = math.sqrt(2 / math.pi)

SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946
"""Klambauer et al., "Self-Normalizing Neural Networks" (2017)."""


def relu(input: Any, inplace: bool = False) -> Any:
    """max(input, 0), with gradient 0 at 0.

    Parameters
    ----------
    input : array_like
        Of any shape and real dtype.
    inplace : bool
        Whether the result is written into the input, which then must be an Array and no leaf.

    Examples
    --------
    >>> import numen as nm
    >>> nm.nn.functional.relu(nm.array([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """
    x = as_array(input)
    return in_place(x, _relu(x), inplace, "relu")


def relu6(input: Any, inplace: bool = False) -> Any:
    """min(max(input, 0), 6)."""
    return hardtanh(input, 0.0, 6.0, inplace)


def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Any:
    """input held within [min_val, max_val]; the gradient on the bounds is 0."""
    x = floating(input, "hardtanh")
    held = where(x <= min_val, min_val, where(x >= max_val, max_val, x))
    return in_place(x, held, inplace, "hardtanh")


def leaky_relu(input: Any, negative_slope: float = 0.01, inplace: bool = False) -> Any:
    """input where it is positive, else negative_slope * input."""
    x = floating(input, "leaky_relu")
    return in_place(x, where(x > 0, x, x * negative_slope), inplace, "leaky_relu")


def prelu(input: Any, weight: Any) -> Any:
    """input where it is positive, else weight * input.

    Parameters
    ----------
    input : array_like, shape (N, C, ...) or any for one weight
        Floating.
    weight : Array, shape (C,) or (1,)
        The slope of each channel.

    Raises
    ------
    ShapeError
        If there is neither one weight nor one a channel.
    """
    x = floating(input, "prelu", weight)
    if weight.size != 1:
        if x.ndim < 2 or weight.shape != (x.shape[1],):
            raise ShapeError(
                f"prelu: expected one weight, or one for each of axis 1; got {describe(x, weight)}"
            )
        weight = weight.reshape((-1, *(1,) * (x.ndim - 2)))
    elif weight.ndim:
        weight = weight.reshape(())
    return where(x > 0, x, x * weight)


def elu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """input where it is positive, else alpha * (exp(input) - 1)."""
    x = floating(input, "elu")
    return in_place(x, where(x > 0, x, expm1(_below(x)) * alpha), inplace, "elu")


def celu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """input where it is positive, else alpha * (exp(input / alpha) - 1)."""
    x = floating(input, "celu")
    result = where(x > 0, x, expm1(_below(x) / alpha) * alpha)
    return in_place(x, result, inplace, "celu")


def selu(input: Any, inplace: bool = False) -> Any:
    """elu with the scale and alpha that keep mean 0 and variance 1."""
    x = floating(input, "selu")
    result = where(x > 0, x, expm1(_below(x)) * SELU_ALPHA) * SELU_SCALE
    return in_place(x, result, inplace, "selu")


def _below(x: Any) -> Any:
    """x where it is not positive: no exponential of it overflows, and no NaN gradient comes
    back."""
    return where(x > 0, 0.0, x)


def gelu(input: Any, approximate: str = "none") -> Any:
    """input times the normal distribution's cumulative function (Hendrycks and Gimpel, 2016).

    Parameters
    ----------
    input : array_like
        Floating.
    approximate : {"none", "tanh"}
        "tanh" for the paper's approximation.

    Raises
    ------
    ValueError
        If `approximate` is something else.
    """
    x = floating(input, "gelu")
    if approximate == "none":
        return x * ((_erf(x * ROOT_HALF) + 1.0) * 0.5)
    if approximate != "tanh":
        raise ValueError(f"gelu: expected approximate 'none' or 'tanh', got {approximate!r}")
    inner = (x * x * 0.044715 + 1.0) * x
    return x * ((_tanh(inner * ROOT_TWO_OVER_PI) + 1.0) * 0.5)


def silu(input: Any, inplace: bool = False) -> Any:
    """input * sigmoid(input), also called swish."""
    x = floating(input, "silu")
    return in_place(x, x * _sigmoid(x), inplace, "silu")


def mish(input: Any, inplace: bool = False) -> Any:
    """input * tanh(softplus(input)) (Misra, 2019)."""
    x = floating(input, "mish")
    return in_place(x, x * _tanh(_softplus(x)), inplace, "mish")


def softplus(input: Any, beta: float = 1.0, threshold: float = 20.0) -> Any:
    """log(1 + exp(beta * input)) / beta; input itself where beta * input is above the threshold."""
    x = floating(input, "softplus")
    scaled = x if beta == 1 else x * beta
    smooth = _softplus(scaled)
    return where(scaled > threshold, x, smooth if beta == 1 else smooth / beta)


def softsign(input: Any) -> Any:
    """input / (1 + |input|)."""
    x = floating(input, "softsign")
    return x / (absolute(x) + 1.0)


def sigmoid(input: Any) -> Any:
    """1 / (1 + exp(-input)), accurate at both ends."""
    return _sigmoid(floating(input, "sigmoid"))


def logsigmoid(input: Any) -> Any:
    """log(sigmoid(input)) without underflow."""
    return -_softplus(-floating(input, "logsigmoid"))


def hardsigmoid(input: Any, inplace: bool = False) -> Any:
    """relu6(input + 3) / 6."""
    x = floating(input, "hardsigmoid")
    return in_place(x, relu6(x + 3.0) / 6.0, inplace, "hardsigmoid")


def hardswish(input: Any, inplace: bool = False) -> Any:
    """input * relu6(input + 3) / 6."""
    x = floating(input, "hardswish")
    return in_place(x, x * relu6(x + 3.0) / 6.0, inplace, "hardswish")


def tanh(input: Any) -> Any:
    """The hyperbolic tangent."""
    return _tanh(input)


def tanhshrink(input: Any) -> Any:
    """input - tanh(input)."""
    x = floating(input, "tanhshrink")
    return x - _tanh(x)


def hardshrink(input: Any, lambd: float = 0.5) -> Any:
    """input where its magnitude is above lambd, else 0."""
    x = floating(input, "hardshrink")
    return where(absolute(x) <= lambd, 0.0, x)


def softshrink(input: Any, lambd: float = 0.5) -> Any:
    """input moved towards 0 by lambd; 0 where it is closer than that.

    Raises
    ------
    ValueError
        If lambd is negative.
    """
    if lambd < 0:
        raise ValueError(f"softshrink: expected lambd of 0 or more, got {lambd!r}")
    x = floating(input, "softshrink")
    return where(x > lambd, x - lambd, where(x < -lambd, x + lambd, x * 0.0))


def threshold(input: Any, threshold: float, value: float, inplace: bool = False) -> Any:
    """input where it is above the threshold, else `value`."""
    x = floating(input, "threshold")
    return in_place(x, where(x <= threshold, value, x), inplace, "threshold")


def glu(input: Any, dim: int = -1) -> Any:
    """The first half along an axis times the sigmoid of the second (Dauphin et al., 2017).

    Raises
    ------
    ShapeError
        If the axis has an odd extent.
    """
    x = floating(input, "glu")
    (axis,) = normalize_axes(dim, x.ndim, "glu")
    half, odd = divmod(x.shape[axis], 2)
    if odd:
        raise ShapeError(f"glu: expected an even extent of axis {dim}; got {describe(x)}")
    before = (slice(None),) * axis
    return x[(*before, slice(0, half))] * _sigmoid(x[(*before, slice(half, None))])
