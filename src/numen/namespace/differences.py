"""Differences and what is made of neighbours: diff, gradient, trapezoid, unwrap.

Compositions of slices and arithmetic, so they differentiate with respect to every argument. Next:
`interpolation.py`.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from numen.dispatch.convert import as_array, operand
from numen.namespace.calling import composes
from numen.namespace.devices import beside
from numen.ops import table

__all__ = ["diff", "ediff1d", "gradient", "trapezoid", "unwrap"]

NO_VALUE: Any = np._NoValue


def _along(axis: int, part: Any) -> tuple[Any, ...]:
    """The index that takes `part` of one axis, counted from the front."""
    return (*(slice(None),) * axis, part)


def _steps(a: Any, axis: int) -> Any:
    """Differences of neighbours along an axis; of booleans, whether they differ."""
    row = table["not_equal" if a.dtype == np.bool_ else "subtract"]
    return row(a[_along(axis, slice(1, None))], a[_along(axis, slice(None, -1))])


def _axis_of(axis: Any, ndim: int) -> int | None:
    """The axis counted from the front; None where NumPy will complain."""
    try:
        i = operator.index(axis)
    except TypeError:
        return None
    return i % ndim if -ndim <= i < ndim else None


def _joined(parts: Sequence[Any], axis: int) -> Any:
    return table["concatenate"](*parts, axis=axis) if len(parts) > 1 else parts[0]


@composes(np.diff)
def diff(
    a: Any, n: Any = 1, axis: Any = -1, prepend: Any = NO_VALUE, append: Any = NO_VALUE
) -> Any:
    """The n-th differences of neighbours along an axis.

    Parameters
    ----------
    a : array_like
    n : int
        How often differences are taken.
    axis : int
    prepend, append : array_like, optional
        Values put before and after `a` first; scalars count as one slice.

    Raises
    ------
    ValueError
        If n is negative, or `a` is 0-d.

    Examples
    --------
    >>> import numen as nm
    >>> nm.diff([1, 4, 9, 16])
    array([3, 5, 7])
    >>> nm.diff([1, 4, 9], prepend=0)
    array([1, 3, 5])
    """
    x = as_array(a)
    along = _axis_of(axis, x.ndim)
    if along is None or type(n) is not int or n < 0:
        return NotImplemented
    if n == 0:
        return a
    parts = [x]
    for extra, place in ((prepend, 0), (append, len(parts))):
        if extra is NO_VALUE:
            continue
        part = beside(extra, x)
        if not part.ndim:
            shape = tuple([1 if i == along else e for i, e in enumerate(x.shape)])
            part = table["broadcast_to"](part, shape=shape)
        parts.insert(0 if place == 0 else len(parts), part)
    result = _joined(parts, along)
    for _ in range(n):
        result = _steps(result, along)
    return result


@composes(np.ediff1d)
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """Differences of neighbours in the flattened array, between `to_begin` and `to_end`.

    Examples
    --------
    >>> import numen as nm
    >>> nm.ediff1d([1, 2, 4, 7], to_end=[88, 99])
    array([ 1,  2,  3, 88, 99])
    """
    x = as_array(ary).reshape(-1)
    if x.dtype == np.bool_:
        return NotImplemented
    parts = [x[1:] - x[:-1]]
    for extra, first in ((to_begin, True), (to_end, False)):
        if extra is None:
            continue
        part = beside(extra, x)
        if not np.can_cast(part.dtype, x.dtype, "same_kind"):
            return NotImplemented
        part = part.reshape(-1).astype(x.dtype, copy=False)
        parts.insert(0 if first else len(parts), part)
    return _joined(parts, 0)


@composes(np.trapezoid)
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Any:
    """The integral along an axis by the trapezoidal rule.

    Parameters
    ----------
    y : array_like
    x : array_like, optional
        Where the samples are, for one axis or for all of `y`; else they are `dx` apart.

    Examples
    --------
    >>> import numen as nm
    >>> nm.trapezoid([1, 2, 3])
    np.float64(4.0)
    """
    values = as_array(y)
    along = _axis_of(axis, values.ndim)
    if along is None:
        return NotImplemented
    if x is None:
        width = operand(dx)
    else:
        places = as_array(x)
        if places.ndim == 1:
            shape = [1] * values.ndim
            width = _steps(places, 0)
            shape[along] = width.shape[0]
            width = width.reshape(tuple(shape))
        elif places.ndim == values.ndim:
            width = _steps(places, along)
        else:
            return NotImplemented
    after, before = values[_along(along, slice(1, None))], values[_along(along, slice(None, -1))]
    return (width * (after + before) / 2.0).sum(along)


@composes(np.unwrap)
def unwrap(p: Any, discont: Any = None, axis: Any = -1, *, period: Any = 2 * np.pi) -> Any:
    """Angles with jumps of more than half a period taken out, by whole periods.

    Examples
    --------
    >>> import numen as nm
    >>> nm.unwrap([0, 1, 2, -1, 0], period=4)
    array([0, 1, 2, 3, 4])
    """
    x = as_array(p)
    along = _axis_of(axis, x.ndim)
    if along is None or x.dtype.kind != "f" or not isinstance(period, (int, float)):
        return NotImplemented
    high = period / 2
    step = _steps(x, along)
    wrapped = table["remainder"](step + high, period) - high
    edge = table["logical_and"](table["equal"](wrapped, -high), table["greater"](step, 0))
    wrapped = table["where"](edge, high, wrapped)
    small = table["less"](table["absolute"](step), operand(high if discont is None else discont))
    correction = table["where"](small, 0, wrapped - step)
    later = x[_along(along, slice(1, None))] + correction.cumsum(along)
    return _joined([x[_along(along, slice(None, 1))], later], along)


# ------------------------------------------------------------ gradient


@composes(np.gradient)
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """The slope along each axis: central differences inside, one-sided ones at the edges.

    Parameters
    ----------
    f : array_like
    *varargs : scalar or 1-D array_like
        The spacing of all axes, or spacing or coordinates of each.
    axis : int or tuple of int, optional
        The axes; all by default.
    edge_order : 1 or 2
        The order of the differences at the edges.

    Returns
    -------
    Array, or a tuple of them for several axes.

    Raises
    ------
    ValueError
        If an axis is too short, or coordinates do not fit it.
    TypeError
        If the number of spacings is neither 0, 1 nor that of the axes.

    Examples
    --------
    >>> import numen as nm
    >>> nm.gradient(nm.array([1.0, 2.0, 4.0, 7.0]))
    array([1. , 1.5, 2.5, 3. ])
    """
    x = as_array(f)
    axes = _axes_of(axis, x.ndim)
    if axes is None or edge_order not in (1, 2) or x.dtype.kind not in "iufc":
        return NotImplemented
    if x.dtype.kind not in "fc":
        x = x.astype(np.float64)
    spacings = _spacings(varargs, x.shape, axes)
    if spacings is None or any([x.shape[i] < edge_order + 1 for i in axes]):
        return NotImplemented
    slopes = [_slope(x, h, i, edge_order) for i, h in zip(axes, spacings, strict=True)]
    return slopes[0] if len(slopes) == 1 else tuple(slopes)


def _axes_of(axis: Any, ndim: int) -> list[int] | None:
    if axis is None:
        return list(range(ndim))
    found = [_axis_of(i, ndim) for i in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    axes = [i for i in found if i is not None]
    return axes if len(axes) == len(found) == len(set(axes)) else None


def _spacings(given: Sequence[Any], shape: tuple[int, ...], axes: list[int]) -> list[Any] | None:
    """A scalar or the distances of neighbours for each axis; None where NumPy will complain."""
    values = [operand(h) for h in given]
    if not values:
        return [1.0] * len(axes)
    if len(values) == 1 and not getattr(values[0], "ndim", 0):
        return values * len(axes)
    if len(values) != len(axes):
        return None
    for k, (h, i) in enumerate(zip(values, axes, strict=True)):
        if not getattr(h, "ndim", 0):
            continue
        if h.ndim != 1 or h.shape[0] != shape[i]:
            return None
        values[k] = _steps(h if h.dtype.kind not in "iu" else h.astype(np.float64), 0)
    return values


def _slope(x: Any, h: Any, axis: int, edge_order: int) -> Any:
    """The slope along one axis; `h` is a scalar, or one distance less than there are elements."""

    def at(start: int, stop: int | None) -> Any:
        return x[_along(axis, slice(start, stop))]

    def weighted(first: int, *weights: Any) -> Any:
        """One slice: the weighted sum of single slices from `first` on."""
        total = None
        for k, w in enumerate(weights, first):
            term = at(k, k + 1 or None) * w
            total = term if total is None else total + term
        return total

    uniform = not getattr(h, "ndim", 0)
    if uniform:
        inside = (at(2, None) - at(0, -2)) / (2.0 * h)
    else:
        shape = [1] * x.ndim
        shape[axis] = -1
        before, after = h[:-1].reshape(shape), h[1:].reshape(shape)
        inside = (
            -after / (before * (before + after)) * at(0, -2)
            + (after - before) / (before * after) * at(1, -1)
            + before / (after * (before + after)) * at(2, None)
        )
    if edge_order == 1:
        first = (at(1, 2) - at(0, 1)) / (h if uniform else h[0])
        last = (at(-1, None) - at(-2, -1)) / (h if uniform else h[-1])
    elif uniform:
        first = weighted(0, -1.5 / h, 2.0 / h, -0.5 / h)
        last = weighted(-3, 0.5 / h, -2.0 / h, 1.5 / h)
    else:
        p, q = h[0], h[1]
        first = weighted(0, -(2.0 * p + q) / (p * (p + q)), (p + q) / (p * q), -p / (q * (p + q)))
        p, q = h[-2], h[-1]
        last = weighted(-3, q / (p * (p + q)), -(q + p) / (p * q), (2.0 * q + p) / (q * (p + q)))
    return _joined([first, inside, last], axis).astype(x.dtype, copy=False)
