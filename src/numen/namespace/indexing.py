"""Index expressions: what NumPy reads (`raw`), and the normalised forms that rows take.

A basic index becomes a tuple of int, slice and None (`basic`, `parse`); an advanced one a spec (one
entry per position: the number of an index array, or ("b", entry)) and the index arrays. Used by
`access.py`.
"""

from __future__ import annotations

from operator import index as as_int
from typing import Any, NamedTuple

import numpy as np

from numen.dispatch import modes
from numen.dispatch.core import SCALAR, ArrayCore
from numen.namespace.creation import asarray

SEQUENCES = (np.ndarray, list, tuple, range)
"""Index entries beside Arrays that count as arrays."""


class Basic(NamedTuple):
    """Ints, slices and None alone: picks a view. `ellipsis` tells whether there was one."""

    entries: tuple[Any, ...]
    ellipsis: bool


class Advanced(NamedTuple):
    """Integer arrays among the entries. `ellipsis` tells whether there was one."""

    spec: tuple[Any, ...]
    arrays: tuple[Any, ...]
    ellipsis: bool


class Masked(NamedTuple):
    """Picked by positions: a boolean mask is there, or index arrays that only an Ellipsis parts."""

    entries: tuple[Any, ...]


def raw(key: Any) -> Any:
    """The index expression with every Array in it as NumPy would have it.

    >>> raw((1, slice(None), [2]))
    (1, slice(None, None, None), [2])
    """
    if isinstance(key, ArrayCore):
        return key._d[()] if key._v is SCALAR else key._d
    kind = type(key)
    if kind is tuple:
        return tuple([raw(k) for k in key])
    if kind is list:
        return [raw(k) for k in key]
    return key


def is_field(key: Any) -> bool:
    """Whether the index names fields of a structured dtype."""
    return isinstance(key, str) or (
        type(key) is list and bool(key) and all([isinstance(k, str) for k in key])
    )


def is_element(key: Any, ndim: int) -> bool:
    """Whether a valid index picks one element as a scalar: one int for every axis, no Ellipsis."""
    entries = key if type(key) is tuple else (key,)
    return len(entries) == ndim and all([_is_int(e) for e in entries])


def _is_int(e: Any) -> bool:
    if isinstance(e, ArrayCore):
        e = e._d
    if isinstance(e, np.ndarray):
        return not e.ndim and e.dtype.kind in "iu"
    return not isinstance(e, (bool, np.bool_, *SEQUENCES)) and hasattr(e, "__index__")


# ------------------------------------------------------------ basic indices of plain arrays


def basic(key: Any, shape: tuple[int, ...]) -> tuple[Any, ...] | None:
    """The normalised entries of a valid basic index, None where it is an advanced one.

    >>> basic((-1, ..., slice(4)), (2, 3, 3))
    (1, slice(0, 3, 1), slice(0, 3, 1))
    """
    kind = type(key)
    if kind is int:
        return (key if key >= 0 else key + shape[0],)
    if kind is slice:
        return (normalize_slice(key, shape[0]),)
    if kind is not tuple:
        key = (key,)
    entries: list[Any] = []
    axis = 0
    for e in key:
        kind = type(e)
        if kind is int:
            entries.append(e if e >= 0 else e + shape[axis])
        elif kind is slice:
            entries.append(normalize_slice(e, shape[axis]))
        elif e is None:
            entries.append(None)
            continue
        elif e is Ellipsis:
            used = sum([other is not None and other is not Ellipsis for other in key])
            for _ in range(len(shape) - used):
                entries.append(slice(0, shape[axis], 1))
                axis += 1
            continue
        else:
            i = _plain_int(e)
            if i is None:
                return None
            entries.append(i if i >= 0 else i + shape[axis])
        axis += 1
    return tuple(entries)


def _plain_int(e: Any) -> int | None:
    """The int that an entry is to NumPy; None for arrays (also 0-d ones, which copy) and masks."""
    if isinstance(e, ArrayCore):
        return int(e._d) if e._v is SCALAR and e._d.dtype.kind in "iu" else None
    if isinstance(e, (bool, np.bool_, *SEQUENCES)) or not hasattr(e, "__index__"):
        return None
    return as_int(e)


def normalize_slice(s: slice, n: int) -> slice:
    """The slice with explicit, in-range int bounds and the same elements (a negative step may keep
    stop = None)."""
    start, stop, step = s.indices(n)
    if step > 0:
        return slice(start, stop, step) if start < stop else slice(0, 0, 1)
    if stop < 0:
        return slice(start, None, step) if start >= 0 else slice(0, 0, 1)
    return slice(start, stop, step) if stop < start else slice(0, 0, 1)


# ------------------------------------------------------------ all indices, for rows


def parse(key: Any, shape: tuple[int, ...], writes: bool = False) -> Basic | Advanced | Masked:
    """Classify an index expression for an array of `shape`, to be read or written.

    Raises
    ------
    IndexError
        As NumPy: too many indices, an index of a wrong type, more than one Ellipsis, an int out of
        bounds.
    """
    if isinstance(key, ArrayCore) and key._v is not SCALAR and key._d.dtype.kind in "iu" and shape:
        return Advanced((0,), (key,), False)  # the usual one
    entries = key if type(key) is tuple else (key,)
    ndim = len(shape)
    kinds = [_classify(e) for e in entries]
    if "scalar" in kinds:
        meaning = _meaning_of_scalars(kinds, ndim, writes)
        kinds = [meaning if kind == "scalar" else kind for kind in kinds]
    used = sum([kind in ("int", "slice", "array") for kind in kinds])
    if kinds.count("ellipsis") > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if "mask" in kinds:
        return Masked(entries)
    if used > ndim:
        raise IndexError(
            f"too many indices for array: array is {ndim}-dimensional, but {used} were indexed"
        )
    if "array" in kinds and used == ndim and "ellipsis" in kinds:
        at = kinds.index("ellipsis")
        before, after = set(kinds[:at]), set(kinds[at + 1 :])
        if before & {"int", "array"} and after & {"int", "array"}:
            return Masked(entries)  # it stands for no axis, and yet moves those of the arrays
    index: list[Any] = []
    arrays: list[Any] = []
    axis = 0
    for e, kind in zip(entries, kinds, strict=True):
        if kind == "ellipsis":
            for _ in range(ndim - used):
                index.append(slice(0, shape[axis], 1))
                axis += 1
            continue
        if kind == "none":
            index.append(None)
            continue
        if kind == "slice":
            index.append(normalize_slice(e, shape[axis]))
        elif kind == "array":
            index.append(("array", len(arrays)))
            arrays.append(_as_index(e))
        else:
            i, n = as_int(e), shape[axis]
            if not -n <= i < n:
                raise IndexError(f"index {i} is out of bounds for axis {axis} with size {n}")
            index.append(i % n)
        axis += 1
    if not arrays:
        return Basic(tuple(index), "ellipsis" in kinds)
    return Advanced(
        tuple([e[1] if type(e) is tuple else ("b", e) for e in index]),
        tuple(arrays),
        "ellipsis" in kinds,
    )


def _meaning_of_scalars(kinds: list[str], ndim: int, writes: bool) -> str:
    """What integer scalars are in an index: ints; in a trace arrays where that makes no difference,
    as a program then serves all their values."""
    if not modes.ACTIVE or modes.state.recorder is None:
        return "int"
    copies = writes or "array" in kinds
    element = len(kinds) == ndim and all([kind in ("int", "scalar") for kind in kinds])
    return "array" if copies or element else "int"


def _classify(e: Any) -> str:
    """What an entry of an index is: int, slice, none, ellipsis, scalar, array or mask."""
    kind = type(e)
    if kind is int:
        return "int"
    if kind is slice:
        return "slice"
    if e is None:
        return "none"
    if e is Ellipsis:
        return "ellipsis"
    if isinstance(e, (bool, np.bool_)):
        return "mask"
    if isinstance(e, ArrayCore) and e._v is SCALAR and e._d.dtype.kind in "iu":
        return "scalar"
    if isinstance(e, (ArrayCore, *SEQUENCES)):
        data = e._d if isinstance(e, ArrayCore) else np.asarray(raw(e))
        if data.dtype == np.bool_:
            return "mask"
        if data.dtype.kind not in "iu" and (data.size or isinstance(e, (ArrayCore, np.ndarray))):
            raise IndexError(
                "arrays used as indices must be of integer (or boolean) type; "
                f"got {data.dtype} array of shape {data.shape}"
            )
        return "array"
    if hasattr(e, "__index__") and not isinstance(e, float):  # a traced float has the method
        return "int"
    raise IndexError(
        "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or "
        f"boolean arrays are valid indices; got {kind.__name__}"
    )


def _as_index(e: Any) -> Any:
    """An index array as an Array of ints."""
    if isinstance(e, ArrayCore):
        return e
    return asarray(e, np.intp) if not np.size(raw(e)) else asarray(e)
