"""The list of passes, in order, and the functions that run them.

`optimize` is Graph -> Graph; `compile_steps` goes on to the schedule. Called by `program.py`; tests
run the verifier after each pass. Next: `passes/simplify.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from numen.compiler.passes.cse import cse
from numen.compiler.passes.dce import dce
from numen.compiler.passes.decompose import decompose
from numen.compiler.passes.prepare import prepare
from numen.compiler.passes.schedule import Schedule, schedule
from numen.compiler.passes.simplify import simplify
from numen.compiler.passes.storage import Order
from numen.graph.graph import Graph

Pass = Callable[[Graph], Graph]

PASSES: tuple[tuple[str, Pass], ...] = (
    ("dce", dce),
    ("simplify", simplify),
    ("decompose", decompose),
    ("simplify", simplify),
    ("cse", cse),
    ("dce", dce),
    ("prepare", prepare),
)
"""Name and function of every pass before the schedule."""


def stages(graph: Graph) -> Iterator[tuple[str, Graph]]:
    """Yield the graph after each pass, with the pass's name."""
    for name, run in PASSES:
        graph = run(graph)
        yield name, graph


def optimize(graph: Graph) -> Graph:
    """Run every pass."""
    for _, run in PASSES:
        graph = run(graph)
    return graph


def compile_steps(graph: Graph, orders: Sequence[Order] | None = None) -> Schedule:
    """Optimise and schedule a graph; every output is in C order unless `orders` says otherwise."""
    optimized = optimize(graph)
    return schedule(optimized, orders if orders is not None else ["C"] * len(graph.outputs))
