"""The compiler: graphs in, kernels and launches out.

The road: `passes/` rewrite and schedule a graph into nests (`nest.py`), `lower.py` and `math.py`
fill their bodies with scalar instructions (`scalar.py`), `codegen/` turns nests into machine code
or runs them in NumPy. It knows ndarrays, dtypes and Python scalars, no Array. Read `nest.py` next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numen.compiler.passes.storage import Order
    from numen.compiler.program import Program
    from numen.graph.graph import Graph


def compile_graph(graph: Graph, orders: Sequence[Order] | None = None) -> Program:
    """`program.compile_graph` for native code; loads the compiler, a third of numen, only now."""
    from numen.compiler import program

    return program.compile_graph(graph, orders=orders)


def elementwise_ops() -> frozenset[str]:
    """The names of the elementwise ops that `lower.py` knows; loads it only now."""
    from numen.compiler import lower

    return frozenset(lower.ELEMENTWISE)


def has_kernel(op: str, dtypes: Sequence[str], dtype: str, params: Mapping[str, Any]) -> bool:
    """`lower.has_kernel`; loads it only now."""
    from numen.compiler import lower

    return lower.has_kernel(op, dtypes, dtype, params)
