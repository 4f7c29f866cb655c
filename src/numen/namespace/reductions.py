"""Reductions: sum, mean, max and their like over any axes.

Called by Array's methods too. Next: `ops/reductions.py` for what they compute.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch.convert import as_array, normalize_axes
from numen.errors import describe
from numen.namespace.calling import composes, host
from numen.namespace.output import into, target_of
from numen.ops import table

__all__ = ["sum", "prod", "mean", "std", "var", "max", "min", "amax", "amin", "any", "all"]
__all__ += ["argmax", "argmin", "cumsum", "cumprod"]

NO_VALUE: Any = np._NoValue
"""Stands for an argument that is not given where None means something."""


def reduce(name: str, x: Any, axis: Any, keepdims: bool, dtype: Any, out: Any) -> Any:
    data = x._d
    axes = tuple(range(data.ndim)) if axis is None else normalize_axes(axis, data.ndim, name)
    if not data.size and name in ("max", "min") and any(data.shape[a] == 0 for a in axes):
        raise ValueError(
            f"{name}: zero-size array to a reduction which has no identity; got {describe(x)}, "
            f"axis {axis}"
        )
    if dtype is None and out is not None and name in ("sum", "mean"):
        wanted = target_of(out, name)._d.dtype
        if np.can_cast(data.dtype, wanted, "same_kind"):
            dtype = wanted  # NumPy adds up in out's dtype
    if dtype is None:
        result = table[name](x, axis=axes, keepdims=bool(keepdims))
    else:
        result = table[name](x.astype(dtype, copy=False), axis=axes, keepdims=bool(keepdims))
        result = result.astype(dtype, copy=False)
    return result if out is None else into(out, result, name)


@composes(np.sum)
def sum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> Any:
    """Sum over axes (all by default).

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
    if initial is not NO_VALUE or where is not True:
        return NotImplemented
    return reduce("sum", as_array(a), axis, keepdims, dtype, out)


@composes(np.mean)
def mean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    *,
    where: Any = True,
) -> Any:
    """Arithmetic mean over axes (all by default)."""
    if where is not True:
        return NotImplemented
    return reduce("mean", as_array(a), axis, keepdims, dtype, out)


@composes(np.max)
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
        If a reduced axis has no elements.
    """
    if initial is not NO_VALUE or where is not True:
        return NotImplemented
    return reduce("max", as_array(a), axis, keepdims, None, out)


@composes(np.min)
def min(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> Any:
    """Smallest element along axes; NaN wins; ties share the gradient evenly."""
    if initial is not NO_VALUE or where is not True:
        return NotImplemented
    return reduce("min", as_array(a), axis, keepdims, None, out)


amax = max
amin = min


@composes(np.argmax)
def argmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
    """Index of the first largest element, flattened or along an axis."""
    x = as_array(a)
    source = x
    if axis is None:
        source = x.reshape(-1)
        result = table["argmax"](source, axis=0, keepdims=False)
        if keepdims:
            result = result.reshape((1,) * x.ndim)
    else:
        (ax,) = normalize_axes(axis, x.ndim, "argmax")
        result = table["argmax"](source, axis=ax, keepdims=bool(keepdims))
    return into(out, result, "argmax")


argmin = host(np.argmin)
prod = host(np.prod)
std = host(np.std)
var = host(np.var)
any = host(np.any)
all = host(np.all)
cumsum = host(np.cumsum)
cumprod = host(np.cumprod)
