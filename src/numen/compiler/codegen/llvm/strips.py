"""The memory of a reduction across the vectors: 16 lanes of accumulators for a strip of columns.

`columns.py` walks the rows and merges each into its lane; clearing the lanes and folding them is
here, as helper functions beside the kernel. Next: `combine.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from numen.compiler.codegen.llvm import scalar
from numen.compiler.codegen.llvm.folds import Fold
from numen.compiler.codegen.llvm.ir import Function, Value, constant, integer
from numen.compiler.codegen.llvm.streams import Stream
from numen.compiler.codegen.llvm.sweep import sweep
from numen.compiler.nest import LANES
from numen.compiler.scalar import ITEMSIZE

STRIP_BYTES = 4096
"""Bytes of one lane of a strip. 16 of them fit second-level caches; shorter rows would leave memory
idle.
"""

MULTIPLE = 32
"""Strips hold a multiple of this many columns: whole vectors of any width."""

LANE_GAP = 32
"""Columns left unused after each lane, so that the lanes of a column share no set of the cache."""


def strip_columns(dtypes: Sequence[str]) -> int:
    """Columns of a strip whose states have parts of these dtypes."""
    room = STRIP_BYTES // sum(ITEMSIZE[dtype] for dtype in dtypes)
    return max(room // MULTIPLE * MULTIPLE, MULTIPLE)


def accumulators_of(
    function: Function, fold: Fold, dtypes: Sequence[str], columns: int, lanes: int
) -> Accumulators:
    """New memory for so many lanes of a reduction."""
    arrays = [function.array(dtype, lanes * (columns + LANE_GAP)) for dtype in dtypes]
    return Accumulators(fold, dtypes, columns, arrays)


class Accumulators:
    """Lanes of states for every column of a strip, in memory: one array for each part of the
    state.
    """

    def __init__(
        self, fold: Fold, dtypes: Sequence[str], columns: int, arrays: Sequence[Value]
    ) -> None:
        self.fold = fold
        self.dtypes = tuple(dtypes)
        self.columns = columns
        self.arrays = list(arrays)

    def lane(self, function: Function, lane: Value) -> list[Stream]:
        start = function.multiply(lane, self.columns + LANE_GAP)
        return [
            Stream(function.opaque(function.offset(array, start, dtype)), dtype)
            for array, dtype in zip(self.arrays, self.dtypes, strict=True)
        ]

    def clear(self, function: Function, lanes: Value, count: Value, empty: Value) -> None:
        """Set the first `lanes` lanes to the identity, or to +0 for the sum of nothing."""
        self._invoke(function, "clear", self._write_clear, [lanes, count, empty])

    def fold_lanes(self, function: Function, lanes: Value, count: Value) -> None:
        """Merge the first `lanes` lanes by halves into lane 0; the others hold identities and
        change nothing.
        """
        self._invoke(function, "fold", self._write_fold, [lanes, count])

    def _invoke(
        self,
        function: Function,
        role: str,
        write: Callable[[Function, Accumulators, list[Value]], None],
        arguments: Sequence[Value],
    ) -> None:
        name = ".".join([role, self.fold.kind, *self.dtypes])

        def write_helper(helper: Function, parameters: list[Value]) -> None:
            arrays, rest = parameters[: len(self.arrays)], parameters[len(self.arrays) :]
            write(helper, Accumulators(self.fold, self.dtypes, self.columns, arrays), rest)

        function.invoke(name, [*self.arrays, *arguments], write_helper)

    @staticmethod
    def _write_clear(function: Function, own: Accumulators, arguments: list[Value]) -> None:
        lanes, count, empty = arguments
        fold, width = own.fold, strip_width(own.dtypes)
        value = constant(fold.identity, fold.dtype, width)
        if fold.kind == "sum":
            plus_zero = constant(0, fold.dtype, width)
            value = function.select(function.splat(empty, width), plus_zero, value)
        with function.loop(integer(0), lanes) as loop:
            state = [value]
            if fold.has_position:
                position = scalar.write(function, "cast", own.dtypes[1], [loop.index])
                state.append(function.splat(position, width))
            over_strip(function, count, [], own.lane(function, loop.index), lambda _: state)

    @staticmethod
    def _write_fold(function: Function, own: Accumulators, arguments: list[Value]) -> None:
        lanes, count = arguments
        parts = len(own.arrays)
        with function.loop(integer(0), integer(LANES.bit_length() - 1)) as level:
            half = function.binary("lshr", integer(LANES // 2), level.index)
            present = function.minimum(lanes, function.add(half, half))
            with function.loop(integer(0), function.subtract(present, half)) as loop:
                into = own.lane(function, loop.index)
                other = own.lane(function, function.add(loop.index, half))
                over_strip(
                    function,
                    count,
                    [*into, *other],
                    into,
                    lambda loaded: own.fold.merge(function, loaded[:parts], loaded[parts:]),
                )


def strip_width(dtypes: Sequence[str]) -> int:
    return 8 if max(ITEMSIZE[dtype] for dtype in dtypes) == 8 else LANES


def over_strip(
    function: Function,
    count: Value,
    inputs: Sequence[Stream],
    outputs: Sequence[Stream],
    step: Callable[[list[Value]], list[Value]],
) -> None:
    """A sweep over a strip's own arrays, which have room for whole vectors."""
    sweep(
        function,
        integer(0),
        count,
        inputs,
        outputs,
        lambda index, width, loaded: step(list(loaded)),
        width=strip_width([stream.dtype for stream in (*inputs, *outputs)]),
        padded=True,
    )
