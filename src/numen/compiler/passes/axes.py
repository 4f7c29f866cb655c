"""Axes of a kernel: joins those that step alike in every operand; the loops become few and long.

Takes the extents and every operand's byte strides; gives fewer axes. `build.py` calls it when it
makes a Nest. Next: `build.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from numen.compiler.nest import Stride

Ints = tuple[int, ...]


@dataclass(frozen=True)
class Axes:
    """Extents, outermost first, and the strides of each operand along them."""

    extents: Ints
    strides: tuple[Ints, ...]


def join(extents: Ints, strides: Sequence[Ints]) -> Axes:
    """Drop extents of 1 and join neighbours (i, i + 1) where stride i = extent i+1 * stride i+1.

    An axis without elements joins with everything: nothing is ever read there.
    """
    empty = 0 in extents
    kept: list[int] = []
    columns: list[Ints] = []
    for axis, extent in enumerate(extents):
        if extent == 1:
            continue
        column = tuple(own[axis] for own in strides)
        if kept and (
            empty or all(o == s * extent for o, s in zip(columns[-1], column, strict=True))
        ):
            kept[-1] *= extent
            columns[-1] = column
        else:
            kept.append(extent)
            columns.append(column)
    return Axes(tuple(kept), tuple(tuple(c[i] for c in columns) for i in range(len(strides))))


def memory_order(extents: Ints, strides: Sequence[Ints]) -> Ints:
    """Parallel axes from the outermost in memory to the innermost; the last operand decides.

    Axes that it does not tell apart are ordered by the other operands, then as they are.
    """
    operands = (strides[-1], *strides[:-1]) if strides else ()
    return tuple(
        sorted(range(len(extents)), key=lambda axis: [-abs(own[axis]) for own in operands])
    )


def stride_class(stride: int, itemsize: int) -> Stride:
    return "0" if stride == 0 else "1" if stride == itemsize else "s"
