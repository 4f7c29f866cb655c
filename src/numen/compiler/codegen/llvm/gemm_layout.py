"""What the generated matrix product and its planner agree on: tiles, K blocks, argument block.

Used by `gemm.py` (which emits the functions) and `gemm_plan.py` (which fills the arguments). A
product is C[M, N] = A[M, K] @ B[K, N]. C is cut into tiles of `rows` x `lanes`; a row of tiles
reads one *tile* of A, a column of tiles one *panel* of B. Next: `gemm_kernel.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

VECTOR_BYTES = 64
"""Size of the logical vector, 16 float32 or 8 float64; code generation splits it where need be."""

DEPTH = 256
"""Longest K block; part of the numerics contract."""

ITEM_BYTES = {"float32": 4, "float64": 8}


@dataclass(frozen=True)
class Tile:
    """The micro-kernel's part of C: `rows` rows of `vectors` logical vectors, held in registers."""

    rows: int
    vectors: int

    def lanes(self, dtype: str) -> int:
        return self.vectors * VECTOR_BYTES // ITEM_BYTES[dtype]


TILES = {
    "avx512": Tile(rows=12, vectors=2),  # 24 of 32 registers accumulate
    "avx2": Tile(rows=6, vectors=1),  # 12 of 16
    "neon": Tile(rows=6, vectors=1),  # 24 of 32
}


def select_isa(triple: str, features: str) -> str | None:
    """The tile table's key for a target; None where fused multiply-add is not an instruction."""
    enabled = set(features.split(","))
    if triple.startswith(("aarch64", "arm64")):
        return "neon"
    if "+avx512f" in enabled:
        return "avx512"
    if "+avx2" in enabled and "+fma" in enabled:
        return "avx2"
    return None


def k_blocks(depth: int) -> tuple[int, int]:
    """Number of K blocks and the length of each (the last is shorter); a function of K alone."""
    count = max(1, (depth + DEPTH - 1) // DEPTH)
    length = (depth + count - 1) // count
    return count, max(16, (length + 15) // 16 * 16)


# The argument block: 8-byte slots, the same for every function of a product. All strides are in
# bytes. The fields of a pack step stand twice, first for A ("pack_a."), then for B ("pack_b.").

PACK_FIELDS = (
    "source",
    "source_batch",  # from one matrix of a batch to the next
    "lane",  # from one row of A, or column of B, to the next
    "step",  # along K
    "target",
    "target_batch",
    "target_block",  # from one K block to the next
    "target_panel",  # from one panel to the next
    "lanes",  # rows of A, or columns of B
    "panels",  # per matrix
    "grain",  # panels per chunk
    "chunks",  # per matrix; 0 where the operand is read in place
)

MULTIPLY_FIELDS = (
    "depth",  # K
    "block",  # length of a K block
    "blocks",  # number of K blocks
    "rows",  # M
    "a",
    "a_batch",
    "a_block",
    "a_tile",
    "a_row",
    "a_step",
    "b",
    "b_batch",
    "b_block",
    "b_panel",
    "b_step",
    "b_local",  # not 0: a chunk packs each panel itself, into this many bytes at "b" of its own
    "edge",  # the last, partial panel of B; its first `skip` lanes are columns of the one before
    "edge_batch",
    "edge_block",
    "edge_step",
    "edge_skip",
    "edge_count",  # columns that the partial panel adds
    "full",  # number of whole panels
    "panels",  # whole and partial ones
    "c",
    "c_batch",
    "c_row",
    "tiles",  # row tiles, whole and partial
    "tile_grain",  # row tiles per chunk
    "panel_grain",  # panels per chunk
    "row_chunks",
    "column_chunks",
    "columns",  # N; this and the next are read by "row" and "dots" only
    "column_grain",  # columns per chunk
    "batch",  # matrices; read by "whole" only
    "batch_grain",  # matrices per chunk of "whole"
)

SLOTS = {
    name: index
    for index, name in enumerate(
        [f"pack_a.{name}" for name in PACK_FIELDS]
        + [f"pack_b.{name}" for name in PACK_FIELDS]
        + list(MULTIPLY_FIELDS)
    )
}


def function_name(dtype: str, step: str) -> str:
    """Name of an exported function; `step` is "pack", "multiply", "whole", "row" or "dots"."""
    return f"gemm_{dtype}_{step}"
