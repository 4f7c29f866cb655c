"""pad in all of NumPy's modes, and its gradients."""

import numpy as np
import pytest
from same_layout import LINEAR_SOURCES, SOURCES, check_gradient, compare_layout, expressions

import numen as nm
from numen.errors import GradientError

MOVES = expressions("""
np.pad(x, 1) | np.pad(x, (1, 2)) | np.pad(x, 0) | np.pad(x, [(0, 2)]) | np.pad(x, 1, 'edge')
np.pad(x, 1, 'reflect') | np.pad(x, 4, 'reflect') | np.pad(x, 2, 'symmetric')
np.pad(x, 5, 'symmetric', reflect_type='even') | np.pad(x, 3, 'wrap') | np.pad(x, 1, 'edge', foo=1)
np.pad(x, 1, constant_values=7) | np.pad(x, 1, constant_values=(1, 2)) | np.pad(x, -1)
np.pad(x, ((1, 0), (0, 2))) | np.pad(x, ((1, 0), (0, 2)), 'wrap') | np.pad(x, 1.5)
np.pad(x, ((0, 1), (2, 0)), constant_values=((1, 2), (3, 4))) | np.pad(x, {0: 1}) | np.pad(x, 'a')
np.pad(x, {-1: (1, 2)}, 'edge') | np.pad(x, 1, 'nope') | np.pad(x, 1, 'reflect', stat_length=1)
""")
STATISTICS = expressions("""
np.pad(x, 1, 'linear_ramp') | np.pad(x, 1, 'linear_ramp', end_values=5) | np.pad(x, 1, 'maximum')
np.pad(x, 1, 'mean', stat_length=1) | np.pad(x, 1, 'median') | np.pad(x, 1, 'minimum')
np.pad(x, 1, 'reflect', reflect_type='odd') | np.pad(x, 2, 'symmetric', reflect_type='odd')
np.pad(x, 1, lambda v, w, a, k: None) | np.pad(x, 1, 'mean', stat_length=0)
""")


@pytest.mark.parametrize("name", [n for n in SOURCES if n != "bools"])
def test_values_and_errors_are_numpys(name):
    for text in MOVES + STATISTICS:
        if "lambda" in text and name == "0-d":
            continue
        compare_layout(text, name)


@pytest.mark.parametrize("name", LINEAR_SOURCES)
def test_gradients(name):
    checked = sum(check_gradient(text, name, number) for number, text in enumerate(MOVES))
    assert checked > 10


@pytest.mark.parametrize("name", ["matrix", "line"])
def test_gradients_of_statistics(name):
    x = np.array([[1.0, 5.0, 2.5], [4.0, 0.5, 3.5]])
    x = x if name == "matrix" else x[0]
    for mode, options in [
        *[(mode, {}) for mode in ("linear_ramp", "maximum", "mean", "median", "minimum")],
        ("mean", {"stat_length": 2}),
        ("median", {"stat_length": ((1, 2),)}),
        ("maximum", {"stat_length": 9}),
        ("linear_ramp", {"end_values": 5.0}),
        ("linear_ramp", {"end_values": ((1.0, -2.0),)}),
    ]:
        width = [(2, 1), (0, 3)][: x.ndim]
        weight = np.random.default_rng(1).normal(size=np.pad(x, width, mode, **options).shape)
        leaf = nm.array(x, requires_grad=True)
        y = nm.pad(leaf, width, mode, **options)
        np.testing.assert_allclose(y.detach().numpy(), np.pad(x, width, mode, **options))
        y.backward(weight)
        for at in np.ndindex(x.shape):
            step = np.zeros_like(x)
            step[at] = 1e-6
            ends = [np.pad(v, width, mode, **options) for v in (x + step, x - step)]
            slope = np.sum(weight * (ends[0] - ends[1])) / 2e-6
            np.testing.assert_allclose(leaf.grad.numpy()[at], slope, atol=1e-7)


def test_odd_reflections_say_that_they_have_no_gradient():
    x = nm.array([1.0, 2.0, 3.0], requires_grad=True)
    y = nm.pad(x, 1, "reflect", reflect_type="odd")
    assert y.tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(GradientError, match="pad"):
        y.sum().backward()


def test_the_inside_of_an_empty_padding():
    x = nm.array([1.0, 2.0], requires_grad=True)
    y = nm.pad(x, 2, "empty")
    assert y.shape == (6,)
    (y[2:4] * nm.array([3.0, 4.0])).sum().backward()
    assert x.grad.tolist() == [3, 4]


def test_the_constants_have_gradients():
    x = nm.array([1.0, 2.0], requires_grad=True)
    c = nm.array([5.0, 6.0], requires_grad=True)
    y = nm.pad(x, (2, 1), constant_values=c)
    assert y.tolist() == [5, 5, 1, 2, 6]
    (y * nm.arange(5.0)).sum().backward()
    assert c.grad.tolist() == [0 + 1, 4]
    one = nm.array(7.0, requires_grad=True)
    nm.pad(x, 1, constant_values=one).sum().backward()
    assert one.grad.item() == 2


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
def test_jit_pads(mode):
    compiled = nm.jit(nm.grad(lambda x: (nm.pad(x, ((1, 2), (2, 1)), mode) ** 3).sum()))
    plain = nm.grad(lambda x: (nm.pad(x, ((1, 2), (2, 1)), mode) ** 3).sum())
    for k in range(3):
        x = nm.arange(9.0).reshape(3, 3) + k
        np.testing.assert_allclose(compiled(x).numpy(), plain(x).numpy(), rtol=1e-12)
