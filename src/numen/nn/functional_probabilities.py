"""Losses of probabilities: binary cross-entropy and the Kullback-Leibler divergence.

Called by `losses.py` and by users as `nm.nn.functional`. Next: `functional_losses.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch import modes
from numen.namespace import exp, log, where
from numen.namespace.devices import every_value
from numen.nn.functional_losses import softplus_of
from numen.nn.reductions import alike, check_reduction, pair, reduced, weighted
from numen.ops import table

__all__ = ["binary_cross_entropy", "binary_cross_entropy_with_logits", "kl_div"]


def binary_cross_entropy(
    input: Any, target: Any, weight: Any = None, reduction: str = "mean"
) -> Any:
    """-(target log(input) + (1 - target) log(1 - input)), logarithms not below -100.

    Parameters
    ----------
    input : array_like
        Probabilities.
    target : array_like
        Probabilities or labels 0 and 1, of input's shape.
    weight : array_like, optional
        Broadcasts to that shape.
    reduction : {"mean", "sum", "none"}

    Raises
    ------
    ShapeError
        If the shapes differ.
    ValueError
        If an input is outside [0, 1]; it names the first one.
    """
    op = "binary_cross_entropy"
    check_reduction(reduction, op)
    x, target = pair(input, target, op)
    if not modes.asks_for_rows():
        raw = every_value(x)
        wrong = (raw < 0) | (raw > 1)
        if wrong.any():
            at = tuple(int(i) for i in np.argwhere(wrong)[0])
            raise ValueError(f"{op}: expected input in [0, 1], got {raw[at]} at index {at}")
    return reduced(weighted(table[op](x, target), weight, op), reduction)


def binary_cross_entropy_with_logits(
    input: Any,
    target: Any,
    weight: Any = None,
    *,
    reduction: str = "mean",
    pos_weight: Any = None,
) -> Any:
    """Binary cross-entropy of sigmoid(input), without overflow.

    Parameters
    ----------
    input : array_like
        Scores.
    target : array_like
        Probabilities or labels 0 and 1, of input's shape.
    weight : array_like, optional
        Broadcasts to that shape.
    reduction : {"mean", "sum", "none"}
    pos_weight : array_like, optional
        Weight of the positive class, broadcast to input's shape.

    Raises
    ------
    ShapeError
        If the shapes do not fit.

    Examples
    --------
    >>> import numen as nm
    >>> loss = nm.nn.functional.binary_cross_entropy_with_logits
    >>> float(loss(nm.array([800.0]), nm.array([0.0])))
    800.0
    """
    op = "binary_cross_entropy_with_logits"
    check_reduction(reduction, op)
    x, target = pair(input, target, op)
    negative = softplus_of(-x)  # -log(sigmoid(x))
    if pos_weight is not None:
        negative = negative * (1 + weighted(target, alike(pos_weight, x, op) - 1, op))
    return reduced(weighted((1 - target) * x + negative, weight, op), reduction)


def kl_div(input: Any, target: Any, reduction: str = "mean", log_target: bool = False) -> Any:
    """Kullback-Leibler divergence of target from exp(input): target (log(target) - input).

    Parameters
    ----------
    input : array_like
        Log-probabilities.
    target : array_like
        Probabilities (log-probabilities with `log_target`), of input's shape; 0 log(0) is 0.
    reduction : {"mean", "batchmean", "sum", "none"}
        "batchmean" is the sum over the extent of the first axis, the divergence per sample.

    Raises
    ------
    ShapeError
        If the shapes differ.
    """
    check_reduction(reduction, "kl_div", "batchmean")
    x, target = pair(input, target, "kl_div")
    if log_target:
        losses = exp(target) * (target - x)
    else:
        logs = log(where(target == 0, 1, target))  # NaN of a negative one
        losses = where(target == 0, 0, target * (logs - x))
    if reduction == "batchmean":
        return losses.sum() / x.shape[0] if x.ndim and x.shape[0] else reduced(losses, "mean")
    return reduced(losses, reduction)
