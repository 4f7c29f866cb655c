"""Runs expressions of `x` with NumPy and numen: values as `same_source` compares them, and where
the results lie: strides, shared memory, writeable flags, identity.

`check_gradient` takes what numen's backward pass says about a linear expression against NumPy's
difference of the expression.
"""

import warnings

import numpy as np
from same_source import same

import numen as nm
import numen.lib
from numen.dispatch.core import SCALAR

SOURCES = {
    "matrix": "np.arange(6.).reshape(2, 3)",
    "fortran": "np.asfortranarray(np.arange(6.).reshape(2, 3))",
    "vector": "np.arange(5)",
    "0-d": "np.array(3.)",
    "scalar": "np.arange(3.).sum()",
    "empty": "np.zeros((0, 3))",
    "reversed": "np.arange(6.).reshape(2, 3)[::-1, ::-1]",
    "permuted": "np.arange(24).reshape(2, 3, 4).transpose(2, 0, 1)",
    "strided": "np.arange(24.).reshape(4, 6)[::2, 1::2]",
    "ones": "np.ones((1, 3, 1))",
    "bools": "np.array([[True, False], [False, True]])",
    "broadcast": "np.broadcast_to(np.arange(3.), (2, 3))",
}
LINEAR_SOURCES = ("matrix", "fortran", "reversed", "strided", "ones")


def expressions(text):
    """The expressions of a text, separated by | or line ends."""
    return [e.strip() for e in text.replace("\n", "|").split("|") if e.strip()]


def result(text, module, x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return eval(text, {"np": module, "x": x})
        except Exception as error:
            return error


def source(name, module):
    return eval(SOURCES[name], {"np": module})


def compare_layout(text, name, strides=True):
    """Fail where values, errors, or the memory and strides of the results differ."""
    given, x = source(name, np), source(name, nm)
    expected, actual = result(text, np, given), result(text, nm, x)
    same(actual, expected, f"{text} of {name}", True)
    if isinstance(given, np.ndarray):
        _same_memory(actual, expected, x, given, f"{text} of {name}", strides)


def _same_memory(actual, expected, x, given, text, strides):
    if isinstance(expected, (list, tuple)):
        for a, e in zip(actual, expected, strict=True):
            _same_memory(a, e, x, given, text, strides)
        return
    if not isinstance(expected, np.ndarray):
        return
    data = actual.detach().numpy()
    assert data.strides == expected.strides or not strides, text
    assert data.flags.writeable == expected.flags.writeable, text
    assert (actual is x) == (expected is given), text
    shared = np.may_share_memory(data, x.detach().numpy())
    assert shared == np.may_share_memory(expected, given), text
    if shared and actual is not x and x._v is not SCALAR:
        assert actual.base is (x if x.base is None else x.base), text


def check_gradient(text, name, number):
    """Fail where the recorded value or the gradient of an expression, affine in x, is wrong.

    Returns whether NumPy has a floating result.
    """
    given = source(name, np)
    expected = result(text, np, given)
    x = nm.asarray(given).requires_grad_()
    actual = result(text, nm, x)
    same(actual, expected, text, True)
    outputs, values = _floats(actual), _floats(expected)
    if not values:
        return False
    rng = np.random.default_rng(number)
    direction = rng.normal(size=given.shape)
    given[...] = 0  # keeps the layout, which some expressions depend on
    zero = [np.array(v) for v in _floats(result(text, np, given))]
    given[...] = direction
    moved = [np.array(v) for v in _floats(result(text, np, given))]
    slope, total = 0.0, None
    for output, before, after in zip(outputs, zero, moved, strict=True):
        weight = rng.normal(size=before.shape)
        slope += float((weight * (after - before)).sum())
        term = (output * nm.asarray(weight)).sum()
        total = term if total is None else total + term
    total.backward()
    found = 0.0 if x.grad is None else float((x.grad.numpy() * direction).sum())
    assert abs(found - slope) <= 1e-9 * (1 + abs(slope)), f"{text} of {name}"
    return True


def _floats(value):
    if isinstance(value, Exception):
        return []
    values = value if isinstance(value, (list, tuple)) else [value]
    return [v for v in values if getattr(v, "dtype", None) == np.float64]
