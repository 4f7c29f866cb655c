"""Distances between vectors: cosine_similarity, pairwise_distance.

Called by `distances.py`; `functional.py` re-exports `__all__`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.errors import ShapeError, describe
from numen.linalg import vector_norm
from numen.namespace import broadcast_arrays, maximum
from numen.nn.reductions import alike, floating

__all__ = ["cosine_similarity", "pairwise_distance"]


def _both(x1: Any, x2: Any, op: str) -> tuple[Any, Any]:
    a = floating(x1, op)
    b = alike(x2, a, op, "x2")
    try:
        np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        raise ShapeError(f"{op}: x1 and x2 do not broadcast; got {describe(a, b)}") from None
    return a, b


def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    """The cosine of the angle between vectors along an axis; of the zero vector 0 with gradient 0.

    Parameters
    ----------
    x1, x2 : array_like
        Floating; they broadcast.
    dim : int
        The axis that the vectors lie along.
    eps : float
        The least length that is divided by.

    Raises
    ------
    ShapeError
        If the shapes don't broadcast.
    numpy.exceptions.AxisError
        If there is no such axis.

    Examples
    --------
    >>> import numen as nm
    >>> x = nm.array([[1.0, 0.0], [3.0, 4.0]])
    >>> nm.nn.functional.cosine_similarity(x, nm.array([[0.0, 2.0]]))
    array([0. , 0.8])
    """
    a, b = _both(x1, x2, "cosine_similarity")
    if a.shape != b.shape:
        a, b = broadcast_arrays(a, b)
    if not a.ndim:
        a, b = a.reshape((1,)), b.reshape((1,))
    lengths = [maximum(vector_norm(x, axis=dim), eps) for x in (a, b)]
    return (a * b).sum(axis=dim) / (lengths[0] * lengths[1])


def pairwise_distance(
    x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Any:
    """The p-norm of x1 - x2 + eps along the last axis.

    Parameters
    ----------
    x1, x2 : array_like, shape (..., D)
        Floating; they broadcast.
    p : float
        The norm's order; inf is the largest difference, 0 how many there are.
    eps : float
        Added to each difference, as PyTorch does.
    keepdim : bool
        Keep the last axis with one element.

    Raises
    ------
    ShapeError
        If the shapes don't broadcast.

    Examples
    --------
    >>> import numen as nm
    >>> d = nm.nn.functional.pairwise_distance([[0.0, 0.0]], [[3.0, 4.0]])
    >>> round(float(d[0]), 4)
    5.0
    """
    a, b = _both(x1, x2, "pairwise_distance")
    return vector_norm(a - b + eps, ord=p, axis=-1, keepdims=keepdim)
