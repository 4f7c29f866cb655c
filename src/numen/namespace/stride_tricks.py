"""Broadcasting and strided windows: views that repeat or overlap the elements of an array.

`numen.lib.stride_tricks` exports `as_strided` and `sliding_window_view`. Next: `ops/memory.py` for
the row.
"""

from __future__ import annotations

from inspect import Parameter, Signature
from operator import index
from typing import Any

import numpy as np

from numen.dispatch.convert import as_array
from numen.dispatch.core import SCALAR
from numen.errors import GradientError, describe
from numen.namespace.calling import raw, recorded
from numen.namespace.layout import plain_argument
from numen.ops import table
from numen.ops.memory import strided_positions

__all__ = ["broadcast_to", "broadcast_arrays", "broadcast_shapes", "broadcast"]


def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Any:
    """A read-only view of `array` in a larger shape.

    Raises
    ------
    ValueError
        If the array does not broadcast to the shape.

    Examples
    --------
    >>> import numen as nm
    >>> nm.broadcast_to(nm.array([1, 2]), (2, 2))
    array([[1, 2],
           [1, 2]])
    """
    if type(shape) is not tuple:
        shape = plain_argument(shape, "broadcast_to")
        shape = tuple(shape) if np.iterable(shape) else (shape,)
    return table["broadcast_to"](as_array(array), shape=tuple(map(index, shape)))


def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[Any, ...]:
    """Arrays as views of their common shape; those that have it already are themselves.

    The views are read-only. (NumPy's are still writeable with a warning, and announced to become
    read-only.)

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> import numen as nm
    >>> a, b = nm.broadcast_arrays(nm.ones((2, 1)), nm.ones(3))
    >>> a.shape, b.shape
    ((2, 3), (2, 3))
    """
    arrays = [as_array(a) for a in args]
    arrays = [table["reshape"](a, shape=()) if a._v is SCALAR else a for a in arrays]
    shape = np.broadcast_shapes(*[a._d.shape for a in arrays])
    return tuple(
        [a if a._d.shape == shape else table["broadcast_to"](a, shape=shape) for a in arrays]
    )


def broadcast_shapes(*args: Any) -> tuple[int, ...]:
    """The shape that shapes broadcast to, as Python ints."""
    return np.broadcast_shapes(*[plain_argument(a, "broadcast_shapes") for a in args])


class _Broadcasts(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, np.broadcast)


class broadcast(metaclass=_Broadcasts):  # noqa: N801
    """NumPy's iterator over broadcast arrays: its `shape`, `nd`, `size`, `iters`.

    Examples
    --------
    >>> import numen as nm
    >>> nm.broadcast(nm.ones((2, 1)), nm.ones(3)).shape
    (2, 3)
    """

    __signature__ = Signature([Parameter("arrays", Parameter.VAR_POSITIONAL)])

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        if kwargs:
            raise ValueError("keyword arguments not accepted.")
        return np.broadcast(*[plain_argument(a, "broadcast") for a in args])


def as_strided(
    x: Any, shape: Any = None, strides: Any = None, subok: bool = False, writeable: bool = True
) -> Any:
    """A view of the array's memory with any shape and strides (in bytes).

    As in NumPy nothing checks that it stays inside the memory, except where a gradient or a trace
    is concerned: there it must read elements of `x`.

    Raises
    ------
    GradientError
        If it reads memory that holds no element of an `x` that carries a gradient.

    Examples
    --------
    >>> import numen as nm
    >>> from numen.lib.stride_tricks import as_strided
    >>> as_strided(nm.arange(4), (2, 3), (8, 8))
    array([[0, 1, 2],
           [1, 2, 3]])
    """
    a = as_array(x)
    extents = a._d.shape if shape is None else tuple(plain_argument(shape, "as_strided"))
    steps = a._d.strides if strides is None else tuple(plain_argument(strides, "as_strided"))
    params = {
        "shape": tuple([index(n) for n in extents]),
        "strides": tuple([index(n) for n in steps]),
        "source": a._d.strides,
        "writeable": bool(writeable),
    }
    if len(params["shape"]) != len(params["strides"]):
        raise ValueError(f"mismatch in length of strides {steps} and shape {extents}")
    if recorded((a,), {}):
        try:
            strided_positions(a._d.shape, a._d.strides, params["shape"], params["strides"])
        except ValueError as error:
            raise GradientError(f"{error}; got {describe(a)} with a gradient or a trace") from None
    return table["as_strided"](a, **params)


def sliding_window_view(
    x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> Any:
    """All windows of a shape, their axes last, as a view.

    Raises
    ------
    ValueError
        If a window is larger than its axis, negative, or the axes do not fit.

    Examples
    --------
    >>> import numen as nm
    >>> from numen.lib.stride_tricks import sliding_window_view
    >>> sliding_window_view(nm.arange(4), 3)
    array([[0, 1, 2],
           [1, 2, 3]])
    """
    a = as_array(x)
    window = plain_argument(window_shape, "sliding_window_view")
    # only its shape and strides count: it stands for the array on every backend
    shadow = np.lib.stride_tricks.as_strided(np.empty(1, np.int8), a._d.shape, a._d.strides)
    view = np.lib.stride_tricks.sliding_window_view(shadow, window, raw(axis))
    return as_strided(a, view.shape, view.strides, writeable=writeable)
