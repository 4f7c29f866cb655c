"""nn.init: PyTorch's names and formulas, from reproducible streams."""

import math

import numpy as np
import pytest

import numen as nm
from numen.errors import ShapeError
from numen.nn import init


def filled(function, *args, shape=(200, 300), **settings):
    nm.manual_seed(0)
    w = nm.nn.Parameter(nm.full(shape, np.nan, nm.float32))
    assert function(w, *args, **settings) is w
    assert w.requires_grad
    return w.detach().numpy()


def test_plain_values():
    assert (filled(init.ones_) == 1).all()
    assert (filled(init.zeros_) == 0).all()
    assert (filled(init.constant_, 0.3) == np.float32(0.3)).all()
    np.testing.assert_array_equal(filled(init.eye_, shape=(3, 5)), np.eye(3, 5))


def test_distributions():
    w = filled(init.uniform_, -1.0, 3.0)
    assert -1 <= w.min() < w.max() <= 3
    assert abs(w.mean() - 1) < 0.02
    w = filled(init.normal_, 2.0, 0.5)
    assert abs(w.mean() - 2) < 0.01
    assert abs(w.std() - 0.5) < 0.01
    w = filled(init.trunc_normal_, 0.0, 1.0, -1.0, 2.0)
    assert -1 <= w.min() < w.max() <= 2
    low, high = (math.exp(-a * a / 2) / math.sqrt(2 * math.pi) for a in (-1.0, 2.0))
    mass = (math.erf(2 / math.sqrt(2)) + math.erf(1 / math.sqrt(2))) / 2
    assert abs(w.mean() - (low - high) / mass) < 0.01
    with pytest.warns(UserWarning, match="2 std"):
        filled(init.trunc_normal_, 5.0)


def test_scales_follow_the_fans():
    shape, fan_in, fan_out = (64, 32, 3, 5), 32 * 15, 64 * 15
    bound = 2 * math.sqrt(6 / (fan_in + fan_out))
    w = filled(init.xavier_uniform_, 2.0, shape=shape)
    assert abs(np.abs(w).max() - bound) < bound * 1e-2
    w = filled(init.xavier_normal_, shape=shape)
    assert abs(w.std() - math.sqrt(2 / (fan_in + fan_out))) < 1e-3
    w = filled(init.kaiming_uniform_, math.sqrt(5), shape=shape)
    assert abs(np.abs(w).max() - 1 / math.sqrt(fan_in)) < 1e-3
    w = filled(init.kaiming_normal_, mode="fan_out", nonlinearity="relu", shape=shape)
    assert abs(w.std() - math.sqrt(2 / fan_out)) < 1e-3


def test_gains():
    assert init.calculate_gain("conv_transpose2d") == init.calculate_gain("sigmoid") == 1
    assert init.calculate_gain("relu") == math.sqrt(2)
    assert init.calculate_gain("leaky_relu") == math.sqrt(2 / (1 + 0.01**2))
    assert (init.calculate_gain("tanh"), init.calculate_gain("selu")) == (5 / 3, 0.75)
    with pytest.raises(ValueError, match="swish"):
        init.calculate_gain("swish")


@pytest.mark.parametrize("shape", [(4, 7), (7, 4), (6, 2, 3), (5, 5)])
def test_orthogonal_rows_or_columns(shape):
    w = filled(init.orthogonal_, 2.0, shape=shape).reshape(shape[0], -1)
    least = min(w.shape)
    product = w @ w.T if w.shape[0] <= w.shape[1] else w.T @ w
    np.testing.assert_allclose(product, 4 * np.eye(least), atol=1e-5)


def test_sparse_columns():
    w = filled(init.sparse_, 0.25, std=0.1, shape=(10, 6))
    assert ((w == 0).sum(0) == 3).all()


@pytest.mark.parametrize("groups", [1, 2])
def test_dirac_filters_pass_the_input_on(groups):
    w = filled(init.dirac_, groups, shape=(4, 4 // groups, 3, 3))
    x = nm.array(np.random.default_rng(0).standard_normal((1, 4, 5, 5)).astype(np.float32))
    out = nm.nn.functional.conv2d(x, nm.array(w), padding=1, groups=groups)
    np.testing.assert_array_equal(out.numpy(), x.numpy())


def test_streams_make_values_reproducible():
    nm.manual_seed(1)
    first = init.normal_(nm.empty(5)).tolist()
    second = init.normal_(nm.empty(5)).tolist()
    nm.manual_seed(1)
    assert init.normal_(nm.empty(5)).tolist() == first != second
    own = nm.random.Stream(3)
    again = nm.random.Stream(3)
    assert init.uniform_(nm.empty(4), generator=own).tolist() == (
        init.uniform_(nm.empty(4), generator=again).tolist()
    )
    assert init.normal_(nm.empty(5)).tolist() == second  # the default stream did not move


@pytest.mark.parametrize(
    "call",
    [
        lambda: init.xavier_uniform_(nm.empty(3)),
        lambda: init.kaiming_normal_(nm.empty(3)),
        lambda: init.orthogonal_(nm.empty(3)),
        lambda: init.eye_(nm.empty(3)),
        lambda: init.sparse_(nm.empty(3), 0.1),
        lambda: init.dirac_(nm.empty((3, 3))),
        lambda: init.dirac_(nm.empty((3, 3, 3)), 2),
        lambda: init.kaiming_uniform_(nm.empty((3, 3)), mode="fan"),
    ],
)
def test_bad_arguments(call):
    with pytest.raises(ValueError) as caught:
        call()
    assert isinstance(caught.value, ShapeError) or "mode" in str(caught.value)


def test_older_names_warn():
    with pytest.warns(FutureWarning, match=r"uniform_"):
        w = init.uniform(nm.empty(3))
    assert w.shape == (3,)


def test_names_are_pytorch_s():
    torch = pytest.importorskip("torch")
    for name in init.__all__:
        assert callable(getattr(torch.nn.init, name))
    for shape in ((64, 32), (16, 8, 3)):
        for name in ("xavier_uniform_", "xavier_normal_", "kaiming_uniform_", "kaiming_normal_"):
            theirs = getattr(torch.nn.init, name)(torch.empty(shape)).std().item()
            assert abs(filled(getattr(init, name), shape=shape).std() / theirs - 1) < 0.2
