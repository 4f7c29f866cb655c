"""scatter_add by everything that NumPy takes between brackets, and put into nothing."""

import numpy as np
import pytest

import numen as nm

INDICES = [
    (slice(None), np.array([0, 0, 2])),
    (np.array([1, 1]), slice(None, None, 2)),
    (..., np.array([0, 2])),
    (1,),
    (slice(1), 2),
    (np.array([1, 1]), np.array([0, 0])),
    (1, np.array([0, 0])),
    np.array([[1, 1], [0, 1]]),
    np.array([True, False]),
    (slice(None), np.array([True, False, True])),
    ([0, 0, 1],),
    (None, np.array([0, 0])),
]


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_scatter_add_is_add_at(index):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2, 3))
    value = rng.standard_normal(x[index].shape)
    expected = x.copy()
    np.add.at(expected, index, value)
    a, v = nm.array(x, requires_grad=True), nm.array(value, requires_grad=True)
    found = nm.scatter_add(a, index, v)
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-15)
    weights = rng.standard_normal(x.shape)
    (found * nm.array(weights)).sum().backward()
    np.testing.assert_array_equal(a.grad.numpy(), weights)
    np.testing.assert_array_equal(v.grad.numpy(), weights[index])
    plain = nm.scatter_add(nm.array(x), index, nm.array(value)).numpy()
    np.testing.assert_array_equal(plain, found.detach().numpy())


def test_scatter_add_leaves_its_array_alone():
    x = nm.zeros(3)
    nm.scatter_add(x, 1, 5.0)
    np.testing.assert_array_equal(x.numpy(), np.zeros(3))


@pytest.mark.parametrize("index", [3, (0, 0), 1.0, np.array([3])], ids=str)
def test_scatter_add_refuses_what_numpy_refuses(index):
    with pytest.raises(IndexError):
        np.add.at(np.zeros(3), index, 1.0)
    with pytest.raises(IndexError):
        nm.scatter_add(nm.zeros(3), index, 1.0)


def test_put_of_nothing_into_nothing_carries_gradients():
    x = nm.zeros(0, requires_grad=True)
    y = nm.copy(x)
    nm.put(y, nm.zeros(0, dtype=np.int64), nm.zeros(0))
    y.sum().backward()
    assert x.grad.shape == (0,)
