"""Activations as layers.

Each names its function of `functional_activations.py` and its settings; PReLU has a weight. Next:
`functional.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numen.errors import ShapeError, describe
from numen.nn import functional
from numen.nn.initial import full
from numen.nn.module import Module
from numen.nn.parameter import Parameter

__all__ = ["CELU", "ELU", "GELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh"]
__all__ += ["LeakyReLU", "LogSigmoid", "LogSoftmax", "Mish", "PReLU", "ReLU", "ReLU6", "SELU"]
__all__ += ["SiLU", "Sigmoid", "Softmax", "Softmax2d", "Softmin", "Softplus", "Softshrink"]
__all__ += ["Softsign", "Tanh", "Tanhshrink", "Threshold"]


class _Activation(Module):
    """A function with settings, which are attributes of the layer."""

    function: Callable[..., Any]
    settings: tuple[str, ...] = ()
    inplace: bool = False

    def forward(self, input: Any) -> Any:
        given = [getattr(self, name) for name in self.settings]
        return type(self).function(input, *given)

    def extra_repr(self) -> str:
        parts = [f"{n}={getattr(self, n)!r}" for n in self.settings if n != "inplace"]
        return ", ".join([*parts, *(["inplace=True"] if self.inplace else [])])


class _InPlace(_Activation):
    """An activation whose one setting is whether it writes into its input."""

    settings = ("inplace",)

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class ReLU(_InPlace):
    """max(x, 0), element by element.

    Parameters
    ----------
    inplace : bool
        Whether the result is written into the input.

    Examples
    --------
    >>> import numen as nm
    >>> nm.nn.ReLU()(nm.array([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """

    function = staticmethod(functional.relu)


class SELU(_InPlace):
    """ELU with the scale and alpha that keep mean 0 and variance 1."""

    function = staticmethod(functional.selu)


class SiLU(_InPlace):
    """x * sigmoid(x)."""

    function = staticmethod(functional.silu)


class Mish(_InPlace):
    """x * tanh(softplus(x))."""

    function = staticmethod(functional.mish)


class Hardsigmoid(_InPlace):
    """min(max(x + 3, 0), 6) / 6."""

    function = staticmethod(functional.hardsigmoid)

    def extra_repr(self) -> str:
        return ""


class Hardswish(_InPlace):
    """x * min(max(x + 3, 0), 6) / 6."""

    function = staticmethod(functional.hardswish)

    def extra_repr(self) -> str:
        return ""


class Sigmoid(_Activation):
    """1 / (1 + exp(-x))."""

    function = staticmethod(functional.sigmoid)


class LogSigmoid(_Activation):
    """log(1 / (1 + exp(-x)))."""

    function = staticmethod(functional.logsigmoid)


class Softsign(_Activation):
    """x / (1 + |x|)."""

    function = staticmethod(functional.softsign)


class Tanh(_Activation):
    """The hyperbolic tangent of each element."""

    function = staticmethod(functional.tanh)


class Tanhshrink(_Activation):
    """x - tanh(x)."""

    function = staticmethod(functional.tanhshrink)


class Hardtanh(_Activation):
    """x held within [min_val, max_val]."""

    function = staticmethod(functional.hardtanh)
    settings = ("min_val", "max_val", "inplace")

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        if max_val <= min_val:
            raise ValueError(
                f"Hardtanh: expected max_val above min_val, got {max_val!r} and {min_val!r}"
            )
        self.min_val, self.max_val, self.inplace = min_val, max_val, inplace


class ReLU6(_InPlace):
    """min(max(x, 0), 6)."""

    function = staticmethod(functional.relu6)


class LeakyReLU(_Activation):
    """x where it is positive, else negative_slope * x."""

    function = staticmethod(functional.leaky_relu)
    settings = ("negative_slope", "inplace")

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope, self.inplace = negative_slope, inplace


class PReLU(Module):
    """x where it is positive, else weight * x, with a learned weight.

    Parameters
    ----------
    num_parameters : int
        1, or the number of channels.
    init : float
        The weights at first.
    device, dtype
        Of the weights.

    Examples
    --------
    >>> import numen as nm
    >>> nm.nn.PReLU()(nm.array([-4.0, 2.0])).tolist()
    [-1.0, 2.0]
    """

    weight: Parameter

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = full((num_parameters,), init, dtype)
        if device is not None:
            self.to(device)

    def forward(self, input: Any) -> Any:
        return functional.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class _Alpha(_Activation):
    """An exponential below zero, with its scale."""

    settings = ("alpha", "inplace")

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha, self.inplace = alpha, inplace


class ELU(_Alpha):
    """x where it is positive, else alpha * (exp(x) - 1)."""

    function = staticmethod(functional.elu)


class CELU(_Alpha):
    """x where it is positive, else alpha * (exp(x / alpha) - 1)."""

    function = staticmethod(functional.celu)


class GELU(_Activation):
    """x times the normal distribution's cumulative function.

    Parameters
    ----------
    approximate : {"none", "tanh"}
        "tanh" for the approximation by a hyperbolic tangent.
    """

    function = staticmethod(functional.gelu)
    settings = ("approximate",)

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate


class Softplus(_Activation):
    """log(1 + exp(beta * x)) / beta; x itself where beta * x is above the threshold."""

    function = staticmethod(functional.softplus)
    settings = ("beta", "threshold")

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta, self.threshold = beta, threshold


class _Shrink(_Activation):
    """Zero around zero."""

    settings = ("lambd",)

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def extra_repr(self) -> str:
        return str(self.lambd)


class Hardshrink(_Shrink):
    """x where its magnitude is above lambd, else 0."""

    function = staticmethod(functional.hardshrink)


class Softshrink(_Shrink):
    """x moved towards 0 by lambd, 0 where it is closer."""

    function = staticmethod(functional.softshrink)


class Threshold(_Activation):
    """x where it is above the threshold, else a value."""

    function = staticmethod(functional.threshold)
    settings = ("threshold", "value", "inplace")

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold, self.value, self.inplace = threshold, value, inplace


class GLU(_Activation):
    """The first half along an axis times the sigmoid of the second."""

    function = staticmethod(functional.glu)
    settings = ("dim",)

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim


class Softmax(_Activation):
    """exp(x) / sum(exp(x)) along an axis, the last by default.

    Examples
    --------
    >>> import numen as nm
    >>> nm.nn.Softmax(dim=1)(nm.zeros((1, 4))).tolist()
    [[0.25, 0.25, 0.25, 0.25]]
    """

    function = staticmethod(functional.softmax)
    settings = ("dim",)

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim


class LogSoftmax(Softmax):
    """The logarithm of the softmax along an axis, the last by default."""

    function = staticmethod(functional.log_softmax)


class Softmin(Softmax):
    """softmax(-x) along an axis, the last by default."""

    function = staticmethod(functional.softmin)


class Softmax2d(Module):
    """The softmax over the channels of (N, C, H, W) or (C, H, W)."""

    def forward(self, input: Any) -> Any:
        """Apply it.

        Raises
        ------
        ShapeError
            If the input has other axes.
        """
        if len(input.shape) not in (3, 4):
            raise ShapeError(f"Softmax2d: expected 3 or 4 axes, got {describe(input)}")
        return functional.softmax(input, -3)
