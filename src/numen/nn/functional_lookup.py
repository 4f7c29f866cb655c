"""embedding: rows of a table by number.

The row of `ops/lookup.py` computes and looks at the indices. Called by `embedding.py`;
`functional.py` re-exports `__all__`.
"""

from __future__ import annotations

from typing import Any

from numen.dispatch import modes
from numen.dispatch.convert import as_array
from numen.errors import DTypeError, ShapeError, describe
from numen.namespace import absolute, where
from numen.ops.lookup import embedding as _embedding

__all__ = ["embedding"]


def embedding(
    input: Any,
    weight: Any,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    """Rows of a table.

    Parameters
    ----------
    input : array_like of int, shape (...)
        Numbers of rows.
    weight : Array, shape (num_embeddings, embedding_dim)
        The table.
    padding_idx : int, optional
        A row that gets no gradient; negative counts from the end.
    max_norm : float, optional
        Rows that are read and longer than this are scaled down to it, in place.
    norm_type : float
        The norm that max_norm is of.
    scale_grad_by_freq, sparse : bool
        Only False is provided.

    Returns
    -------
    Array, shape (..., embedding_dim)

    Raises
    ------
    IndexRangeError
        If a number is out of range; it names it and the bound.
    DTypeError
        If the input is not of integers.
    ShapeError
        If the table has not two axes.
    ValueError
        If padding_idx is out of range, or an option is not provided.

    Examples
    --------
    >>> import numen as nm
    >>> table = nm.array([[1.0, 2.0], [3.0, 4.0]])
    >>> nm.nn.functional.embedding([1, 0, 1], table).tolist()
    [[3.0, 4.0], [1.0, 2.0], [3.0, 4.0]]
    """
    places, table = as_array(input), as_array(weight)
    if table.ndim != 2:
        raise ShapeError(
            f"embedding: expected weight of shape (num_embeddings, embedding_dim), got "
            f"{describe(table)}"
        )
    if places.dtype.kind not in "iu":
        raise DTypeError(f"embedding: expected integer input, got {describe(places)}")
    if scale_grad_by_freq or sparse:
        raise ValueError("embedding: scale_grad_by_freq and sparse gradients are not provided")
    if padding_idx is not None:
        padding_idx = wrapped(padding_idx, table.shape[0])
    if max_norm is not None:
        _shorten(table, places, float(max_norm), float(norm_type))
    return _embedding(table, places, padding_idx=padding_idx)


def wrapped(padding_idx: int, rows: int) -> int:
    """padding_idx as a non-negative number.

    Raises
    ------
    ValueError
        If it is out of range.
    """
    if not -rows <= padding_idx < rows:
        raise ValueError(f"embedding: expected padding_idx in [-{rows}, {rows}), got {padding_idx}")
    return padding_idx % rows


def _shorten(table: Any, places: Any, longest: float, p: float) -> None:
    """Scale the rows that are read down to a norm."""
    with modes.no_grad():
        flat = places.reshape((-1,))
        rows = _embedding(table, flat, padding_idx=None)
        lengths = (absolute(rows) ** p).sum(axis=1, keepdims=True) ** (1.0 / p)
        factor = where(lengths > longest, longest / (lengths + 1e-7), 1.0)
        table[flat] = rows * factor
