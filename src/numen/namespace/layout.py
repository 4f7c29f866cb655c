"""Memory order: copies and casts that choose it, and questions about memory.

`copy_of` and `cast_of` are what the methods `copy` and `astype` mean; strides of results are
NumPy's. `plain_argument` takes shapes, counts and positions out of Arrays for the files beside this
one. Next: `manipulation.py`.
"""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from numen.dispatch import backends, core, modes
from numen.dispatch.convert import as_array
from numen.dispatch.core import SCALAR, ArrayCore
from numen.errors import describe, name_error
from numen.namespace.calling import arrays_in, host, raw, recorded
from numen.namespace.devices import host_model, on_host, placed
from numen.namespace.likes import from_like
from numen.namespace.objects import without_arrays
from numen.ops import table

__all__ = ["copy", "astype", "require", "ascontiguousarray", "asfortranarray", "isfortran"]
__all__ += ["may_share_memory", "shares_memory"]

isfortran = host(np.isfortran)
may_share_memory = host(np.may_share_memory)
shares_memory = host(np.shares_memory)

_ANY = np.empty((0, 0))


def plain_argument(value: Any, op: str) -> Any:
    """An argument that is no operand (counts, positions) by value.

    A trace is told which arrays leave it and asks for its changing numbers.
    """
    recorder = modes.state.recorder if modes.ACTIVE else None
    if recorder is not None:
        for array in arrays_in((value,), {}):
            recorder.leave(array, op)
        value = _asked(value)
    return _on_host(value) if backends.in_use() else raw(value)


def _on_host(value: Any) -> Any:
    if type(value) in (list, tuple):
        return type(value)([_on_host(v) for v in value])
    return on_host(value) if isinstance(value, ArrayCore) else raw(value)


def _asked(value: Any) -> Any:
    if type(value) in (list, tuple):
        return type(value)([_asked(v) for v in value])
    if getattr(type(value), "_is_host_scalar", False):
        return float(value) if type(value.value) is float else index(value)
    return value


def fortran(order: Any, data: Any) -> bool:
    """Whether an order argument of C, F or A means Fortran's for this ndarray.

    Raises
    ------
    ValueError, TypeError
        If it is no order.
    """
    if order == "C":
        return False
    if order not in ("F", "A"):
        _ANY.copy(order)
        order = "C" if order is None else order.upper()
    return bool(order == "F" or (order == "A" and data.flags.fnc))


def copy_of(x: Any, order: Any = "C") -> Any:
    """A copy of an Array in memory order C, F, A or K; gradients flow through it.

    Raises
    ------
    ValueError, TypeError
        If `order` is no order.
    """
    data = x._d
    keeps = order in ("K", "k")
    turned = not keeps and fortran(order, data)
    if x._v is SCALAR or not data.ndim or (data.flags.c_contiguous if keeps else not turned):
        return table["copy"](x)
    return table["lay_out"](x, order="K" if keeps else "F")


def cast_of(
    x: Any,
    dtype: Any,
    order: Any = "K",
    casting: Any = "unsafe",
    subok: bool = True,
    copy: Any = True,
) -> Any:
    """An Array cast to `dtype`; itself if `copy=False` and dtype and order are right.

    Raises
    ------
    TypeError
        If `casting` forbids the cast.
    ValueError
        If `order` is no order.
    """
    data = x._d
    if isinstance(dtype, type) and issubclass(dtype, np.dtype):
        # the class of a dtype, whose size or unit NumPy finds in the values
        dtype = data.astype(dtype).dtype
    target = np.dtype(dtype)
    if order == "K" and casting == "unsafe" and target != data.dtype and target.itemsize:
        return table["cast"](x, dtype=target)
    if type(data) is np.ndarray and not recorded((x,), {}):
        try:
            source = without_arrays(data) if target.kind in "SUT" else data
            made = source.astype(target, order, casting, subok, copy)
        except Exception as error:
            name_error("astype", error, (x,))
            raise
        if made is data:
            return x
        return core.wrap(made[()] if x._v is SCALAR else made)
    if not np.can_cast(data.dtype, target, casting):
        raise TypeError(
            f"astype: cannot cast {describe(x)} to {target} according to the rule {casting!r}"
        )
    if target != data.dtype:
        x = table["cast"](x, dtype=target)
        copy = False
    if not copy and _has_order(x._d, order):
        return x
    return copy_of(x, order)


def _has_order(data: Any, order: Any) -> bool:
    if order in ("K", "k"):
        return True
    flags = data.flags
    if order in ("A", "a"):
        return bool(flags.forc)
    return bool(flags.f_contiguous if fortran(order, data) else flags.c_contiguous)


def copy(a: Any, order: str = "K", subok: bool = False) -> Any:
    """A copy that shares no memory; gradients flow through it.

    Parameters
    ----------
    a : array_like
    order : {'K', 'C', 'F', 'A'}
        Memory order: K keeps it, A is Fortran's if `a` is laid out so.

    Examples
    --------
    >>> import numen as nm
    >>> x = nm.asfortranarray([[1, 2], [3, 4]])
    >>> nm.copy(x).strides, nm.copy(x, order="C").strides
    ((8, 16), (16, 8))
    """
    x = as_array(a)
    if x._v is SCALAR:
        fortran(order, x._d)
        return table["reshape"](x, shape=())  # an array of its own
    return copy_of(x, order)


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    """An array cast to `dtype`; itself if `copy=False` and nothing changes.

    Raises
    ------
    TypeError
        If `x` is no array.
    ValueError
        If there is no such device.
    """
    if not isinstance(x, (ArrayCore, np.ndarray, np.generic)):
        raise TypeError(f"astype: Input should be a NumPy array or an Array, got {describe(x)}")
    return placed(cast_of(as_array(x), dtype, copy=copy), device)


def ascontiguousarray(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    """The array in C order with at least one axis; itself if it is so already.

    Examples
    --------
    >>> import numen as nm
    >>> x = nm.ones((2, 3))
    >>> nm.ascontiguousarray(x) is x, nm.ascontiguousarray(x.T).strides
    (True, (16, 8))
    """
    if like is not None and (other := from_like(ascontiguousarray, locals())) is not NotImplemented:
        return other
    return _ordered(a, dtype, "C")


def asfortranarray(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    """The array in Fortran order with at least one axis; itself if it is so already."""
    if like is not None and (other := from_like(asfortranarray, locals())) is not NotImplemented:
        return other
    return _ordered(a, dtype, "F")


def _ordered(a: Any, dtype: Any, order: str) -> Any:
    x = as_array(a)
    if not x._d.ndim:
        x = table["reshape"](x, shape=(1,))
    return cast_of(x, x._d.dtype if dtype is None else dtype, order, copy=False)


def require(a: Any, dtype: Any = None, requirements: Any = None, *, like: Any = None) -> Any:
    """The array with a dtype and flags: C, F, A (aligned), W (writeable), O (owns its memory).

    Raises
    ------
    ValueError
        If C and F are both required.
    KeyError
        If a requirement is unknown.
    """
    if like is not None and (other := from_like(require, locals())) is not NotImplemented:
        return other
    x = as_array(a)
    if x._v is SCALAR:
        x = table["reshape"](x, shape=())
    data = x._d if isinstance(x._d, np.ndarray) else host_model(x._d)
    made = np.require(data, dtype, requirements)
    if made is data:
        return x
    if data is x._d and not recorded((x,), {}):
        return core.wrap(made)
    order = "F" if made.flags.fnc else "C"
    if made.dtype == x._d.dtype:
        return copy_of(x, order)
    return cast_of(x, made.dtype, order)
