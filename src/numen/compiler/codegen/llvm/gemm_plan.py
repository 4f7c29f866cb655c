"""Plans one matrix product: which functions of `gemm.py` run, on how many chunks, on which data.

Comes from the shapes and byte strides of A, B and C; the compiled program gives each launch to the
executor, which fills in the addresses of A, B, C and of `scratch` bytes of 64-byte aligned memory.
Nothing here changes the bits of the result: packing, tiles and chunks only decide who computes an
element and when. Next: `gemm_layout.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from numen.compiler.codegen.llvm.gemm_layout import (
    ITEM_BYTES,
    SLOTS,
    TILES,
    VECTOR_BYTES,
    Tile,
    function_name,
    k_blocks,
)
from numen.compiler.codegen.llvm.gemm_shape import Offsets, Shape, products

Argument = int | tuple[str, int]
"""A slot of the argument block: an int64, or an address ("A", "B", "C", "scratch") plus bytes."""

SERIAL_FLOPS = 1 << 20
"""Up to this many operations are one chunk: waking threads would cost more than they gain."""

CHUNK_FLOPS = 1 << 19
"""Least work of a chunk of a parallel product."""

TOUCH_FLOPS = 16
"""What it costs to fetch and pack an element of B, in operations."""

CHUNKS_PER_THREAD = 8
"""Most chunks for each thread; several, so that one that comes late leaves work to the others."""

SLACK = 1.05
"""A finer grid is taken if it is at most this much slower than the best one."""

BLOCK_ROWS = 192
"""Rows of A in a chunk: with a K block of 256 they stay in a second-level cache of 512 KiB."""

PACK_BYTES = 16 << 10
"""Least memory that a chunk of packing writes."""

IN_PLACE_BYTES = 32 << 10
"""An operand no larger than this stays in the first-level cache: it is read in place."""

IN_PLACE_TILES = 2
"""B is read in place where it meets no more row tiles than this."""

IN_PLACE_COLUMNS = 512
"""A is read in place where it meets fewer columns than this."""

COLUMNS = 2
"""Columns of a chunk of a product of one row are a multiple of so many vectors."""

CACHE_LINE = 64


@dataclass(frozen=True)
class Launch:
    """`function(args, chunk)` for every chunk in range(chunks), in any order and in parallel."""

    function: str
    args: tuple[Argument, ...]
    chunks: int


@dataclass(frozen=True)
class GemmPlan:
    """The launches of a product, in order, and the scratch memory that they share."""

    scratch: int
    launches: tuple[Launch, ...]


def plan_gemm(
    m: int,
    n: int,
    k: int,
    batch: Sequence[int],
    a_strides: Sequence[int],
    b_strides: Sequence[int],
    c_strides: Sequence[int],
    dtype: str,
    isa: str,
    threads: int = 1,
) -> GemmPlan:
    """Plan C[..., m, n] = A[..., m, k] @ B[..., k, n].

    Parameters
    ----------
    batch
        Leading extents, already broadcast; empty for one product.
    a_strides, b_strides, c_strides
        Byte strides, one per batch axis and then row and column. Those of A and B are free (0
        repeats, negative runs backwards); columns of C are contiguous.
    dtype, isa
        As given to `emit_gemm`.
    threads
        How many threads the caller will use; decides only how fine the chunks are.

    Raises
    ------
    ValueError
        The columns of C are not contiguous.
    """
    if m == 0 or n == 0 or math.prod(batch) == 0:
        return GemmPlan(0, ())
    item = ITEM_BYTES[dtype]
    if n > 1 and c_strides[-1] != item:
        raise ValueError(f"columns of C must be contiguous, their stride is {c_strides[-1]} bytes")
    shape, offsets = products((m, n, k), batch, a_strides, b_strides, c_strides, item)
    builders = [_Builder(shape, at, dtype, TILES[isa], threads) for at in offsets]
    launches = tuple(launch for builder in builders for launch in builder.launches())
    return GemmPlan(builders[0].scratch, launches)


@dataclass
class _Builder:
    """Fills the argument block of one product; `scratch` counts the bytes it needs."""

    shape: Shape
    offsets: Offsets
    dtype: str
    tile: Tile
    threads: int
    scratch: int = 0
    fields: dict[str, Argument] = field(default_factory=lambda: dict.fromkeys(SLOTS, 0))

    def launches(self) -> list[Launch]:
        batch = self.shape.batch
        if self.shape.m == 1 and (step := self._row_step()):
            return [self._launch(step, self._share_columns() * batch)]
        serial = self.threads == 1 or self.work <= SERIAL_FLOPS
        blocks = self._cut(1 if serial else self.threads)
        self._fill_extents()
        self._read_a()
        self._read_b()
        packs = self._chunks("pack_a", self.tiles) + self._chunks("pack_b", self.panels)
        if serial:
            return [self._launch("whole", self._share_batch())]
        launches = [self._launch("pack", packs * batch)] if packs else []
        return [*launches, self._launch("multiply", blocks * batch)]

    def _row_step(self) -> str:
        """The function that a single row of A takes; none where nothing in B is contiguous."""
        _, row, column = self.shape.b
        if self.shape.n < VECTOR_BYTES // self.item:
            return ""
        return "row" if column == self.item else "dots" if row == self.item else ""

    def _share_columns(self) -> int:
        """Fill the fields of a product of one row; gives the number of chunks of a matrix."""
        shape, fields = self.shape, self.fields
        blocks, block = k_blocks(shape.k)
        chunks = 1
        if self.threads > 1 and self.work > SERIAL_FLOPS:
            chunks = min(self.work // CHUNK_FLOPS, CHUNKS_PER_THREAD * self.threads)
        multiple = COLUMNS * VECTOR_BYTES // self.item
        grain = -(-shape.n // (chunks * multiple)) * multiple
        chunks = -(-shape.n // grain)
        fields.update(depth=shape.k, block=block, blocks=blocks)
        fields.update(a=("A", self.offsets[0]), a_batch=shape.a[0], a_step=shape.a[2])
        fields.update(b=("B", self.offsets[1]), b_batch=shape.b[0])
        fields.update(b_step=shape.b[1], b_panel=shape.b[2])
        fields.update(c=("C", self.offsets[2]), c_batch=shape.c[0])
        fields.update(columns=shape.n, column_grain=grain, column_chunks=chunks)
        return chunks

    def _launch(self, step: str, chunks: int) -> Launch:
        return Launch(function_name(self.dtype, step), tuple(self.fields.values()), chunks)

    def _share_batch(self) -> int:
        """Cut a batch of matrices that are one chunk at most; gives the number of chunks."""
        batch = grain = self.shape.batch
        if self.threads > 1 and self.work * batch > SERIAL_FLOPS:
            grain = max(1, min(CHUNK_FLOPS // self.work, batch // self.threads))
        self.fields.update(batch=batch, batch_grain=grain)
        return -(-batch // grain)

    @property
    def work(self) -> int:
        """Time of one matrix, in operations."""
        return self.shape.flops + TOUCH_FLOPS * self.shape.n * (self.shape.k + 1)

    @property
    def item(self) -> int:
        return ITEM_BYTES[self.dtype]

    @property
    def lanes(self) -> int:
        return self.tile.lanes(self.dtype)

    @property
    def tiles(self) -> int:
        return -(-self.shape.m // self.tile.rows)

    @property
    def panels(self) -> int:
        return -(-self.shape.n // self.lanes)

    @property
    def block(self) -> int:
        return k_blocks(self.shape.k)[1]

    def _fill_extents(self) -> None:
        shape = self.shape
        blocks, block = k_blocks(shape.k)
        full, rest = divmod(shape.n, self.lanes)
        self.fields.update(depth=shape.k, block=block, blocks=blocks)
        self.fields.update(rows=shape.m, tiles=self.tiles)
        self.fields.update(full=full, panels=self.panels, edge_count=rest)
        self.fields.update(c=("C", self.offsets[2]), c_batch=shape.c[0], c_row=shape.c[1])

    def _read_a(self) -> None:
        """Read A in place or from row tiles packed into scratch."""
        shape = self.shape
        batch, row, column = shape.a
        source = ("A", self.offsets[0])
        if shape.n >= IN_PLACE_COLUMNS and shape.m * shape.k * self.item > IN_PLACE_BYTES:
            size, matrix, target = self._pack("pack_a", source, (batch, row, column), shape.m)
            self.fields.update(a=target, a_batch=matrix, a_block=size * self.tiles, a_tile=size)
            self.fields.update(a_row=self.item, a_step=self.tile.rows * self.item)
        else:
            self.fields.update(a=source, a_batch=batch, a_block=self.block * column)
            self.fields.update(a_tile=self.tile.rows * row, a_row=row, a_step=column)

    def _read_b(self) -> None:
        """Read B from panels packed into scratch or in place.

        In place the last, partial panel starts early enough to end with B: its first lanes are
        columns that the panel before has computed, and are skipped.
        """
        shape, fields = self.shape, self.fields
        batch, row, column = shape.b
        source = ("B", self.offsets[1])
        full, rest = divmod(shape.n, self.lanes)
        if self._packs_b() and self.fields["row_chunks"] == 1:
            self._read_local(source)
            return
        if self._packs_b():
            size, matrix, (_, start) = self._pack("pack_b", source, (batch, column, row), shape.n)
            last = ("scratch", start + full * size)
            block, panel, step = size * self.panels, size, self.lanes * self.item
            fields.update(b=("scratch", start), b_batch=matrix, edge=last, edge_batch=matrix)
        else:
            last = ("B", self.offsets[1] + (shape.n - self.lanes) * self.item)
            block, panel, step = self.block * row, self.lanes * self.item, row
            fields.update(b=source, b_batch=batch, edge=last, edge_batch=batch)
            fields.update(edge_skip=self.lanes - rest)
        fields.update(b_block=block, b_panel=panel, b_step=step, edge_block=block, edge_step=step)

    def _read_local(self, source: tuple[str, int]) -> None:
        """Let every chunk pack the panels of B that it needs, one after the other in one place."""
        batch, row, column = self.shape.b
        size, step = self.lanes * self.block * self.item, self.lanes * self.item
        chunks = self.fields["column_chunks"]
        assert isinstance(chunks, int)
        place = ("scratch", self._take(size * chunks * self.shape.batch))
        self.fields.update(b=place, b_batch=size * chunks, b_local=size, b_step=step)
        self.fields.update(edge=place, edge_step=step)
        self.fields["pack_b.source"], self.fields["pack_b.source_batch"] = source, batch
        self.fields["pack_b.lane"], self.fields["pack_b.step"] = column, row

    def _take(self, size: int) -> int:
        """Offset of `size` new bytes of scratch."""
        start = self.scratch
        self.scratch += -(-size // CACHE_LINE) * CACHE_LINE
        return start

    def _packs_b(self) -> bool:
        shape = self.shape
        if shape.b[2] != self.item or shape.n < self.lanes:
            return True
        return self.tiles > IN_PLACE_TILES and shape.k * shape.n * self.item > IN_PLACE_BYTES

    def _pack(
        self, step: str, source: tuple[str, int], strides: tuple[int, int, int], lanes: int
    ) -> tuple[int, int, tuple[str, int]]:
        """Fill a pack step; gives bytes of a panel, bytes of a matrix, and where the panels are.

        `strides` are those of (batch, lane, k) in the source. In scratch K blocks are outermost,
        then panels, then steps of k, then lanes.
        """
        width, panels = self.lanes, self.panels
        if step == "pack_a":
            width, panels = self.tile.rows, self.tiles
        panel = width * self.block * self.item
        matrix = panel * panels * k_blocks(self.shape.k)[0]
        target = ("scratch", self._take(matrix * self.shape.batch))
        values: dict[str, Argument] = {
            "source": source,
            "source_batch": strides[0],
            "lane": strides[1],
            "step": strides[2],
            "target": target,
            "target_batch": matrix,
            "target_block": panel * panels,
            "target_panel": panel,
            "lanes": lanes,
            "panels": panels,
            "grain": max(1, PACK_BYTES * panels // matrix),
        }
        self.fields.update({f"{step}.{name}": value for name, value in values.items()})
        return panel, matrix, target

    def _chunks(self, step: str, panels: int) -> int:
        """Chunks of a pack step for one matrix; none where the operand is read in place."""
        grain = self.fields[f"{step}.grain"]
        assert isinstance(grain, int)
        chunks = -(-panels // grain) if grain else 0
        self.fields[f"{step}.chunks"] = chunks
        return chunks

    def _cut(self, threads: int) -> int:
        """Cut C into chunks of equal work; gives their number for one matrix."""
        least_rows = -(-self.tiles // (BLOCK_ROWS // self.tile.rows))
        most = max(least_rows, min(self.work // CHUNK_FLOPS, CHUNKS_PER_THREAD * threads))
        if threads == 1:
            most = least_rows
        grids = []
        for row_chunks in range(least_rows, min(self.tiles, least_rows + threads) + 1):
            for column_chunks in range(1, min(self.panels, most // row_chunks) + 1):
                tile_grain = -(-self.tiles // row_chunks)
                panel_grain = -(-self.panels // column_chunks)
                rows, columns = -(-self.tiles // tile_grain), -(-self.panels // panel_grain)
                turns = -(-rows * columns * self.shape.batch // threads)
                grids.append(
                    (turns * tile_grain * panel_grain, rows, columns, tile_grain, panel_grain)
                )
        bound = SLACK * min(grid[0] for grid in grids)
        good = [grid for grid in grids if grid[0] <= bound]
        # As few cuts between rows as possible: B is packed once for all rows of a chunk.
        _, rows, columns, tile_grain, panel_grain = min(good, key=lambda grid: (grid[1], -grid[2]))
        self.fields.update(tile_grain=tile_grain, panel_grain=panel_grain)
        self.fields.update(row_chunks=rows, column_chunks=columns)
        return rows * columns
