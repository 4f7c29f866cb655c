"""Axes: permutations and flips of an array's axes, all of them views.

NumPy says what is right; the rows `transpose` and `getitem` make the view. Array's methods call
these through `manipulation.py`, which is next.
"""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from numen.dispatch import modes
from numen.dispatch.convert import as_array
from numen.dispatch.core import ArrayCore
from numen.dispatch.primitive import Primitive
from numen.errors import name_error
from numen.ops import table

__all__ = ["transpose", "permute_dims", "matrix_transpose", "swapaxes", "moveaxis", "rollaxis"]
__all__ += ["flip", "fliplr", "flipud", "rot90"]

_TRANSPOSE = table["transpose"]


def viewed(row: Primitive, x: Any, params: dict[str, Any], data: Any) -> Any:
    """What a row that NumPy has computed already gives."""
    if modes.ACTIVE:
        return row(x, **params)
    return row.finish((x,), params, data)


def numpys(method: str, x: Any, *args: Any, **params: Any) -> Any:
    """NumPy's method on x's memory; its exceptions name the array."""
    try:
        return getattr(x._d, method)(*args, **params)
    except np.exceptions.AxisError:
        raise
    except Exception as error:
        name_error(method, error, (x,))
        raise


def transpose(a: Any, axes: Any = None) -> Any:
    """Axes permuted (reversed by default), as a view.

    Raises
    ------
    ValueError
        If `axes` is no permutation of the array's axes.

    Examples
    --------
    >>> import numen as nm
    >>> nm.transpose(nm.ones((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    x = a if isinstance(a, ArrayCore) else as_array(a)
    ndim = x._d.ndim
    if axes is None:
        data = x._d.transpose()
        order = tuple(range(ndim))[::-1]
    else:
        order = tuple(map(index, axes if hasattr(axes, "__iter__") else (axes,)))
        data = numpys("transpose", x, order)
        order = tuple([i + ndim if i < 0 else i for i in order])
    return viewed(_TRANSPOSE, x, {"axes": order}, data)


permute_dims = transpose


def matrix_transpose(x: Any, /) -> Any:
    """The last two axes interchanged, as a view.

    Raises
    ------
    ValueError
        If the array has less than two axes.
    """
    a = as_array(x)
    if a._d.ndim < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {a._d.ndim}")
    return swapaxes(a, -1, -2)


def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    """Two axes interchanged, as a view."""
    x = a if isinstance(a, ArrayCore) else as_array(a)
    axis1, axis2 = index(axis1), index(axis2)
    data = x._d.swapaxes(axis1, axis2)
    axes = list(range(x._d.ndim))
    axes[axis1], axes[axis2] = axes[axis2], axes[axis1]
    return viewed(_TRANSPOSE, x, {"axes": tuple(axes)}, data)


def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    """Axes moved to new positions, the others keeping their order, as a view.

    Raises
    ------
    ValueError
        If `source` and `destination` differ in length or name an axis twice.

    Examples
    --------
    >>> import numen as nm
    >>> nm.moveaxis(nm.ones((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    x = as_array(a)
    origin = normalize_axis_tuple(source, x._d.ndim, "source")
    goal = normalize_axis_tuple(destination, x._d.ndim, "destination")
    if len(origin) != len(goal):
        raise ValueError(
            "`source` and `destination` arguments must have the same number of elements"
        )
    order = [i for i in range(x._d.ndim) if i not in origin]
    for place, axis in sorted(zip(goal, origin, strict=True)):
        order.insert(place, axis)
    return transpose(x, order)


def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    """One axis moved back until it stands before position `start`, as a view."""
    x = as_array(a)
    n = x._d.ndim
    axis = normalize_axis_index(axis, n)
    if start < 0:
        start += n
    if not 0 <= start <= n:
        raise np.exceptions.AxisError(
            f"'start' arg requires {-n} <= start < {n + 1}, but {start} was passed in"
        )
    if axis < start:
        start -= 1
    if axis == start:
        return x[...]
    order = [i for i in range(n) if i != axis]
    order.insert(start, axis)
    return transpose(x, order)


# flips


def flip(m: Any, axis: Any = None) -> Any:
    """Elements in reverse order along axes (all by default), as a view.

    Examples
    --------
    >>> import numen as nm
    >>> nm.flip(nm.arange(3))
    array([2, 1, 0])
    """
    x = as_array(m)
    axes = normalize_axis_tuple(range(x._d.ndim) if axis is None else axis, x._d.ndim)
    return x[tuple([slice(None, None, -1 if i in axes else None) for i in range(x._d.ndim)])]


def flipud(m: Any) -> Any:
    """Rows in reverse order, as a view."""
    x = as_array(m)
    if x._d.ndim < 1:
        raise ValueError("Input must be >= 1-d.")
    return flip(x, 0)


def fliplr(m: Any) -> Any:
    """Columns in reverse order, as a view."""
    x = as_array(m)
    if x._d.ndim < 2:
        raise ValueError("Input must be >= 2-d.")
    return flip(x, 1)


def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    """Rotated by k right angles from the first axis towards the second, as a view.

    Raises
    ------
    ValueError
        If `axes` are not two different axes of the array.

    Examples
    --------
    >>> import numen as nm
    >>> nm.rot90(nm.array([[1, 2], [3, 4]]))
    array([[2, 4],
           [1, 3]])
    """
    x = as_array(m)
    n = x._d.ndim
    pair = tuple(map(index, axes))
    if len(pair) != 2:
        raise ValueError("len(axes) must be 2.")
    first, second = pair
    if first == second or abs(first - second) == n:
        raise ValueError("Axes must be different.")
    if not (-n <= first < n and -n <= second < n):
        raise ValueError(f"Axes={pair} out of range for array of ndim={n}.")
    k = index(k) % 4
    if k == 0:
        return x[:]
    if k == 2:
        return flip(flip(x, first), second)
    return (
        swapaxes(flip(x, second), first, second)
        if k == 1
        else flip(swapaxes(x, first, second), second)
    )
