"""Losses of predictions against values, and of pairs and triples: regression and margins.

Shapes must be equal, nothing is broadcast; integer targets are cast. Losses of classes are in
`functional_classification.py`. Called by `losses.py` and by users as `nm.nn.functional`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numen.dispatch import modes
from numen.dispatch.convert import as_array
from numen.errors import ShapeError, describe
from numen.linalg import norm
from numen.namespace import absolute, exp, log, logaddexp, maximum, minimum, sqrt, where
from numen.namespace.devices import every_value
from numen.namespace.ufuncs import relu
from numen.nn.reductions import alike, check_reduction, floating, pair, reduced, weighted

__all__ = ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "poisson_nll_loss"]
__all__ += ["gaussian_nll_loss", "margin_ranking_loss", "hinge_embedding_loss"]
__all__ += ["soft_margin_loss", "cosine_embedding_loss", "triplet_margin_loss"]


def mse_loss(input: Any, target: Any, reduction: str = "mean", weight: Any = None) -> Any:
    """Mean squared difference.

    Parameters
    ----------
    input : array_like
        Floating; the loss has its dtype.
    target : array_like
        Of input's shape, cast to its dtype.
    reduction : {"mean", "sum", "none"}
        "mean" of no elements is NaN.
    weight : array_like, optional
        Of the elements; broadcasts to their shape. The mean is then sum(weight * loss) /
        sum(weight).

    Raises
    ------
    ShapeError
        If the shapes differ: nothing is broadcast.
    DTypeError
        If input is not floating.

    Examples
    --------
    >>> import numen as nm
    >>> float(nm.nn.functional.mse_loss(nm.array([1.0, 2.0]), nm.array([0.0, 4.0])))
    2.5
    """
    check_reduction(reduction, "mse_loss")
    x, target = pair(input, target, "mse_loss")
    difference = x - target
    squares = difference * difference
    if weight is None:
        return reduced(squares, reduction)
    losses = weighted(squares, weight, "mse_loss")
    if reduction != "mean":
        return reduced(losses, reduction)
    return losses.sum() / (squares.detach() * 0 + alike(weight, x, "mse_loss")).sum()


def l1_loss(input: Any, target: Any, reduction: str = "mean") -> Any:
    """Mean absolute difference; its gradient is 0 where there is none.

    Raises
    ------
    ShapeError
        If the shapes differ.
    """
    check_reduction(reduction, "l1_loss")
    x, target = pair(input, target, "l1_loss")
    return reduced(absolute(x - target), reduction)


def smooth_l1_loss(input: Any, target: Any, reduction: str = "mean", beta: float = 1.0) -> Any:
    """d**2 / (2 beta) where |d| < beta, else |d| - beta / 2, of the difference d (Girshick 2015).

    Raises
    ------
    ShapeError
        If the shapes differ.
    ValueError
        If beta is negative.
    """
    check_reduction(reduction, "smooth_l1_loss")
    if beta < 0:
        raise ValueError(f"smooth_l1_loss: expected beta >= 0, got {beta}")
    if beta == 0:
        return l1_loss(input, target, reduction)
    x, target = pair(input, target, "smooth_l1_loss")
    return reduced(_huber(x - target, beta) * (1.0 / beta), reduction)


def huber_loss(
    input: Any, target: Any, reduction: str = "mean", delta: float = 1.0, weight: Any = None
) -> Any:
    """d**2 / 2 where |d| < delta, else delta (|d| - delta / 2), of the difference d (Huber 1964).

    Raises
    ------
    ShapeError
        If the shapes differ.
    ValueError
        If delta is not positive.
    """
    check_reduction(reduction, "huber_loss")
    if delta <= 0:
        raise ValueError(f"huber_loss: expected delta > 0, got {delta}")
    x, target = pair(input, target, "huber_loss")
    return reduced(weighted(_huber(x - target, delta), weight, "huber_loss"), reduction)


def _huber(difference: Any, bound: float) -> Any:
    # one formula for both branches, so that no square of a large difference is taken
    distance = absolute(difference)
    near = minimum(distance, bound)
    return near * (distance - 0.5 * near)


def poisson_nll_loss(
    input: Any,
    target: Any,
    log_input: bool = True,
    full: bool = False,
    eps: float = 1e-8,
    reduction: str = "mean",
) -> Any:
    """Negative log-likelihood of counts, less the constant log(target!).

    Parameters
    ----------
    input : array_like
        The expected count, or with `log_input` its logarithm.
    target : array_like
        Counts, of input's shape.
    full : bool
        Add Stirling's approximation of log(target!) where target > 1.
    eps : float
        Added to input before its logarithm is taken.
    reduction : {"mean", "sum", "none"}

    Raises
    ------
    ShapeError
        If the shapes differ.
    """
    check_reduction(reduction, "poisson_nll_loss")
    x, target = pair(input, target, "poisson_nll_loss")
    losses = exp(x) - target * x if log_input else x - target * log(x + eps)
    if full:
        many = maximum(target, 1)
        stirling = many * log(many) - many + 0.5 * log(2 * math.pi * many)
        losses = losses + where(target > 1, stirling, 0)
    return reduced(losses, reduction)


def gaussian_nll_loss(
    input: Any,
    target: Any,
    var: Any,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Any:
    """Negative log-likelihood of values under normal distributions (Nix and Weigend 1994).

    Parameters
    ----------
    input, target : array_like
        Means and values, of one shape.
    var : array_like or float
        Variances: of the same shape, with axes of 1 in it, or without the last axis.
    full : bool
        Add the constant log(2 pi) / 2.
    eps : float
        Variances count as this at least; their gradient does not see it.
    reduction : {"mean", "sum", "none"}

    Raises
    ------
    ShapeError
        If the shapes do not fit.
    ValueError
        If a variance is negative.
    """
    check_reduction(reduction, "gaussian_nll_loss")
    x, target = pair(input, target, "gaussian_nll_loss")
    var = alike(var, x, "gaussian_nll_loss", "var")
    if x.ndim and var.shape == x.shape[:-1]:
        var = var.reshape((*var.shape, 1))
    fits = var.ndim in (0, x.ndim) and all(
        [v in (1, n) for v, n in zip(var.shape, x.shape, strict=bool(var.ndim))]
    )
    if not fits:
        raise ShapeError(f"gaussian_nll_loss: var does not fit input; got {describe(var, x)}")
    if not modes.asks_for_rows() and (every_value(var) < 0).any():
        raise ValueError("gaussian_nll_loss: expected variances >= 0, got a negative one")
    var = var + (maximum(var, eps) - var).detach()
    difference = x - target
    losses = 0.5 * (log(var) + difference * difference / var)
    if full:
        losses = losses + 0.5 * math.log(2 * math.pi)
    return reduced(losses, reduction)


def margin_ranking_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: str = "mean"
) -> Any:
    """max(0, margin - target (input1 - input2)), target 1 where input1 should be larger, else -1.

    Raises
    ------
    ShapeError
        If the shapes differ.
    """
    op = "margin_ranking_loss"
    check_reduction(reduction, op)
    a, b = pair(input1, input2, op, ("input1", "input2"))
    a, target = pair(a, target, op, ("input1", "target"))
    return reduced(relu(margin - target * (a - b)), reduction)


def hinge_embedding_loss(
    input: Any, target: Any, margin: float = 1.0, reduction: str = "mean"
) -> Any:
    """input where target is 1, max(0, margin - input) where it is -1.

    Raises
    ------
    ShapeError
        If the shapes differ.
    """
    check_reduction(reduction, "hinge_embedding_loss")
    x, target = pair(input, target, "hinge_embedding_loss")
    # as PyTorch: each part counts unless the target is the other one's
    near = where(target == -1, 0, x)
    return reduced(near + where(target == 1, 0, relu(margin - x)), reduction)


def soft_margin_loss(input: Any, target: Any, reduction: str = "mean") -> Any:
    """log(1 + exp(-target input)) with targets 1 and -1.

    Raises
    ------
    ShapeError
        If the shapes differ.
    """
    check_reduction(reduction, "soft_margin_loss")
    x, target = pair(input, target, "soft_margin_loss")
    return reduced(softplus_of(-target * x), reduction)


def softplus_of(x: Any) -> Any:
    """log(1 + exp(x)) without overflow, with the right gradient at 0 too."""
    return logaddexp(x, as_array(np.zeros((), x.dtype)))


def cosine_embedding_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: str = "mean"
) -> Any:
    """1 - cos of the angle between two vectors where target is 1, max(0, cos - margin) where -1.

    Parameters
    ----------
    input1, input2 : array_like, shape (N, D) or (D,)
    target : array_like, shape (N,) or ()

    Raises
    ------
    ShapeError
        If the shapes do not fit.
    """
    op = "cosine_embedding_loss"
    check_reduction(reduction, op)
    a, b = pair(input1, input2, op, ("input1", "input2"))
    target = alike(target, a, op)
    if a.ndim not in (1, 2) or target.shape != a.shape[:-1]:
        raise ShapeError(
            f"{op}: expected inputs of shape (N, D) and target of shape (N,), or (D,) and (); got "
            f"{describe(a, b, target)}"
        )
    tiny = 1e-12  # PyTorch's: the angle at the zero vector counts as a right one
    lengths = ((a * a).sum(axis=-1) + tiny) * ((b * b).sum(axis=-1) + tiny)
    cosine = (a * b).sum(axis=-1) / sqrt(lengths)
    losses = where(target == 1, 1 - cosine, where(target == -1, relu(cosine - margin), 0))
    return reduced(losses, reduction)


def triplet_margin_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    """max(0, |anchor - positive| - |anchor - negative| + margin) with norms of order p.

    Parameters
    ----------
    anchor, positive, negative : array_like, shape (N, D) or (D,)
    eps : float
        Added to the differences, so that none has length 0.
    swap : bool
        Take the distance of positive and negative where it is smaller (Balntas et al. 2016).

    Raises
    ------
    ShapeError
        If the shapes differ.
    """
    op = "triplet_margin_loss"
    check_reduction(reduction, op)
    if p <= 0:
        raise ValueError(f"{op}: expected p > 0, got {p}")
    a, b = pair(floating(anchor, op, "anchor"), positive, op, ("anchor", "positive"))
    a, c = pair(a, negative, op, ("anchor", "negative"))
    if not a.ndim:
        raise ShapeError(f"{op}: expected vectors, got {describe(a)}")
    near, far = _distance(a, b, p, eps), _distance(a, c, p, eps)
    if swap:
        far = minimum(far, _distance(b, c, p, eps))
    return reduced(relu(near - far + margin), reduction)


def _distance(a: Any, b: Any, p: float, eps: float) -> Any:
    return norm(a - b + eps, ord=p, axis=-1)
