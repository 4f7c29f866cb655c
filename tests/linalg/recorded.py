"""Checks a text's recorded form: values against NumPy's, gradients against central differences.

A text is an expression in `np` and the names of its inputs. Inputs are ndarrays of float64.
"""

import numpy as np

import numen as nm
from numen.dispatch.core import SCALAR
from tolerances import DIFFERENCES, STEP, assert_close


def matrices(*shape, seed=0):
    """Random matrices that are far from singular."""
    noise = np.random.default_rng(seed).uniform(-1, 1, shape)
    return noise + 3 * np.eye(*shape[-2:])


def uniform(*shape, seed=0):
    """Random values of both signs, 0.2 and more away from 0."""
    rng = np.random.default_rng(seed)
    return np.asarray(rng.uniform(0.2, 2, shape) * rng.choice([-1.0, 1.0], shape))


def _evaluate(text, module, inputs):
    return eval(text, {"np": module, **inputs})


def check_recorded(text, step=STEP, **inputs):
    """Compare the text on Arrays that require gradients with the text on ndarrays."""
    expected = _evaluate(text, np, inputs)
    leaves = {k: nm.array(v, requires_grad=True) for k, v in inputs.items()}
    actual = _evaluate(text, nm, leaves)
    assert isinstance(actual, nm.Array), text
    assert actual.requires_grad, text
    assert actual.dtype == expected.dtype, text
    assert (actual._v is SCALAR) == isinstance(expected, np.generic), text
    data = actual.detach().numpy()
    assert_close(data, expected, 100)
    weight = np.random.default_rng(1).standard_normal(np.shape(expected))
    actual.backward(nm.array(weight))
    for name, value in inputs.items():
        slopes = np.zeros(value.shape)
        for at in np.ndindex(value.shape):
            sides = []
            for d in (step, -step):
                moved = value.copy()
                moved[at] += d
                sides.append(_evaluate(text, np, {**inputs, name: moved}))
            slopes[at] = np.sum(weight * (sides[0] - sides[1])) / (2 * step)
        found = leaves[name].grad
        assert found is not None, f"{text}: no gradient for {name}"
        assert_close(found.numpy(), slopes, table=DIFFERENCES)
