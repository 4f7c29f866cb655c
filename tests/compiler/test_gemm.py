"""The generated matrix product against the Python target, and its bits across every layout."""

import ctypes
import functools
import itertools
import mmap

import numpy as np
import pytest

from numen.compiler.codegen.llvm import gemm_plan
from numen.compiler.codegen.llvm.gemm import emit_gemm
from numen.compiler.codegen.llvm.gemm_layout import TILES, k_blocks, select_isa
from numen.compiler.codegen.llvm.gemm_plan import plan_gemm
from numen.compiler.codegen.python.matmul import matmul
from numen.runtime import native
from numen.runtime.elf import undefined_symbols
from numen.runtime.plan import Plan

DTYPES = ("float32", "float64")
ISAS = tuple(TILES)

needs_native = pytest.mark.skipif(not native.available(), reason="no native code here")


@functools.cache
def library(dtype, isa):
    return native.compile_ir(f"gemm {dtype} {isa}", emit_gemm(dtype, isa))


def product(a, b, isa="avx2", threads=1, out=None):
    """A @ B through the generated code, on operands as they lie in memory."""
    dtype = a.dtype.name
    m, k, n = a.shape[-2], a.shape[-1], b.shape[-1]
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    c = np.full((*batch, m, n), np.nan, dtype) if out is None else out
    a = np.broadcast_to(a, (*batch, m, k))
    b = np.broadcast_to(b, (*batch, k, n))
    plan = plan_gemm(m, n, k, batch, a.strides, b.strides, c.strides, dtype, isa, threads)
    frame, patches, launches = [], [], []
    slots = {"A": 0, "B": 1, "C": 2, "scratch": 3}
    for launch in plan.launches:
        launches.append(
            (library(dtype, isa).address(launch.function), 8 * len(frame), launch.chunks)
        )
        for argument in launch.args:
            if isinstance(argument, tuple):
                patches.append((8 * len(frame), slots[argument[0]], argument[1]))
                argument = 0
            frame.append(argument)
    words = np.array(frame, np.int64).tobytes()
    Plan(("array", "array", "array"), words, patches, launches, plan.scratch).run(a, b, c)
    return c


def random(shape, dtype, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def assert_same_bits(got, expected):
    assert got.shape == expected.shape
    assert got.tobytes() == np.ascontiguousarray(expected).tobytes()


def layouts(x):
    """Arrays equal to a matrix `x` that lie in memory in every way."""
    rows, columns = x.shape
    yield "C", np.ascontiguousarray(x)
    yield "F", np.asfortranarray(x)
    padded = np.zeros((rows, columns + 5), x.dtype)
    padded[:, 2:-3] = x
    yield "padded rows", padded[:, 2:-3]
    spread = np.zeros((2 * rows, 3 * columns), x.dtype)
    spread[::2, ::3] = x
    yield "both strided", spread[::2, ::3]
    yield "reversed rows", np.ascontiguousarray(x[::-1])[::-1]
    yield "reversed columns", np.ascontiguousarray(x[:, ::-1])[:, ::-1]
    yield "reversed F", np.asfortranarray(x[::-1, ::-1])[::-1, ::-1]


@pytest.mark.parametrize(
    ("depth", "expected"),
    [
        (0, (1, 16)),
        (1, (1, 16)),
        (256, (1, 256)),
        (257, (2, 144)),
        (272, (2, 144)),
        (513, (3, 176)),
        (784, (4, 208)),
        (1000, (4, 256)),
        (1024, (4, 256)),
    ],
)
def test_k_blocks(depth, expected):
    assert k_blocks(depth) == expected


def test_every_k_block_has_elements():
    for depth in range(1, 3000):
        blocks, length = k_blocks(depth)
        assert (blocks - 1) * length < depth <= blocks * length
        assert length <= 256


@pytest.mark.parametrize(
    ("triple", "features", "expected"),
    [
        ("x86_64-unknown-linux-gnu", "+avx2,+fma,+avx512f", "avx512"),
        ("x86_64-unknown-linux-gnu", "+avx2,+fma,-avx512f", "avx2"),
        ("x86_64-unknown-linux-gnu", "+sse2,-fma", None),
        ("aarch64-unknown-linux-gnu", "+neon", "neon"),
        ("arm64-apple-darwin", "+neon", "neon"),
    ],
)
def test_select_isa(triple, features, expected):
    assert select_isa(triple, features) == expected


SHAPES = [
    (1, 2, 1),
    (1, 33, 257),
    (2, 3, 5),
    (5, 7, 255),
    (6, 16, 256),
    (7, 17, 257),
    (12, 32, 272),
    (13, 15, 513),
    (11, 31, 4),
    (24, 48, 17),
    (40, 9, 3),
    (25, 65, 100),
]


@needs_native
@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_equals_the_reference(dtype, isa):
    for m, n, k in SHAPES:
        a, b = random((m, k), dtype), random((k, n), dtype, seed=1)
        assert_same_bits(product(a, b, isa), matmul(a, b))


@needs_native
@pytest.mark.parametrize("dtype", DTYPES)
def test_small_numbers_round_once(dtype):
    # Products that cancel almost wholly, where a rounding between * and + would show.
    scale = np.finfo(dtype).eps
    a = (1 + scale * np.arange(24).reshape(4, 6)).astype(dtype)
    b = np.concatenate([a.T[:3], -a.T[:3]])
    fused = product(a, b)
    assert_same_bits(fused, matmul(a, b))
    twice = np.zeros((4, 4), dtype)
    for k in range(6):
        twice = twice + a[:, k, None] * b[k]
    assert np.any(fused != twice)


@needs_native
@pytest.mark.parametrize("dtype", DTYPES)
def test_layout_does_not_change_the_bits(dtype):
    for m, n, k in [(3, 5, 7), (14, 37, 270), (50, 24, 33)]:
        a, b = random((m, k), dtype), random((k, n), dtype, seed=1)
        expected = matmul(a, b)
        for (a_name, a_view), (b_name, b_view) in itertools.product(layouts(a), layouts(b)):
            got = product(a_view, b_view)
            assert got.tobytes() == expected.tobytes(), (m, n, k, a_name, b_name)


@needs_native
@pytest.mark.parametrize("dtype", DTYPES)
def test_zero_strides(dtype):
    row, column = random((1, 30), dtype), random((20, 1), dtype)
    b = random((30, 21), dtype)
    a = np.broadcast_to(row, (20, 30))
    assert_same_bits(product(a, b), product(a.copy(), b))
    a = np.broadcast_to(column, (20, 30))
    assert_same_bits(product(a, b), product(a.copy(), b))
    for source in (random((1, 21), dtype), random((30, 1), dtype)):
        spread = np.broadcast_to(source, (30, 21))
        assert_same_bits(product(a, spread), product(a, spread.copy()))


@needs_native
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("isa", ISAS)
def test_an_element_depends_on_its_row_and_column_only(dtype, isa):
    a, b = random((75, 300), dtype), random((300, 90), dtype, seed=1)
    whole = product(a, b, isa)
    for rows, columns in [
        (slice(0, 1), slice(0, 2)),
        (slice(70, 75), slice(3, 90)),
        (slice(5, 19), slice(80, 90)),
        (slice(0, 75), slice(17, 50)),
    ]:
        assert_same_bits(product(a[rows], b[:, columns], isa), whole[rows, columns])


@needs_native
@pytest.mark.parametrize("dtype", DTYPES)
def test_threads_and_paths_do_not_change_the_bits(dtype, monkeypatch):
    cases = [(61, 250, 260), (200, 530, 40)]
    operands = [(random((m, k), dtype), random((k, n), dtype, seed=1)) for m, n, k in cases]
    expected = [product(a, b) for a, b in operands]
    for limit, threads in itertools.product((0, 1 << 40), (1, 2, 7)):
        monkeypatch.setattr(gemm_plan, "IN_PLACE_BYTES", limit)
        monkeypatch.setattr(gemm_plan, "IN_PLACE_TILES", limit)
        monkeypatch.setattr(gemm_plan, "IN_PLACE_COLUMNS", limit)
        monkeypatch.setattr(gemm_plan, "SERIAL_FLOPS", 1000)
        monkeypatch.setattr(gemm_plan, "CHUNK_FLOPS", 10_000)
        for (a, b), result in zip(operands, expected, strict=True):
            assert_same_bits(product(a, b, threads=threads), result)
            transposed = product(np.asfortranarray(a), np.asfortranarray(b), threads=threads)
            assert_same_bits(transposed, result)


@needs_native
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("a_shape", "b_shape"),
    [
        ((3, 4, 5), (3, 5, 6)),
        ((3, 4, 5), (5, 6)),
        ((4, 5), (3, 5, 20)),
        ((2, 3, 1, 5), (5, 6)),
        ((2, 1, 7, 30), (1, 3, 30, 9)),
        ((2, 3, 7, 30), (2, 3, 30, 18)),
        ((0, 4, 5), (5, 6)),
        ((70, 8, 8), (70, 8, 8)),
    ],
)
def test_batch(dtype, a_shape, b_shape):
    a, b = random(a_shape, dtype), random(b_shape, dtype, seed=1)
    for threads in (1, 2):
        assert_same_bits(product(a, b, threads=threads), matmul(a, b))


@needs_native
def test_batch_of_heads():
    """Attention's layout: batch and head axes that can't be joined."""
    q = random((2, 9, 3, 8), "float32").transpose(0, 2, 1, 3)
    k = random((2, 9, 3, 8), "float32", seed=1).transpose(0, 2, 3, 1)
    assert_same_bits(product(q, k), matmul(q, k))


@needs_native
def test_large_batch_in_parallel():
    a, b = random((5, 70, 80), "float32"), random((5, 80, 130), "float32", seed=1)
    assert_same_bits(product(a, b, threads=2), product(a, b, threads=1))


@needs_native
@pytest.mark.parametrize("dtype", DTYPES)
def test_empty_products(dtype):
    assert_same_bits(
        product(np.empty((3, 0), dtype), np.empty((0, 20), dtype)), np.zeros((3, 20), dtype)
    )
    assert_same_bits(
        product(np.empty((2, 3, 0), dtype), np.empty((0, 4), dtype)), np.zeros((2, 3, 4), dtype)
    )
    for m, n in [(0, 3), (3, 0), (0, 0)]:
        plan = plan_gemm(m, n, 5, (), (40, 8), (8, 8), (8, 8), "float64", "avx2")
        assert plan.launches == ()


@needs_native
@pytest.mark.parametrize("dtype", DTYPES)
def test_infinities_and_nans_stay_in_their_row_and_column(dtype):
    a, b = np.ones((9, 20), dtype), np.ones((20, 19), dtype)
    a[2, 3], b[5, 18] = np.inf, np.nan
    for left in (a, np.asfortranarray(a)):
        for right in (b, np.asfortranarray(b)):
            got = product(left, right)
            expected = np.full((9, 19), 20, dtype)
            expected[2] = np.inf
            expected[:, 18] = np.nan
            np.testing.assert_array_equal(got, expected)


@needs_native
@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_writes_only_its_own_columns(dtype, isa):
    for m, n, k in [(5, 3, 300), (13, 35, 4), (7, 70, 260)]:
        frame = np.full((m + 2, n + 6), 7.5, dtype)
        a, b = random((m, k), dtype), random((k, n), dtype, seed=1)
        product(a, b, isa, out=frame[1:-1, 3:-3])
        assert_same_bits(frame[1:-1, 3:-3], matmul(a, b))
        frame[1:-1, 3:-3] = 7.5
        assert np.all(frame == 7.5)


@pytest.fixture
def fenced():
    """Gives copies of arrays that begin or end at a page that can't be read."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    page = mmap.PAGESIZE
    fences = []

    def place(x, at_end):
        size = -(-x.nbytes // page) * page
        memory = mmap.mmap(-1, size + 2 * page)
        start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        for fence in (start, start + page + size):
            assert libc.mprotect(fence, page, 0) == 0
            fences.append(fence)
        offset = page + (size - x.nbytes if at_end else 0)
        copy = np.frombuffer(memory, x.dtype, x.size, offset).reshape(x.shape)
        copy[...] = x
        return copy

    yield place
    for fence in fences:
        libc.mprotect(fence, page, mmap.PROT_READ | mmap.PROT_WRITE)


@needs_native
@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mprotect"), reason="no mprotect here")
@pytest.mark.parametrize("at_end", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_reads_nothing_outside_its_operands(dtype, at_end, fenced):
    rows = [(1, 2, 3), (1, 17, 5), (1, 35, 258), (1, 64, 131), (1, 2100, 19)]
    for m, n, k in [*rows, (5, 3, 7), (7, 17, 9), (13, 35, 258), (64, 70, 130)]:
        a, b = random((m, k), dtype), random((k, n), dtype, seed=1)
        expected = product(a, b)
        a_views = [fenced(a, at_end), fenced(a.T, at_end).T, fenced(a[::-1], at_end)[::-1]]
        b_views = [fenced(b, at_end), fenced(b.T, at_end).T, fenced(b[:, ::-1], at_end)[:, ::-1]]
        for a_view, b_view in itertools.product(a_views, b_views):
            out = fenced(np.zeros((m, n), dtype), at_end)
            assert_same_bits(product(a_view, b_view, out=out), expected)


def test_columns_of_c_must_be_contiguous():
    with pytest.raises(ValueError, match="columns of C"):
        plan_gemm(2, 2, 2, (), (8, 4), (8, 4), (4, 8), "float32", "avx2")


def test_small_products_pack_nothing_and_use_no_threads():
    plan = plan_gemm(16, 16, 16, (), (64, 4), (64, 4), (64, 4), "float32", "avx2", threads=2)
    assert plan.scratch == 0
    assert [(launch.function, launch.chunks) for launch in plan.launches] == [
        ("gemm_float32_whole", 1)
    ]


@needs_native
@pytest.mark.parametrize(
    ("isa", "triple", "cpu"),
    [
        ("avx2", "x86_64-unknown-linux-gnu", "haswell"),
        ("avx512", "x86_64-unknown-linux-gnu", "skylake-avx512"),
        ("neon", "aarch64-unknown-linux-gnu", "generic"),
    ],
)
@pytest.mark.parametrize("dtype", DTYPES)
def test_object_code_needs_no_symbols(dtype, isa, triple, cpu):
    llvm = pytest.importorskip("llvmlite.binding")
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(triple)
    machine = target.create_target_machine(cpu=cpu, opt=2, reloc="pic", codemodel="small")
    module = llvm.parse_assembly(emit_gemm(dtype, isa))
    module.verify()
    assert undefined_symbols(machine.emit_object(module)) == []


@needs_native
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("k", [1, 3, 16, 23, 300, 515])
def test_one_row_of_a(dtype, turned, k):
    for n, threads in itertools.product((16, 17, 35, 100, 2100), (1, 2)):
        a, b = random((3, 1, k), dtype), random((3, n, k) if turned else (3, k, n), dtype, 1)
        b = b.swapaxes(1, 2) if turned else b
        assert_same_bits(product(a, b, threads=threads), matmul(a, b))


def test_one_row_of_a_reads_b_in_place():
    for strides, function in (((4, 400), "dots"), ((400, 4), "row")):
        plan = plan_gemm(1, 100, 100, (), (400, 4), strides, (400, 4), "float32", "avx2")
        assert [launch.function for launch in plan.launches] == [f"gemm_float32_{function}"]
        assert plan.scratch == 0
