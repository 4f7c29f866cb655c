"""A loop along one axis that loads items of some streams, computes, and stores items of others.

`sweep` picks the form: whole vectors and then single items for a light body; for a heavy one, vectors only, the last
one partial, so that the body's code exists once; single items where a light body has strided streams. Every element
sees the same operations in each form. Called by `maps.py` and `columns.py`; `rows.py` uses the loads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from numen.compiler.codegen.llvm.ir import Function, Value, constant, integer, memory_dtype


@dataclass(frozen=True)
class Stream:
    """Items along an axis: where item 0 lies, their dtype, and the byte stride (None: neighbours)."""

    pointer: Value
    dtype: str
    stride: Value | None = None

    def address(self, function: Function, index: Value) -> Value:
        if self.stride is None:
            return function.offset(self.pointer, index, self.dtype)
        return function.offset(self.pointer, function.multiply(index, self.stride))


Body = Callable[[Value, int, Sequence[Value]], Sequence[Value]]
"""body(index of the first item, width, one value per input) -> one value per output."""


def sweep(
    function: Function,
    low: Value,
    high: Value,
    inputs: Sequence[Stream],
    outputs: Sequence[Stream],
    body: Body,
    *,
    width: int,
    heavy: bool = False,
    padded: bool = False,
) -> None:
    """Run `body` over the items [low, high) of the streams.

    All loads of a turn come before its stores, so an output may be the memory of an input item for item.
    padded: the streams may be read and written up to the next multiple of the width; whole vectors then suffice.
    """
    strided = any(s.stride is not None for s in (*inputs, *outputs))
    if heavy:
        _whole_and_partial(function, low, high, inputs, outputs, body, width)
    elif strided:
        _plain(function, low, high, 1, inputs, outputs, body)
    elif padded:
        _plain(function, low, high, width, inputs, outputs, body)
    else:
        # A vector of 16 items is two or four instructions wide already; unrolling further gained nothing.
        covered = function.binary("and", function.subtract(high, low), integer(-width))
        middle = function.opaque(function.add(low, covered))
        _plain(function, low, middle, width, inputs, outputs, body)
        _plain(function, middle, high, 1, inputs, outputs, body)


def _plain(
    function: Function,
    low: Value,
    high: Value,
    width: int,
    inputs: Sequence[Stream],
    outputs: Sequence[Stream],
    body: Body,
) -> None:
    with function.loop(low, high, width) as loop:
        loaded = [load_whole(function, stream, loop.index, width) for stream in inputs]
        for stream, value in zip(outputs, body(loop.index, width, loaded), strict=True):
            function.store(value, stream.address(function, loop.index))


def _whole_and_partial(
    function: Function,
    low: Value,
    high: Value,
    inputs: Sequence[Stream],
    outputs: Sequence[Stream],
    body: Body,
    width: int,
) -> None:
    arrays = [function.array(stream.dtype, width) for stream in (*inputs, *outputs)]
    sources, targets = arrays[: len(inputs)], arrays[len(inputs) :]
    scattered = any(stream.stride is not None for stream in outputs)
    with function.loop(low, high, width) as loop:
        index = loop.index
        left = function.minimum(function.subtract(high, index), integer(width))
        whole = function.compare("icmp eq", left, integer(width))

        def load_all() -> list[Value]:
            return [load_whole(function, stream, index, width) for stream in inputs]

        def load_some() -> list[Value]:
            copy_in(function, inputs, sources, index, left, width)
            return [
                function.load(array, stream.dtype, width)
                for stream, array in zip(inputs, sources, strict=True)
            ]

        def store_all() -> list[Value]:
            for stream, result in zip(outputs, results, strict=True):
                function.store(result, stream.address(function, index))
            return []

        def store_some() -> list[Value]:
            for result, array in zip(results, targets, strict=True):
                function.store(result, array)
            with function.loop(integer(0), left) as items:
                for stream, array in zip(outputs, targets, strict=True):
                    kind = memory_dtype(stream.dtype)
                    item = function.load(function.offset(array, items.index, kind), kind)
                    place = function.add(index, items.index)
                    function.store(item, stream.address(function, place))
            return []

        loaded = function.choose(whole, load_all, load_some)
        results = list(body(index, width, loaded))
        if scattered:
            store_some()
        else:
            function.choose(whole, store_all, store_some)


def load_whole(function: Function, stream: Stream, index: Value, width: int) -> Value:
    """`width` items from `index` on; strided ones are gathered one by one."""
    address = stream.address(function, index)
    if stream.stride is None or width == 1:
        return function.load(address, stream.dtype, width)
    kind = memory_dtype(stream.dtype)
    gathered = Value("poison", kind, width)
    for lane in range(width):
        gathered = function.insert(gathered, function.load(address, kind), lane)
        if lane + 1 < width:
            address = function.offset(address, stream.stride)
    if stream.dtype == "bool":
        return function.compare("icmp ne", gathered, constant(0, kind, width))
    return gathered


def copy_in(
    function: Function,
    streams: Sequence[Stream],
    arrays: Sequence[Value],
    index: Value,
    count: Value,
    capacity: int,
) -> None:
    """Copy `count` items from `index` on into arrays of `capacity` items; the rest becomes zero."""
    for stream, array in zip(streams, arrays, strict=True):
        function.store(constant(0, memory_dtype(stream.dtype), capacity), array)
    with function.loop(integer(0), count) as items:
        for stream, array in zip(streams, arrays, strict=True):
            kind = memory_dtype(stream.dtype)
            place = function.add(index, items.index)
            item = function.load(stream.address(function, place), kind)
            function.store(item, function.offset(array, items.index, kind))
