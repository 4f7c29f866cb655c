"""Kernels without a reduction: rows of the outer axes, and a sweep along the last one.

Called by `kernels.py`. Next: `sweep.py` for the forms of the inner loop.
"""

from __future__ import annotations

from collections.abc import Sequence

from numen.compiler.codegen.llvm.frame import Frame, points
from numen.compiler.codegen.llvm.ir import Function, Value, integer
from numen.compiler.codegen.llvm.scope import Scope, Shape
from numen.compiler.codegen.llvm.sweep import Stream, sweep
from numen.compiler.nest import Nest


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
    with points(function, low, high, frame.extents[:last]) as indices:
        row = top.inner(dict(enumerate(indices)))
        row.compute(shape.within(shape.epilogue, range(last)))
        row.spread(inner, (store.value for store in nest.stores), lanes)
        _row(row, inner, integer(0), extent, lanes)


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
