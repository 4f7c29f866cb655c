"""Fusion: which values are computed together in one kernel, and which are stored.

Takes a prepared graph; gives `Group`s. Values are visited from the last to the first: a pointwise
value goes into the kernel of its one consumer, is computed again in several where that is cheap, or
is stored; a reduction takes its consumers over the same points as its epilogue. Afterwards kernels
over the same points that share operands are joined (`merge.py`). Next: `build.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from numen.compiler.passes.support import GroupKind, kind_of
from numen.graph.graph import Graph, Params, Value
from numen.graph.infer import path_type
from numen.graph.text import format_param
from numen.graph.types import concrete

Ints = tuple[int, ...]

EXPENSIVE = {"exp": 12, "log": 12, "tanh": 16, "power": 30, "divide": 4, "sqrt": 4}
"""Weights of the ops that are not worth doing twice; any other pointwise op weighs 1."""

CHEAP_WEIGHT = 3
CHEAP_LEAVES = 2
"""Up to this weight and number of arrays read, each consumer computes a value again."""

SCALAR_WEIGHT = 8
"""Up to this weight a 0-d value is computed again by each consumer, once per chunk."""

SPREAD = 4
"""A value that is broadcast to this many times its elements is stored unless it is trivial."""

GROUP_WEIGHT = 200
"""Most work that one kernel takes; beyond it values are stored and loaded again."""

GROUP_OPERANDS = 24
"""Most stored results and operands of a kernel that joining may lead to."""


class Move:
    """One step on the way from a value to a kernel's points: a view op with its params.

    `view` is the graph's value that the step stands for; None for an implicit broadcast.
    """

    __slots__ = ("key", "op", "params", "view")

    def __init__(self, op: str, params: Params, view: Value | None = None) -> None:
        self.op = op
        self.view = view
        self.params: dict[str, Any] = dict(params)
        self.key = f"{op}{format_param(tuple(item for _, item in params))}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Move) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return self.key


Moves = tuple[Move, ...]


def spread_moves(shape: Ints, target: Ints) -> Moves:
    """The move of NumPy's implicit broadcasting; none where the shapes agree."""
    return () if shape == target else (Move("broadcast_to", (("shape", target),)),)


def squeezed(shape: Ints) -> Ints:
    """The shape without its extents of 1: the points of a kernel."""
    return tuple(extent for extent in shape if extent != 1)


def point_moves(shape: Ints) -> Moves:
    """The move from a value to the points of its kernel."""
    points = squeezed(shape)
    return () if points == shape else (Move("reshape", (("shape", points),)),)


def normal_moves(shape: Ints, moves: Moves) -> Moves:
    """Moves that begin at a value of this shape, without detours at their beginning.

    A broadcast that only adds extents of 1 is a reshape; of two reshapes the second counts.
    """
    while moves and moves[0].op in ("reshape", "broadcast_to"):
        first, target = moves[0], moves[0].params["shape"]
        if target == shape:
            moves = moves[1:]
        elif first.op == "broadcast_to":
            if squeezed(target) != squeezed(shape):
                break
            moves = (Move("reshape", (("shape", target),), first.view), *moves[1:])
        elif len(moves) > 1 and moves[1].op == "reshape":
            second = moves[1]
            params = (("shape", second.params["shape"]),)
            moves = (Move("reshape", params, second.view or first.view), *moves[2:])
        else:
            break
    return moves


@dataclass(frozen=True)
class Use:
    """A group reads a value; `moves` lead to its points, if `inside` times reduced elements."""

    group: Group
    inside: bool
    moves: Moves
    direct: bool
    """Whether point i reads element i, outside of any reduced loop."""


@dataclass(eq=False)
class Group:
    """What one step computes.

    `roots` are stored; of a nest `space` are the points and `reduced` the reduced extents.
    """

    kind: GroupKind
    space: Ints
    roots: list[Value]
    reduced: Ints | None = None
    reductions: list[Value] = field(default_factory=list)
    weight: int = 0
    closed: bool = False
    """No other root may join: a barrier, or a write into a part of an array."""


class Fusion:
    """The groups of a graph. `owner` gives the group that stores a value; `uses` who reads it."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.groups: list[Group] = []
        self.owner: dict[int, Group] = {}
        self.uses: list[list[Use]] = [[] for _ in graph.values]
        self.kinds = [kind_of(value) for value in graph.values]
        self._stored = {value.index for value in graph.outputs}
        self._stored |= {value.index for _, value in graph.writes}
        self._weights, self._leaves, self._ancestors = _analyse(graph, self.kinds)
        for value in reversed(graph.values):
            self._place(value)
        self.groups.reverse()

    # Placing one value; all its consumers are placed

    def _place(self, value: Value) -> None:
        kind = self.kinds[value.index]
        needed = self.uses[value.index] or value.index in self._stored
        if kind == "source" or not needed:
            return
        if kind == "view":
            move = Move(value.op, value.params, value)
            for use in self.uses[value.index]:
                self._use(value.args[0], use.group, use.inside, (move, *use.moves))
        elif kind == "pointwise":
            self._place_pointwise(value)
        elif kind == "reduction":
            self._place_reduction(value)
        else:
            self._place_alone(value)

    def _use(self, value: Value, group: Group, inside: bool, moves: Moves) -> None:
        moves = normal_moves(value.shape, moves)
        direct = not inside and moves == point_moves(value.shape)
        use = Use(group, inside, moves, direct)
        if use not in self.uses[value.index]:
            self.uses[value.index].append(use)

    def _use_args(self, value: Value, group: Group, inside: bool, moves: Moves) -> None:
        for arg in value.args:
            self._use(arg, group, inside, (*spread_moves(arg.shape, value.shape), *moves))

    def _place_pointwise(self, value: Value) -> None:
        uses = self.uses[value.index]
        if self._is_inlined(value, uses):
            for use in uses:
                use.group.weight += own_weight(value)
                self._use_args(value, use.group, use.inside, use.moves)
            return
        group = self._group_to_join(value, None)
        if group is None:
            group = self._new_group(Group("nest", squeezed(value.shape), []))
            group.closed = value.op == "barrier"
        self._add_root(group, value)
        group.weight += own_weight(value)
        self._use_args(value, group, False, point_moves(value.shape))

    def _is_inlined(self, value: Value, uses: list[Use]) -> bool:
        if value.index in self._stored or value.op in ("copy", "barrier"):
            return False
        if any(use.group.kind != "nest" or use.group.weight > GROUP_WEIGHT for use in uses):
            return False
        if any(use.moves and use.moves[0].op == "base" for use in uses):
            return False
        weight = self._weights[value.index]
        if value.type.rank == 0:
            return weight <= SCALAR_WEIGHT or len(uses) == 1
        cheap = weight <= CHEAP_WEIGHT and self._leaves[value.index] <= CHEAP_LEAVES
        if len(uses) > 1 and not cheap:
            return False
        size = max(1, math.prod(value.shape))
        spread = any(points(use) >= SPREAD * size for use in uses)
        return weight <= 1 or not spread

    def _place_reduction(self, value: Value) -> None:
        operand = value.args[0]
        axes = reduced_axes(value)
        reduced = tuple(operand.shape[axis] for axis in axes)
        group = self._group_to_join(value, reduced)
        if group is None:
            group = self._new_group(Group("nest", squeezed(value.shape), []))
        group.reduced = reduced
        group.reductions.append(value)
        uses = self.uses[value.index]
        if value.index in self._stored or any(not u.direct or u.group is not group for u in uses):
            self._add_root(group, value)
        self._use(operand, group, True, element_moves(value))

    def _place_alone(self, value: Value) -> None:
        """A matrix product, a host call, or a write into a part of an array."""
        if self.kinds[value.index] == "write":
            base, new = value.args
            view = concrete(path_type(base.type, value.param("path")).shape)
            group = self._new_group(Group("nest", squeezed(view), [], closed=True))
            self._use(base, group, False, (BASE,))
            self._use(new, group, False, (*spread_moves(new.shape, view), *point_moves(view)))
        else:
            kind: GroupKind = "gemm" if self.kinds[value.index] == "gemm" else "host"
            group = self._new_group(Group(kind, value.shape, [], closed=True))
            for arg in value.args:
                self._use(arg, group, False, ())
        self._add_root(group, value)

    # Joining the group of a consumer

    def _group_to_join(self, value: Value, reduced: Ints | None) -> Group | None:
        """A group that reads `value` point by point and can compute it as well."""
        uses = self.uses[value.index]
        if value.op == "barrier":
            return None
        for use in uses:
            group = use.group
            if not use.direct or group.kind != "nest" or group.space != squeezed(value.shape):
                continue
            if any(other.group is group and not other.direct for other in uses):
                continue
            if not self._fits(value, group, reduced):
                continue
            others = {other.group for other in uses if other.group is not group}
            if not any(self.reaches(other, {group}) for other in others):
                return group
        return None

    def _fits(self, value: Value, group: Group, reduced: Ints | None) -> bool:
        stored = len(self.uses[value.index]) > 1 or value.index in self._stored
        if group.weight > GROUP_WEIGHT or len(group.roots) >= GROUP_OPERANDS:
            return False
        if reduced is None:
            # a stored value must stand after the reductions of its kernel
            return group.reduced is None and not group.closed
        if group.closed and stored:
            return False
        if group.reduced is not None and group.reduced != reduced:
            return False
        return all(self._ancestors[root.index] >> value.index & 1 for root in group.roots)

    def reaches(self, start: Group, goals: set[Group]) -> bool:
        """Whether one of `goals` depends on `start`, itself or through others."""
        seen = {start}
        pending = [start]
        while pending:
            group = pending.pop()
            if group in goals:
                return True
            for consumer in self.consumers(group):
                if consumer not in seen:
                    seen.add(consumer)
                    pending.append(consumer)
        return False

    def consumers(self, group: Group) -> Iterator[Group]:
        """The other groups that read what a group stores."""
        for root in group.roots:
            for use in self.uses[root.index]:
                if use.group is not group:
                    yield use.group

    def _new_group(self, group: Group) -> Group:
        self.groups.append(group)
        return group

    def _add_root(self, group: Group, value: Value) -> None:
        group.roots.append(value)
        self.owner[value.index] = group


BASE = Move("base", ())
"""The use of a setitem's base: its memory, not its elements."""


def element_moves(reduction: Value) -> Moves:
    """The moves from a reduction's operand to points x reduced elements."""
    operand, axes = reduction.args[0], reduced_axes(reduction)
    parallel = tuple(axis for axis in range(operand.type.rank) if axis not in axes)
    order = (*parallel, *axes)
    shape = tuple(operand.shape[axis] for axis in order)
    target = squeezed(shape[: len(parallel)]) + shape[len(parallel) :]
    moves: Moves = ()
    if order != tuple(range(len(order))):
        moves = (Move("transpose", (("axes", order),)),)
    return moves if target == shape else (*moves, Move("reshape", (("shape", target),)))


def points(use: Use) -> int:
    """How often a use evaluates its value."""
    return math.prod(use.group.space) * (math.prod(use.group.reduced or ()) if use.inside else 1)


def own_weight(value: Value) -> int:
    return EXPENSIVE.get(value.op, 1)


def reduced_axes(value: Value) -> Ints:
    axis = value.param("axis")
    return (axis,) if isinstance(axis, int) else axis


def _analyse(graph: Graph, kinds: list[Any]) -> tuple[list[int], list[int], list[int]]:
    """Weights, leaves and ancestors of each value.

    The work behind it down to stored values, the number of arrays read there, and as bits all
    values that it depends on.
    """
    weights: list[int] = []
    leaves: list[frozenset[int]] = []
    ancestors: list[int] = []
    for value in graph.values:
        kind = kinds[value.index]
        weight = 0
        behind: frozenset[int] = frozenset()
        bits = 0
        for arg in value.args:
            bits |= ancestors[arg.index] | 1 << arg.index
        if kind in ("pointwise", "view") and value.op not in ("copy", "barrier"):
            weight = sum(weights[arg.index] for arg in value.args)
            weight += own_weight(value) if kind == "pointwise" else 0
            behind = frozenset().union(*(leaves[arg.index] for arg in value.args))
        elif value.type.rank:
            behind = frozenset((value.index,))
        weights.append(min(weight, 1000))
        leaves.append(behind if len(behind) < 8 else frozenset(sorted(behind)[:8]))
        ancestors.append(bits)
    return weights, [len(behind) for behind in leaves], ancestors
