"""The verifier: every invariant of a graph, checked.

Run by tests after each pass and by `compile_graph` on what it is given. A breach is an
InternalError with the graph printed. Next: `compiler/pipeline.py`.
"""

from __future__ import annotations

from numen.errors import InternalError, NumenError
from numen.graph.graph import Graph, Value
from numen.graph.infer import infer
from numen.graph.types import Dim

SCALAR_DTYPES = ("float64", "int64", "bool")


def verify(graph: Graph) -> None:
    """Raise InternalError unless the graph is well formed."""
    for position, value in enumerate(graph.values):
        fault = _fault(graph, position, value)
        if fault:
            raise _error(graph, f"{value!r}: {fault}")
    if [v for v in graph.values if v.op == "input"] != graph.inputs:
        raise _error(graph, "the input list is not the inputs in order")
    for output in graph.outputs:
        if not _owned(graph, output):
            raise _error(graph, f"output {output!r} is no value of this graph")
    _verify_writes(graph)


def _fault(graph: Graph, position: int, value: Value) -> str | None:
    if value.index != position:
        return f"stands at position {position}"
    for arg in value.args:
        if not _owned(graph, arg):
            return f"argument {arg!r} is no value of this graph"
        if arg.index >= position:
            return f"argument {arg!r} does not come before it"
    if list(value.params) != sorted(value.params, key=lambda pair: pair[0]):
        return "params are not sorted"
    if value.op == "input":
        return _input_fault(value)
    if value.op == "const":
        return None if value.type.shape == () else "a constant is 0-d"
    try:
        inferred = infer(value.op, [a.type for a in value.args], dict(value.params), value.type)
    except (NumenError, KeyError) as error:
        return f"{type(error).__name__}: {error}"
    return None if inferred == value.type else f"the type should be {inferred}"


def _input_fault(value: Value) -> str | None:
    kind, strides = value.param("kind"), value.param("strides")
    if kind == "scalar":
        if value.type.shape != () or value.dtype.name not in SCALAR_DTYPES:
            return "a scalar input is 0-d, of dtype float64, int64 or bool"
    elif kind != "array":
        return f"unknown kind {kind!r}"
    if strides is not None and len(strides) != value.type.rank:
        return f"{len(strides)} strides for rank {value.type.rank}"
    if any(isinstance(extent, int) and extent < 0 for extent in value.type.shape):
        return "a negative extent"
    if strides is not None and any(isinstance(extent, Dim) for extent in value.type.shape):
        return "fixed strides with a symbolic extent"
    return None


def _verify_writes(graph: Graph) -> None:
    seen = set()
    for number, value in graph.writes:
        if not 0 <= number < len(graph.inputs):
            raise _error(graph, f"write to input {number}, which is not there")
        target = graph.inputs[number]
        if target.param("kind") != "array":
            raise _error(graph, f"write to input {number}, a scalar")
        if number in seen:
            raise _error(graph, f"two writes to input {number}")
        if not _owned(graph, value) or value.type != target.type:
            raise _error(graph, f"write to input {number}: {value!r} is not a {target.type}")
        seen.add(number)


def _owned(graph: Graph, value: Value) -> bool:
    return value.index < len(graph.values) and graph.values[value.index] is value


def _error(graph: Graph, fault: str) -> InternalError:
    return InternalError(f"invalid graph: {fault}\n{graph}")
