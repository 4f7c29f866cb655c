"""Inputs at the edges of what functions and layers take: empty, cut away, negative, in float32."""

import numpy as np
import pytest

import numen as nm

F = nm.nn.functional


def slope(f, x, step=1e-6):
    """Central differences of the sum of f, elementwise."""
    found = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[i] += step
        down[i] -= step
        found[i] = (float(f(nm.array(up)).sum()) - float(f(nm.array(down)).sum())) / (2 * step)
    return found


def gradient(f, x):
    a = nm.array(x, requires_grad=True)
    f(a).sum().backward()
    return a.grad.numpy()


def test_normalize_by_the_smallest_magnitude_and_by_a_count():
    x = np.array([[3.0, 4.0], [-1.0, 2.0]])
    by_harmonic = np.array([[1.75, 7 / 3], [-1.5, 3.0]])
    np.testing.assert_allclose(F.normalize(nm.array(x), p=-1.0).numpy(), by_harmonic)
    counted = F.normalize(nm.array([[3.0, 0.0, 6.0]]), p=0.0)
    np.testing.assert_array_equal(counted.numpy(), [[1.5, 0.0, 3.0]])

    def weighted(a):
        return F.normalize(a, p=-1.0) * nm.array([1.0, -2.0])

    np.testing.assert_allclose(gradient(weighted, x), slope(weighted, x), rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(
        gradient(lambda a: F.normalize(a, p=0.0), x), np.full((2, 2), 0.5)
    )


def test_local_response_norm_of_nothing():
    assert F.local_response_norm(nm.zeros((0, 1, 2)), 1).shape == (0, 1, 2)


def test_ctc_loss_keeps_float32():
    scores = nm.array(np.log(np.full((4, 2, 3), 1 / 3, np.float32)), requires_grad=True)
    loss = F.ctc_loss(scores, [[1], [2]], [4, 3], [1, 1], reduction="none")
    assert loss.dtype == np.float32
    loss.sum().backward()
    assert scores.grad.dtype == np.float32


def test_kl_div_of_a_negative_target_is_not_a_number():
    target = nm.array([-0.5, 0.0, 0.5])
    with np.errstate(invalid="ignore"):
        losses = F.kl_div(nm.array([-1.0, -1.0, -1.0]), target, reduction="none").numpy()
    assert np.isnan(losses[0]) and losses[1] == 0.0
    assert losses[2] == pytest.approx(0.5 * (np.log(0.5) + 1))


def test_gaussian_nll_loss_takes_a_variance_for_each_column():
    rng = np.random.default_rng(0)
    x, target = nm.array(rng.standard_normal((4, 3))), nm.array(rng.standard_normal((4, 3)))
    var = nm.array(rng.uniform(0.5, 2.0, (1, 3)))
    whole = nm.broadcast_to(var, (4, 3))
    assert float(F.gaussian_nll_loss(x, target, var)) == pytest.approx(
        float(F.gaussian_nll_loss(x, target, whole))
    )
    with pytest.raises(nm.ShapeError, match="var does not fit"):
        F.gaussian_nll_loss(x, target, nm.ones((2, 3)))


def test_an_empty_batch_leaves_running_statistics_alone():
    layer = nm.nn.BatchNorm1d(5)
    assert layer(nm.zeros((0, 5, 9), nm.float32)).shape == (0, 5, 9)
    np.testing.assert_array_equal(layer.running_mean.numpy(), np.zeros(5))
    np.testing.assert_array_equal(layer.running_var.numpy(), np.ones(5))


def test_replication_beyond_what_a_negative_width_cuts_away():
    x = np.arange(4.0).reshape(1, 4)
    padded = F.pad(nm.array(x), (-4, 5), mode="replicate")
    np.testing.assert_array_equal(padded.numpy(), np.full((1, 5), 3.0))
    padded = F.pad(nm.array(x), (3, -5), mode="replicate")
    np.testing.assert_array_equal(padded.numpy(), [[0.0, 0.0]])
    np.testing.assert_array_equal(
        gradient(lambda a: F.pad(a, (-4, 5), mode="replicate"), x), [[0.0, 0.0, 0.0, 5.0]]
    )


def test_layers_take_their_input_by_name():
    assert nm.nn.Linear(3, 2)(input=nm.ones((1, 3), nm.float32)).shape == (1, 2)
    assert nm.nn.Flatten()(input=nm.ones((2, 3, 4))).shape == (2, 12)
