"""The matrix product as LLVM IR: `emit_gemm` gives one module for a dtype and an instruction set.

Extents and strides are arguments, so the module serves every product of its dtype; `gemm_plan.py`
fills the argument block and says which function runs on how many chunks. Exported functions: `pack`
(a chunk of panels of A or B), `multiply` (a block of C), `whole` (some matrices of the batch, start
to end), `row` and `dots` (columns of a C of one row). Next: `gemm_plan.py`.
"""

from __future__ import annotations

from collections.abc import Mapping

from numen.compiler.codegen.llvm.gemm_ir import Helper, call, compare, unless, when
from numen.compiler.codegen.llvm.gemm_kernel import emit_edge, emit_kernel, kernel_name
from numen.compiler.codegen.llvm.gemm_layout import (
    ITEM_BYTES,
    MULTIPLY_FIELDS,
    SLOTS,
    TILES,
    Tile,
    function_name,
)
from numen.compiler.codegen.llvm.gemm_pack import emit_pack, pack_name, pack_panel_name
from numen.compiler.codegen.llvm.gemm_row import emit_dots, emit_row
from numen.compiler.codegen.llvm.ir import Function, Value, integer

POINTERS = ("a", "b", "edge", "c")

LOCAL_FIELDS = ("source", "source_batch", "lane", "step")
"""What a chunk that packs its own panels reads of B's pack step."""

BLOCK_PARAMS = (("args", "ptr"), ("batch", "int64"), ("chunk", "int64"))


def emit_gemm(dtype: str, isa: str) -> str:
    """IR of the product for "float32" or "float64" and a key of `gemm_layout.TILES`."""
    tile = TILES[isa]
    lanes = tile.lanes(dtype)
    helpers: list[Function] = [emit_edge(dtype, tile)]
    helpers += [emit_kernel(dtype, tile, rows) for rows in range(1, tile.rows + 1)]
    for width in sorted({tile.rows, lanes}):
        helpers += emit_pack(dtype, width)
    helpers += [_emit_pack_step(dtype, tile), _emit_block(dtype, tile)]
    exported = [_emit_pack(dtype), _emit_multiply(dtype), _emit_whole(dtype), emit_row(dtype)]
    exported += emit_dots(dtype)
    functions = [*helpers, *exported]
    declarations = sorted(set().union(*(function.declarations for function in functions)))
    return "\n".join([*(function.text() for function in functions), *declarations]) + "\n"


def _field(function: Function, args: Value, name: str) -> Value:
    kind = "ptr" if name in (*POINTERS, "pack_b.source") else "int64"
    return function.load(function.offset(args, integer(8 * SLOTS[name])), kind)


def _emit_pack_step(dtype: str, tile: Tile) -> Helper:
    """Pack chunk `chunk` of one matrix of the batch: A's chunks come first, then B's."""
    function = Helper(f"gemm_{dtype}_pack_step", BLOCK_PARAMS)
    args, batch, chunk = function["args"], function["batch"], function["chunk"]
    depth, block, blocks = (_field(function, args, name) for name in ("depth", "block", "blocks"))
    a_chunks = _field(function, args, "pack_a.chunks")
    of_a = compare(function, "slt", chunk, a_chunks)
    of_b = function.subtract(chunk, a_chunks)
    a_fields = function.offset(args, integer(8 * SLOTS["pack_a.source"]))
    b_fields = function.offset(args, integer(8 * SLOTS["pack_b.source"]))
    with when(function, of_a):
        pack = pack_name(dtype, tile.rows)
        call(function, pack, a_fields, batch, chunk, depth, block, blocks)
    with unless(function, of_a):
        pack = pack_name(dtype, tile.lanes(dtype))
        call(function, pack, b_fields, batch, of_b, depth, block, blocks)
    return function


def _emit_block(dtype: str, tile: Tile) -> Helper:
    """Multiply block `chunk` of one matrix: K blocks outermost, then panels, then row tiles."""
    function = Helper(f"gemm_{dtype}_block", BLOCK_PARAMS)
    names = [*MULTIPLY_FIELDS, *(f"pack_b.{name}" for name in LOCAL_FIELDS)]
    field = {name: _field(function, function["args"], name) for name in names}
    a, b, edge, c, source = (
        function.offset(field[name], function.multiply(function["batch"], field[f"{name}_batch"]))
        for name in (*POINTERS, "pack_b.source")
    )
    row_chunk = function.binary("urem", function["chunk"], field["row_chunks"])
    column_chunk = function.binary("udiv", function["chunk"], field["row_chunks"])
    local = function.offset(b, function.multiply(column_chunk, field["b_local"]))
    is_local = compare(function, "ne", field["b_local"], 0)
    tile_0 = function.multiply(row_chunk, field["tile_grain"])
    tile_1 = function.minimum(function.add(tile_0, field["tile_grain"]), field["tiles"])
    panel_0 = function.multiply(column_chunk, field["panel_grain"])
    panel_1 = function.minimum(function.add(panel_0, field["panel_grain"]), field["panels"])
    lanes = tile.lanes(dtype)
    with function.loop(integer(0), field["blocks"]) as outer:
        k = function.multiply(outer.index, field["block"])
        depth = function.minimum(function.subtract(field["depth"], k), field["block"])
        a_block = function.offset(a, function.multiply(outer.index, field["a_block"]))
        b_block = function.offset(b, function.multiply(outer.index, field["b_block"]))
        edge_block = function.offset(edge, function.multiply(outer.index, field["edge_block"]))
        with function.loop(panel_0, panel_1) as inner:
            whole = compare(function, "slt", inner.index, field["full"])
            in_b = function.offset(b_block, function.multiply(inner.index, field["b_panel"]))
            shared = function.select(whole, in_b, edge_block)
            skip = function.select(whole, integer(0), field["edge_skip"])
            count = function.select(whole, integer(lanes), field["edge_count"])
            column = function.multiply(inner.index, lanes)
            with when(function, is_local):
                lane, step = field["pack_b.lane"], field["pack_b.step"]
                along_n = function.offset(source, function.multiply(column, lane))
                panel = function.offset(along_n, function.multiply(k, step))
                name = pack_panel_name(dtype, lanes)
                call(function, name, panel, local, depth, lane, step, count)
            first = function.subtract(column, skip)
            common = {
                "b": function.select(is_local, local, shared),
                "depth": depth,
                "a_row": field["a_row"],
                "a_step": field["a_step"],
                "b_step": function.select(whole, field["b_step"], field["edge_step"]),
                "c_row": field["c_row"],
                "accumulate": outer.index,
                "skip": skip,
                "count": count,
            }
            c_panel = function.offset(c, function.multiply(first, ITEM_BYTES[dtype]))
            _emit_rows(function, dtype, tile, field, a_block, c_panel, (tile_0, tile_1), common)
    return function


def _emit_rows(
    function: Helper,
    dtype: str,
    tile: Tile,
    field: Mapping[str, Value],
    a_block: Value,
    c_panel: Value,
    tiles: tuple[Value, Value],
    common: Mapping[str, Value],
) -> None:
    """Row tiles from tiles[0] to tiles[1]: a loop over whole ones, then the last, partial one."""
    c_tile = function.multiply(field["c_row"], tile.rows)
    whole_tiles = function.binary("udiv", field["rows"], integer(tile.rows))
    height = function.binary("urem", field["rows"], integer(tile.rows))
    last = function.minimum(tiles[1], whole_tiles)

    def call_kernel(rows: int, index: Value) -> None:
        a = function.offset(a_block, function.multiply(index, field["a_tile"]))
        c = function.offset(c_panel, function.multiply(index, c_tile))
        b, *others = common.values()
        call(function, kernel_name(dtype, rows), a, b, c, *others)

    with function.loop(tiles[0], last) as loop:
        call_kernel(tile.rows, loop.index)
    with when(function, compare(function, "sgt", tiles[1], whole_tiles)):
        for rows in range(1, tile.rows):
            with when(function, compare(function, "eq", height, rows)):
                call_kernel(rows, whole_tiles)


def _emit_pack(dtype: str) -> Function:
    """Exported: chunk counts through the pack chunks of every matrix of the batch."""
    function = Function(function_name(dtype, "pack"))
    chunks = _pack_chunks(function, function.parameters[0])
    _invoke_split(function, f"gemm_{dtype}_pack_step", chunks)
    return function


def _emit_multiply(dtype: str) -> Function:
    """Exported: chunk counts through the blocks of C of every matrix of the batch."""
    function = Function(function_name(dtype, "multiply"))
    chunks = _block_chunks(function, function.parameters[0])
    _invoke_split(function, f"gemm_{dtype}_block", chunks)
    return function


def _pack_chunks(function: Function, args: Value) -> Value:
    """Pack chunks of one matrix."""
    return function.add(
        _field(function, args, "pack_a.chunks"), _field(function, args, "pack_b.chunks")
    )


def _block_chunks(function: Function, args: Value) -> Value:
    """Blocks of one matrix."""
    return function.multiply(
        _field(function, args, "row_chunks"), _field(function, args, "column_chunks")
    )


def _invoke_split(function: Function, name: str, chunks: Value) -> None:
    batch = function.binary("udiv", function.parameters[1], chunks)
    chunk = function.binary("urem", function.parameters[1], chunks)
    call(function, name, function.parameters[0], batch, chunk)


def _emit_whole(dtype: str) -> Function:
    """Exported: a chunk is some matrices of the batch; packs each if need be and multiplies it."""
    function = Function(function_name(dtype, "whole"))
    args = function.parameters[0]
    batch, grain = _field(function, args, "batch"), _field(function, args, "batch_grain")
    packs, blocks = _pack_chunks(function, args), _block_chunks(function, args)
    first = function.multiply(function.parameters[1], grain)
    last = function.minimum(function.add(first, grain), batch)
    with function.loop(first, last) as matrix:
        with function.loop(integer(0), packs) as loop:
            call(function, f"gemm_{dtype}_pack_step", args, matrix.index, loop.index)
        with function.loop(integer(0), blocks) as loop:
            call(function, f"gemm_{dtype}_block", args, matrix.index, loop.index)
    return function
