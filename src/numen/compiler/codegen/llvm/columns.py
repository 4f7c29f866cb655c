"""Reductions across the vectors: neighbouring output points side by side, the reduced axis walked
row by row.

Used where the last parallel axis is the closest in memory (a sum over axis 0). A strip of columns
keeps its 16 lanes of accumulators in first-level cache; row i of a block is merged into lane i %
16 of every column. Each step is a sweep along the strip. Called by `kernels.py`. Next:
`combine.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from numen.compiler.codegen.llvm.folds import Fold, State
from numen.compiler.codegen.llvm.frame import Frame, lines
from numen.compiler.codegen.llvm.ir import Function, Value, integer
from numen.compiler.codegen.llvm.maps import stream_along
from numen.compiler.codegen.llvm.rows import absolute_position, block_count, folds_of
from numen.compiler.codegen.llvm.scope import Scope, Shape
from numen.compiler.codegen.llvm.streams import Stream
from numen.compiler.codegen.llvm.strips import (
    Accumulators,
    accumulators_of,
    over_strip,
    strip_columns,
)
from numen.compiler.codegen.llvm.sweep import sweep
from numen.compiler.nest import BLOCK, LANES, Nest
from numen.compiler.scalar import ITEMSIZE

NARROW_BYTES = 20 << 10
"""Accumulators that stay in first-level cache whatever the order of the rows."""

PREFETCHED_ROWS = 8
"""How many rows ahead memory is asked for."""


def suits_columns(nest: Nest) -> bool:
    """Whether the loads that vary along the reduced axis are neighbours along the last parallel
    one instead.
    """
    if nest.rank < 2:
        return False
    shape = Shape(nest)
    operands = [nest.buffers[b] for b in shape.loaded(shape.inside)]
    along = [b.strides[-2] for b in operands]
    big = [b.strides[-2] == "1" and b.strides[-1] == "s" for b in operands]
    return any(big) and "s" not in along


@dataclass
class Columns:
    """One kernel being written."""

    function: Function
    nest: Nest
    shape: Shape
    frame: Frame
    folds: list[Fold]
    inner: list[int]
    width: int
    first: list[Accumulators]
    second: list[Accumulators]

    @property
    def narrow(self) -> int:
        """Columns whose lanes fit first-level cache beside what is read."""
        dtypes = [dtype for fold in self.folds for dtype in fold.block_dtypes]
        return NARROW_BYTES // (LANES * sum(ITEMSIZE[dtype] for dtype in dtypes))

    @property
    def reduced(self) -> int:
        return self.shape.last

    @property
    def column(self) -> int:
        return self.shape.last - 1

    def block(self, scope: Scope, strip: Value, count: Value, low: Value, high: Value) -> None:
        """Reduce rows [low, high), one block, of the columns [strip, strip + count) into lane 0 of
        `first`.
        """
        function = self.function
        rows = function.subtract(high, low)
        lanes = function.maximum(function.minimum(rows, integer(LANES)), integer(1))
        empty = function.compare("icmp eq", rows, integer(0))
        for accumulators in self.first:
            accumulators.clear(function, lanes, count, empty)
        # Lane after lane where all 16 would not stay in first-level cache, else row after row.
        wide = function.compare("icmp sgt", count, integer(self.narrow))
        passes = function.select(wide, lanes, integer(1))
        step = function.select(wide, integer(LANES), integer(1))
        with function.loop(integer(0), passes) as outer:
            left = function.subtract(function.add(rows, step), function.add(outer.index, 1))
            turns = function.binary("udiv", left, step)
            with function.loop(integer(0), turns) as loop:
                number = function.add(outer.index, function.multiply(loop.index, step))
                index = function.add(low, number)
                row = scope.inner({self.reduced: index, self.column: strip})
                self.row(row, strip, count, number)
        for accumulators in self.first:
            accumulators.fold_lanes(function, lanes, count)

    def row(self, scope: Scope, strip: Value, count: Value, number: Value) -> None:
        """Merge one row into its lane."""
        function, shape = self.function, self.shape
        known = [axis for axis in range(shape.last + 1) if axis != self.column]
        scope.compute(shape.within(shape.inside, known))
        arguments = [self.nest.body[i].args[0] for i in shape.reduces]
        scope.spread(self.inner, arguments, self.width)
        buffers = shape.loaded(self.inner)
        lane = function.binary("and", number, integer(LANES - 1))
        states = [accumulators.lane(function, lane) for accumulators in self.first]
        flat = [stream for state in states for stream in state]

        sources = [stream_along(self.frame, b, self.column, scope) for b in buffers]

        def body(index: Value, width: int, loaded: Sequence[Value]) -> list[Value]:
            if width > 1:
                self.prefetch(buffers, sources, index)
            point = scope.inner({self.column: function.add(strip, index)})
            point.compute(self.inner, width, dict(zip(buffers, loaded, strict=False)))
            left = iter(loaded[len(buffers) :])
            after: list[Value] = []
            for fold, argument in zip(self.folds, arguments, strict=True):
                state: State = [next(left) for _ in fold.block_dtypes]
                position = self.position(fold, number, width)
                after += fold.take(function, state, point.get(argument, width), position)
            return after

        sweep(
            function,
            integer(0),
            count,
            [*sources, *flat],
            flat,
            body,
            width=self.width,
            heavy=shape.heavy(self.inner),
        )

    def prefetch(self, buffers: Sequence[int], sources: Sequence[Stream], index: Value) -> None:
        """Ask for the same columns a few rows on: a strip is too short for the hardware to see a
        stream.
        """
        function = self.function
        for buffer, source in zip(buffers, sources, strict=True):
            stride = self.frame.stride(buffer, self.reduced)
            if source.stride is None and stride is not None:
                ahead = function.multiply(stride, PREFETCHED_ROWS)
                function.prefetch(function.offset(source.address(function, index), ahead))

    def position(self, fold: Fold, number: Value, width: int) -> Value:
        if not fold.has_position:
            return number
        if fold.position_dtype != "int64":
            number = self.function.convert("trunc", number, fold.position_dtype)
        return self.function.splat(number, width)

    def add_to_second(self, block: Value, start: Value, count: Value) -> None:
        """Merge the block's result into the second level: its lane there, or the one state of an
        argmax.
        """
        function = self.function
        for first, second in zip(self.first, self.second, strict=True):
            fold, other = first.fold, first.lane(function, integer(0))
            if fold.has_position:
                into = second.lane(function, integer(0))
            else:
                lane = function.binary("and", block, integer(LANES - 1))
                into = second.lane(function, lane)

            def step(loaded: list[Value], fold: Fold = fold) -> list[Value]:
                if not fold.has_position:
                    return fold.merge(function, loaded[:1], loaded[1:])
                position = absolute_position(function, loaded[3], start)
                return fold.take(function, loaded[:2], loaded[2], position)

            over_strip(function, count, [*into, *other], into, step)

    def single(self, scope: Scope, strip: Value, count: Value, extent: Value) -> None:
        """All blocks of a strip, the second level where there are several, and the stores."""
        function = self.function
        blocks = function.maximum(block_count(function, extent), integer(1))
        several = function.compare("icmp sgt", blocks, integer(1))
        if any(fold.has_position for fold in self.folds):
            several = Value("true", "bool")  # positions are absolute only in the second level
        lanes = function.minimum(blocks, integer(LANES))

        def clear() -> list[Value]:
            for accumulators in self.second:
                used = integer(1) if accumulators.fold.has_position else lanes
                accumulators.clear(function, used, count, Value("false", "bool"))
            return []

        def fold() -> list[Value]:
            for accumulators in self.second:
                if not accumulators.fold.has_position:
                    accumulators.fold_lanes(function, lanes, count)
            return []

        function.choose(several, clear)
        with function.loop(integer(0), blocks) as loop:
            start = function.multiply(loop.index, BLOCK)
            stop = function.minimum(function.add(start, BLOCK), extent)
            self.block(scope, strip, count, start, stop)

            def take() -> list[Value]:
                self.add_to_second(loop.index, start, count)
                return []

            function.choose(several, take)
        function.choose(several, fold)
        results: list[Stream] = []
        for first, second in zip(self.first, self.second, strict=True):
            pointer = function.select(several, second.arrays[-1], first.arrays[-1])
            results.append(Stream(pointer, second.dtypes[-1]))
        self.store(scope, strip, count, results)

    def store(self, scope: Scope, strip: Value, count: Value, results: Sequence[Stream]) -> None:
        """Compute what stands after the reductions and store it, for each column of the strip."""
        shape, function = self.shape, self.function
        outside = shape.beyond(shape.epilogue, range(self.column))
        buffers = shape.loaded(outside)
        here = scope.inner({self.column: strip})
        outputs = [
            stream_along(self.frame, store.buffer, self.column, here) for store in self.nest.stores
        ]
        width = min(shape.width([*outside, *shape.reduces]), LANES)
        here.spread(outside, (store.value for store in self.nest.stores), width)

        def body(index: Value, lanes: int, loaded: Sequence[Value]) -> list[Value]:
            point = here.inner({self.column: function.add(strip, index)})
            for position, value in zip(shape.reduces, loaded[len(buffers) :], strict=True):
                point.define(position, value)
            point.compute(outside, lanes, dict(zip(buffers, loaded, strict=False)))
            return [point.get(store.value, lanes) for store in self.nest.stores]

        sweep(
            function,
            integer(0),
            count,
            [*(stream_along(self.frame, b, self.column, here) for b in buffers), *results],
            outputs,
            body,
            width=width,
            heavy=shape.heavy(outside),
        )

    def store_partials(self, unit: Value, total: Value, start: Value, count: Value) -> None:
        """Write the block's results: reduce r of a unit at item r * total + unit, 8 bytes each."""
        function = self.function
        for number, accumulators in enumerate(self.first):
            fold = accumulators.fold
            item = function.add(function.multiply(total, number), unit) if number else unit
            address = self.frame.scratch_item(item)
            dtype = fold.partial_dtypes[-1]
            source = accumulators.lane(function, integer(0))[-1]

            def step(
                index: Value, width: int, loaded: Sequence[Value], fold: Fold = fold
            ) -> list[Value]:
                if fold.has_position:
                    return [absolute_position(function, loaded[0], start)]
                return list(loaded)

            target = Stream(address, dtype, integer(8))
            sweep(function, integer(0), count, [source], [target], step, width=self.width)


def emit_columns(function: Function, nest: Nest, variant: str, width: int | None) -> None:
    """Write the "single" or the "partial" kernel."""
    frame = Frame(function, nest)
    low, high = frame.chunk()
    columns = _columns(function, nest, frame, variant, width)
    shape = columns.shape
    extent = frame.extents[-1]
    top = Scope(shape, frame, {})
    top.compute(shape.within([*shape.inside, *shape.epilogue], ()))
    blocks = block_count(function, extent)
    total = function.multiply(frame.product(range(shape.last)), blocks)
    space = [blocks, *frame.extents[:-1]] if variant == "partial" else frame.extents[:-1]
    size = columns.first[0].columns
    with lines(function, low, high, space) as (indices, left, right, begin):
        block, point = (indices[0], indices[1:]) if variant == "partial" else (None, indices)
        scope = top.inner(dict(enumerate(point)))
        scope.compute(shape.within([*shape.inside, *shape.epilogue], range(columns.column)))
        with function.loop(left, right, size) as loop:
            strip = loop.index
            count = function.minimum(function.subtract(right, strip), integer(size))
            if block is None:
                columns.single(scope, strip, count, extent)
            else:
                start = function.multiply(block, BLOCK)
                stop = function.minimum(function.add(start, BLOCK), extent)
                columns.block(scope, strip, count, start, stop)
                columns.store_partials(function.add(begin, strip), total, start, count)


def _columns(
    function: Function, nest: Nest, frame: Frame, variant: str, width: int | None
) -> Columns:
    shape = Shape(nest)
    folds = folds_of(nest, shape)
    column = shape.last - 1
    known = [axis for axis in range(nest.rank) if axis != column]
    inner = shape.beyond(shape.inside, known)
    dtypes = [dtype for fold in folds for dtype in fold.block_dtypes]
    lanes = width or min(shape.width(inner, dtypes), LANES)
    size = strip_columns(dtypes)
    first = [accumulators_of(function, fold, fold.block_dtypes, size, LANES) for fold in folds]
    second: list[Accumulators] = []
    if variant == "single":
        for fold in folds:
            count = 1 if fold.has_position else LANES
            second.append(accumulators_of(function, fold, fold.partial_dtypes, size, count))
    return Columns(function, nest, shape, frame, folds, inner, lanes, first, second)
