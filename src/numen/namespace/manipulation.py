"""Functions that move and join: shapes, axes, stacks.

Next: `ops/shape.py` and `ops/joining.py` for the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from numen.dispatch.convert import as_array, normalize_axes
from numen.errors import describe
from numen.namespace.calling import host
from numen.namespace.output import into
from numen.ops import table

__all__ = ["reshape", "transpose", "swapaxes", "ravel", "squeeze", "diagonal", "trace", "repeat"]
__all__ += ["expand_dims", "broadcast_to", "concatenate", "stack"]


def reshape(a: Any, /, shape: Any, order: str = "C", *, copy: bool | None = None) -> Any:
    """The same elements in another shape, as a view where possible.

    Raises
    ------
    ValueError
        If the number of elements differs, or `copy=False` needs a copy.
    """
    x = as_array(a)
    if order not in ("C", "A", "K"):
        raise ValueError(f"reshape: order {order!r} is not supported yet; expected 'C'")
    target = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    # NumPy takes any negative extent as unknown
    sizes = [-1 if n < 0 else n for n in map(index, target)]
    if sizes.count(-1) > 1:
        raise ValueError("reshape: can only specify one unknown dimension")
    size = x._d.size
    known = 1
    for s in sizes:
        known *= s if s != -1 else 1
    if -1 in sizes and known > 0 and size % known == 0:
        sizes[sizes.index(-1)] = size // known
    elif (-1 in sizes and known == 0) or known != size:
        raise ValueError(
            f"reshape: cannot reshape {describe(x)} (size {size}) into shape {tuple(target)}"
        )
    result = table["reshape"](x, shape=tuple(sizes))
    return result.copy() if copy else result


def transpose(a: Any, axes: Any = None) -> Any:
    """Axes permuted (reversed by default), as a view."""
    x = as_array(a)
    ndim = x._d.ndim
    if axes is None:
        permutation = tuple(range(ndim))[::-1]
    else:
        order = axes if isinstance(axes, (tuple, list)) else (axes,)
        permutation = tuple([_one_axis(i, ndim, "transpose") for i in order])
        if sorted(permutation) != list(range(ndim)):
            raise ValueError(f"transpose: axes {tuple(order)} don't match array of shape {x.shape}")
    return table["transpose"](x, axes=permutation)


def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    """Two axes interchanged, as a view."""
    x = as_array(a)
    axes = list(range(x._d.ndim))
    i, j = _one_axis(axis1, len(axes), "swapaxes"), _one_axis(axis2, len(axes), "swapaxes")
    axes[i], axes[j] = axes[j], axes[i]
    return table["transpose"](x, axes=tuple(axes))


def ravel(a: Any, order: str = "C") -> Any:
    """Flattened, as a view where possible."""
    return reshape(a, -1, order)


def flatten(x: Any, order: str = "C") -> Any:
    """Flattened copy: the method's form."""
    return reshape(x, -1, order).copy()


def squeeze(a: Any, axis: Any = None) -> Any:
    """Without axes of length one.

    Raises
    ------
    ValueError
        If a named axis has another length.
    """
    x = as_array(a)
    if axis is None:
        axes: Sequence[int] = [i for i, n in enumerate(x._d.shape) if n == 1]
    else:
        axes = normalize_axes(axis, x._d.ndim, "squeeze")
        if any(x._d.shape[i] != 1 for i in axes):
            raise ValueError(
                f"squeeze: cannot select an axis whose size is not one: axis {axis}, got "
                f"{describe(x)}"
            )
    return table["reshape"](x, shape=tuple([n for i, n in enumerate(x._d.shape) if i not in axes]))


def _one_axis(axis: Any, ndim: int, op: str) -> int:
    return normalize_axes(axis, ndim, op)[0]


diagonal = host(np.diagonal)
trace = host(np.trace)
repeat = host(np.repeat)


def expand_dims(a: Any, axis: Any) -> Any:
    """With new axes of length one at the given positions of the result."""
    x = as_array(a)
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    axes = normalize_axes(axis, x.ndim + count, "expand_dims")
    shape = iter(x.shape)
    return x.reshape(tuple([1 if i in axes else next(shape) for i in range(x.ndim + count)]))


def broadcast_to(array: Any, shape: Any) -> Any:
    """A read-only view of `array` in a larger shape.

    Raises
    ------
    ValueError
        If the array does not broadcast to the shape.
    """
    target = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    return table["broadcast_to"](as_array(array), shape=tuple([index(n) for n in target]))


def concatenate(
    arrays: Sequence[Any], axis: int | None = 0, out: Any = None, dtype: Any = None
) -> Any:
    """Arrays joined along an existing axis.

    Raises
    ------
    ValueError
        If there are none, or their other extents differ.
    """
    parts = [as_array(a) for a in arrays]
    if not parts:
        raise ValueError("need at least one array to concatenate")
    if axis is None:
        parts, axis = [p.ravel() for p in parts], 0
    if not parts[0].ndim:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    (ax,) = normalize_axes(axis, parts[0].ndim, "concatenate")
    if dtype is not None:
        parts = [as_array(p, dtype) for p in parts]
    return into(out, table["concatenate"](*parts, axis=ax), "concatenate")


def stack(arrays: Sequence[Any], axis: int = 0) -> Any:
    """Arrays of equal shape joined along a new axis.

    Raises
    ------
    ValueError
        If there are none, or their shapes differ.
    """
    parts = [as_array(a) for a in arrays]
    if not parts:
        raise ValueError("need at least one array to stack")
    if len({p.shape for p in parts}) > 1:
        raise ValueError(
            f"stack: all input arrays must have the same shape; got {[p.shape for p in parts]}"
        )
    return concatenate([expand_dims(p, axis) for p in parts], axis)
