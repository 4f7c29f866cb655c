"""What recurrent layers share: parameters, layers and directions, the kinds of input.

`Recurrent` brings every input to (T, B, n), with a mask where sequences of different lengths are
packed, and calls a layer's `_scan`. Next: `recurrent.py` for the layers, `recurrent_cells.py`.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from numen.dispatch import core
from numen.errors import ShapeError, describe
from numen.namespace import concatenate, matmul, stack
from numen.namespace import zeros as _zeros
from numen.nn.functional_dropout import dropout
from numen.nn.module import Module
from numen.nn.parameter import Parameter
from numen.nn.reductions import floating
from numen.nn.utils.rnn import PackedSequence, constant, unpacked
from numen.random import default_stream


def uniform(shape: tuple[int, ...], hidden_size: int, dtype: Any) -> Parameter:
    """Initial weights: uniform in [-k, k), k = 1 / sqrt(hidden_size)."""
    bound = 1.0 / math.sqrt(hidden_size) if hidden_size > 0 else 0.0
    return Parameter(default_stream.uniform(shape, dtype, -bound, bound))


class Recurrent(Module):
    """A layer over whole sequences."""

    gates = 1
    states = 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = np.float32,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        for option, value, least in (
            ("hidden_size", hidden_size, 1),
            ("num_layers", num_layers, 1),
            ("input_size", input_size, 0),
        ):
            if value < least:
                raise ValueError(f"{name}: expected {option} >= {least}, got {value}")
        if not 0 <= dropout <= 1:
            raise ValueError(f"{name}: expected dropout in [0, 1], got {dropout}")
        if not 0 <= proj_size < hidden_size:
            raise ValueError(f"{name}: expected 0 <= proj_size < hidden_size, got {proj_size}")
        if dropout > 0 and num_layers == 1:
            warnings.warn(
                f"{name}: dropout={dropout} is between layers, and num_layers is 1", stacklevel=3
            )
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size = bidirectional, proj_size
        out, gates = proj_size or hidden_size, self.gates * hidden_size
        for layer in range(num_layers):
            size = input_size if layer == 0 else out * self._directions
            for suffix in self._suffixes(layer):
                shapes: dict[str, tuple[int, ...]] = {
                    "weight_ih": (gates, size),
                    "weight_hh": (gates, out),
                }
                if bias:
                    shapes |= {"bias_ih": (gates,), "bias_hh": (gates,)}
                if proj_size:
                    shapes["weight_hr"] = (proj_size, hidden_size)
                for key, shape in shapes.items():
                    setattr(self, key + suffix, uniform(shape, hidden_size, dtype))
        if device is not None:
            self.to(device)

    @property
    def _directions(self) -> int:
        return 2 if self.bidirectional else 1

    def _suffixes(self, layer: int) -> list[str]:
        ends = ("", "_reverse")[: self._directions]
        return [f"_l{layer}{end}" for end in ends]

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters of each layer and direction."""
        keys = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
        suffixes = [s for layer in range(self.num_layers) for s in self._suffixes(layer)]
        return [[getattr(self, k + s) for k in keys if hasattr(self, k + s)] for s in suffixes]

    def flatten_parameters(self) -> None:
        """Nothing to do; PyTorch's name."""

    # ------------------------------------------------------------ a call
    def _run(self, input: Any, states: Any) -> tuple[Any, tuple[Any, ...]]:
        """The output in the input's form, and the last states."""
        name = type(self).__name__
        packed = input if isinstance(input, PackedSequence) else None
        x = floating(input if packed is None else packed.data, name)
        dtype = self.weight_ih_l0.dtype  # type: ignore[attr-defined]
        x = x if x.dtype == dtype else x.astype(dtype)
        mask: tuple[Any, ...] = ()
        single = packed is None and x.ndim == 2
        if packed is not None:
            x = unpacked(packed._replace(data=x))
            lengths = np.asarray(packed.lengths())
            counts = np.arange(len(packed.batch_sizes))[:, None] < lengths
            mask = (core.new_constant(counts[:, :, None]),)
        elif single:
            x = x.reshape((x.shape[0], 1, x.shape[1]))
        elif x.ndim == 3 and self.batch_first:
            x = x.swapaxes(0, 1)
        if x.ndim != 3 or x.shape[2] != self.input_size:
            raise ShapeError(
                f"{name}: expected input of shape (T, B, {self.input_size}) "
                f"(batch_first={self.batch_first}) or (T, {self.input_size}), got {describe(input)}"
            )
        if not x.shape[0]:
            raise ShapeError(f"{name}: expected at least one time step, got {describe(input)}")
        first = self._first_states(x, states, packed, single)
        out, last = self._layers(x, first, mask)
        if packed is not None:
            if packed.unsorted_indices is not None:
                back = constant(packed.unsorted_indices)
                last = tuple([s[:, back] for s in last])
            times, places = packed.places()
            return packed._replace(data=out[constant(times), constant(places)]), last
        if single:
            return out[:, 0], tuple([s[:, 0] for s in last])
        return out.swapaxes(0, 1) if self.batch_first else out, last

    def _sizes(self) -> list[int]:
        """The widths of the states."""
        return [self.proj_size or self.hidden_size, self.hidden_size][: self.states]

    def _first_states(self, x: Any, states: Any, packed: Any, single: bool) -> list[Any]:
        """The first states, each (layers times directions, B, n)."""
        count = self.num_layers * self._directions
        shapes = [(count, x.shape[1], n) for n in self._sizes()]
        if states is None:
            return [_zeros(shape, dtype=x.dtype) for shape in shapes]
        found = []
        for state, shape in zip(states, shapes, strict=True):
            s = floating(state, type(self).__name__, "state")
            s = s if s.dtype == x.dtype else s.astype(x.dtype)
            wanted = (shape[0], shape[2]) if single else shape
            if s.shape != wanted:
                raise ShapeError(
                    f"{type(self).__name__}: expected a state of shape {wanted}, got "
                    f"{describe(state)}"
                )
            if packed is not None and packed.sorted_indices is not None:
                s = s[:, constant(packed.sorted_indices)]
            found.append(s.reshape(shape))
        return found

    def _layers(
        self, x: Any, first: list[Any], mask: tuple[Any, ...]
    ) -> tuple[Any, tuple[Any, ...]]:
        """All layers over x (T, B, n), and their last states, each (layers times directions, B,
        n)."""
        last: list[tuple[Any, ...]] = []
        for layer in range(self.num_layers):
            if layer and self.training and self.dropout:
                x = dropout(x, self.dropout)
            outs = []
            for i, suffix in enumerate(self._suffixes(layer)):
                at = layer * self._directions + i
                turn = i == 1
                given = tuple([m[::-1] for m in mask]) if turn else mask
                out, ends = self._scan(
                    x[::-1] if turn else x, suffix, [s[at] for s in first], given
                )
                outs.append(out[::-1] if turn else out)
                last.append(ends)
            x = outs[0] if len(outs) == 1 else concatenate(outs, axis=-1)
        return x, tuple([stack(states) for states in zip(*last, strict=True)])

    def _scan(
        self, x: Any, suffix: str, first: list[Any], mask: tuple[Any, ...]
    ) -> tuple[Any, tuple[Any, ...]]:
        """One layer in one direction: its output (T, B, n) and its last states."""
        raise NotImplementedError

    def _weights(self, suffix: str) -> tuple[Any, Any, Any, Any]:
        keys = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        w_ih, w_hh, b_ih, b_hh = [self.__dict__.get(key + suffix) for key in keys]
        return w_ih, w_hh, b_ih, b_hh

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        for option, default in (
            ("proj_size", 0),
            ("num_layers", 1),
            ("bias", True),
            ("batch_first", False),
            ("dropout", 0),
            ("bidirectional", False),
        ):
            value = getattr(self, option)
            if value != default:
                text += f", {option}={value}"
        return text


def from_input(x: Any, weight: Any, bias: Any) -> Any:
    """The input's part of the gates' sums, of all times."""
    steps, count, n = x.shape
    sums = matmul(x.reshape((steps * count, n)), weight.T)
    if bias is not None:
        sums = sums + bias
    return sums.reshape((steps, count, weight.shape[0]))
