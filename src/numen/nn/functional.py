"""Layers and losses as functions: linear, activations, softmax, cross-entropy, mean squared error.

Everything is written with primitives, without looking at values, so a trace records it. Called by
`layers.py` and by users as `nm.nn.functional`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch.convert import as_array, normalize_axes
from numen.dispatch.core import is_differentiable
from numen.errors import DTypeError, IndexRangeError, ShapeError, describe
from numen.namespace import arange, exp, log, where
from numen.namespace.ufuncs import maximum, relu, tanh

__all__ = ["linear", "relu", "tanh", "flatten", "softmax", "log_softmax"]
__all__ += ["cross_entropy", "mse_loss"]

REDUCTIONS = ("mean", "sum", "none")


def linear(x: Any, weight: Any, bias: Any = None) -> Any:
    """x @ weight.T + bias; floating x is cast to the weight's dtype.

    Parameters
    ----------
    x : array_like, shape (..., in_features)
        Floating input.
    weight : Array, shape (out_features, in_features)
        As PyTorch stores it.
    bias : Array, shape (out_features,), optional
        Added to each row.

    Returns
    -------
    Array, shape (..., out_features)
        Of the weight's dtype.

    Raises
    ------
    ShapeError
        If the shapes do not fit.
    DTypeError
        If x is not of a floating dtype.
    """
    x = _floating(x, weight, "linear")
    if weight.ndim != 2 or not x.ndim or x.shape[-1] != weight.shape[1]:
        raise ShapeError(
            f"linear: expected input of shape (..., in_features) and weight of shape "
            f"(out_features, in_features); "
            f"got {describe(x, weight)}"
        )
    if bias is None:
        return x @ weight.T
    if bias.shape != weight.shape[:1]:
        raise ShapeError(f"linear: expected bias of shape {weight.shape[:1]}, got {describe(bias)}")
    return x @ weight.T + bias


def _floating(x: Any, like: Any, op: str) -> Any:
    """x in `like`'s dtype, if it is floating."""
    x = as_array(x)
    if x.dtype == like.dtype:
        return x
    if not is_differentiable(x.dtype) or x.dtype.kind == "c":
        raise DTypeError(
            f"{op}: expected floating input, got {describe(x)}. Hint: x.astype(nm.{like.dtype}) "
            f"converts it"
        )
    return x.astype(like.dtype)


def flatten(x: Any, start_dim: int = 1, end_dim: int = -1) -> Any:
    """Join the axes from start_dim to end_dim (inclusive) into one.

    Raises
    ------
    numpy.exceptions.AxisError
        If an axis is out of bounds.
    ValueError
        If start_dim comes after end_dim.
    """
    x = as_array(x)
    (first,) = normalize_axes(start_dim, x.ndim, "flatten")
    (last,) = normalize_axes(end_dim, x.ndim, "flatten")
    if first > last:
        raise ValueError(
            f"flatten: start_dim {start_dim} comes after end_dim {end_dim}; got {describe(x)}"
        )
    joined = 1
    for n in x.shape[first : last + 1]:
        joined *= n
    return x.reshape((*x.shape[:first], joined, *x.shape[last + 1 :]))


def softmax(x: Any, dim: int = -1) -> Any:
    """exp(x) / sum(exp(x)) along an axis, without overflow.

    Raises
    ------
    DTypeError
        If x is not of a floating dtype.
    """
    e = exp(_shifted(x, dim, "softmax"))
    return e / e.sum(axis=dim, keepdims=True)


def log_softmax(x: Any, dim: int = -1) -> Any:
    """The logarithm of softmax, exact where the softmax underflows.

    Raises
    ------
    DTypeError
        If x is not of a floating dtype.
    """
    shifted = _shifted(x, dim, "log_softmax")
    return shifted - log(exp(shifted).sum(axis=dim, keepdims=True))


def _shifted(x: Any, dim: int, op: str) -> Any:
    """x minus its maximum along an axis. The maximum's own gradient cancels, so it takes no
    part."""
    x = as_array(x)
    if not is_differentiable(x.dtype) or x.dtype.kind == "c":
        raise DTypeError(f"{op}: expected floating input, got {describe(x)}")
    normalize_axes(dim, x.ndim, op)
    if not x.size:
        return x
    return x - x.detach().max(axis=dim, keepdims=True)


def cross_entropy(
    logits: Any,
    labels: Any,
    *,
    reduction: str = "mean",
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Any:
    """Cross-entropy between softmax(logits) and class labels.

    Parameters
    ----------
    logits : Array, shape (N, C)
        Unnormalised scores, floating.
    labels : array_like of int, shape (N,)
        Classes, 0 <= label < C, or `ignore_index`.
    reduction : {"mean", "sum", "none"}
        "mean" is over the rows not ignored, 0 where there are none.
    ignore_index : int
        Label of rows that count for nothing: loss 0, gradient 0.
    label_smoothing : float
        Weight of the uniform distribution in the target.

    Returns
    -------
    Array
        0-d, or of shape (N,) for "none".

    Raises
    ------
    IndexRangeError
        If a label is out of range.
    ShapeError
        If the shapes are others.
    DTypeError
        If logits are not floating or labels are no integers.

    Examples
    --------
    >>> import numen as nm
    >>> float(nm.nn.functional.cross_entropy(nm.zeros((2, 4)), [1, 3]))
    1.3862943611198906
    """
    _check_reduction(reduction, "cross_entropy")
    logits, labels = as_array(logits), as_array(labels)
    if logits.ndim != 2 or labels.ndim != 1 or logits.shape[0] != labels.shape[0]:
        raise ShapeError(
            f"cross_entropy: expected logits of shape (N, C) and labels of shape (N,); got "
            f"{describe(logits, labels)}"
        )
    if labels.dtype.kind not in "iu":
        raise DTypeError(f"cross_entropy: expected integer labels, got {describe(labels)}")
    if labels.dtype != np.int64:
        labels = labels.astype(np.int64)
    rows, classes = logits.shape
    _check_labels(labels._d, classes, ignore_index)
    logp = log_softmax(logits)  # (N, C)
    kept = labels != ignore_index
    # A replayed trace does not run the check above, and a negative label must not wrap around.
    index = where(kept, where(labels < 0, labels - classes, labels), 0)
    losses = -logp[arange(rows), index]
    if label_smoothing:
        losses = losses * (1.0 - label_smoothing) - logp.sum(axis=1) * (label_smoothing / classes)
    losses = where(kept, losses, 0.0)  # (N,)
    if reduction == "none":
        return losses
    if reduction == "sum":
        return losses.sum()
    return losses.sum() / maximum(kept.sum(), 1).astype(losses.dtype)


def _check_labels(labels: np.ndarray[Any, Any], classes: int, ignore_index: int) -> None:
    """Look at the values that are there now; no part of a trace."""
    wrong = ((labels < 0) | (labels >= classes)) & (labels != ignore_index)
    if wrong.any():
        row = int(wrong.argmax())
        raise IndexRangeError(
            f"cross_entropy: label {labels[row]} (row {row}) is out of bounds for {classes} "
            f"classes; "
            f"expected 0 <= label < {classes}, or {ignore_index} for rows to ignore"
        )


def mse_loss(x: Any, target: Any, reduction: str = "mean") -> Any:
    """Mean squared difference; a floating target is cast to x's dtype.

    Raises
    ------
    ShapeError
        If the shapes differ: nothing is broadcast.
    """
    _check_reduction(reduction, "mse_loss")
    x = as_array(x)
    target = as_array(target)
    if x.shape != target.shape:
        raise ShapeError(
            f"mse_loss: input and target must have the same shape, got {describe(x, target)}"
        )
    difference = x - _floating(target, x, "mse_loss")
    squares = difference * difference
    if reduction == "none":
        return squares
    return squares.sum() if reduction == "sum" else squares.mean()


def _check_reduction(reduction: str, op: str) -> None:
    if reduction not in REDUCTIONS:
        raise ValueError(f"{op}: expected reduction to be one of {REDUCTIONS}, got {reduction!r}")
