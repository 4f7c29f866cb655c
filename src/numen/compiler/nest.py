"""The loop IR: one `Nest` is one kernel, a loop over parallel axes around at most one reduced axis.

Comes from `compiler/passes/schedule.py`; goes to `codegen/llvm`, `codegen/cuda` and
`codegen/python` (whose result is the meaning). A Nest holds structure only: ops, dtypes, rank and
stride classes. Extents, strides and scalars are run-time arguments, so one compiled kernel serves
every shape of the same structure. Next: `scalar.py` for the instruction set, `nest_text.py` for the
printed form and the verifier.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Stride = Literal["0", "1", "s"]
"""How a buffer moves along an axis: "0" not at all (broadcast), "1" by one item, "s" by a run-time
byte stride."""

BLOCK = 8192
"""Elements of a reduced axis that one block accumulates; part of the numerics contract."""

LANES = 16
"""Logical lanes of a reduction: element i of a block goes to lane i % LANES; also contract."""


@dataclass(frozen=True)
class Buffer:
    """An array operand: its item type (a NumPy dtype name) and its stride class along each axis.

    Axes are ordered outermost first; the reduced axis, where there is one, comes last. An output
    buffer of a reduction has class "0" along it.
    """

    dtype: str
    strides: tuple[Stride, ...]


@dataclass(frozen=True)
class Instr:
    """One scalar SSA instruction. Its value is named by its position in the body.

    op: a name of `scalar.OPS`. args: positions of earlier instructions. dtype: the result's dtype
    name. attr: for "const" the Python value (float, int, bool), for "load" the index in
    `Nest.buffers`, for "scalar" the index in `Nest.scalars`, for "reduce" its kind ("sum", "max",
    "min", "argmax"), for "index" the axis; else None.
    """

    op: str
    args: tuple[int, ...]
    dtype: str
    attr: float | int | bool | str | None = None


@dataclass(frozen=True)
class Store:
    """Write instruction `value` into buffer `buffer` at the current point of the parallel axes."""

    buffer: int
    value: int


@dataclass(frozen=True)
class Nest:
    """A kernel.

    rank: number of axes, the reduced one included. reduced: whether the last axis is a reduced one.
    buffers: inputs and outputs; scalars: dtype names ("float64" or "int64") of run-time scalars.
    body: instructions in order. With `reduced`, a "reduce" instruction turns a value computed
    inside the reduced loop into one that stands after it: every instruction that does not depend on
    a reduce is inside the loop, every one that does stands after it (its other arguments must not
    vary along the reduced axis: loads of buffers with class "0" there, constants and scalars, are
    evaluated again after the loop).
    stores: in a reduced nest every stored value stands after the loop.
    """

    rank: int
    reduced: bool
    buffers: tuple[Buffer, ...]
    scalars: tuple[str, ...]
    body: tuple[Instr, ...]
    stores: tuple[Store, ...]

    @property
    def outputs(self) -> tuple[int, ...]:
        """Indices of the buffers that are stored to, in store order."""
        return tuple(s.buffer for s in self.stores)


# The argument block of a kernel, `kernel(ptr args, i64 chunk)`, in 8-byte slots:
#   0 units          number of work units (see below)
#   1 grain          units per chunk; chunk c does units [c * grain, min((c + 1) * grain, units))
#   2 scratch        pointer used by the split variants of a reduction, else 0
#   3 ...            extents, one per axis
#   then per buffer  pointer, then one byte stride per axis (0 for class "0", the item size for "1")
#   then scalars     8 bytes each, float64 or int64
# Work units: a map of rank 1 (and a map of rank 0, seen as one element): elements; a map of higher
# rank: the product of all extents but the last (rows); a reduction: the product of the parallel
# extents (output points), times the number of blocks for the "partial" variant.


def slot_units() -> int:
    return 0


def slot_grain() -> int:
    return 1


def slot_scratch() -> int:
    return 2


def slot_extent(axis: int) -> int:
    return 3 + axis


def slot_pointer(nest: Nest, buffer: int) -> int:
    return 3 + nest.rank + buffer * (1 + nest.rank)


def slot_stride(nest: Nest, buffer: int, axis: int) -> int:
    return slot_pointer(nest, buffer) + 1 + axis


def slot_scalar(nest: Nest, index: int) -> int:
    return 3 + nest.rank + len(nest.buffers) * (1 + nest.rank) + index


def slot_count(nest: Nest) -> int:
    return slot_scalar(nest, len(nest.scalars))
