"""Recurrent layers over time, written with rows: rnn, lstm, gru.

On raw arrays they are the meaning of the rows in `scans.py`; in a trace `nn/recurrent.py` calls
them on Arrays, so that the program is compiled. `pre` (T, B, gates) is the input's part of the
gates' sums, `w` PyTorch's weight_hh, then come the first states, and perhaps `mask` (T, B, 1),
bool: where it is False a step keeps the state.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numen.ops.common import constant, zeros
from numen.ops.elementwise import tanh
from numen.ops.joining import concatenate
from numen.ops.kinks import relu
from numen.ops.linear_algebra import matmul
from numen.ops.selection import where
from numen.ops.shape import transpose

Pair = tuple[Any, Any]


def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x)), by tanh, which has a kernel and does not overflow."""
    return tanh(x * 0.5) * 0.5 + 0.5


def turned(w: Any) -> Any:
    """A matrix with its axes exchanged."""
    return transpose(w, axes=(1, 0))


def stacked(steps: Sequence[Any], like: Any) -> Any:
    """Arrays (B, n) of all times as one (T, B, n)."""
    if not steps:
        return zeros((0, *like.shape[1:]), like.dtype, like)
    return concatenate(*[s.reshape((1, *s.shape)) for s in steps], axis=0)


def parts(x: Any, count: int) -> list[Any]:
    """The gates: equal parts of the last axis."""
    n = x.shape[-1] // count
    return [x[..., i * n : (i + 1) * n] for i in range(count)]


def chosen(mask: Sequence[Any], t: int, new: Any, old: Any) -> Any:
    """The new value where a step counts, else the old one."""
    return where(mask[0][t], new, old) if mask else new


def rnn(pre: Any, w: Any, h: Any, *mask: Any, kind: str) -> Any:
    """h = tanh(pre + h w^T), or relu, at each time: (T, B, H)."""
    activation, w, steps = (tanh if kind == "tanh" else relu), turned(w), []
    for t in range(len(pre)):
        h = chosen(mask, t, activation(pre[t] + matmul(h, w)), h)
        steps.append(h)
    return stacked(steps, h.reshape((1, *h.shape)))


def lstm_step(a: Any, c: Any) -> Pair:
    """The states after a step from the gates' sums (input, forget, cell, output)."""
    n = a.shape[-1] // 4
    i, f = parts(sigmoid(a[..., : 2 * n]), 2)
    g, o = tanh(a[..., 2 * n : 3 * n]), sigmoid(a[..., 3 * n :])
    c = f * c + i * g
    return o * tanh(c), c


def lstm(pre: Any, w: Any, h: Any, c: Any, *mask: Any) -> Any:
    """Both states at each time, side by side: (T, B, 2H)."""
    n = w.shape[1]
    # `lstm_step` with one tanh for all gates: sigmoid(x) = tanh(x / 2) / 2 + 1 / 2, and halving
    # is exact, so it is done beforehand
    half = np.full(4 * n, 0.5, pre.dtype)
    half[2 * n : 3 * n] = 1
    scale, shift = constant(half, pre), constant(half % 1, pre)
    pre, w, steps = pre * scale, turned(w) * scale, []
    for t in range(len(pre)):
        gates = tanh(pre[t] + matmul(h, w)) * scale + shift
        i, f, g, o = gates[:, :n], gates[:, n : 2 * n], gates[:, 2 * n : 3 * n], gates[:, 3 * n :]
        c2 = f * c + i * g
        h, c = chosen(mask, t, o * tanh(c2), h), chosen(mask, t, c2, c)
        steps.append(concatenate(h, c, axis=1))
    return stacked(steps, concatenate(h, c, axis=1).reshape((1, len(h), 2 * n)))


def gru_step(a: Any, s: Any, h: Any) -> Any:
    """The state after a step from the gates' sums (reset, update, new) of the input's and the
    state's part."""
    n = h.shape[-1]
    r, z = parts(sigmoid(a[..., : 2 * n] + s[..., : 2 * n]), 2)
    new = tanh(a[..., 2 * n :] + r * s[..., 2 * n :])
    return new + z * (h - new)


def gru(pre: Any, w: Any, b: Any, h: Any, *mask: Any) -> Any:
    """The state at each time: (T, B, H); b is the bias of the state's part."""
    w, steps = turned(w), []
    for t in range(len(pre)):
        h = chosen(mask, t, gru_step(pre[t], matmul(h, w) + b, h), h)
        steps.append(h)
    return stacked(steps, h.reshape((1, *h.shape)))
