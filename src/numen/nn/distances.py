"""Distances as modules: CosineSimilarity, PairwiseDistance. The formulas are in
`functional_distances.py`."""

from __future__ import annotations

from typing import Any

from numen.nn.functional_distances import cosine_similarity, pairwise_distance
from numen.nn.module import Module

__all__ = ["CosineSimilarity", "PairwiseDistance"]


class CosineSimilarity(Module):
    """The cosine of the angle between vectors, `functional.cosine_similarity`.

    Parameters
    ----------
    dim : int
        The axis that the vectors lie along.
    eps : float
        The least length that is divided by.
    """

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Any, x2: Any) -> Any:
        return cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Module):
    """The p-norm of the difference of vectors, `functional.pairwise_distance`.

    Parameters
    ----------
    p : float
        The norm's order.
    eps : float
        Added to each difference.
    keepdim : bool
        Keep the last axis with one element.
    """

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Any, x2: Any) -> Any:
        return pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
