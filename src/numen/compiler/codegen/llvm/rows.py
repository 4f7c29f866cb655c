"""Reductions along the vectors: the 16 lanes of one output point are the lanes of a vector
accumulator.

One output point (or, for "partial", one block of one point) after the other. Used where the
reduced axis is the closest in memory, and where nothing better is known. Called by `kernels.py`.
Next: `combine.py`, the second step of a reduction that is split over blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from numen.compiler.codegen.llvm.folds import Fold, LaneArray, State, fold_lanes, shifted_iota
from numen.compiler.codegen.llvm.frame import Frame, points, position
from numen.compiler.codegen.llvm.ir import Function, Value, constant, integer
from numen.compiler.codegen.llvm.maps import stream_along
from numen.compiler.codegen.llvm.scope import Scope, Shape
from numen.compiler.codegen.llvm.streams import Stream, lane_mask, load_partial, load_whole
from numen.compiler.nest import BLOCK, LANES, Nest


def folds_of(nest: Nest, shape: Shape) -> list[Fold]:
    """One for each "reduce" instruction, in body order."""
    return [
        Fold(str(nest.body[i].attr), nest.body[nest.body[i].args[0]].dtype) for i in shape.reduces
    ]


def block_count(function: Function, extent: Value) -> Value:
    """Blocks of a reduced axis of this extent."""
    rounded = function.add(extent, BLOCK - 1)
    return function.binary("lshr", rounded, integer(BLOCK.bit_length() - 1))


@dataclass
class Rows:
    """One kernel being written."""

    function: Function
    nest: Nest
    shape: Shape
    frame: Frame
    folds: list[Fold]
    inner: list[int]
    width: int

    def partials(self, scope: Scope, low: Value, high: Value) -> list[State]:
        """Write the reduction of elements [low, high), one block, at the scope's point."""
        function = self.function
        buffers = self.shape.loaded(self.inner)
        streams = [stream_along(self.frame, b, self.shape.last, scope) for b in buffers]
        states = [
            fold.first_state(self.width, first)
            for fold in self.folds
            for first in range(0, LANES, self.width)
        ]
        group = _Group(self, scope, buffers, streams, low)
        if self.shape.heavy(self.inner):
            with function.loop(low, high, LANES, _flat(states)) as loop:
                count = function.minimum(function.subtract(high, loop.index), integer(LANES))
                loop.next = _flat(group.any(loop.index, count, _like(loop.state, states)))
            states = _like(loop.results, states)
        else:
            left = function.binary("and", function.subtract(high, low), integer(LANES - 1))
            middle = function.subtract(high, left)
            with function.loop(low, middle, LANES, _flat(states)) as loop:
                loop.next = _flat(group.whole(loop.index, _like(loop.state, states)))
            whole = _like(loop.results, states)
            some = function.compare("icmp ne", left, integer(0))
            merged = function.choose(
                some,
                lambda: _flat(group.partial(middle, left, whole)),
                lambda: _flat(whole),
            )
            states = _like(merged, states)
        return [self._folded(fold, lanes, low) for fold, lanes in self._by_fold(states)]

    def _by_fold(self, states: Sequence[State]) -> list[tuple[Fold, Sequence[State]]]:
        each = LANES // self.width
        return [(fold, states[i * each : (i + 1) * each]) for i, fold in enumerate(self.folds)]

    def _folded(self, fold: Fold, lanes: Sequence[State], low: Value) -> State:
        state = fold_lanes(self.function, fold, lanes)
        if fold.has_position:
            state[1] = absolute_position(self.function, state[1], low)
        return state


@dataclass
class _Group:
    """The loop body: 16 neighbouring elements of the reduced axis, one for each lane."""

    rows: Rows
    scope: Scope
    buffers: list[int]
    streams: list[Stream]
    block: Value

    def whole(self, index: Value, states: Sequence[State]) -> list[State]:
        return self._take(index, self._whole_loads(index), states, None)

    def partial(self, index: Value, count: Value, states: Sequence[State]) -> list[State]:
        return self._take(index, self._partial_loads(index, count), states, count)

    def any(self, index: Value, count: Value, states: Sequence[State]) -> list[State]:
        function = self.rows.function
        whole = function.compare("icmp eq", count, integer(LANES))
        loads = function.choose(
            whole,
            lambda: self._whole_loads(index),
            lambda: self._partial_loads(index, count),
        )
        return self._take(index, loads, states, count)

    def _firsts(self) -> range:
        return range(0, LANES, self.rows.width)

    def _whole_loads(self, index: Value) -> list[Value]:
        function = self.rows.function
        return [
            load_whole(function, stream, function.add(index, first), self.rows.width)
            for first in self._firsts()
            for stream in self.streams
        ]

    def _partial_loads(self, index: Value, count: Value) -> list[Value]:
        rows = self.rows
        return load_partial(rows.function, self.streams, index, count, rows.width, LANES)

    def _take(
        self,
        index: Value,
        loads: Sequence[Value],
        states: Sequence[State],
        count: Value | None,
    ) -> list[State]:
        rows, function = self.rows, self.rows.function
        after: dict[tuple[int, int], State] = {}
        each = len(self.buffers)
        for part, first in enumerate(self._firsts()):
            point = self.scope.inner({rows.shape.last: function.add(index, first)})
            loaded = dict(zip(self.buffers, loads[part * each : (part + 1) * each], strict=True))
            point.compute(rows.inner, rows.width, loaded)
            for number, (fold, lanes) in enumerate(rows._by_fold(states)):
                argument = rows.nest.body[rows.shape.reduces[number]].args[0]
                element = point.get(argument, rows.width)
                if count is not None:
                    element = self._masked(fold, element, first, count)
                position = self._position(fold, index, first)
                after[number, part] = fold.take(function, lanes[part], element, position)
        return [after[key] for key in sorted(after)]

    def _masked(self, fold: Fold, element: Value, first: int, count: Value) -> Value:
        """Lanes at and beyond `count` get the identity, which changes nothing."""
        function, width = self.rows.function, self.rows.width
        taken = lane_mask(function, count, first, width)
        return function.select(taken, element, constant(fold.identity, fold.dtype, width))

    def _position(self, fold: Fold, index: Value, first: int) -> Value:
        """Each lane's element as a position in its block; only argmax asks."""
        if not fold.has_position:
            return index
        function, width = self.rows.function, self.rows.width
        start = function.subtract(index, self.block)
        if fold.position_dtype != "int64":
            start = function.convert("trunc", start, fold.position_dtype)
        lanes = shifted_iota(fold.position_dtype, width, first)
        return function.binary("add", function.splat(start, width), lanes)


def absolute_position(function: Function, position: Value, block: Value) -> Value:
    """A position inside a block as an index of the reduced axis."""
    if position.dtype != "int64":
        position = function.convert("sext", position, "int64")
    start = function.splat(block, position.width)
    return function.binary("add", start, position)


def emit_rows(function: Function, nest: Nest, variant: str, width: int | None) -> None:
    """Write the "single" or the "partial" kernel."""
    shape = Shape(nest)
    frame = Frame(function, nest)
    low, high = frame.chunk()
    parallel = range(shape.last)
    inner = shape.beyond(shape.inside, parallel)
    lanes = width or min(shape.width(inner, _reduced_dtypes(nest, shape)), LANES)
    rows = Rows(function, nest, shape, frame, folds_of(nest, shape), inner, lanes)
    top = Scope(shape, frame, {})
    top.compute(shape.within([*shape.inside, *shape.epilogue], ()))
    top.spread(inner, _arguments(nest, shape), lanes)
    extent = frame.extents[shape.last]
    blocks = block_count(function, extent)
    outer = [frame.extents[axis] for axis in parallel]
    if variant == "single":
        second = [lane_array(function, fold) for fold in rows.folds]
        with points(function, low, high, outer) as indices:
            scope = _at(rows, top, indices)
            _store_point(rows, scope, _all_blocks(rows, scope, second, blocks, extent))
    else:
        total = function.multiply(frame.product(parallel), blocks)
        with points(function, low, high, [blocks, *outer]) as (block, *indices):
            scope = _at(rows, top, indices)
            start = function.multiply(block, BLOCK)
            stop = function.minimum(function.add(start, BLOCK), extent)
            states = rows.partials(scope, start, stop)
            unit = position(function, [block, *indices], [blocks, *outer])
            store_partials(frame, states, unit, total)


def _at(rows: Rows, top: Scope, indices: Sequence[Value]) -> Scope:
    """A scope at an output point, with all that does not vary along the reduced axis."""
    shape = rows.shape
    scope = top.inner(dict(enumerate(indices)))
    scope.compute(shape.within([*shape.inside, *shape.epilogue], range(shape.last)))
    scope.spread(rows.inner, _arguments(rows.nest, shape), rows.width)
    return scope


def lane_array(function: Function, fold: Fold) -> LaneArray | None:
    return None if fold.has_position else LaneArray(function, fold)


def _all_blocks(
    rows: Rows, scope: Scope, second: Sequence[LaneArray | None], blocks: Value, extent: Value
) -> list[State]:
    """The blocks in order; more than one go through the second level."""
    function = rows.function
    several = function.compare("icmp sgt", blocks, integer(1))

    def clear() -> list[Value]:
        for lanes in second:
            if lanes is not None:
                lanes.clear()
        return []

    def take() -> list[Value]:
        for lanes, state in zip(second, states, strict=True):
            if lanes is not None:
                lanes.take(loop.index, state[0])
        return []

    function.choose(several, clear)
    empty = [fold.empty_result() for fold in rows.folds]
    with function.loop(integer(0), blocks, 1, _flat(empty)) as loop:
        start = function.multiply(loop.index, BLOCK)
        stop = function.minimum(function.add(start, BLOCK), extent)
        states = rows.partials(scope, start, stop)
        function.choose(several, take)
        before = _like(loop.state, empty)
        for number, fold in enumerate(rows.folds):
            if fold.has_position:
                states[number] = fold.take(function, before[number], *states[number])
        loop.next = _flat(states)
    single = _like(loop.results, empty)
    folded = function.choose(
        several,
        lambda: [lanes.result() for lanes in second if lanes is not None],
        lambda: [s[0] for s, lanes in zip(single, second, strict=True) if lanes is not None],
    )
    left = iter(folded)
    return [s if lanes is None else [next(left)] for s, lanes in zip(single, second, strict=True)]


def _store_point(rows: Rows, scope: Scope, states: Sequence[State]) -> None:
    for number, state in zip(rows.shape.reduces, states, strict=True):
        scope.define(number, state[-1])
    store_epilogue(scope)


def store_epilogue(scope: Scope) -> None:
    """Compute what stands after the reductions, as scalars, and store it at the scope's point."""
    shape = scope.shape
    scope.compute(shape.beyond(shape.epilogue, range(shape.last)))
    for store in shape.nest.stores:
        address = scope.frame.address(store.buffer, scope.point)
        scope.function.store(scope.get(store.value, 1), address)


def store_partials(frame: Frame, states: Sequence[State], unit: Value, total: Value) -> None:
    """Write a unit's partials: reduce r at item r * total + unit, items of 8 bytes; of argmax the
    position.
    """
    function = frame.function
    for number, state in enumerate(states):
        item = function.add(function.multiply(total, number) if number else integer(0), unit)
        function.store(state[-1], frame.scratch_item(item))


def _arguments(nest: Nest, shape: Shape) -> list[int]:
    return [nest.body[i].args[0] for i in shape.reduces]


def _reduced_dtypes(nest: Nest, shape: Shape) -> list[str]:
    return [nest.body[i].dtype for i in _arguments(nest, shape)]


def _flat(states: Sequence[State]) -> list[Value]:
    return [value for state in states for value in state]


def _like(values: Sequence[Value], states: Sequence[State]) -> list[State]:
    """The values of `_flat`, grouped again."""
    left = iter(values)
    return [[next(left) for _ in state] for state in states]
