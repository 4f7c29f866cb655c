"""Activations: accuracy of erf and sigmoid, behaviour at kinks and far out, PyTorch's results."""

import math

import numpy as np
import pytest
from against_torch import compare_function, compare_layer

import numen as nm
from numen.errors import DTypeError, LeafWriteError, ShapeError
from numen.nn import functional as F  # noqa: N812
from numen.ops import table


def ulps(found, expected):
    unit = np.spacing(np.abs(expected).astype(found.dtype)).astype(float)
    return np.abs(found.astype(float) - expected) / unit


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_erf_is_accurate(dtype):
    rng = np.random.default_rng(0)
    spread = [rng.uniform(-6.5, 6.5, 20_000), 10.0 ** rng.uniform(-30, 1, 5000)]
    edges = [(np.arange(-96, 97) + 0.5) / 16, np.arange(-96, 97) / 16]
    x = np.concatenate([*spread, *edges]).astype(dtype)
    found = table["erf"].impl(x)
    expected = np.array([math.erf(v) for v in x.astype(float)])
    assert found.dtype == x.dtype
    assert ulps(found, expected).max() <= 4
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 30.0], dtype)
    result = table["erf"].impl(special)
    np.testing.assert_array_equal(result, [0, 0, 1, -1, np.nan, 1])
    assert np.signbit(result).tolist()[:2] == [False, True]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sigmoid_and_softplus_are_accurate_at_both_ends(dtype):
    x = np.linspace(-80, 80, 2001).astype(dtype)
    wide = x.astype(float)
    logistic = np.array([1 / (1 + math.exp(-v)) for v in wide])
    assert ulps(F.sigmoid(nm.array(x)).numpy(), logistic).max() <= 4
    smooth = np.array([math.log1p(math.exp(v)) for v in wide])
    assert ulps(table["softplus"].impl(x), smooth).max() <= 4
    far = nm.array([-1e4, 1e4, np.inf, -np.inf, np.nan], dtype=dtype, requires_grad=True)
    out = F.sigmoid(far)
    np.testing.assert_array_equal(out.detach().numpy(), [0, 1, 1, 0, np.nan])
    out[:2].sum().backward()
    assert far.grad.tolist()[:2] == [0, 0]
    assert F.logsigmoid(nm.array([-1e4, 1e4])).tolist() == [-1e4, 0]


SMOOTH = ["elu", "celu", "selu", "gelu", "silu", "mish", "softplus", "sigmoid", "logsigmoid"]


@pytest.mark.parametrize("name", SMOOTH)
def test_no_gradient_is_nan_far_out(name):
    x = nm.array([-1e3, -100.0, 0.0, 100.0, 1e3], nm.float32, requires_grad=True)
    out = getattr(F, name)(x)
    assert out.dtype == np.float32
    out.sum().backward()
    assert np.isfinite(out.detach().numpy()).all()
    assert np.isfinite(x.grad.numpy()).all()


@pytest.mark.parametrize(
    ("name", "at", "slopes"),
    [
        ("relu", [0.0], [0]),
        ("relu6", [0.0, 6.0, 3.0], [0, 0, 1]),
        ("hardtanh", [-1.0, 1.0, 0.5], [0, 0, 1]),
        ("leaky_relu", [0.0], [0.01]),
        ("elu", [0.0], [1]),
        ("softsign", [0.0], [1]),
        ("hardshrink", [0.5, -0.5, 0.6], [0, 0, 1]),
        ("softshrink", [0.5, -0.5, 0.6], [0, 0, 1]),
        ("hardsigmoid", [-3.0, 3.0, 0.0], [0, 0, 1 / 6]),
    ],
)
def test_gradients_at_kinks(name, at, slopes):
    x = nm.array(at, requires_grad=True)
    getattr(F, name)(x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), slopes)


def test_gelu_has_second_derivatives():
    x = nm.array([-1.5, 0.0, 0.7])
    second = nm.grad(lambda v: nm.grad(lambda u: F.gelu(u).sum())(v).sum())(x).numpy()
    density = np.exp(-(x.numpy() ** 2) / 2) / math.sqrt(2 * math.pi)
    np.testing.assert_allclose(second, density * (2 - x.numpy() ** 2), rtol=1e-12)


def test_results_go_into_the_input():
    x = nm.array([-1.0, 2.0])
    for name in ("relu", "leaky_relu", "elu", "selu", "silu", "hardtanh", "relu6", "mish"):
        y = x.copy()
        expected = getattr(F, name)(x).tolist()
        assert getattr(F, name)(y, inplace=True) is y
        assert y.tolist() == expected
    w = nm.array([-1.0, 2.0], requires_grad=True)
    F.relu(w * 3, inplace=True).sum().backward()
    assert w.grad.tolist() == [0, 3]
    with pytest.raises(LeafWriteError):
        F.relu(w, inplace=True)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: F.gelu(nm.ones(3, "int64")), DTypeError),
        (lambda: F.sigmoid(nm.ones(3, "complex128")), DTypeError),
        (lambda: F.gelu(nm.ones(3), "fast"), ValueError),
        (lambda: F.softshrink(nm.ones(3), -1.0), ValueError),
        (lambda: F.glu(nm.ones((2, 3))), ShapeError),
        (lambda: F.prelu(nm.ones((2, 3)), nm.ones(2)), ShapeError),
        (lambda: nm.nn.Hardtanh(1.0, 1.0), ValueError),
        (lambda: nm.nn.Softmax2d()(nm.ones((2, 3))), ShapeError),
        (lambda: nm.nn.Unflatten(1, (2, 3))(nm.ones((2, 5))), ShapeError),
    ],
)
def test_bad_arguments(call, error):
    with pytest.raises(error):
        call()


def test_activations_stay_compiled():
    names = ["relu", "gelu", "silu", "mish", "elu", "hardswish", "softplus", "glu", "tanhshrink"]

    def chain(x):
        total = 0.0
        for name in names:
            total = total + getattr(F, name)(x).sum()
        return total

    def step(x):
        return nm.grad(chain)(x)

    compiled = nm.jit(step)
    x = nm.array(np.random.default_rng(0).standard_normal((4, 6)).astype(np.float32))
    with nm.config(engine="kernels"):
        expected = step(x).tolist()
    for _ in range(4):
        assert compiled(x).tolist() == expected
    assert "0 eager" in str(nm.explain(compiled))


PLAIN = [
    *("celu", "elu", "gelu", "glu", "hardshrink"),
    *("hardswish", "hardtanh", "leaky_relu", "logsigmoid", "mish"),
    *("relu", "relu6", "selu", "sigmoid", "silu"),
    *("softplus", "softshrink", "softsign", "tanh", "tanhshrink"),
]


@pytest.mark.parametrize("name", PLAIN)
def test_functions_match_pytorch(name):
    pytest.importorskip("torch")
    compare_function(name, (4, 6))


def test_settings_match_pytorch():
    pytest.importorskip("torch")
    compare_function("gelu", (4, 6), approximate="tanh")
    compare_function("threshold", (4, 6), 0.3, 7.0)
    compare_function("prelu", (4, 6, 2), (6,))
    compare_function("prelu", (4, 6, 2), (1,))
    compare_function("softplus", (4, 6), beta=2.0, threshold=1.0)
    compare_function("celu", (4, 6), alpha=0.5)
    compare_function("elu", (4, 6), alpha=0.3)
    compare_function("glu", (4, 6), dim=0)
    compare_function("softmin", (4, 6), dim=1)
    compare_function("hardsigmoid", (4, 6), bound=1e-6)


ARGUMENTS = {"Threshold": (0.1, 2.0), "Softmax": (1,), "LogSoftmax": (1,), "Softmin": (1,)}


@pytest.mark.parametrize("name", nm.nn.activations.__all__)
def test_layers_match_pytorch(name):
    pytest.importorskip("torch")
    shape = (2, 4, 3, 3) if name == "Softmax2d" else (4, 6)
    compare_layer(name, ARGUMENTS.get(name, ()), {}, shape)


@pytest.mark.parametrize(
    ("name", "args", "settings"),
    [
        ("ReLU", (), {"inplace": True}),
        ("LeakyReLU", (0.2, True), {}),
        ("PReLU", (6,), {"init": 0.5}),
        ("GELU", ("tanh",), {}),
        ("Hardtanh", (-2.0, 0.5), {}),
        ("Softplus", (2.0, 5.0), {}),
        ("Identity", (), {}),
        ("Unflatten", (1, (2, -1)), {}),
        ("Flatten", (), {}),
    ],
)
def test_settings_of_layers_match_pytorch(name, args, settings):
    pytest.importorskip("torch")
    inplace = settings.get("inplace") or True in args
    compare_layer(name, args, settings, None if inplace else (4, 6))
