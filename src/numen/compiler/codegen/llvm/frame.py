"""The argument block inside a kernel: extents, pointers, strides, scalars, the chunk's bounds,
points of the axes.

Everything is read once, at the kernel's start, in the layout that `numen.compiler.nest` fixes.
Called by the loops (`maps.py`, `rows.py`, `columns.py`, `combine.py`). Next: `scope.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from numen.compiler.codegen.llvm.ir import Function, Value, integer
from numen.compiler.nest import (
    Nest,
    slot_extent,
    slot_grain,
    slot_pointer,
    slot_scalar,
    slot_scratch,
    slot_stride,
    slot_units,
)


class Frame:
    """The kernel's arguments as values that every block of the function may use."""

    def __init__(self, function: Function, nest: Nest) -> None:
        self.function = function
        self.nest = nest
        self.scratch = self._slot(slot_scratch(), "ptr")
        self.extents = [self._slot(slot_extent(axis), "int64") for axis in range(nest.rank)]
        self.scalars = [
            self._slot(slot_scalar(nest, position), dtype)
            for position, dtype in enumerate(nest.scalars)
        ]
        self.pointers: list[Value] = []
        self._strides: dict[tuple[int, int], Value] = {}
        for position, buffer in enumerate(nest.buffers):
            self.pointers.append(self._slot(slot_pointer(nest, position), "ptr"))
            for axis, stride in enumerate(buffer.strides):
                if stride == "s":
                    slot = slot_stride(nest, position, axis)
                    self._strides[position, axis] = self._slot(slot, "int64")

    def _slot(self, slot: int, dtype: str) -> Value:
        address = self.function.offset(self.function.parameters[0], integer(8 * slot))
        return self.function.load(address, dtype)

    def chunk(self) -> tuple[Value, Value]:
        """The units of this call, [low, high); the kernel returns at once where there are none."""
        function = self.function
        units = self._slot(slot_units(), "int64")
        grain = self._slot(slot_grain(), "int64")
        low = function.multiply(function.parameters[1], grain)
        high = function.minimum(function.add(low, grain), units)
        function.return_if(function.compare("icmp sge", low, high))
        return low, high

    def stride(self, buffer: int, axis: int) -> Value | None:
        """Byte stride of class "s"; None where the items are neighbours."""
        return self._strides.get((buffer, axis))

    def address(self, buffer: int, point: Mapping[int, Value]) -> Value:
        """Where a buffer's item lies at these indices of some axes and index 0 of the others."""
        function = self.function
        address = self.pointers[buffer]
        operand = self.nest.buffers[buffer]
        for axis, index in point.items():
            stride = operand.strides[axis]
            if stride == "s":
                step = self._strides[buffer, axis]
                address = function.offset(address, function.multiply(index, step))
            elif stride == "1":
                address = function.offset(address, index, operand.dtype)
        return function.opaque(address) if point else address

    def scratch_item(self, index: Value) -> Value:
        return self.function.offset(self.scratch, index, "int64")

    def product(self, axes: Sequence[int]) -> Value:
        """How many points these axes have together."""
        result = integer(1)
        for axis in axes:
            extent = self.extents[axis]
            result = extent if result.text == "1" else self.function.multiply(result, extent)
        return result


@contextmanager
def points(
    function: Function, low: Value, high: Value, extents: Sequence[Value]
) -> Iterator[list[Value]]:
    """Loop over positions [low, high) of a row-major space and give each one's index along every
    axis.

    The indices are counted up like an odometer, so a division is paid once per call.
    """
    if len(extents) < 2:
        with function.loop(low, high) as loop:
            yield [loop.index] * len(extents)
        return
    with function.loop(low, high, carried=_decode(function, low, extents)) as loop:
        yield list(loop.state)
        loop.next = _advance(function, loop.state, extents)


@contextmanager
def lines(
    function: Function, low: Value, high: Value, extents: Sequence[Value]
) -> Iterator[tuple[list[Value], Value, Value, Value]]:
    """Loop over the same positions line by line: what [low, high) holds of the last axis at each
    point of the others.

    Gives the point, the bounds on the last axis, and the position of the line's first item.
    """
    length = extents[-1]
    first = function.binary("udiv", low, length)
    last = function.binary("udiv", function.add(high, -1), length)
    with points(function, first, function.add(last, 1), extents[:-1]) as indices:
        begin = function.multiply(position(function, indices, extents[:-1]), length)
        left = function.maximum(function.subtract(low, begin), integer(0))
        right = function.minimum(function.subtract(high, begin), length)
        yield indices, left, right, begin


def position(function: Function, indices: Sequence[Value], extents: Sequence[Value]) -> Value:
    """The position of a point of a row-major space."""
    number = integer(0)
    for axis, (index, extent) in enumerate(zip(indices, extents, strict=True)):
        number = function.add(function.multiply(number, extent), index) if axis else index
    return number


def _decode(function: Function, place: Value, extents: Sequence[Value]) -> list[Value]:
    indices: list[Value] = []
    for extent in reversed(extents[1:]):
        indices.append(function.binary("urem", place, extent))
        place = function.binary("udiv", place, extent)
    return [place, *reversed(indices)]


def _advance(function: Function, indices: Sequence[Value], extents: Sequence[Value]) -> list[Value]:
    following: list[Value] = []
    carry = integer(1)
    for index, extent in zip(reversed(indices[1:]), reversed(extents[1:]), strict=True):
        counted = function.binary("add", index, carry)
        wraps = function.compare("icmp eq", counted, extent)
        following.append(function.select(wraps, integer(0), counted))
        carry = function.convert("zext", wraps, "int64")
    following.append(function.binary("add", indices[0], carry))
    return following[::-1]
