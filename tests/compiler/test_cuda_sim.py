"""The CUDA text, run by the shim, has the bits of the Python target; NVIDIA's compilers take it."""

import numpy as np
import pytest

from numen.compiler import math as expand
from numen.compiler.body import Body
from numen.compiler.codegen.cuda import emit_cuda, toolchain
from numen.compiler.codegen.cuda.shim import launch, load
from numen.compiler.codegen.cuda.shim.shim import find_compiler
from numen.compiler.codegen.python import execute, view
from numen.compiler.nest import Buffer, Nest, Store
from numen.compiler.scalar import DTYPES, FLOATS, INTS

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C++ compiler")


def curves(dtype):
    """exp(tanh(a) * b) + s * i0 and its sign, with a strided in any way and b broadcast."""
    body = Body()
    a, b = body.load(0, dtype), body.load(1, dtype)
    grown = expand.exp(body, body.multiply(expand.tanh(body, a), b))
    scale = body.multiply(
        body.cast(body.scalar(0, "float64"), dtype), body.cast(body.index(0), dtype)
    )
    result = body.add(grown, scale)
    negative = body.less(result, body.const(0.0, dtype))
    buffers = (
        Buffer(dtype, ("s", "s")),
        Buffer(dtype, ("0", "1")),
        Buffer(dtype, ("s", "1")),
        Buffer("bool", ("s", "1")),
    )
    stores = (Store(2, result.position), Store(3, negative.position))
    return Nest(2, False, buffers, ("float64",), body.instrs, stores)


def integers(dtype):
    """Every integer op, each into an output of its own."""
    body = Body()
    a, b = body.load(0, dtype), body.load(1, dtype)
    values = [
        body.add(a, b),
        body.subtract(a, b),
        body.multiply(a, b),
        body.negative(a),
        body.absolute(a),
        body.and_(a, b),
        body.or_(a, b),
        body.xor(a, b),
        body.not_(a),
        body.shl(a, 3),
        body.lshr(a, 3),
        body.select(body.less(a, b), a, b),
        *(body.cast(a, other) for other in DTYPES if other != dtype),
    ]
    return outputs_of(body, [dtype, dtype], values)


def floats(dtype):
    """The float ops that curves has not, and casts from a float and from bool."""
    body = Body()
    a, b = body.load(0, dtype), body.load(1, dtype)
    truth = body.load(2, "bool")
    other = "float64" if dtype == "float32" else "float32"
    values = [
        body.fma(a, b, a),
        body.divide(a, b),
        body.sqrt(a),
        body.rint(a),
        body.floor(a),
        body.negative(a),
        body.absolute(a),
        body.cast(a, other),
        body.cast(a, "bool"),
        body.cast(truth, dtype),
        body.cast(truth, "int8"),
        body.not_(truth),
        body.and_(truth, body.not_equal(a, b)),
        body.xor(truth, body.greater_equal(a, b)),
        expand.log(body, a),
    ]
    return outputs_of(body, [dtype, dtype, "bool"], values)


def moments(dtype):
    """Sum, max, min and argmax of x * w along the last axis, the sum scaled after the loop."""
    body = Body()
    x, w = body.load(0, dtype), body.load(1, dtype)
    product = body.multiply(x, w)
    total = body.multiply(body.reduce("sum", product), body.load(2, dtype))
    values = [
        total,
        body.reduce("max", product),
        body.reduce("min", product),
        body.reduce("argmax", product),
    ]
    inputs = [
        Buffer(dtype, ("s", "s", "1")),
        Buffer(dtype, ("0", "0", "s")),
        Buffer(dtype, ("0", "1", "0")),
    ]
    outputs = [Buffer(value.dtype, ("s", "1", "0")) for value in values]
    stores = tuple(Store(3 + k, value.position) for k, value in enumerate(values))
    return Nest(3, True, (*inputs, *outputs), (), body.instrs, stores)


def truths():
    """The reductions of bool: any, all and the first true."""
    body = Body()
    x = body.load(0, "bool")
    values = [body.reduce(kind, x) for kind in ("max", "min", "argmax")]
    buffers = (
        Buffer("bool", ("s", "1")),
        *(Buffer(value.dtype, ("1", "0")) for value in values),
    )
    stores = tuple(Store(1 + k, value.position) for k, value in enumerate(values))
    return Nest(2, True, buffers, (), body.instrs, stores)


def outputs_of(body, inputs, values):
    dtypes = [*inputs, *(value.dtype for value in values)]
    stores = tuple(Store(len(inputs) + k, value.position) for k, value in enumerate(values))
    buffers = tuple(Buffer(dtype, ("1",)) for dtype in dtypes)
    return Nest(1, False, buffers, (), body.instrs, stores)


NESTS = {
    **{f"curves_{dtype}": curves(dtype) for dtype in FLOATS},
    **{f"integers_{dtype}": integers(dtype) for dtype in INTS},
    **{f"floats_{dtype}": floats(dtype) for dtype in FLOATS},
    **{f"moments_{dtype}": moments(dtype) for dtype in ("float32", "float64", "int8", "uint64")},
    "truths": truths(),
}


@pytest.fixture(scope="module")
def kernels():
    """Every kernel of this file, compiled as one source: (text, simulated kernel) by name."""
    emitted = {name: emit_cuda(nest, f"numen_{name}") for name, nest in NESTS.items()}
    loaded = load(joined(emitted.values()), [kernel.name for kernel in emitted.values()])
    return dict(zip(emitted, zip(emitted.values(), loaded, strict=True), strict=True))


def joined(kernels):
    return "\n".join(kernel.source for kernel in kernels)


def check(kernels, name, extents, inputs, scalars=()):
    """Run a kernel both ways on `inputs`, arrays with the axes along which their buffer moves."""
    nest = NESTS[name]
    outputs = [nest.buffers[b] for b in nest.outputs]
    moving = [[n for n, c in zip(extents, b.strides, strict=True) if c != "0"] for b in outputs]
    shapes = list(zip(moving, outputs, strict=True))
    expected = [np.zeros(shape, buffer.dtype) for shape, buffer in shapes]
    actual = [np.ones(shape, buffer.dtype) for shape, buffer in shapes]
    arrays = [*inputs, *expected]
    strides = [strides_of(*pair) for pair in zip(nest.buffers, arrays, strict=True)]
    views = [view(a, extents, s) for a, s in zip(arrays, strides, strict=True)]
    execute(nest, extents, views, scalars)
    run(kernels[name], extents, [*inputs, *actual], strides, scalars)
    for have, want in zip(actual, expected, strict=True):
        assert_same_bits(have, want)


def strides_of(buffer, array):
    """Byte strides along the axes of the nest: 0 where the buffer does not move."""
    moving = iter(array.strides)
    return [0 if c == "0" else next(moving) for c in buffer.strides]


def run(pair, extents, arrays, strides, scalars=()):
    kernel, simulated = pair
    shape = kernel.launch(extents)
    pointers = [array.ctypes.data for array in arrays]
    arguments = kernel.arguments(extents, zip(pointers, strides, strict=True), scalars)
    launch(simulated, shape.grid, shape.block, arguments, shape.shared, strict=True)


def assert_same_bits(have, want):
    """Equal bits, where any NaN equals any other."""
    assert have.dtype == want.dtype
    if have.dtype.kind == "f":
        np.testing.assert_array_equal(np.isnan(have), np.isnan(want))
        have, want = (np.where(np.isnan(x), 0, x).astype(x.dtype) for x in (have, want))
    np.testing.assert_array_equal(have.view(f"u{have.itemsize}"), want.view(f"u{want.itemsize}"))


def special(dtype):
    """Values at the edges of a float dtype, each with both signs."""
    info = np.finfo(dtype)
    values = [0.0, info.smallest_subnormal, info.tiny, 0.5, 1.0, 1.5, 2.5, 88.0, 709.0, info.max]
    values = np.array([*values, np.inf, np.nan], dtype)
    return np.concatenate([values, -values])


@pytest.mark.parametrize("dtype", FLOATS)
def test_map_with_strides_broadcast_scalar_and_index(kernels, dtype):
    rng = np.random.default_rng(1)
    a = np.asarray(rng.standard_normal((70, 13)) * 3, dtype).T[::-1]  # strides of any kind
    a[0, :24] = special(dtype)
    b = np.asarray(rng.standard_normal(70) * 20, dtype)
    check(kernels, f"curves_{dtype}", (13, 70), [a, b], [0.3])


@pytest.mark.parametrize("dtype", INTS)
def test_every_integer_op(kernels, dtype):
    info = np.iinfo(dtype)
    rng = np.random.default_rng(2)
    edges = [info.min, info.min + 1, info.max, 0, 1, info.max // 2]
    random = rng.integers(info.min, info.max, 1000, dtype=dtype, endpoint=True)
    a = np.concatenate([np.repeat(np.array(edges, dtype), 6), random])
    b = np.concatenate([np.tile(np.array(edges, dtype), 6), random[::-1]])
    check(kernels, f"integers_{dtype}", (a.size,), [a, b])


@pytest.mark.parametrize("dtype", FLOATS)
def test_every_float_op(kernels, dtype):
    rng = np.random.default_rng(3)
    edges = special(dtype)
    random = np.asarray(rng.standard_normal(1000) * 10.0 ** rng.integers(-30, 30, 1000), dtype)
    a = np.concatenate([np.repeat(edges, edges.size), random])
    b = np.concatenate([np.tile(edges, edges.size), random[::-1]])
    check(kernels, f"floats_{dtype}", (a.size,), [a, b, rng.random(a.size) < 0.5])


@pytest.mark.parametrize("n", [1, 15, 17, 8192, 8193, 20000, 17 * 8192 + 5])
def test_reductions_follow_the_lanes_and_blocks(kernels, n):
    rng = np.random.default_rng(n)
    x = np.asarray(rng.standard_normal((2, 3, n)), np.float32)
    x[1, 1, n // 2] = np.nan
    x[0, 2] = -np.inf
    x[1, 2] = -0.0
    w = np.ones(2 * n, np.float32)[::2]
    scale = np.array([1.0, 2.0, 1.0], np.float32)
    check(kernels, "moments_float32", (2, 3, n), [x, w, scale])


@pytest.mark.parametrize("dtype", ["float64", "int8", "uint64"])
def test_reductions_of_other_dtypes(kernels, dtype):
    rng = np.random.default_rng(5)
    for points, n in ((7, 100), (1, 20000)):
        x = np.asarray(rng.integers(0, 100, (3, points, n)), dtype)
        x[0] *= np.asarray(-1).astype(dtype)
        w = np.asarray(rng.integers(1, 3, n), dtype)
        check(kernels, f"moments_{dtype}", (3, points, n), [x, w, np.ones(points, dtype)])


def test_reductions_of_bool(kernels):
    x = np.zeros((20, 9000), bool)
    x[3, 8500:] = True
    x[4] = True
    x[5, 4] = True
    check(kernels, "truths", (20, 9000), [x])
    check(kernels, "truths", (20, 33), [np.ascontiguousarray(x[:, :33])])


def test_sum_of_nothing_is_positive_zero(kernels):
    nothing, scale = np.zeros(0, np.float32), np.ones(3, np.float32)
    total, unused = np.ones((2, 3), np.float32), np.ones((3, 2, 3), np.int64)
    strides = [(0, 0, 4), (0, 0, 4), (0, 4, 0), (12, 4, 0), *[(24, 8, 0)] * 3]
    arrays = [nothing, nothing, scale, total, *unused]
    run(kernels["moments_float32"], (2, 3, 0), arrays, strides)
    assert_same_bits(total, np.zeros((2, 3), np.float32))


@pytest.mark.skipif(toolchain.describe() is None, reason="neither NVRTC nor nvcc is installed")
def test_the_same_text_compiles_for_a_gpu(kernels):
    ptx = toolchain.compile_to_ptx(joined(kernel for kernel, _ in kernels.values()), "sm_80")
    for name in NESTS:
        assert f".entry numen_{name}(" in ptx
