"""Host calls: NumPy implementations of graph ops, for what has no kernel.

Called by `program.py` between native runs as fn(*arrays_or_numbers, **params) -> ndarray. The ops
of the graph have defaults here; upper layers add theirs with `register_host`, or replace a default.
An exception that a function raises (an IndexError of gather) reaches the user as NumPy's. Next:
`program.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numen.errors import InternalError

Array = np.ndarray[Any, Any]
HostFunction = Callable[..., Any]

HOST: dict[str, HostFunction] = {}
"""Op name to NumPy implementation."""


def register_host(name: str, function: HostFunction) -> None:
    """Add or replace the implementation of an op."""
    HOST[name] = function


def host_function(name: str) -> HostFunction:
    """Return the implementation of an op; InternalError where there is none."""
    function = HOST.get(name)
    if function is None:
        raise InternalError(f"op {name!r} has no kernel and no host implementation")
    return function


# Views


def reshape(a: Array, *, shape: tuple[int, ...]) -> Array:
    return np.reshape(a, shape)


def transpose(a: Array, *, axes: tuple[int, ...]) -> Array:
    return np.transpose(a, axes)


def broadcast_to(a: Array, *, shape: tuple[int, ...]) -> Array:
    return np.broadcast_to(a, shape)


def getitem(a: Array, *, index: tuple[Any, ...]) -> Array:
    result: Array = np.asarray(a)[(*index, ...)]  # the Ellipsis keeps it an array
    return result


VIEW_FUNCTIONS: dict[str, HostFunction] = {
    "reshape": reshape,
    "transpose": transpose,
    "broadcast_to": broadcast_to,
    "getitem": getitem,
}

# Indexing and moves


def copy(a: Any) -> Array:
    return np.array(a)


def cast(a: Any, *, dtype: Any) -> Array:
    return np.asarray(a).astype(dtype)


def setitem(base: Array, value: Any, *, path: tuple[Any, ...]) -> Array:
    result = np.array(base, order="K")
    view = result
    for name, params in path:
        view = VIEW_FUNCTIONS[name](view, **dict(params))
    if not np.may_share_memory(view, result) and view.size:
        raise InternalError(f"setitem: the path {path} leads to a copy of {result.shape}")
    view[...] = value
    return result


def _index(spec: tuple[Any, ...], indices: tuple[Array, ...]) -> tuple[Any, ...]:
    return tuple(entry[1] if isinstance(entry, tuple) else indices[entry] for entry in spec)


def gather(a: Array, *indices: Array, spec: tuple[Any, ...]) -> Array:
    return np.asarray(a[_index(spec, indices)])


def scatter_add(base: Array, value: Any, *indices: Array, spec: tuple[Any, ...]) -> Array:
    result = np.array(base)
    np.add.at(result, _index(spec, indices), value)
    return result


def concatenate(*arrays: Array, axis: int) -> Array:
    return np.concatenate(arrays, axis=axis)


# Reductions


def argmax(a: Array, *, axis: int, keepdims: bool = False) -> Array:
    return np.asarray(np.argmax(a, axis=axis, keepdims=keepdims)).astype(np.int64)


def relu(a: Array) -> Array:
    return np.maximum(a, np.zeros((), np.asarray(a).dtype))


def _same_name(name: str) -> HostFunction:
    function: HostFunction = getattr(np, name)
    return function


_SAME_NAMES = (
    *("add", "subtract", "multiply", "divide", "power", "maximum", "minimum"),
    *("negative", "exp", "log", "tanh", "sqrt", "absolute", "where", "matmul"),
    *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
    *("sum", "max", "min", "mean"),
)

HOST |= {name: _same_name(name) for name in _SAME_NAMES}
HOST |= VIEW_FUNCTIONS
HOST |= {
    "copy": copy,
    "barrier": copy,
    "cast": cast,
    "setitem": setitem,
    "gather": gather,
    "scatter_add": scatter_add,
    "concatenate": concatenate,
    "argmax": argmax,
    "relu": relu,
}
