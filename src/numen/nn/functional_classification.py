"""Losses of scores of classes: cross-entropy and the margins between classes.

Labels are checked at the call; a replayed trace checks them again by the gather's own bounds.
Called by `losses.py` and by users as `nm.nn.functional`. Next: `functional_probabilities.py`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from numen.dispatch import modes
from numen.dispatch.convert import as_array
from numen.errors import DTypeError, IndexRangeError, ShapeError, describe
from numen.namespace import arange, where
from numen.namespace import log_softmax as _log_softmax
from numen.namespace.devices import every_value
from numen.namespace.ufuncs import relu
from numen.nn.reductions import alike, check_reduction, floating, reduced
from numen.ops import table

__all__ = ["cross_entropy", "nll_loss", "multi_margin_loss"]

NAN = float("nan")


def cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """Cross-entropy between softmax(input) and classes or probabilities of classes.

    Parameters
    ----------
    input : Array, shape (C,), (N, C) or (N, C, d1, ...)
        Unnormalised scores, floating.
    target : array_like
        Integers: classes, 0 <= label < C, or `ignore_index`; of input's shape without its axis C.
        Floats: probabilities, of input's shape.
    weight : array_like, shape (C,), optional
        Of the classes.
    ignore_index : int
        Label of samples that count for nothing: loss 0, gradient 0.
    reduction : {"mean", "sum", "none"}
        "mean" divides by the samples that are not ignored, weighted (by all of them for
        probabilities). Where there are none it is NaN, as PyTorch's, and its gradient exactly 0.
    label_smoothing : float
        Weight of the uniform distribution in the target, between 0 and 1.

    Returns
    -------
    Array
        0-d, or of the labels' shape for "none"; of input's dtype.

    Raises
    ------
    IndexRangeError
        If a label is out of range.
    ShapeError
        If the shapes do not fit.
    DTypeError
        If input is not floating.

    Examples
    --------
    >>> import numen as nm
    >>> float(nm.nn.functional.cross_entropy(nm.zeros((2, 4)), [1, 3]))
    1.3862943611198906
    """
    op = "cross_entropy"
    check_reduction(reduction, op)
    if not 0.0 <= label_smoothing <= 1.0:
        raise ValueError(f"{op}: expected label_smoothing in [0, 1], got {label_smoothing}")
    x, target = floating(input, op), as_array(target)
    if x.ndim and target.shape == x.shape and target.dtype.kind not in "biu":
        return _soft_cross_entropy(x, target, weight, reduction, label_smoothing)
    x, labels, shape = _rows(x, target, op)
    chosen = _chosen(x, labels, ignore_index, op)
    if chosen.plain and not label_smoothing and x.size < modes.LIMIT:
        losses = table[op](x, chosen.index)
    else:
        logp = _log_softmax(x)  # (M, C)
        losses = -_taken(logp, chosen.index)
        if label_smoothing:
            shares = logp if weight is None else logp * _class_weight(weight, x, op)
            uniform = shares.sum(axis=1) * (label_smoothing / x.shape[1])
            losses = _times_weight(losses, weight, chosen.index, x, op)
            losses = losses * (1.0 - label_smoothing) - uniform
            return _averaged(losses, weight, chosen, x, reduction, shape, op)
    losses = _times_weight(losses, weight, chosen.index, x, op)
    return _averaged(losses, weight, chosen, x, reduction, shape, op)


def nll_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Any:
    """Minus the log-probability that input gives to each label.

    Parameters
    ----------
    input : Array, shape (C,), (N, C) or (N, C, d1, ...)
        Log-probabilities, as `log_softmax` gives them.
    target, weight, ignore_index, reduction
        As `cross_entropy`'s; target are classes.

    Raises
    ------
    IndexRangeError
        If a label is out of range.
    ShapeError
        If the shapes do not fit.
    """
    check_reduction(reduction, "nll_loss")
    x, labels, shape = _rows(floating(input, "nll_loss"), as_array(target), "nll_loss")
    chosen = _chosen(x, labels, ignore_index, "nll_loss")
    losses = _times_weight(-_taken(x, chosen.index), weight, chosen.index, x, "nll_loss")
    return _averaged(losses, weight, chosen, x, reduction, shape, "nll_loss")


def _rows(x: Any, labels: Any, op: str) -> tuple[Any, Any, tuple[int, ...]]:
    """Scores (M, C), labels (M,) as int64, and the shape the labels had."""
    if x.ndim < 1 or labels.shape != (*x.shape[:1], *x.shape[2:])[(x.ndim == 1) :]:
        raise ShapeError(
            f"{op}: expected input of shape (N, C), (N, C, ...) or (C,) and target of that shape "
            f"without C; got {describe(x, labels)}"
        )
    if labels.dtype.kind not in "iu":
        raise DTypeError(f"{op}: expected integer labels, got {describe(labels)}")
    shape = labels.shape
    if labels.dtype != np.int64:
        labels = labels.astype(np.int64)
    if x.ndim == 1:
        return x.reshape((1, -1)), labels.reshape((1,)), shape
    if x.ndim > 2:
        classes, count = x.shape[1], labels.size
        x = x.transpose((0, *range(2, x.ndim), 1)).reshape((count, classes))
        labels = labels.reshape((count,))
    return x, labels, shape


class _Chosen(NamedTuple):
    """The class to take in each row, which rows are kept (None: all), and whether values alone are
    asked for, the labels being all good."""

    index: Any
    kept: Any
    plain: bool


def _chosen(x: Any, labels: Any, ignore_index: int, op: str) -> _Chosen:
    classes = x.shape[1]
    # A recorder does not see this look at the values that are there now.
    raw = every_value(labels).reshape(-1)
    good = not (raw.view(np.uint64) >= classes).any()
    if not good:
        wrong = ((raw < 0) | (raw >= classes)) & (raw != ignore_index)
        if wrong.any():
            row = int(wrong.argmax())
            raise IndexRangeError(
                f"{op}: label {raw[row]} (row {row}) is out of bounds for {classes} classes; "
                f"expected 0 <= label < {classes}, or {ignore_index} for rows to ignore"
            )
    recorded = modes.asks_for_rows()
    if good and not recorded and not 0 <= ignore_index < classes:
        return _Chosen(labels, None, True)
    kept = labels != ignore_index
    # A replayed trace does not run the check above, and a negative label must not wrap around.
    index = where(kept, where(labels < 0, labels - classes, labels), 0) if classes else labels
    return _Chosen(index, kept, False)


def _taken(values: Any, index: Any) -> Any:
    return values[arange(values.shape[0]), index]


def _class_weight(weight: Any, x: Any, op: str) -> Any:
    weight = alike(weight, x, op, "weight")
    if weight.shape != x.shape[1:2]:
        raise ShapeError(
            f"{op}: expected a weight for each of {x.shape[1]} classes, got {describe(weight)}"
        )
    return weight


def _times_weight(losses: Any, weight: Any, index: Any, x: Any, op: str) -> Any:
    return losses if weight is None else losses * _class_weight(weight, x, op)[index]


def _averaged(
    losses: Any,
    weight: Any,
    chosen: _Chosen,
    x: Any,
    reduction: str,
    shape: tuple[int, ...],
    op: str,
) -> Any:
    """The losses of the rows that are kept, reduced."""
    kept = chosen.kept
    if kept is not None:
        losses = where(kept, losses, 0)
    if reduction == "none":
        return losses.reshape(shape)
    if reduction == "sum" or (weight is None and kept is None):
        return reduced(losses, reduction)
    if weight is None:
        total = kept.sum().astype(x.dtype)
    else:
        total = _class_weight(weight, x, op)[chosen.index]
        total = (total if kept is None else where(kept, total, 0)).sum()
    none = total == 0
    return where(none, NAN, losses.sum() / where(none, 1, total))


def _soft_cross_entropy(x: Any, target: Any, weight: Any, reduction: str, smoothing: float) -> Any:
    """The loss against probabilities: -sum(target * log_softmax(x)) over the classes."""
    axis = 0 if x.ndim == 1 else 1
    classes = x.shape[axis]
    target = alike(target, x, "cross_entropy")
    if smoothing:
        target = target * (1.0 - smoothing) + smoothing / classes
    if weight is not None:
        row = _class_weight(weight, x.reshape((1, -1)) if x.ndim == 1 else x, "cross_entropy")
        target = target * row.reshape((classes, *(1,) * (x.ndim - 1 - axis)))
    losses = -(target * _log_softmax(x, axis)).sum(axis=axis)
    return reduced(losses, reduction)


def multi_margin_loss(
    input: Any,
    target: Any,
    p: int = 1,
    margin: float = 1.0,
    weight: Any = None,
    reduction: str = "mean",
) -> Any:
    """Sum of max(0, margin - x[label] + x[i])**p over the other classes i, over C.

    Parameters
    ----------
    input : array_like, shape (N, C) or (C,)
    target : array_like of int, shape (N,) or ()
    p : {1, 2}
    weight : array_like, shape (C,), optional
        Of the labels' classes.

    Raises
    ------
    IndexRangeError
        If a label is out of range.
    ShapeError
        If the shapes do not fit.
    """
    op = "multi_margin_loss"
    check_reduction(reduction, op)
    if p not in (1, 2):
        raise ValueError(f"{op}: expected p to be 1 or 2, got {p}")
    x, labels, shape = _rows(floating(input, op), as_array(target), op)
    chosen = _chosen(x, labels, -1 - np.iinfo(np.int64).max, op)
    index = chosen.index
    count, classes = x.shape
    own = _taken(x, index).reshape((count, 1))
    gaps = relu(margin - own + x)
    if p == 2:
        gaps = gaps * gaps
    if weight is not None:
        gaps = gaps * _class_weight(weight, x, op)[index].reshape((count, 1))
    others = index.reshape((count, 1)) != arange(classes)
    losses = where(others, gaps, 0).sum(axis=1) * (1.0 / max(classes, 1))
    return reduced(losses.reshape(shape), reduction)
