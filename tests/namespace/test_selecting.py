"""Picking and placing by the same source text, and their gradients against finite differences."""

import numpy as np
import pytest
from exact_source import check

import numen as nm
from numen.errors import GradientError
from numen.namespace.flat import FlatIterator, assign

TEXTS = r"""
np.where([True, False], 1, 2)
np.where(np.array([0, 2]), np.arange(2.0), -1)
np.where([1, 0, 3])
np.where(np.array([[1, 0], [0, 1]]))
np.where(True, 1, 2)
np.where([True, False], "a", "bc")
np.where([True, False], None, 1)
np.where(np.array([True, False]), np.float32(1), 2.5)
np.where([True, False], np.datetime64("2020"), np.datetime64("2021"))
np.where([True, False], 1)
np.where([True, False], [1, 2, 3], 0)
np.where([True], np.int8(1), 300)
np.nonzero([0, 1, 2])
np.nonzero(np.zeros((2, 2)))
np.nonzero(5)
np.flatnonzero([[0, 1], [2, 0]])
np.argwhere([[0, 1], [2, 0]])
np.argwhere(5)
np.count_nonzero([0, 1, 2])
np.count_nonzero(np.array([[0, 1], [2, 3]]), axis=0)
np.count_nonzero(np.array([[0, 1], [2, 3]]), axis=(0, 1), keepdims=True)
np.count_nonzero(["a", ""])
np.take([4, 3, 5], [0, 2])
np.take(np.arange(12).reshape(3, 4), [[0, 1], [3, 2]], axis=1)
np.take(np.arange(12).reshape(3, 4), 1, axis=0)
np.take(np.arange(3), 1)
np.take(np.arange(3), [-1, 5], mode="wrap")
np.take(np.arange(3), [-1, 5], mode="clip")
np.take(np.arange(3), [3])
np.take(np.arange(3), [1.5])
np.take(np.arange(3), [0, 1], out=np.zeros(2, int))
np.take(np.arange(3), [0], axis=1)
np.take(np.arange(3), [])
np.take([], [0])
np.take(["a", "b"], 1)
np.take(np.arange(3), [0], mode="x")
np.take(np.arange(3), [True, False])
np.take_along_axis(np.array([[3, 1, 2]]), np.array([[1, 2, 0]]), 1)
np.take_along_axis(np.array([[3, 1, 2]]), np.array([[1, 2, 0]]))
np.take_along_axis(np.array([[3, 1], [5, 2]]), np.array([3, 0]), None)
np.take_along_axis(np.array([[3, 1, 2]]), np.array([1]), 1)
np.take_along_axis(np.array([[3, 1, 2]]), np.array([[1.0]]), 1)
np.take_along_axis(np.array([[3, 1, 2]]), np.array([[7]]), 1)
np.take_along_axis(np.array([[3, 1, 2]]), np.array([[1]]), 2)
x = np.zeros(4); np.put(x, [0, 2], [5, 6]); r = x
x = np.zeros(4); np.put(x, [0, 1, 2], [5, 6]); r = x
x = np.zeros(4); np.put(x, 7, 1); r = x
x = np.zeros(4); np.put(x, [7, -9], [1, 2], mode="clip"); r = x
x = np.zeros(4); np.put(x, [7, -9], [1, 2], mode="wrap"); r = x
x = np.zeros(4); np.put(x, [0], []); r = x
x = np.zeros(4, int); np.put(x, [0], 2.7); r = x
x = np.zeros((2, 2)); x.put([0, 3], 9); r = x
np.put([1, 2], [0], 5)
x = np.array([[10, 30, 20]]); np.put_along_axis(x, np.array([[1]]), 99, 1); r = x
x = np.array([[10, 30, 20]]); np.put_along_axis(x, np.array([1]), 99, None); r = x
x = np.array([[10, 30, 20]]); np.put_along_axis(x, np.array([1]), 99, 1); r = x
x = np.arange(6).reshape(2, 3); np.putmask(x, x > 2, x**2); r = x
x = np.arange(5); np.putmask(x, x > 1, [-33, -44]); r = x
x = np.arange(5); np.putmask(x, [True], [-33, -44]); r = x
x = np.arange(5); np.putmask(x, x > 1, []); r = x
x = np.arange(6).reshape(2, 3); np.place(x, x > 2, [44, 55]); r = x
x = np.arange(3); np.place(x, x > 0, []); r = x
x = np.arange(3); np.place(x, x > 5, []); r = x
np.place([1], [True], [2])
x = np.zeros(3); np.copyto(x, [1, 2, 3]); r = x
x = np.zeros(3, int); np.copyto(x, [1.5, 2, 3]); r = x
x = np.zeros(3, int); np.copyto(x, [1.5, 2, 3], casting="unsafe"); r = x
x = np.zeros(3); np.copyto(x, 5, where=[True, False, True]); r = x
x = np.zeros(3); np.copyto(x, [1, 2]); r = x
x = np.zeros((2, 3)); np.copyto(x, np.arange(3)); r = x
np.copyto([1], 2)
x = np.zeros((3, 3)); np.fill_diagonal(x, 5); r = x
x = np.zeros((3, 3)); np.fill_diagonal(x, [1, 2]); r = x
x = np.zeros((7, 3)); np.fill_diagonal(x, 4, wrap=True); r = x
x = np.zeros((7, 3)); np.fill_diagonal(x, 4); r = x
x = np.zeros((3, 5)); np.fill_diagonal(x, 4, wrap=True); r = x
x = np.zeros((2, 2, 2)); np.fill_diagonal(x, 4); r = x
x = np.zeros((2, 3, 2)); np.fill_diagonal(x, 4); r = x
x = np.zeros(3); np.fill_diagonal(x, 4); r = x
np.choose([2, 3, 1, 0], [[0, 1, 2, 3], [10, 11, 12, 13], [20, 21, 22, 23], [30, 31, 32, 33]])
np.choose([2, 4, 1, 0], [[0, 1, 2, 3], [10, 11, 12, 13]], mode="clip")
np.choose([2, -1, 1, 0], [[0, 1, 2, 3], [10, 11, 12, 13]], mode="wrap")
np.choose([2, 4, 1, 0], [[0, 1, 2, 3], [10, 11, 12, 13]])
np.choose([[1, 0, 1], [0, 1, 0]], [-10, 10])
np.choose(1, [3, 4.5])
np.choose(np.array([0, 1]), np.array([[1, 2], [3, 4]]))
np.array([0, 1]).choose([[1, 2], [3, 4]])
np.compress([0, 1], [[1, 2], [3, 4], [5, 6]], axis=0)
np.compress([False, True, True], [[1, 2], [3, 4], [5, 6]], axis=0)
np.compress([False, True], [[1, 2], [3, 4], [5, 6]], axis=1)
np.compress([False, True], [[1, 2], [3, 4], [5, 6]])
np.compress([True] * 5, [1, 2])
np.compress([[True]], [1, 2])
np.array([1, 2, 3]).compress([True, False, True])
np.extract([[True, False], [False, True]], [[1, 2], [3, 4]])
np.extract(np.arange(4) % 2, np.arange(4))
x = np.arange(6); r = np.select([x < 3, x > 3], [x, x**2], 42)
x = np.arange(6); r = np.select([x < 3, x > 3], [-x, x / 2])
x = np.arange(3, dtype=np.float32); r = np.select([x < 1], [x], 1.5)
np.select([], [])
np.select([[True]], [[1], [2]])
np.select([[1]], [[1]])
np.select([True, False], [1, 2])
x = np.linspace(-2.5, 2.5, 6); r = np.piecewise(x, [x < 0, x >= 0], [-1, 1])
x = np.linspace(-2.5, 2.5, 6); r = np.piecewise(x, [x < 0, x >= 0], [lambda x: -x, lambda x: x])
x = np.linspace(-2.5, 2.5, 6); r = np.piecewise(x, [x < 0], [lambda x: -x, lambda x: x * 2])
x = np.linspace(-2.5, 2.5, 6); r = np.piecewise(x, x < 0, [lambda x: -x, 7])
np.piecewise(-2, [-2 < 0], [lambda x: -x, lambda x: x])
np.piecewise(np.array(3.0), [False, True], [1, 2])
np.piecewise(np.array([1.0, 2.0]), True, [5])
x = np.arange(3); r = np.piecewise(x, [x < 1], [1, 2, 3])
x = np.arange(3); r = np.piecewise(x, [x < 1, x > 1], [lambda v, k: v + k, 5], 10)
x = np.arange(3); r = np.piecewise(x, [x < 1, x > 1], [lambda v, k=1: v + k, 5], k=4)
""".strip().splitlines()


@pytest.mark.parametrize("text", TEXTS)
def test_numpy_does_the_same(text):
    check(text, words=True)


RNG = np.random.default_rng(0)
X, V = RNG.standard_normal((3, 4)), RNG.standard_normal(4)
MASK = RNG.random((3, 4)) < 0.5
WEIGHTS = RNG.standard_normal(64)


def weighed(result):
    return (result * nm.array(WEIGHTS[: result.size].reshape(result.shape))).sum()


PICKS = {
    "where": lambda x, v: nm.where(nm.array(MASK), x, v),
    "take": lambda x, v: nm.take(x, [[0, 1], [5, 5]]) * v[0],
    "take clip": lambda x, v: nm.take(x, [0, 9, -5], axis=1, mode="clip") * v[0],
    "take wrap": lambda x, v: nm.take(x, [0, 9, -5], axis=1, mode="wrap") * v[0],
    "take_along_axis": lambda x, v: nm.take_along_axis(x, nm.array([[1], [0], [3]]), 1) * v,
    "compress": lambda x, v: nm.compress([True, False, True], x, axis=0) * v,
    "extract": lambda x, v: nm.extract(MASK, x) * v[1],
    "choose": lambda x, v: nm.choose(nm.array([0, 1, 0, 1]), [x, v]),
    "select": lambda x, v: nm.select([x > 1, x < 0], [x * x, v], 3.0),
    "piecewise": lambda x, v: nm.piecewise(x, [x < 0, x > 1], [lambda z: z * v[0], 2, nm.exp]),
    "mask": lambda x, v: x[nm.array(MASK)] * v[2],
    "mask of values": lambda x, v: x[x > 0] * v[2],
    "mask and int": lambda x, v: x[nm.array([True, False, True]), 1] * v[:2],
    "flat": lambda x, v: FlatIterator(x)[[1, 3, 3]] * FlatIterator(v)[2] + FlatIterator(x)[::5],
}


def put(y, v):
    nm.put(y, [0, 5, 7], v[:2])


def putmask(y, v):
    nm.putmask(y, y > 0, v)


def place(y, v):
    nm.place(y, y > 0, v)


def place_one(y, v):
    nm.place(y, y > 0, v[:1])


def copyto(y, v):
    nm.copyto(y, v, where=nm.array(MASK))


def copyto_view(y, v):
    nm.copyto(y[:2], v)


def put_along_axis(y, v):
    nm.put_along_axis(y, nm.array([[1], [0], [3]]), v[:3].reshape(3, 1), 1)


def fill_diagonal(y, v):
    nm.fill_diagonal(y, v[:2])


def mask_by_value(y, v):
    y[y > 0] = v[0]


def mask_by_order(y, v):
    y[nm.array(MASK)] = nm.take(v, nm.arange(MASK.sum()) % 4)


def mask_of_rows(y, v):
    y[nm.array([True, False, True])] = v


def sequence(y, v):
    y[0] = [v[0], 1, v[1], v[0]]


def augmented(y, v):
    y[[0, 1]] += v
    y[1] *= v
    y[:, 1] -= v[:3]
    y[0, 0] += v[0]


def through_a_view(y, v):
    z = y.T[1:]
    z[2] = v[:3]
    z *= 2


def flat_slice(y, v):
    FlatIterator(y)[1::2] = v


def flat_all(y, v):
    assign(y, v)


PLACES = [put, putmask, place, place_one, copyto, copyto_view, put_along_axis, fill_diagonal]
PLACES += [mask_by_value, mask_by_order, mask_of_rows, sequence, augmented, through_a_view]
PLACES += [flat_slice, flat_all]


def placing(write):
    def function(x, v):
        y = x * 1.0
        write(y, v)
        return y

    return function


CASES = [pytest.param(f, id=name) for name, f in PICKS.items()]
CASES += [pytest.param(placing(write), id=write.__name__) for write in PLACES]


@pytest.mark.parametrize("function", CASES)
def test_gradients_are_those_of_finite_differences(function):
    arguments = [X, V]
    leaves = [nm.array(a, requires_grad=True) for a in arguments]
    total = weighed(function(*leaves))
    total.backward()
    assert total.item() == weighed(function(nm.array(X), nm.array(V))).item()
    for position, x in enumerate(leaves):
        found = np.zeros(x.shape) if x.grad is None else x.grad.numpy()
        for at in np.ndindex(x.shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = [a.copy() for a in arguments]
                moved[position][at] += step
                ends.append(weighed(function(*map(nm.array, moved))).item())
            assert found[at] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-7)


@pytest.mark.parametrize("function", CASES)
def test_a_compiled_function_does_the_same(function):
    f = nm.jit(function)
    for i in range(3):
        x, v = nm.array(X + 0.01 * i), nm.array(V)
        np.testing.assert_allclose(f(x, v).numpy(), function(x, v).numpy(), rtol=1e-12)


def test_writing_a_mask_compiles():
    def f(x):
        y = x * 1.0
        y[y > 0] = 0.5
        return y

    g = nm.jit(f)
    for i in range(3):
        x = nm.array([-1.0, i - 1.0, 2.0])
        assert g(x).tolist() == f(x).tolist()
    assert not nm.explain(g).reasons


def test_ndarrays_take_no_gradient():
    x = nm.array([1.0, 2.0], requires_grad=True)
    for write in (nm.copyto, nm.putmask, nm.place):
        arguments = ([True, False], x) if write is not nm.copyto else (x,)
        with pytest.raises(GradientError):
            write(np.zeros(2), *arguments)


def test_written_memory_is_stamped():
    x = nm.array([1.0, 2.0], requires_grad=True)
    y = x * 1.0
    z = y * y
    nm.put(y.detach(), [0], 5.0)
    with pytest.raises(GradientError):
        z.sum().backward()


def test_the_flat_iterator_goes_like_numpys():
    a = np.arange(6.0).reshape(2, 3).T
    theirs, ours = a.flat, FlatIterator(nm.array(a))
    for _ in range(7):
        assert (ours.index, ours.coords) == (theirs.index, theirs.coords)
        assert next(ours, None) == next(theirs, None)
    assert len(ours) == len(theirs) and ours.copy().tolist() == theirs.copy().tolist()
    assert (ours == nm.arange(6.0)).tolist() == (theirs == np.arange(6.0)).tolist()
    np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs))
    for key in (1, -1, slice(1, 9, 2), [0, 2], ..., (1,)):
        np.testing.assert_array_equal(FlatIterator(nm.array(a))[key], a.flat[key])
        mine, other = nm.array(a), a.copy()
        value = 7 if key in (1, -1, (1,)) else [7, 8]
        FlatIterator(mine)[key], other.flat[key] = value, value
        assert mine.tolist() == other.tolist()
    with pytest.raises(IndexError):
        FlatIterator(nm.array(a))[9]
