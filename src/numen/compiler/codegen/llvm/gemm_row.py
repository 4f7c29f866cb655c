"""Products with one row of A: every column of B is read once, so memory decides, not arithmetic.

`gemm.py` adds the exported functions to its module, `gemm_plan.py` chooses by B's strides: `row`
where a row of B is contiguous, `dots` where a column is. A chunk computes some columns of C. The
sums are those of the tiled product: chains of fused multiply-adds over K blocks, in the order of k.
Next: `gemm_plan.py`.
"""

from __future__ import annotations

from collections.abc import Sequence

from numen.compiler.codegen.llvm import scalar
from numen.compiler.codegen.llvm.gemm_ir import Helper, call, compare, mask, unless, when
from numen.compiler.codegen.llvm.gemm_layout import (
    DEPTH,
    ITEM_BYTES,
    SLOTS,
    VECTOR_BYTES,
    function_name,
)
from numen.compiler.codegen.llvm.gemm_pack import GROUP_BYTES
from numen.compiler.codegen.llvm.ir import Function, Value, constant, integer
from numen.compiler.codegen.llvm.streams import Stream
from numen.compiler.codegen.llvm.sweep import sweep

STRIP_BYTES = 8192
"""Sums that `row` works on at a time; they stay in the first-level cache."""

ROWS = 8
"""Rows of B that one pass over the sums adds."""

UNITS = 2
"""Units that take turns in `dots`: enough chains of additions to hide their latency."""

UNIT_BYTES = 32
"""Size of a vector of `dots`: a unit is as many columns as it has lanes."""

LINE_BYTES = 64
"""What `dots` reads of a column before it turns to the next ones: a cache line."""

AHEAD_BYTES = 64
"""How far ahead `dots` asks for a column's memory."""

DOTS_PARAMS = (
    ("a", "ptr"),
    ("b", "ptr"),
    ("target", "ptr"),
    ("depth", "int64"),
    ("block", "int64"),
    ("blocks", "int64"),
    ("a_step", "int64"),
    ("lane", "int64"),
    ("units", "int64"),
)


def lanes_of(dtype: str) -> int:
    return VECTOR_BYTES // ITEM_BYTES[dtype]


class _Chunk:
    """What both functions read of the argument block."""

    def __init__(self, function: Function) -> None:
        self.function = function
        chunks = self.field("column_chunks")
        batch = function.binary("udiv", function.parameters[1], chunks)
        part = function.binary("urem", function.parameters[1], chunks)
        self.a, self.b, self.c = (
            function.offset(
                self.field(name, "ptr"), function.multiply(batch, self.field(f"{name}_batch"))
            )
            for name in "abc"
        )
        grain = self.field("column_grain")
        self.first = function.multiply(part, grain)
        self.last = function.minimum(function.add(self.first, grain), self.field("columns"))
        self.depth, self.block, self.blocks = map(self.field, ("depth", "block", "blocks"))
        self.a_step = self.field("a_step")

    def field(self, name: str, dtype: str = "int64") -> Value:
        function = self.function
        return function.load(
            function.offset(function.parameters[0], integer(8 * SLOTS[name])), dtype
        )


def emit_row(dtype: str) -> Function:
    """Exported: rows of B are contiguous; a few of them at a time are added to the sums."""
    function = Function(function_name(dtype, "row"))
    chunk, item = _Chunk(function), ITEM_BYTES[dtype]
    b_step = chunk.field("b_step")
    strip_columns = STRIP_BYTES // item
    sums = Stream(function.array(dtype, strip_columns), dtype)
    with function.loop(chunk.first, chunk.last, strip_columns) as strip:
        left = function.subtract(chunk.last, strip.index)
        count = function.minimum(left, integer(strip_columns))
        start = function.multiply(strip.index, item)
        c = Stream(function.offset(chunk.c, start), dtype)
        with function.loop(integer(0), chunk.blocks) as outer:
            k = function.multiply(outer.index, chunk.block)
            depth = function.minimum(function.subtract(chunk.depth, k), chunk.block)
            a = function.offset(chunk.a, function.multiply(k, chunk.a_step))
            b = function.offset(function.offset(chunk.b, start), function.multiply(k, b_step))
            _fill(function, sums, count)
            main = mask(function, depth, -ROWS)
            for low, high, rows in ((integer(0), main, ROWS), (main, depth, 1)):
                with function.loop(low, high, rows) as turn:
                    _add_rows(
                        function,
                        sums,
                        count,
                        function.offset(a, function.multiply(turn.index, chunk.a_step)),
                        function.offset(b, function.multiply(turn.index, b_step)),
                        (chunk.a_step, b_step, rows),
                    )
            again = compare(function, "ne", outer.index, 0)
            function.choose(
                again,
                lambda: _take(function, [c, sums], c, count),
                lambda: _take(function, [sums], c, count),
            )
    return function


def _fill(function: Function, sums: Stream, count: Value) -> None:
    """Set the sums to zero; they have room for whole vectors."""
    lanes = lanes_of(sums.dtype)
    zeros = constant(0.0, sums.dtype, lanes)
    sweep(function, integer(0), count, [], [sums], lambda *_: [zeros], width=lanes, padded=True)


def _add_rows(
    function: Function,
    sums: Stream,
    count: Value,
    a: Value,
    b: Value,
    steps: tuple[Value, Value, int],
) -> None:
    """sums = fma(a[k], B[k, :], sums) for some k, in order."""
    a_step, b_step, rows = steps
    dtype, lanes = sums.dtype, lanes_of(sums.dtype)
    factors: list[Value] = []
    streams: list[Stream] = []
    for _ in range(rows):
        factors.append(function.load(a, dtype))
        streams.append(Stream(b, dtype))
        a, b = function.offset(a, a_step), function.offset(b, b_step)
    spread = [function.splat(factor, lanes) for factor in factors]

    def body(index: Value, width: int, loaded: Sequence[Value]) -> list[Value]:
        total, *items = loaded
        for factor, element in zip(spread if width > 1 else factors, items, strict=True):
            total = scalar.write(function, "fma", dtype, [factor, element, total])
        return [total]

    sweep(function, integer(0), count, [sums, *streams], [sums], body, width=lanes)


def _take(function: Function, inputs: Sequence[Stream], c: Stream, count: Value) -> list[Value]:
    """c = the one input, or the sum of both."""

    def body(index: Value, width: int, loaded: Sequence[Value]) -> list[Value]:
        if len(loaded) == 1:
            return list(loaded)
        return [function.binary("fadd", *loaded)]

    sweep(function, integer(0), count, inputs, [c], body, width=lanes_of(c.dtype))
    return []


def dots_name(dtype: str) -> str:
    return f"gemm_{dtype}_dots_units"


def emit_dots(dtype: str) -> list[Function]:
    """Exported: columns of B are contiguous; they are turned in registers, a unit at a time.

    The last, partial unit starts early enough to end with B; what it computes again is not stored.
    """
    function = Function(function_name(dtype, "dots"))
    chunk, item = _Chunk(function), ITEM_BYTES[dtype]
    lanes = UNIT_BYTES // item
    lane = chunk.field("b_panel")
    spill = function.array(dtype, lanes)

    def dots(column: Value, target: Value, units: Value) -> None:
        b = function.offset(chunk.b, function.multiply(column, lane))
        extents = (chunk.depth, chunk.block, chunk.blocks)
        call(function, dots_name(dtype), chunk.a, b, target, *extents, chunk.a_step, lane, units)

    whole = mask(function, function.subtract(chunk.last, chunk.first), -lanes)
    past = function.add(chunk.first, whole)
    with function.loop(chunk.first, past, UNITS * lanes) as loop:
        left = function.binary("udiv", function.subtract(past, loop.index), integer(lanes))
        units = function.minimum(left, integer(UNITS))
        dots(loop.index, function.offset(chunk.c, loop.index, dtype), units)
    with when(function, compare(function, "sgt", chunk.last, past)):
        column = function.add(chunk.last, -lanes)
        dots(column, spill, integer(1))
        with function.loop(function.subtract(past, column), integer(lanes)) as loop:
            number = function.load(function.offset(spill, loop.index, dtype), dtype)
            place = function.add(column, loop.index)
            function.store(number, function.offset(chunk.c, place, dtype))
    return [_emit_units(dtype), function]


def _emit_units(dtype: str) -> Helper:
    """target[j] = sum over k of a[k] * B[k, j] for the columns of some units."""
    function = Helper(dots_name(dtype), DOTS_PARAMS)
    item = ITEM_BYTES[dtype]
    lanes = UNIT_BYTES // item
    units, target, a_step = function["units"], function["target"], function["a_step"]
    dots = _Dots(
        function, dtype, function.array(dtype, DEPTH), function.array(dtype, UNITS * lanes)
    )
    with function.loop(integer(0), function["blocks"]) as outer:
        k = function.multiply(outer.index, function["block"])
        depth = function.minimum(function.subtract(function["depth"], k), function["block"])
        a = function.offset(function["a"], function.multiply(k, a_step))
        b = function.offset(function["b"], function.multiply(k, item))
        with function.loop(integer(0), depth) as loop:
            place = function.offset(a, function.multiply(loop.index, a_step))
            factor = function.offset(dots.factors, loop.index, dtype)
            function.store(function.load(place, dtype), factor)
        with function.loop(integer(0), units) as loop:
            function.store(constant(0.0, dtype, lanes), dots.sum_of(loop.index))
        low = integer(0)
        for steps in (LINE_BYTES // item, dots.group, 1):
            high = mask(function, depth, -steps)
            with function.loop(low, high, steps) as along, function.loop(integer(0), units) as unit:
                dots.add(b, along.index, unit.index, steps)
            low = high
        again = compare(function, "ne", outer.index, 0)
        with function.loop(integer(0), units) as loop:
            total = function.load(dots.sum_of(loop.index), dtype, lanes)
            place = function.offset(target, function.multiply(loop.index, UNIT_BYTES))
            with when(function, again):
                old = function.load(place, dtype, lanes)
                function.store(function.binary("fadd", old, total), place)
            with unless(function, again):
                function.store(total, place)
    return function


class _Dots:
    """The loop body: a unit of columns takes some steps of k.

    Units take turns at every cache line of their columns: a chain of additions waits for itself, so
    several must be under way. `factors` and `sums` are arrays of A's block and of a strip's sums.
    """

    def __init__(self, function: Helper, dtype: str, factors: Value, sums: Value) -> None:
        self.function, self.dtype, self.item = function, dtype, ITEM_BYTES[dtype]
        self.factors, self.sums = factors, sums
        self.group = GROUP_BYTES // self.item
        self.lanes = UNIT_BYTES // self.item
        lane = function["lane"]
        self.columns = [function.multiply(lane, column) for column in range(self.group)]

    def sum_of(self, unit: Value) -> Value:
        return self.function.offset(self.sums, self.function.multiply(unit, UNIT_BYTES))

    def add(self, b: Value, k: Value, unit: Value, steps: int) -> None:
        function, dtype, lane = self.function, self.dtype, self.function["lane"]
        first = function.multiply(function.multiply(unit, self.lanes), lane)
        b = function.opaque(function.offset(function.offset(b, k, dtype), first))
        starts = [
            function.opaque(function.offset(b, function.multiply(lane, column)))
            for column in range(0, self.lanes, self.group)
        ]
        a = function.offset(self.factors, k, dtype)
        place = self.sum_of(unit)
        total = function.load(place, dtype, self.lanes)
        for step, elements in enumerate(self._elements(starts, steps)):
            factor = function.load(function.offset(a, integer(step * self.item)), dtype)
            operands = [function.splat(factor, self.lanes), elements, total]
            total = scalar.write(function, "fma", dtype, operands)
        function.store(total, place)
        if steps * self.item == LINE_BYTES:
            for start in starts:
                ahead = function.offset(start, integer(AHEAD_BYTES))
                for column in self.columns:
                    function.prefetch(function.offset(ahead, column))

    def _elements(self, starts: Sequence[Value], steps: int) -> list[Value]:
        """For each step of k the unit's elements of B."""
        function, dtype = self.function, self.dtype
        if steps == 1:
            vector = Value("poison", dtype, self.lanes)
            for lane in range(self.lanes):
                place = function.offset(starts[lane // self.group], self.columns[lane % self.group])
                vector = function.insert(vector, function.load(place, dtype), lane)
            return [vector]
        found: list[Value] = []
        for k in range(0, steps, self.group):
            places = [function.offset(start, integer(k * self.item)) for start in starts]
            rows = [_row_of_groups(function, dtype, places, column) for column in self.columns]
            found += turn_groups(function, rows)
        return found


def _row_of_groups(function: Function, dtype: str, starts: Sequence[Value], offset: Value) -> Value:
    """A vector whose groups come from several places, each `offset` bytes after a start."""
    group = GROUP_BYTES // ITEM_BYTES[dtype]
    parts = [function.load(function.offset(start, offset), dtype, group) for start in starts]
    while len(parts) > 1:
        parts = [
            _shuffle(function, low, high, range(2 * low.width))
            for low, high in zip(parts[::2], parts[1::2], strict=True)
        ]
    return parts[0]


def turn_groups(function: Function, rows: Sequence[Value]) -> list[Value]:
    """Turn the square in every group of lanes: rows[r] lane k becomes columns[k] lane r."""

    def mix(left: Value, right: Value, pattern: Sequence[int]) -> Value:
        group, lanes = len(rows), left.width
        picked = [
            start + entry if entry < group else lanes + start + entry - group
            for start in range(0, lanes, group)
            for entry in pattern
        ]
        return _shuffle(function, left, right, picked)

    if len(rows) == 2:
        return [mix(rows[0], rows[1], (k, 2 + k)) for k in range(2)]
    low, high = (0, 4, 1, 5), (2, 6, 3, 7)
    left = [mix(rows[0], rows[1], part) for part in (low, high)]
    right = [mix(rows[2], rows[3], part) for part in (low, high)]
    return [
        mix(left[half], right[half], part)
        for half in (0, 1)
        for part in ((0, 1, 4, 5), (2, 3, 6, 7))
    ]


def _shuffle(function: Function, left: Value, right: Value, lanes: Sequence[int]) -> Value:
    listed = ", ".join(f"i32 {lane}" for lane in lanes)
    text = f"shufflevector {left.typed}, {right.typed}, <{len(lanes)} x i32> <{listed}>"
    return function.value(left.dtype, len(lanes), text)
