"""Recurrent layers over time as one op each: rnn_scan, lstm_scan, gru_scan.

Their meaning is in `recurrences.py`. The rules use that all states are known afterwards: sums over
time are single products, and only what flows from step to step is a loop. Called by
`nn/recurrent.py` on plain arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numen.dispatch import modes
from numen.dispatch.core import ArrayCore, is_differentiable
from numen.dispatch.primitive import Primitive
from numen.errors import DTypeError, ShapeError, describe
from numen.ops.common import add_tangents, zeros
from numen.ops.comparisons import greater
from numen.ops.elementwise import tanh
from numen.ops.joining import concatenate
from numen.ops.linear_algebra import matmul
from numen.ops.recurrences import (
    Pair,
    chosen,
    gru,
    lstm,
    parts,
    rnn,
    sigmoid,
    stacked,
    turned,
)
from numen.ops.reductions import sum
from numen.ops.samples import DType, Errors, Inputs, Rng, draw
from numen.ops.selection import cast, where


def _before(first: Any, states: Any) -> Any:
    """The state before each step."""
    return concatenate(first.reshape((1, *first.shape)), states, axis=0)[:-1]


def _rows(x: Any) -> Any:
    """(T, B, n) as (T B, n)."""
    return x.reshape((x.shape[0] * x.shape[1], x.shape[2]))


def _through(x: Any, w: Any) -> Any:
    """x w^T of all times."""
    return matmul(_rows(x), turned(w)).reshape((*x.shape[:2], w.shape[0]))


def _weight_gradient(d: Any, before: Any) -> Any:
    return matmul(turned(_rows(d)), _rows(before))


def _masked(mask: Sequence[Any], t: int, d: Any) -> Pair:
    """The parts of a cotangent that go through step t and past it (None: nothing)."""
    return (where(mask[0][t], d, 0), where(mask[0][t], 0, d)) if mask else (d, None)


def _plus(a: Any, b: Any) -> Any:
    return a if b is None else a + b


def _by_row(
    row: Primitive, meaning: Callable[..., Any], count: int, g: Any, *args: Any
) -> Sequence[Any]:
    """The cotangents by a row of their own where no second derivative is asked for: a trace then
    records one op instead of all steps. Its result has the `count` states' cotangents behind the
    gates'."""
    if not isinstance(g, ArrayCore) or modes.grad_enabled():
        return meaning(g, *args)  # type: ignore[no-any-return]
    packed = row(g, *args)
    n = args[-1 if args[-1].ndim == 2 else -2].shape[1]
    return [packed[:-1], *[packed[-1, :, i * n : (i + 1) * n] for i in range(count)]]


def _packed(name: str, meaning: Callable[..., Any]) -> Callable[..., Any]:
    """The impl of such a row."""

    def impl(*args: Any) -> Any:
        if any([a.dtype.kind not in "fVb" for a in args]):
            raise DTypeError(f"{name}: expected real floating arrays, got {describe(*args)}")
        gates, *states = meaning(*args)
        wide = zeros((gates.shape[1], gates.shape[2]), gates.dtype, gates)
        ends = concatenate(*states, wide, axis=1)[:, : gates.shape[2]]
        return concatenate(gates, ends.reshape((1, *ends.shape)), axis=0)

    return impl


# rnn_scan


def _rnn_slope(out: Any, kind: str) -> Any:
    return 1 - out * out if kind == "tanh" else cast(greater(out, 0), dtype=out.dtype)


def _rnn_vjp(
    needs: Sequence[bool], g: Any, out: Any, pre: Any, w: Any, h: Any, *mask: Any, kind: str
) -> tuple[Any, ...]:
    slope, d, steps = _rnn_slope(out, kind), None, []
    for t in reversed(range(len(out))):
        inside, past = _masked(mask, t, _plus(g[t], d))
        da = inside * slope[t]
        steps.append(da)
        d = _plus(matmul(da, w), past)
    da = stacked(steps[::-1], out)
    d = zeros(tuple(h.shape), out.dtype, g) if d is None else d
    gw = _weight_gradient(da, _before(h, out)) if needs[1] else None
    return (da, gw, d, *[None] * len(mask))


def _rnn_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any], kind: str) -> Any:
    _, w, h, *mask = args
    tp, tw, th = tangents[:3]
    moved = None if tw is None else _through(_before(h, out), tw)
    push = add_tangents(tp, moved)
    slope, w, steps = _rnn_slope(out, kind), turned(w), []
    t_h = zeros(tuple(h.shape), out.dtype, out) if th is None else th
    for t in range(len(out)):
        inner = _plus(matmul(t_h, w), None if push is None else push[t])
        t_h = chosen(mask, t, inner * slope[t], t_h)
        steps.append(t_h)
    return stacked(steps, out)


# lstm_scan


class _Lstm:
    """What both rules of the LSTM need: gates, slopes and states of all times."""

    def __init__(self, out: Any, pre: Any, w: Any, h: Any, c: Any) -> None:
        hs, cs = parts(out, 2)
        self.h_before, c_before = _before(h, hs), _before(c, cs)
        i, f, g, o = parts(pre + _through(self.h_before, w), 4)
        i, f, g, o = sigmoid(i), sigmoid(f), tanh(g), sigmoid(o)
        top = tanh(f * c_before + i * g)
        self.f = f
        self.cell = o * (1 - top * top)  # d h / d c
        self.out = top * o * (1 - o)
        self.inner = (g * i * (1 - i), c_before * f * (1 - f), i * (1 - g * g))


def _lstm_vjp(
    needs: Sequence[bool], g: Any, out: Any, pre: Any, w: Any, h: Any, c: Any, *mask: Any
) -> tuple[Any, ...]:
    da, dh, dc = _by_row(lstm_scan_back, _lstm_back, 2, g, out, pre, w, h, c, *mask)
    gw = _weight_gradient(da, _before(h, parts(out, 2)[0])) if needs[1] else None
    return (da, gw, dh, dc, *[None] * len(mask))


def _lstm_back(g: Any, out: Any, pre: Any, w: Any, h: Any, c: Any, *mask: Any) -> tuple[Any, ...]:
    """The cotangents of the gates' sums and of the first states."""
    k = _Lstm(out, pre, w, h, c)
    gh, gc = parts(g, 2)
    dh = dc = None
    steps = []
    for t in reversed(range(len(out))):
        dh, past_h = _masked(mask, t, _plus(gh[t], dh))
        dc, past_c = _masked(mask, t, _plus(gc[t], dc))
        dc = dc + dh * k.cell[t]
        da = concatenate(*[dc * slope[t] for slope in k.inner], dh * k.out[t], axis=1)
        steps.append(da)
        dh, dc = _plus(matmul(da, w), past_h), _plus(dc * k.f[t], past_c)
    da = stacked(steps[::-1], pre)
    if dh is None:
        dh, dc = (zeros(tuple(s.shape), out.dtype, g) for s in (h, c))
    return da, dh, dc


def _lstm_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    pre, w, h, c, *mask = args
    tp, tw, th, tc = tangents[:4]
    k = _Lstm(out, pre, w, h, c)
    push = add_tangents(tp, None if tw is None else _through(k.h_before, tw))
    th, tc = (zeros(tuple(h.shape), out.dtype, out) if x is None else x for x in (th, tc))
    w, steps = turned(w), []
    for t in range(len(out)):
        i, f, g, o = parts(_plus(matmul(th, w), None if push is None else push[t]), 4)
        inner = [d * slope[t] for d, slope in zip((i, f, g), k.inner, strict=True)]
        c2 = tc * k.f[t] + inner[0] + inner[1] + inner[2]
        h2 = o * k.out[t] + c2 * k.cell[t]
        th, tc = chosen(mask, t, h2, th), chosen(mask, t, c2, tc)
        steps.append(concatenate(th, tc, axis=1))
    return stacked(steps, out)


# gru_scan


class _Gru:
    """What both rules of the GRU need: gates and slopes of all times."""

    def __init__(self, out: Any, pre: Any, w: Any, b: Any, h: Any) -> None:
        self.before = _before(h, out)
        pr, pz, pn = parts(pre, 3)
        sr, sz, sn = parts(_through(self.before, w) + b, 3)
        r, z = sigmoid(pr + sr), sigmoid(pz + sz)
        n = tanh(pn + r * sn)
        self.r, self.z = r, z
        self.new = (1 - z) * (1 - n * n)
        self.reset = sn * r * (1 - r)
        self.update = (self.before - n) * z * (1 - z)


def _gru_vjp(
    needs: Sequence[bool], g: Any, out: Any, pre: Any, w: Any, b: Any, h: Any, *mask: Any
) -> tuple[Any, ...]:
    both, d = _by_row(gru_scan_back, _gru_back, 1, g, out, pre, w, b, h, *mask)
    n = pre.shape[2]
    ds = both[..., n:]
    gw = _weight_gradient(ds, _before(h, out)) if needs[1] else None
    gb = sum(ds, axis=(0, 1), keepdims=False) if needs[2] else None
    return (both[..., :n], gw, gb, d, *[None] * len(mask))


def _gru_back(g: Any, out: Any, pre: Any, w: Any, b: Any, h: Any, *mask: Any) -> tuple[Any, ...]:
    """The cotangents of both parts of the gates' sums, side by side, and of the first state."""
    k = _Gru(out, pre, w, b, h)
    d, inputs, states = None, [], []
    for t in reversed(range(len(out))):
        d, past = _masked(mask, t, _plus(g[t], d))
        dn = d * k.new[t]
        dr, dz = dn * k.reset[t], d * k.update[t]
        inputs.append(concatenate(dr, dz, dn, axis=1))
        states.append(concatenate(dr, dz, dn * k.r[t], axis=1))
        d = _plus(d * k.z[t] + matmul(states[-1], w), past)
    d = zeros(tuple(h.shape), out.dtype, g) if d is None else d
    both = concatenate(stacked(inputs[::-1], pre), stacked(states[::-1], pre), axis=2)
    return both, d


def _gru_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    pre, w, b, h, *mask = args
    tp, tw, tb, th = tangents[:4]
    k = _Gru(out, pre, w, b, h)
    push = add_tangents(None if tw is None else _through(k.before, tw), tb)
    push = zeros(tuple(pre.shape), out.dtype, out) if push is None else push + pre * 0
    tp = zeros(tuple(pre.shape), out.dtype, out) if tp is None else tp
    th = zeros(tuple(h.shape), out.dtype, out) if th is None else th
    w, steps = turned(w), []
    for t in range(len(out)):
        sr, sz, sn = parts(push[t] + matmul(th, w), 3)
        pr, pz, pn = parts(tp[t], 3)
        dr, dz = pr + sr, pz + sz
        new = (pn + k.r[t] * sn + dr * k.reset[t]) * k.new[t]
        th = chosen(mask, t, new + dz * k.update[t] + th * k.z[t], th)
        steps.append(th)
    return stacked(steps, out)


# the rows


def _impl(name: str, meaning: Callable[..., Any], gates: int, states: int) -> Callable[..., Any]:
    """The meaning on raw arrays, whose shapes and dtypes fit."""

    def impl(*args: Any, **params: Any) -> Any:
        pre, w, h = args[0], args[1], args[states]
        floats = args[: states + 1 + (name == "lstm_scan")]  # all but the mask
        if any([not is_differentiable(a.dtype) or a.dtype.kind == "c" for a in floats]):
            raise DTypeError(f"{name}: expected real floating arrays, got {describe(*args)}")
        n = w.shape[-1]
        fits = pre.ndim == 3 and w.shape == (gates * n, n) and pre.shape[2] == gates * n
        if not fits or h.shape != (pre.shape[1], n):
            raise ShapeError(
                f"{name}: expected sums (T, B, {gates}H), a weight ({gates}H, H) and states "
                f"(B, H), got {describe(*args)}"
            )
        return meaning(*args, **params)

    return impl


def _batch(row: Callable[[], Primitive]) -> Callable[..., Any]:
    """A scan for each element of the batch."""

    def batch(size: int, args: Sequence[Any], axes: Sequence[bool], **params: Any) -> Any:
        outs = [
            row()(*[a[i] if t else a for a, t in zip(args, axes, strict=True)], **params)
            for i in range(size)
        ]
        return concatenate(*[o.reshape((1, *o.shape)) for o in outs], axis=0)

    return batch


def _samples(gates: int, biased: bool, states: int) -> Callable[[Rng, DType], Inputs]:
    def samples(rng: Rng, dtype: DType) -> Inputs:
        def value(*shape: int) -> Any:
            return draw(rng, shape, dtype, 0.2, 1.0) * np.where(rng.random(shape) < 0.5, -1, 1)

        cases: Inputs = []
        for steps, count, n, masked in ((3, 2, 2, False), (4, 3, 1, True), (1, 1, 3, False)):
            args = [value(steps, count, gates * n), value(gates * n, n)]
            args += [value(gates * n)] if biased else []
            args += [value(count, n) for _ in range(states)]
            args = [np.asarray(a, dtype) for a in args]
            if masked:
                args.append(np.arange(steps)[:, None, None] < np.array([4, 2, 3])[:, None])
            cases.append((tuple(args), {}))
        return cases

    return samples


def _rnn_samples(rng: Rng, dtype: DType) -> Inputs:
    cases = _samples(1, False, 1)(rng, dtype)
    relu_cases = [(args, {"kind": "relu"}) for args, _ in cases]
    return [(args, {"kind": "tanh"}) for args, _ in cases] + relu_cases[:1]


def _errors(gates: int, biased: bool, states: int, params: dict[str, Any]) -> Callable[[], Errors]:
    def errors() -> Errors:
        bias = [np.ones(2 * gates)] if biased else []
        good = [np.ones((3, 1, 2 * gates)), np.ones((2 * gates, 2)), *bias]
        good += [np.ones((1, 2))] * states
        wrong = [np.ones((3, 1, 2 * gates + 1)), *good[1:]]
        return [
            (tuple(wrong), params, ValueError),
            (tuple([a.astype(complex) for a in good]), params, TypeError),
        ]

    return errors


rnn_scan: Primitive = Primitive(
    "rnn_scan",
    _impl("rnn_scan", rnn, 1, 2),
    vjp=_rnn_vjp,
    jvp=_rnn_jvp,
    batch=_batch(lambda: rnn_scan),
    saves=(1, 2, 3),
    saves_out=True,
    samples=_rnn_samples,
    errors=_errors(1, False, 1, {"kind": "tanh"}),
)
lstm_scan: Primitive = Primitive(
    "lstm_scan",
    _impl("lstm_scan", lstm, 4, 2),
    vjp=_lstm_vjp,
    jvp=_lstm_jvp,
    batch=_batch(lambda: lstm_scan),
    saves=(0, 1, 2, 3, 4),
    saves_out=True,
    samples=_samples(4, False, 2),
    errors=_errors(4, False, 2, {}),
)
gru_scan: Primitive = Primitive(
    "gru_scan",
    _impl("gru_scan", gru, 3, 3),
    vjp=_gru_vjp,
    jvp=_gru_jvp,
    batch=_batch(lambda: gru_scan),
    saves=(0, 1, 2, 3, 4),
    saves_out=True,
    samples=_samples(3, True, 1),
    errors=_errors(3, True, 1, {}),
)


def _back_samples(row: Primitive) -> Callable[[Rng, DType], Inputs]:
    def samples(rng: Rng, dtype: DType) -> Inputs:
        cases: Inputs = []
        for args, _ in row.samples(rng, dtype):  # type: ignore[misc]
            if dtype.kind == "f":
                out = row.impl(*args)
                cases.append(((draw(rng, out.shape, dtype).astype(out.dtype), out, *args), {}))
        return cases

    return samples


def _back_errors(row: Primitive) -> Callable[[], Errors]:
    def errors() -> Errors:
        rng = np.random.default_rng(0)
        args, _ = row.samples(rng, np.dtype(np.float64))[0]  # type: ignore[misc]
        out = row.impl(*args)
        return [((out.astype(complex), out, *args), {}, TypeError)]

    return errors


lstm_scan_back: Primitive = Primitive(
    "lstm_scan_back",
    _packed("lstm_scan_back", _lstm_back),
    batch=_batch(lambda: lstm_scan_back),
    samples=_back_samples(lstm_scan),
    errors=_back_errors(lstm_scan),
)
gru_scan_back: Primitive = Primitive(
    "gru_scan_back",
    _packed("gru_scan_back", _gru_back),
    batch=_batch(lambda: gru_scan_back),
    samples=_back_samples(gru_scan),
    errors=_back_errors(gru_scan),
)

ROWS = (rnn_scan, lstm_scan, gru_scan, lstm_scan_back, gru_scan_back)
