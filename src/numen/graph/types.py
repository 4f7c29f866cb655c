"""Types of graph values: a NumPy dtype and a shape whose extents may be symbolic.

Used by every file of `graph` and `compiler`. An extent is an int, or a `Dim` that stands for `scale
* name + offset`. Next: `graph.py`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from numen.errors import ShapeError


@dataclass(frozen=True)
class Dim:
    """A symbolic extent, `scale * name + offset`. Two are equal when all three parts are.

    Sums with ints and products with ints stay affine; the difference of two Dims of one name and
    scale is an int.

    >>> 2 * Dim("B") + 1
    Dim(name='B', scale=2, offset=1)
    """

    name: str
    scale: int = 1
    offset: int = 0

    def __add__(self, other: Extent) -> Extent:
        if isinstance(other, int):
            return Dim(self.name, self.scale, self.offset + other)
        if other.name != self.name:
            raise ShapeError(f"the sum of {self} and {other} is not affine in one Dim")
        return _affine(self.name, self.scale + other.scale, self.offset + other.offset)

    def __mul__(self, factor: int) -> Extent:
        return _affine(self.name, self.scale * factor, self.offset * factor)

    def __neg__(self) -> Extent:
        return self * -1

    def __sub__(self, other: Extent) -> Extent:
        return self + -other

    def __rsub__(self, other: int) -> Extent:
        return -self + other

    __radd__ = __add__
    __rmul__ = __mul__

    def at(self, value: int) -> int:
        """Return the extent when the named dimension is `value`."""
        return self.scale * value + self.offset

    def __str__(self) -> str:
        scaled = self.name if self.scale == 1 else f"{self.scale}*{self.name}"
        return scaled if self.offset == 0 else f"{scaled}{self.offset:+d}"


Extent = int | Dim
Shape = tuple[Extent, ...]
Kind = Literal["array", "scalar"]
"""What an input is at run time: an ndarray, or a Python number (0-d float64, int64 or bool)."""


def _affine(name: str, scale: int, offset: int) -> Extent:
    return Dim(name, scale, offset) if scale else offset


@dataclass(frozen=True)
class TensorType:
    """dtype and shape of a value."""

    dtype: np.dtype
    shape: Shape

    @property
    def rank(self) -> int:
        return len(self.shape)

    def __str__(self) -> str:
        return f"{dtype_name(self.dtype)}[{', '.join(map(str, self.shape))}]"


@functools.cache
def plain_name(dtype: np.dtype) -> str:
    """`dtype.name`, which NumPy computes anew each time."""
    return dtype.name


@functools.cache
def dtype_name(dtype: np.dtype) -> str:
    """Return a name from which `np.dtype` makes the same dtype, the plain one if it does."""
    try:
        if np.dtype(dtype.name) == dtype:
            return dtype.name
    except TypeError:
        pass
    return dtype.str


def concrete(shape: Shape) -> tuple[int, ...]:
    """Return the shape as ints; a Dim in it raises ShapeError."""
    extents = []
    for extent in shape:
        if isinstance(extent, Dim):
            raise ShapeError(
                f"the shape {shape} has the symbolic extent {extent}; ints are needed here"
            )
        extents.append(extent)
    return tuple(extents)


def broadcast_shapes(shapes: Iterable[Shape]) -> Shape:
    """Return the shape that NumPy's broadcasting gives; extents fit when equal or 1."""
    result: list[Extent] = []  # innermost first
    all_shapes = list(shapes)
    for shape in all_shapes:
        for position, extent in enumerate(reversed(shape)):
            if position == len(result):
                result.append(extent)
            elif result[position] == 1:
                result[position] = extent
            elif extent not in (1, result[position]):
                text = ", ".join(str(s) for s in all_shapes)
                raise ShapeError(f"shapes {text} do not broadcast together")
    return tuple(reversed(result))


def contiguous_strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Return the byte strides of a C-contiguous array."""
    strides, step = [], itemsize
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))
