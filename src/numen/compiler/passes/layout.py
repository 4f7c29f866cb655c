"""Where the elements of a value lie: byte offset and strides, and what views do to them.

Used by `fuse.py` and `build.py`: view ops become layouts, nothing is copied. `CopyNeeded` says that
a reshape can't be expressed by strides. Next: `axes.py`, which joins axes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from numen.graph.types import contiguous_strides

Ints = tuple[int, ...]


class CopyNeeded(Exception):  # noqa: N818 - a signal inside the scheduler, not an error
    """A reshape that strides can't express."""


@dataclass(frozen=True)
class Layout:
    """Element i of a value lies at offset + sum(i * strides) bytes."""

    offset: int
    shape: Ints
    strides: Ints

    def transpose(self, axes: Ints) -> Layout:
        return Layout(
            self.offset, tuple(self.shape[a] for a in axes), tuple(self.strides[a] for a in axes)
        )

    def swapped(self) -> Layout:
        """The last two axes swapped."""
        axes = tuple(range(len(self.shape)))
        return self.transpose((*axes[:-2], axes[-1], axes[-2]))

    def broadcast_to(self, shape: Ints) -> Layout:
        """Repeat along new leading axes and axes of extent 1."""
        lead = len(shape) - len(self.shape)
        strides = tuple(
            0 if own == 1 and extent != 1 else stride
            for own, stride, extent in zip(self.shape, self.strides, shape[lead:], strict=True)
        )
        return Layout(self.offset, shape, (0,) * lead + strides)

    def getitem(self, index: tuple[Any, ...]) -> Layout:
        offset = self.offset
        shape: list[int] = []
        strides: list[int] = []
        axis = 0
        for entry in index:
            if entry is None:
                shape.append(1)
                strides.append(0)
                continue
            stride = self.strides[axis]
            if isinstance(entry, slice):
                picked = range(*entry.indices(self.shape[axis]))
                offset += picked.start * stride if len(picked) else 0
                shape.append(len(picked))
                strides.append(picked.step * stride)
            else:
                offset += (entry % self.shape[axis]) * stride
            axis += 1
        return Layout(offset, (*shape, *self.shape[axis:]), (*strides, *self.strides[axis:]))

    def reshape(self, shape: Ints, itemsize: int) -> Layout:
        """The same elements in C order in another shape; CopyNeeded where strides can't say it."""
        if shape == self.shape:
            return self
        if math.prod(shape) == 0:
            return Layout(self.offset, shape, contiguous_strides(shape, itemsize))
        runs = _joined(self.shape, self.strides)
        strides: list[int] = []
        extents = list(reversed(shape))
        position = 0
        for run, step in reversed(runs):
            left = run
            while left > 1:
                extent = extents[position]
                if left % extent:
                    raise CopyNeeded
                strides.append(step)
                step *= extent
                left //= extent
                position += 1
        strides += [0] * (len(extents) - position)  # extents of 1 are left
        return Layout(self.offset, shape, tuple(reversed(strides)))

    def bounds(self, itemsize: int) -> tuple[int, int]:
        """First byte and end of the touched range; only for layouts with elements."""
        reach = [stride * (n - 1) for n, stride in zip(self.shape, self.strides, strict=True)]
        low = self.offset + sum(r for r in reach if r < 0)
        return low, self.offset + sum(r for r in reach if r > 0) + itemsize


def _joined(shape: Ints, strides: Ints) -> list[tuple[int, int]]:
    """(extent, stride) of the axes, extents of 1 dropped and neighbours joined where possible."""
    runs: list[tuple[int, int]] = []
    for extent, stride in zip(shape, strides, strict=True):
        if extent == 1:
            continue
        if runs and runs[-1][1] == stride * extent:
            runs[-1] = (runs[-1][0] * extent, stride)
        else:
            runs.append((extent, stride))
    return runs


def apply_view(layout: Layout, op: str, params: dict[str, Any], itemsize: int) -> Layout:
    """The layout of `op(value, **params)` for one of `infer.VIEWS`."""
    if op == "transpose":
        return layout.transpose(params["axes"])
    if op == "broadcast_to":
        return layout.broadcast_to(params["shape"])
    if op == "getitem":
        return layout.getitem(params["index"])
    return layout.reshape(params["shape"], itemsize)


def contiguous(shape: Ints, itemsize: int) -> Layout:
    return Layout(0, shape, contiguous_strides(shape, itemsize))


def fortran(shape: Ints, itemsize: int) -> Layout:
    strides = contiguous_strides(tuple(reversed(shape)), itemsize)
    return Layout(0, shape, tuple(reversed(strides)))


def permuted(shape: Ints, order: Ints, itemsize: int) -> Layout:
    """Dense, with axes from the outermost in memory to the innermost as `order` says."""
    inner = contiguous_strides(tuple(shape[axis] for axis in order), itemsize)
    strides = [0] * len(shape)
    for axis, stride in zip(order, inner, strict=True):
        strides[axis] = stride
    return Layout(0, shape, tuple(strides))


def dense_order(strides: Ints) -> Ints:
    """The axes from the outermost in memory to the innermost."""
    return tuple(sorted(range(len(strides)), key=lambda axis: (-abs(strides[axis]), axis)))


def same_elements(read: Layout, written: Layout) -> bool:
    """Whether point i of `read` is point i of `written`, for every i."""
    return (
        read.offset == written.offset
        and read.shape == written.shape
        and all(
            r == w or extent == 1
            for r, w, extent in zip(read.strides, written.strides, read.shape, strict=True)
        )
    )


def disjoint(read: Layout, written: Layout, itemsize: int) -> bool:
    """Whether the two surely share no byte: apart in memory, or interleaved without contact."""
    if math.prod(read.shape) == 0 or math.prod(written.shape) == 0:
        return True
    low, high = read.bounds(itemsize)
    other_low, other_high = written.bounds(itemsize)
    if high <= other_low or other_high <= low:
        return True
    steps = [
        stride
        for layout in (read, written)
        for extent, stride in zip(layout.shape, layout.strides, strict=True)
        if extent > 1
    ]
    period = math.gcd(*steps) if steps else 0
    if period == 0:
        return False
    apart = (read.offset - written.offset) % period
    return itemsize <= apart <= period - itemsize
