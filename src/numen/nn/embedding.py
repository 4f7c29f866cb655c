"""Embedding: a learned row for each number.

It calls `functional_lookup.py`. Next: `activations.py`.
"""

from __future__ import annotations

from typing import Any, Self

from numen.dispatch import modes
from numen.dispatch.convert import as_array
from numen.errors import ShapeError, describe
from numen.nn import functional_lookup as functional
from numen.nn.initial import normal
from numen.nn.module import Module
from numen.nn.parameter import Parameter

__all__ = ["Embedding"]


class Embedding(Module):
    """A table of rows, looked up by number.

    Parameters
    ----------
    num_embeddings, embedding_dim : int
        Rows and their length.
    padding_idx : int, optional
        A row that is zeros at first and gets no gradient; negative counts from the end.
    max_norm, norm_type : float
        Rows that are read and longer than max_norm are scaled down to it, in place.
    scale_grad_by_freq, sparse : bool
        Only False is provided.
    _weight : array_like, optional
        Initial rows.
    _freeze : bool
        Whether the rows are not trained.
    device, dtype
        Of the weight; float32 by default.

    Attributes
    ----------
    weight : Parameter of shape (num_embeddings, embedding_dim)
        Normal with mean 0 and variance 1 at first.

    Raises
    ------
    ValueError
        If padding_idx is out of range, or an option is not provided.

    Examples
    --------
    >>> import numen as nm
    >>> layer = nm.nn.Embedding(10, 3, padding_idx=0)
    >>> layer(nm.array([[0, 2], [1, 9]])).shape, layer(nm.array(0)).tolist()
    ((2, 2, 3), [0.0, 0.0, 0.0])
    """

    weight: Parameter

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Any = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if scale_grad_by_freq or sparse:
            raise ValueError("Embedding: scale_grad_by_freq and sparse are not provided")
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = (
            None if padding_idx is None else functional.wrapped(padding_idx, num_embeddings)
        )
        self.max_norm, self.norm_type = max_norm, norm_type
        shape = (num_embeddings, embedding_dim)
        if _weight is None:
            self.weight = normal(shape, dtype)
            if self.padding_idx is not None:
                with modes.no_grad():
                    self.weight[self.padding_idx] = 0.0
            self.weight.requires_grad_(not _freeze)
        else:
            if tuple(as_array(_weight).shape) != shape:
                raise ShapeError(
                    f"Embedding: expected weight of shape {shape}, got {describe(_weight)}"
                )
            self.weight = Parameter(_weight, not _freeze)
        if device is not None:
            self.to(device)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Any,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Self:
        """A layer with given rows, of shape (num_embeddings, embedding_dim).

        Raises
        ------
        ShapeError
            If they have not two axes.
        """
        rows = as_array(embeddings)
        if rows.ndim != 2:
            raise ShapeError(f"Embedding: expected rows of 2 axes, got {describe(rows)}")
        return cls(
            rows.shape[0],
            rows.shape[1],
            padding_idx=padding_idx,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            sparse=sparse,
            _weight=rows,
            _freeze=freeze,
        )

    def forward(self, input: Any) -> Any:
        """Rows for integers of any shape.

        Raises
        ------
        IndexRangeError
            If a number is out of range.
        DTypeError
            If the input is not of integers.
        """
        return functional.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type
        )

    def extra_repr(self) -> str:
        parts = [f"{self.num_embeddings}, {self.embedding_dim}"]
        if self.padding_idx is not None:
            parts.append(f"padding_idx={self.padding_idx}")
        if self.max_norm is not None:
            parts.append(f"max_norm={self.max_norm}")
        if self.norm_type != 2:
            parts.append(f"norm_type={self.norm_type}")
        return ", ".join(parts)
