"""The second step of a split reduction: the partials of each output point go through the 16 lanes
once more.

Called by `kernels.py` for both layouts; the "partial" kernels of `rows.py` and `columns.py` filled
the scratch. Of an argmax the scratch holds positions only; the value at a position is computed
again from the inputs.
"""

from __future__ import annotations

from numen.compiler.codegen.llvm.folds import State
from numen.compiler.codegen.llvm.frame import Frame, points, position
from numen.compiler.codegen.llvm.ir import Function, Value, constant, integer
from numen.compiler.codegen.llvm.rows import block_count, folds_of, lane_array, store_epilogue
from numen.compiler.codegen.llvm.scope import Scope, Shape
from numen.compiler.nest import Nest


def emit_combine(function: Function, nest: Nest) -> None:
    """Write the kernel; a work unit is an output point."""
    shape = Shape(nest)
    frame = Frame(function, nest)
    low, high = frame.chunk()
    folds = folds_of(nest, shape)
    second = [lane_array(function, fold) for fold in folds]
    running = [fold for fold in folds if fold.has_position]
    extent = frame.extents[shape.last]
    blocks = block_count(function, extent)
    parallel = range(shape.last)
    outer = [frame.extents[axis] for axis in parallel]
    count = frame.product(parallel)
    total = function.multiply(count, blocks)
    with points(function, low, high, outer) as indices:
        scope = Scope(shape, frame, dict(enumerate(indices)))
        scope.compute(shape.within([*shape.inside, *shape.epilogue], parallel))
        for lanes in second:
            if lanes is not None:
                lanes.clear()
        unit = position(function, indices, outer)
        start = [value for fold in running for value in fold.empty_result()]
        with function.loop(integer(0), blocks, 1, start) as loop:
            item = function.add(function.multiply(loop.index, count), unit)
            before = iter(loop.state)
            for number, (fold, lanes) in enumerate(zip(folds, second, strict=True)):
                first = function.multiply(total, number) if number else integer(0)
                address = frame.scratch_item(function.add(first, item))
                if lanes is not None:
                    lanes.take(loop.index, function.load(address, fold.dtype))
                else:
                    partial = _argmax_partial(scope, number, address)
                    loop.next += fold.take(function, [next(before), next(before)], *partial)
        empty = function.compare("icmp eq", extent, integer(0))
        positions = iter(loop.results[1::2])
        for place, fold, lanes in zip(shape.reduces, folds, second, strict=True):
            result = next(positions) if lanes is None else lanes.result()
            if fold.kind == "sum":
                result = function.select(empty, constant(0, result.dtype), result)
            scope.define(place, result)
        store_epilogue(scope)


def _argmax_partial(scope: Scope, number: int, address: Value) -> State:
    function, shape = scope.function, scope.shape
    index = function.load(address, "int64")
    there = scope.inner({shape.last: index})
    argument = shape.nest.body[shape.reduces[number]].args[0]
    there.compute(shape.behind([argument], through_reduce=False))
    return [there.get(argument, 1), index]
