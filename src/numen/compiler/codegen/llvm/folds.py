"""What a reduction does to its lanes: where they start, how they take an element, how two of them
merge.

A state is a tuple of values: (accumulator,) for sum, max and min, (value, position) for argmax.
The scheme itself (blocks, 16 lanes, halves) is in `numen.compiler.nest`; `rows.py`, `columns.py`
and `combine.py` run it on these.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from numen.compiler.codegen.llvm.ir import Function, Value, constant, integer, iota
from numen.compiler.nest import LANES
from numen.compiler.scalar import FLOATS, ITEMSIZE, SIGNED

State = list[Value]


@dataclass(frozen=True)
class Fold:
    """A "reduce" instruction: its kind and the dtype that it accumulates."""

    kind: str
    dtype: str

    @property
    def has_position(self) -> bool:
        return self.kind == "argmax"

    @property
    def position_dtype(self) -> str:
        """Dtype of positions inside a block: as wide as the values where possible, which keeps
        vectors alike.
        """
        return "int64" if ITEMSIZE[self.dtype] == 8 else "int32"

    @property
    def block_dtypes(self) -> tuple[str, ...]:
        """Dtypes of a state inside a block."""
        return (self.dtype, self.position_dtype) if self.has_position else (self.dtype,)

    @property
    def partial_dtypes(self) -> tuple[str, ...]:
        """Dtypes of a block's result: positions are absolute from here on."""
        return (self.dtype, "int64") if self.has_position else (self.dtype,)

    @property
    def identity(self) -> float | int | bool:
        """What a lane starts with: merging it changes nothing."""
        if self.kind == "sum":
            return -0.0 if self.dtype in FLOATS else 0
        lowest = self.kind != "min"
        if self.dtype in FLOATS:
            return -math.inf if lowest else math.inf
        if self.dtype == "bool":
            return not lowest
        bits = 8 * ITEMSIZE[self.dtype]
        if self.dtype in SIGNED:
            return -(1 << (bits - 1)) if lowest else (1 << (bits - 1)) - 1
        return 0 if lowest else (1 << bits) - 1

    def first_state(self, width: int, first_lane: int) -> State:
        """Lanes first_lane, first_lane + 1, ... of a block. A lane's own position is right if it
        only meets identities.
        """
        state = [constant(self.identity, self.dtype, width)]
        if self.has_position:
            state.append(shifted_iota(self.position_dtype, width, first_lane))
        return state

    def empty_result(self) -> State:
        """The result over no elements at all: +0 for a sum."""
        value = 0 if self.kind == "sum" else self.identity
        state = [constant(value, self.dtype)]
        return [*state, integer(0)] if self.has_position else state

    def take(self, function: Function, state: State, element: Value, position: Value) -> State:
        """Lanes after one more element each. Elements of a lane come in the order of their
        positions.

        So for argmax an equal element never wins, and a lane that meets nothing above the identity
        is right to keep the position it started with, that of its first element.
        """
        if not self.has_position:
            return self.merge(function, state, [element])
        value, best = state
        better = self._beats(function, element, value)
        return [function.select(better, element, value), function.select(better, position, best)]

    def merge(self, function: Function, left: State, right: State) -> State:
        """left op right, lane by lane; `left` is the accumulator."""
        if self.has_position:
            return self._merge_positions(function, left, right)
        a, b = left[0], right[0]
        if self.kind == "sum":
            return [function.binary("fadd" if self.dtype in FLOATS else "add", a, b)]
        chosen = function.select(self._ordered(function, self.kind == "max", a, b), a, b)
        if self.dtype in FLOATS:
            chosen = function.select(function.compare("fcmp uno", a, a), a, chosen)
        return [chosen]

    def _ordered(self, function: Function, greater: bool, a: Value, b: Value) -> Value:
        relation = "gt" if greater else "lt"
        if self.dtype in FLOATS:
            return function.compare(f"fcmp o{relation}", a, b)
        sign = "s" if self.dtype in SIGNED else "u"
        return function.compare(f"icmp {sign}{relation}", a, b)

    def _beats(self, function: Function, new: Value, old: Value) -> Value:
        """new > old, where NaN is above every number and no NaN above another."""
        if self.dtype not in FLOATS:
            return self._ordered(function, True, new, old)
        above = function.compare("fcmp ugt", new, old)
        return function.binary("and", above, function.compare("fcmp ord", old, old))

    def _merge_positions(self, function: Function, left: State, right: State) -> State:
        (a, at_a), (b, at_b) = left, right
        b_beats = self._beats(function, b, a)
        a_beats = self._beats(function, a, b)
        earlier = function.compare("icmp slt", at_b, at_a)
        tie = function.binary("or", b_beats, a_beats)
        b_wins_tie = function.select(tie, constant(False, "bool", a.width), earlier)
        better = function.binary("or", b_beats, b_wins_tie)
        return [function.select(better, b, a), function.select(better, at_b, at_a)]


def shifted_iota(dtype: str, width: int, first: int) -> Value:
    """The constant first, first + 1, ... of an integer dtype."""
    if first == 0:
        return iota(dtype, width)
    if width == 1:
        return constant(first, dtype)
    kind = constant(0, dtype).type
    lanes = ", ".join(f"{kind} {first + lane}" for lane in range(width))
    return Value(f"<{lanes}>", dtype, width)


def fold_lanes(function: Function, fold: Fold, lanes: Sequence[State]) -> State:
    """Merge 16 lanes, vectors in order, by halves: l[j] op= l[j + 8], then + 4, + 2, + 1."""
    groups = list(lanes)
    while len(groups) > 1:
        half = len(groups) // 2
        groups = [fold.merge(function, groups[j], groups[j + half]) for j in range(half)]
    state = groups[0]
    while state[0].width > 1:
        half = state[0].width // 2
        low = [function.lanes(part, 0, half) for part in state]
        high = [function.lanes(part, half, half) for part in state]
        state = fold.merge(function, low, high)
    return state


class LaneArray:
    """The second level of sum, max and min: 16 lanes in memory that take the partials of the
    blocks in order.

    An argmax needs none: which element wins does not depend on the order, so `Fold.take` keeps one
    state.
    """

    def __init__(self, function: Function, fold: Fold) -> None:
        self.function = function
        self.fold = fold
        self.array = function.array(fold.dtype, LANES)

    def clear(self) -> None:
        fold = self.fold
        self.function.store(constant(fold.identity, fold.dtype, LANES), self.array)

    def take(self, block: Value, partial: Value) -> None:
        """Merge the partial of this block into its lane."""
        function, fold = self.function, self.fold
        lane = function.binary("and", block, integer(LANES - 1))
        place = function.offset(self.array, lane, fold.dtype)
        (merged,) = fold.merge(function, [function.load(place, fold.dtype)], [partial])
        function.store(merged, place)

    def result(self) -> Value:
        lanes = self.function.load(self.array, self.fold.dtype, LANES)
        (result,) = fold_lanes(self.function, self.fold, [[lanes]])
        return result
