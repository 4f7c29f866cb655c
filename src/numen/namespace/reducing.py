"""How a reduction runs: the short way for small plain arrays, rows for all others.

`quick` wraps what NumPy's reduction gives; `reduce` calls the row, which has compiled kernels for
large arrays and gradients; `masked` is its form with `where=` and `initial=`. Called by
`reductions.py`, `cumulative.py` and the statistics; next: `ops/reductions.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numen.dispatch import core, modes, views
from numen.dispatch.convert import as_array, normalize_axes, one_axis, operand
from numen.dispatch.core import SCALAR, ArrayCore, is_differentiable
from numen.errors import name_error
from numen.namespace.calling import wrap_results
from numen.namespace.output import no_fit, target_of
from numen.ops import table
from numen.ops.promotion import FIRST_SMALL
from numen.ops.small_floats import ACCUMULATES, in_float32

NO_VALUE: Any = np._NoValue
"""Stands for an argument that is not given where None means something."""

IDENTITIES: dict[str, Any] = {"sum": 0, "prod": 1, "any": False, "all": True}
"""What reductions give for no elements; max and min have none."""

AVERAGES = ("mean", "var", "std")

_ndarray = np.ndarray
_NUMBERS = frozenset(np.dtype(code).type for code in "?bhilqBHILQefdgFDG")


def numeric(x: ArrayCore) -> bool:
    """Whether rows compute on x: numbers do, objects, text and dates are NumPy's."""
    return x._d.dtype.kind in "biufc" or is_differentiable(x._d.dtype)


def given(keepdims: Any, initial: Any, where: Any) -> dict[str, Any]:
    """The options that differ from their defaults: all that methods of other classes may know."""
    options = {}
    if keepdims is not False:
        options["keepdims"] = keepdims
    if initial is not NO_VALUE:
        options["initial"] = initial
    if where is not True:
        options["where"] = where
    return options


def quick(name: str, call: Callable[..., Any], x: Any, *args: Any) -> Any:
    """`call(data, *args)` of a small plain array, wrapped; its errors name the reduction."""
    try:
        if x._d.dtype.num >= FIRST_SMALL and name in ACCUMULATES:
            value = in_float32(call, (x._d, *args), {})
        else:
            value = call(x._d, *args)
    except Exception as error:
        if not isinstance(error, np.exceptions.AxisError):
            name_error(name, error, (x,))
        raise
    kind = type(value)
    if kind is _ndarray:
        return core.ARRAY(value)
    if kind in _NUMBERS:
        return core.ARRAY(core.freeze_scalar(value), None, SCALAR)
    return wrap_results(value, name)


def fronts(general: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Mark a public function as the quick front of `general`, which `composes` made."""

    def mark(function: Callable[..., Any]) -> Callable[..., Any]:
        function.numpy_function = general.numpy_function  # type: ignore[attr-defined]
        function.composition = general.composition  # type: ignore[attr-defined]
        return function

    return mark


def is_nan(x: Any) -> Any:
    """Where x is NaN."""
    return table["not_equal"](x, x)


def somewhere(x: Any) -> bool:
    """Whether an element of a bool Array, or a bool, is true."""
    if not isinstance(x, ArrayCore):
        return bool(x)
    found: Any = reduce("any", x, None)
    return bool(found)


def recording() -> bool:
    """Whether a trace is recorded or a transform runs, in which results must not depend on values
    read here."""
    return bool(modes.ACTIVE) and (modes.state.recorder is not None or modes.state.level > 0)


def axes_of(x: Any, axis: Any, name: str) -> tuple[int, ...]:
    """The axes that an `axis` argument names; as in NumPy, axis 0 or -1 of a 0-d array is none,
    except for averages and in a tuple."""
    rank = x._d.ndim
    if axis is None:
        return tuple(range(rank))
    if not rank and name not in AVERAGES:
        if isinstance(axis, (int, np.integer)) and axis in (0, -1):
            return ()
    return normalize_axes(axis, rank, name)


def line(x: Any, axis: Any, name: str) -> tuple[Any, int]:
    """x and the one axis to go along: None means the flattened array, and NumPy flattens 0-d arrays
    whatever the axis."""
    if axis is None or not x._d.ndim:
        x = x.reshape(-1)
    return x, 0 if axis is None else one_axis(axis, x._d.ndim, name)


def reduce(
    name: str, x: Any, axis: Any, keepdims: Any = False, dtype: Any = None, out: Any = None
) -> Any:
    """The row's reduction of x, in `dtype` where one is given, written into `out`."""
    axes = axes_of(x, axis, name)
    keep = keepdims is not NO_VALUE and bool(keepdims)
    if dtype is None and out is None:
        return table[name](x, axis=axes, keepdims=keep)
    if dtype is None and out is not None and name in ("sum", "mean", "prod"):
        wanted = target_of(out, name)._d.dtype
        if np.can_cast(x._d.dtype, wanted, "same_kind"):
            dtype = wanted  # NumPy adds up in out's dtype
    if dtype is None:
        result = table[name](x, axis=axes, keepdims=keep)
    else:
        result = table[name](x.astype(dtype, copy=False), axis=axes, keepdims=keep)
        result = result.astype(dtype, copy=False)
    return result if out is None else put_into(out, result, name)


def masked(
    name: str,
    x: Any,
    axis: Any,
    keepdims: Any,
    dtype: Any,
    out: Any,
    initial: Any,
    where: Any,
) -> Any:
    """The reduction with `initial=` and `where=`; NotImplemented where NumPy has to decide."""
    if not numeric(x):
        return NotImplemented
    start = None if initial is NO_VALUE or initial is None else operand(initial)
    if start is not None and np.result_type(x._d.dtype, _dtype_of(start)) != x._d.dtype:
        return NotImplemented
    if where is not True and where is not NO_VALUE:
        neutral = IDENTITIES.get(name, start)
        mask = mask_for(x, where)
        if mask is None or neutral is None:
            return NotImplemented
        x = table["where"](mask, x, neutral)
    if start is None:
        return reduce(name, x, axis, keepdims, dtype, out)
    if name in ("max", "min") and not x._d.size:
        nothing = reduce("sum", x, axis, keepdims).astype(x._d.dtype, copy=False)
        return put_into(out, nothing + start, name)
    combine = {"sum": "add", "prod": "multiply", "max": "maximum", "min": "minimum"}[name]
    result = table[combine](reduce(name, x, axis, keepdims, dtype), start)
    return put_into(out, result, name)


def _dtype_of(value: Any) -> Any:
    return value._d.dtype if isinstance(value, ArrayCore) else value


def mask_for(x: Any, where: Any) -> Any:
    """The mask that `where=` gives for x, or None if it is no bool array that fits."""
    mask = as_array(where)
    shape = x._d.shape
    if mask._d.dtype != np.bool_ or mask._d.ndim > len(shape):
        return None
    pairs = zip(reversed(mask._d.shape), reversed(shape), strict=False)
    return mask if [1 for m, n in pairs if m not in (1, n)] == [] else None


def put_into(out: Any, result: Any, name: str) -> Any:
    """Write a reduction's result into `out`, cast as needed, and return that; without an out a
    result without axes is NumPy's scalar."""
    if out is None:
        return result if result._d.ndim or result._v is SCALAR else result[()]
    target = target_of(out, name)
    if target._d.shape != result._d.shape:
        raise no_fit(target, result._d.shape, name)
    views.write(target, result, name, casting="unsafe")
    return target
