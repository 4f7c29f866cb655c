"""Convolutions: values by hand, adjointness, gradients, PyTorch's results, errors."""

import numpy as np
import pytest
from against_torch import compare_function, compare_layer

import numen as nm
from numen.errors import DTypeError, ShapeError
from numen.nn import functional as F  # noqa: N812
from numen.ops import table


def test_values_with_groups_stride_dilation_and_one_sided_padding():
    x = nm.arange(40.0).reshape(1, 2, 4, 5)
    w = nm.arange(1.0, 13.0).reshape(2, 1, 2, 3)
    out = F.conv2d(x, w, None, (2, 1), ((1, 0), (0, 2)), (1, 2), 2)
    expected = [[[34, 19, 28], [230, 131, 143]], [[730, 463, 484], [1712, 1079, 1115]]]
    assert out.tolist() == [expected]
    assert F.conv2d(x[0], w, None, (2, 1), ((1, 0), (0, 2)), (1, 2), 2).tolist() == expected


def test_values_and_sizes_of_transposed_convolutions():
    x, w = nm.array([[[1.0, 2, 3, 4]]]), nm.array([[[1.0, 10, 100]]])
    out = F.conv_transpose1d(x, w, stride=2, padding=1, output_padding=1, dilation=2)
    assert out.tolist() == [[[0, 12, 0, 123, 0, 234, 0, 340, 0, 400]]]
    long = F.conv_transpose1d(nm.ones((1, 1, 50)), w, stride=2, padding=4, dilation=3)
    assert long.shape == (1, 1, 97)
    layer = nm.nn.ConvTranspose2d(2, 3, 3, stride=2, padding=1)
    assert layer(nm.ones((1, 2, 4, 4)), output_size=(8, 7)).shape == (1, 3, 8, 7)
    with pytest.raises(ValueError, match="output sizes in"):
        layer(nm.ones((1, 2, 4, 4)), output_size=(9, 7))


def random_setting(rng):
    """Extents and params of a convolution with at least one window."""
    rank = int(rng.integers(1, 4))
    groups = int(rng.integers(1, 4))
    kernel = rng.integers(1, 4, rank)
    dilation, stride = rng.integers(1, 4, rank), rng.integers(1, 4, rank)
    padding = rng.integers(0, 4, (rank, 2))
    least = np.maximum(1, dilation * (kernel - 1) + 1 - padding.sum(1))
    sizes = least + rng.integers(0, 5, rank)
    x = (int(rng.integers(1, 3)), groups * int(rng.integers(1, 3)), *sizes.tolist())
    w = (groups * int(rng.integers(1, 3)), x[1] // groups, *kernel.tolist())
    pairs = tuple((int(a), int(b)) for a, b in padding)
    params = {"stride": tuple(stride.tolist()), "dilation": tuple(dilation.tolist())}
    return x, w, {**params, "padding": pairs, "groups": groups}


def test_the_transposed_convolution_is_the_adjoint():
    """<conv(x), y> = <x, convT(y)> = <w, conv_weight(x, y)> in 200 random settings."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        shape, kernel, params = random_setting(rng)
        x = rng.integers(-4, 5, shape).astype(float)
        w = rng.integers(-4, 5, kernel).astype(float)
        out = table["convolution"].impl(x, w, **params)
        y = rng.integers(-4, 5, out.shape).astype(float)
        back = table["convolution_input"].impl(y, w, shape=shape[2:], **params)
        weight = table["convolution_weight"].impl(x, y, kernel=kernel[2:], **params)
        assert back.shape == x.shape
        assert weight.shape == w.shape
        product = float((out * y).sum())
        assert product == float((x * back).sum()) == float((w * weight).sum())


def test_transposed_layers_are_adjoint_with_output_padding():
    rng = np.random.default_rng(1)
    y = nm.array(rng.integers(-4, 5, (2, 3, 5, 4)).astype(float))
    w = nm.array(rng.integers(-4, 5, (3, 2, 3, 2)).astype(float))
    big = F.conv_transpose2d(y, w, None, 2, 1, (1, 2), 1, (1, 3))
    x = nm.array(rng.integers(-4, 5, big.shape).astype(float))
    smaller = F.conv2d(x, w, None, 2, 1, 1)[..., :0]  # only to see that the weights fit
    assert smaller.shape[1] == 3
    small = F.conv2d(x, w, None, 2, 1, (1, 3))[:, :, :5, :4]
    assert float((big * x).sum()) == float((y * small).sum())


def test_gradients_of_every_order():
    rng = np.random.default_rng(2)
    x, w = (nm.array(rng.standard_normal(s)) for s in ((1, 2, 5, 4), (2, 1, 2, 2)))

    def loss(x, w):
        out = F.conv2d(x, w, None, (2, 1), ((1, 0), (0, 1)), 1, 2)
        return (out * out * out).sum()

    first = nm.grad(loss, (0, 1))
    direction = rng.standard_normal(x.shape)
    step = 1e-5

    def along(x, w):
        gx, gw = first(x, w)
        return (gx * nm.array(direction)).sum() + (gw * gw).sum()

    found = nm.grad(along)(x, w)
    ahead = along(nm.array(x.numpy() + step * direction), w)
    behind = along(nm.array(x.numpy() - step * direction), w)
    expected = float(ahead - behind) / (2 * step)
    np.testing.assert_allclose(float((found * nm.array(direction)).sum()), expected, rtol=1e-6)


def test_large_batches_are_done_in_parts():
    rng = np.random.default_rng(3)
    x = rng.integers(-2, 3, (12, 16, 40, 40)).astype(np.float32)
    w = rng.integers(-2, 3, (4, 16, 3, 3)).astype(np.float32)
    params = {"stride": (1, 1), "padding": ((1, 1),) * 2, "dilation": (1, 1), "groups": 1}
    out = table["convolution"].impl(x, w, **params)
    alone = np.concatenate(
        [table["convolution"].impl(x[i : i + 1], w, **params) for i in range(12)]
    )
    np.testing.assert_array_equal(out, alone)
    weight = table["convolution_weight"].impl(x, out, kernel=(3, 3), **params)
    assert float((out * out).sum(dtype=float)) == float((w * weight).sum(dtype=float))


def test_dtypes():
    x, w = nm.ones((1, 1, 4), "float64"), nm.ones((1, 1, 2), nm.float32)
    assert F.conv1d(x, w).dtype == np.float32
    half = F.conv1d(nm.ones((1, 64, 40), nm.bfloat16), nm.ones((1, 64, 33), nm.bfloat16))
    assert half.dtype == nm.bfloat16
    assert half.astype("float32").tolist()[0][0][0] == 64 * 33  # added up in float32
    with pytest.raises(DTypeError, match=r"conv1d.*int64"):
        F.conv1d(nm.ones((1, 1, 4), "int64"), w)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: F.conv2d(nm.ones((1, 3, 4, 4)), nm.ones((2, 2, 3, 3))), ShapeError),
        (lambda: F.conv2d(nm.ones((1, 2, 2, 4)), nm.ones((2, 2, 3, 3))), ShapeError),
        (lambda: F.conv2d(nm.ones((2, 4)), nm.ones((2, 2, 3, 3))), ShapeError),
        (lambda: F.conv2d(nm.ones((1, 2, 4, 4)), nm.ones((2, 2, 3))), ShapeError),
        (lambda: F.conv2d(nm.ones((1, 2, 4, 4)), nm.ones((2, 2, 3, 3)), nm.ones(3)), ShapeError),
        (lambda: F.conv1d(nm.ones((1, 2, 4)), nm.ones((3, 1, 3)), groups=2), ShapeError),
        (lambda: F.conv1d(nm.ones((1, 1, 4)), nm.ones((1, 1, 3)), stride=0), ValueError),
        (lambda: F.conv1d(nm.ones((1, 1, 4)), nm.ones((1, 1, 3)), padding=(1, 1)), ValueError),
        (
            lambda: F.conv1d(nm.ones((1, 1, 4)), nm.ones((1, 1, 3)), None, 2, "same"),
            ValueError,
        ),
        (lambda: F.conv_transpose1d(nm.ones((1, 2, 4)), nm.ones((1, 1, 3))), ShapeError),
        (
            lambda: F.conv_transpose1d(nm.ones((1, 1, 4)), nm.ones((1, 1, 3)), output_padding=1),
            ValueError,
        ),
        (
            lambda: F.conv_transpose1d(nm.ones((1, 1, 1)), nm.ones((1, 1, 1)), padding=1),
            ShapeError,
        ),
        (lambda: nm.nn.Conv2d(3, 4, 3, groups=2), ValueError),
        (lambda: nm.nn.Conv2d(2, 4, 3, padding="full"), ValueError),
        (lambda: nm.nn.Conv2d(2, 4, 3, stride=2, padding="same"), ValueError),
        (lambda: nm.nn.Conv2d(2, 4, (3, 3, 3)), ValueError),
        (lambda: nm.nn.ConvTranspose1d(2, 4, 3, padding_mode="reflect"), ValueError),
        (lambda: F.pad(nm.ones((2, 3)), (1,)), ValueError),
        (lambda: F.pad(nm.ones((2, 3)), (1, 1), mode="edge"), ValueError),
    ],
)
def test_bad_arguments(call, error):
    with pytest.raises(error):
        call()


def test_initial_weights():
    nm.manual_seed(0)
    layer = nm.nn.Conv2d(16, 64, 3, groups=2)
    bound = 1 / np.sqrt(8 * 9)
    for values in (layer.weight, layer.bias):
        assert values.dtype == np.float32
        assert np.abs(values.detach().numpy()).max() <= bound
    assert abs(layer.weight.detach().numpy().std() - bound / 3**0.5) < 1e-3
    back = nm.nn.ConvTranspose1d(6, 8, 5, dtype=nm.float64)
    assert back.weight.shape == (6, 8, 5)
    assert back.weight.dtype == np.float64
    assert np.abs(back.weight.detach().numpy()).max() <= 1 / np.sqrt(40)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_functions_match_pytorch(rank):
    pytest.importorskip("torch")
    sizes, kernel = (9, 7, 6)[:rank], (3, 2, 2)[:rank]
    for stride, padding, dilation, groups in [(1, 0, 1, 1), (2, 1, 1, 2), (3, 2, 2, 4)]:
        settings = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
        shapes = (2, 4, *sizes), (8, 4 // groups, *kernel), (8,)
        compare_function(f"conv{rank}d", *shapes, **settings)
        shapes = (2, 4, *sizes), (4, 3, *kernel), (3 * groups,)
        extra = max(stride, dilation) - 1
        compare_function(f"conv_transpose{rank}d", *shapes, **settings, output_padding=extra)
    compare_function(f"conv{rank}d", (4, *sizes), (8, 4, *(3,) * rank), padding="same", dilation=2)


LAYERS = [
    ("Conv1d", (4, 6, 3), {}, (2, 4, 9)),
    ("Conv1d", (4, 6, 3), {"padding": 2}, (4, 9)),
    (
        "Conv2d",
        (4, 6, 3),
        {"stride": 2, "padding": 1, "dilation": 2, "groups": 2, "bias": False},
        (2, 4, 9, 9),
    ),
    ("Conv2d", (4, 6, 3), {"padding": 1, "padding_mode": "circular"}, (2, 4, 5, 6)),
    ("Conv2d", (4, 6, 3), {"padding": "same", "padding_mode": "reflect"}, (2, 4, 5, 6)),
    ("Conv2d", (4, 6, 3), {"padding": (2, 1), "padding_mode": "replicate"}, (2, 4, 5, 6)),
    ("Conv3d", (2, 3, (1, 3, 3)), {"padding": "valid"}, (2, 2, 4, 5, 6)),
    ("ConvTranspose1d", (4, 6, 3), {"stride": 2, "output_padding": 1}, (2, 4, 5)),
    ("ConvTranspose2d", (4, 6, 3), {"stride": 2, "padding": 1, "groups": 2}, (2, 4, 5, 5)),
    ("ConvTranspose3d", (2, 3, 2), {"bias": False}, (2, 2, 3, 4, 5)),
]


@pytest.mark.parametrize(("name", "args", "settings", "shape"), LAYERS)
def test_layers_match_pytorch(name, args, settings, shape):
    pytest.importorskip("torch")
    compare_layer(name, args, settings, shape)


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
def test_padding_matches_pytorch(mode):
    pytest.importorskip("torch")
    compare_function("pad", (2, 3, 5), [1, 2], mode=mode)
    if mode == "constant":
        compare_function("pad", (2, 3, 5), [1, -2, 0, 3], value=2.5)
