"""The methods of ufuncs: reduce, accumulate, reduceat, outer and at, plain and with gradients."""

import numpy as np
import pytest
from same_source import compare

import numen as nm

SETUP = """x = np.arange(6.).reshape(2, 3) + 1
y = np.array([1., 2., 4.])
i = np.arange(6).reshape(2, 3)
m = np.array([True, False, True])
o = np.zeros((2, 3))
"""

EXPRESSIONS = """np.add.reduce(x)
np.add.reduce(x, axis=None)
np.add.reduce(x, (0, 1))
np.add.reduce(x, axis=-1, keepdims=True)
np.add.reduce(x, 0, None, y)
np.add.reduce(x, 0, out=y) is y
np.add.reduce(x, initial=10)
np.add.reduce(x, where=m)
np.add.reduce(x, axis=5)
np.add.reduce(x, axis=(0, 0))
np.add.reduce(i.astype('i1'))
np.add.reduce(i, dtype=float)
np.add.reduce([])
np.add.reduce(5)
np.add.reduce(x, foo=1)
np.add.reduce()
np.multiply.reduce(x, axis=1)
np.maximum.reduce(x, axis=None)
np.maximum.reduce(x, where=m)
np.maximum.reduce(x, where=m, initial=0, axis=1)
np.maximum.reduce([])
np.subtract.reduce(x)
np.subtract.reduce(x, axis=(0, 1))
np.logical_and.reduce(x)
np.bitwise_or.reduce(i)
np.hypot.reduce(x)
np.sin.reduce(x)
np.divmod.reduce(x)
np.matmul.reduce(x)
np.add.accumulate(x)
np.add.accumulate(x, 1)
np.add.accumulate(x, out=o) is o
np.multiply.accumulate(x, axis=1)
np.maximum.accumulate(x[::-1])
np.add.accumulate(x, axis=None)
np.add.accumulate(3)
np.sin.accumulate(x)
np.add.reduceat(np.arange(8.), [0, 4, 1, 5, 2, 6, 3, 7])
np.add.reduceat(x, [0, 1, 1], axis=1)
np.multiply.reduceat(x, [0, 2], 1)
np.add.reduceat(x, [5])
np.multiply.outer(y, x)
np.add.outer(1, 2)
np.less.outer(y, y)
np.divmod.outer(y, y)
np.sin.outer(y, y)
np.matmul.outer(x, y)
np.multiply.outer(y, y, out=np.zeros((3, 3)))
np.multiply.outer(y, y, dtype='f')
np.multiply.outer(y)""".splitlines()

WRITES = """np.add.at(y, [0, 0, 2], 1); r = y
np.add.at(i, [0, 0], [[1, 2, 3], [1, 1, 1]]); r = i
np.negative.at(y, [0, 1]); r = y
np.add.at(i, [0], 1.5); r = i
np.multiply.at(y, [1, 1], 3); r = y
np.maximum.at(y, slice(None), 2.5); r = y
np.add.at(x, (slice(None), [0, 0]), 1); r = x
np.add.at(x, (1, 2), 1); r = x
np.add.at(x, x > 3, 1); r = x
np.subtract.at(y, [0, 0], [1, 2]); r = y
np.add.at(y, [5], 1); r = y
np.add.at(y, [0]); r = y
np.negative.at(y, [0], 1); r = y
np.add.at(y, [0], [1, 2]); r = y""".splitlines()


@pytest.mark.parametrize("text", [f"r = {e}" for e in EXPRESSIONS] + WRITES)
def test_against_numpy(text):
    compare(SETUP + text)


@pytest.mark.parametrize(
    "text",
    [e for e in EXPRESSIONS if e.startswith(("np.add", "np.mult", "np.max")) and "foo" not in e],
)
def test_compositions_have_the_values(text):
    """The rows that compute recorded calls, run without a recorder."""
    with nm.config(engine="kernels"):
        compare(SETUP + f"r = {text}", exact=False)


A = np.array([[1.0, -2.0, 3.0, 0.5], [2.0, 4.0, -1.0, 1.5], [0.3, 0.7, 5.0, -2.5]])
B = np.array([2.0, -1.0, 0.5, 3.0])


def at(m, a, b):
    z = a * 1
    m.add.at(z, ([0, 0, 2],), b)
    m.subtract.at(z, (slice(None), [1, 1]), 1.5)
    m.add.at(z, (1,), b * 2)
    m.add.at(z, (0, 2), 2.0)
    return z * z


FUNCTIONS = {
    "sum": lambda m, a, b: m.add.reduce(a),
    "sum of all": lambda m, a, b: m.add.reduce(a, axis=None, initial=3.0),
    "sum where": lambda m, a, b: m.add.reduce(a, where=A > 0),
    "product": lambda m, a, b: m.multiply.reduce(a, 1, keepdims=True),
    "maximum": lambda m, a, b: m.maximum.reduce(a, axis=(0, 1)),
    "minimum": lambda m, a, b: m.minimum.reduce(a, 1),
    "cumsum": lambda m, a, b: m.add.accumulate(a, 1) ** 2,
    "cumprod": lambda m, a, b: m.multiply.accumulate(a),
    "reduceat": lambda m, a, b: m.add.reduceat(a, [0, 2, 1], axis=1) ** 2,
    "outer": lambda m, a, b: m.multiply.outer(b, a),
    "outer of any": lambda m, a, b: m.hypot.outer(a, b),
    "at": at,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients(name):
    f = FUNCTIONS[name]
    arrays = [nm.array(v, requires_grad=True) for v in (A, B)]
    result = f(nm, *arrays)
    np.testing.assert_allclose(result.detach().numpy(), f(np, A, B), rtol=1e-12)
    result.sum().backward()
    step = 1e-6
    for k, value in enumerate((A, B)):
        expected = np.zeros_like(value)
        for place in np.ndindex(value.shape):
            both = []
            for sign in (step, -step):
                moved = [A.copy(), B.copy()]
                moved[k][place] += sign
                both.append(np.sum(f(np, *moved)))
            expected[place] = (both[0] - both[1]) / (2 * step)
        grad = arrays[k].grad
        actual = np.zeros_like(value) if grad is None else grad.numpy()
        np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_traced(name):
    f = FUNCTIONS[name]
    compiled = nm.jit(lambda a, b: f(nm, a, b))
    for _ in range(3):
        np.testing.assert_allclose(compiled(nm.array(A), nm.array(B)).numpy(), f(np, A, B))


def test_methods_without_a_derivative_say_so():
    x = nm.array(A, requires_grad=True)
    y = nm.maximum.reduceat(x, [0, 1])
    with pytest.raises(nm.GradientError, match=r"maximum\.reduceat"):
        y.sum().backward()
    with pytest.raises(nm.GradientError, match=r"multiply\.at"):
        nm.multiply.at(x * 1, [0], 2.0)
    with pytest.raises(nm.GradientError, match="ndarray"):
        nm.add.at(np.zeros((3, 4)), [0], x)


def test_at_into_a_leaf_is_refused():
    x = nm.zeros(3, requires_grad=True)
    with pytest.raises(nm.LeafWriteError):
        nm.add.at(x, [0], 1.0)


def test_at_through_a_view_reaches_the_base():
    x = nm.array(A, requires_grad=True)
    z = x * 1
    nm.add.at(z[1], [0, 0], x[0, :2])
    (z * z).sum().backward()
    expected = 2 * A
    total = A[1, 0] + A[0, 0] + A[0, 1]
    expected[1, 0] = 2 * total
    expected[0, :2] += 2 * total
    np.testing.assert_allclose(x.grad.numpy(), expected)
