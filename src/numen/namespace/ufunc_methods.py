"""Recorded calls of ufunc methods: reduce, accumulate, reduceat, outer and at, by rows.

Plain calls run NumPy's own methods (`ufunc_class.py`); these compositions run where a gradient or a
trace is concerned and return NotImplemented for what they do not cover. Imported by `__init__.py`
for what it puts into `ufunc_class.recorded_methods`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numen.dispatch import views
from numen.dispatch.convert import as_array, operand
from numen.dispatch.core import ArrayCore
from numen.namespace import cumulative, indexing, places, reductions
from numen.namespace.devices import alongside, beside, on_host
from numen.namespace.joining import stack
from numen.namespace.manipulation import expand_dims
from numen.namespace.splitting import unstack
from numen.namespace.ufunc_class import recorded_methods, ufunc
from numen.ops import table

__all__: list[str] = []

NO_VALUE: Any = np._NoValue

Method = Callable[..., Any]


# ------------------------------------------------------------ reduce and accumulate


def _reduce(function: Method, takes_dtype: bool) -> Method:
    """`reduce` by the reduction of the same meaning."""

    def reduce(
        f: ufunc,
        array: Any,
        axis: Any = 0,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = NO_VALUE,
        where: Any = True,
    ) -> Any:
        a = as_array(array)
        if not a.ndim and axis == 0:
            axis = None  # NumPy reduces a 0-d array over nothing
        options: dict[str, Any] = {"axis": axis, "out": _single(out), "keepdims": keepdims}
        if takes_dtype:
            options["dtype"] = dtype
        elif dtype is not None:
            a = a.astype(dtype, copy=False)
        if initial is not NO_VALUE:
            options["initial"] = initial
        if where is not True:
            options["where"] = where
        return function(a, **options)

    return reduce


def _single(out: Any) -> Any:
    return out[0] if type(out) is tuple and len(out) == 1 else out


def _accumulate(function: Method) -> Method:
    def accumulate(f: ufunc, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
        a = as_array(array)
        if not a.ndim or (axis is None and a.ndim > 1):
            return NotImplemented
        return function(a, axis=axis, dtype=dtype, out=_single(out))

    return accumulate


def _one_by_one(f: ufunc, array: Any, axis: Any) -> list[Any] | None:
    """What the ufunc leaves after each element along an axis; None where NumPy has to decide."""
    a = as_array(array)
    if f.nin != 2 or f.nout != 1 or f.signature is not None or a.dtype.kind not in "fc":
        return None
    if type(axis) is not int or not -a.ndim <= axis < a.ndim or not a.shape[axis]:
        return None
    first, *rest = unstack(a, axis=axis)
    results = [first]
    for value in rest:
        results.append(f(results[-1], value))
    return results if results[-1].dtype == a.dtype else None


def _any_accumulate(f: ufunc, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
    """`accumulate` of a ufunc that has no row of its own for it."""
    results = None if dtype is not None or out is not None else _one_by_one(f, array, axis)
    return NotImplemented if results is None else stack(results, axis=axis)


def _any_reduce(
    f: ufunc,
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> Any:
    """`reduce` of a ufunc that has no row of its own for it, over one axis."""
    if dtype is not None or out is not None or initial is not NO_VALUE or where is not True:
        return NotImplemented
    if type(axis) is tuple and len(axis) == 1:
        axis = axis[0]
    results = _one_by_one(f, array, axis)
    if results is None:
        return NotImplemented
    return expand_dims(results[-1], axis) if keepdims else results[-1]


def _add_reduceat(
    f: ufunc, array: Any, indices: Any, axis: Any = 0, dtype: Any = None, out: Any = None
) -> Any:
    """Sums of stretches: the elements are gathered in order and added to their stretch's place."""
    a = as_array(array)
    starts = on_host(indices) if isinstance(indices, ArrayCore) else np.asarray(indices)
    if out is not None or starts.ndim != 1 or not a.ndim or type(axis) is not int:
        return NotImplemented
    if not -a.ndim <= axis < a.ndim or starts.dtype.kind not in "iu":
        return NotImplemented
    n = a.shape[axis]
    if not starts.size or starts.min() < 0 or starts.max() >= n:
        return NotImplemented
    if dtype is not None:
        a = a.astype(dtype, copy=False)
    elif a.dtype.kind not in "fc":
        return NotImplemented
    stops = [*starts[1:].tolist(), n]
    stretches = [
        np.arange(i, j if i < j else i + 1) for i, j in zip(starts.tolist(), stops, strict=True)
    ]
    positions = as_array(np.concatenate(stretches))
    places = as_array(np.repeat(np.arange(starts.size), [len(s) for s in stretches]))
    first = table["transpose"](a, axes=_swapped(a.ndim, axis))
    picked = table["gather"](first, positions, spec=(0,))
    zeros = alongside(as_array(np.zeros((starts.size, *first.shape[1:]), a.dtype)), a)
    total = table["scatter_add"](zeros, picked, places, spec=(0,))
    return table["transpose"](total, axes=_swapped(a.ndim, axis))


def _swapped(ndim: int, axis: int) -> tuple[int, ...]:
    """The axes with `axis` and the first interchanged."""
    order = list(range(ndim))
    order[0], order[axis] = order[axis], order[0]
    return tuple(order)


# ------------------------------------------------------------ outer and at


def _outer(f: ufunc, A: Any, B: Any, /, **options: Any) -> Any:
    if f.nin != 2 or f.signature is not None:
        return NotImplemented
    a, b = as_array(A), as_array(B)
    spread = table["reshape"](a, shape=(*a.shape, *(1,) * b.ndim))
    return f(spread, b, **options)


def _at(negated: bool) -> Method:
    """`at` of a sum or difference: scatter_add, written into the array."""

    def at(f: ufunc, a: Any, indices: Any, b: Any = None, /) -> Any:
        if not isinstance(a, ArrayCore) or b is None:
            return NotImplemented
        key = indexing.parse(indices, a._d.shape)
        value = operand(b)
        if isinstance(value, ArrayCore):
            value = beside(b, a)
        else:
            common = np.result_type(a._d.dtype, value)
            if isinstance(value, int):  # one that does not fit wraps here, as NumPy's does
                value = np.asarray(value).astype(common)
            value = as_array(value, common)
        if not np.can_cast(value._d.dtype, a._d.dtype, "same_kind"):
            return NotImplemented  # NumPy says why
        if negated:
            value = table["negative"](value)
        if isinstance(key, indexing.Advanced):
            result = table["scatter_add"](a, value, *key.arrays, spec=key.spec)
        elif isinstance(key, indexing.Masked):
            return NotImplemented
        else:
            spec = tuple([("b", e) for e in key.entries])
            nothing = as_array(np.zeros(1, np.intp))
            whole = table["reshape"](a, shape=(1, *a._d.shape))
            total = table["scatter_add"](whole, value, nothing, spec=(0, *spec))
            result = table["reshape"](total, shape=a._d.shape)
        views.write(a, result, f"{f.__name__}.at")
        return None

    return at


recorded_methods.update(
    {
        ("add", "reduce"): _reduce(reductions.sum, True),
        ("multiply", "reduce"): _reduce(reductions.prod, True),
        ("maximum", "reduce"): _reduce(reductions.max, False),
        ("minimum", "reduce"): _reduce(reductions.min, False),
        ("logical_and", "reduce"): _reduce(places.all, False),
        ("logical_or", "reduce"): _reduce(places.any, False),
        ("add", "accumulate"): _accumulate(cumulative.cumsum),
        ("multiply", "accumulate"): _accumulate(cumulative.cumprod),
        ("add", "reduceat"): _add_reduceat,
        ("add", "at"): _at(negated=False),
        ("subtract", "at"): _at(negated=True),
        ("*", "accumulate"): _any_accumulate,
        ("*", "reduce"): _any_reduce,
        ("*", "outer"): _outer,
    }
)
