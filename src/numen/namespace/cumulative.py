"""Running sums and products: cumsum, cumprod and the array API's cumulative_sum, cumulative_prod.

Called by Array's methods too. Next: `ops/cumulative.py` for the rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch import modes
from numen.dispatch.convert import as_array, one_axis
from numen.dispatch.core import ArrayCore
from numen.namespace.calling import composes
from numen.namespace.output import target_of
from numen.namespace.reducing import fronts, line, numeric, put_into, quick
from numen.ops import table
from numen.ops.common import constant

__all__ = ["cumsum", "cumprod", "cumulative_sum", "cumulative_prod"]


def accumulate(name: str, x: Any, axis: Any, dtype: Any, out: Any) -> Any:
    """A running reduction along one axis, or of the flattened array."""
    if not numeric(x):
        return NotImplemented
    if dtype is None and out is not None:
        wanted = target_of(out, name)._d.dtype
        if np.can_cast(x._d.dtype, wanted, "same_kind"):
            dtype = wanted
    x, ax = line(x, axis, name)
    if dtype is None:
        return put_into(out, table[name](x, axis=ax), name)
    result = table[name](x.astype(dtype, copy=False), axis=ax)
    return put_into(out, result.astype(dtype, copy=False), name)


@composes(np.cumsum)
def _cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    return accumulate("cumsum", as_array(a), axis, dtype, out)


@fronts(_cumsum)
def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """Running sum along an axis, or of the flattened array. Small ints are widened as NumPy's.

    Examples
    --------
    >>> import numen as nm
    >>> nm.cumsum(nm.array([1, 2, 3]))
    array([1, 3, 6])
    """
    if isinstance(a, ArrayCore) and out is None and a._n is None:
        if modes.LIMIT if not modes.ACTIVE else modes.numpy_alone():
            return quick("cumsum", _cumsum_of, a, axis, dtype)
    return _cumsum(a, axis, dtype, out)


def _cumsum_of(data: Any, axis: Any, dtype: Any) -> Any:
    return data.cumsum(axis, dtype)


@composes(np.cumprod)
def _cumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    return accumulate("cumprod", as_array(a), axis, dtype, out)


@fronts(_cumprod)
def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """Running product along an axis, or of the flattened array; zeros have their right gradient.

    Examples
    --------
    >>> import numen as nm
    >>> nm.grad(lambda x: nm.cumprod(x).sum())(nm.array([2.0, 0.0, 3.0, 4.0]))
    array([ 1., 32.,  0.,  0.])
    """
    if isinstance(a, ArrayCore) and out is None and a._n is None:
        if modes.LIMIT if not modes.ACTIVE else modes.numpy_alone():
            return quick("cumprod", _cumprod_of, a, axis, dtype)
    return _cumprod(a, axis, dtype, out)


def _cumprod_of(data: Any, axis: Any, dtype: Any) -> Any:
    return data.cumprod(axis, dtype)


def _cumulative(
    name: str, a: Any, axis: Any, dtype: Any, out: Any, include_initial: bool, first: int
) -> Any:
    x = as_array(a)
    if not x.ndim or (axis is None and x.ndim > 1) or type(axis) is tuple:
        return NotImplemented  # NumPy says why
    axis = 0 if axis is None else one_axis(axis, x.ndim, name)
    if not include_initial:
        return accumulate(name, x, axis, dtype, out)
    result = accumulate(name, x, axis, dtype, None)
    if result is NotImplemented:
        return result
    shape = list(result.shape)
    shape[axis] = 1
    start = constant(np.full(shape, first, result.dtype), result)
    return put_into(out, table["concatenate"](start, result, axis=axis), name)


@composes(np.cumulative_sum)
def cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: Any = False
) -> Any:
    """Running sum along an axis, which only arrays of one axis may leave out.

    Parameters
    ----------
    x, axis, dtype, out
        As `cumsum`'s.
    include_initial : bool
        Put the empty sum, 0, in front.

    Examples
    --------
    >>> import numen as nm
    >>> nm.cumulative_sum(nm.array([1, 2, 3]), include_initial=True)
    array([0, 1, 3, 6])
    """
    return _cumulative("cumsum", x, axis, dtype, out, include_initial, 0)


@composes(np.cumulative_prod)
def cumulative_prod(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: Any = False
) -> Any:
    """Running product along an axis, which only arrays of one axis may leave out.

    Examples
    --------
    >>> import numen as nm
    >>> nm.cumulative_prod(nm.array([1, 2, 3]), include_initial=True)
    array([1, 1, 2, 6])
    """
    return _cumulative("cumprod", x, axis, dtype, out, include_initial, 1)
