"""Clipping of gradients: overflow, inf and NaN, PyTorch's values, and compiled steps."""

import math

import numpy as np
import pytest

import numen as nm
from numen import nn, optim
from numen.errors import GradientError, ShapeError
from numen.nn import utils


def leaf(gradient, dtype=np.float32):
    p = nm.array(np.zeros(np.shape(gradient), dtype), requires_grad=True)
    p.grad = nm.array(np.asarray(gradient, dtype))
    return p


@pytest.mark.parametrize("size", [1e20, 1e-25])
def test_squares_that_leave_float32_do_not_matter(size):
    p = leaf([size] * 100)
    norm = utils.clip_grad_norm_([p], max_norm=size)
    assert norm.dtype == np.float32
    assert float(norm) == pytest.approx(10 * size, rel=1e-6)
    if size > 1:
        np.testing.assert_allclose(p.grad.tolist(), [size / 10] * 100, rtol=1e-5)
    p = leaf([1e20] * 100)
    assert float(utils.clip_grad_norm_([p], max_norm=1.0)) == pytest.approx(1e21, rel=1e-6)
    np.testing.assert_allclose(p.grad.tolist(), [0.1] * 100, rtol=1e-5)


@pytest.mark.parametrize("order", [1.0, 2.0, 3.0, math.inf])
@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan])
def test_a_norm_that_is_not_finite_changes_nothing(bad, order):
    p, q = leaf([1.0, bad, 3.0]), leaf([5.0])
    norm = utils.clip_grad_norm_([p, q], 1.0, order)
    assert math.isnan(norm) if math.isnan(bad) else math.isinf(norm) or math.isnan(norm)
    assert not math.isfinite(norm)
    np.testing.assert_array_equal(p.grad.tolist(), [1.0, bad, 3.0])
    assert q.grad.tolist() == [5.0]
    with pytest.raises(GradientError, match="clip_grad_norm_"):
        utils.clip_grad_norm_([p, q], 1.0, order, error_if_nonfinite=True)
    assert q.grad.tolist() == [5.0]


def test_an_infinite_gradient_has_an_infinite_norm():
    assert float(utils.get_total_norm([nm.array([1.0, math.inf])])) == math.inf


def test_nothing_to_clip():
    assert float(utils.clip_grad_norm_([], 1.0)) == 0.0
    assert float(utils.clip_grad_norm_([nm.ones(2, requires_grad=True)], 1.0)) == 0.0
    assert float(utils.clip_grad_norm_([leaf(np.zeros((0, 3)))], 1.0)) == 0.0
    p = leaf([0.0, 0.0])
    assert float(utils.clip_grad_norm_(p, 1.0, error_if_nonfinite=True)) == 0.0
    assert p.grad.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("order", [1.0, 2.0, 2.5, math.inf])
def test_norms_and_gradients_are_pytorch_s(order):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    gradients = [rng.standard_normal(shape).astype(np.float32) for shape in [(3, 4), (5,), ()]]
    ours, theirs = [leaf(g) for g in gradients], []
    for g in gradients:
        theirs.append(torch.zeros(g.shape, requires_grad=True))
        theirs[-1].grad = torch.tensor(g)
    for bound in (0.5, 100.0):
        a = utils.clip_grad_norm_(ours, bound, order)
        b = torch.nn.utils.clip_grad_norm_(theirs, bound, order)
        assert float(a) == pytest.approx(float(b), rel=1e-6)
        for p, q in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(p.grad.tolist(), q.grad.tolist(), rtol=2e-6)


def test_small_floats_have_their_norm_in_float32():
    p = leaf([300.0] * 100, np.float16)
    norm = utils.clip_grad_norm_([p], 1.0)
    assert norm.dtype == np.float32
    assert float(norm) == 3000.0
    assert p.grad.dtype == np.float16
    np.testing.assert_allclose(p.grad.tolist(), [0.1] * 100, rtol=2e-3)


def test_values():
    p = leaf([-5.0, 0.5, math.nan, math.inf])
    utils.clip_grad_value_([p, nm.ones(1, requires_grad=True)], 2.0)
    np.testing.assert_array_equal(p.grad.tolist(), [-2.0, 0.5, math.nan, 2.0])


def test_bad_orders():
    for order in (0.0, -1.0, math.nan):
        with pytest.raises(ValueError, match="norm_type"):
            utils.get_total_norm([nm.ones(2)], order)


def test_vectors_and_back():
    net = nn.Linear(3, 2)
    vector = utils.parameters_to_vector(net.parameters())
    assert vector.shape == (8,)
    (vector * vector).sum().backward()
    np.testing.assert_array_equal(net.weight.grad.tolist(), 2 * net.weight.detach().numpy())
    utils.vector_to_parameters(nm.arange(8.0, dtype=nm.float32), net.parameters())
    assert net.weight.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert net.bias.tolist() == [6, 7]
    with pytest.raises(ShapeError, match=r"\(8,\)"):
        utils.vector_to_parameters(nm.zeros(9), net.parameters())


def test_a_clipped_step_compiles():
    def training():
        nm.manual_seed(0)
        net = nn.Linear(3, 2)
        opt = optim.SGD(net.parameters(), lr=0.1)

        def step(x):
            opt.zero_grad()
            (net(x) ** 2).sum().backward()
            norm = utils.clip_grad_norm_(net.parameters(), 0.5)
            opt.step()
            return norm

        return net, step

    xs = [nm.array(np.random.default_rng(i).standard_normal((4, 3)), nm.float32) for i in range(5)]
    net, step = training()
    other, plain = training()
    compiled = nm.jit(step)
    with nm.config(engine="kernels"):
        expected = [float(plain(x)) for x in xs]
    assert [float(compiled(x)) for x in xs] == expected
    assert "0 eager" in str(nm.explain(compiled))
    assert other.weight.tolist() == net.weight.tolist()
