"""Maps compiled by codegen/llvm give the bits of codegen/python, whatever the layout, tail and
chunking.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import numpy as np
import pytest

from numen.compiler.body import Body
from numen.compiler.codegen.python import execute
from numen.compiler.nest import Buffer, Nest, Store
from numen.compiler.scalar import DTYPES, INTS
from numen.runtime import native

sys.path.insert(0, str(Path(__file__).parent))
from llvm_nests import Kernel, check, filled, random_map, same_bits, values

pytestmark = pytest.mark.skipif(not native.available(), reason="no native code on this platform")

LENGTHS = (0, 1, 2, 15, 16, 17, 31, 33, 100, 1000)


def elementwise(op: str, dtype: str, count: int, result: str | None = None) -> Nest:
    b = Body()
    loads = [b.load(number, dtype) for number in range(count)]
    value = b.cast(loads[0], result) if op == "cast" else getattr(b, op)(*loads)
    buffers = (*(Buffer(dtype, ("1",)) for _ in loads), Buffer(value.dtype, ("1",)))
    return Nest(1, False, buffers, (), b.instrs, (Store(count, value.position),))


@pytest.mark.parametrize("dtype", DTYPES)
def test_all_lengths_of_a_row(dtype):
    kernel = Kernel(
        elementwise("select" if dtype == "bool" else "multiply", dtype, 3 if dtype == "bool" else 2)
    )
    for length in LENGTHS:
        for grain in (None, 1, 7):
            if grain != 1 or length <= 100:
                check(kernel, (length,), grain=grain)


@pytest.mark.parametrize("dtype", DTYPES)
def test_casts_to_every_dtype(dtype):
    for result in DTYPES:
        if dtype.startswith("float") and result in INTS:
            continue
        check(Kernel(elementwise("cast", dtype, 1, result)), (133,))


@pytest.mark.parametrize("seed", range(40))
def test_random_maps(seed):
    draw = random.Random(seed)
    rank = draw.choice((1, 1, 2, 2, 3, 4))
    dtypes = [draw.choice(DTYPES) for _ in range(draw.choice((1, 2, 3)))]
    nest = random_map(draw, rank, dtypes, draw.choice((1, 2, 5, 9, 30)))
    kernel = Kernel(nest, draw.choice((None, None, None, 4)))
    scalars = (1.625, -7)[: len(nest.scalars)]
    for _ in range(5):
        outer = [draw.choice((0, 1, 2, 3, 5)) for _ in range(rank - 1)]
        for grain in (None, 7):
            check(kernel, (*outer, draw.choice(LENGTHS)), scalars, grain=grain, seed=seed)


def test_no_axes_at_all():
    b = Body()
    total = b.add(b.load(0, "int16"), b.const(3, "int16"))
    nest = Nest(0, False, (Buffer("int16", ()),) * 2, (), b.instrs, (Store(1, total.position),))
    result = np.zeros((), np.int16)
    Kernel(nest)((), (np.array(32767, np.int16), result))
    assert result == -32766


@pytest.mark.parametrize("length", [17, 1000])
@pytest.mark.parametrize("heavy", [False, True])
def test_an_output_may_be_an_input(length, heavy):
    b = Body()
    x, y = b.load(0, "float32"), b.load(1, "float32")
    total = b.add(x, y)
    for _ in range(20 if heavy else 0):
        total = b.add(b.multiply(total, y), x)
    buffers = (Buffer("float32", ("1",)), Buffer("float32", ("1",)), Buffer("float32", ("1",)))
    nest = Nest(1, False, buffers, (), b.instrs, (Store(2, total.position),))
    x_in, y_in = values("float32", length, 1), values("float32", length, 2)
    expected = x_in.copy()
    execute(nest, (length,), (x_in, y_in, expected))
    Kernel(nest)((length,), (x_in, y_in, x_in), grain=100)
    same_bits(x_in, expected)


def test_bool_is_true_for_every_byte_but_zero():
    kernel = Kernel(elementwise("cast", "bool", 1, "float32"))
    flags = np.arange(64, dtype=np.uint8)
    flags[::3] = 0
    got = np.empty(64, np.float32)
    kernel((64,), (flags, got))
    same_bits(got, (flags != 0).astype(np.float32))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bitcast_both_ways(dtype):
    b = Body()
    bits = b.bitcast(b.load(0, dtype), "int32" if dtype == "float32" else "int64")
    back = b.bitcast(b.add(bits, b.const(1, bits.dtype)), dtype)
    buffers = (Buffer(dtype, ("1",)), Buffer(bits.dtype, ("1",)), Buffer(dtype, ("1",)))
    nest = Nest(1, False, buffers, (), b.instrs, (Store(1, bits.position), Store(2, back.position)))
    x = values(dtype, 77, 3)
    x[np.isnan(x)] = 1
    got = np.empty(77, bits.dtype), np.empty(77, dtype)
    expected = np.empty(77, bits.dtype), np.empty(77, dtype)
    execute(nest, (77,), (x, *expected))
    Kernel(nest)((77,), (x, *got))
    same_bits(got[0], expected[0])
    same_bits(got[1], expected[1])


def test_a_constant_fills_an_array():
    b = Body()
    value = b.const(2.5, "float64")
    nest = Nest(
        2, False, (Buffer("float64", ("s", "1")),), (), b.instrs, (Store(0, value.position),)
    )
    check(Kernel(nest), (3, 21))


@pytest.mark.parametrize("crossing", [("1", "s"), ("s", "s")])
def test_buffers_that_run_across_each_other(crossing):
    b = Body()
    total = b.add(b.load(0, "float32"), b.load(1, "float32"))
    buffers = (Buffer("float32", ("s", "1")), Buffer("float32", crossing))
    nest = Nest(2, False, (*buffers, buffers[0]), (), b.instrs, (Store(2, total.position),))
    kernel = Kernel(nest)
    for extents in ((70, 150), (16, 64), (1, 65), (35, 1)):
        for grain in (None, 7):
            check(kernel, extents, grain=grain)


def test_rows_need_no_order_of_their_chunks():
    draw = random.Random(5)
    nest = random_map(draw, 3, ["float32", "int64"], 6)
    arrays = [filled(b.strides, (3, 5, 20), b.dtype, 9) for b in nest.buffers]
    kernel = Kernel(nest)
    results = []
    for grain in (15, 7, 1):
        kernel((3, 5, 20), arrays, (1.0, 2)[: len(nest.scalars)], grain)
        results.append(arrays[nest.outputs[0]].copy())
    same_bits(results[1], results[0])
    same_bits(results[2], results[0])
