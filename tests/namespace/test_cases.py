"""Kinds of faults that other systems had, each as a small input with its right value."""

import numpy as np
import pytest

import numen as nm
from tolerances import assert_close

INF, NAN = float("inf"), float("nan")
FLOATS = pytest.mark.parametrize("dtype", ["float32", "float64"])


def leaf(value, dtype="float64"):
    return nm.array(value, dtype=dtype, requires_grad=True)


@FLOATS
def test_branch_not_taken_leaks_no_nan(dtype):
    x = leaf([-1, -4], dtype)
    with np.errstate(all="ignore"):
        nm.sum(nm.where(x > 0, nm.sqrt(nm.maximum(x, 0.0)), x)).backward()
    assert x.grad.tolist() == [1, 1]
    y = leaf(100, dtype)
    value = nm.where(y <= 0, nm.exp(nm.minimum(y, 0.0)), 1 + y)
    value.backward()
    assert (float(value), float(y.grad)) == (101, 1)


@FLOATS
def test_elements_not_picked_get_no_nan(dtype):
    with np.errstate(all="ignore"):
        x = leaf([1, 1], dtype)
        d = nm.array([0, 1], dtype=dtype)
        (x / d)[d != 0].sum().backward()
        assert x.grad.tolist()[1] == 1
        x = leaf([1, 1], dtype)
        q = nm.divide(x, d, where=d != 0)
        q.sum().backward()
        assert q.tolist() == [0, 1]


@FLOATS
@pytest.mark.parametrize("reduce", ["full", "axis", "amax", "two"])
def test_ties_share_the_gradient(dtype, reduce):
    x = leaf([0.6, 0.6, 0.3], dtype)
    if reduce == "full":
        x.max().backward()
    elif reduce == "axis":
        x.max(axis=0).backward()
    elif reduce == "amax":
        nm.amax(x).backward()
    else:
        nm.maximum(nm.maximum(x[0], x[1]), x[2]).backward()
    assert x.grad.tolist() == [0.5, 0.5, 0]


def test_maximum_with_itself_has_derivative_one():
    x = leaf([1, 2])
    nm.maximum(x, x).sum().backward()
    assert x.grad.tolist() == [1, 1]


def test_argmax_and_extrema_with_inf_and_nan():
    assert int(nm.argmax(nm.array([-INF]))) == 0
    assert int(nm.argmax(nm.array([0, NAN, 1, NAN]))) == 1
    assert int(nm.argmax(nm.array([1, 3, 3]))) == 1
    assert np.isnan(float(nm.max(nm.array([NAN, -1, 0, 1]))))
    assert np.isnan(float(nm.min(nm.array([0, NAN, 1]))))


def test_empty_arrays():
    empty = nm.empty((0, 1)).argmax(axis=1)
    assert (empty.shape, empty.dtype) == ((0,), np.int64)
    with pytest.raises(ValueError):
        nm.empty((0, 1)).argmax(axis=0)
    assert float(nm.zeros(0).sum()) == 0.0
    with pytest.warns(RuntimeWarning):
        assert np.isnan(float(nm.zeros(0).mean()))
    with pytest.raises(ValueError, match="max"):
        nm.zeros(0).max()
    assert (nm.zeros((2, 0)) @ nm.zeros((0, 3))).tolist() == [[0.0] * 3] * 2
    assert (nm.zeros((0, 3)) @ nm.zeros((3, 4))).shape == (0, 4)
    with pytest.raises(ValueError, match="item"):
        nm.zeros(0).item()
    x = nm.array(5)
    x[()] = 6
    assert (int(x), x[None].shape, x.sum().shape) == (6, (1,), ())
    with pytest.raises(TypeError):
        len(x)


def test_gradient_through_empty_arrays():
    x = leaf(np.zeros((0, 3)))
    (x @ nm.ones((3, 2))).sum().backward()
    assert x.grad.shape == (0, 3)
    y = leaf([3.0])
    (y + nm.zeros(0)).sum().backward()
    assert y.grad.tolist() == [0]


@FLOATS
def test_negative_steps_carry_gradients(dtype):
    q, w = leaf(np.arange(4), dtype), nm.array([1, 2, 3, 4], dtype=dtype)
    assert q[::-1].tolist() == [3, 2, 1, 0]
    assert q[-1:-10:-2].tolist() == [3, 1]
    assert q[3:0:-1].tolist() == [3, 2, 1]
    assert q[2:-1:-1].tolist() == []
    (w * q[::-1]).sum().backward()
    assert q.grad.tolist() == [4, 3, 2, 1]
    y = q * 1
    y[::-2] = w[:2] * q[0]
    q.grad = None
    (y * y).sum().backward()
    assert y.tolist() == [0, 0, 2, 0]
    assert q.grad.tolist() == [0, 0, 4, 0]
    z = leaf(np.arange(6).reshape(2, 3), dtype)
    (z[::-1, 2:0:-1] * nm.array([[1, 2], [3, 4]], dtype=dtype)).sum().backward()
    assert z.grad.tolist() == [[0, 4, 3], [0, 2, 1]]
    with pytest.raises(ValueError):
        q[::0]


def test_index_out_of_range_names_index_and_bound():
    for pick in (
        lambda x: nm.take(x, [4]),
        lambda x: x[[13]],
        lambda x: x[-4],
        lambda x: x[nm.array([-4])],
    ):
        with pytest.raises(IndexError, match=r"(4|13).*3"):
            pick(nm.zeros(3))
    assert nm.arange(3)[[-1]].tolist() == [2]


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint32"])
def test_division_of_integers(dtype):
    low = 0 if dtype[0] == "u" else -128
    a = np.arange(low, 128).astype(dtype)
    with np.errstate(all="ignore"):
        expected = a[:, None] / a
        actual = (nm.array(a)[:, None] / nm.array(a)).numpy()
    assert actual.dtype == expected.dtype
    np.testing.assert_array_equal(actual, expected)
    assert float(nm.array(1) / nm.array(2)) == 0.5


def test_integer_sums_widen():
    assert nm.sum(nm.array([100, 100, 100], dtype="int8")).item() == 300
    assert nm.array([200, 100], dtype="uint8").sum().dtype == np.uint64
    assert nm.array([True, True]).sum().dtype == np.int64
    assert nm.array([100, 100], dtype="int8").sum(dtype="int16").dtype == np.int16
    assert (nm.array([2**32]) + 0).tolist() == [4294967296]
    np.testing.assert_allclose(
        (1 / 256 ** nm.arange(1.0, 5)).tolist()[-1], 2.3283064e-10, rtol=1e-7
    )
    assert nm.ones(2, dtype="float64").dtype == np.float64


@FLOATS
def test_nan_and_signed_zero(dtype):
    nan = nm.array([NAN], dtype=dtype)
    assert np.isnan(nan.clip(0, 100).item())
    assert np.isnan(nm.relu(nan).item())
    assert np.isnan(nm.array([0.0], dtype=dtype).clip(NAN, 1).item())
    assert nm.array([5.0], dtype=dtype).clip(3, 1).tolist() == [1]
    for n in (8192, 8193, 100_000):
        assert np.signbit(nm.full(n, -0.0, dtype).max().item())
    x = leaf([-1.0, 0.0, 2.0], dtype)
    nm.relu(x).sum().backward()
    assert x.grad.tolist() == [0, 0, 1]


def test_gradient_of_broadcasting():
    a, b = leaf(np.ones((3, 1))), leaf(np.ones((1, 4)))
    (a + b).sum().backward()
    assert a.grad.tolist() == [[4]] * 3
    assert b.grad.tolist() == [[3] * 4]
    with pytest.raises(ValueError, match="read-only"):
        nm.broadcast_to(nm.zeros(3), (2, 3))[0] = 1


@FLOATS
def test_gradients_in_an_expression(dtype):
    x = leaf([0.5, 1.5, 2.5], dtype)
    (nm.tanh(x) * nm.exp(-x) + nm.log(x) / nm.sqrt(x) - abs(x) ** 3).sum().backward()
    v = np.array([0.5, 1.5, 2.5])
    t, e = np.tanh(v), np.exp(-v)
    expected = (1 - t * t) * e - t * e + 1 / v / np.sqrt(v) - 0.5 * np.log(v) * v**-1.5 - 3 * v * v
    assert x.grad.dtype == dtype
    assert_close(x.grad.numpy(), expected, 10)
