"""Pooling: divisors at the edges, NaN and ties, PyTorch's results, errors."""

import itertools

import numpy as np
import pytest
from against_torch import compare_function, compare_layer

import numen as nm
from numen.errors import DTypeError, ShapeError
from numen.nn import functional as F  # noqa: N812


def test_the_divisor_is_what_lies_inside():
    x = nm.arange(1.0, 6.0).reshape(1, 1, 5)
    assert F.avg_pool1d(x, 2, 2, ceil_mode=True).tolist() == [[[1.5, 3.5, 5.0]]]
    ones = nm.ones((1, 2, 2))
    assert F.avg_pool2d(ones, 2, 1, ((0, 1), (0, 1))).tolist() == [[[1, 0.5], [0.5, 0.25]]]
    image = nm.arange(1.0, 17.0).reshape(1, 4, 4)
    assert F.avg_pool2d(image, 3, 2, ceil_mode=True).tolist() == [[[6, 7.5], [12, 13.5]]]
    row = nm.array([2.0903, 4.6493, 1.632, -3.2051, 4.6975, 4.7296, 3.3653, -1.5815, -2.3832])
    out = F.avg_pool1d(row.reshape(1, 1, 9), 7, 3, 3, ceil_mode=True)
    expected = [0.738071, 2.565557, 0.803229, -0.099900]
    np.testing.assert_allclose(out.numpy()[0, 0], expected, atol=1e-6)


def test_no_window_starts_outside_the_padded_input():
    assert F.max_pool1d(nm.ones((1, 1, 4)), 2, 3, 1, ceil_mode=True).shape == (1, 1, 2)
    assert F.avg_pool1d(nm.ones((1, 1, 4)), 1, 4, 0, ceil_mode=True).tolist() == [[[1.0]]]


def test_nan_wins_and_infinity_has_a_place():
    x = nm.array([[[1.0, np.nan, 3.0, -np.inf, -np.inf, 2.0]]])
    out, index = F.max_pool1d(x, 2, return_indices=True)
    np.testing.assert_array_equal(out.numpy(), [[[np.nan, 3.0, 2.0]]])
    assert index.tolist() == [[[1, 2, 5]]]
    low = nm.full((1, 1, 4, 4), -np.inf)
    out, index = F.max_pool2d(low, 3, 2, 1, return_indices=True)
    assert (out.numpy() == -np.inf).all()
    assert index.tolist() == [[[[0, 1], [4, 5]]]]
    np.testing.assert_array_equal(F.max_pool2d(low, 3, 2, 1).numpy(), out.numpy())


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "bool", "float16", "float32"])
def test_a_maximum_keeps_the_dtype(dtype):
    x = nm.array([[[0, 1, 0, 0, 0]]], dtype=dtype)
    out = F.max_pool1d(x, 3, 2, 1)
    assert out.dtype == np.dtype(dtype)
    assert out.tolist() == [[[1, 1, 0]]]
    if np.dtype(dtype).kind == "i":
        assert F.max_pool1d(x - 5, 3, 2, 1).tolist() == [[[-4, -4, -5]]]


def test_the_first_of_equal_elements_gets_the_gradient():
    x = nm.array([[[2.0, 2.0, 1.0, 1.0]]], requires_grad=True)
    F.max_pool1d(x, 2).sum().backward()
    assert x.grad.tolist() == [[[1, 0, 1, 0]]]
    x.grad = None
    F.max_pool1d(x, 3, 1).sum().backward()  # windows overlap
    assert x.grad.tolist() == [[[1, 1, 0, 0]]]


def test_second_derivatives():
    x = nm.array(np.random.default_rng(0).standard_normal((1, 1, 6)))

    def energy(x):
        return (F.max_pool1d(x, 3, 2) ** 3).sum() + (F.avg_pool1d(x, 2, 1) ** 3).sum()

    def total(x):
        return (nm.grad(energy)(x) ** 2).sum()

    found = nm.grad(total)(x).numpy()
    step = 1e-5
    for i in range(6):
        move = np.zeros((1, 1, 6))
        move[0, 0, i] = step
        difference = float(total(x + nm.array(move)) - total(x - nm.array(move))) / (2 * step)
        np.testing.assert_allclose(found[0, 0, i], difference, rtol=1e-6, atol=1e-6)


def test_indices_lead_back():
    x = nm.array(np.random.default_rng(1).standard_normal((2, 3, 6, 4)))
    out, index = F.max_pool2d(x, 2, return_indices=True)
    back = F.max_unpool2d(out, index, 2)
    assert back.shape == x.shape
    np.testing.assert_array_equal(F.max_pool2d(nm.where(back == 0, -9, back), 2), out)
    assert int((back != 0).sum()) == out.size
    assert F.max_unpool2d(out, index, 2, output_size=(7, 4)).shape == (2, 3, 7, 4)
    with pytest.raises(ShapeError):
        F.max_unpool2d(out, index[:, :, :1], 2)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: F.max_pool2d(nm.ones((3, 3)), 2), ShapeError),
        (lambda: F.max_pool1d(nm.ones((1, 1, 3)), 4), ShapeError),
        (lambda: F.max_pool1d(nm.ones((1, 0, 3)), 2), ShapeError),
        (lambda: F.max_pool1d(nm.ones((1, 1, 3)), 2, 1, 2), ValueError),
        (lambda: F.max_pool1d(nm.ones((1, 1, 3)), 0), ValueError),
        (lambda: F.max_pool1d(nm.ones((1, 1, 3), "complex128"), 2), DTypeError),
        (lambda: F.avg_pool1d(nm.ones((1, 1, 3), "int64"), 2), DTypeError),
        (lambda: F.avg_pool2d(nm.ones((1, 3, 3)), 2, divisor_override=0), ValueError),
        (lambda: F.adaptive_avg_pool2d(nm.ones((1, 3, 3)), (1, 1, 1)), ValueError),
        (lambda: F.adaptive_max_pool1d(nm.ones((1, 1, 3)), 0), ValueError),
        (lambda: F.adaptive_max_pool1d(nm.ones((1, 1, 0)), 1), ShapeError),
    ],
)
def test_bad_arguments(call, error):
    with pytest.raises(error):
        call()


def test_adaptive_averages_of_infinity_stay_apart():
    x = nm.array([[[np.inf, 1.0, 2.0, 3.0, 4.0]]])
    assert F.adaptive_avg_pool1d(x, 3).tolist() == [[[np.inf, 2.0, 3.5]]]


WINDOWS = [(2, 2, 0, False), (3, 2, 1, True), (3, 1, 1, False), (2, 3, 1, True), (3, 3, 0, True)]


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_functions_match_pytorch(rank):
    pytest.importorskip("torch")
    shape = (2, 3, *(9, 7, 6)[:rank])
    for kernel, stride, padding, ceil in WINDOWS:
        settings = {"kernel_size": kernel, "stride": stride, "padding": padding, "ceil_mode": ceil}
        compare_function(f"max_pool{rank}d", shape, **settings)
        for counted in (True, False):
            compare_function(f"avg_pool{rank}d", shape, **settings, count_include_pad=counted)
    settings = {"kernel_size": 2, "stride": 1, "dilation": 2, "return_indices": True}
    compare_function(f"max_pool{rank}d", shape[1:], **settings)
    compare_function(f"lp_pool{rank}d", shape, 2.0, 2, bound=1e-6)
    if rank > 1:
        compare_function(f"avg_pool{rank}d", shape, 2, divisor_override=3)
    for size, indices in itertools.product((1, 2, 3, 4), (True, False)):
        if indices:
            compare_function(f"adaptive_avg_pool{rank}d", shape, size)
        compare_function(f"adaptive_max_pool{rank}d", shape, size, return_indices=indices)


LAYERS = [
    ("MaxPool1d", (2,), {}, (2, 3, 8)),
    ("MaxPool2d", (3,), {"stride": 2, "padding": 1}, (2, 3, 8, 8)),
    ("MaxPool3d", (2,), {"ceil_mode": True}, (2, 3, 5, 5, 5)),
    ("AvgPool1d", (2,), {}, (2, 3, 8)),
    ("AvgPool2d", (3, 2, 1), {"divisor_override": 5}, (2, 3, 8, 8)),
    ("AvgPool3d", (2,), {"count_include_pad": False}, (2, 3, 4, 4, 4)),
    ("LPPool2d", (2, 3), {}, (2, 3, 8, 8)),
    ("AdaptiveAvgPool1d", (3,), {}, (2, 3, 8)),
    ("AdaptiveAvgPool2d", ((3, None),), {}, (2, 3, 8, 7)),
    ("AdaptiveAvgPool3d", (1,), {}, (2, 3, 4, 4, 4)),
    ("AdaptiveMaxPool1d", (3,), {}, (2, 3, 8)),
    ("AdaptiveMaxPool2d", (2,), {"return_indices": True}, (2, 3, 8, 8)),
    ("AdaptiveMaxPool3d", (2,), {}, (2, 3, 4, 4, 5)),
    ("MaxUnpool2d", (2,), {}, None),
]


@pytest.mark.parametrize(("name", "args", "settings", "shape"), LAYERS)
def test_layers_match_pytorch(name, args, settings, shape):
    pytest.importorskip("torch")
    compare_layer(name, args, settings, shape)
