"""Functions that change shape: results are views wherever NumPy's are.

NumPy says what is right (shapes, errors, whether a copy is due); the rows `reshape` and `getitem`
make the view. Array's methods call these, and through this file those of `axes.py`, `diagonals.py`
and `repeating.py`. Next: `ops/shape.py` for the rows, `joining.py` for what makes new arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from numen.dispatch import core, modes
from numen.dispatch.convert import as_array
from numen.dispatch.core import SCALAR, ArrayCore, View
from numen.errors import name_error
from numen.namespace.axes import numpys, viewed
from numen.namespace.axes import swapaxes as swapaxes
from numen.namespace.axes import transpose as transpose
from numen.namespace.calling import recorded
from numen.namespace.diagonals import diagonal as diagonal
from numen.namespace.diagonals import trace as trace
from numen.namespace.layout import copy_of, fortran
from numen.namespace.repeating import repeat as repeat
from numen.ops import table

__all__ = ["reshape", "ravel", "squeeze", "expand_dims", "atleast_1d", "atleast_2d"]
__all__ += ["atleast_3d", "ndim", "shape", "size"]

_RESHAPE, _TRANSPOSE, _GETITEM = table["reshape"], table["transpose"], table["getitem"]


# ------------------------------------------------------------ shapes


def reshape(a: Any, /, shape: Any, order: Any = "C", *, copy: bool | None = None) -> Any:
    """The same elements in another shape, as a view where possible.

    Parameters
    ----------
    a : array_like
    shape : int or sequence of int
        One extent may be -1.
    order : {'C', 'F', 'A'}
        In which order elements are read and placed: last index fastest, first index fastest, or as
        they lie in memory.
    copy : bool, optional
        True always copies, False raises where a view is impossible.

    Raises
    ------
    ValueError
        If the number of elements differs, or `copy=False` needs a copy.

    Examples
    --------
    >>> import numen as nm
    >>> nm.reshape(nm.arange(6), (2, -1), order="F")
    array([[0, 2, 4],
           [1, 3, 5]])
    """
    x = a if isinstance(a, ArrayCore) else as_array(a)
    if isinstance(shape, ArrayCore):
        shape = _extents(shape)
    if order != "C" or copy is not None:
        return _reshaped(x, shape, order, copy)
    try:
        data = x._d.reshape(shape)
    except Exception as error:
        name_error("reshape", error, (x,))
        raise
    if x._v is SCALAR and not data.ndim:
        return x
    return viewed(_RESHAPE, x, {"shape": data.shape}, data)


def _extents(shape: Any) -> Any:
    return tuple(map(index, shape)) if shape._d.ndim else index(shape)


def _reshaped(x: Any, shape: Any, order: Any, copy: Any) -> Any:
    asked = {"order": order} if copy is None else {"order": order, "copy": copy}
    data = numpys("reshape", x, shape, **asked)
    turned = fortran(order, x._d)
    if not data.size and not copy:
        return viewed(_RESHAPE, x, {"shape": data.shape}, data)
    if copy:
        x = copy_of(x, "F" if turned else "C")
    if not turned:
        return _RESHAPE(x, shape=data.shape)
    # Fortran's order is C's order of the transpose
    return transpose(_RESHAPE(transpose(x), shape=data.shape[::-1]))


def ravel(a: Any, order: Any = "C") -> Any:
    """Flattened, as a view where possible.

    Parameters
    ----------
    a : array_like
    order : {'C', 'F', 'A', 'K'}
        In which order elements are read; K reads them as they lie in memory.

    Examples
    --------
    >>> import numen as nm
    >>> nm.ravel(nm.array([[1, 2], [3, 4]]), "F")
    array([1, 3, 2, 4])
    """
    x = a if isinstance(a, ArrayCore) else as_array(a)
    if order == "C":
        data = x._d.ravel()
        if data.base is None and modes.ACTIVE:
            x = table["copy"](x)  # a reshape alone might be a view
        return viewed(_RESHAPE, x, {"shape": data.shape}, data)
    data = numpys("ravel", x, order)
    if type(data) is np.ndarray and data.base is None and not recorded((x,), {}):
        return core.wrap(data)
    if order in ("K", "k"):
        x = _TRANSPOSE(x, axes=_memory_order(x._d))
    elif fortran(order, x._d):
        x = transpose(x)
    return _RESHAPE(table["copy"](x) if data.base is None else x, shape=data.shape)


def _memory_order(data: Any) -> tuple[int, ...]:
    """The axes from the farthest apart elements to the nearest."""
    if data.flags.c_contiguous:
        return tuple(range(data.ndim))
    if data.flags.f_contiguous:
        return tuple(range(data.ndim))[::-1]
    return tuple(sorted(range(data.ndim), key=lambda axis: -abs(data.strides[axis])))


def flatten(x: Any, order: Any = "C") -> Any:
    """Flattened copy: the method's form."""
    flat = ravel(x, order)
    shares = type(flat._v) is View and x._v is not None and flat._v.cell is x._v.cell
    return flat.copy() if shares else flat


def squeeze(a: Any, axis: Any = None) -> Any:
    """Without axes of length one, as a view.

    Raises
    ------
    ValueError
        If a named axis has another length.

    Examples
    --------
    >>> import numen as nm
    >>> nm.squeeze(nm.ones((1, 3, 1))).shape
    (3,)
    """
    x = a if isinstance(a, ArrayCore) else as_array(a)
    if axis is not None:
        axis = tuple(map(index, axis)) if isinstance(axis, tuple) else index(axis)
    data = numpys("squeeze", x, axis)
    if data is x._d or x._v is SCALAR:
        return x
    if not data.ndim:
        return viewed(_RESHAPE, x, {"shape": ()}, data)
    have = x._d.shape
    if axis is None:
        gone: Any = [i for i, n in enumerate(have) if n == 1]
    else:
        gone = normalize_axis_tuple(axis, len(have))
    picked = tuple([0 if i in gone else slice(0, n, 1) for i, n in enumerate(have)])
    return viewed(_GETITEM, x, {"index": picked}, data)


def expand_dims(a: Any, axis: Any) -> Any:
    """With new axes of length one at the given positions of the result, as a view.

    Raises
    ------
    numpy.exceptions.AxisError
        If a position is out of bounds.
    ValueError
        If one is named twice.

    Examples
    --------
    >>> import numen as nm
    >>> nm.expand_dims(nm.ones(3), (0, -1)).shape
    (1, 3, 1)
    """
    x = as_array(a)
    named = axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = normalize_axis_tuple(named, len(named) + x._d.ndim)
    extents = iter(x._d.shape)
    return reshape(
        x, tuple([1 if i in axes else next(extents) for i in range(x._d.ndim + len(axes))])
    )


def atleast_1d(*arys: Any) -> Any:
    """Arrays with at least one axis: themselves, or views; a tuple of them unless there is one."""
    return _each(arys, lambda x: x if x._d.ndim else reshape(x, 1))


def atleast_2d(*arys: Any) -> Any:
    """Arrays with at least two axes; new ones come first."""
    return _each(arys, _two_axes)


def atleast_3d(*arys: Any) -> Any:
    """Arrays with at least three axes; a matrix gets its new axis last.

    Examples
    --------
    >>> import numen as nm
    >>> nm.atleast_3d(nm.ones(4)).shape, nm.atleast_3d(nm.ones((2, 3))).shape
    ((1, 4, 1), (2, 3, 1))
    """
    return _each(arys, _three_axes)


def _each(arrays: Any, change: Callable[[Any], Any]) -> Any:
    results = tuple([change(as_array(a)) for a in arrays])
    return results[0] if len(results) == 1 else results


def _two_axes(x: Any) -> Any:
    if not x._d.ndim:
        return reshape(x, (1, 1))
    return x[None, :] if x._d.ndim == 1 else x


def _three_axes(x: Any) -> Any:
    if not x._d.ndim:
        return reshape(x, (1, 1, 1))
    if x._d.ndim == 1:
        return x[None, :, None]
    return x[:, :, None] if x._d.ndim == 2 else x


# ------------------------------------------------------------ Python values


def ndim(a: Any) -> int:
    """The number of axes."""
    return int(_data(a).ndim)


def shape(a: Any) -> tuple[int, ...]:
    """The extents of the axes."""
    return tuple(_data(a).shape)


def size(a: Any, axis: Any = None) -> int:
    """The number of elements, in all or along an axis.

    Examples
    --------
    >>> import numen as nm
    >>> nm.size([[1, 2, 3]]), nm.size([[1, 2, 3]], axis=0)
    (3, 1)
    """
    data = _data(a)
    if axis is None:
        return int(data.size)
    return int(np.size(np.broadcast_to(False, data.shape), axis))


def _data(a: Any) -> Any:
    return a._d if isinstance(a, ArrayCore) else as_array(a)._d
