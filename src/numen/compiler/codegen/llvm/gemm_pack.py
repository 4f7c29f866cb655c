"""Packing: copies rows of A, or columns of B, into panels that the micro-kernel reads in order.

A panel holds `width` lanes (rows of A or columns of B) of one K block, all lanes of a step of k
side by side. `gemm.py` calls `pack_name(...)` once per chunk with that operand's part of the
argument block. Lanes beyond the matrix hold any numbers: what they lead to is never stored.
Next: `gemm_kernel.py`.
"""

from __future__ import annotations

from numen.compiler.codegen.llvm.gemm_ir import Helper, call, compare, mask, unless, when
from numen.compiler.codegen.llvm.gemm_kernel import has_piece, piece_offset, pieces
from numen.compiler.codegen.llvm.gemm_layout import ITEM_BYTES, PACK_FIELDS
from numen.compiler.codegen.llvm.ir import Value, constant, integer

GROUP_BYTES = 16
"""Lanes are turned in square groups that fill one 128-bit register, which every target has."""

PACK_PARAMS = (
    ("fields", "ptr"),
    ("batch", "int64"),
    ("chunk", "int64"),
    ("depth", "int64"),
    ("block", "int64"),
    ("blocks", "int64"),
)

PANEL_PARAMS = (
    ("source", "ptr"),
    ("target", "ptr"),
    ("depth", "int64"),
    ("lane", "int64"),
    ("step", "int64"),
    ("valid", "int64"),
)


def pack_name(dtype: str, width: int) -> str:
    return f"gemm_{dtype}_pack_{width}"


def pack_panel_name(dtype: str, width: int) -> str:
    return f"{pack_name(dtype, width)}_panel"


def emit_pack(dtype: str, width: int) -> list[Helper]:
    """The functions that pack panels of `width` lanes: a panel, and a chunk of panels."""
    return [
        _emit_copy(dtype, width),
        _emit_turn(dtype, width),
        _emit_panel(dtype, width),
        _emit_chunk(dtype, width),
    ]


def _emit_chunk(dtype: str, width: int) -> Helper:
    """Pack panels chunk * grain up to (chunk + 1) * grain of one matrix, every K block."""
    function = Helper(pack_name(dtype, width), PACK_PARAMS)
    field = {
        name: function.load(
            function.offset(function["fields"], integer(8 * index)),
            "ptr" if name in ("source", "target") else "int64",
        )
        for index, name in enumerate(PACK_FIELDS)
    }
    batch, depth, block = function["batch"], function["depth"], function["block"]
    source = function.offset(field["source"], function.multiply(batch, field["source_batch"]))
    target = function.offset(field["target"], function.multiply(batch, field["target_batch"]))
    block_bytes = function.multiply(block, field["step"])
    first = function.multiply(function["chunk"], field["grain"])
    last = function.minimum(function.add(first, field["grain"]), field["panels"])
    with function.loop(integer(0), function["blocks"]) as outer:
        left = function.subtract(depth, function.multiply(outer.index, block))
        steps = function.minimum(left, block)
        source_block = function.offset(source, function.multiply(outer.index, block_bytes))
        target_block = function.offset(
            target, function.multiply(outer.index, field["target_block"])
        )
        with function.loop(first, last) as inner:
            done = function.multiply(inner.index, width)
            valid = function.minimum(function.subtract(field["lanes"], done), integer(width))
            call(
                function,
                pack_panel_name(dtype, width),
                function.offset(source_block, function.multiply(done, field["lane"])),
                function.offset(
                    target_block, function.multiply(inner.index, field["target_panel"])
                ),
                steps,
                field["lane"],
                field["step"],
                valid,
            )
    return function


def _emit_panel(dtype: str, width: int) -> Helper:
    """Pack one panel over one K block, the way that its strides ask for."""
    function = Helper(pack_panel_name(dtype, width), PANEL_PARAMS)
    by_lane = compare(function, "eq", function["lane"], ITEM_BYTES[dtype])
    with when(function, by_lane):
        call(function, f"{pack_name(dtype, width)}_copy", *function.parameters)
    with unless(function, by_lane):
        call(function, f"{pack_name(dtype, width)}_turn", *function.parameters)
    return function


def _emit_copy(dtype: str, width: int) -> Helper:
    """Lanes lie side by side in the source: copy them step by step; a partial panel gets zeros."""
    function = Helper(f"{pack_name(dtype, width)}_copy", PANEL_PARAMS)
    item = ITEM_BYTES[dtype]
    zeros = constant(0.0, dtype, width)
    whole = compare(function, "eq", function["valid"], width)
    start = [function["source"], function["target"]]
    with when(function, whole), function.loop(integer(0), function["depth"], 1, start) as loop:
        source, target = loop.state
        function.store(function.load(source, dtype, width), target)
        loop.next = _advance(function, source, target, width * item)
    with unless(function, whole), function.loop(integer(0), function["depth"], 1, start) as loop:
        source, target = loop.state
        function.store(zeros, target)
        for piece in pieces(width):
            with when(function, has_piece(function, function["valid"], piece)):
                offset = piece_offset(function, function["valid"], piece, item)
                lanes = function.load(function.offset(source, offset), dtype, piece)
                function.store(lanes, function.offset(target, offset))
        loop.next = _advance(function, source, target, width * item)
    return function


def _advance(function: Helper, source: Value, target: Value, row: int) -> list[Value]:
    return [function.offset(source, function["step"]), function.offset(target, integer(row))]


def _emit_turn(dtype: str, width: int) -> Helper:
    """Lanes lie apart: read each along K, and turn groups in registers where K is contiguous.

    Lanes past the last valid one repeat it.
    """
    function = Helper(f"{pack_name(dtype, width)}_turn", PANEL_PARAMS)
    item = ITEM_BYTES[dtype]
    group = GROUP_BYTES // item
    along_k = compare(function, "eq", function["step"], item)
    square = mask(function, function["depth"], -group)
    turned = function.select(along_k, square, integer(0))
    final = function.add(function["valid"], -1)
    for first in range(0, width, group):
        count = min(group, width - first)
        lanes = []
        for lane in range(first, first + count):
            index = function.minimum(integer(lane), final)
            lanes.append(
                function.offset(function["source"], function.multiply(index, function["lane"]))
            )
        target = function.offset(function["target"], integer(first * item))
        with function.loop(integer(0), turned, group) as loop:
            offset = function.multiply(loop.index, item)
            rows = [function.load(function.offset(start, offset), dtype, group) for start in lanes]
            place = function.offset(target, function.multiply(loop.index, width * item))
            for k, column in enumerate(_turn(function, rows)):
                function.store(column, function.offset(place, integer(k * width * item)))
        with function.loop(turned, function["depth"]) as loop:
            offset = function.multiply(loop.index, function["step"])
            place = function.offset(target, function.multiply(loop.index, width * item))
            for position, start in enumerate(lanes):
                number = function.load(function.offset(start, offset), dtype)
                function.store(number, function.offset(place, integer(position * item)))
    return function


def _turn(function: Helper, rows: list[Value]) -> list[Value]:
    """Columns of two or four rows of equal length, as vectors of that many lanes."""
    length = rows[0].width
    if len(rows) == 2:
        return [_shuffle(function, rows[0], rows[1], (k, length + k)) for k in range(length)]
    low, high = (0, 4, 1, 5), (2, 6, 3, 7)
    left = [_shuffle(function, rows[0], rows[1], part) for part in (low, high)]
    right = [_shuffle(function, rows[2], rows[3], part) for part in (low, high)]
    return [
        _shuffle(function, left[half], right[half], part)
        for half in (0, 1)
        for part in ((0, 1, 4, 5), (2, 3, 6, 7))
    ]


def _shuffle(function: Helper, left: Value, right: Value, lanes: tuple[int, ...]) -> Value:
    listed = ", ".join(f"i32 {lane}" for lane in lanes)
    text = f"shufflevector {left.typed}, {right.typed}, <{len(lanes)} x i32> <{listed}>"
    return function.value(left.dtype, len(lanes), text)
