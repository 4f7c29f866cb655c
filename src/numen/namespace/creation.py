"""Functions that make arrays from values, shapes and ranges: NumPy computes them, gradients start
here.

`array` copies, `asarray` shares memory; `requires_grad=True` makes a leaf.
"""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from numen.dispatch import core, modes
from numen.dispatch.convert import as_array, unwrap_nested
from numen.dispatch.core import ArrayCore
from numen.ops import table

__all__ = ["arange", "array", "asarray", "empty", "empty_like", "eye", "full", "full_like"]
__all__ += ["linspace", "ones", "ones_like", "zeros", "zeros_like"]


def _made(data: Any, requires_grad: bool = False) -> Any:
    result = core.ARRAY(data if type(data) is np.ndarray else np.asarray(data).view(np.ndarray))
    if modes.ACTIVE and modes.state.recorder is not None:
        modes.state.recorder.constant(result)
    return result.requires_grad_() if requires_grad else result


def array(
    value: Any,
    dtype: Any = None,
    *,
    copy: bool | None = True,
    ndmin: int = 0,
    requires_grad: bool = False,
) -> Any:
    """Make an Array, copying `value`.

    Parameters
    ----------
    value : array_like
        Numbers, nested sequences, ndarrays or Arrays. An Array's gradient graph is not followed.
    dtype : dtype, optional
        Item type; by default NumPy's choice for `value`.
    copy : bool or None
        False or None share memory where possible (False raises ValueError where it is not).
    ndmin : int
        Least number of dimensions; ones are prepended.
    requires_grad : bool
        Record what happens to the array and accumulate its gradient in `.grad`.

    Raises
    ------
    ValueError
        If nested sequences are ragged, or `copy=False` needs a copy.
    DTypeError
        If `requires_grad` is asked for a dtype without gradients.

    Examples
    --------
    >>> import numen as nm
    >>> nm.array([[1, 2], [3, 4]])
    array([[1, 2],
           [3, 4]])
    """
    if (
        isinstance(value, ArrayCore)
        and modes.ACTIVE
        and modes.state.recorder is not None
        and not ndmin
    ):
        result = value.astype(dtype) if dtype is not None else value.copy()  # type: ignore[attr-defined]
        result = result.detach()
        return result.requires_grad_() if requires_grad else result
    raw = value._d if isinstance(value, ArrayCore) else unwrap_nested(value)
    return _made(np.array(raw, dtype, copy=copy, ndmin=ndmin), requires_grad)


def asarray(value: Any, dtype: Any = None) -> Any:
    """Make an Array of `value` without copying where possible; an Array of the right dtype is
    returned itself.

    Examples
    --------
    >>> import numpy, numen as nm
    >>> a = numpy.zeros(2); nm.asarray(a)[0] = 5; a
    array([5., 0.])
    """
    return as_array(value, dtype)


def zeros(shape: Any, dtype: Any = None, *, requires_grad: bool = False) -> Any:
    """Zeros of a shape; float64 by default.

    Examples
    --------
    >>> import numen as nm
    >>> nm.zeros((2, 2), nm.float32).dtype
    dtype('float32')
    """
    return _made(np.zeros(_shape(shape), np.float64 if dtype is None else dtype), requires_grad)


def ones(shape: Any, dtype: Any = None, *, requires_grad: bool = False) -> Any:
    """Ones of a shape; float64 by default."""
    return _made(np.ones(_shape(shape), np.float64 if dtype is None else dtype), requires_grad)


def empty(shape: Any, dtype: Any = None) -> Any:
    """An array whose values are unspecified."""
    if modes.ACTIVE and modes.state.recorder is not None:
        return zeros(shape, dtype)  # a trace's constants are the same each time
    return _made(np.empty(_shape(shape), np.float64 if dtype is None else dtype))


def full(shape: Any, fill_value: Any, dtype: Any = None, *, requires_grad: bool = False) -> Any:
    """An array filled with one value."""
    if isinstance(fill_value, ArrayCore):
        target = zeros(shape, fill_value._d.dtype if dtype is None else dtype)
        return table["broadcast_to"](as_array(fill_value, target.dtype), shape=target.shape).copy()
    return _made(np.full(_shape(shape), fill_value, dtype), requires_grad)


def zeros_like(a: Any, dtype: Any = None) -> Any:
    """Zeros of a's shape and dtype."""
    return _made(np.zeros_like(as_array(a)._d, dtype))


def ones_like(a: Any, dtype: Any = None) -> Any:
    """Ones of a's shape and dtype."""
    return _made(np.ones_like(as_array(a)._d, dtype))


def full_like(a: Any, fill_value: Any, dtype: Any = None) -> Any:
    """One value in a's shape and dtype."""
    source = as_array(a)
    return full(source.shape, fill_value, source.dtype if dtype is None else dtype)


def empty_like(a: Any, dtype: Any = None) -> Any:
    """Unspecified values in a's shape and dtype."""
    if modes.ACTIVE and modes.state.recorder is not None:
        return zeros_like(a, dtype)
    return _made(np.empty_like(as_array(a)._d, dtype))


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Any:
    """Evenly spaced values in a half-open range.

    Examples
    --------
    >>> import numen as nm
    >>> nm.arange(3)
    array([0, 1, 2])
    """
    first, last = (0, start) if stop is None else (start, stop)
    return _made(np.arange(first, last, step, dtype=dtype))


def linspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None) -> Any:
    """`num` evenly spaced values from start to stop."""
    return _made(np.linspace(start, stop, num, endpoint, dtype=dtype))


def eye(n: int, m: int | None = None, k: int = 0, dtype: Any = float) -> Any:
    """Ones on a diagonal, zeros elsewhere."""
    return _made(np.eye(n, m, k, dtype))


def _shape(shape: Any) -> Any:
    return tuple([index(n) for n in shape]) if isinstance(shape, (tuple, list)) else index(shape)
