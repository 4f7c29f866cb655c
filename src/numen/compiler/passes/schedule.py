"""The schedule: a prepared graph becomes a list of steps with their operands in storages.

Fuses, assigns storages, builds kernels and orders them; where something can't be done without a
copy the graph gets one and the work starts anew. Called by `pipeline.py`; `program.py` executes the
steps. Next: `storage.py`, `build.py`, `hazards.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from numen.compiler.passes.build import Kernel, build, inlined_values
from numen.compiler.passes.dce import dce
from numen.compiler.passes.fuse import Fusion, Group, Move, Moves
from numen.compiler.passes.hazards import order_groups
from numen.compiler.passes.layout import CopyNeeded, Layout, apply_view
from numen.compiler.passes.merge import merge
from numen.compiler.passes.prepare import RewriteNeeded, insert_copy
from numen.compiler.passes.storage import Order, Storage, assign
from numen.errors import InternalError
from numen.graph.graph import Graph, Params, Value
from numen.graph.infer import VIEWS
from numen.graph.types import plain_name


@dataclass(frozen=True)
class NestStep:
    """One kernel."""

    kernel: Kernel


@dataclass(frozen=True)
class GemmStep:
    """One matrix product; the operands as (storage, layout) with the batch axes broadcast.

    transposed: C's rows are the contiguous ones, so the machine computes C.T = B.T @ A.T, which is
    the same element by element.
    """

    dtype: str
    a: tuple[Storage, Layout]
    b: tuple[Storage, Layout]
    c: tuple[Storage, Layout]
    transposed: bool


@dataclass(frozen=True)
class HostArgument:
    """A view of a stored value, of an input or of a constant."""

    value: Value
    storage: Storage | None
    moves: Moves


@dataclass(frozen=True)
class HostStep:
    """A call of a NumPy function; its result becomes the storage's array."""

    name: str
    params: Params
    args: tuple[HostArgument, ...]
    result: Value
    storage: Storage


@dataclass(frozen=True)
class HostWrite:
    """Copy a host call's result into an input, after everything else."""

    storage: Storage
    number: int


Step = NestStep | GemmStep | HostStep | HostWrite


@dataclass(frozen=True)
class Schedule:
    """Steps in order, the graph with the copies that were needed, and storages by value index."""

    graph: Graph
    steps: tuple[Step, ...]
    storages: dict[int, Storage]


MAX_REWRITES = 200
"""Far more copies than a graph needs; reaching it is a bug."""


def schedule(graph: Graph, orders: Sequence[Order]) -> Schedule:
    """Schedule a prepared graph; `orders` are the memory orders of the outputs."""
    for _ in range(MAX_REWRITES):
        try:
            return _attempt(graph, orders)
        except RewriteNeeded as needed:
            graph = dce(insert_copy(graph, needed))
    raise InternalError(f"the schedule does not come to an end\n{graph}")


def _attempt(graph: Graph, orders: Sequence[Order]) -> Schedule:
    fusion = Fusion(graph)
    merge(fusion)
    storages = assign(fusion, orders)
    inlined = inlined_values(fusion)
    kernels: dict[Group, Kernel | None] = {
        group: build(fusion, group, storages, inlined[group]) if group.kind == "nest" else None
        for group in fusion.groups
    }
    steps: list[Step] = []
    for group in order_groups(fusion, kernels, storages):
        kernel = kernels[group]
        if kernel is not None:
            steps.append(NestStep(kernel))
        elif group.kind == "gemm":
            steps.append(_gemm(group.roots[0], storages))
        elif group.kind == "host":
            steps.append(_host(group.roots[0], storages))
    for number, value in graph.writes:
        if fusion.kinds[value.index] == "host":
            steps.append(HostWrite(storages[value.index], number))
    return Schedule(graph, tuple(steps), storages)


def _peel(value: Value, storages: dict[int, Storage]) -> tuple[Value, Moves]:
    """The stored value, input or constant behind views, and the views."""
    moves: list[Move] = []
    while value.op in VIEWS and value.index not in storages:
        moves.append(Move(value.op, value.params, value))
        value = value.args[0]
    return value, tuple(reversed(moves))


def _gemm(value: Value, storages: dict[int, Storage]) -> Step:
    batch = value.shape[:-2]
    operands = []
    for position, arg in enumerate(value.args):
        leaf, moves = _peel(arg, storages)
        if leaf.index not in storages:
            raise RewriteNeeded("barrier", value, position)
        storage = storages[leaf.index]
        layout = storage.layout
        for move in moves:
            try:
                layout = apply_view(layout, move.op, move.params, arg.dtype.itemsize)
            except CopyNeeded:
                assert move.view is not None
                raise RewriteNeeded("barrier", move.view, 0) from None
        operands.append((storage, layout.broadcast_to((*batch, *arg.shape[-2:]))))
    result = storages[value.index]
    plain = value.shape[-1] == 1 or result.layout.strides[-1] == value.dtype.itemsize
    a, b = operands
    return GemmStep(plain_name(value.dtype), a, b, (result, result.layout), not plain)


def _host(value: Value, storages: dict[int, Storage]) -> HostStep:
    args = []
    for arg in value.args:
        leaf, moves = _peel(arg, storages)
        args.append(HostArgument(leaf, storages.get(leaf.index), moves))
    return HostStep(value.op, value.params, tuple(args), value, storages[value.index])
