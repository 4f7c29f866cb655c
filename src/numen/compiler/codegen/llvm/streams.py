"""Items of a buffer along an axis, and how vectors of them are read and written, whole or in part.

A part of a vector is masked where the processor can mask (neighbours of 4 or 8 bytes); other items
go through a small array, one by one. Called by `sweep.py` and `rows.py`, the loops over streams.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from numen.compiler.codegen.llvm.folds import shifted_iota
from numen.compiler.codegen.llvm.ir import Function, Value, constant, integer, memory_dtype
from numen.compiler.codegen.llvm.scalar import suffix
from numen.compiler.scalar import ITEMSIZE


@dataclass(frozen=True)
class Stream:
    """Items along an axis: where item 0 lies, the dtype, the byte stride (None: neighbours)."""

    pointer: Value
    dtype: str
    stride: Value | None = None

    @property
    def can_be_masked(self) -> bool:
        return self.stride is None and ITEMSIZE[self.dtype] >= 4

    def address(self, function: Function, index: Value) -> Value:
        if self.stride is None:
            return function.offset(self.pointer, index, self.dtype)
        return function.offset(self.pointer, function.multiply(index, self.stride))


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


def load_partial(
    function: Function,
    streams: Sequence[Stream],
    index: Value,
    count: Value,
    width: int,
    lanes: int,
) -> list[Value]:
    """`count` items from `index` on, fewer than `lanes`: all streams' first `width` lanes, then
    their next ones.

    Lanes beyond the count hold zeros.
    """
    copied = [stream for stream in streams if not stream.can_be_masked]
    arrays = _copied(function, copied, index, count, lanes)
    loaded: list[Value] = []
    for first in range(0, lanes, width):
        mask = lane_mask(function, count, first, width)
        place = function.add(index, first)
        array = iter(arrays)
        for stream in streams:
            if stream.can_be_masked:
                address = stream.address(function, place)
                loaded.append(_masked_load(function, address, stream.dtype, mask))
            else:
                part = function.offset(next(array), integer(first), stream.dtype)
                loaded.append(function.load(part, stream.dtype, width))
    return loaded


def store_partial(
    function: Function,
    streams: Sequence[Stream],
    values: Sequence[Value],
    index: Value,
    count: Value,
) -> None:
    """Write the first `count` lanes of a value for each stream, from item `index` on."""
    spilled: list[tuple[Stream, Value]] = []
    for stream, value in zip(streams, values, strict=True):
        if stream.can_be_masked:
            mask = lane_mask(function, count, 0, value.width)
            _masked_store(function, value, stream.address(function, index), mask)
        else:
            array = function.array(stream.dtype, value.width)
            function.store(value, array)
            spilled.append((stream, array))
    if not spilled:
        return
    with function.loop(integer(0), count) as items:
        for stream, array in spilled:
            kind = memory_dtype(stream.dtype)
            item = function.load(function.offset(array, items.index, kind), kind)
            place = function.add(index, items.index)
            function.store(item, stream.address(function, place))


def lane_mask(function: Function, count: Value, first: int, width: int) -> Value:
    """Which of the lanes first, first + 1, ... are among the first `count`."""
    if width > 8:
        count = function.convert("trunc", count, "int32")
    lanes = shifted_iota(count.dtype, width, first)
    return function.compare("icmp slt", lanes, function.splat(count, width))


def _copied(
    function: Function, streams: Sequence[Stream], index: Value, count: Value, lanes: int
) -> list[Value]:
    """Arrays with the `count` items of each stream, then zeros."""
    if not streams:
        return []
    arrays = [function.array(stream.dtype, lanes) for stream in streams]
    for stream, array in zip(streams, arrays, strict=True):
        function.store(constant(0, memory_dtype(stream.dtype), lanes), array)
    with function.loop(integer(0), count) as items:
        place = function.add(index, items.index)
        for stream, array in zip(streams, arrays, strict=True):
            kind = memory_dtype(stream.dtype)
            item = function.load(stream.address(function, place), kind)
            function.store(item, function.offset(array, items.index, kind))
    return arrays


def _masked_load(function: Function, address: Value, dtype: str, mask: Value) -> Value:
    name = f"llvm.masked.load.{suffix(dtype, mask.width)}.p0"
    zeros = constant(0, dtype, mask.width)
    alignment = Value(str(ITEMSIZE[dtype]), "int32")
    return function.call(name, dtype, mask.width, address, alignment, mask, zeros)


def _masked_store(function: Function, value: Value, address: Value, mask: Value) -> None:
    name = f"llvm.masked.store.{suffix(value.dtype, value.width)}.p0"
    function.declarations.add(f"declare void @{name}({value.type}, ptr, i32, {mask.type})")
    alignment = f"i32 {ITEMSIZE[value.dtype]}"
    arguments = f"{value.typed}, {address.typed}, {alignment}, {mask.typed}"
    function.statement(f"call void @{name}({arguments})")
