"""Reductions compiled by codegen/llvm follow the contract's order bit for bit, in every layout and
split.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import numpy as np
import pytest

from numen.compiler.body import Body
from numen.compiler.codegen.llvm.columns import suits_columns
from numen.compiler.nest import Buffer, Nest, Store
from numen.compiler.scalar import DTYPES
from numen.runtime import native

sys.path.insert(0, str(Path(__file__).parent))
from llvm_nests import Kernel, check, random_reduction, reduction, same_bits

pytestmark = pytest.mark.skipif(not native.available(), reason="no native code on this platform")

KINDS = ("sum", "max", "min", "argmax")
COUNTS = (1, 15, 16, 17, 255, 8191, 8192, 8193, 20000)
LAYOUTS = {
    "all": ("1",),
    "strided": ("s",),
    "rows": ("s", "1"),
    "columns": ("1", "s"),
    "planes": ("s", "1", "s"),
    "scattered": ("s", "s", "s"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", KINDS)
def test_all_extents(kind, layout):
    strides = LAYOUTS[layout]
    kernel = Kernel(reduction(kind, "float32", strides))
    assert suits_columns(kernel.nest) == (layout in ("columns", "planes"))
    points = {1: (), 2: (5,), 3: (2, 3)}[len(strides)]
    for count in COUNTS:
        check(kernel, (*points, count))
        check(kernel, (*points, count), grain=1, in_steps=True)
    if kind == "sum":
        check(kernel, (*points, 0))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes_in_both_layouts(dtype, kind):
    if kind == "sum" and dtype == "bool":
        pytest.skip("not defined")
    for strides in (("s", "1"), ("1", "s")):
        kernel = Kernel(reduction(kind, dtype, strides))
        for extents in ((3, 1), (2, 40), (37, 19)):
            check(kernel, extents, grain=7)


@pytest.mark.parametrize("seed", range(30))
def test_random_reductions(seed):
    draw = random.Random(seed)
    rank = draw.choice((1, 2, 2, 3, 4))
    dtypes = [draw.choice(DTYPES) for _ in range(draw.choice((1, 2, 3)))]
    kernel = Kernel(random_reduction(draw, rank, dtypes, draw.choice((0, 2, 6, 30))))
    for count in draw.sample(COUNTS[:-3], 2):
        outer = [draw.choice((1, 2, 3, 17, 35)) for _ in range(rank - 1)][-2:]
        extents = (*(1 for _ in range(rank - 1 - len(outer))), *outer, count)
        check(kernel, extents, grain=draw.choice((None, 7)), seed=seed)
        check(kernel, extents, grain=draw.choice((None, 7)), seed=seed, in_steps=True)


@pytest.mark.parametrize("width", [4, 8, 16])
@pytest.mark.parametrize("strides", [("s", "1"), ("1", "s")])
def test_vector_width_changes_nothing(strides, width):
    kernel = Kernel(reduction("sum", "float64", strides, after=True), width)
    check(kernel, (37, 75))


def test_more_partials_than_lanes():
    for strides in (("1",), ("1", "s")):
        kernel = Kernel(reduction("sum", "float32", strides))
        extents = (*(3,) * (len(strides) - 1), 140000)
        check(kernel, extents)
        check(kernel, extents, grain=2, in_steps=True)


@pytest.mark.parametrize("strides", [("s", "1"), ("1", "s"), ("s", "0")])
@pytest.mark.parametrize("kind", KINDS)
def test_work_before_and_after(kind, strides):
    kernel = Kernel(reduction(kind, "int16", strides, before="float64", after=True))
    for extents in ((40, 33), (3, 9000)):
        for grain in (None, 1, 7):
            check(kernel, extents, grain=grain)
        check(kernel, extents, grain=7, in_steps=True)


@pytest.mark.parametrize("x_strides", [("s", "s", "1"), ("s", "1", "s")])
def test_several_reductions_with_broadcast_operands(x_strides):
    """max, sum and argmax of x * scale + shift, and values that need none, in one kernel."""
    b = Body()
    x, scale, shift = (b.load(number, "float32") for number in range(3))
    step = b.cast(b.scalar(0, "float64"), "float32")
    y = b.add(b.multiply(x, scale), b.multiply(shift, step))
    y = b.add(y, b.cast(b.index(2), "float32"))
    y = b.add(y, b.cast(b.index(1), "float32"))
    top, total, place = b.reduce("max", y), b.reduce("sum", y), b.reduce("argmax", y)
    ratio = b.add(b.divide(total, top), scale)
    inputs = (Buffer("float32", x_strides), Buffer("float32", ("0", "1", "0")))
    inputs += (Buffer("float32", ("0", "0", "1")),)
    outputs = (Buffer("float32", ("s", "1", "0")), Buffer("int64", ("s", "s", "0")))
    outputs += (Buffer("float32", ("s", "1", "0")),)
    stores = (Store(3, ratio.position), Store(4, place.position), Store(5, scale.position))
    nest = Nest(3, True, inputs + outputs, ("float64",), b.instrs, stores)
    kernel = Kernel(nest)
    for extents in ((2, 35, 21), (3, 4, 9001), (1, 1100, 3)):
        for grain in (None, 7):
            check(kernel, extents, (0.3,), grain=grain)
            check(kernel, extents, (0.3,), grain=grain, in_steps=True)


@pytest.mark.parametrize("strides", [("s", "1"), ("1", "s")])
def test_heavy_bodies(strides):
    b = Body()
    x = b.load(0, "float64")
    y = x
    for _ in range(12):
        y = b.add(b.multiply(y, b.const(0.5, "float64")), x)
    result = b.reduce("sum", y)
    buffers = (Buffer("float64", strides), Buffer("float64", ("1", "0")))
    nest = Nest(2, True, buffers, (), b.instrs, (Store(1, result.position),))
    kernel = Kernel(nest)
    for extents in ((3, 100), (19, 15), (2, 8200)):
        check(kernel, extents)
        check(kernel, extents, grain=1, in_steps=True)


@pytest.mark.parametrize("strides", [("s", "1"), ("1", "s")])
def test_nan_and_ties(strides):
    rows = np.zeros((4, 50), np.float32)
    rows[0, [7, 30]] = np.nan
    rows[1, [30, 44]] = 5
    rows[2] = -np.inf
    rows[3, 20:] = -0.0
    x = rows if strides[1] == "1" else np.asfortranarray(rows)
    for kind in KINDS[1:]:
        nest = reduction(kind, "float32", strides)
        out = np.zeros((4, 1), nest.buffers[1].dtype)
        Kernel(nest)((4, 50), (x, out))
        expected = getattr(np, kind)(rows, axis=1)[:, None]
        assert np.array_equal(out, expected, equal_nan=out.dtype.kind == "f")
    assert not np.signbit(rows[3, 0])


def test_sum_of_nothing_is_plus_zero():
    for strides in (("s", "1"), ("1", "s")):
        nest = reduction("sum", "float64", strides)
        out = np.full((3, 1), -1.0)
        Kernel(nest)((3, 0), (np.zeros((3, 1)), out))
        same_bits(out, np.zeros((3, 1)))
