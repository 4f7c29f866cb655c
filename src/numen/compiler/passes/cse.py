"""Common subexpressions: of two values with equal op, arguments, params and type one is kept.

Params are compared by their text, which tells 0.0 from -0.0 and 1 from True. Next: `decompose.py`.
"""

from __future__ import annotations

from numen.compiler.passes.rewrite import Rebuilder
from numen.graph.graph import Graph, Value
from numen.graph.text import format_param
from numen.graph.types import TensorType

Key = tuple[str, tuple[int, ...], str, TensorType]


def cse(graph: Graph) -> Graph:
    """Return the graph with equal values merged. Inputs stay apart: each is an argument."""
    rebuilder = Rebuilder(graph)
    known: dict[Key, Value] = {}
    for value in graph.values:
        if value.op == "input":
            rebuilder.copy(value)
            continue
        args = tuple(rebuilder.new(arg).index for arg in value.args)
        text = format_param(tuple(v for _, v in value.params)) if value.params else ""
        key = (value.op, args, text, value.type)
        if key in known:
            rebuilder.set(value, known[key])
        else:
            known[key] = rebuilder.copy(value)
    return rebuilder.finish()
