"""Arguments to Arrays: how functions take what users pass.

`as_array` is NumPy's `asarray`; `operand` leaves Python scalars alone, so that they stay weak (NEP
50).
"""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any

import numpy as np

from numen.dispatch import core, modes
from numen.dispatch.core import ArrayCore
from numen.errors import ShapeError

from_nested: Callable[[Any, Any], Any] | None = None
"""`namespace.creation`'s array of nested sequences, which stacks Arrays with gradients; filled
there."""


def as_array(value: Any, dtype: Any = None) -> Any:
    """An Array that shares memory with `value` where it can."""
    if isinstance(value, ArrayCore):
        if dtype is not None and value._d.dtype != np.dtype(dtype):
            return core.ARRAY.astype(value, dtype)
        return value
    if isinstance(value, (list, tuple)):
        if from_nested is not None:
            return from_nested(value, dtype)
        value = unwrap_nested(value)
    try:
        data = np.asarray(value, dtype)
    except ValueError:
        if from_nested is None or isinstance(value, np.ndarray):
            raise
        return from_nested(value, dtype)  # an object whose `__array__` gives an Array, or an error
    result = core.ARRAY(data if type(data) is np.ndarray else data.view(np.ndarray))
    if modes.ACTIVE:
        core.note_new(result, isinstance(value, np.ndarray))
    return result


def operand(value: Any) -> Any:
    """An op's argument: Arrays and Python scalars as they are, everything else as an Array."""
    if isinstance(value, ArrayCore) or type(value) in (bool, int, float, complex):
        return value
    if getattr(type(value), "_is_host_scalar", False):
        return value if value.live else value.value
    return as_array(value)


def operands(*values: Any) -> tuple[Any, ...]:
    """Arguments of an op, at least one of them an Array."""
    out = tuple([operand(v) for v in values])
    if any([isinstance(v, ArrayCore) for v in out]):
        return out
    return tuple([core.wrap(np.asarray(v)[()]) for v in out])


def arrays_in(value: Any) -> list[ArrayCore]:
    """The Arrays in nested lists, tuples and dicts."""
    if isinstance(value, ArrayCore):
        return [value]
    if isinstance(value, dict):
        value = tuple(value.values())
    return [a for v in value for a in arrays_in(v)] if isinstance(value, (list, tuple)) else []


def even_value(value: Any, rank: int) -> Any:
    """A batched value to be assigned, with exactly `rank` axes behind its batch axis: NumPy leaves
    out leading axes of one element.

    Raises
    ------
    ShapeError
        If an axis that is one too many has another extent than 1.
    """
    size, *shape = value.shape
    extra = len(shape) - rank
    if any([n != 1 for n in shape[: max(extra, 0)]]):
        raise ShapeError(
            f"setitem: could not broadcast a value of shape {tuple(shape)} into a view of {rank} "
            "axes"
        )
    shape = shape[extra:] if extra > 0 else [1] * -extra + shape
    return value.reshape((size, *shape))


def unwrap_nested(value: Any) -> Any:
    """Nested lists with Arrays inside, as NumPy can read them."""
    if isinstance(value, ArrayCore):
        return core.ARRAY.__array__(value)
    if isinstance(value, (list, tuple)):
        return [unwrap_nested(v) for v in value]
    return value


def one_axis(axis: Any, ndim: int, op: str) -> int:
    """An axis argument that must be a single axis, as a non-negative int.

    Raises
    ------
    numpy.exceptions.AxisError
        If the axis is out of bounds.
    TypeError
        If it is no integer.
    """
    return normalize_axes(index(axis), ndim, op)[0]


def normalize_axes(axis: Any, ndim: int, op: str) -> tuple[int, ...]:
    """Axis arguments as sorted non-negative ints; None means all.

    Raises
    ------
    numpy.exceptions.AxisError
        If an axis is out of bounds.
    ValueError
        If an axis occurs twice.
    TypeError
        If an axis is no integer.
    """
    if axis is None:
        return tuple(range(ndim))
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    out = []
    for a in axes:
        i = index(a)
        if not -ndim <= i < ndim:
            raise np.exceptions.AxisError(i, ndim, op)
        out.append(i % ndim)
    if len(set(out)) != len(out):
        raise ValueError(f"{op}: duplicate value in 'axis', got {axis}")
    return tuple(sorted(out))
