"""Functions of single elements that are no ufuncs: clip, round, nan_to_num and their like.

Called by Array's methods too. Next: `complex_numbers.py`, `special.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch import views
from numen.dispatch.convert import as_array, operand
from numen.dispatch.core import ArrayCore
from numen.namespace.calling import composes
from numen.namespace.complex_numbers import complex_of
from numen.namespace.output import into
from numen.namespace.ufuncs import maximum, minimum, positive
from numen.ops import table
from numen.ops.dtypes import kind_of, promoted

__all__ = ["clip", "round", "around", "fix", "nan_to_num", "isposinf", "isneginf"]

NO_VALUE: Any = np._NoValue


@composes(np.clip)
def clip(
    a: Any,
    a_min: Any = NO_VALUE,
    a_max: Any = NO_VALUE,
    out: Any = None,
    *,
    min: Any = NO_VALUE,
    max: Any = NO_VALUE,
    **kwargs: Any,
) -> Any:
    """Elements limited to [a_min, a_max]; NaN stays.

    Parameters
    ----------
    a : array_like
    a_min, a_max : array_like or None
        The limits, also called `min` and `max`; None is no limit. Where they cross, `a_max` wins.
    out : Array, optional
        Where the result is written.
    **kwargs
        `where`, `dtype`, `casting` as a ufunc takes them.

    Raises
    ------
    ValueError
        If limits are given twice.

    Examples
    --------
    >>> import numen as nm
    >>> nm.clip(nm.array([-1.0, 0.5, 2.0]), 0, 1)
    array([0. , 0.5, 1. ])
    >>> nm.clip(5, 3, 1)
    np.int64(1)
    """
    if a_min is NO_VALUE and a_max is NO_VALUE:
        low = None if min is NO_VALUE else min
        high = None if max is NO_VALUE else max
    elif a_min is NO_VALUE or a_max is NO_VALUE or min is not NO_VALUE or max is not NO_VALUE:
        return NotImplemented  # NumPy says which argument is missing or given twice
    else:
        low, high = a_min, a_max
    x = as_array(a)
    if x._d.dtype.kind in "iu":
        info = np.iinfo(x._d.dtype)
        if type(low) is int and low <= info.min:
            low = None
        if type(high) is int and high >= info.max:
            high = None
    if low is not None and high is not None:
        x, low, high = _of_one_dtype(x, low, high)  # two calls would promote one by one
    if low is None and high is None:
        return positive(x, out=out, **kwargs)
    if high is None:
        return maximum(x, low, out=out, **kwargs)
    if low is not None:
        inner = {k: v for k, v in kwargs.items() if k != "where"}
        x = maximum(x, low, **inner)
    return minimum(x, high, out=out, **kwargs)


def _of_one_dtype(*values: Any) -> tuple[Any, ...]:
    """Values as operands: the Arrays among them of their common dtype, Python scalars weak."""
    taken = [operand(v) for v in values]
    dtype = promoted([kind_of(v) for v in taken])
    return tuple([as_array(v, dtype) if isinstance(v, ArrayCore) else v for v in taken])


# ------------------------------------------------------------ rounding


@composes(np.round)
def round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    """Elements rounded to `decimals` places, halves to even; gradient 0.

    Examples
    --------
    >>> import numen as nm
    >>> nm.round(nm.array([0.5, 1.5, 1.25]), 1)
    array([0.5, 1.5, 1.2])
    """
    x = as_array(a)
    if not x._d.dtype.isnative:
        return NotImplemented
    if x._d.dtype.kind in "iu" and decimals >= 0:
        return into(out, table["positive"](x), "round")
    if x._d.dtype.kind == "c":
        parts = [round(x.real, decimals), round(x.imag, decimals)]
        return into(out, complex_of(*parts), "round")
    if x._d.dtype.kind != "f":
        return NotImplemented
    if not decimals:
        return into(out, table["rint"](x), "round")
    scale = 10.0 ** abs(decimals)
    scaled, back = ("multiply", "divide") if decimals > 0 else ("divide", "multiply")
    return into(out, table[back](table["rint"](table[scaled](x, scale)), scale), "round")


around = round


@composes(np.fix)
def fix(x: Any, out: Any = None) -> Any:
    """Elements rounded towards zero; gradient 0.

    Examples
    --------
    >>> import numen as nm
    >>> nm.fix([2.7, -2.7])
    array([ 2., -2.])
    """
    return into(out, table["trunc"](as_array(x)), "fix")


# ------------------------------------------------------------ not a number, infinities


@composes(np.nan_to_num)
def nan_to_num(
    x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Any:
    """NaN replaced by `nan`, infinities by the largest finite numbers or what is given; their
    gradient is 0.

    Examples
    --------
    >>> import numen as nm
    >>> nm.nan_to_num(nm.array([nm.nan, nm.inf, 1.0]), posinf=9.0)
    array([0., 9., 1.])
    """
    a = as_array(x)
    if a._d.dtype.kind in "biu":
        same = table["copy"](a) if copy else a
        return same if same._d.ndim else same[()]
    if a._d.dtype.kind == "c":
        both = [nan_to_num(part, True, nan, posinf, neginf) for part in (a.real, a.imag)]
        replaced = complex_of(*both)
        return _given_back(x, replaced, copy)
    if a._d.dtype.kind != "f":
        return NotImplemented
    info = np.finfo(a._d.dtype)
    replaced = a
    for test, value in (
        (table["isnan"](a), nan),
        (isposinf(a), info.max if posinf is None else posinf),
        (isneginf(a), info.min if neginf is None else neginf),
    ):
        filling = as_array(value, a._d.dtype)
        replaced = table["where"](test, filling, replaced)
    return _given_back(x, replaced, copy)


def _given_back(x: Any, replaced: Any, copy: bool) -> Any:
    """The result, or x with the result written into it."""
    if not copy and isinstance(x, ArrayCore):
        views.write(x, replaced, "nan_to_num")
        return x
    return replaced if replaced._d.ndim else replaced[()]


@composes(np.isposinf)
def isposinf(x: Any, out: Any = None) -> Any:
    """Whether each element is positive infinity."""
    a = as_array(x)
    if a._d.dtype.kind not in "biuf":
        return NotImplemented
    positive_ones = table["logical_not"](table["signbit"](a))
    return into(out, table["logical_and"](table["isinf"](a), positive_ones), "isposinf")


@composes(np.isneginf)
def isneginf(x: Any, out: Any = None) -> Any:
    """Whether each element is negative infinity."""
    a = as_array(x)
    if a._d.dtype.kind not in "biuf":
        return NotImplemented
    return into(out, table["logical_and"](table["isinf"](a), table["signbit"](a)), "isneginf")
