"""Reductions: sum, mean, max, min and their like over any axes.

Called by Array's methods too, for which all reductions are names here. Each has a short way for
small plain arrays in front; `reducing.py` says how the rest runs. Next: `places.py`,
`deviations.py`, `cumulative.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch import modes
from numen.dispatch.convert import as_array
from numen.dispatch.core import ArrayCore
from numen.namespace.calling import composes
from numen.namespace.cumulative import cumprod as cumprod
from numen.namespace.cumulative import cumsum as cumsum
from numen.namespace.deviations import mean_where
from numen.namespace.deviations import std as std
from numen.namespace.deviations import var as var
from numen.namespace.places import all as all
from numen.namespace.places import any as any
from numen.namespace.places import argmax as argmax
from numen.namespace.places import argmin as argmin
from numen.namespace.reducing import NO_VALUE as NO_VALUE
from numen.namespace.reducing import fronts, given, masked, numeric, quick, reduce

__all__ = ["sum", "prod", "mean", "max", "min", "amax", "amin"]

_sum_of: Any = np.add.reduce
_prod_of: Any = np.multiply.reduce
_max_of: Any = np.maximum.reduce
_min_of: Any = np.minimum.reduce


@composes(np.sum)
def _sum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> Any:
    return masked("sum", as_array(a), axis, keepdims, dtype, out, initial, where)


@fronts(_sum)
def sum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> Any:
    """Sum over axes (all by default). Small ints are widened as NumPy's.

    Parameters
    ----------
    a : array_like
        What is added up.
    axis : int, tuple of int or None
        The axes to sum over.
    dtype : dtype, optional
        Of the additions and the result.
    out : Array, optional
        Where the result goes.
    keepdims : bool
        Keep the reduced axes with extent 1.
    initial : scalar, optional
        What is added to.
    where : array_like of bool
        Elements to count; the others get gradient 0.

    Raises
    ------
    numpy.exceptions.AxisError
        If an axis is out of bounds.

    Examples
    --------
    >>> import numen as nm
    >>> nm.sum(nm.array([[1, 2], [3, 4]]), axis=0)
    array([4, 6])
    """
    if isinstance(a, ArrayCore) and dtype is None and initial is NO_VALUE and where is True:
        if (
            out is None
            and a._n is None
            and (a._d.size < modes.LIMIT if not modes.ACTIVE else modes.numpy_alone())
        ):
            return quick("sum", _sum_of, a, axis, None, None, keepdims)
        if a._n is not None or numeric(a):
            return reduce("sum", a, axis, keepdims, None, out)
    return _sum(a, axis, dtype, out, **given(keepdims, initial, where))


@composes(np.prod)
def _prod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> Any:
    return masked("prod", as_array(a), axis, keepdims, dtype, out, initial, where)


@fronts(_prod)
def prod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> Any:
    """Product over axes (all by default). Parameters as `sum`'s; zeros have their right gradient.

    Examples
    --------
    >>> import numen as nm
    >>> nm.grad(nm.prod)(nm.array([2.0, 0.0, 3.0, 4.0]))
    array([ 0., 24.,  0.,  0.])
    """
    if isinstance(a, ArrayCore) and dtype is None and initial is NO_VALUE and where is True:
        if out is None and a._n is None and (not modes.ACTIVE or modes.numpy_alone()):
            return quick("prod", _prod_of, a, axis, None, None, keepdims)
        if a._n is not None or numeric(a):
            return reduce("prod", a, axis, keepdims, None, out)
    return _prod(a, axis, dtype, out, **given(keepdims, initial, where))


def _mean_of(data: Any, axis: Any, keepdims: Any) -> Any:
    """NumPy's mean; for the usual floats by its own two steps, without its Python frame."""
    if data.dtype.char in "fd" and (axis is None or type(axis) is int):
        if axis is None or -data.ndim <= axis < data.ndim:
            total = _sum_of(data, axis, None, None, keepdims)
            n = data.size if axis is None else data.shape[axis]
            if n and type(total) is np.ndarray:
                return np.divide(total, n, total)  # in place, whose strides the result keeps
            if n:
                return total / n
    return np.mean(data, axis, keepdims=keepdims)


@composes(np.mean)
def _mean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    *,
    where: Any = True,
) -> Any:
    x = as_array(a)
    if not numeric(x):
        return NotImplemented
    if where is True or where is NO_VALUE:
        return reduce("mean", x, axis, keepdims, dtype, out)
    return mean_where(x, axis, dtype, out, keepdims, where)


@fronts(_mean)
def mean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    *,
    where: Any = True,
) -> Any:
    """Arithmetic mean over axes (all by default). Parameters as `sum`'s.

    Examples
    --------
    >>> import numen as nm
    >>> nm.mean(nm.array([1.0, 2.0, 6.0]))
    np.float64(3.0)
    """
    if isinstance(a, ArrayCore) and dtype is None and where is True:
        if (
            out is None
            and a._n is None
            and (a._d.size < modes.LIMIT if not modes.ACTIVE else modes.numpy_alone())
        ):
            return quick("mean", _mean_of, a, axis, keepdims)
        if a._n is not None or numeric(a):
            return reduce("mean", a, axis, keepdims, None, out)
    return _mean(a, axis, dtype, out, **given(keepdims, NO_VALUE, where))


@composes(np.max)
def _max(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> Any:
    return masked("max", as_array(a), axis, keepdims, None, out, initial, where)


@fronts(_max)
def max(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> Any:
    """Largest element along axes; NaN wins; ties share the gradient evenly.

    Raises
    ------
    ValueError
        If a reduced axis has no elements and `initial` is not given.

    Examples
    --------
    >>> import numen as nm
    >>> nm.max(nm.array([[1, 5], [7, 2]]), axis=1)
    array([5, 7])
    """
    if isinstance(a, ArrayCore) and initial is NO_VALUE and where is True:
        if (
            out is None
            and a._n is None
            and (a._d.size < modes.LIMIT if not modes.ACTIVE else modes.numpy_alone())
        ):
            return quick("max", _max_of, a, axis, None, None, keepdims)
        if a._n is not None or numeric(a):
            return reduce("max", a, axis, keepdims, None, out)
    return _max(a, axis, out, **given(keepdims, initial, where))


@composes(np.min)
def _min(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> Any:
    return masked("min", as_array(a), axis, keepdims, None, out, initial, where)


@fronts(_min)
def min(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> Any:
    """Smallest element along axes; as `max`."""
    if isinstance(a, ArrayCore) and initial is NO_VALUE and where is True:
        if (
            out is None
            and a._n is None
            and (a._d.size < modes.LIMIT if not modes.ACTIVE else modes.numpy_alone())
        ):
            return quick("min", _min_of, a, axis, None, None, keepdims)
        if a._n is not None or numeric(a):
            return reduce("min", a, axis, keepdims, None, out)
    return _min(a, axis, out, **given(keepdims, initial, where))


amax = max
amin = min
