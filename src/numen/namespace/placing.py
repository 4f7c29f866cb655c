"""Functions that write elements in place: put, putmask, place, copyto, fill_diagonal.

Plain arrays are written by NumPy. Where a gradient or a trace is concerned the array's next value
is computed by rows and written with `dispatch/views.py`: the values get the gradients of the
elements they went to, overwritten elements none. Next: `selecting.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch import backward as _backward
from numen.dispatch import core, modes, views
from numen.dispatch.backends import module_of
from numen.dispatch.convert import as_array
from numen.dispatch.core import ArrayCore
from numen.errors import GradientError, describe
from numen.namespace.calling import composes
from numen.namespace.creation import followed, known, made
from numen.namespace.devices import beside
from numen.ops import table

__all__ = ["copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"]


def current(x: Any) -> Any:
    """x as the operand of a functional update of itself: its node and register, memory copied only
    if saved."""
    fresh = core.ARRAY(x._d, x._n)
    fresh._t = _backward.register_of(x)
    return fresh


def goes_through_int(value: Any, dtype: np.dtype[Any]) -> bool:
    """Whether NumPy writes a number as Python's int, which raises where it does not fit: a Python
    number into ints, also one that changes between calls of a trace; its own floats into signed
    ints only."""
    if isinstance(value, (ArrayCore, np.generic)):
        return dtype.kind == "i" and is_float(value)
    return dtype.kind in "iu" and isinstance(value, (int, float))


def is_float(value: Any) -> bool:
    """Whether a value to write is a float, of which an array of ints gets the integer part."""
    if isinstance(value, ArrayCore):
        return value._v is core.SCALAR and value._d.dtype.kind == "f"
    return isinstance(value, (float, np.floating))


def target(x: Any, op: str) -> Any:
    """The array that a function writes with gradients.

    Raises
    ------
    TypeError
        If it is no array.
    GradientError
        If it is an ndarray, which holds no gradient.
    ValueError, LeafWriteError
        If it can't be written.
    """
    if isinstance(x, ArrayCore):
        if x._v is core.SCALAR:
            raise TypeError(f"{op}: expected an array to write, got the scalar {x!r}")
        views.check_writable(x, op)
        return x
    if isinstance(x, np.ndarray):
        raise GradientError(
            f"{op}: no gradient flows into an ndarray. Hint: write into asarray() of it, or "
            "detach() the values"
        )
    raise TypeError(f"{op}: argument 1 must be an array, got {describe(x)}")


def recycled(values: Any, count: int, x: Any) -> Any:
    """The first `count` of the values, flattened and repeated as often as needed, on x's device."""
    if not isinstance(values, (ArrayCore, np.ndarray)):
        as_array(values, x._d.dtype)  # raises for what does not fit
    v = beside(values, x)
    size = v._d.size
    v = table["reshape"](v, shape=(size,))
    if size == count or size == 1:
        return v
    turns = made(np.arange(count) % size)
    return table["gather"](v, turns, spec=(0,))


def write_flat(x: Any, positions: Any, values: Any, op: str) -> None:
    """Write values at flat positions (an integer Array) of x, with gradients."""
    if not _count(values) or not positions._d.size:
        return
    size = x._d.size
    flat = table["reshape"](current(x), shape=(size,))
    spots = table["reshape"](positions, shape=(positions._d.size,))
    new = table["scatter_set"](flat, recycled(values, spots._d.size, x), spots, spec=(0,))
    views.write(x, table["reshape"](new, shape=x._d.shape), op, casting="unsafe")


def _count(values: Any) -> int:
    """The number of elements."""
    return int(values._d.size) if isinstance(values, ArrayCore) else int(np.size(values))


def in_range(indices: Any, size: int, mode: str, op: str) -> Any:
    """Index arrays with `mode` applied: negative and, for "wrap" and "clip", large ones; None where
    NumPy has to refuse."""
    picks = as_array(indices)
    if not isinstance(indices, (ArrayCore, np.ndarray)):
        picks = as_array(indices, np.intp)  # NumPy casts scalars and what a list holds
    if picks._d.dtype.kind not in "biu":
        raise TypeError(f"{op}: indices must be integers, got {describe(picks)}")
    if picks._d.dtype.kind == "b":
        picks = picks.astype(np.intp)
    if mode == "raise":
        return picks
    if mode not in ("wrap", "clip") or not size:
        return None
    if followed_in_trace(picks):
        picks = picks.astype(np.intp, copy=False)
        if mode == "wrap":
            return table["remainder"](picks, size)
        return table["minimum"](table["maximum"](picks, 0), size - 1)
    xp = module_of(picks._d)
    raw = picks._d.astype(np.intp)
    return made(raw % size if mode == "wrap" else xp.clip(raw, 0, size - 1))


def followed_in_trace(x: Any) -> bool:
    """Whether x is an Array whose values a trace must not read."""
    return isinstance(x, ArrayCore) and modes.ACTIVE > 0 and modes.state.recorder is not None


# ------------------------------------------------------------ the functions


@composes(np.put, writes=(0,))
def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> Any:
    """Write `v` at the flat indices `ind`, repeating it if it is shorter.

    Raises
    ------
    IndexError
        If an index is out of bounds and `mode` is "raise".

    Examples
    --------
    >>> import numen as nm
    >>> x = nm.zeros(4)
    >>> nm.put(x, [0, 2], [5, 6]); x
    array([5., 0., 6., 0.])
    """
    if not followed(a, ind, v) or getattr(a, "_v", None) is core.SCALAR:
        return NotImplemented
    x = target(a, "put")
    if not x._d.size:
        if not _count(ind):
            return None
        return NotImplemented  # NumPy says what is wrong
    positions = in_range(ind, x._d.size, mode, "put")
    if positions is None:
        return NotImplemented
    write_flat(x, positions, v, "put")
    return None


@composes(np.put_along_axis, writes=(0,))
def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> Any:
    """Write `values` where `take_along_axis` would read.

    Raises
    ------
    IndexError
        If an index is out of bounds, or no integer.

    Examples
    --------
    >>> import numen as nm
    >>> x = nm.array([[10, 30, 20], [60, 40, 50]])
    >>> nm.put_along_axis(x, nm.array([[1], [0]]), 99, axis=1); x
    array([[10, 99, 20],
           [99, 40, 50]])
    """
    if not followed(arr, indices, values):
        return NotImplemented
    x = target(arr, "put_along_axis")
    source = current(x)
    if axis is None:
        source, axis = table["reshape"](source, shape=(x._d.size,)), 0
    given = along(source, indices, axis)
    if given is None:
        return NotImplemented
    spec = tuple(range(len(given)))
    new = table["scatter_set"](source, beside(values, x), *given, spec=spec)
    views.write(x, table["reshape"](new, shape=x._d.shape), "put_along_axis", casting="unsafe")
    return None


def along(x: Any, indices: Any, axis: int) -> Any:
    """Index arrays that pick, along one axis, each position's own element; None where NumPy
    refuses."""
    picks = as_array(indices)
    rank = x._d.ndim
    if picks._d.dtype.kind not in "iu" or picks._d.ndim != rank or not -rank <= axis < rank:
        return None
    given: list[Any] = []
    for i, n in enumerate(x._d.shape):
        if i == axis % rank:
            given.append(picks)
        else:
            sizes = [n if i == j else 1 for j in range(rank)]
            given.append(made(module_of(x._d).arange(n).reshape(sizes)))
    return given


@composes(np.putmask, writes=(0,))
def putmask(a: Any, /, mask: Any, values: Any) -> Any:
    """Write `values`, repeated to a's size, where the mask holds.

    Examples
    --------
    >>> import numen as nm
    >>> x = nm.arange(4)
    >>> nm.putmask(x, x > 1, x * 10); x
    array([ 0,  1, 20, 30])
    """
    if not followed(a, mask, values) or not _count(values):
        return NotImplemented
    x = target(a, "putmask")
    chosen = as_array(mask)
    if chosen._d.size != x._d.size:
        return NotImplemented
    _check_safe(values, x, "putmask")
    v = recycled(values, x._d.size, x)
    _write_where(x, table["reshape"](chosen, shape=x._d.shape), v, "putmask")
    return None


def _check_safe(values: Any, x: Any, op: str) -> None:
    """Refuse arrays that NumPy does not cast to x's dtype; it casts scalars and lists.

    Raises
    ------
    TypeError
        If the cast is not safe.
    """
    if isinstance(values, ArrayCore) and values._v is not core.SCALAR:
        if not np.can_cast(values._d.dtype, x._d.dtype, "safe"):
            raise TypeError(
                f"{op}: cannot cast array data from {values._d.dtype} to {x._d.dtype} according to "
                f"the rule 'safe'; got {describe(values)}"
            )


def _write_where(x: Any, mask: Any, flat_values: Any, op: str) -> None:
    """Write one value an element, or one for all, where the mask holds."""
    if mask._d.dtype != np.bool_:
        mask = table["not_equal"](mask, 0)
    one = flat_values._d.size == 1
    v = table["reshape"](flat_values, shape=() if one else x._d.shape)
    if v._d.dtype != x._d.dtype:
        v = table["cast"](v, dtype=x._d.dtype)
    views.write(x, table["where"](mask, v, current(x)), op, casting="unsafe")


@composes(np.place, writes=(0,))
def place(arr: Any, mask: Any, vals: Any) -> Any:
    """Write the first values, in order, where the mask holds, repeating them if there are too few.

    Raises
    ------
    ValueError
        If there are no values and the mask holds somewhere.

    Examples
    --------
    >>> import numen as nm
    >>> x = nm.arange(5)
    >>> nm.place(x, x > 2, [44, 55]); x
    array([ 0,  1,  2, 44, 55])
    """
    chosen = as_array(mask)
    if not followed(arr, mask, vals) or chosen._d.size != _count(arr):
        return NotImplemented
    count = len(vals) if isinstance(vals, (list, tuple)) else _count(vals)
    if not count:
        return NotImplemented
    x = target(arr, "place")
    _check_safe(vals, x, "place")
    if count == 1:
        shaped = table["reshape"](chosen, shape=x._d.shape)
        _write_where(x, shaped, recycled(vals, 1, x), "place")
    else:
        known(chosen, "place")
        positions = module_of(chosen._d).flatnonzero(chosen._d)
        write_flat(x, made(positions), recycled(vals, positions.size, x), "place")
    return None


@composes(np.copyto, writes=(0,))
def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> Any:
    """Write `src`, broadcast, into `dst`, where the mask holds.

    Raises
    ------
    TypeError
        If `casting` forbids the cast.
    ValueError
        If `src` does not broadcast to dst's shape.

    Examples
    --------
    >>> import numen as nm
    >>> x = nm.zeros(3)
    >>> nm.copyto(x, [1, 2, 3], where=[True, False, True]); x
    array([1., 0., 3.])
    """
    if not followed(dst, src, where):
        return NotImplemented
    x = target(dst, "copyto")
    source: Any = src
    if type(src) not in (int, float, complex, bool):
        source = beside(src, x)
        if not np.can_cast(source._d.dtype, x._d.dtype, casting):
            return NotImplemented  # NumPy raises
    if where is not True:
        mask = as_array(where, np.bool_)
        if type(source) is int:
            np.asarray(source, x._d.dtype)  # raises where it does not fit, as without a mask
        if isinstance(source, ArrayCore) and source._d.dtype != x._d.dtype:
            source = table["cast"](source, dtype=x._d.dtype)
        source = table["where"](mask, source, current(x))
    views.write(x, source, "copyto", casting="unsafe")
    return None


@composes(np.fill_diagonal, writes=(0,))
def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> Any:
    """Write `val`, repeated, along the main diagonal; `wrap` goes on below in tall matrices.

    Raises
    ------
    ValueError
        If there are fewer than two axes, or more with different extents.

    Examples
    --------
    >>> import numen as nm
    >>> x = nm.zeros((2, 2))
    >>> nm.fill_diagonal(x, 5); x
    array([[5., 0.],
           [0., 5.]])
    """
    if not followed(a, val):
        return NotImplemented
    shape = a.shape
    if len(shape) < 2 or (len(shape) > 2 and len(set(shape)) > 1):
        return NotImplemented
    x = target(a, "fill_diagonal")
    end: int | None = None
    if len(shape) == 2:
        step = shape[1] + 1
        end = None if wrap else shape[1] * shape[1]
    else:
        step = 1 + sum([shape[0] ** i for i in range(1, len(shape))])
    positions = module_of(x._d).arange(x._d.size)[:end:step]
    write_flat(x, made(positions), val, "fill_diagonal")
    return None
