"""Nests to LLVM IR: one function for a kernel, a module for several.

`emit_kernel` and `emit_module` are what the compiler calls; the text goes to `runtime/native.py`.
The numerics are those of `codegen/python`, bit for bit. Next: `maps.py`, `rows.py`, `columns.py`,
then `combine.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from numen.compiler.codegen.llvm.columns import emit_columns, suits_columns
from numen.compiler.codegen.llvm.combine import emit_combine
from numen.compiler.codegen.llvm.ir import Function
from numen.compiler.codegen.llvm.maps import emit_map
from numen.compiler.codegen.llvm.rows import emit_rows
from numen.compiler.nest import Nest
from numen.errors import InternalError

Variant = Literal["single", "partial", "combine"]


def emit_kernel(
    nest: Nest, name: str, variant: Variant = "single", vector_width: int | None = None
) -> str:
    """A module with one kernel, `void name(ptr args, i64 chunk)`.

    variant: "single" computes all of an output point in one unit. "partial" and "combine" are the
    two steps of a reduction that is split over blocks: a unit of "partial" is one block of one
    point, and scratch holds (number of reductions) * points * blocks items of 8 bytes; a unit of
    "combine" is a point.
    vector_width: lanes of the vectors (a power of two, at most 16), 0 or None to choose by dtype.
    """
    return emit_module([(nest, name, variant)], vector_width)


def emit_module(
    kernels: Iterable[tuple[Nest, str, Variant]], vector_width: int | None = None
) -> str:
    """A module with several kernels; what they declare appears once."""
    functions = [_function(nest, name, variant, vector_width) for nest, name, variant in kernels]
    names = [function.name for function in functions]
    if len(set(names)) != len(names):
        raise InternalError(f"emit_module: kernel names must differ, got {names}")
    declarations = sorted({line for function in functions for line in function.all_declarations()})
    return "\n".join([*(function.text() for function in functions), *declarations, ""])


def scratch_bytes(nest: Nest, points: int, blocks: int) -> int:
    """Scratch that the "partial" and "combine" variants of a nest share."""
    reduces = sum(instr.op == "reduce" for instr in nest.body)
    return 8 * reduces * points * blocks


def _function(nest: Nest, name: str, variant: Variant, vector_width: int | None) -> Function:
    function = Function(name)
    width = vector_width or None
    if not nest.reduced:
        if variant != "single":
            raise InternalError(f"kernel {name}: a map has no {variant!r} variant")
        emit_map(function, nest, width)
    elif variant == "combine":
        emit_combine(function, nest)
    elif suits_columns(nest):
        emit_columns(function, nest, variant, width)
    else:
        emit_rows(function, nest, variant, width)
    return function
