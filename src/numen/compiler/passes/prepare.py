"""Copies that give every stored result memory of its own.

An output, or the new content of an input, must be computed by an op that owns its result: a view,
an input or a value with two such uses is copied. So is the base of a setitem, unless nobody else
owns it. "copy" is always stored and may be fused; "barrier" is a copy that its readers load back
from memory. Called by `pipeline.py`, last. Next: `fuse.py`.
"""

from __future__ import annotations

from typing import Literal

from numen.compiler.passes.rewrite import Rebuilder
from numen.graph.graph import Graph, Value
from numen.graph.infer import VIEWS, path_type

SOURCES = frozenset({"input", "const"})


def prepare(graph: Graph) -> Graph:
    """Return the graph in which outputs, writes and setitem bases own their memory."""
    rebuilder = Rebuilder(graph)
    owned: set[int] = set()  # values of the new graph that have an owner
    last_owner = _last_owners(graph)
    for value in graph.values:
        new = rebuilder.copy(value)
        if value.op == "setitem":
            shared = last_owner.get(value.args[0].index) != value.index
            rebuilder.set(value, _own_base(rebuilder.graph, new, shared))
    result = rebuilder.finish()
    result.writes = [(n, _own(result, owned, value)) for n, value in result.writes]
    result.outputs = [_own(result, owned, value) for value in result.outputs]
    return result


def _own_base(graph: Graph, value: Value, shared: bool) -> Value:
    """A setitem with the base copied if `shared`, and a value of the view's dtype and rank."""
    base, new = value.args
    if shared:
        base = graph.op("copy", (base,))
    if new.dtype != base.dtype:
        new = graph.op("cast", (new,), {"dtype": base.dtype})
    extra = new.type.rank - path_type(base.type, value.param("path")).rank
    if extra > 0:
        new = graph.op("reshape", (new,), {"shape": new.shape[extra:]})
    return graph.append("setitem", (base, new), value.params, value.type)


def _last_owners(graph: Graph) -> dict[int, int]:
    """For values that one setitem may update in place: that setitem, the last one of its base."""
    taken = {value.index for value in graph.outputs} | {value.index for _, value in graph.writes}
    owners = {}
    for value in graph.values:
        if value.op == "setitem":
            base = value.args[0]
            if base.index not in taken and base.op not in VIEWS | SOURCES:
                owners[base.index] = value.index
    return owners


def _own(graph: Graph, owned: set[int], value: Value) -> Value:
    if value.op in VIEWS | SOURCES or value.index in owned:
        value = graph.append("copy", (value,), (), value.type)
    owned.add(value.index)
    return value


Target = Value | tuple[Literal["write", "output"], int]


class RewriteNeeded(Exception):  # noqa: N818 - a signal inside the scheduler, not an error
    """The graph must get a copy.

    op: "copy", "barrier", "commit" (two barriers: the value is complete in memory of its own before
    it is written) or "reduced" (a barrier with the reduced axes last). target: before argument
    `position` of a value, or before a write (input number) or output.
    """

    def __init__(self, op: str, target: Target, position: int = 0) -> None:
        super().__init__(op, target, position)
        self.op = op
        self.target = target
        self.position = position


def insert_copy(graph: Graph, needed: RewriteNeeded) -> Graph:
    """Return the graph with the copy that the scheduler asks for."""
    target = needed.target
    rebuilder = Rebuilder(graph)
    for value in graph.values:
        new = rebuilder.copy(value)
        if value is target:
            rebuilder.set(value, _with_copy(rebuilder.graph, new, needed))
    result = rebuilder.finish()
    if isinstance(target, tuple):
        kind, wanted = target
        if kind == "write":
            result.writes = [
                (number, _copied(result, value, needed.op) if number == wanted else value)
                for number, value in result.writes
            ]
        else:
            result.outputs[wanted] = _copied(result, result.outputs[wanted], needed.op)
    return result


def _copied(graph: Graph, value: Value, op: str) -> Value:
    if op == "commit":
        value, op = graph.append("barrier", (value,), (), value.type), "barrier"
    return graph.append(op, (value,), (), value.type)


def _with_copy(graph: Graph, value: Value, needed: RewriteNeeded) -> Value:
    """The same op on a copy of one argument."""
    args = list(value.args)
    arg = args[needed.position]
    if needed.op != "reduced":
        args[needed.position] = _copied(graph, arg, needed.op)
        return graph.append(value.op, tuple(args), value.params, value.type)
    axes = value.param("axis")
    axes = (axes,) if isinstance(axes, int) else axes
    kept = tuple(axis for axis in range(arg.type.rank) if axis not in axes)
    moved = graph.op("transpose", (arg,), {"axes": (*kept, *axes)})
    params = {"axis": tuple(range(len(kept), arg.type.rank)), "keepdims": False}
    return graph.op(value.op, (_copied(graph, moved, "barrier"),), params)
