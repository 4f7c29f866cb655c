"""The loss of a sequence of labels without an alignment: connectionist temporal classification.

Graves et al. 2006: the forward algorithm over the labels with blanks between them, all sequences of
a batch at once, a step of time after another. Next: `functional_classification.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch import modes
from numen.dispatch.convert import as_array
from numen.errors import DTypeError, IndexRangeError, ShapeError, describe
from numen.namespace import arange, concatenate, logaddexp, where
from numen.namespace.devices import on_host
from numen.nn.reductions import check_reduction, floating

__all__ = ["ctc_loss"]

NEVER = -1e30
"""Stands for log(0) inside: finite, so that no gradient is NaN."""


def ctc_loss(
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Any:
    """Minus the log-probability of label sequences, summed over all their alignments.

    Parameters
    ----------
    log_probs : array_like, shape (T, N, C) or (T, C)
        Logarithms of probabilities, as `log_softmax` gives them.
    targets : array_like of int, shape (N, S) or (sum of target_lengths,)
        Labels, none of them `blank`.
    input_lengths, target_lengths : array_like of int, shape (N,) or ()
        How much of each sequence counts.
    blank : int
        The class that stands for no label.
    reduction : {"mean", "sum", "none"}
        "mean" divides each loss by its target's length (at least 1) and averages.
    zero_infinity : bool
        Losses without any alignment (a target longer than its input) count as 0 with gradient 0
        instead of infinity.

    Raises
    ------
    ShapeError
        If the shapes do not fit.
    ValueError
        If a length is out of range.
    IndexRangeError
        If a label is.

    Examples
    --------
    >>> import numen as nm
    >>> uniform = nm.full((4, 1, 3), -nm.log(3.0))
    >>> round(float(nm.nn.functional.ctc_loss(uniform, [[1]], [4], [1], reduction="sum")), 6)
    2.091864
    """
    check_reduction(reduction, "ctc_loss")
    logp = floating(log_probs, "ctc_loss", "log_probs")
    single = logp.ndim == 2
    if single:
        logp = logp.reshape((logp.shape[0], 1, logp.shape[1]))
    if logp.ndim != 3:
        raise ShapeError(f"ctc_loss: expected log_probs of shape (T, N, C), got {describe(logp)}")
    steps, count, classes = logp.shape
    lengths = _lengths(input_lengths, count, "input_lengths")
    sizes = _lengths(target_lengths, count, "target_lengths")
    labels = _padded(targets, sizes, count, blank)
    _check(labels, lengths, sizes, steps, classes, blank)
    width = labels.shape[1]
    if modes.ACTIVE and modes.state.recorder is not None:
        modes.state.recorder.refuse("ctc_loss, whose lengths are Python's")
    # States 0 .. 2S: a blank, the first label, a blank, the second ...; their scores by time.
    states = np.full((count, 2 * width + 1), blank, np.int64)
    states[:, 1::2] = labels
    rows = arange(count).reshape((count, 1))
    scores = logp[:, rows, as_array(states)]  # (T, N, 2S + 1)
    skips = np.zeros(states.shape, bool)  # from the label before: not to an equal one
    skips[:, 3::2] = labels[:, 1:] != labels[:, :-1]
    first = np.arange(2 * width + 1) < np.where(sizes[:, None] > 0, 2, 1)
    losses = _forward(scores, as_array(first), as_array(skips), lengths, sizes, count)
    impossible = losses > -0.1 * NEVER
    losses = where(impossible, 0.0 if zero_infinity else float("inf"), losses)
    if reduction == "mean":
        losses = losses / as_array(np.maximum(sizes, 1).astype(losses.dtype))
        return losses.mean() if count else losses.sum() * float("nan")
    if reduction == "sum":
        return losses.sum()
    return losses[0] if single else losses


def _forward(scores: Any, first: Any, skips: Any, lengths: Any, sizes: Any, count: int) -> Any:
    """Minus the log-probabilities, by the forward variables' recursion."""
    never = as_array(np.full((count, 2), NEVER, scores.dtype))
    scores = where(scores < NEVER, NEVER, scores)
    if not len(scores):
        return as_array(np.where(sizes > 0, -NEVER, 0.0).astype(scores.dtype))
    alpha = where(first, scores[0], NEVER)
    alive = alpha
    for t in range(1, len(scores)):
        moved = concatenate([never, alpha], axis=1)
        total = logaddexp(alpha, moved[:, 1:-1])
        total = logaddexp(total, where(skips, moved[:, :-2], NEVER))
        alpha = total + scores[t]
        alive = where(as_array((t < lengths)[:, None]), alpha, alive)
        alpha = alive
    rows = np.arange(count)
    last = alive[rows, 2 * sizes]
    before = where(as_array(sizes > 0), alive[rows, np.maximum(2 * sizes - 1, 0)], NEVER)
    result = -logaddexp(last, before)
    unread = np.where(sizes > 0, -NEVER, 0.0).astype(scores.dtype)
    return where(as_array(lengths > 0), result, as_array(unread))


def _lengths(value: Any, count: int, name: str) -> Any:
    data = np.atleast_1d(on_host(as_array(value)))
    if data.dtype.kind not in "iu":
        raise DTypeError(f"ctc_loss: expected integers in {name}, got {describe(data)}")
    if data.shape != (count,):
        raise ShapeError(f"ctc_loss: expected {count} {name}, got {describe(data)}")
    return data.astype(np.int64)


def _padded(targets: Any, sizes: Any, count: int, blank: int) -> Any:
    """Targets (N, S), also of those given one after another; blank where they end."""
    data = on_host(as_array(targets))
    if data.dtype.kind not in "iu" and data.size:
        raise DTypeError(f"ctc_loss: expected integer targets, got {describe(data)}")
    most = int(sizes.max(initial=0))
    labels = np.full((count, most), blank, np.int64)
    fits = data.shape[1:] == () if data.ndim == 1 else len(data) == count and data.ndim == 2
    room = data.shape[-1] if data.ndim else 0
    if not fits or room < (most if data.ndim == 2 else int(sizes.sum())):
        raise ShapeError(
            f"ctc_loss: expected targets of shape (N, S) or (sum of lengths,) for lengths "
            f"{sizes.tolist()}, got {describe(data)}"
        )
    start = 0
    for i, size in enumerate(sizes):
        labels[i, :size] = data[i, :size] if data.ndim == 2 else data[start : start + size]
        start += size
    return labels


def _check(labels: Any, lengths: Any, sizes: Any, steps: int, classes: int, blank: int) -> None:
    for name, data, most in (
        ("input_lengths", lengths, steps),
        ("target_lengths", sizes, labels.shape[1]),
    ):
        wrong = (data < 0) | (data > most)
        if wrong.any():
            i = int(wrong.argmax())
            raise ValueError(f"ctc_loss: {name}[{i}] is {data[i]}, expected 0 <= length <= {most}")
    if not 0 <= blank < classes:
        raise IndexRangeError(f"ctc_loss: blank {blank} is out of bounds for {classes} classes")
    counts = np.arange(labels.shape[1]) < sizes[:, None]
    wrong = counts & ((labels < 0) | (labels >= classes) | (labels == blank))
    if wrong.any():
        sample, place = (int(v) for v in np.argwhere(wrong)[0])
        raise IndexRangeError(
            f"ctc_loss: label {labels[sample, place]} (sample {sample}, position {place}) is no "
            f"class: expected 0 <= label < {classes}, not the blank {blank}"
        )
