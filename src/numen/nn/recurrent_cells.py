"""One step of a recurrent layer: RNNCell, LSTMCell, GRUCell.

The steps' formulas are those of `ops/recurrences.py`. Whole sequences are `recurrent.py`'s.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.errors import ShapeError, describe
from numen.namespace import matmul, zeros
from numen.namespace.ufuncs import relu, tanh
from numen.nn.functional import linear
from numen.nn.module import Module
from numen.nn.recurrent_base import uniform
from numen.nn.reductions import floating
from numen.ops import recurrences

__all__ = ["GRUCell", "LSTMCell", "RNNCell"]


class Cell(Module):
    """What the cells share: parameters and checks."""

    gates = 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = np.float32,
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        gates = self.gates * hidden_size
        self.weight_ih = uniform((gates, input_size), hidden_size, dtype)
        self.weight_hh = uniform((gates, hidden_size), hidden_size, dtype)
        self.bias_ih = uniform((gates,), hidden_size, dtype) if bias else None
        self.bias_hh = uniform((gates,), hidden_size, dtype) if bias else None
        if device is not None:
            self.to(device)

    def _checked(self, input: Any, *states: Any) -> tuple[Any, ...]:
        """x (..., input_size) and the states (..., hidden_size), zeros where they are None."""
        name = type(self).__name__
        x = floating(input, name)
        x = x if x.dtype == self.weight_ih.dtype else x.astype(self.weight_ih.dtype)
        if x.ndim not in (1, 2) or x.shape[-1] != self.input_size:
            raise ShapeError(
                f"{name}: expected input of shape (B, {self.input_size}) or "
                f"({self.input_size},), got {describe(input)}"
            )
        shape = (*x.shape[:-1], self.hidden_size)
        found = [x]
        for state in states:
            s = zeros(shape, dtype=x.dtype) if state is None else floating(state, name, "state")
            if s.shape != shape:
                raise ShapeError(f"{name}: expected a state of shape {shape}, got {describe(s)}")
            found.append(s if s.dtype == x.dtype else s.astype(x.dtype))
        return tuple(found)

    def _sums(self, x: Any, h: Any) -> Any:
        sums = linear(x, self.weight_ih, self.bias_ih) + matmul(h, self.weight_hh.T)
        return sums if self.bias_hh is None else sums + self.bias_hh

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        return text if self.bias else f"{text}, bias=False"


class RNNCell(Cell):
    """h = tanh(W_ih x + b_ih + W_hh h + b_hh), or with relu.

    Parameters
    ----------
    input_size, hidden_size : int
    bias : bool
    nonlinearity : {"tanh", "relu"}
    device, dtype
        Of the parameters.

    Examples
    --------
    >>> import numen as nm
    >>> nm.nn.RNNCell(3, 5)(nm.ones((2, 3), nm.float32)).shape
    (2, 5)
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = np.float32,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"RNNCell: expected nonlinearity tanh or relu, got {nonlinearity!r}")
        super().__init__(input_size, hidden_size, bias, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Any, hx: Any = None) -> Any:
        """The next state of input (B, input_size) and hx (B, hidden_size), zeros by default.

        Raises
        ------
        ShapeError
            If the shapes do not fit.
        """
        x, h = self._checked(input, hx)
        return (tanh if self.nonlinearity == "tanh" else relu)(self._sums(x, h))

    def extra_repr(self) -> str:
        text = super().extra_repr()
        return text if self.nonlinearity == "tanh" else f"{text}, nonlinearity={self.nonlinearity}"


class LSTMCell(Cell):
    """One step of an LSTM.

    Parameters
    ----------
    input_size, hidden_size : int
    bias : bool
    device, dtype
        Of the parameters.
    """

    gates = 4

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        """The next (h, c) of input (B, input_size) and (h, c), zeros by default.

        Raises
        ------
        ShapeError
            If the shapes do not fit.
        """
        x, h, c = self._checked(input, *((None, None) if hx is None else hx))
        return recurrences.lstm_step(self._sums(x, h), c)


class GRUCell(Cell):
    """One step of gated recurrent units.

    Parameters
    ----------
    input_size, hidden_size : int
    bias : bool
    device, dtype
        Of the parameters.
    """

    gates = 3

    def forward(self, input: Any, hx: Any = None) -> Any:
        """The next state of input (B, input_size) and hx (B, hidden_size), zeros by default.

        Raises
        ------
        ShapeError
            If the shapes do not fit.
        """
        x, h = self._checked(input, hx)
        inner = linear(h, self.weight_hh, self.bias_hh)
        return recurrences.gru_step(linear(x, self.weight_ih, self.bias_ih), inner, h)
