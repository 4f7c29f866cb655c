"""embedding: rows of a table by number.

The row of `ops/lookup.py` computes and looks at the indices. Called by `embedding.py`;
`functional.py` re-exports `__all__`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch import modes
from numen.dispatch.convert import as_array
from numen.errors import DTypeError, IndexRangeError, ShapeError, describe
from numen.namespace import absolute, arange, expand_dims, where
from numen.namespace.devices import every_value
from numen.ops.lookup import embedding as _embedding

__all__ = ["embedding", "one_hot"]


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


def one_hot(input: Any, num_classes: int = -1) -> Any:
    """A last axis of classes, 1 at the given class and 0 elsewhere.

    Parameters
    ----------
    input : array_like of int
        Classes, 0 or more.
    num_classes : int
        Their number; -1 takes the largest class there is, and one.

    Returns
    -------
    Array of int64, shape input.shape + (num_classes,)

    Raises
    ------
    DTypeError
        If the input is not of ints.
    IndexRangeError
        If a class is negative or not below num_classes.

    Examples
    --------
    >>> import numen as nm
    >>> nm.nn.functional.one_hot([2, 0]).tolist()
    [[0, 0, 1], [1, 0, 0]]
    """
    x = as_array(input)
    if x.dtype.kind not in "iu":
        raise DTypeError(f"one_hot: expected classes of ints, got {describe(x)}")
    if num_classes == -1:
        num_classes = int(x.max()) + 1 if x.size else 0
    if not modes.asks_for_rows():
        values = every_value(x)
        wrong = (values < 0) | (values >= num_classes)
        if wrong.any():
            at = tuple([int(i) for i in np.argwhere(wrong)[0]])
            raise IndexRangeError(
                f"one_hot: class {values[at]} at index {at} is out of bounds for {num_classes} "
                "classes"
            )
    return (expand_dims(x, -1) == arange(num_classes)).astype(np.int64)
