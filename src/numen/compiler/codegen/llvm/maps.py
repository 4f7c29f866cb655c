"""Kernels without a reduction: rows of the outer axes, and a sweep along the last one.

Called by `kernels.py`. Next: `sweep.py` for the forms of the inner loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from numen.compiler.codegen.llvm.frame import Frame, lines, points
from numen.compiler.codegen.llvm.ir import Function, Value, integer
from numen.compiler.codegen.llvm.scope import Scope, Shape
from numen.compiler.codegen.llvm.streams import Stream
from numen.compiler.codegen.llvm.sweep import sweep
from numen.compiler.nest import Nest

TILE_ROWS, TILE_COLUMNS = 16, 64
"""A tile, where one buffer runs across the other: what it touches of either stays in cache."""


def emit_map(function: Function, nest: Nest, width: int | None) -> None:
    """Write the whole kernel; `width` overrides the lanes of its vectors."""
    shape = Shape(nest)
    frame = Frame(function, nest)
    low, high = frame.chunk()
    if nest.rank == 0:
        _single_item(Scope(shape, frame, {}))
        return
    last = nest.rank - 1
    extent = frame.extents[last]
    if nest.rank > 1:
        function.return_if(function.compare("icmp sle", extent, integer(0)))
    inner = shape.beyond(shape.epilogue, range(last))
    lanes = width or shape.width(inner, (nest.buffers[b].dtype for b in nest.outputs))
    top = Scope(shape, frame, {})
    top.compute(shape.within(shape.epilogue, ()))
    top.spread(inner, (store.value for store in nest.stores), lanes)
    if nest.rank == 1:
        _row(top, inner, low, high, lanes)
        return
    rows = _Rows(top, inner, lanes)
    if not _crosses(shape, inner):
        with points(function, low, high, frame.extents[:last]) as indices:
            rows.write(indices, integer(0), extent)
        return
    with (
        lines(function, low, high, frame.extents[:last]) as (outer, first, past, _),
        function.loop(first, past, TILE_ROWS) as down,
        function.loop(integer(0), extent, TILE_COLUMNS) as right,
    ):
        row_end = function.minimum(function.add(down.index, TILE_ROWS), past)
        column_end = function.minimum(function.add(right.index, TILE_COLUMNS), extent)
        with function.loop(down.index, row_end) as row:
            rows.write([*outer, row.index], right.index, column_end)


def _crosses(shape: Shape, inner: Sequence[int]) -> bool:
    """Whether a buffer's neighbours lie along the axis before the last: tiles then use each cache
    line at once.
    """
    nest = shape.nest
    used = (nest.buffers[b].strides for b in (*shape.loaded(inner), *nest.outputs))
    return any(strides[-1] == "s" and strides[-2] == "1" for strides in used)


@dataclass
class _Rows:
    """The loop body: a row, or the part of it in a tile."""

    top: Scope
    inner: list[int]
    width: int

    def write(self, indices: Sequence[Value], low: Value, high: Value) -> None:
        shape = self.top.shape
        row = self.top.inner(dict(enumerate(indices)))
        row.compute(shape.within(shape.epilogue, range(shape.last)))
        row.spread(self.inner, (store.value for store in shape.nest.stores), self.width)
        _row(row, self.inner, low, high, self.width)


def _single_item(scope: Scope) -> None:
    scope.compute(scope.shape.epilogue)
    for store in scope.shape.nest.stores:
        scope.function.store(scope.get(store.value, 1), scope.frame.address(store.buffer, {}))


def _row(scope: Scope, inner: Sequence[int], low: Value, high: Value, width: int) -> None:
    shape, frame = scope.shape, scope.frame
    buffers = shape.loaded(inner)
    heavy = shape.heavy(inner)
    outputs = [stream_along(frame, store.buffer, shape.last, scope) for store in shape.nest.stores]

    def body(index: Value, lanes: int, loaded: Sequence[Value]) -> list[Value]:
        point = scope.inner({shape.last: index})
        point.compute(inner, lanes, dict(zip(buffers, loaded, strict=True)))
        return [point.get(store.value, lanes) for store in shape.nest.stores]

    sweep(
        scope.function,
        low,
        high,
        [stream_along(frame, buffer, shape.last, scope) for buffer in buffers],
        outputs,
        body,
        width=width,
        heavy=heavy,
    )


def stream_along(frame: Frame, buffer: int, axis: int, scope: Scope) -> Stream:
    """The items of a buffer along an axis, at the scope's indices of the other axes."""
    operand = frame.nest.buffers[buffer]
    stride = frame.stride(buffer, axis)
    if operand.strides[axis] == "0":
        stride = integer(0)
    return Stream(frame.address(buffer, scope.point), operand.dtype, stride)
