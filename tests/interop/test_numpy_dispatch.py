"""NumPy's own functions and ufuncs on Arrays, alone and beside ndarrays."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import numen as nm
from numen.errors import GradientError

DATA = np.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]])

BOTH = """
np.add(n, x)
np.add(x, n)
n + x
x + n
n - x
n @ x.T
x @ n.T
n < x
n == x
n // x
2.5 * x
np.float64(2) * x
np.float32(2) - x
np.int64(3) == x
np.float64(2) ** x[0, 0]
np.add(x, [1, 2, 3])
np.exp(x)
np.add.reduce(x)
np.add.accumulate(x, axis=1)
np.multiply.outer(n[0], x[0])
np.maximum.reduceat(x, [0, 1])
np.add.reduce(x, axis=1, initial=10.0, where=n > 2)
np.concatenate([x, n])
np.stack([n, x])
np.where(n > 2, x, n)
np.sum(x, axis=1)
np.mean(x)
np.clip(x, 2, 5)
np.sort(x, axis=None)
np.cumsum(x)
np.percentile(x, 30)
np.unique(x)
np.reshape(x, (3, 2))
np.zeros_like(x)
np.full_like(x, 3)
np.broadcast_to(x, (2, 2, 3))
np.einsum("ij,kj->ik", x, n)
np.linalg.norm(x)
np.linalg.inv(x[:, :2])
np.linalg.svd(x, compute_uv=False)
np.fft.fft(x)
np.fft.fftshift(x)
np.lib.stride_tricks.sliding_window_view(x, 2, axis=1)
np.apply_along_axis(lambda v: v.sum(), 1, x)
np.interp(x, [0.0, 10.0], [0.0, 1.0])
np.polyval([1, 2], x)
np.convolve(x[0], n[0])
np.searchsorted(x[0], 2.5)
np.histogram(x, bins=3)[0]
np.pad(x, 1)
np.ones((2,), like=x)
np.asarray([1, 2], like=x)
""".strip().splitlines()


@pytest.mark.parametrize("text", BOTH)
def test_numen_computes_what_numpy_would(text):
    actual = eval(text, {"np": np, "n": DATA, "x": nm.asarray(DATA)})
    expected = eval(text, {"np": np, "n": DATA, "x": DATA})
    assert type(actual) is nm.Array
    assert actual.dtype == np.asarray(expected).dtype
    np.testing.assert_array_equal(np.asarray(actual), expected)


def test_functions_with_answers_of_pythons_own():
    x = nm.asarray(DATA)
    assert np.shape(x) == (2, 3)
    assert np.ndim(x) == 2
    assert np.size(x) == 6
    assert np.array_equal(x, DATA) is True
    assert np.allclose(DATA, x) is True
    assert np.iscomplexobj(x) is False
    assert np.result_type(x, np.complex64) == np.complex128
    assert np.can_cast(x.dtype, "f4") is False
    assert np.broadcast_shapes(x.shape, (1,)) == (2, 3)
    assert np.may_share_memory(x, x[0])
    assert np.array2string(x[0]) == "[1. 2. 3.]"
    np.testing.assert_allclose(x, DATA)


def test_in_place_on_both_sides():
    x, n = nm.asarray(DATA.copy()), DATA.copy()
    same = n
    n += x
    assert n is same
    assert type(n) is np.ndarray
    assert n.tolist() == (2 * DATA).tolist()
    x -= n
    assert x.tolist() == (-DATA).tolist()
    np.add(x, 1, out=x)
    assert x.tolist() == (1 - DATA).tolist()
    assert np.add(DATA, x, out=n) is n
    assert n.tolist() == np.ones((2, 3)).tolist()
    assert np.multiply(n, 5, out=x) is x
    assert nm.add(x, n, out=(n,)) is n
    assert n.tolist() == np.full((2, 3), 6.0).tolist()
    np.add.at(x, (0, [0, 0]), 1.0)
    assert x[0].tolist() == [7.0, 5.0, 5.0]


def test_functions_that_write():
    x, n = nm.asarray(DATA.copy()), DATA.copy()
    total = np.empty(3)
    assert np.sum(x, axis=0, out=total) is total
    assert total.tolist() == DATA.sum(axis=0).tolist()
    ours = nm.zeros(3)
    assert np.sum(DATA, axis=0, out=ours) is ours
    assert ours.tolist() == total.tolist()
    np.copyto(x, 2 * n)
    np.copyto(n, x)
    assert n.tolist() == (2 * DATA).tolist()
    np.put(x, [0, 5], [-1.0, -2.0])
    np.fill_diagonal(x, 0.5)
    np.putmask(x, x == -2, 100.0)
    assert x.tolist() == [[0.5, 4.0, 6.0], [8.0, 0.5, 100.0]]
    n[0] = x[1]
    assert n[0].tolist() == [8.0, 0.5, 100.0]
    n[x > 50] = x[0, 0]
    assert n[1, 2] == 0.5


def test_indices_of_ndarrays():
    n = np.arange(10)
    assert n[nm.asarray([1, 3])].tolist() == [1, 3]
    assert n[nm.asarray(n > 7)].tolist() == [8, 9]
    assert n[nm.asarray(3)] == 3
    assert n[nm.arange(5)[2] :].tolist() == [2, 3, 4, 5, 6, 7, 8, 9]
    assert list(range(nm.asarray([4])[0])) == [0, 1, 2, 3]


def test_random_functions_take_arrays():
    x = nm.arange(10)
    rng = np.random.default_rng(0)
    assert sorted(rng.permutation(x)) == list(range(10))
    assert rng.choice(x) in range(10)
    assert rng.normal(nm.zeros(3), nm.ones(3)).shape == (3,)
    nm.random.default_rng(0).shuffle(x)
    assert sorted(x.tolist()) == list(range(10))


def test_gradients_flow_through_numpys_names():
    def loss(m, x):
        y = m.concatenate([m.exp(x), DATA[:1]])
        return m.sum(m.linalg.norm(y, axis=1) * m.mean(y, axis=1)) + m.einsum("ij,ij->", y, y)

    x = nm.array(DATA[:1], requires_grad=True)
    loss(np, x).backward()
    by_name = x.grad.tolist()
    assert by_name == nm.grad(lambda x: loss(nm, x))(nm.asarray(DATA[:1])).tolist()
    y = nm.array(DATA, requires_grad=True)
    (DATA @ y.T).sum().backward()
    assert y.grad.tolist() == np.broadcast_to(DATA.sum(axis=0), (2, 3)).tolist()


def test_a_function_that_numen_lacks():
    polyval2d = np.polynomial.polynomial.polyval2d
    x, c = nm.asarray([1.0, 2.0]), nm.asarray([[1.0, 2.0], [3.0, 4.0]])
    value = polyval2d(x, x, c)
    assert type(value) is nm.Array
    assert value.tolist() == polyval2d(x.numpy(), x.numpy(), c.numpy()).tolist()
    with pytest.raises(GradientError, match="polyval2d: numen has no form with a derivative"):
        polyval2d(nm.array([1.0, 2.0], requires_grad=True), x, c)


def test_gradients_are_not_lost_in_ndarrays():
    x = nm.array(DATA, requires_grad=True)
    n = DATA.copy()
    with pytest.raises(GradientError, match="add"):
        np.add(x, 1, out=n)
    with pytest.raises(GradientError, match=r"add|requires"):
        n += x
    with pytest.raises(GradientError, match="sum"):
        np.sum(x, axis=0, out=np.empty(3))
    with pytest.raises(GradientError, match="detach"):
        n[0] = x[0]
    assert n.tolist() == DATA.tolist()


def test_a_frompyfunc_ufunc_and_a_gradient():
    double = np.frompyfunc(lambda v: 2 * v, 1, 1)
    assert double(nm.asarray([1, 2])).tolist() == [2, 4]


def test_subclasses_and_foreign_arrays_decide_for_themselves():
    class Foreign:
        __array_ufunc__ = None

        def __radd__(self, other):
            return "theirs"

    class Overriding:
        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            return f"their {ufunc.__name__}"

        def __array_function__(self, func, types, args, kwargs):
            return f"their {func.__name__}"

    x = nm.ones(2)
    assert x + Foreign() == "theirs"
    assert np.add(x, Overriding()) == "their add"
    assert np.concatenate([x, Overriding()]) == "their concatenate"


def test_pairing_loads_no_module():
    code = (
        "import sys, numpy, numen; numpy.sum(numen.ones(2)); "
        "print([m for m in ('numpy.testing', 'numpy.ma', 'numen.ma', 'numen.testing') "
        "if m in sys.modules])"
    )
    path = str(Path(nm.__file__).parents[1])
    run = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {path!r}); {code}"],
        capture_output=True,
        text=True,
    )
    assert run.stdout.strip() == "[]", run.stderr
