"""Functions that pick elements: where, take, compress, choose, select and positions.

What is found by value (`nonzero`) NumPy computes; what is picked is differentiable. Next:
`placing.py` for writing, `ops/gathering.py` for the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numen.dispatch.convert import as_array, operand
from numen.dispatch.core import SCALAR, ArrayCore
from numen.namespace import indexing
from numen.namespace.calling import composes, host
from numen.namespace.creation import array, asarray, followed, known, made
from numen.namespace.devices import alongside, backend_among
from numen.namespace.output import into
from numen.namespace.placing import along, in_range
from numen.namespace.reducing import line, somewhere
from numen.ops import table

__all__ = ["argwhere", "choose", "compress", "count_nonzero", "extract", "flatnonzero", "nonzero"]
__all__ += ["piecewise", "scatter_add", "select", "take", "take_along_axis", "where"]

NOTHING: Any = object()
"""Stands for an argument that is not given."""


def _condition(value: Any) -> Any:
    """A condition as an Array of bools."""
    c = as_array(value)
    return c if c._d.dtype == np.bool_ else table["not_equal"](c, 0)


@composes(np.where)
def where(condition: Any, x: Any = NOTHING, y: Any = NOTHING, /) -> Any:
    """Choose x where the condition holds, else y; the branch not taken gets gradient 0. With the
    condition alone: `nonzero`.

    Examples
    --------
    >>> import numen as nm
    >>> nm.where(nm.array([True, False]), 1.0, nm.array([5.0, 6.0]))
    array([1., 6.])
    """
    if x is NOTHING or y is NOTHING:
        return NotImplemented
    branches = [asarray(v) if type(v) in (list, tuple) else operand(v) for v in (x, y)]
    if any([isinstance(b, ArrayCore) and not _computes(b) for b in branches]):
        return NotImplemented
    return table["where"](_condition(condition), *branches)


def _computes(x: Any) -> bool:
    return x._d.dtype.kind in "biufcV" and x._d.dtype.names is None


# ------------------------------------------------------------ positions

nonzero = host(
    np.nonzero,
    """Indices of the elements that are not zero, one array an axis.

    Examples
    --------
    >>> import numen as nm
    >>> nm.nonzero(nm.array([[3, 0], [0, 4]]))
    (array([0, 1]), array([0, 1]))
    """,
)
flatnonzero = host(np.flatnonzero, "Flat positions of the elements that are not zero.")
argwhere = host(np.argwhere, "Indices of the elements that are not zero, one row an element.")


@composes(np.count_nonzero)
def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """How many elements are not zero, in all or along axes.

    Examples
    --------
    >>> import numen as nm
    >>> int(nm.count_nonzero([[3, 0], [0, 4]]))
    2
    """
    if backend_among(a) is None:
        return NotImplemented
    return (as_array(a) != 0).sum(axis=axis, keepdims=keepdims)


# ------------------------------------------------------------ by index


@composes(np.take)
def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
    """Elements at `indices` along an axis (flattened by default).

    Parameters
    ----------
    a : array_like
        Gradients flow to it.
    indices : array_like of int
        Positions; negative ones count from the end.
    axis : int, optional
        Axis to pick along.
    out : Array, optional
        Where the result goes.
    mode : {'raise', 'wrap', 'clip'}
        What happens to positions out of bounds.

    Raises
    ------
    IndexError
        If an index is out of bounds and `mode` is "raise".
    TypeError
        If indices are no integers.

    Examples
    --------
    >>> import numen as nm
    >>> nm.take([4, 3, 5, 7, 6, 8], [0, 1, 4])
    array([4, 3, 6])
    """
    if not followed(a, indices, out):
        return NotImplemented
    x, ax = line(asarray(a), axis, "take")
    picks = in_range(indices, x._d.shape[ax], mode, "take")
    if picks is None:
        return NotImplemented
    spec = (*[("b", slice(0, n, 1)) for n in x._d.shape[:ax]], 0)
    return into(out, table["gather"](x, picks, spec=spec), "take")


@composes(np.take_along_axis)
def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Any:
    """Elements that index arrays such as argsort's pick along an axis.

    Raises
    ------
    IndexError
        If an index is out of bounds, or no integer.
    ValueError
        If `indices` has another number of axes than `arr`.

    Examples
    --------
    >>> import numen as nm
    >>> x = nm.array([[10, 30, 20], [60, 40, 50]])
    >>> nm.take_along_axis(x, nm.argsort(x, axis=1), axis=1)
    array([[10, 20, 30],
           [40, 50, 60]])
    """
    if not followed(arr, indices):
        return NotImplemented
    x = asarray(arr)
    if axis is None:
        x, axis = table["reshape"](x, shape=(x._d.size,)), 0
    given = along(x, asarray(indices), axis)
    if given is None:
        return NotImplemented
    return table["gather"](x, *given, spec=tuple(range(len(given))))


@composes(np.compress)
def compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Any:
    """Slices along an axis where `condition` holds.

    Raises
    ------
    IndexError
        If the condition holds beyond the axis.

    Examples
    --------
    >>> import numen as nm
    >>> nm.compress([False, True], [[1, 2], [3, 4]], axis=0)
    array([[3, 4]])
    """
    chosen = as_array(condition)
    if chosen._d.ndim != 1 or not followed(condition, a, out):
        return NotImplemented
    return take(a, made(known(chosen, "compress").nonzero()[0]), axis, out)


@composes(np.extract)
def extract(condition: Any, arr: Any) -> Any:
    """The elements where the condition, flattened, holds.

    Examples
    --------
    >>> import numen as nm
    >>> x = nm.arange(6)
    >>> nm.extract(x % 2 == 0, x)
    array([0, 2, 4])
    """
    chosen = as_array(condition)
    if not followed(condition, arr):
        return NotImplemented
    return take(arr, made(known(chosen.reshape(-1), "extract").nonzero()[0]))


def scatter_add(a: Any, index: Any, value: Any) -> Any:
    """A copy of `a` with `value` added at `a[index]`; repeated positions add up (`numpy.add.at`,
    functional).

    Parameters
    ----------
    a : array_like
    index : int, slice, array_like of int or bool, or a tuple of them
        What NumPy takes between brackets.
    value : array_like
        Broadcasts to the shape of `a[index]`.

    Examples
    --------
    >>> import numen as nm
    >>> nm.scatter_add(nm.zeros(3), nm.array([0, 0, 2]), 1.0)
    array([2., 0., 1.])
    """
    x = as_array(a)
    key = indexing.parse(index, x._d.shape)
    if isinstance(key, indexing.Masked):
        key = indexing.parse(_without_masks(key.entries), x._d.shape)
    if isinstance(key, indexing.Advanced):
        return table["scatter_add"](x, operand(value), *key.arrays, spec=key.spec)
    if isinstance(key, indexing.Masked):
        raise IndexError(
            "scatter_add: an Ellipsis that stands for no axis parts index arrays; leave it out"
        )
    result = table["copy"](x)
    result[index] = result[index] + value
    return result


def _without_masks(entries: tuple[Any, ...]) -> tuple[Any, ...]:
    """An index with the positions of its masks' True in their place."""
    plain: list[Any] = []
    for e in entries:
        raw = indexing.raw(e)
        mask = not isinstance(raw, slice) and np.asarray(raw).dtype == np.bool_
        plain.extend(nonzero(as_array(e)) if mask else [e])
    return tuple(plain)


# ------------------------------------------------------------ by condition


@composes(np.choose)
def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    """Elements of `choices`, an index array saying which choice each comes from.

    Raises
    ------
    ValueError
        If an index names no choice and `mode` is "raise".

    Examples
    --------
    >>> import numen as nm
    >>> nm.choose([1, 0], [[1, 2], [30, 40]])
    array([30,  2])
    """
    which = as_array(a)
    parts: list[Any] = [*choices]
    if not followed(which, parts, out):
        return NotImplemented
    kinds = [p if type(p) in (int, float, complex) else asarray(p)._d.dtype for p in parts]
    parts = [asarray(p) for p in parts]
    if not parts or which._d.dtype.kind not in "iu":
        return NotImplemented
    if mode == "raise":
        if somewhere((which < 0) | (which >= len(parts))):
            raise ValueError("invalid entry in choice array")
    else:
        which = in_range(which, len(parts), mode, "choose")
        if which is None:
            return NotImplemented
    shape = np.broadcast_shapes(which._d.shape, *[p._d.shape for p in parts])
    dtype = np.result_type(*kinds)
    result = table["broadcast_to"](as_array(parts[0], dtype), shape=shape)
    for i, part in enumerate(parts[1:], 1):
        result = table["where"](table["equal"](which, i), as_array(part, dtype), result)
    return into(out, table["copy"](result) if len(parts) == 1 else result, "choose")


@composes(np.select)
def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Any:
    """Elements of the first choice whose condition holds, else the default.

    Raises
    ------
    ValueError
        If there are no conditions, or not as many as choices.
    TypeError
        If a condition is not of bools.

    Examples
    --------
    >>> import numen as nm
    >>> x = nm.arange(5)
    >>> nm.select([x < 2, x > 3], [-x, x * 10], 42)
    array([ 0, -1, 42, 42, 40])
    """
    conditions = [as_array(c) for c in condlist]
    if not followed(condlist, choicelist, default):
        return NotImplemented
    if not conditions or len(conditions) != len(choicelist):
        return NotImplemented
    if any([c._d.dtype != np.bool_ for c in conditions]):
        return NotImplemented
    values = [_branch(v) for v in (*choicelist, default)]
    kinds = [v._d.dtype if isinstance(v, ArrayCore) else v for v in values]
    dtype = np.result_type(*kinds)
    ready = [_cast(v, dtype) for v in values]
    result = ready[-1]
    for condition, choice in zip(conditions[::-1], ready[-2::-1], strict=True):
        result = table["where"](condition, choice, result)
    return result


def _cast(value: Any, dtype: Any) -> Any:
    """A choice in the result's dtype; a Python number out of its range wraps, as NumPy's does."""
    if isinstance(value, int):
        value = np.asarray(value).astype(dtype)
    return as_array(value, dtype)


def _branch(value: Any) -> Any:
    return value if type(value) in (int, float, complex) else array(value, copy=None)


def piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> Any:
    """Values of the function whose condition holds (the last one that does), 0 where none.

    Parameters
    ----------
    x : array_like
        Where to evaluate; gradients flow through the functions.
    condlist : list of array_like of bool
        One condition a function; with one function more, that is for all other elements.
    funclist : list of callable or number
        What to apply to the elements of x where the condition holds.
    *args, **kw
        Passed on to the functions.

    Raises
    ------
    ValueError
        If the numbers of conditions and functions don't fit.

    Examples
    --------
    >>> import numen as nm
    >>> x = nm.array([-2.0, -1.0, 1.0])
    >>> nm.piecewise(x, [x < 0, x >= 0], [lambda v: -v, lambda v: v * 10])
    array([ 2.,  1., 10.])
    """
    values = asarray(x)
    if _is_one_condition(condlist, values._d.ndim):
        condlist = [condlist]
    masks = [as_array(c, np.bool_) for c in condlist]
    count = len(funclist)
    if count == len(masks) + 1:
        others = masks[0]
        for mask in masks[1:]:
            others = others | mask
        masks.append(~others)
    elif count != len(masks):
        raise ValueError(
            f"with {len(masks)} condition(s), either {len(masks)} or {len(masks) + 1} functions "
            "are expected"
        )
    result = alongside(made(np.zeros(values._d.shape, values._d.dtype)), values)
    for mask, function in zip(masks, funclist, strict=True):
        if not callable(function):
            result[mask] = function
            continue
        picked = values[mask]
        if picked._d.size:
            result[mask] = function(picked, *args, **kw)
    return result


def _is_one_condition(condlist: Any, rank: int) -> bool:
    """Whether the conditions are a single one, not in a list."""
    if np.isscalar(condlist) or (isinstance(condlist, ArrayCore) and condlist._v is SCALAR):
        return True
    first = condlist[0]
    several = isinstance(first, (list, np.ndarray)) or (
        isinstance(first, ArrayCore) and first._v is not SCALAR
    )
    return not several and rank != 0
