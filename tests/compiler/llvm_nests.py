"""What the LLVM tests share: nests to try, memory laid out by stride classes, a runner, a check.

`check` holds a compiled nest to `codegen/python`, which says what a nest means.
"""

from __future__ import annotations

import ctypes
import math
import random
from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import as_strided

from numen.compiler.body import Body, Value
from numen.compiler.codegen.llvm import emit_kernel, emit_module, scratch_bytes
from numen.compiler.codegen.python import execute, view
from numen.compiler.nest import (
    BLOCK,
    Buffer,
    Nest,
    Store,
    slot_count,
    slot_extent,
    slot_pointer,
    slot_scalar,
    slot_stride,
)
from numen.compiler.scalar import FLOATS, INTS
from numen.runtime import native

# --- memory


def filled(classes: Sequence[str], extents: Sequence[int], dtype: str, seed: int) -> np.ndarray:
    """An array of these extents whose strides are of these classes, with values that tell ops
    apart.
    """
    strides, count = _strides(classes, extents, dtype)
    return as_strided(values(dtype, count, seed), tuple(extents), strides)


def _strides(
    classes: Sequence[str], extents: Sequence[int], dtype: str
) -> tuple[tuple[int, ...], int]:
    """Byte strides with gaps between the items, and how many items of memory that takes."""
    item = np.dtype(dtype).itemsize
    order = sorted(range(len(extents)), key=lambda axis: (classes[axis] == "1", axis))
    strides = [0] * len(extents)
    step = item
    for axis in reversed(order):
        if classes[axis] == "0":
            continue
        if classes[axis] == "s":
            step += 2 * item
        strides[axis] = step
        step *= max(extents[axis], 1)
    return tuple(strides), step // item + 1


def values(dtype: str, count: int, seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    if dtype == "bool":
        return generator.integers(0, 2, count).astype(bool)
    if dtype in FLOATS:
        result = (generator.standard_normal(count) * 4).astype(dtype)
        special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, 3.0, -3.0], dtype)
        chosen = generator.integers(0, 400, count)
        return np.where(chosen < 8, special[chosen % 8], result)
    info = np.iinfo(dtype)
    result = generator.integers(info.min, info.max, count, dtype=dtype, endpoint=True)
    chosen = generator.integers(0, 60, count)
    special = np.array([info.min, info.max, 0, 1], dtype)
    return np.where(chosen < 4, special[chosen % 4], result)


# --- running a kernel


def block(
    nest: Nest,
    extents: Sequence[int],
    arrays: Sequence[np.ndarray],
    scalars: Sequence[float],
    units: int,
    grain: int,
    scratch: int = 0,
) -> np.ndarray:
    """The argument block of a call."""
    slots = np.zeros(slot_count(nest) + 1, np.int64)
    slots[:3] = units, grain, scratch
    for axis, extent in enumerate(extents):
        slots[slot_extent(axis)] = extent
    for number, array in enumerate(arrays):
        slots[slot_pointer(nest, number)] = array.__array_interface__["data"][0]
        for axis, stride in enumerate(nest.buffers[number].strides):
            slots[slot_stride(nest, number, axis)] = 0 if stride == "0" else array.strides[axis]
    for number, (dtype, value) in enumerate(zip(nest.scalars, scalars, strict=True)):
        slot = slot_scalar(nest, number)
        slots[slot : slot + 1].view(dtype)[0] = value
    return slots


def call(address: int, slots: np.ndarray, units: int, grain: int) -> None:
    kernel = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(address)
    for chunk in range(-(-units // grain)):
        kernel(slots.ctypes.data, chunk)


class Kernel:
    """A compiled nest that runs over given memory."""

    def __init__(self, nest: Nest, vector_width: int | None = None) -> None:
        self.nest = nest
        self.split: native.Library | None = None
        self.library = native.compile_ir(
            "test", emit_kernel(nest, "kernel", "single", vector_width)
        )

    def units(self, extents: Sequence[int]) -> int:
        if self.nest.rank == 0:
            return 1
        if self.nest.rank == 1 and not self.nest.reduced:
            return extents[0]
        return math.prod(extents[:-1])

    def __call__(
        self,
        extents: Sequence[int],
        arrays: Sequence[np.ndarray],
        scalars: Sequence[float] = (),
        grain: int | None = None,
    ) -> None:
        units = self.units(extents)
        grain = grain or max(units, 1)
        slots = block(self.nest, extents, arrays, scalars, units, grain)
        call(self.library.address("kernel"), slots, units, grain)

    def in_steps(
        self,
        extents: Sequence[int],
        arrays: Sequence[np.ndarray],
        scalars: Sequence[float] = (),
        grain: int | None = None,
    ) -> None:
        """The same through "partial" and "combine"."""
        if self.split is None:
            variants = [(self.nest, "first", "partial"), (self.nest, "second", "combine")]
            self.split = native.compile_ir("test", emit_module(variants))
        points = math.prod(extents[:-1])
        blocks = -(-extents[-1] // BLOCK)
        scratch = np.full(scratch_bytes(self.nest, points, blocks) // 8 + 1, 77, np.int64)
        for name, units in (("first", points * blocks), ("second", points)):
            size = grain or max(units, 1)
            slots = block(self.nest, extents, arrays, scalars, units, size, scratch.ctypes.data)
            call(self.split.address(name), slots, units, size)


# --- results


def same_bits(got: np.ndarray, expected: np.ndarray) -> None:
    """Equal bits, but any NaN equals any NaN."""
    assert got.dtype == expected.dtype
    got, expected = np.ascontiguousarray(got), np.ascontiguousarray(expected)
    alike = got.reshape(-1).view(np.uint8) == expected.reshape(-1).view(np.uint8)
    alike = alike.reshape(*got.shape, got.dtype.itemsize).all(-1)
    if got.dtype.kind == "f":
        alike |= np.isnan(got) & np.isnan(expected)
    where = np.argwhere(~alike)
    assert not len(where), (
        f"{len(where)} differ, first at {where[0]}: {got[~alike][:3]} {expected[~alike][:3]}"
    )


# --- nests


def random_value(b: Body, known: list[Value], draw: random.Random) -> Value:
    """One more instruction on what is known, of any op that leaves no NaN's bits to see."""
    x = draw.choice(known)
    same = [value for value in known if value.dtype == x.dtype]
    y = draw.choice(same)
    ops = ["less", "less_equal", "equal", "not_equal", "greater", "greater_equal", "select", "cast"]
    if x.dtype in FLOATS:
        ops += ["add", "subtract", "multiply", "divide", "negative", "absolute", "sqrt"]
        ops += ["rint", "floor", "add", "multiply", "fma"]
    elif x.dtype in INTS:
        ops += ["add", "subtract", "multiply", "negative", "absolute", "and", "or", "xor", "not"]
        ops += ["shl", "lshr"]
    else:
        ops += ["and", "or", "xor", "not"]
    op = draw.choice(ops)
    if op == "select":
        conditions = [value for value in known if value.dtype == "bool"]
        condition = draw.choice(conditions) if conditions else b.less(x, y)
        return b.select(condition, x, y)
    if op == "cast":
        targets = ["float32", "float64", "bool"]
        if x.dtype not in FLOATS:
            targets += list(INTS)
        return b.cast(x, draw.choice(targets))
    if op in ("shl", "lshr"):
        return getattr(b, op)(x, draw.randrange(8))
    if op in ("negative", "absolute", "sqrt", "rint", "floor"):
        return getattr(b, op)(x)
    if op == "fma":
        return b.fma(x, y, draw.choice(same))
    if op == "not":
        return b.not_(x)
    method = getattr(b, op + "_" if op in ("and", "or") else op)
    return method(x, y)


def random_classes(draw: random.Random, rank: int, output: bool) -> tuple[str, ...]:
    """Stride classes of a buffer; at most one axis holds neighbours."""
    choices = "s" if output else draw.choice(["s", "s", "s0"])
    classes = [draw.choice(choices) for _ in range(rank)]
    if rank and draw.random() < 0.85:
        classes[-1 if draw.random() < 0.8 else draw.randrange(rank)] = "1"
    return tuple(classes)


def random_map(draw: random.Random, rank: int, dtypes: Sequence[str], length: int) -> Nest:
    """A map over `rank` axes with a random body of about `length` instructions."""
    b = Body()
    buffers = [Buffer(dtype, random_classes(draw, rank, False)) for dtype in dtypes]
    known = [b.load(number, buffer.dtype) for number, buffer in enumerate(buffers)]
    scalars = ("float64", "int64") if draw.random() < 0.4 else ()
    known += [b.scalar(number, dtype) for number, dtype in enumerate(scalars)]
    if rank and draw.random() < 0.3:
        known.append(b.index(draw.randrange(rank)))
    known.append(b.const(3, dtypes[0]) if dtypes[0] != "bool" else b.const(True, "bool"))
    for _ in range(length):
        known.append(random_value(b, known, draw))
    stores = []
    for value in [known[-1], *([draw.choice(known)] if draw.random() < 0.3 else [])]:
        stores.append(Store(len(buffers), value.position))
        buffers.append(Buffer(value.dtype, random_classes(draw, rank, True)))
    return Nest(rank, False, tuple(buffers), scalars, b.instrs, tuple(stores))


def reduction(
    kind: str,
    dtype: str,
    strides: Sequence[str],
    *,
    before: str | None = None,
    after: bool = False,
) -> Nest:
    """One reduction of one buffer; `before` casts its items first, `after` adds work on both
    sides.
    """
    b = Body()
    rank = len(strides)
    x = b.load(0, dtype)
    if before is not None:
        x = b.cast(x, before)
    if after and x.dtype != "bool":
        x = b.add(b.multiply(x, x), x)
    result = b.reduce(kind, x)
    if after:
        if result.dtype != "bool":
            result = b.add(result, result)
        result = b.cast(result, "float64")
    output = ("s",) * max(rank - 2, 0) + ("1",) * min(rank - 1, 1) + ("0",)
    buffers = (Buffer(dtype, tuple(strides)), Buffer(result.dtype, output))
    return Nest(rank, True, buffers, (), b.instrs, (Store(1, result.position),))


def random_reduction(draw: random.Random, rank: int, dtypes: Sequence[str], length: int) -> Nest:
    """One or two reductions of random values, random work on the results, any layout."""
    b = Body()
    buffers = [Buffer(dtype, random_classes(draw, rank, False)) for dtype in dtypes]
    outside: list[Value] = []
    inside: list[Value] = []
    for number, buffer in enumerate(buffers):
        value = b.load(number, buffer.dtype)
        inside.append(value)
        if buffer.strides[-1] == "0":
            outside.append(value)
    inside.append(b.index(draw.randrange(rank)))
    for _ in range(length):
        inside.append(random_value(b, inside, draw))
    for _ in range(draw.choice((1, 1, 2))):
        value = draw.choice(inside)
        kinds = ("max", "min", "argmax") + (("sum", "sum") if value.dtype != "bool" else ())
        outside.append(b.reduce(draw.choice(kinds), value))
    reduces = outside[-1]
    for _ in range(draw.choice((0, 2))):
        outside.append(random_value(b, outside, draw))
    stores = []
    for value in {reduces, outside[-1]}:
        stores.append(Store(len(buffers), value.position))
        buffers.append(Buffer(value.dtype, (*random_classes(draw, rank - 1, True), "0")))
    return Nest(rank, True, tuple(buffers), (), b.instrs, tuple(stores))


def check(
    kernel: Kernel,
    extents: Sequence[int],
    scalars: Sequence[float] = (),
    *,
    grain: int | None = None,
    in_steps: bool = False,
    seed: int = 1,
) -> None:
    """Run the nest on memory of its classes; all memory of the outputs, gaps too, must be as the
    meaning says.
    """
    nest = kernel.nest
    arrays: list[np.ndarray] = []
    wanted: list[np.ndarray] = []
    outputs: list[tuple[np.ndarray, np.ndarray]] = []
    for number, buffer in enumerate(nest.buffers):
        strides, count = _strides(buffer.strides, extents, buffer.dtype)
        memory = values(buffer.dtype, count, seed + number)
        expected = memory
        if number in nest.outputs:
            expected = memory.copy()
            outputs.append((memory, expected))
        arrays.append(as_strided(memory, tuple(extents), strides))
        wanted.append(view(expected, extents, strides))
    execute(nest, extents, wanted, scalars)
    (kernel.in_steps if in_steps else kernel)(extents, arrays, scalars, grain)
    for got, expected in outputs:
        same_bits(got, expected)
