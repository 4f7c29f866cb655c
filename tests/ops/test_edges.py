"""Gradients at kinks, ties, zeros, infinities and NaN: what the rules promise, no warning."""

import numpy as np
import pytest

from numen.namespace.array import Array
from numen.ops import table
from tolerances import assert_close

INF, NAN = np.inf, np.nan


def leaf(values, dtype=np.float64):
    return Array(np.array(values, dtype)).requires_grad_()


def gradient(name, *args, **params):
    """d sum(row) / d each array argument."""
    inputs = [leaf(a) if isinstance(a, list) else a for a in args]
    out = table[name](*inputs, **params)
    out.backward(Array(np.ones(out.shape)))
    return [
        x.grad._d.tolist() for x in inputs if isinstance(x, Array) and x.is_leaf and x.requires_grad
    ]


@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_equal_operands_share_the_gradient(name):
    assert gradient(name, [1.0, -0.0], [1.0, 0.0]) == [[0.5, 0.5], [0.5, 0.5]]
    assert gradient(name, [2.0], 2.0) == [[0.5]]


def test_the_larger_and_the_smaller_operand_get_the_gradient():
    assert gradient("maximum", [1.0, 3.0], [2.0, 2.0]) == [[0.0, 1.0], [1.0, 0.0]]
    assert gradient("minimum", [1.0, 3.0], [2.0, 2.0]) == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize("name", ["max", "min"])
def test_ties_of_a_reduction_share_the_gradient(name):
    params = {"axis": (1,), "keepdims": False}
    assert gradient(name, [[2.0, 2.0, 2.0], [2.0, 2.0, 2.0]], **params) == [[[1 / 3] * 3] * 2]
    (found,) = gradient("max", [[1.0, 5.0, 5.0]], axis=(0, 1), keepdims=True)
    assert found == [[0.0, 0.5, 0.5]]


@pytest.mark.parametrize("name", ["max", "min"])
def test_a_reduction_to_nan_has_gradient_zero(name):
    assert gradient(name, [NAN, 1.0], axis=(0,), keepdims=False) == [[0.0, 0.0]]


def test_relu_and_absolute_have_gradient_zero_at_zero():
    assert gradient("relu", [-1.0, 0.0, -0.0, 2.0]) == [[0.0, 0.0, 0.0, 1.0]]
    assert gradient("absolute", [-1.0, 0.0, -0.0, 2.0]) == [[-1.0, 0.0, 0.0, 1.0]]


def test_an_infinite_cotangent_does_not_leak_through_a_zero_gradient():
    for name in ("relu", "absolute"):
        x = leaf([-1.0, 0.0] if name == "relu" else [0.0, 0.0])
        table[name](x).backward(Array(np.array([INF, INF])))
        assert x.grad._d.tolist() == [0.0, 0.0]


def test_where_gives_the_branch_not_taken_exactly_zero():
    c = Array(np.array([True, False]))
    assert gradient("where", c, [INF, NAN], [NAN, INF]) == [[1.0, 0.0], [0.0, 1.0]]
    x = leaf([0.0, 4.0])
    safe = table["where"](x > 0, x, 1.0)
    table["where"](x > 0, table["log"](safe), 0.0).backward(Array(np.array([INF, 1.0])))
    assert x.grad._d.tolist() == [0.0, 0.25]


@pytest.mark.parametrize("exponent", [0, 0.0, [0.0, 0.0, 0.0, 0.0]])
def test_power_with_exponent_zero_has_gradient_zero(exponent):
    (found, *_) = gradient("power", [0.0, -2.0, 3.0, INF], exponent)
    assert found == [0.0] * 4


def test_power_at_base_zero():
    by_base, by_exponent = gradient("power", [0.0, 0.0, 0.0], [1.0, 2.0, 3.0])
    assert by_base == [1.0, 0.0, 0.0]
    assert by_exponent == [0.0, 0.0, 0.0]
    assert gradient("power", [0.0], 2) == [[0.0]]
    assert gradient("power", [0.0], 1) == [[1.0]]
    assert gradient("power", 0.0, [2.0]) == [[0.0]]


def test_power_of_a_negative_base():
    by_base, by_exponent = gradient("power", [-2.0], [3.0])
    assert by_base == [12.0]
    assert by_exponent == [0.0]
    assert gradient("power", [-2.0], -1)[0] == [-0.25]


def test_power_of_a_python_base():
    (found,) = gradient("power", 2.0, [1.0, 3.0])
    assert_close(np.array(found), np.log(2.0) * np.array([2.0, 8.0]))
    assert gradient("power", -2.0, [2.0]) == [[0.0]]


def test_complex_values_on_the_way_give_a_real_argument_the_real_part():
    x = leaf([1.0, -2.0])
    table["absolute"](x * 2j).sum().backward()
    assert x.grad.tolist() == [2, -2]
    x.grad = None
    (x * 2j).backward(Array(np.array([1.0, 1j])))  # Re(g * conj(2j))
    assert x.grad.tolist() == [0, 2]
    assert x.grad.dtype == np.float64


def test_mean_and_sum_of_nothing_have_empty_gradients():
    for name in ("sum", "mean"):
        x = leaf(np.ones((2, 0)))
        out = table[name](x, axis=(0,), keepdims=False)
        out.backward(Array(np.ones(0)))
        assert x.grad.shape == (2, 0)


def test_products_of_nothing_are_zero():
    a, b = leaf(np.ones((2, 0))), leaf(np.ones((0, 3)))
    out = table["matmul"](a, b)
    assert out._d.tolist() == [[0.0] * 3] * 2
    out.backward(Array(np.ones((2, 3))))
    assert a.grad.shape == (2, 0)
    assert b.grad.shape == (0, 3)


def test_a_reduction_past_float16s_integers_keeps_its_gradient():
    x = leaf(np.zeros(4096), np.float16)
    out = table["max"](x, axis=(0,), keepdims=False)
    out.backward(Array(np.ones((), np.float16)))
    assert (x.grad._d == np.float16(1 / 4096)).all()


def test_repeated_indices_add_their_gradients():
    x = leaf([1.0, 2.0, 3.0])
    table["gather"](x, Array(np.array([0, 0, 2])), spec=(0,)).sum().backward()
    assert x.grad._d.tolist() == [2.0, 0.0, 1.0]


def test_of_repeated_writes_only_the_last_has_a_gradient():
    value = leaf([1.0, 2.0, 3.0])
    base = leaf([5.0, 5.0])
    out = table["scatter_set"](base, value, np.array([0, 0, 1]), spec=(0,))
    out.backward(Array(np.array([7.0, 11.0])))
    assert value.grad._d.tolist() == [0.0, 7.0, 11.0]
    assert base.grad._d.tolist() == [0.0, 0.0]


def test_gradients_follow_their_argument_through_mixed_dtypes():
    x, y = leaf([1.0, 2.0], np.float32), leaf([3.0, 4.0], np.float64)
    (x * y).sum().backward()
    assert x.grad.dtype == np.float32
    assert y.grad.dtype == np.float64
    assert x.grad._d.tolist() == [3.0, 4.0]
