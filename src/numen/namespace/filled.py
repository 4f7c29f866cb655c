"""Functions that make arrays from shapes: zeros, ones, empty, full and their `_like` forms.

NumPy makes them; a request that does not fit into memory is refused first. Next: `ranges.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import index
from typing import Any

import numpy as np

from numen.dispatch import modes
from numen.dispatch.backends import backend_named, in_use, module_of
from numen.dispatch.convert import as_array
from numen.dispatch.core import ArrayCore
from numen.namespace.creation import array, followed, known, made, unwrapped
from numen.namespace.devices import placed
from numen.namespace.likes import from_like
from numen.namespace.unbound import unbound
from numen.ops import table
from numen.runtime.memory import check_room

__all__ = ["empty", "empty_like", "full", "full_like", "ones", "ones_like", "zeros", "zeros_like"]


def shape_of(shape: Any) -> Any:
    """A shape argument as NumPy reads it."""
    shape = known(shape, "shape")
    return tuple(map(index, shape)) if isinstance(shape, (tuple, list)) else shape


def check_size(shape: Any, dtype: Any) -> None:
    """Refuse an array that does not fit into memory.

    Raises
    ------
    MemoryError
        If there is less memory than it takes.
    """
    sizes = shape if isinstance(shape, tuple) else (shape,)
    if all([isinstance(n, (int, np.integer)) for n in sizes]) and min(sizes, default=0) >= 0:
        item = np.dtype(dtype)
        check_room(
            math.prod(map(int, sizes)) * item.itemsize,
            f"an array with shape {sizes} and data type {item}",
        )


def _filled(
    function: Callable[..., Any],
    shape: Any,
    dtype: Any,
    order: str,
    device: str | None,
    like: Any,
    requires_grad: bool,
) -> Any:
    sizes = shape_of(shape)
    if device is not None and (backend := backend_named(device)) is not None:
        function = getattr(backend.module, function.__name__)
        return made(function(sizes, float if dtype is None else dtype, order), requires_grad)
    check_size(sizes, dtype)
    return made(function(sizes, dtype, order), requires_grad)


@unbound
def zeros(
    shape: Any,
    dtype: Any = None,
    order: str = "C",
    *,
    device: str | None = None,
    like: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Zeros of a shape; float64 by default.

    Raises
    ------
    MemoryError
        If the array does not fit into memory.

    Examples
    --------
    >>> import numen as nm
    >>> nm.zeros((2, 2), nm.float32).dtype
    dtype('float32')
    """
    if like is not None and (other := from_like(zeros, locals())) is not NotImplemented:
        return other
    return _filled(np.zeros, shape, dtype, order, device, like, requires_grad)


def ones(
    shape: Any,
    dtype: Any = None,
    order: str = "C",
    *,
    device: str | None = None,
    like: Any = None,
    requires_grad: bool = False,
) -> Any:
    """Ones of a shape; float64 by default. Raises MemoryError as `zeros`."""
    if like is not None and (other := from_like(ones, locals())) is not NotImplemented:
        return other
    return _filled(np.ones, shape, dtype, order, device, like, requires_grad)


@unbound
def empty(
    shape: Any,
    dtype: Any = None,
    order: str = "C",
    *,
    device: str | None = None,
    like: Any = None,
) -> Any:
    """An array whose values are unspecified. Raises MemoryError as `zeros`."""
    if like is not None and (other := from_like(empty, locals())) is not NotImplemented:
        return other
    function = np.empty
    if modes.ACTIVE and modes.state.recorder is not None:
        function = np.zeros  # a trace's constants are the same each time
    return _filled(function, shape, dtype, order, device, like, False)


def full(
    shape: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "C",
    *,
    device: str | None = None,
    like: Any = None,
    requires_grad: bool = False,
) -> Any:
    """An array filled with one value (or a broadcast array of them); gradients flow to it.

    Raises
    ------
    MemoryError
        If the array does not fit into memory.

    Examples
    --------
    >>> import numen as nm
    >>> nm.full((2, 3), 7)
    array([[7, 7, 7],
           [7, 7, 7]])
    """
    if like is not None and (other := from_like(full, locals())) is not NotImplemented:
        return other
    sizes = shape_of(shape)
    if followed(fill_value):
        result = _full_of(sizes, fill_value, dtype, order)
        result = result.detach() if requires_grad else result
    else:
        value = known(fill_value, "full")
        check_size(sizes, np.asarray(value).dtype if dtype is None else dtype)
        full_of: Any = np.full
        result = made(full_of(sizes, value, dtype, order))
    result = placed(result, device)
    return result.requires_grad_() if requires_grad else result


def _full_of(shape: Any, value: Any, dtype: Any, order: str) -> Any:
    """`full` by rows."""
    target = shape if isinstance(shape, tuple) else (index(shape),)
    result = array(value, dtype, copy=None)
    result = table["broadcast_to"](result, shape=target)
    return array(result, order=order)


def _filled_like(
    function: Callable[..., Any],
    a: Any,
    dtype: Any,
    order: str,
    subok: bool,
    shape: Any,
    device: str | None,
    *value: Any,
) -> Any:
    source = a._d if isinstance(a, ArrayCore) else np.asanyarray(unwrapped(a))
    sizes = None if shape is None else shape_of(shape)
    if modes.ACTIVE and in_use():
        function = getattr(module_of(source), function.__name__)
        options = {"dtype": dtype, "order": order, "shape": sizes}
        return placed(made(function(source, *value, **options)), device)
    check_size(source.shape if sizes is None else sizes, source.dtype if dtype is None else dtype)
    return placed(made(function(source, *value, dtype, order, subok, sizes)), device)


def zeros_like(
    a: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: str | None = None,
) -> Any:
    """Zeros of a's shape and dtype, unless others are given."""
    return _filled_like(np.zeros_like, a, dtype, order, subok, shape, device)


def ones_like(
    a: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: str | None = None,
) -> Any:
    """Ones of a's shape and dtype, unless others are given."""
    return _filled_like(np.ones_like, a, dtype, order, subok, shape, device)


def empty_like(
    prototype: Any,
    /,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: str | None = None,
) -> Any:
    """Unspecified values in the shape and dtype of `prototype`, unless others are given."""
    recorded = modes.ACTIVE and modes.state.recorder is not None
    function = np.zeros_like if recorded else np.empty_like
    return _filled_like(function, prototype, dtype, order, subok, shape, device)


def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: str | None = None,
) -> Any:
    """One value in a's shape and dtype, unless others are given; gradients flow to it."""
    if followed(fill_value):
        source = as_array(a)
        sizes = source.shape if shape is None else shape_of(shape)
        flags = source._d.flags
        turned = order in ("K", "A") and flags.f_contiguous and not flags.c_contiguous
        order = "F" if turned else order
        result = _full_of(sizes, fill_value, source.dtype if dtype is None else dtype, order)
        return placed(result, device)
    value = known(fill_value, "full_like")
    return _filled_like(np.full_like, a, dtype, order, subok, shape, device, value)
