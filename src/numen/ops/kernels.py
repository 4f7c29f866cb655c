"""Eager ops on compiled kernels: `Primitive.compute` asks here for large arrays.

`run` takes a row, raw arguments and params, and gives NumPy's dtype, shape and memory order, or
None where no kernel has the op's exact meaning: then NumPy computes. A call becomes a graph of one
op with explicit casts, compiled once per (dtypes, shapes, strides). Next: `compiler/program.py`.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numen.compiler import compile_graph, elementwise_ops, has_kernel
from numen.dispatch import primitive
from numen.dispatch.primitive import Primitive
from numen.errors import CompileError, DTypeError, ShapeError
from numen.graph.graph import Graph, Value
from numen.graph.types import TensorType
from numen.ops.dtypes import Kind, kind_of, resolve_kinds

Call = Callable[..., list[Any]]
Key = tuple[Any, ...]

OTHERS = ("sum", "mean", "max", "min", "argmax", "matmul")
"""Rows that compute, beside the elementwise ones; views and index arrays are NumPy's moves."""


@functools.cache
def _computed() -> frozenset[str]:
    return elementwise_ops() | {*OTHERS}


KEEPS_0D = ("where", "cast")
"""Rows whose 0-d results NumPy returns as arrays, not as scalars."""

MOST_PROGRAMS = 1024

PLAIN = frozenset({np.ndarray, int, float, bool})

MISSING: Any = object()

_programs: dict[Key, Call | None] = {}
_lock = threading.Lock()


def run(prim: Primitive, raw: Sequence[Any], params: dict[str, Any]) -> Any:
    """Compute a row's result with a kernel.

    Parameters
    ----------
    prim : Primitive
        The row.
    raw : sequence
        ndarrays, NumPy scalars and Python scalars.
    params : dict
        The row's parameters.

    Returns
    -------
    ndarray, NumPy scalar or None
        None where there is no kernel, and where NumPy would raise.
    """
    if prim.name not in _computed():
        return None
    parts: list[Any] = [prim.name]
    given: list[Any] = []
    ints = False
    for a in raw:
        kind = type(a)
        if kind not in PLAIN and isinstance(a, (np.generic, np.ndarray)):
            a = np.asarray(a)
            kind = np.ndarray
        if kind is np.ndarray:
            if not a.flags.aligned:
                return None
            parts += (a.dtype, a.shape, a.strides)
        elif kind in PLAIN:
            # the exponent of a power decides on its kernel; other scalars are arguments
            parts.append((kind, repr(a)) if prim.name == "power" else kind)
            if kind is int:
                ints = True
                if not -(1 << 63) <= a < 1 << 63:
                    return None
        else:
            return None
        given.append(a)
    if params:
        parts.append(tuple(params.items()))
    key = tuple(parts)
    call = _programs.get(key, MISSING)
    if call is MISSING:
        call = _compile(prim, given, params)
        _keep(key, call)
    if call is None or (ints and not _scalars_fit(prim, given)):
        return None
    (result,) = call(*given)
    return result if result.ndim or prim.name in KEEPS_0D else result[()]


def _keep(key: Key, call: Call | None) -> None:
    with _lock:
        if len(_programs) >= MOST_PROGRAMS:
            for old in list(_programs)[: MOST_PROGRAMS // 2]:  # dicts keep their order
                del _programs[old]
        _programs[key] = call


def _scalars_fit(prim: Primitive, given: Sequence[Any]) -> bool:
    """Whether Python ints are in range of the integer dtype they are computed in."""
    dtypes, _ = resolve_kinds(prim, tuple([kind_of(a) for a in given]))
    for a, dtype in zip(given, dtypes, strict=True):
        if type(a) is int and dtype.kind in "iu":
            info = np.iinfo(dtype)
            if not info.min <= a <= info.max:
                return False
    return True


def _compile(prim: Primitive, given: Sequence[Any], params: dict[str, Any]) -> Call | None:
    """The program of a call like this one; None where there is no kernel."""
    arrays = [a for a in given if isinstance(a, np.ndarray)]
    if not all(a.size and a.dtype.isnative for a in arrays):
        return None
    kinds = tuple([kind_of(a) for a in given])
    try:
        dtypes = _dtypes(prim, kinds, given, params)
        if dtypes is None:
            return None
        graph = Graph()
        args = [_argument(graph, a, d) for a, d in zip(given, dtypes, strict=True)]
        if prim.name == "power":  # a constant exponent; the call passes it all the same
            args[1] = graph.const(given[1], dtypes[1])
        graph.outputs.append(graph.op(prim.name, args, params))
        return compile_graph(graph, orders=[_order(graph.outputs[0], given, params)]).call
    except (TypeError, DTypeError, ShapeError, CompileError):
        return None  # NumPy computes it, or raises its own error


def _dtypes(
    prim: Primitive, kinds: tuple[Kind, ...], given: Sequence[Any], params: dict[str, Any]
) -> tuple[np.dtype[Any], ...] | None:
    """The dtypes a kernel computes in; None where the op has no kernel."""
    name = op = prim.name
    dtypes, out = resolve_kinds(prim, kinds)
    options: dict[str, Any] = {}
    if name in ("sum", "mean"):
        op = "sum"
        out = _total(name, out)
        dtypes = (out,)
    elif name == "argmax":
        out = np.dtype(np.int64)
    elif name == "cast":
        out = params["dtype"]
    elif name == "power":
        if not isinstance(given[1], (int, float)):
            return None
        options["exponent"] = given[1]
    if not has_kernel(op, [d.name for d in dtypes], out.name, options):
        return None
    for kind, dtype in zip(kinds, dtypes, strict=True):
        cast = isinstance(kind, np.dtype) and kind != dtype
        if cast and prim.exact and not has_kernel("cast", [np.dtype(kind).name], dtype.name, {}):
            return None
    # A rounded op's cast without kernel (of a float16) is a host call, as in a compiled program.
    return dtypes


def _total(name: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """What NumPy adds up in: integers in 64 bits, for a mean in float64."""
    if dtype.kind not in "biu":
        return dtype
    if name == "mean":
        return np.dtype(np.float64)
    return np.dtype(np.uint64 if dtype.kind == "u" else np.int64)


SCALARS: dict[type, np.dtype[Any]] = {
    int: np.dtype(np.int64),
    float: np.dtype(np.float64),
    bool: np.dtype(np.bool_),
}


def _argument(graph: Graph, a: Any, dtype: np.dtype[Any]) -> Value:
    """A graph input for an argument, cast to `dtype`."""
    if isinstance(a, np.ndarray):
        value = graph.input(TensorType(a.dtype, a.shape), strides=a.strides)
    else:
        value = graph.input(TensorType(SCALARS[type(a)], ()), kind="scalar")
    return value if value.dtype == dtype else graph.op("cast", (value,), {"dtype": dtype})


def _order(out: Value, given: Sequence[Any], params: dict[str, Any]) -> Any:
    """The memory order NumPy gives the result: that of the first operand with all its axes, or C's
    of products and places."""
    rank = len(out.shape)
    if out.op in ("matmul", "argmax") or rank < 2:
        return "C"
    axis = params.get("axis", ())
    dropped = () if params.get("keepdims") or not isinstance(axis, tuple) else axis
    for a in given:
        if isinstance(a, np.ndarray) and a.ndim - len(dropped) == rank:
            strides = [abs(s) for i, s in enumerate(a.strides) if i not in dropped]
            return tuple(sorted(range(rank), key=lambda i: -strides[i]))
    return "C"


primitive.run_kernel = run
