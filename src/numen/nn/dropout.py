"""Layers of dropout; the identity outside of training.

They call `functional_dropout.py`, which holds the masks' stream. Next: `embedding.py`.
"""

from __future__ import annotations

from typing import Any

from numen.nn import functional_dropout as functional
from numen.nn.module import Module

__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d"]
__all__ += ["FeatureAlphaDropout"]


class _Dropout(Module):
    """What the layers share."""

    function: Any

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0.0 <= p <= 1.0:
            raise ValueError(f"{type(self).__name__}: expected p in [0, 1], got {p!r}")
        self.p, self.inplace = p, inplace

    def forward(self, input: Any) -> Any:
        return type(self).function(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropout):
    """Zero elements with probability p in training, and scale the others by 1 / (1 - p).

    Parameters
    ----------
    p : float
        How likely an element is dropped.
    inplace : bool
        Whether the result is written into the input.

    Raises
    ------
    ValueError
        If p is no probability.

    Examples
    --------
    >>> import numen as nm
    >>> nm.nn.Dropout(0.2).eval()(nm.ones(3)).tolist()
    [1.0, 1.0, 1.0]
    """

    function = staticmethod(functional.dropout)


class Dropout1d(_Dropout):
    """`Dropout` of whole channels of (N, C, L)."""

    function = staticmethod(functional.dropout1d)


class Dropout2d(_Dropout):
    """`Dropout` of whole channels of (N, C, H, W)."""

    function = staticmethod(functional.dropout2d)


class Dropout3d(_Dropout):
    """`Dropout` of whole channels of (N, C, D, H, W)."""

    function = staticmethod(functional.dropout3d)


class AlphaDropout(_Dropout):
    """Dropout that keeps mean 0 and variance 1 behind SELU."""

    function = staticmethod(functional.alpha_dropout)


class FeatureAlphaDropout(_Dropout):
    """`AlphaDropout` of whole channels."""

    function = staticmethod(functional.feature_alpha_dropout)
