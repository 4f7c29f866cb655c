"""Dead code elimination: keeps the inputs and what the outputs and writes depend on.

Every op is pure, so the rest can go. Run after each rewriting pass. Next: `cse.py`.
"""

from __future__ import annotations

from numen.compiler.passes.rewrite import Rebuilder
from numen.graph.graph import Graph, Value


def dce(graph: Graph) -> Graph:
    """Return the graph without useless values; the same graph when there are none."""
    live = live_values(graph)
    if all(live):
        return graph
    rebuilder = Rebuilder(graph)
    for value in graph.values:
        if live[value.index]:
            rebuilder.copy(value)
    return rebuilder.finish()


def live_values(graph: Graph) -> list[bool]:
    """For each value, whether it is an input or something depends on it."""
    live = [value.op == "input" for value in graph.values]
    pending: list[Value] = [*graph.outputs, *(value for _, value in graph.writes)]
    while pending:
        value = pending.pop()
        if not live[value.index]:
            live[value.index] = True
            pending.extend(value.args)
    return live
