"""Refilling parameters in place: PyTorch's `nn.init`.

Random values come from the default Philox stream, or from `generator`, a `numen.random.Stream`.
Weights are (fan_out, fan_in, *kernel). The functions return the array they filled. The layers'
own initial values are in `initial.py`.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from numen.dispatch import backends, modes, views
from numen.errors import ShapeError, describe
from numen.random.stream import Stream, default_stream

__all__ = ["calculate_gain", "constant", "constant_", "dirac", "dirac_", "eye", "eye_"]
__all__ += ["kaiming_normal", "kaiming_normal_", "kaiming_uniform", "kaiming_uniform_", "normal"]
__all__ += ["normal_", "ones_", "orthogonal", "orthogonal_", "sparse", "sparse_", "trunc_normal_"]
__all__ += ["uniform", "uniform_", "xavier_normal", "xavier_normal_", "xavier_uniform"]
__all__ += ["xavier_uniform_", "zeros_"]

LINEAR_GAINS = ("linear", "sigmoid")


def _write(tensor: Any, value: Any, op: str) -> Any:
    raw = backends.placed_like(getattr(value, "_d", value), tensor._d)
    with modes.no_grad():
        views.write(tensor, raw, op, casting="unsafe")
    return tensor


def _uniform(shape: Any, low: float, high: float, generator: Stream | None) -> Any:
    stream = default_stream if generator is None else generator
    return stream.uniform(shape, np.float64, low, high)


def _normal(shape: Any, mean: float, std: float, generator: Stream | None) -> Any:
    stream = default_stream if generator is None else generator
    return stream.normal(shape, np.float64, mean, std)


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """By how much weights before a nonlinearity are scaled.

    Parameters
    ----------
    nonlinearity : str
        "linear", "conv1d" ... "conv_transpose3d", "sigmoid": 1; "tanh": 5/3; "relu": sqrt(2);
        "leaky_relu": sqrt(2 / (1 + param**2)); "selu": 3/4.
    param : float, optional
        The slope of leaky_relu, 0.01 by default.

    Raises
    ------
    ValueError
        If the nonlinearity is another.

    Examples
    --------
    >>> calculate_gain("leaky_relu", 1.0)
    1.0
    """
    convolutions = [f"conv{t}{n}d" for t in ("", "_transpose") for n in (1, 2, 3)]
    if nonlinearity in LINEAR_GAINS or nonlinearity in convolutions:
        return 1.0
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else float(param)
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity == "selu":
        return 3.0 / 4
    raise ValueError(f"calculate_gain: unsupported nonlinearity {nonlinearity!r}")


def _fans(tensor: Any, op: str) -> tuple[int, int]:
    """How many inputs reach an output, and outputs an input.

    Raises
    ------
    ShapeError
        If there are fewer than two axes.
    """
    if tensor.ndim < 2:
        raise ShapeError(f"{op}: expected an array of 2 axes or more, got {describe(tensor)}")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def uniform_(tensor: Any, a: float = 0.0, b: float = 1.0, generator: Stream | None = None) -> Any:
    """Uniform in [a, b).

    Parameters
    ----------
    tensor : Array
        Filled in place, gradient or not.
    a, b : float
        Bounds.
    generator : Stream, optional
        What to draw from.

    Returns
    -------
    Array
        `tensor`.

    Examples
    --------
    >>> import numen as nm
    >>> w = nm.nn.init.uniform_(nm.empty((3, 4)), 2.0, 3.0)
    >>> bool(((w >= 2) & (w < 3)).all())
    True
    """
    return _write(tensor, _uniform(tensor.shape, a, b, generator), "uniform_")


def normal_(
    tensor: Any, mean: float = 0.0, std: float = 1.0, generator: Stream | None = None
) -> Any:
    """Normal with a mean and a standard deviation."""
    return _write(tensor, _normal(tensor.shape, mean, std, generator), "normal_")


def trunc_normal_(
    tensor: Any,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Stream | None = None,
) -> Any:
    """Normal numbers within [a, b]: the normal distribution's quantiles of uniform numbers."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "trunc_normal_: the mean is more than 2 std from [a, b]; the distribution of values "
            "may be incorrect",
            stacklevel=2,
        )
    low, high = _phi((a - mean) / std), _phi((b - mean) / std)
    drawn = _uniform(tensor.shape, low, high, generator)
    values = mean + std * _quantile(drawn._d)
    return _write(tensor, np.clip(values, a, b), "trunc_normal_")


def _phi(x: float) -> float:
    """The normal distribution's cumulative function."""
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


TAIL = ((-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e00,
         -2.549732539343734e00, 4.374664141464968e00, 2.938163982698783e00),
        (7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e00,
         3.754408661907416e00, 1.0))  # fmt: skip
CENTRE = ((-3.969683028665376e01, 2.209460984245205e02, -2.759285104469687e02,
           1.383577518672690e02, -3.066479806614716e01, 2.506628277459239e00),
          (-5.447609879822406e01, 1.615858368580409e02, -1.556989798598866e02,
           6.680131188771972e01, -1.328068155288572e01, 1.0))  # fmt: skip


def _quantile(p: Any) -> Any:
    """The inverse of `_phi`, relative error 1.2e-9 (P. J. Acklam's rational approximation)."""

    def ratio(pair: Any, x: Any) -> Any:
        return np.polyval(pair[0], x) / np.polyval(pair[1], x)

    p = np.clip(p, 1e-300, 1.0 - 2.0**-53)
    q = p - 0.5
    inner = ratio(CENTRE, q * q) * q
    side = np.minimum(p, 1.0 - p)
    outer = ratio(TAIL, np.sqrt(-2.0 * np.log(side))) * np.where(q < 0, 1.0, -1.0)
    return np.where(np.abs(q) <= 0.5 - 0.02425, inner, outer)


def constant_(tensor: Any, val: float) -> Any:
    """One value everywhere."""
    return _write(tensor, val, "constant_")


def ones_(tensor: Any) -> Any:
    """Ones."""
    return _write(tensor, 1.0, "ones_")


def zeros_(tensor: Any) -> Any:
    """Zeros."""
    return _write(tensor, 0.0, "zeros_")


def eye_(tensor: Any) -> Any:
    """The identity, of a matrix.

    Raises
    ------
    ShapeError
        If there are not two axes.
    """
    if tensor.ndim != 2:
        raise ShapeError(f"eye_: expected an array of 2 axes, got {describe(tensor)}")
    return _write(tensor, np.eye(*tensor.shape), "eye_")


def dirac_(tensor: Any, groups: int = 1) -> Any:
    """The filters of a convolution that passes its input on, channel by channel.

    Raises
    ------
    ShapeError
        If there are not 3, 4 or 5 axes, or axis 0 is no multiple of `groups`.
    """
    if tensor.ndim not in (3, 4, 5) or tensor.shape[0] % groups:
        raise ShapeError(
            f"dirac_: expected an array of 3, 4 or 5 axes with axis 0 a multiple of {groups}, got "
            f"{describe(tensor)}"
        )
    out = np.zeros(tensor.shape)
    each = tensor.shape[0] // groups
    middle = [n // 2 for n in tensor.shape[2:]]
    for group in range(groups):
        for d in range(min(each, tensor.shape[1])):
            out[(group * each + d, d, *middle)] = 1.0
    return _write(tensor, out, "dirac_")


def xavier_uniform_(tensor: Any, gain: float = 1.0, generator: Stream | None = None) -> Any:
    """Uniform in [-a, a), a = gain sqrt(6 / (fan_in + fan_out)) (Glorot and Bengio, 2010).

    Raises
    ------
    ShapeError
        If there are fewer than two axes.
    """
    bound = gain * math.sqrt(6.0 / sum(_fans(tensor, "xavier_uniform_")))
    return _write(tensor, _uniform(tensor.shape, -bound, bound, generator), "xavier_uniform_")


def xavier_normal_(tensor: Any, gain: float = 1.0, generator: Stream | None = None) -> Any:
    """Normal with std = gain sqrt(2 / (fan_in + fan_out)) (Glorot and Bengio, 2010).

    Raises
    ------
    ShapeError
        If there are fewer than two axes.
    """
    std = gain * math.sqrt(2.0 / sum(_fans(tensor, "xavier_normal_")))
    return _write(tensor, _normal(tensor.shape, 0.0, std, generator), "xavier_normal_")


def _kaiming_std(tensor: Any, a: float, mode: str, nonlinearity: str, op: str) -> float:
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(f"{op}: expected mode 'fan_in' or 'fan_out', got {mode!r}")
    fan = _fans(tensor, op)[mode.lower() == "fan_out"]
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def kaiming_uniform_(
    tensor: Any,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Stream | None = None,
) -> Any:
    """Uniform in [-b, b), b = gain sqrt(3 / fan) (He et al., 2015).

    Parameters
    ----------
    tensor : Array of 2 axes or more
        Filled in place.
    a : float
        The slope of leaky_relu.
    mode : {"fan_in", "fan_out"}
        Which variance is kept: of values forward or of gradients backward.
    nonlinearity : str
        What follows; see `calculate_gain`.
    generator : Stream, optional
        What to draw from.

    Raises
    ------
    ShapeError
        If there are fewer than two axes.
    ValueError
        If the mode is another.
    """
    if 0 in tensor.shape:
        return tensor
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity, "kaiming_uniform_")
    return _write(tensor, _uniform(tensor.shape, -bound, bound, generator), "kaiming_uniform_")


def kaiming_normal_(
    tensor: Any,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Stream | None = None,
) -> Any:
    """Normal with std = gain / sqrt(fan) (He et al., 2015); see `kaiming_uniform_`."""
    if 0 in tensor.shape:
        return tensor
    std = _kaiming_std(tensor, a, mode, nonlinearity, "kaiming_normal_")
    return _write(tensor, _normal(tensor.shape, 0.0, std, generator), "kaiming_normal_")


def orthogonal_(tensor: Any, gain: float = 1.0, generator: Stream | None = None) -> Any:
    """Rows, or columns where they are fewer, that are orthogonal (Saxe et al., 2013).

    Axes from the second on count as one.

    Raises
    ------
    ShapeError
        If there are fewer than two axes.
    """
    _fans(tensor, "orthogonal_")
    if not tensor.size:
        return tensor
    rows, columns = tensor.shape[0], tensor.size // tensor.shape[0]
    flat = _normal((rows, columns), 0.0, 1.0, generator)._d
    q, r = np.linalg.qr(flat.T if rows < columns else flat)
    q = q * np.sign(np.diag(r))  # uniformly distributed
    q = q.T if rows < columns else q
    return _write(tensor, gain * q.reshape(tensor.shape), "orthogonal_")


def sparse_(
    tensor: Any, sparsity: float, std: float = 0.01, generator: Stream | None = None
) -> Any:
    """Normal, with a fraction of each column set to 0 (Martens, 2010).

    Raises
    ------
    ShapeError
        If there are not two axes.
    """
    if tensor.ndim != 2:
        raise ShapeError(f"sparse_: expected an array of 2 axes, got {describe(tensor)}")
    rows = tensor.shape[0]
    values = _normal(tensor.shape, 0.0, std, generator)._d.copy()
    order = _uniform(tensor.shape, 0.0, 1.0, generator)._d.argsort(axis=0)
    values[order < math.ceil(sparsity * rows)] = 0.0
    return _write(tensor, values, "sparse_")


def _renamed(function: Callable[..., Any]) -> Callable[..., Any]:
    """PyTorch's older name, without the underscore."""
    new = function.__name__
    old = new[:-1]

    def older(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(
            f"nn.init.{old} is deprecated; use nn.init.{new}", FutureWarning, stacklevel=2
        )
        return function(*args, **kwargs)

    older.__name__ = older.__qualname__ = old
    older.__doc__ = f"The older name of `{new}`."
    return older


uniform = _renamed(uniform_)
normal = _renamed(normal_)
constant = _renamed(constant_)
eye = _renamed(eye_)
dirac = _renamed(dirac_)
xavier_uniform = _renamed(xavier_uniform_)
xavier_normal = _renamed(xavier_normal_)
kaiming_uniform = _renamed(kaiming_uniform_)
kaiming_normal = _renamed(kaiming_normal_)
orthogonal = _renamed(orthogonal_)
sparse = _renamed(sparse_)
