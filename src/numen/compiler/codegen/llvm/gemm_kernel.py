"""The micro-kernel of the matrix product: one tile of C over one K block, accumulated in registers.

`gemm.py` asks for one kernel per number of rows and calls them; operands are pointers and byte
strides, so the same code reads packed panels and matrices in place. Every element of C is a chain
of fused multiply-adds in the order of k, whatever the tile. Next: `gemm.py`.
"""

from __future__ import annotations

from numen.compiler.codegen.llvm.gemm_ir import Helper, call, compare, mask, unless, when
from numen.compiler.codegen.llvm.gemm_layout import ITEM_BYTES, VECTOR_BYTES, Tile
from numen.compiler.codegen.llvm.ir import Value, constant, integer

UNROLL = 4
"""Steps of k in one trip of the main loop."""

GROUP = 6
"""Rows of A that share a pointer: code generation walks from row to row, and a walk over more
of them would be a chain of additions as slow as the multiplications."""

SUFFIXES = {"float32": "f32", "float64": "f64"}

KERNEL_PARAMS = (
    ("a", "ptr"),
    ("b", "ptr"),
    ("c", "ptr"),
    ("depth", "int64"),
    ("a_row", "int64"),
    ("a_step", "int64"),
    ("b_step", "int64"),
    ("c_row", "int64"),
    ("accumulate", "int64"),
    ("skip", "int64"),
    ("count", "int64"),
)

EDGE_PARAMS = (
    ("tile", "ptr"),
    ("c", "ptr"),
    ("c_row", "int64"),
    ("rows", "int64"),
    ("accumulate", "int64"),
    ("skip", "int64"),
    ("count", "int64"),
)


def kernel_name(dtype: str, rows: int) -> str:
    return f"gemm_{dtype}_tile_{rows}"


def edge_name(dtype: str) -> str:
    return f"gemm_{dtype}_edge"


def emit_kernel(dtype: str, tile: Tile, rows: int) -> Helper:
    """C tile (+)= A rows @ B panel over `depth` steps; stores `count` lanes from lane `skip` on.

    The first K block is stored (`accumulate` 0), the others are added to what C holds.
    """
    function = Helper(kernel_name(dtype, rows), KERNEL_PARAMS)
    c_rows = [
        function.offset(function["c"], function.multiply(function["c_row"], row))
        for row in range(rows)
    ]
    for c_row in c_rows:
        function.prefetch(c_row)
    sums = _accumulate(function, dtype, tile, rows)
    full = compare(function, "eq", function["count"], tile.lanes(dtype))
    with when(function, full):
        again = compare(function, "ne", function["accumulate"], 0)
        with when(function, again):
            _store_rows(function, tile, c_rows, sums, add=True)
        with unless(function, again):
            _store_rows(function, tile, c_rows, sums, add=False)
    with unless(function, full):
        _store_edge(function, dtype, rows, sums)
    return function


def _accumulate(function: Helper, dtype: str, tile: Tile, rows: int) -> list[Value]:
    """The tile's sums: `rows` x `vectors` values, each one chain of fused multiply-adds."""
    lanes = tile.lanes(dtype) // tile.vectors
    zeros = [constant(0.0, dtype, lanes)] * (rows * tile.vectors)
    groups = [
        function.opaque(function.offset(function["a"], function.multiply(function["a_row"], first)))
        for first in range(0, rows, GROUP)
    ]
    offsets = [function.multiply(function["a_row"], row) for row in range(min(rows, GROUP))]
    main = mask(function, function["depth"], -UNROLL)
    start = [function["b"], *groups, *zeros]
    with function.loop(integer(0), main, UNROLL, start) as loop:
        loop.next = loop.state
        for _ in range(UNROLL):
            loop.next = _step(function, dtype, tile, offsets, loop.next)
    with function.loop(main, function["depth"], 1, loop.results) as rest:
        rest.next = _step(function, dtype, tile, offsets, rest.state)
    return rest.results[1 + len(groups) :]


def _step(
    function: Helper, dtype: str, tile: Tile, offsets: list[Value], state: list[Value]
) -> list[Value]:
    """One step of k: from the pointers into B and A and the sums to the next ones.

    `offsets` lead from the first row of a group to its others.
    """
    lanes = tile.lanes(dtype) // tile.vectors
    fma = f"llvm.fma.v{lanes}{SUFFIXES[dtype]}"
    b, groups, sums = state[0], [v for v in state[1:] if v.dtype == "ptr"], []
    panel = [
        function.load(function.offset(b, integer(j * VECTOR_BYTES)), dtype, lanes)
        for j in range(tile.vectors)
    ]
    for position, total in enumerate(state[1 + len(groups) :]):
        row, j = divmod(position, tile.vectors)
        if j == 0:
            place = function.offset(groups[row // GROUP], offsets[row % GROUP])
            factor = function.splat(function.load(place, dtype), lanes)
        sums.append(function.call(fma, dtype, lanes, factor, panel[j], total))
    moved = [function.offset(group, function["a_step"]) for group in groups]
    return [function.offset(b, function["b_step"]), *moved, *sums]


def _store_rows(
    function: Helper, tile: Tile, c_rows: list[Value], sums: list[Value], add: bool
) -> None:
    for position, total in enumerate(sums):
        row, j = divmod(position, tile.vectors)
        pointer = function.offset(c_rows[row], integer(j * VECTOR_BYTES))
        if add:
            old = function.load(pointer, total.dtype, total.width)
            total = function.binary("fadd", old, total)
        function.store(total, pointer)


def _store_edge(function: Helper, dtype: str, rows: int, sums: list[Value]) -> None:
    """Spill the tile and let the shared edge function copy the lanes that belong to C."""
    spill = function.array(dtype, len(sums) * sums[0].width)
    for position, total in enumerate(sums):
        function.store(total, function.offset(spill, integer(position * VECTOR_BYTES)))
    names = ("c", "c_row", "accumulate", "skip", "count")
    c, c_row, accumulate, skip, count = (function[name] for name in names)
    call(function, edge_name(dtype), spill, c, c_row, integer(rows), accumulate, skip, count)


def emit_edge(dtype: str, tile: Tile) -> Helper:
    """Store lanes `skip` to `skip + count` of a spilled tile, in pieces of 16, 8, 4, 2, 1 lanes."""
    function = Helper(edge_name(dtype), EDGE_PARAMS)
    item, lanes = ITEM_BYTES[dtype], tile.lanes(dtype)
    again = compare(function, "ne", function["accumulate"], 0)
    start = function.multiply(function["skip"], item)
    from_tile = function.offset(function["tile"], start)
    to_c = function.offset(function["c"], start)
    with function.loop(integer(0), function["rows"]) as row:
        source = function.offset(from_tile, function.multiply(row.index, lanes * item))
        target = function.offset(to_c, function.multiply(row.index, function["c_row"]))
        for piece in pieces(lanes):
            with when(function, has_piece(function, function["count"], piece)):
                offset = piece_offset(function, function["count"], piece, item)
                place = function.offset(target, offset)
                new = function.load(function.offset(source, offset), dtype, piece)
                with when(function, again):
                    old = function.load(place, dtype, piece)
                    function.store(function.binary("fadd", old, new), place)
                with unless(function, again):
                    function.store(new, place)
    return function


def pieces(lanes: int) -> list[int]:
    """The powers of two below `lanes`, falling: the sizes that make up a partial vector."""
    return [1 << bit for bit in reversed(range((lanes - 1).bit_length()))]


def has_piece(function: Helper, count: Value, piece: int) -> Value:
    return compare(function, "ne", mask(function, count, piece), 0)


def piece_offset(function: Helper, count: Value, piece: int, item: int) -> Value:
    """Byte offset of a piece among `count` lanes: the larger pieces come first."""
    return function.multiply(mask(function, count, -2 * piece), item)
