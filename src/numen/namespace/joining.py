"""Joining: concatenate, stack and what NumPy builds on them.

Plain calls are NumPy's own; recorded ones cast the parts and use the row of `ops/joining.py`. Next:
`splitting.py`.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from numen.dispatch import views
from numen.dispatch.convert import as_array, one_axis
from numen.namespace.calling import composes, host, raw
from numen.namespace.layout import copy
from numen.namespace.manipulation import atleast_1d, atleast_2d, atleast_3d, expand_dims, reshape
from numen.namespace.output import no_fit, target_of
from numen.ops import table

__all__ = ["concatenate", "concat", "stack", "vstack", "row_stack", "hstack", "dstack"]
__all__ += ["column_stack", "block", "bmat"]


@composes(np.concatenate)
def concatenate(
    arrays: Any,
    /,
    axis: Any = 0,
    out: Any = None,
    *,
    dtype: Any = None,
    casting: Any = "same_kind",
) -> Any:
    """Arrays joined along an existing axis, or flattened with `axis=None`.

    Raises
    ------
    ValueError
        If there are none, or their other extents differ.
    TypeError
        If `casting` forbids a cast to `dtype`, or both `out` and `dtype` are given.

    Examples
    --------
    >>> import numen as nm
    >>> nm.concatenate([nm.ones(2), nm.zeros(1)])
    array([1., 1., 0.])
    """
    parts = [as_array(a) for a in arrays]
    if not parts:
        raise ValueError("need at least one array to concatenate")
    if out is not None and dtype is not None:
        raise TypeError("concatenate() only takes `out` or `dtype` as an argument, not both")
    if axis is None:
        parts, axis = [reshape(p, -1) for p in parts], 0
    if not all([p._d.ndim for p in parts]):
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    ax = one_axis(axis, parts[0]._d.ndim, "concatenate")
    target = None if out is None else target_of(out, "concatenate")
    if target is not None:
        length = sum([p._d.shape[ax] for p in parts if p._d.ndim > ax])
        shape = (*parts[0]._d.shape[:ax], length, *parts[0]._d.shape[ax + 1 :])
        if target._d.shape != shape:
            raise no_fit(target, shape, "concatenate")
        dtype = target._d.dtype
    elif dtype is None and casting != "same_kind":
        dtype = np.result_type(*[p._d for p in parts])
    if dtype is not None:
        parts = [_cast(p, np.dtype(dtype), casting) for p in parts]
    result = table["concatenate"](*parts, axis=ax)
    if target is None:
        return result
    views.write(target, result, "concatenate")
    return target


def _cast(x: Any, dtype: np.dtype[Any], casting: Any) -> Any:
    if x._d.dtype == dtype:
        return x
    if not np.can_cast(x._d.dtype, dtype, casting):
        raise TypeError(
            f"concatenate: cannot cast array data from {x._d.dtype} to {dtype} according to the "
            f"rule {casting!r}"
        )
    return table["cast"](x, dtype=dtype)


concat = concatenate


@composes(np.stack)
def stack(
    arrays: Any, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: Any = "same_kind"
) -> Any:
    """Arrays of equal shape joined along a new axis.

    Raises
    ------
    ValueError
        If there are none, or their shapes differ.

    Examples
    --------
    >>> import numen as nm
    >>> nm.stack([nm.zeros(2), nm.ones(2)], axis=1)
    array([[0., 1.],
           [0., 1.]])
    """
    parts = [as_array(a) for a in arrays]
    if not parts:
        raise ValueError("need at least one array to stack")
    if len({p._d.shape for p in parts}) > 1:
        came = [p._d.shape for p in parts]
        raise ValueError(f"all input arrays must have the same shape; stack got {came}")
    ax = one_axis(axis, parts[0]._d.ndim + 1, "stack")
    parts = [expand_dims(p, ax) for p in parts]
    return concatenate(parts, ax, out, dtype=dtype, casting=casting)


@composes(np.vstack)
def vstack(tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> Any:
    """Arrays stacked as rows: along the first axis, a 1-d array being one row."""
    parts = [atleast_2d(a) for a in tup]
    return concatenate(parts, 0, dtype=dtype, casting=casting)


row_stack = vstack


@composes(np.hstack)
def hstack(tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> Any:
    """Arrays stacked along the second axis; 1-d arrays along their only one."""
    parts = [atleast_1d(a) for a in tup]
    axis = 0 if parts and parts[0]._d.ndim == 1 else 1
    return concatenate(parts, axis, dtype=dtype, casting=casting)


@composes(np.dstack)
def dstack(tup: Any) -> Any:
    """Arrays stacked along the third axis."""
    return concatenate([atleast_3d(a) for a in tup], 2)


@composes(np.column_stack)
def column_stack(tup: Any) -> Any:
    """1-d arrays as the columns of a matrix; 2-d arrays side by side."""
    parts = [as_array(a) for a in tup]
    return concatenate([p if p._d.ndim > 1 else reshape(p, (-1, 1)) for p in parts], 1)


@composes(np.block)
def block(arrays: Any) -> Any:
    """An array put together from nested lists of blocks: the innermost along the last axis.

    Raises
    ------
    ValueError
        If lists are empty or nested unevenly, or blocks do not fit.
    TypeError
        If a tuple stands for a list.

    Examples
    --------
    >>> import numen as nm
    >>> nm.block([[nm.eye(2), nm.zeros((2, 1))]])
    array([[1., 0., 0.],
           [0., 1., 0.]])
    """
    np.block(_shadows(arrays))  # raises what is wrong with the nesting or the shapes
    depth, ndim = _depth(arrays), _most_axes(arrays)
    result = _joined(arrays, depth, max(depth, ndim))
    return result if depth else copy(result)


def _shadows(blocks: Any) -> Any:
    if type(blocks) in (list, tuple):
        return type(blocks)([_shadows(b) for b in blocks])
    return np.broadcast_to(np.False_, as_array(blocks)._d.shape)


def _depth(blocks: Any) -> int:
    return 1 + _depth(blocks[0]) if type(blocks) is list else 0


def _most_axes(blocks: Any) -> int:
    if type(blocks) is list:
        return max([_most_axes(b) for b in blocks])
    return int(as_array(blocks)._d.ndim)


def _joined(blocks: Any, depth: int, ndim: int) -> Any:
    if not depth:
        x = as_array(blocks)
        return reshape(x, (1,) * (ndim - x._d.ndim) + x._d.shape)
    return concatenate([_joined(b, depth - 1, ndim) for b in blocks], -depth)


def bmat(obj: Any, ldict: Any = None, gdict: Any = None) -> Any:
    """NumPy's matrix of blocks; text names them among the caller's variables."""
    if isinstance(obj, str) and gdict is None:
        frame = sys._getframe(1)
        ldict, gdict = frame.f_locals, frame.f_globals
    if isinstance(obj, str):
        names = {**(gdict or {}), **(ldict or {})}
        return np.bmat(obj, {k: raw(v) for k, v in names.items()}, {})
    return _bmat(obj, ldict, gdict)


_bmat = host(np.bmat)
