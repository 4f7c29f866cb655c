"""Compares a function's recorded form with NumPy: value, dtype, shape, and gradient by central
differences."""

import warnings

import numpy as np

import numen as nm
from numen.dispatch.core import SCALAR
from tolerances import DIFFERENCES, assert_close


def flat(result):
    """The arrays of a result, which may be a tuple or list of them."""
    if isinstance(result, (tuple, list)):
        return [r for part in result for r in flat(part)]
    return [result]


def check(function, *arrays, gradient=True, tolerance=1e-9):
    """`function(module, *arrays)` with NumPy, and with numen on leaves: same results; the gradient
    is that of NumPy's function."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = flat(function(np, *[a.copy() for a in arrays]))
        leaves = [
            nm.array(a, requires_grad=a.dtype.kind == "f" and gradient is not None) for a in arrays
        ]
        found = flat(function(nm, *leaves))
    assert len(found) == len(expected)
    for f, e in zip(found, expected, strict=True):
        same_value(f, e, tolerance)
    if gradient:
        differentiable = [i for i, f in enumerate(found) if f.requires_grad]
        assert differentiable, "nothing carries a gradient"
        rng = np.random.default_rng(0)
        weights = {i: rng.standard_normal(found[i].shape) for i in differentiable}
        total = sum((found[i] * nm.array(weights[i])).sum() for i in differentiable)
        total.backward()
        for position, leaf in enumerate(leaves):
            if leaf.requires_grad and leaf.grad is not None:
                numeric = differences(function, arrays, position, weights)
                assert_close(leaf.grad.numpy(), numeric, 5, table=DIFFERENCES)


def same_value(found, expected, tolerance):
    assert isinstance(found, nm.Array), type(found)
    data = found.detach().numpy()
    assert data.dtype == expected.dtype, f"{data.dtype} for {expected.dtype}"
    assert data.shape == np.shape(expected), f"{data.shape} for {np.shape(expected)}"
    assert (found._v is SCALAR) == isinstance(expected, np.generic), "scalar or array"
    np.testing.assert_allclose(data, expected, rtol=tolerance, atol=tolerance)


def differences(function, arrays, position, weights, step=1e-6):
    """Central differences of the weighted sum of the results by one array's elements."""

    def total(value):
        given = [a.copy() for a in arrays]
        given[position] = value
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results = flat(function(np, *given))
        return sum(float(np.sum(w * results[i])) for i, w in weights.items())

    base = arrays[position]
    slope = np.zeros(base.shape)
    for at in np.ndindex(base.shape):
        if np.isnan(base[at]):
            continue
        ahead, behind = base.copy(), base.copy()
        ahead[at] += step
        behind[at] -= step
        slope[at] = (total(ahead) - total(behind)) / (2 * step)
    return slope
