"""Layers: Linear, Flatten.

Each holds its parameters and calls `functional.py`. Initial weights come from the default Philox
stream, in PyTorch's distributions; `nm.manual_seed` makes them reproducible.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numen.nn import functional
from numen.nn.module import Module
from numen.nn.parameter import Parameter
from numen.random import default_stream


class Linear(Module):
    """x @ weight.T + bias over the last axis.

    Parameters
    ----------
    in_features, out_features : int
        Extents of the last axis, in and out.
    bias : bool
        Whether something is added.
    dtype : dtype
        Of the parameters: float32 or float64.

    Attributes
    ----------
    weight : Parameter of shape (out_features, in_features)
        Uniform in [-k, k) at first, k = 1 / sqrt(in_features) (He et al. 2015 with a = sqrt(5),
        PyTorch's default).
    bias : Parameter of shape (out_features,) or None
        The same distribution.

    Examples
    --------
    >>> import numen as nm
    >>> layer = nm.nn.Linear(3, 2)
    >>> layer(nm.ones((5, 3), nm.float32)).shape, layer
    ((5, 2), Linear(in_features=3, out_features=2, bias=True))
    """

    weight: Parameter
    bias: Parameter | None

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, dtype: Any = np.float32
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        bound = 1.0 / math.sqrt(in_features) if in_features > 0 else 0.0
        self.weight = _uniform((out_features, in_features), bound, dtype)
        self.bias = _uniform((out_features,), bound, dtype) if bias else None

    def forward(self, input: Any) -> Any:
        """Map (..., in_features) to (..., out_features).

        Raises
        ------
        ShapeError
            If the last axis has another extent.
        DTypeError
            If input is not of a floating dtype.
        """
        return functional.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        sizes = f"in_features={self.in_features}, out_features={self.out_features}"
        return f"{sizes}, bias={self.bias is not None}"


def _uniform(shape: tuple[int, ...], bound: float, dtype: Any) -> Parameter:
    return Parameter(default_stream.uniform(shape, dtype, -bound, bound))


class Bilinear(Module):
    """A form in two inputs: input1 @ weight[o] @ input2 + bias[o] for every output o.

    Parameters
    ----------
    in1_features, in2_features, out_features : int
        Extents of the last axes.
    bias : bool
        Whether something is added.
    dtype : dtype
        Of the parameters.

    Examples
    --------
    >>> import numen as nm
    >>> nm.nn.Bilinear(3, 2, 4)(nm.ones((5, 3)), nm.ones((5, 2))).shape
    (5, 4)
    """

    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        dtype: Any = np.float32,
    ) -> None:
        super().__init__()
        self.in1_features, self.in2_features = in1_features, in2_features
        self.out_features = out_features
        bound = 1.0 / math.sqrt(in1_features) if in1_features > 0 else 0.0
        self.weight = _uniform((out_features, in1_features, in2_features), bound, dtype)
        self.bias = _uniform((out_features,), bound, dtype) if bias else None

    def forward(self, input1: Any, input2: Any) -> Any:
        return functional.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )


class Flatten(Module):
    """Joins the axes from start_dim to end_dim (inclusive) into one.

    Examples
    --------
    >>> import numen as nm
    >>> nm.nn.Flatten()(nm.zeros((2, 3, 4))).shape
    (2, 12)
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Any) -> Any:
        return functional.flatten(input, self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"
