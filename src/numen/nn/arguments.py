"""Arguments that many layers take: floating input, one value for all axes or one for each.

Used by `functional.py` and its neighbours. What does not fit raises here, naming the layer.
"""

from __future__ import annotations

from operator import index
from typing import Any

from numen.dispatch import modes, views
from numen.dispatch.convert import as_array
from numen.dispatch.core import is_differentiable
from numen.errors import DTypeError, ShapeError, describe

Pairs = tuple[tuple[int, int], ...]


def floating(x: Any, op: str, like: Any = None) -> Any:
    """x as an Array of a real floating dtype: `like`'s, where one is given.

    Raises
    ------
    DTypeError
        If x is not floating.
    """
    x = as_array(x)
    if like is not None and x.dtype == like.dtype:
        return x
    if not is_differentiable(x.dtype) or x.dtype.kind == "c":
        to = "float32" if like is None else like.dtype
        raise DTypeError(
            f"{op}: expected floating input, got {describe(x)}. Hint: x.astype(nm.{to}) converts it"
        )
    return x if like is None else x.astype(like.dtype)


def each(value: Any, rank: int, op: str, name: str, least: int = 1) -> tuple[int, ...]:
    """One int an axis, from an int or a sequence.

    Raises
    ------
    ValueError
        If there are too many or too few, or one is too small.
    """
    sizes = tuple(map(index, value)) if isinstance(value, (tuple, list)) else (index(value),)
    if len(sizes) == 1:
        sizes *= rank
    if len(sizes) != rank or min(sizes) < least:
        raise ValueError(
            f"{op}: expected {name} to be an int of {least} or more, or {rank} of them; "
            f"got {value!r}"
        )
    return sizes


def pairs(value: Any, rank: int, op: str) -> Pairs:
    """Padding before and after each axis, from an int, one int an axis or one pair an axis."""
    if isinstance(value, (tuple, list)) and any(isinstance(v, (tuple, list)) for v in value):
        both = tuple([each(v, 2, op, "a padding pair", 0) for v in value])
        if len(both) != rank:
            raise ValueError(f"{op}: expected {rank} pairs of padding, got {value!r}")
        return tuple([(low, high) for low, high in both])
    return tuple([(p, p) for p in each(value, rank, op, "padding", 0)])


def batched(x: Any, rank: int, op: str) -> tuple[Any, bool]:
    """x of shape (N, C, *spatial), and whether it came without N.

    Raises
    ------
    ShapeError
        If it has another number of axes.
    """
    if x.ndim == rank + 1:
        return x.reshape((1, *x.shape)), True
    if x.ndim != rank + 2:
        raise ShapeError(
            f"{op}: expected input of shape (N, C, *spatial) or (C, *spatial) with {rank} spatial "
            f"axes; got {describe(x)}"
        )
    return x, False


def in_place(x: Any, result: Any, asked: bool, op: str) -> Any:
    """The result, written into x where that is asked for."""
    if not asked:
        return result
    views.write(x, result, op)
    return x


def is_small(x: Any) -> bool:
    """Whether x takes the short way: one row on NumPy instead of ops that fuse into kernels."""
    return not modes.ACTIVE and x.size < modes.LIMIT
