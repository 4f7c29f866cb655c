"""New arrays of the elements of given ones: tile, repeat, roll, insert, delete, trim_zeros.

Recorded calls let NumPy move the elements' positions and gather there: one row, whose gradient adds
up what was repeated. Next: `ops/gathering.py`.
"""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from numen.dispatch import core
from numen.dispatch.convert import as_array
from numen.dispatch.core import ArrayCore, View
from numen.namespace.calling import composes, host
from numen.namespace.devices import beside
from numen.namespace.layout import cast_of, plain_argument
from numen.ops import table

__all__ = ["tile", "repeat", "resize", "roll", "append", "insert", "delete", "trim_zeros"]


def gathered(x: Any, positions: Any, axis: int = 0) -> Any:
    """The elements of an Array at positions, an ndarray of ints, along an axis; in C order."""
    before = [("b", slice(0, n, 1)) for n in x._d.shape[:axis]]
    shape = np.shape(positions)
    result = table["gather"](x, core.new_constant(np.atleast_1d(positions)), spec=(*before, 0))
    if not shape:
        return table["reshape"](result, shape=())
    return result if result._d.flags.c_contiguous else table["copy"](result)


@composes(np.tile)
def tile(A: Any, reps: Any) -> Any:
    """The array repeated along each axis as often as `reps` says.

    Examples
    --------
    >>> import numen as nm
    >>> nm.tile(nm.array([1, 2]), (2, 2))
    array([[1, 2, 1, 2],
           [1, 2, 1, 2]])
    """
    x = as_array(A)
    given = plain_argument(reps, "tile")
    times = tuple(map(index, given)) if np.ndim(given) else (index(given),)
    rank = max(len(times), x._d.ndim)
    times = (1,) * (rank - len(times)) + times
    extents = (1,) * (rank - x._d.ndim) + x._d.shape
    each = [n for pair in zip((1,) * rank, extents, strict=True) for n in pair]
    grid = tuple([n for pair in zip(times, extents, strict=True) for n in pair])
    spread = table["broadcast_to"](x.reshape(tuple(each)), shape=grid)
    result = spread.reshape(tuple([t * n for t, n in zip(times, extents, strict=True)]))
    return result.copy() if type(result._v) is View else result


@composes(np.repeat)
def repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    """Each element repeated, along an axis or flattened.

    Raises
    ------
    ValueError
        If a count is negative, or the counts do not fit the axis.

    Examples
    --------
    >>> import numen as nm
    >>> nm.repeat(nm.array([1, 2]), [1, 2])
    array([1, 2, 2])
    """
    x = as_array(a)
    counts = plain_argument(repeats, "repeat")
    if axis is None or not x._d.ndim:
        x, axis = x.ravel(), 0 if axis is None else axis
    axis = normalize_axis_index(axis, x._d.ndim)
    return gathered(x, np.repeat(np.arange(x._d.shape[axis]), counts), axis)


@composes(np.resize)
def resize(a: Any, new_shape: Any) -> Any:
    """The flattened elements, repeated as often as needed, in a new shape.

    Examples
    --------
    >>> import numen as nm
    >>> nm.resize(nm.arange(3), (2, 2))
    array([[0, 1],
           [2, 0]])
    """
    x = as_array(a).ravel()
    if not x._d.size:
        return NotImplemented
    return gathered(x, np.resize(np.arange(x._d.size), plain_argument(new_shape, "resize")))


@composes(np.roll)
def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """Elements moved along axes; what leaves at the end comes back in front.

    Examples
    --------
    >>> import numen as nm
    >>> nm.roll(nm.arange(4), 1)
    array([3, 0, 1, 2])
    """
    x = as_array(a)
    by = plain_argument(shift, "roll")
    if axis is None:
        flat = roll(x.ravel(), by, 0)
        return flat.reshape(x._d.shape)
    if type(axis) is tuple and not axis:
        return NotImplemented  # NumPy's is an error
    result = x
    for each, along in np.broadcast(by, axis):
        along = normalize_axis_index(int(along), x._d.ndim)
        n = x._d.shape[along]
        cut = -int(each) % n if n else 0
        if cut:
            before = (slice(None),) * along
            parts = result[(*before, slice(cut, None))], result[(*before, slice(None, cut))]
            result = table["concatenate"](*parts, axis=along)
    return result.copy() if result is x else cast_of(result, x._d.dtype, copy=False)


@composes(np.append)
def append(arr: Any, values: Any, axis: Any = None) -> Any:
    """`values` behind the elements of `arr`, along an axis or both flattened.

    Examples
    --------
    >>> import numen as nm
    >>> nm.append(nm.array([1, 2]), 3)
    array([1, 2, 3])
    """
    x, more = beside(arr, values), beside(values, arr)
    if axis is None:
        return table["concatenate"](x.ravel(), more.ravel(), axis=0)
    return table["concatenate"](x, more, axis=normalize_axis_index(axis, x._d.ndim))


@composes(np.insert)
def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """A copy with `values` before the positions `obj`, along an axis or flattened.

    Raises
    ------
    IndexError
        If a position is out of bounds.

    Examples
    --------
    >>> import numen as nm
    >>> nm.insert(nm.array([1, 3]), 1, 2)
    array([1, 2, 3])
    """
    x = as_array(arr)
    if not isinstance(values, ArrayCore):
        as_array(values, x._d.dtype)  # refuses numbers that the dtype has not
    more = cast_of(beside(values, x), x._d.dtype, copy=False)
    old = np.arange(x._d.size).reshape(x._d.shape)
    new = old.size + np.arange(more._d.size).reshape(more._d.shape)
    positions = np.insert(old, plain_argument(obj, "insert"), new, axis)
    both = table["concatenate"](x.reshape(-1), more.reshape(-1), axis=0)
    return cast_of(gathered(both, positions), x._d.dtype, copy=False)


@composes(np.delete)
def delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    """A copy without the slices at `obj` along an axis, or without those elements, flattened.

    Raises
    ------
    IndexError
        If a position is out of bounds.

    Examples
    --------
    >>> import numen as nm
    >>> nm.delete(nm.arange(4), [1, 2])
    array([0, 3])
    """
    x = as_array(arr)
    if axis is None:
        x, axis = x.ravel(), 0
    axis = normalize_axis_index(axis, x._d.ndim)
    kept = np.delete(np.arange(x._d.shape[axis]), plain_argument(obj, "delete"))
    return gathered(x, kept, axis)


_trimmed = host(np.trim_zeros)


def trim_zeros(filt: Any, trim: Any = "fb", axis: Any = None) -> Any:
    """Without leading (f) and trailing (b) zeros, as a view; along all axes or those given.

    Examples
    --------
    >>> import numen as nm
    >>> nm.trim_zeros(nm.array([0, 1, 0, 2, 0]))
    array([1, 0, 2])
    """
    along = {} if axis is None else {"axis": axis}  # older NumPys have no axis
    if not isinstance(filt, ArrayCore) or not filt._d.ndim or filt._d.dtype.kind not in "biufc":
        return _trimmed(filt, trim, **along)
    mask = np.not_equal(plain_argument(filt, "trim_zeros"), 0, order="C")
    kept = np.trim_zeros(mask, trim, **along)
    if kept.size:
        offset = kept.__array_interface__["data"][0] - mask.__array_interface__["data"][0]
        starts = np.unravel_index(offset, mask.shape)
    else:
        starts = (0,) * mask.ndim
    inside = [slice(int(i), int(i) + n) for i, n in zip(starts, kept.shape, strict=True)]
    return filt[(*inside, ...)]  # type: ignore[index]
