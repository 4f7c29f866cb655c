"""Creation: NumPy's functions by the same source text, gradients through them, and memory."""

import numpy as np
import pytest
from exact_source import check

import numen as nm
from numen.errors import GradientError
from numen.runtime import memory

TEXTS = r"""
np.array([1, 2.5, 3])
np.array([[1, 2], [3, 4]], dtype=np.float32)
np.array([1, 2], ndmin=3)
np.array(5)
np.array([])
np.array([[1], [2, 3]])
np.array([1, 2], copy=False)
np.array(np.arange(3), copy=None)
np.array("abc")
np.array(["a", "bcd"])
np.array([None, 1])
np.array([1, 2], dtype="S2")
np.array([(1, 2.0)], dtype=[("a", int), ("b", float)])
np.array(["2020-01-01"], dtype="M8[D]")
np.array([[1, 2], [3, 4]], order="F").flags.f_contiguous
np.array([np.float32(1), 2.0])
np.array([np.float32(1), np.float32(2)])
np.array([np.arange(3)[0], np.arange(3)[1]])
np.array([np.arange(3), np.arange(3)])
np.array([np.array(1.0), np.array(2.0)])
np.array([np.arange(3.0), [1, 2, 3]])
np.array((np.arange(2), np.arange(3)))
np.array([1, 2], like=np.zeros(1))
np.array([1, 2], like=3)
np.array(range(4))
np.array({1, 2}).dtype
np.array([1 + 2j])
np.array(np.array([1, 2])[0])
np.asarray([1, 2], np.int8)
np.asarray(3.0)
np.asarray(np.float64(3))
np.asarray([1, 2], order="F")
np.asarray(np.zeros((2, 3)), order="F").flags.f_contiguous
np.asarray([1, 2], copy=True)
np.asarray([1.5], copy=False)
np.asarray([1], device="cpu")
np.asarray([1], device="gpu")
np.asanyarray([[1, 2]])
np.asarray_chkfinite([1.0, 2.0])
np.asarray_chkfinite([1.0, np.inf])
np.asarray_chkfinite([1, 2])
np.zeros(3)
np.zeros((2, 3), int)
np.zeros([2, 2], dtype="U3")
np.zeros((2, 3), order="F").flags.f_contiguous
np.zeros(np.array([2, 3]))
np.zeros(np.int64(3))
np.zeros(-1)
np.zeros((2, -1))
np.zeros(2.5)
np.zeros((2, 2), dtype=[("x", int), ("y", float)])
np.zeros(3, "M8[s]")
np.zeros(2, bool)
np.zeros(())
np.zeros(10**20)
np.ones(2, complex)
np.ones((2, 3), device="cpu")
np.ones(2, dtype=np.float16)
np.empty((2, 0))
np.empty(3).shape
np.full((2, 2), 7)
np.full(3, 2.5, int)
np.full((2, 3), [1, 2, 3])
np.full(2, "ab")
np.full((2, 3), np.arange(3.0))
np.full((2, 3), np.arange(4.0))
np.full(2, None)
np.zeros_like([1, 2, 3])
np.zeros_like(np.arange(6.0).reshape(2, 3), dtype=int)
np.zeros_like(np.arange(6.0).reshape(2, 3), shape=(4,))
np.ones_like(np.zeros((2, 3), order="F")).flags.f_contiguous
np.ones_like(np.zeros((2, 3), order="F"), order="C").flags.c_contiguous
np.ones_like(np.arange(3), subok=False)
np.empty_like(np.arange(3)).dtype
np.full_like(np.arange(3), 2.7)
np.full_like(np.arange(3), 2.7, dtype=float)
np.full_like(np.arange(3), [1, 2, 3])
np.full_like(np.arange(3.0), 1, shape=(2, 2))
np.full_like([1, 2], 5)
np.zeros_like("abc")
np.arange(3)
np.arange(1, 4)
np.arange(1, 10, 3)
np.arange(5, 0, -2)
np.arange(0.0, 1.0, 0.3)
np.arange(3, dtype=np.float32)
np.arange(0, 3, 1, np.int8)
np.arange(1, step=0.25)
np.arange(1, stop=4)
np.arange(3, None)
np.arange(3, None, None)
np.arange(np.int8(3))
np.arange(np.float32(3))
np.arange(np.array(3))
np.arange(np.arange(4)[3])
np.arange("2020-01", "2020-04", dtype="M8[M]")
np.arange(np.datetime64("2020-01-01"), np.datetime64("2020-01-04"))
np.arange(np.timedelta64(0, "D"), np.timedelta64(3, "D"))
np.arange(0)
np.arange(5, 2)
np.arange(3, dtype=bool)
np.arange(2, dtype=bool)
np.arange(3, dtype=complex)
np.arange(0, 1, 0)
np.arange()
np.arange("a")
np.arange(1, 2, 3, 4, 5)
np.arange(np.nan)
np.linspace(0, 1, 5)
np.linspace(0, 1, 4, endpoint=False)
np.linspace(0, 10, 3, retstep=True)
np.linspace(0, 10, 5, dtype=int)
np.linspace([0, 1], [1, 3], 3)
np.linspace([0, 1], [1, 3], 3, axis=1)
np.linspace([0, 1], [1, 3], 3, axis=-1, retstep=True)
np.linspace(0, 1, 1)
np.linspace(0, 1, 0)
np.linspace(0, 1, -1)
np.linspace(2, 2, 3)
np.linspace(0, 1j, 3)
np.linspace(np.float32(0), np.float32(1), 3)
np.linspace(np.arange(3.0), 4.0, 2)
np.linspace(0, 1, 2.5)
np.linspace(1, 0, 3, dtype=np.float32)
np.logspace(0, 2, 3)
np.logspace(0, 2, 3, base=2)
np.logspace(0, 2, 3, base=np.array([2.0, 3.0])[:, None], axis=1)
np.logspace(0, 2, 4, endpoint=False, dtype=np.float32)
np.geomspace(1, 1000, 4)
np.geomspace(1, 256, 9, dtype=int)
np.geomspace(-1, -8, 4)
np.geomspace(1j, 1000j, 4)
np.geomspace(0, 1, 3)
np.geomspace([1, 2], [8, 16], 4, axis=1)
np.eye(3)
np.eye(2, 3, 1, dtype=int)
np.eye(3, k=-1, order="F").flags.f_contiguous
np.eye(-1)
np.eye(2.0)
np.identity(3)
np.identity(2, dtype=int)
np.tri(3)
np.tri(3, 5, 2, dtype=int)
np.tri(3, k=-1)
np.vander([1, 2, 3])
np.vander(np.array([1.5, 2]), 4, increasing=True)
np.vander([1, 2], 0)
np.vander([[1]])
np.meshgrid([1, 2], [3, 4, 5])
np.meshgrid([1, 2], [3, 4, 5], indexing="ij")
np.meshgrid([1, 2], [3, 4, 5], sparse=True)
np.meshgrid([1, 2], [3, 4], copy=False)
np.meshgrid([1, 2], [3], [5, 6])
np.meshgrid()
np.meshgrid([1, 2], indexing="xx")
np.meshgrid(np.arange(2), 5)
np.indices((2, 3))
np.indices((2, 3), sparse=True)
np.indices((2,), dtype=float)
np.indices(())
np.fromfunction(lambda i, j: i * 10 + j, (2, 3))
np.fromfunction(lambda i: i == 1, (3,), dtype=int)
np.fromfunction(lambda i, k=0: k, (3,), k=7)
np.fromiter((i * i for i in range(4)), int)
np.fromiter(range(5), float, 3)
np.fromiter(range(2), float, 3)
np.fromiter(iter(np.arange(3.0)), float)
np.fromiter(["ab", "c"], "U2")
np.frombuffer(b"\x01\x02\x03\x04", np.uint8)
np.frombuffer(b"\x01\x02\x03\x04", "<u2", 1, 2)
np.frombuffer(b"abc", "S1")
np.frombuffer(b"\x01\x02\x03", np.int16)
np.fromstring("1 2 3", sep=" ")
np.fromstring("1, 2", dtype=int, sep=",")
np.from_dlpack(np.arange(3))
np.from_dlpack([1])
""".strip().splitlines()

TOO_LARGE = r"""
np.zeros(10**15)
np.zeros((10**6, 10**6, 10**3))
np.ones((1 << 40,))
np.empty((1 << 45,), np.int8)
np.full(1 << 45, 1.0)
np.eye(1 << 24)
np.arange(1e14)
np.arange(10**14)
""".strip().splitlines()


@pytest.mark.parametrize("text", TEXTS)
def test_numpy_makes_the_same(text):
    check(text, words=True)


@pytest.mark.parametrize("text", TOO_LARGE)
def test_what_does_not_fit_into_memory_is_refused(text):
    with pytest.raises(MemoryError, match="Unable to allocate"):
        eval(text, {"np": nm})


def test_the_room_is_the_least_of_machine_and_groups(tmp_path, monkeypatch):
    files = {
        "/proc/meminfo": ["MemTotal: 9000000 kB", "MemAvailable: 8000000 kB", "SwapFree: 1000 kB"],
        "/proc/self/cgroup": ["0::/a/b"],
        "/sys/fs/cgroup/a/b/memory.max": ["max"],
        "/sys/fs/cgroup/a/b/memory.current": ["5"],
        "/sys/fs/cgroup/a/memory.max": ["1000000000"],
        "/sys/fs/cgroup/a/memory.current": ["400000000"],
        "/sys/fs/cgroup/a/memory.stat": ["anon 7", "inactive_file 100000000"],
    }
    monkeypatch.setattr(memory, "_lines", lambda path: files.get(path, []))
    assert memory.available() == 700_000_000
    memory.check_room(700_000_000)
    with pytest.raises(MemoryError, match="668 MiB are available"):
        memory.check_room(700_000_001)
    files["/sys/fs/cgroup/a/memory.max"] = ["max"]
    assert memory.available() == 8_001_000 * 1024
    files.clear()
    assert memory.available() is None
    memory.check_room(1 << 62)


def leaf(*values):
    return nm.array(values, requires_grad=True)


def gradient(function, *leaves):
    result = function(*leaves)
    weights = np.arange(1.0, result.size + 1).reshape(result.shape)
    (result * nm.array(weights)).sum().backward()
    return [x.grad.tolist() for x in leaves]


def test_gradients_flow_through_nested_sequences():
    x, y = leaf(1.0, 2.0), leaf(5.0)
    assert gradient(lambda x, y: nm.array([[x[1], y[0]], [3, x[0]]]), x, y) == [[4.0, 1.0], [2.0]]
    x = leaf(1.0, 2.0)
    assert gradient(lambda x: nm.asarray([x, [7, 8], x * 2]), x) == [[11.0, 14.0]]
    x = nm.array([1.0, 2.0], dtype=nm.float32, requires_grad=True)
    mixed = nm.array([x[0], np.float64(2)])
    assert mixed.dtype == nm.float64 and mixed.requires_grad
    with pytest.raises(ValueError, match="inhomogeneous"):
        nm.array([x, [1, 2, 3]])
    with pytest.raises(GradientError, match="array"):
        nm.array([x[0], None], dtype=object)


def test_array_of_an_array_copies_and_is_differentiable():
    x = leaf(1.0, 2.0)
    y = nm.array(x, ndmin=2)
    assert y.shape == (1, 2) and not np.shares_memory(y._d, x._d)
    assert gradient(lambda x: nm.array(x, ndmin=2), x) == [[1.0, 2.0]]
    assert nm.asarray(x) is x and nm.array(x, copy=None) is x
    m = nm.array([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    f = nm.array(m, order="F")
    assert f.flags.f_contiguous and f.requires_grad
    fresh = nm.array(x * 2, requires_grad=True)
    assert fresh.is_leaf and fresh.base is None
    s = nm.asarray(x[0])
    s += 1
    assert s.shape == () and float(x[0]) == 1.0 and s.requires_grad


@pytest.mark.parametrize(
    ("function", "want"),
    [
        (lambda s: nm.full((2, 2), s), 10.0),
        (lambda s: nm.full_like(nm.zeros(3), s), 6.0),
        (lambda s: nm.arange(s, s + 2.5), 6.0),
        (lambda s: nm.arange(0, 3 * s, s), 8.0),
        (lambda s: nm.linspace(0, s, 3), 4.0),
        (lambda s: nm.linspace(s, 0, 3, dtype=nm.float32), 2.0),
        (lambda s: nm.linspace(0, s, 4, endpoint=False), 5.0),
        (lambda s: nm.linspace(nm.array([0.0, 0.0]), s, 2, axis=1), 6.0),
        (lambda s: nm.logspace(0, 1, 2, base=s), 2.0),
        (lambda s: nm.geomspace(s, 8 * s, 4), 1 + 4 + 12 + 32),
        (lambda s: nm.vander(nm.array([s, 1.0]), 3), 2 * 2 + 2),
        (lambda s: nm.meshgrid([s, 2 * s], [0.0, 0.0])[0], 1 + 4 + 3 + 8),
        (lambda s: nm.fromfunction(lambda i: i * s, (3,)), 2 + 6),
        (lambda s: nm.r_[0, s, nm.array([1.0, 2.0]) * s], 2 + 3 + 8),
        (lambda s: nm.c_[nm.array([s, s]), [0, 1]], 1 + 3),
    ],
)
def test_gradients_flow_to_the_numbers(function, want):
    (found,) = gradient(function, nm.array(2.0, requires_grad=True))
    assert found == pytest.approx(want)


def test_frombuffer_and_from_dlpack_share_memory():
    raw = np.arange(4.0)
    x = nm.from_dlpack(raw)
    x[0] = 7
    assert raw[0] == 7
    y = nm.frombuffer(x, dtype=nm.float64)
    assert y.base is x
    y[1] = 9
    assert raw[1] == 9
    with pytest.raises(GradientError):
        nm.from_dlpack(leaf(1.0))
    with pytest.raises(GradientError):
        nm.fromiter(iter([leaf(1.0)[0]]), float)


def test_creation_under_jit_follows_the_numbers():
    @nm.jit
    def f(x, n):
        y = nm.array([x[0], x[1] * 2, 3.0])
        return y + nm.full(3, x[1]) + nm.linspace(x[0], 1.0, 3), nm.zeros(n), nm.arange(n)

    for i in range(4):
        x = nm.array([1.0 + i, 2.0 * i])
        y, z, w = f(x, i)
        want = np.array([x[0].item(), x[1].item() * 2, 3.0]) + x[1].item()
        assert y.tolist() == (want + np.linspace(x[0].item(), 1.0, 3)).tolist()
        assert z.shape == (i,) and w.tolist() == list(range(i))
    assert "eager" not in nm.explain(f).reasons


def test_a_constant_that_a_trace_makes_is_not_the_arrays_it_was_made_of():
    f = nm.jit(lambda x: nm.full_like(x, 2.5) * x)
    for i in range(3):
        assert f(nm.array([1.0, i])).tolist() == [2.5, 2.5 * i]
