"""What nests mean: scalar ops against NumPy, fma against rationals, reductions against loops."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from numen.compiler.body import Body
from numen.compiler.codegen.python import execute, matmul, view
from numen.compiler.codegen.python.fma import fma
from numen.compiler.codegen.python.matmul import k_block
from numen.compiler.codegen.python.reduce import identity, reduce_last
from numen.compiler.nest import Buffer, Nest, Store
from numen.compiler.nest_text import verify_nest
from numen.compiler.scalar import DTYPES, FLOATS, INTS, OPS, SIGNED
from numen.errors import InternalError


def edges(dtype):
    if dtype == "bool":
        return np.array([False, True])
    if dtype in FLOATS:
        info = np.finfo(dtype)
        values = [0.0, -0.0, 1.0, -1.5, 2.5, 0.5, np.inf, -np.inf, np.nan]
        return np.array([*values, info.smallest_subnormal, info.tiny, info.max, -info.max], dtype)
    info = np.iinfo(dtype)
    return np.unique(np.array([info.min, info.min // 2, 0, 1, 2, 7, info.max], dtype))


def run_op(op, operands, dtype):
    """One scalar op over arrays of one shape."""
    b = Body()
    args = tuple(b.load(i, x.dtype.name) for i, x in enumerate(operands))
    result = b.emit(op, args, dtype)
    out = np.empty(operands[0].shape, dtype)
    buffers = [Buffer(x.dtype.name, ("1",)) for x in (*operands, out)]
    nest = Nest(1, False, tuple(buffers), (), b.instrs, (Store(len(operands), result.position),))
    verify_nest(nest)
    execute(nest, out.shape, [*operands, out])
    return out


def assert_bits(got, expected):
    """Equal values, dtypes and signs of zeros; NaN equals NaN."""
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)
    if got.dtype.kind == "f":
        known = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(got[known]), np.signbit(expected[known]))


NUMPY = {
    "and": lambda *x: np.logical_and(*x) if x[0].dtype == bool else np.bitwise_and(*x),
    "or": lambda *x: np.logical_or(*x) if x[0].dtype == bool else np.bitwise_or(*x),
    "xor": lambda *x: np.logical_xor(*x) if x[0].dtype == bool else np.bitwise_xor(*x),
    "not": np.invert,
}
PLAIN = [op for op, row in OPS.items() if row.arity in (1, 2) and row.result != "stated"]


@pytest.mark.parametrize("op", [op for op in PLAIN if op not in ("shl", "lshr")])
def test_scalar_op_is_numpys(op):
    for dtype in OPS[op].dtypes:
        pairs = itertools.product(edges(dtype), repeat=OPS[op].arity)
        operands = [np.array(column, dtype) for column in zip(*pairs, strict=True)]
        with np.errstate(all="ignore"):
            expected = NUMPY.get(op) or getattr(np, op)
            expected = expected(*operands)
        assert_bits(run_op(op, operands, expected.dtype.name), expected)


@pytest.mark.parametrize("dtype", INTS)
def test_shifts(dtype):
    width = np.dtype(dtype).itemsize * 8
    pairs = list(itertools.product(edges(dtype).tolist(), range(width)))
    x, count = (np.array(column, dtype) for column in zip(*pairs, strict=True))
    mask = 2**width - 1
    left = np.array([(a << n) & mask for a, n in pairs], np.uint64)
    right = np.array([(a & mask) >> n for a, n in pairs], np.uint64)
    assert_bits(run_op("shl", [x, count], dtype), left.astype(dtype))
    assert_bits(run_op("lshr", [x, count], dtype), right.astype(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_select(dtype):
    x = edges(dtype)
    condition = np.arange(x.size) % 2 == 0
    expected = np.where(condition, x, x[::-1])
    assert_bits(run_op("select", [condition, x, x[::-1].copy()], dtype), expected)


@pytest.mark.parametrize("source", DTYPES)
def test_casts_are_astype(source):
    for dtype in DTYPES:
        x = edges(source)
        if source in FLOATS and dtype in INTS:
            x = np.array([0.0, 3.0, 100.0], source)
        with np.errstate(all="ignore"):
            expected = x.astype(dtype)
        assert_bits(run_op("cast", [x], dtype), expected)


@pytest.mark.parametrize("pair", [("float32", "int32"), ("float64", "int64")])
def test_bitcasts(pair):
    for source, dtype in (pair, pair[::-1]):
        x = edges(source)
        got = run_op("bitcast", [x], dtype)
        assert got.dtype == dtype
        assert got.tobytes() == x.tobytes()


def test_negative_wraps_at_the_least_int():
    for dtype in SIGNED:
        least = np.array([np.iinfo(dtype).min], dtype)
        assert run_op("negative", [least], dtype) == least
        assert run_op("absolute", [least], dtype) == least


def exact_fma(a, b, c, dtype):
    """a * b + c rounded once, in rational arithmetic."""
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    if exact == 0:
        with np.errstate(all="ignore"):
            return a * b + c
    return round_to(exact, np.finfo(dtype), dtype)


def round_to(exact, info, dtype):
    """The nearest float of a non-zero rational, ties to even, by integers alone."""
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, info.minexp) - info.nmant)
    quotient = size / unit
    whole = quotient.numerator // quotient.denominator
    rest = quotient - whole
    whole += rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1)
    result = whole * unit
    value = np.inf if result > Fraction(float(info.max)) else float(result)
    return np.dtype(dtype).type(-value if exact < 0 else value)


def fma_operands(dtype, rng, n):
    """Random triples of many sizes, ties and near ties, cancellations, subnormal results."""
    info = np.finfo(dtype)
    p, low, high = info.nmant, info.minexp, info.maxexp - 1

    def floats(lo, hi):
        return rng.choice([-1, 1], n) * np.ldexp(rng.uniform(0.5, 1, n), rng.integers(lo, hi, n))

    # c cancels a * b up to its rounding error
    a, b = floats(-3, 3).astype(dtype), floats(-3, 3).astype(dtype)
    yield a, b, (-a * b).astype(dtype)
    # sizes from everywhere
    yield floats(low // 2, high // 2), floats(low // 2, high // 2), floats(low, high)
    yield floats(-3, 3), floats(-3, 3), floats(-2 * p, 2 * p)
    # results at and below the least normal number
    yield floats(low // 2 - 3, low // 2), floats(low // 2 - p, low // 2), floats(low - p, low)
    # integers 2**p + odd: sums that fall half way between two floats, and just beside
    whole = rng.integers(2**p, 2 ** (p + 1), n).astype(np.float64)
    yield whole, np.ones(n), rng.choice([0.5, 0.25, 1.5, -0.5], n)
    yield whole, np.full(n, 2.0), rng.choice([1.0, -1.0, 1 + 2.0**-20, 3.0], n)
    power = np.exp2(rng.integers(-5, 5, n))
    yield power * (1 + 2.0**-p), power, rng.choice([1, -1], n) * power**2 * 2.0 ** -(2 * p)
    # overflow
    yield floats(high - 3, high), floats(0, 3), floats(high - 2, high)


@pytest.mark.parametrize("dtype", FLOATS)
def test_fma_rounds_once(dtype):
    rng = np.random.default_rng(5)
    for triple in fma_operands(dtype, rng, 150):
        a, b, c = (np.asarray(x).astype(dtype) for x in triple)
        expected = np.array([exact_fma(*t, dtype) for t in zip(a, b, c, strict=True)], dtype)
        assert_bits(fma(a, b, c), expected)


@pytest.mark.parametrize("dtype", FLOATS)
def test_fma_special_values(dtype):
    x = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan], dtype)
    a, b, c = (np.array(column) for column in zip(*itertools.product(x, repeat=3), strict=True))
    with np.errstate(all="ignore"):
        assert_bits(fma(a, b, c), a * b + c)
    assert fma(x[2], x[2], x[2]) == 2


def reduce_in_a_loop(kind, items):
    """The scheme of the contract, one element at a time."""
    dtype = items.dtype

    def combine(a, b):
        if kind == "sum":
            return a + b
        better = a > b if kind == "max" else a < b
        return a if better or a != a else b

    def block(part):
        lanes = [dtype.type(identity(kind, dtype))] * 16
        for i, item in enumerate(part):
            lanes[i % 16] = combine(lanes[i % 16], item)
        for half in (8, 4, 2, 1):
            lanes = [combine(lanes[j], lanes[j + half]) for j in range(half)]
        return lanes[0]

    partials = [block(items[k : k + 8192]) for k in range(0, len(items), 8192)]
    return partials[0] if len(partials) == 1 else block(np.array(partials, dtype))


@pytest.mark.parametrize("n", [1, 2, 15, 16, 17, 100, 8191, 8192, 8193, 40_000])
@pytest.mark.parametrize("kind", ["sum", "max", "min"])
def test_reductions_follow_the_scheme(kind, n):
    x = np.random.default_rng(n).normal(size=n).astype(np.float32)
    with np.errstate(all="ignore"):
        assert_bits(reduce_last(kind, x[None]), np.array([reduce_in_a_loop(kind, x)]))


@pytest.mark.parametrize("dtype", INTS)
def test_int_reductions_are_numpys(dtype):
    x = np.resize(edges(dtype), (3, 50))
    assert_bits(reduce_last("sum", x), x.sum(axis=-1, dtype=dtype))
    assert_bits(reduce_last("max", x), x.max(axis=-1))
    assert_bits(reduce_last("min", x), x.min(axis=-1))
    assert_bits(reduce_last("argmax", x), x.argmax(axis=-1))


def test_reduction_edge_cases():
    nan, inf = np.nan, np.inf
    x = np.array([[1, nan, 3], [-inf, -inf, -inf], [-0.0, -0.0, -0.0]])
    np.testing.assert_array_equal(reduce_last("max", x), [nan, -inf, 0])
    np.testing.assert_array_equal(reduce_last("min", x), [nan, -inf, 0])
    np.testing.assert_array_equal(reduce_last("argmax", x), [1, 0, 0])
    assert np.signbit(reduce_last("sum", x)[2])
    empty = reduce_last("sum", np.empty((2, 0)))
    assert_bits(empty, np.zeros(2))
    flags = np.array([[True, False], [False, False], [True, True]])
    assert_bits(reduce_last("max", flags), flags.any(axis=1))
    assert_bits(reduce_last("min", flags), flags.all(axis=1))


def test_reduced_nest_with_epilogue():
    """out[i] = sum_j x[i, j] * w[j] + i * scalar; w is strided and i an index."""
    b = Body()
    product = b.multiply(b.load(0, "float64"), b.load(1, "float64"))
    offset = b.multiply(b.cast(b.index(0), "float64"), b.scalar(0, "float64"))
    result = b.add(b.reduce("sum", product), offset)
    buffers = tuple(Buffer("float64", classes) for classes in (("s", "1"), ("0", "s"), ("1", "0")))
    nest = Nest(2, True, buffers, ("float64",), b.instrs, (Store(2, result.position),))
    verify_nest(nest)
    x, w, out = np.arange(12.0).reshape(3, 4), np.arange(8.0), np.zeros(3)
    extents = (3, 4)
    arrays = [view(x, extents, (32, 8)), view(w, extents, (0, 16)), view(out, extents, (8, 0))]
    execute(nest, extents, arrays, [0.5])
    np.testing.assert_array_equal(out, (x * w[::2]).sum(axis=1) + np.arange(3) * 0.5)


def test_sum_of_what_does_not_vary():
    b = Body()
    total = b.reduce("sum", b.const(1, "int64"))
    nest = Nest(1, True, (Buffer("int64", ("0",)),), (), b.instrs, (Store(0, total.position),))
    out = np.zeros(1, np.int64)
    for n in (0, 5):
        execute(nest, (n,), [out])
        assert out[0] == n


def test_map_of_rank_0_and_two_stores():
    b = Body()
    x = b.load(0, "bool")
    opposite = b.not_(x)
    buffers = (Buffer("bool", ()),) * 3
    stores = (Store(1, opposite.position), Store(2, x.position))
    nest = Nest(0, False, buffers, (), b.instrs, stores)
    x = np.array(7, np.uint8).view(bool)  # any byte but 0 is true
    first, second = np.zeros((), bool), np.zeros((), bool)
    execute(nest, (), [x, first, second])
    assert first.view(np.uint8) == 0
    assert second.view(np.uint8) == 1


def test_loads_come_before_stores():
    """x and y swapped in place."""
    b = Body()
    b.load(0, "int8"), b.load(1, "int8")
    buffers = (Buffer("int8", ("1",)),) * 2
    nest = Nest(1, False, buffers, (), b.instrs, (Store(0, 1), Store(1, 0)))
    x, y = np.array([1, 2], np.int8), np.array([3, 4], np.int8)
    execute(nest, (2,), [x, y])
    assert (x.tolist(), y.tolist()) == ([3, 4], [1, 2])


def test_arguments_are_checked():
    b = Body()
    b.load(0, "int8")
    nest = Nest(1, False, (Buffer("int8", ("1",)),), (), b.instrs, (Store(0, 0),))
    x = np.zeros(3, np.int8)
    for extents, arrays in [((2,), [x]), ((3, 3), [x]), ((3,), []), ((3,), [x.astype("int16")])]:
        with pytest.raises(InternalError):
            execute(nest, extents, arrays)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((3, 5), (5, 4)),
        ((5,), (5, 4)),
        ((3, 5), (5,)),
        ((5,), (5,)),
        ((2, 1, 3, 5), (4, 5, 2)),
        ((2, 3, 5), (5,)),
        ((3, 0), (0, 2)),
        ((2, 300), (300, 2)),
        ((2, 600), (600, 1)),
    ],
)
def test_matmul_agrees_with_numpy(left, right, dtype):
    rng = np.random.default_rng(7)
    a, b = rng.normal(size=left).astype(dtype), rng.normal(size=right).astype(dtype)
    got, expected = matmul(a, b), np.matmul(a, b)
    assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
    bound = 2 * max(left[-1], 1) * np.finfo(dtype).eps
    terms = np.matmul(np.abs(a), np.abs(b))
    assert (np.abs(got - expected) <= bound * terms).all()


def test_matmul_follows_the_blocks():
    k = 530
    assert [k_block(n) for n in (0, 1, 256, 257, 512, 530)] == [16, 16, 256, 144, 256, 192]
    rng = np.random.default_rng(8)
    a, b = rng.normal(size=(1, k)), rng.normal(size=(k, 2))
    expected = []
    for j in range(2):
        parts = []
        for start in (0, 192, 384):
            acc = np.float64(0)
            for i in range(start, min(start + 192, k)):
                acc = exact_fma(a[0, i], b[i, j], acc, "float64")
            parts.append(acc)
        expected.append((parts[0] + parts[1]) + parts[2])
    np.testing.assert_array_equal(matmul(a, b), [expected])


def test_matmul_refuses_other_shapes():
    for left, right in [((2, 3), (2, 3)), ((), (2,)), ((3,), (2,))]:
        with pytest.raises(ValueError, match="matmul"):
            matmul(np.ones(left), np.ones(right))
