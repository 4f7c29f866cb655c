"""Normal form of a matrix product's shape: one batch axis at most, strides that tell contiguity.

`gemm_plan.py` calls `products` first: a batch over several axes becomes a list of equal products at
different offsets, and a batch that shares B becomes one taller product. Next: `gemm_plan.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

Strides = tuple[int, int, int]
"""Byte strides of (batch, row, column)."""

Offsets = tuple[int, int, int]
"""Byte offsets of A, B and C."""

_Axis = tuple[int, Offsets]
"""A batch axis: its extent and the steps of A, B and C along it."""


@dataclass(frozen=True)
class Shape:
    """C[batch, m, n] = A[batch, m, k] @ B[batch, k, n], with byte strides."""

    m: int
    n: int
    k: int
    batch: int
    a: Strides
    b: Strides
    c: Strides

    @property
    def flops(self) -> int:
        """Operations of one matrix of the batch."""
        return 2 * self.m * self.n * self.k


def products(
    extents: tuple[int, int, int],
    batch: Sequence[int],
    a_strides: Sequence[int],
    b_strides: Sequence[int],
    c_strides: Sequence[int],
    item: int,
) -> tuple[Shape, list[Offsets]]:
    """The product to run, and the offsets at which to run it; extents are (m, n, k)."""
    m, n, k = extents
    axes = _merge_axes(batch, (a_strides, b_strides, c_strides))
    count, steps = axes.pop() if axes else (1, (0, 0, 0))
    a, b, c = (
        (step, own[-2], own[-1])
        for step, own in zip(steps, (a_strides, b_strides, c_strides), strict=True)
    )
    shape = _fold_batch(_plain_strides(Shape(m, n, k, count, a, b, c), item))
    return shape, _offsets(axes)


def _merge_axes(batch: Sequence[int], strides: Sequence[Sequence[int]]) -> list[_Axis]:
    """Batch axes without those of extent 1, neighbours joined where they step as one axis would."""
    axes: list[_Axis] = []
    for axis, extent in enumerate(batch):
        if extent == 1:
            continue
        steps = (strides[0][axis], strides[1][axis], strides[2][axis])
        if axes and axes[-1][1] == tuple(extent * step for step in steps):
            axes[-1] = (axes[-1][0] * extent, steps)
        else:
            axes.append((extent, steps))
    return axes


def _offsets(axes: Sequence[_Axis]) -> list[Offsets]:
    found = [(0, 0, 0)]
    for extent, (a, b, c) in axes:
        found = [(x + i * a, y + i * b, z + i * c) for x, y, z in found for i in range(extent)]
    return found


def _plain_strides(shape: Shape, item: int) -> Shape:
    """Give axes of extent 1, whose stride means nothing, the one of a contiguous matrix."""
    a, b, c = shape.a, shape.b, shape.c
    if shape.k <= 1:
        a, b = (a[0], a[1], item), (b[0], shape.n * item, b[2])
    if shape.n == 1:
        b = (b[0], b[1], item)
    if shape.m == 1:
        a, c = (a[0], shape.k * item, a[2]), (c[0], shape.n * item, c[2])
    return replace(shape, a=a, b=b, c=c)


def _fold_batch(shape: Shape) -> Shape:
    """Make a batch that shares B one product, where its rows follow each other in A and in C."""
    if shape.batch == 1 or shape.b[0] != 0:
        return shape
    a, c = shape.a, shape.c
    if shape.m == 1:
        a, c = (0, a[0], a[2]), (0, c[0], c[2])
    elif a[0] != shape.m * a[1] or c[0] != shape.m * c[1]:
        return shape
    return replace(shape, m=shape.m * shape.batch, batch=1, a=a, c=c)
