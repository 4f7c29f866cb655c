"""Where and whether: argmax, argmin, any, all over axes.

Called by Array's methods too. Next: `reducing.py` for how they run, `ops/reductions.py` for the
rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch import modes
from numen.dispatch.convert import as_array, one_axis
from numen.dispatch.core import ArrayCore
from numen.namespace.calling import composes
from numen.namespace.output import into
from numen.namespace.reducing import NO_VALUE, fronts, given, masked, numeric, quick, reduce
from numen.ops import table

__all__ = ["any", "all", "argmax", "argmin"]

_any_of: Any = np.logical_or.reduce
_all_of: Any = np.logical_and.reduce


def _quantified(name: str, x: Any, axis: Any, out: Any, keepdims: Any, where: Any) -> Any:
    if not numeric(x):
        return NotImplemented
    if where is not True and where is not NO_VALUE:
        return masked(name, table["not_equal"](x, 0), axis, keepdims, None, out, NO_VALUE, where)
    return reduce(name, x, axis, keepdims, None, out)


@composes(np.any)
def _any(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True
) -> Any:
    return _quantified("any", as_array(a), axis, out, keepdims, where)


@fronts(_any)
def any(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True
) -> Any:
    """Whether any element along axes is true; NaN is. Parameters as `sum`'s.

    Examples
    --------
    >>> import numen as nm
    >>> nm.any(nm.array([[True, False], [False, False]]), axis=1)
    array([ True, False])
    """
    if isinstance(a, ArrayCore) and out is None and where is True:
        if (modes.LIMIT if not modes.ACTIVE else modes.numpy_alone()) and numeric(a):
            return quick("any", _any_of, a, axis, None, None, keepdims)
    return _any(a, axis, out, **given(keepdims, NO_VALUE, where))


@composes(np.all)
def _all(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True
) -> Any:
    return _quantified("all", as_array(a), axis, out, keepdims, where)


@fronts(_all)
def all(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True
) -> Any:
    """Whether all elements along axes are true; NaN is. Parameters as `sum`'s.

    Examples
    --------
    >>> import numen as nm
    >>> nm.all(nm.array([[True, False], [True, True]]), axis=1)
    array([False,  True])
    """
    if isinstance(a, ArrayCore) and out is None and where is True:
        if (modes.LIMIT if not modes.ACTIVE else modes.numpy_alone()) and numeric(a):
            return quick("all", _all_of, a, axis, None, None, keepdims)
    return _all(a, axis, out, **given(keepdims, NO_VALUE, where))


def _place(name: str, x: Any, axis: Any, out: Any, keepdims: Any) -> Any:
    if not numeric(x):
        return NotImplemented
    keep = keepdims is not NO_VALUE and bool(keepdims)
    if axis is None or (not x.ndim and axis in (0, -1)):
        result = table[name](x.reshape(-1), axis=0, keepdims=False)
        if keep:
            result = result.reshape((1,) * x.ndim)
    else:
        ax = one_axis(axis, x.ndim, name)
        result = table[name](x, axis=ax, keepdims=keep)
    return into(out, result, name)


@composes(np.argmax)
def _argmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
    return _place("argmax", as_array(a), axis, out, keepdims)


@fronts(_argmax)
def argmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
    """Index of the first largest element, in the flattened array or along an axis; NaN wins.

    Raises
    ------
    ValueError
        If there are no elements to choose from.

    Examples
    --------
    >>> import numen as nm
    >>> nm.argmax(nm.array([[1, 5], [7, 2]]), axis=1)
    array([1, 0])
    """
    if isinstance(a, ArrayCore) and out is None:
        if a._d.size < modes.LIMIT if not modes.ACTIVE else modes.numpy_alone():
            return quick("argmax", _argmax_of, a, axis, keepdims)
        if numeric(a):
            return _place("argmax", a, axis, None, keepdims)
    return _argmax(a, axis, out, keepdims=keepdims)


def _argmax_of(data: Any, axis: Any, keepdims: Any) -> Any:
    return data.argmax(axis, keepdims=keepdims)


@composes(np.argmin)
def _argmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
    return _place("argmin", as_array(a), axis, out, keepdims)


@fronts(_argmin)
def argmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
    """Index of the first smallest element, in the flattened array or along an axis; NaN wins.

    Examples
    --------
    >>> import numen as nm
    >>> nm.argmin(nm.array([[1, 5], [7, 2]]), axis=1)
    array([0, 1])
    """
    if (
        isinstance(a, ArrayCore)
        and out is None
        and (modes.LIMIT if not modes.ACTIVE else modes.numpy_alone())
    ):
        return quick("argmin", _argmin_of, a, axis, keepdims)
    return _argmin(a, axis, out, keepdims=keepdims)


def _argmin_of(data: Any, axis: Any, keepdims: Any) -> Any:
    return data.argmin(axis, keepdims=keepdims)
