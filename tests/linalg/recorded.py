"""Checks a text's recorded form: values against NumPy's, gradients against central differences.

A text is an expression in `np` and the names of its inputs. Inputs are ndarrays, real or complex.
The gradient of a real L with respect to a complex z is dL/dRe z + i dL/dIm z; the cotangent w of a
result stands for L = Re sum(conj(w) * result).
"""

import numpy as np

import numen as nm
from numen.dispatch.core import SCALAR
from tolerances import DIFFERENCES, STEP, assert_close


def matrices(*shape, seed=0, complex=False):
    """Random matrices that are far from singular."""
    noise = _noise(np.random.default_rng(seed), shape, complex)
    return noise + 3 * np.eye(*shape[-2:])


def uniform(*shape, seed=0, complex=False):
    """Random values of both signs (or of all phases), 0.2 and more away from 0."""
    rng = np.random.default_rng(seed)
    sizes = np.asarray(rng.uniform(0.2, 2, shape))
    if complex:
        return sizes * np.exp(1j * rng.uniform(-3, 3, shape))
    return np.asarray(sizes * rng.choice([-1.0, 1.0], shape))


def _noise(rng, shape, complex):
    values = rng.uniform(-1, 1, shape)
    return values + 1j * rng.uniform(-1, 1, shape) if complex else values


def cotangent(values, seed=1):
    """Random numbers of the values' shape and kind."""
    rng = np.random.default_rng(seed)
    weight = rng.standard_normal(np.shape(values))
    if np.asarray(values).dtype.kind == "c":
        weight = weight + 1j * rng.standard_normal(np.shape(values))
    return weight.astype(np.asarray(values).dtype)


def inner(weight, values):
    """The real number L whose gradient is the weight."""
    return float(np.sum((np.conj(weight) * values).real))


def slopes_of(function, value, step):
    """Central differences of a real function of an array, along both axes of complex elements."""
    slopes = np.zeros(value.shape, value.dtype)
    for at in np.ndindex(value.shape):
        for axis in (1, 1j) if value.dtype.kind == "c" else (1,):
            sides = []
            for d in (step, -step):
                moved = value.copy()
                moved[at] += d * axis
                sides.append(function(moved))
            slopes[at] += axis * (sides[0] - sides[1]) / (2 * step)
    return slopes


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
    weight = cotangent(expected)
    actual.backward(nm.array(weight))
    for name, value in inputs.items():

        def moved(v, name=name):
            return inner(weight, _evaluate(text, np, {**inputs, name: v}))

        found = leaves[name].grad
        assert found is not None, f"{text}: no gradient for {name}"
        assert found.dtype == value.dtype, text
        assert_close(found.numpy(), slopes_of(moved, value, step), table=DIFFERENCES)


def check_twice(text, step=1e-4, **inputs):
    """Compare the gradient of a mixture of the gradients with central differences of it."""
    weight = nm.array(cotangent(_evaluate(text, np, inputs)))
    mix = {k: cotangent(v, 2) for k, v in inputs.items()}
    names = tuple(inputs)

    def gradients(*values):
        def total(*arrays):
            result = _evaluate(text, nm, dict(zip(names, arrays, strict=True)))
            return (nm.conj(weight) * result).real.sum()

        return nm.grad(total, tuple(range(len(names))))(*values)

    def mixed(*values):
        found = gradients(*values)
        parts = [
            (nm.conj(nm.array(mix[k])) * g).real.sum() for k, g in zip(names, found, strict=True)
        ]
        return sum(parts[1:], parts[0])

    given = [nm.array(v) for v in inputs.values()]
    second = nm.grad(mixed, tuple(range(len(names))))(*given)
    for i, (name, value) in enumerate(inputs.items()):

        def moved(v, i=i):
            return float(mixed(*given[:i], nm.array(v), *given[i + 1 :]))

        assert second[i].dtype == value.dtype, f"{text}: {name}"
        assert_close(second[i].numpy(), slopes_of(moved, value, step), 10, table=DIFFERENCES)
