"""The text that the CUDA target writes: stable, and with launch shapes that cover the extents."""

import math

import numpy as np
import pytest

from numen.compiler.body import Body
from numen.compiler.codegen.cuda import emit_cuda
from numen.compiler.codegen.cuda.spelling import constant, expression
from numen.compiler.nest import Buffer, Instr, Nest, Store
from numen.compiler.scalar import BITCASTS, DTYPES, OPS, fault
from numen.errors import InternalError

MAP_TEXT = """\
extern "C" __global__ void __launch_bounds__(256) scale(
    long long n0, long long n1,
    unsigned char* b0, long long b0s0, long long b0s1,
    unsigned char* b1, long long b1s0, long long b1s1,
    unsigned char* b2, long long b2s0, long long b2s1,
    double s0) {
  const long long total = n0 * n1;
  const long long step = (long long)gridDim.x * blockDim.x;
  long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  for (; at < total; at += step) {
    long long rest = at;
    const long long i1 = rest % n1;
    rest /= n1;
    const long long i0 = rest;
    const float v0 = *(const float*)(b0 + i0 * b0s0 + i1 * 4);
    const bool v1 = *(const unsigned char*)(b1 + i1 * b1s1) != 0;
    const double v2 = s0;
    const float v3 = (float)v2;
    const float v4 = __fmul_rn(v0, v3);
    const float v5 = v1 ? v4 : v0;
    *(float*)(b2 + i0 * b2s0 + i1 * 4) = v5;
  }
}
"""

SUM_TEXT = """\
static __device__ __forceinline__ float total_sum1(
    float a, float b) {
  return __fadd_rn(a, b);
}

extern "C" __global__ void __launch_bounds__(256) total(
    long long n0,
    unsigned char* b0, long long b0s0,
    unsigned char* b1, long long b1s0) {
  __shared__ float partial1[16];
  const int lane = threadIdx.x % 16, group = threadIdx.x / 16;
  const unsigned lanes = 0xffffu << (threadIdx.x & 16);  // this half of a warp
  const bool together = n0 > 8192;  // the groups share a point
  const long long points = 1;
  const long long step = gridDim.x * (together ? 1LL : 16LL);
  long long point = together ? blockIdx.x : blockIdx.x * 16LL + group;
  for (; point < points; point += step) {
    float total1 = -0.0f;
    long long begin = together ? group * 8192LL : 0;
    for (; begin < n0; begin += 131072) {
      const long long end = begin + 8192 < n0 ? begin + 8192 : n0;
      float part1 = -0.0f;
      for (long long i0 = begin + lane; i0 < end; i0 += 16) {
        const float v0 = *(const float*)(b0 + i0 * 4);
        part1 = total_sum1(part1, v0);
      }
      for (int half = 8; half > 0; half /= 2) {
        part1 = total_sum1(part1, __shfl_down_sync(lanes, part1, half, 16));
      }
      total1 = total_sum1(total1, part1);
    }
    if (together) {
      if (lane == 0) {
        partial1[group] = total1;
      }
      __syncthreads();
      if (group == 0) {
        total1 = partial1[lane];
        for (int half = 8; half > 0; half /= 2) {
          total1 = total_sum1(total1, __shfl_down_sync(lanes, total1, half, 16));
        }
      }
      __syncthreads();  // before the next point's totals
    }
    if (lane == 0 && (!together || group == 0)) {
      const float v1 = n0 == 0 ? 0.0f : total1;
      *(float*)(b1) = v1;
    }
  }
}
"""


def scale():
    body = Body()
    x, condition = body.load(0, "float32"), body.load(1, "bool")
    scaled = body.multiply(x, body.cast(body.scalar(0, "float64"), "float32"))
    result = body.select(condition, scaled, x)
    buffers = (
        Buffer("float32", ("s", "1")),
        Buffer("bool", ("0", "s")),
        Buffer("float32", ("s", "1")),
    )
    return Nest(2, False, buffers, ("float64",), body.instrs, (Store(2, result.position),))


def total(rank=1):
    body = Body()
    result = body.reduce("sum", body.load(0, "float32"))
    outer = ("s",) * (rank - 1)
    buffers = (Buffer("float32", (*outer, "1")), Buffer("float32", (*outer, "0")))
    return Nest(rank, True, buffers, (), body.instrs, (Store(1, result.position),))


def test_text_of_a_map():
    assert emit_cuda(scale(), "scale").source == MAP_TEXT


def test_text_of_a_reduction():
    assert emit_cuda(total(), "total").source == SUM_TEXT


def test_launch_covers_the_elements():
    kernel = emit_cuda(scale(), "scale")
    assert kernel.launch((10, 100)) == ((4, 1, 1), (256, 1, 1), 0)
    assert kernel.launch((0, 100)).grid == (0, 1, 1)
    assert kernel.launch((1 << 20, 1 << 20)).grid == (65535, 1, 1)


def test_launch_gives_long_reductions_a_block_each():
    kernel = emit_cuda(total(3), "total")
    assert kernel.launch((3, 11, 8192)).grid == (3, 1, 1)  # 33 points, 16 a block
    assert kernel.launch((3, 11, 8193)).grid == (33, 1, 1)
    assert kernel.launch((3, 11, 0)).grid == (3, 1, 1)  # sums of nothing are stored


def test_arguments_are_the_slots_of_the_argument_block():
    kernel = emit_cuda(scale(), "scale")
    buffers = [(1000, (40, 4)), (2000, (0, 1)), (3000, (40, 4))]
    arguments = kernel.arguments((3, 10), buffers, [0.5])
    assert arguments == [3, 10, 1000, 40, 4, 2000, 0, 1, 3000, 40, 4, 0.5]
    assert all(argument.nbytes == 8 for argument in arguments)
    with pytest.raises(InternalError, match="wrong number"):
        kernel.arguments((3, 10), buffers[1:], [0.5])


def test_every_scalar_op_has_a_spelling_for_all_its_dtypes():
    inside_loops = {"load", "scalar", "index", "reduce"}
    for row in OPS.values():
        if row.name in inside_loops or row.name in ("cast", "bitcast", "const"):
            continue
        for dtype in row.dtypes:
            operands = [dtype] * row.arity
            if row.name == "select":
                operands[0] = "bool"
            result = "bool" if row.result == "bool" else dtype
            assert fault(row.name, operands, result) is None
            instr = Instr(row.name, tuple(range(row.arity)), result)
            assert "v0" in expression(instr, ["v0", "v1", "v2"][: row.arity], operands)
    for source, result in BITCASTS:
        assert expression(Instr("bitcast", (0,), result), ["v0"], [source]).endswith("(v0)")
    for source in DTYPES:
        for result in DTYPES:
            assert "v0" in expression(Instr("cast", (0,), result), ["v0"], [source])


@pytest.mark.parametrize(
    ("value", "dtype", "text"),
    [
        (-0.0, "float32", "-0.0f"),
        (32.0, "float64", "32.0"),
        (0.1, "float32", "0x1.99999ap-4f"),
        (0.1, "float64", "0x1.999999999999ap-4"),
        (2.0**-149, "float32", "0x1p-149f"),
        (-math.inf, "float32", "__int_as_float(0xff800000)"),
        (math.inf, "float64", "__longlong_as_double(0x7ff0000000000000LL)"),
        (True, "bool", "true"),
        (-128, "int8", "(signed char)-128LL"),
        (-(2**63), "int64", "(-9223372036854775807LL - 1)"),
        (2**64 - 1, "uint64", "18446744073709551615ULL"),
    ],
)
def test_constants_are_spelled_exactly(value, dtype, text):
    assert constant(value, dtype) == text
    if "0x1" in text:
        assert np.dtype(dtype).type(float.fromhex(text.rstrip("f"))) == np.dtype(dtype).type(value)
