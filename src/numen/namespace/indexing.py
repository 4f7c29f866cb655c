"""Index expressions: sorts them into basic ones (views) and advanced ones (gather), normalised for
the rows.

Used by Array's `__getitem__` and `__setitem__`. A basic index becomes a tuple of int, slice and
None; an advanced one a spec (one entry per position: the number of an index array, or ("b", entry))
and the index arrays.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from numen.dispatch.core import ArrayCore

ARRAY_LIKE = (ArrayCore, np.ndarray, list, tuple, range)
"""Index entries that count as arrays."""


class Basic(NamedTuple):
    """Ints, slices and None alone: picks a view. `ellipsis` tells whether there was one."""

    entries: tuple[Any, ...]
    ellipsis: bool


class Advanced(NamedTuple):
    """Integer arrays among the entries."""

    spec: tuple[Any, ...]
    arrays: tuple[Any, ...]


class Masked(NamedTuple):
    """A boolean mask somewhere: its result's shape depends on values."""

    key: Any


def parse(key: Any, shape: tuple[int, ...]) -> Basic | Advanced | Masked:
    """Classify an index expression for an array of `shape`.

    Raises
    ------
    IndexError
        As NumPy: too many indices, an index of a wrong type, more than one Ellipsis.
    """
    entries = key if type(key) is tuple else (key,)
    ndim = len(shape)
    basic = True
    used = 0
    ellipses = 0
    for e in entries:
        kind = type(e)
        if kind is int or kind is slice:
            used += 1
        elif e is None:
            pass
        elif e is Ellipsis:
            ellipses += 1
        elif isinstance(e, (bool, np.bool_)):
            return Masked(key)
        elif isinstance(e, np.integer):
            used += 1
        elif isinstance(e, ARRAY_LIKE):
            data = e._d if isinstance(e, ArrayCore) else np.asarray(_unwrapped(e))
            if data.dtype == np.bool_:
                return Masked(key)
            if data.dtype.kind not in "iu" and data.size:
                raise IndexError(
                    "arrays used as indices must be of integer (or boolean) type; "
                    f"got {data.dtype} array of shape {data.shape}"
                )
            used += 1
            basic = False
        elif hasattr(e, "__index__") and not isinstance(e, float):  # a traced float has the method
            used += 1
        else:
            raise IndexError(
                "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and "
                "integer or boolean "
                f"arrays are valid indices; got {type(e).__name__}"
            )
    if ellipses > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if used > ndim:
        raise IndexError(
            f"too many indices for array: array is {ndim}-dimensional, but {used} were indexed"
        )
    index: list[Any] = []
    arrays: list[Any] = []
    axis = 0
    for e in entries:
        if e is Ellipsis:
            for _ in range(ndim - used):
                index.append(slice(0, shape[axis], 1))
                axis += 1
        elif e is None:
            index.append(None)
        elif type(e) is slice:
            index.append(normalize_slice(e, shape[axis]))
            axis += 1
        elif isinstance(e, ARRAY_LIKE):
            index.append(len(arrays))
            arrays.append(e if isinstance(e, ArrayCore) else _as_index(e))
            axis += 1
        else:
            i = e.__index__()
            n = shape[axis]
            if not -n <= i < n:
                raise IndexError(f"index {i} is out of bounds for axis {axis} with size {n}")
            index.append(i % n if basic else ("i", i % n))
            axis += 1
    if basic:
        return Basic(tuple(index), ellipses > 0)
    spec = tuple([e if type(e) is int else ("b", e[1] if type(e) is tuple else e) for e in index])
    return Advanced(spec, tuple(arrays))


def _unwrapped(e: Any) -> Any:
    if isinstance(e, (list, tuple)):
        return [_unwrapped(v) for v in e]
    return e._d if isinstance(e, ArrayCore) else e


def _as_index(e: Any) -> Any:
    data = np.asarray(_unwrapped(e))
    return data.astype(np.intp) if data.size == 0 and data.dtype.kind == "f" else data


def normalize_slice(s: slice, n: int) -> slice:
    """The slice with explicit, in-range int bounds and the same elements (a negative step may keep
    stop = None)."""
    start, stop, step = s.indices(n)
    if step < 0 and stop < 0:
        return slice(start, None, step) if start >= 0 else slice(0, 0, 1)
    if (step > 0 and stop <= start) or (step < 0 and start <= stop):
        return slice(0, 0, 1)
    return slice(start, stop, step)
