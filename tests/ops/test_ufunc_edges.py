"""Gradients of the ufuncs' rows at kinks, ties, zeros, NaN and infinities."""

import numpy as np
import pytest

from numen.namespace.array import Array
from numen.ops import table
from tolerances import assert_close

INF, NAN = np.inf, np.nan


def gradient(name, *args, seed=None):
    """d sum(row) / d each list among the arguments."""
    inputs = [Array(np.array(a)).requires_grad_() if isinstance(a, list) else a for a in args]
    out = table[name](*inputs)
    out.backward(Array(np.ones(out.shape) if seed is None else np.array(seed)))
    return [x.grad._d.tolist() for x in inputs if isinstance(x, Array) and x.requires_grad]


@pytest.mark.parametrize("name", ["hypot", "arctan2"])
def test_at_the_origin_the_gradient_is_zero(name):
    assert gradient(name, [0.0, -0.0], [0.0, 0.0]) == [[0.0, 0.0], [0.0, 0.0]]


def test_slopes_of_far_points_do_not_overflow():
    assert_close(gradient("hypot", [3e200], [4e200]), [[0.6], [0.8]])
    by_first, by_second = gradient("arctan2", [3e200], [4e200])
    assert_close(np.array([by_first, by_second]) * 1e201, np.array([[1.6], [-1.2]]))
    assert_close(np.array(gradient("arcsinh", [1e200])[0]) * 1e200, np.array([1.0]))
    assert_close(np.array(gradient("arccosh", [1e200])[0]) * 1e200, np.array([1.0]))


@pytest.mark.parametrize(
    "name", ["sign", "floor", "ceil", "trunc", "rint", "modf_integer", "spacing"]
)
def test_jumps_have_gradient_zero_whatever_the_cotangent(name):
    assert gradient(name, [0.0, -1.0, 2.5], seed=[INF, NAN, 1.0]) == [[0.0, 0.0, 0.0]]


def test_division_to_integers():
    assert gradient("floor_divide", [7.0, -7.0], [2.0, 2.0]) == [[0.0, 0.0], [0.0, 0.0]]
    assert gradient("remainder", [7.0, -7.0], [2.0, 2.0]) == [[1.0, 1.0], [-3.0, 4.0]]
    assert gradient("fmod", [7.0, -7.0], [2.0, 2.0]) == [[1.0, 1.0], [-3.0, 3.0]]
    # 0.3 / 0.1 rounds to 3, but holds 0.1 only twice
    assert gradient("fmod", [0.3], [0.1])[1] == [-2.0]
    assert gradient("remainder", [0.3], [0.1])[1] == [-2.0]


@pytest.mark.parametrize("name", ["fmax", "fmin"])
def test_fmax_and_fmin_share_ties_and_pass_nan_by(name):
    assert gradient(name, [1.0, -0.0], [1.0, 0.0]) == [[0.5, 0.5], [0.5, 0.5]]
    assert gradient(name, [NAN, 2.0, NAN], [1.0, NAN, NAN]) == [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    larger, smaller = gradient(name, [3.0], [2.0])
    assert (larger, smaller) == (([1.0], [0.0]) if name == "fmax" else ([0.0], [1.0]))
    assert gradient(name, [NAN, 5.0], 5.0) == [[0.0, 0.5]]


def test_heaviside_moves_with_its_value_at_zero_alone():
    assert gradient("heaviside", [-1.0, 0.0, 2.0], [0.5, 0.5, 0.5]) == [[0.0] * 3, [0.0, 1.0, 0.0]]


def test_copysign_and_fabs():
    by_value, by_sign = gradient("copysign", [2.0, -2.0, 0.0], [-1.0, -1.0, -1.0])
    assert by_value == [-1.0, 1.0, 0.0]
    assert by_sign == [0.0, 0.0, 0.0]
    assert gradient("fabs", [-2.0, 0.0, 2.0]) == [[-1.0, 0.0, 1.0]]


def test_neighbours_move_with_their_number():
    assert gradient("nextafter", [1.0, 0.0], [2.0, -1.0]) == [[1.0, 1.0], [0.0, 0.0]]


def test_powers_of_two():
    assert gradient("ldexp", [1.5, 0.0], Array(np.array([3, -1]))) == [[8.0, 0.5]]
    assert gradient("frexp_mantissa", [12.0, 0.0, -0.1]) == [[2.0**-4, 1.0, 8.0]]
    assert gradient("modf_fraction", [2.5, -2.5, INF]) == [[1.0, 1.0, 1.0]]


def test_sums_of_logarithms_share_among_infinities():
    for name in ("logaddexp", "logaddexp2"):
        a, b = gradient(name, [-INF, INF, INF, -INF, 0.0], [-INF, INF, 1.0, 1.0, 0.0])
        assert_close(a, [0.5, 0.5, 1.0, 0.0, 0.5])
        assert_close(b, [0.5, 0.5, 0.0, 1.0, 0.5])
        a, b = gradient(name, [1000.0], [-1000.0])
        assert (a, b) == ([1.0], [0.0])


def test_float_power_at_zero_and_below():
    by_base, by_exponent = gradient("float_power", [0.0, -2.0, INF], [1.0, 3.0, 0.0])
    assert by_base == [1.0, 12.0, 0.0]
    assert by_exponent == [0.0, 0.0, INF]


def test_float_power_of_float32_is_differentiated_in_float64():
    x = Array(np.array([1.1], np.float32)).requires_grad_()
    out = table["float_power"](x, 3)
    assert out.dtype == np.float64
    out.sum().backward()
    assert x.grad.dtype == np.float32
    assert_close(x.grad._d, np.float32(3 * np.float64(np.float32(1.1)) ** 2).reshape(1))


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_parts_of_complex_arrays_are_views(dtype):
    z = Array(np.array([1 + 2j, 3 - 4j], dtype))
    for name in ("real", "imag"):
        part = table[name](z)
        assert part.base is z
        assert np.shares_memory(part._d, z._d)
        part[0] = 7
    assert z._d[0] == 7 + 7j


def test_parts_of_real_arrays():
    x = Array(np.array([1.0, 2.0]))
    assert table["real"](x) is x
    assert table["imag"](x)._d.tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match="read-only"):
        table["imag"](x)[0] = 1.0


def test_gradients_through_the_parts_of_a_real_leaf():
    x = Array(np.array([1.0, 2.0])).requires_grad_()
    table["real"](x).sum().backward()
    assert x.grad._d.tolist() == [1.0, 1.0]
    table["conjugate"](x).sum().backward()
    assert x.grad._d.tolist() == [2.0, 2.0]
