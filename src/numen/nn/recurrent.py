"""Recurrent layers over whole sequences: RNN, LSTM, GRU.

The input's part of all gates is one product; then the states follow each other, by the rows of
`ops/scans.py`; a trace compiles the steps of a short RNN one by one. A single step is in
`recurrent_cells.py`; `utils/rnn.py` packs sequences of different lengths.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch import modes
from numen.namespace import matmul, stack, zeros
from numen.nn.recurrent_base import Recurrent, from_input
from numen.ops import recurrences, table

__all__ = ["GRU", "LSTM", "RNN"]

UNROLLED = 128
"""Steps of an RNN that a trace takes one by one at most: it takes 5 ms to compile each."""


class RNN(Recurrent):
    """Elman's recurrent layer: h = tanh(W_ih x + b_ih + W_hh h + b_hh) at each time.

    Parameters
    ----------
    input_size, hidden_size : int
        Widths of x and h.
    num_layers : int
        Layers upon each other.
    nonlinearity : {"tanh", "relu"}
    bias : bool
        Whether there are b_ih and b_hh.
    batch_first : bool
        Whether input and output are (B, T, n) instead of (T, B, n).
    dropout : float
        Probability of dropping an element between layers, while training.
    bidirectional : bool
        Also run from the end; outputs are joined along the last axis.
    device, dtype
        Of the parameters.

    Attributes
    ----------
    weight_ih_l[k], weight_hh_l[k], bias_ih_l[k], bias_hh_l[k] : Parameter
        Of layer k, with "_reverse" of the other direction; uniform in [-s, s) at first, s = 1 /
        sqrt(hidden_size).

    Examples
    --------
    >>> import numen as nm
    >>> rnn = nm.nn.RNN(3, 5, bidirectional=True)
    >>> out, h = rnn(nm.ones((7, 2, 3), nm.float32))
    >>> out.shape, h.shape
    ((7, 2, 10), (2, 2, 5))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: Any = np.float32,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"RNN: expected nonlinearity tanh or relu, got {nonlinearity!r}")
        options = (num_layers, bias, batch_first, dropout, bidirectional, 0, device, dtype)
        super().__init__(input_size, hidden_size, *options)
        self.nonlinearity = nonlinearity

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        """The states of the last layer at all times, and the last states of all layers.

        Parameters
        ----------
        input : array_like, shape (T, B, input_size) or (T, input_size), or PackedSequence
        hx : array_like, shape (layers times directions, B, hidden_size), optional
            The first states, zeros by default.

        Raises
        ------
        ShapeError
            If the shapes do not fit.
        """
        out, (h,) = self._run(input, None if hx is None else (hx,))
        return out, h

    def _scan(
        self, x: Any, suffix: str, first: list[Any], mask: tuple[Any, ...]
    ) -> tuple[Any, tuple[Any, ...]]:
        w_ih, w_hh, b_ih, b_hh = self._weights(suffix)
        pre = from_input(x, w_ih, None if b_ih is None else b_ih + b_hh)
        # Few steps are worth compiling one by one; an LSTM or a GRU has too many ops in each.
        unrolled = modes.asks_for_rows() and len(pre) <= UNROLLED
        scan = recurrences.rnn if unrolled else table["rnn_scan"]
        out = scan(pre, w_hh, *first, *mask, kind=self.nonlinearity)
        return out, (out[-1],)


class LSTM(Recurrent):
    """Long short-term memory (Hochreiter and Schmidhuber 1997), with forget gates.

    Parameters
    ----------
    input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, device, dtype
        As `RNN`'s.
    proj_size : int
        Width of the output state where it is projected (Sak et al. 2014), 0: not at all.

    Examples
    --------
    >>> import numen as nm
    >>> lstm = nm.nn.LSTM(3, 5, num_layers=2, batch_first=True)
    >>> out, (h, c) = lstm(nm.ones((2, 7, 3), nm.float32))
    >>> out.shape, h.shape, c.shape
    ((2, 7, 5), (2, 2, 5), (2, 2, 5))
    """

    gates = 4
    states = 2

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, tuple[Any, Any]]:
        """The states of the last layer at all times, and the last (h, c) of all layers.

        Parameters
        ----------
        input : array_like, shape (T, B, input_size) or (T, input_size), or PackedSequence
        hx : pair of array_like, optional
            The first h and c, zeros by default.

        Raises
        ------
        ShapeError
            If the shapes do not fit.
        """
        out, (h, c) = self._run(input, hx)
        return out, (h, c)

    def _scan(
        self, x: Any, suffix: str, first: list[Any], mask: tuple[Any, ...]
    ) -> tuple[Any, tuple[Any, ...]]:
        w_ih, w_hh, b_ih, b_hh = self._weights(suffix)
        pre = from_input(x, w_ih, None if b_ih is None else b_ih + b_hh)
        if self.proj_size:
            return self._projected(pre, w_hh, getattr(self, "weight_hr" + suffix), first, mask)
        both = table["lstm_scan"](pre, w_hh, *first, *mask)
        n = self.hidden_size
        return both[..., :n], (both[-1, :, :n], both[-1, :, n:])

    def _projected(
        self, pre: Any, w: Any, w_hr: Any, first: list[Any], mask: tuple[Any, ...]
    ) -> tuple[Any, tuple[Any, ...]]:
        (h, c), steps = first, []
        for t in range(len(pre)):
            wide, c2 = recurrences.lstm_step(pre[t] + matmul(h, w.T), c)
            h = recurrences.chosen(mask, t, matmul(wide, w_hr.T), h)
            c = recurrences.chosen(mask, t, c2, c)
            steps.append(h)
        return stack(steps), (h, c)


class GRU(Recurrent):
    """Gated recurrent units (Cho et al. 2014), the reset gate after the product as cuDNN has it.

    Parameters
    ----------
    input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, device, dtype
        As `RNN`'s.

    Examples
    --------
    >>> import numen as nm
    >>> out, h = nm.nn.GRU(3, 5)(nm.ones((7, 2, 3), nm.float32))
    >>> out.shape, h.shape
    ((7, 2, 5), (1, 2, 5))
    """

    gates = 3

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: Any = np.float32,
    ) -> None:
        options = (num_layers, bias, batch_first, dropout, bidirectional, 0, device, dtype)
        super().__init__(input_size, hidden_size, *options)

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        """The states of the last layer at all times, and the last states of all layers.

        Parameters
        ----------
        input : array_like, shape (T, B, input_size) or (T, input_size), or PackedSequence
        hx : array_like, shape (layers times directions, B, hidden_size), optional
            The first states, zeros by default.

        Raises
        ------
        ShapeError
            If the shapes do not fit.
        """
        out, (h,) = self._run(input, None if hx is None else (hx,))
        return out, h

    def _scan(
        self, x: Any, suffix: str, first: list[Any], mask: tuple[Any, ...]
    ) -> tuple[Any, tuple[Any, ...]]:
        w_ih, w_hh, b_ih, b_hh = self._weights(suffix)
        pre = from_input(x, w_ih, b_ih)
        if b_hh is None:
            b_hh = zeros(w_hh.shape[:1], dtype=x.dtype)
        out = table["gru_scan"](pre, w_hh, b_hh, *first, *mask)
        return out, (out[-1],)
