"""How long a kernel takes, roughly, and what follows from it: chunks, split reductions, the GIL.

All of it is a function of the nest and its extents, never of the machine's load or of thread
counts, and no result depends on it. Called by `native.py`. Next: `native.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from numen.compiler.codegen.llvm import Variant
from numen.compiler.nest import BLOCK, Nest
from numen.compiler.scalar import ITEMSIZE

FREE = frozenset({"const", "scalar", "load", "reduce", "bitcast", "index"})
SLOW = {"divide": 0.5, "sqrt": 0.7}
"""Nanoseconds of an instruction on one float32 in a vector; others take `PLAIN`."""
PLAIN = 0.04
BYTE = 0.04
"""Nanoseconds to move a byte that lies beyond the first-level cache."""
STRIDED = 0.6
"""Nanoseconds of an item that is not a neighbour of the one before."""

CHUNK = 25_000.0
"""Nanoseconds of work that a chunk should hold."""
PARALLEL = 30_000.0
"""A kernel of less work is one chunk."""
RELEASE_GIL = 5_000.0

FEW_POINTS = 16
"""A reduction over more than one block is split where it has no more output points than this."""

STRIP = 1024
"""Columns in a chunk of a reduction across the vectors: long rows keep memory busy."""

NARROW = 256
"""The same where there are few columns."""


@dataclass(frozen=True)
class LaunchShape:
    """One launch of a kernel: its variant, units and grain."""

    variant: Variant
    units: int
    grain: int

    @property
    def chunks(self) -> int:
        return -(-self.units // self.grain)


def element_cost(nest: Nest) -> float:
    """Nanoseconds per element of the innermost loop."""
    widest = max((ITEMSIZE[buffer.dtype] for buffer in nest.buffers), default=4)
    scale = widest / 4
    cost = sum(SLOW.get(i.op, PLAIN) * scale for i in nest.body if i.op not in FREE)
    cost += 0.1 * scale * sum(i.op == "reduce" for i in nest.body)
    for buffer in nest.buffers:
        last = buffer.strides[-1] if buffer.strides else "0"
        if last == "1":
            cost += BYTE * ITEMSIZE[buffer.dtype]
        elif last == "s" and "1" in buffer.strides:
            cost += BYTE * ITEMSIZE[buffer.dtype]  # walked along the other axis
        elif last == "s":
            cost += STRIDED
    return cost


def total_cost(nest: Nest, extents: tuple[int, ...]) -> float:
    """Nanoseconds of the whole kernel."""
    return element_cost(nest) * math.prod(extents)


def launch_shapes(nest: Nest, extents: tuple[int, ...]) -> list[LaunchShape]:
    """Cut a kernel into units and chunks."""
    cost = total_cost(nest, extents)
    if not nest.reduced:
        units = extents[0] if len(extents) == 1 else math.prod(extents[:-1])
        return [LaunchShape("single", units, _grain(units, cost, 1))]
    points, reduced = math.prod(extents[:-1]), extents[-1]
    blocks = -(-reduced // BLOCK)
    across = nest.rank > 1 and any(
        b.strides[-2] == "1" and b.strides[-1] == "s" for b in nest.buffers
    )
    few = NARROW if across else FEW_POINTS
    if blocks > 1 and points <= few and cost >= PARALLEL:
        units = points * blocks
        return [
            LaunchShape("partial", units, _grain(units, cost, points)),
            LaunchShape("combine", points, points),
        ]
    strip = 1 if not across else STRIP if points >= 4 * STRIP else NARROW
    return [LaunchShape("single", points, _grain(points, cost, strip))]


def _grain(units: int, cost: float, multiple: int) -> int:
    """Units per chunk: all below `PARALLEL`, else about `CHUNK` of work, in steps of `multiple`."""
    if cost < PARALLEL or units <= multiple:
        return max(units, 1)
    chunks = min(units, round(cost / CHUNK))
    grain = -(-units // chunks)
    return -(-grain // multiple) * multiple
