"""What a table of the mapping holds: for one torch operation, the numen function that means it.

A function takes torch's arguments in torch's order, as numen's values. `Counterpart` adds what both
results go through before they are compared, where an operation's result is not unique. Next:
`pointwise.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from tests.oracle.convert import LeftOutError

Function = Callable[..., Any]


@dataclass(frozen=True)
class Counterpart:
    """The function of numen, and `invariant`, applied to both results where they are only unique
    up to a sign, a phase or an order; `shapes_only` where the values mean nothing (empty)."""

    function: Function
    invariant: Function | None = None
    shapes_only: bool = False


def counterpart(entry: Any) -> Counterpart:
    return entry if isinstance(entry, Counterpart) else Counterpart(entry)


def axis_of(dim: Any) -> Any:
    """torch's `dim` as an axis; its empty list means every axis."""
    if dim is None or (isinstance(dim, (list, tuple)) and not dim):
        return None
    return tuple(dim) if isinstance(dim, list) else dim


def reduction(function: Function) -> Function:
    """dim, keepdim and dtype as axis, keepdims and dtype."""

    def call(x: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
        more = {} if dtype is None else {"dtype": dtype}
        axis = axis_of(dim) if x.ndim else None  # torch gives a 0-d tensor an axis 0
        return function(x, axis=axis, keepdims=keepdim, **more)

    return call


def refuses(condition: bool, why: str) -> None:
    """Leave a sample out whose form numen has no counterpart of."""
    if condition:
        raise LeftOutError(why)


def sizes(args: tuple[Any, ...]) -> tuple[int, ...]:
    """A shape, given as one tuple or as integers."""
    if len(args) == 1 and isinstance(args[0], (tuple, list)):
        return tuple(args[0])
    return tuple(args)


def scalar(value: Any) -> Any:
    """A Python number of a 0-d array."""
    return value.item() if hasattr(value, "item") else value


def integers(array: Any) -> np.ndarray:
    """Plain NumPy integers of an index array: they steer, and carry no gradient."""
    return np.asarray(array)
