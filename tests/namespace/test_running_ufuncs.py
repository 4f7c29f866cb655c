"""accumulate and reduce of any ufunc with gradients, and quantiles by their level."""

import numpy as np
import pytest

import numen as nm


def slopes(f, x, step=1e-6):
    """Central differences of the scalar function f."""
    found = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[i] += step
        down[i] -= step
        found[i] = (float(f(nm.array(up))) - float(f(nm.array(down)))) / (2 * step)
    return found


@pytest.mark.parametrize("name", ["maximum", "minimum", "logaddexp", "hypot", "subtract", "fmax"])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("method", ["accumulate", "reduce"])
def test_any_ufunc_runs_along_an_axis(name, axis, method):
    rng = np.random.default_rng(len(name))
    x = rng.standard_normal((3, 4))
    numpys, ours = getattr(np, name), getattr(nm, name)
    expected = getattr(numpys, method)(x, axis=axis)
    a = nm.array(x, requires_grad=True)
    found = getattr(ours, method)(a, axis=axis)
    assert found.requires_grad and found.dtype == expected.dtype
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-14)
    weights = nm.array(rng.standard_normal(expected.shape))

    def loss(v):
        return (getattr(ours, method)(v, axis=axis) * weights).sum()

    loss(a).backward()
    np.testing.assert_allclose(a.grad.numpy(), slopes(loss, x), rtol=1e-5, atol=1e-7)


def test_reduce_keeps_dimensions_where_asked():
    x = nm.array(np.arange(6.0).reshape(2, 3), requires_grad=True)
    assert nm.logaddexp.reduce(x, axis=1, keepdims=True).shape == (2, 1)
    assert nm.hypot.reduce(x, axis=(1,)).requires_grad


@pytest.mark.parametrize("function", ["quantile", "nanquantile", "percentile", "nanpercentile"])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_quantiles_follow_their_level(function, axis):
    x = np.random.default_rng(1).standard_normal((3, 4))
    if function.startswith("nan"):
        x[0, 0] = np.nan
    factor = 100 if function.endswith("percentile") else 1
    q = np.array([0.13, 0.57, 0.81]) * factor
    f = getattr(nm, function)

    def loss(levels):
        return f(nm.array(x), levels, axis=axis).sum()

    levels = nm.array(q, requires_grad=True)
    total = loss(levels)
    assert float(total) == pytest.approx(getattr(np, function)(x, q, axis=axis).sum())
    total.backward()
    np.testing.assert_allclose(levels.grad.numpy(), slopes(loss, q, 1e-5 * factor), rtol=1e-5)


def test_quantiles_between_no_two_values_do_not_follow_their_level():
    levels = nm.array([0.3, 0.6], requires_grad=True)
    x = nm.array([1.0, 2.0, 4.0], requires_grad=True)
    nm.quantile(x, levels, method="lower").sum().backward()
    assert levels.grad is None or not levels.grad.any()
    np.testing.assert_array_equal(x.grad.numpy(), [1.0, 1.0, 0.0])


@pytest.mark.parametrize("function", ["median", "nanmedian"])
def test_the_median_of_one_number_has_gradient_one(function):
    x = nm.array(3.0, requires_grad=True)
    y = getattr(nm, function)(x)
    assert y.shape == () and float(y) == 3.0
    y.backward()
    assert float(x.grad) == 1.0
    x.zero_grad()
    nm.quantile(x, 0.5).backward()
    assert float(x.grad) == 1.0
