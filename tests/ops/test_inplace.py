"""Gradients of programs that write in place, into views and views of views; or an error says why.

Each program runs on plain ndarrays too: central differences there are the reference for the
gradients, and its value there must be the value on Arrays.
"""

import numpy as np
import pytest
from cases import central_difference

from numen.dispatch.modes import no_grad
from numen.errors import GradientError, LeafWriteError
from numen.namespace.array import Array
from numen.ops import table
from tolerances import DIFFERENCES, STEP, assert_close, assert_same

X = np.arange(1.0, 7.0).reshape(2, 3) / 4
W = np.array([0.5, -0.75, 1.25])
PROGRAMS = []


def program(function):
    PROGRAMS.append(pytest.param(function, id=function.__name__))
    return function


def exp(x):
    return table["exp"](x) if isinstance(x, Array) else np.exp(x)


def tanh(x):
    return table["tanh"](x) if isinstance(x, Array) else np.tanh(x)


@program
def write_into_a_row(x, w):
    y = x * 1.0
    v = y[0]
    v *= w
    return y * y


@program
def another_view_sees_the_write(x, w):
    y = x * 1.0
    v = y[0]
    u = y.reshape(6)[1:4]
    v *= w
    return u * u


@program
def a_view_follows_its_base(x, w):
    y = x * 1.0
    v = y[0]
    y *= 2.0
    y += w
    return v * v * w


@program
def assignments_to_rows(x, w):
    y = x * 1.0
    y[1] += w
    y[0] = w
    return y * y * w


@program
def a_view_added_to_itself(x, w):
    y = x * 1.0
    v = y[0]
    v += v
    v += y[1]
    return y * w


@program
def overlapping_slices(x, w):
    y = (x * 1.0).reshape(6)
    before = y[:-1].copy()
    y[1:] += before * before
    return y * y


@program
def write_to_a_view_of_a_view(x, w):
    y = x * 1.0
    v = y[:, ::-1][1]
    v *= w
    v[1:] = w[:2] * v[:2].copy()
    return y * y


@program
def write_through_a_transpose(x, w):
    y = x * 1.0
    t = y.T
    t[1] *= 3.0
    t += w.reshape(3, 1)
    return y * y


@program
def a_saved_result_is_scaled(x, w):
    y = exp(x * w)
    y *= 2
    return y * y


@program
def a_saved_result_is_overwritten_in_part(x, w):
    y = tanh(x)
    y[0] = w * y[1].copy()
    return y * x


@program
def in_place_chain(x, w):
    y = x + 0.0
    y += w
    y *= x
    y -= 0.5 * w
    y /= w * w
    return y * x


@program
def write_with_broadcasting(x, w):
    y = x * 1.0
    y[:, 1:] = w[0] * w[1]
    return y * y * x


@program
def one_element(x, w):
    y = x * x
    y[1, 2] = w[0] * y[0, 0]
    y[0, -1] *= 3.0
    return y * w


@program
def advanced_assignment(x, w):
    y = x * 1.0
    y[np.array([1, 0]), np.array([0, 2])] = w[:2]
    return y * y


@program
def advanced_assignment_with_repeats(x, w):
    y = (x * 1.0).reshape(6)
    y[np.array([4, 4, 1])] = w * w
    return y * y


@program
def advanced_in_place_addition(x, w):
    y = (x * 1.0).reshape(6)
    y[np.array([5, 0, 2])] += w
    return y * y


@program
def masked_assignment(x, w):
    y = x * 1.0
    y[np.array([[True, False, True], [False, True, False]])] = w
    return y * y * y


@program
def advanced_assignment_into_a_view(x, w):
    y = x * 1.0
    v = y[1]
    v[np.array([2, 0])] = w[1:] * 2.0
    return y * y


@program
def the_value_is_changed_afterwards(x, w):
    y = x * 1.0
    z = w * 1.0
    y[0] = z
    z *= 5.0
    return y * y + z


@program
def a_loop_of_writes(x, w):
    y = x * 1.0
    for k in range(1, 3):
        y[:, k] += y[:, k - 1].copy() * w[k]
    return y * y


@program
def swapped_rows(x, w):
    y = x * w
    first = y[0] * 1.0
    y[0] = y[1]
    y[1] = first
    return y * x


@program
def write_after_reading(x, w):
    y = x * 1.0
    before = y + y
    y[...] = w
    return before * y


@program
def new_axis_and_steps(x, w):
    y = x * 1.0
    y[None, :, ::2] *= w[1]
    y[::-1, 1] = y[:, 0] * 2.0
    return y * y


def leaf(a):
    return Array(a.copy()).requires_grad_()


@pytest.mark.parametrize("function", PROGRAMS)
def test_gradients_through_writes(function):
    x, w = leaf(X), leaf(W)
    out = function(x, w)
    assert_same(out._d, function(X.copy(), W.copy()))
    weight = np.linspace(0.5, 1.5, out.size).reshape(out.shape)
    out.backward(Array(weight))

    def scalar(a, b):
        return float(np.sum(weight * function(a.copy(), b.copy())))

    for position, (array, given) in enumerate([(x, X), (w, W)]):
        expected = np.zeros(given.shape)
        for at in np.ndindex(given.shape):
            direction = np.zeros(given.shape)
            direction[at] = 1.0
            expected[at] = central_difference(scalar, [X, W], position, direction, STEP)
        found = np.zeros(given.shape) if array.grad is None else array.grad._d
        assert_close(found, expected, table=DIFFERENCES)


@pytest.mark.parametrize("function", PROGRAMS)
def test_values_without_gradients(function):
    with no_grad():
        out = function(Array(X.copy()), Array(W.copy()))
    assert_same(out._d, function(X.copy(), W.copy()))
    assert out._n is None


def test_a_saved_operand_that_is_written_raises():
    x = leaf(X)
    y = x * 1.0
    z = y * y
    y += 1.0
    with pytest.raises(GradientError, match=r"multiply.*written in place"):
        z.sum().backward()


def test_a_saved_view_whose_base_is_written_raises():
    x = leaf(X)
    y = x * 1.0
    z = y[0] * y[1]
    y[1, 0] = 0.0
    with pytest.raises(GradientError, match="written in place"):
        z.sum().backward()


def test_writes_into_a_leaf_raise():
    x = leaf(X)
    with pytest.raises(LeafWriteError, match="leaf"):
        x += 1.0
    with pytest.raises(LeafWriteError, match="leaf"):
        x[0] = 1.0
    with pytest.raises(LeafWriteError, match="leaf"):
        x[np.array([0])] = 1.0
    with no_grad():
        x += 1.0
    assert_same(x._d, X + 1.0)


def test_a_written_leaf_copy_keeps_the_leaf():
    x = leaf(X)
    y = x.copy()
    y[0] = 0.0
    y.sum().backward()
    assert_same(x.grad._d, np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]))


def test_second_order_through_a_write():
    x, w = leaf(X), leaf(W)
    y = x * x
    y[0] = w * y[1].copy()
    (y * y).sum().backward(create_graph=True)
    gx = x.grad
    x.grad = None
    w.grad = None
    gx.sum().backward()
    # L = sum((w b^2)^2) + sum(b^4) with b = x[1]: dL/db = 4 (w^2 + 1) b^3
    b = X[1]
    assert_close(x.grad._d, np.stack([0 * b, 12 * (W**2 + 1) * b**2]))
    assert_close(w.grad._d, 8 * W * b**3)
