"""jacrev, jacfwd, hessian, hvp: against each other, closed forms and finite differences."""

import numpy as np
import pytest

import numen as nm
from numen.errors import GradientError

X = np.array([[0.3, -1.2, 0.7], [1.5, 0.2, -0.4]])


def numeric_jacobian(f, x, step=1e-6):
    columns = []
    for i in np.ndindex(x.shape):
        e = np.zeros(x.shape)
        e[i] = step
        columns.append((f(x + e) - f(x - e)) / (2 * step))
    return np.stack(columns, -1).reshape(*columns[0].shape, *x.shape)


def f(x):
    return nm.sin(x).sum(axis=0) * nm.cumsum(x, axis=1)


def numpy_f(x):
    return np.sin(x).sum(axis=0) * np.cumsum(x, axis=1)


@pytest.mark.parametrize("jacobian", [nm.jacrev, nm.jacfwd])
def test_against_differences(jacobian):
    found = jacobian(f)(nm.array(X))
    assert found.shape == (2, 3, 2, 3)
    np.testing.assert_allclose(found.numpy(), numeric_jacobian(numpy_f, X), 1e-6, 1e-8)
    chunked = jacobian(f, chunk_size=4)(nm.array(X))
    np.testing.assert_allclose(chunked.numpy(), found.numpy(), 1e-14)
    assert not found.requires_grad


@pytest.mark.parametrize("jacobian", [nm.jacrev, nm.jacfwd])
def test_arguments_results_and_aux(jacobian):
    def g(a, b, scale=1.0):
        return {"p": a["x"] * b.sum() * scale, "q": b}, "aux"

    a, b = {"x": nm.array([1.0, 2.0])}, nm.array([3.0, 4.0, 5.0])
    (found, aux) = jacobian(g, (0, 1), has_aux=True)(a, b, scale=2.0)
    assert aux == "aux"
    np.testing.assert_array_equal(found["p"][0]["x"].numpy(), np.eye(2) * 24)
    np.testing.assert_array_equal(found["p"][1].numpy(), np.outer([2, 4], [1, 1, 1]))
    np.testing.assert_array_equal(found["q"][0]["x"].numpy(), np.zeros((3, 2)))
    np.testing.assert_array_equal(found["q"][1].numpy(), np.eye(3))
    single = jacobian(lambda x: x**2)(nm.array(3.0))
    assert (single.shape, single.item()) == ((), 6)
    empty = jacobian(lambda x: x * 2)(nm.zeros((0,)))
    assert empty.shape == (0, 0)


def test_hessian():
    A = np.array([[2.0, 1.0], [0.0, 3.0]])
    found = nm.hessian(lambda x: x @ nm.array(A) @ x)(nm.array([1.0, -1.0]))
    np.testing.assert_allclose(found.numpy(), A + A.T, 1e-13)

    def g(x):
        return nm.exp(nm.sin(x)).prod()

    x = np.array([0.1, 0.5, -0.3])
    numeric = numeric_jacobian(lambda v: nm.grad(g)(nm.array(v)).numpy(), x)
    for h in (
        nm.hessian(g),
        nm.jacrev(nm.jacfwd(g)),
        nm.jacrev(nm.jacrev(g)),
        nm.jacfwd(nm.jacfwd(g)),
    ):
        np.testing.assert_allclose(h(nm.array(x)).numpy(), numeric, 1e-6, 1e-9)
    both = nm.hessian(lambda a, b: (a * b * b).sum(), (0, 1))(nm.array([1.0]), nm.array([2.0]))
    assert [[block.item() for block in row] for row in both] == [[0, 4], [4, 2]]


def test_hvp():
    def g(x, y):
        return (nm.sin(x) * y).sum()

    x, y = nm.array([0.5, 1.0]), nm.array([2.0, 3.0])
    tx, ty = nm.array([1.0, -1.0]), nm.array([0.5, 2.0])
    value, (hx, hy) = nm.hvp(g, (x, y), (tx, ty))
    np.testing.assert_allclose(value.item(), (np.sin([0.5, 1]) * [2, 3]).sum())
    np.testing.assert_allclose(
        hx.numpy(), -np.sin([0.5, 1]) * [2, 3] * [1, -1] + np.cos([0.5, 1]) * [0.5, 2]
    )
    np.testing.assert_allclose(hy.numpy(), np.cos([0.5, 1]) * [1, -1])
    with pytest.raises(GradientError, match="one element"):
        nm.hvp(lambda x: x, (x,), (tx,))


def test_in_vmap_and_jit():
    xs = nm.array(np.random.default_rng(0).normal(size=(4, 2, 3)))
    expected = np.stack([numeric_jacobian(numpy_f, x) for x in xs.numpy()])
    for jacobian in (nm.jacrev, nm.jacfwd):
        np.testing.assert_allclose(nm.vmap(jacobian(f))(xs).numpy(), expected, 1e-5, 1e-8)
        fast = nm.jit(jacobian(f))
        for _ in range(3):
            np.testing.assert_allclose(fast(xs[0]).numpy(), expected[0], 1e-5, 1e-8)
        assert "1 compiled, 0 eager" in str(nm.explain(fast))


def test_bad_arguments():
    for jacobian in (nm.jacrev, nm.jacfwd):
        with pytest.raises(TypeError, match="argnums"):
            jacobian(f, 3)(nm.array(X))
        with pytest.raises((GradientError, TypeError), match=r"derivative|floating"):
            jacobian(lambda x: x)(nm.array([1, 2]))


def test_complex_arguments():
    z = nm.array([1 + 2j, 0.5 - 1j])
    forward, reverse = nm.jacfwd(lambda z: z * z)(z), nm.jacrev(lambda z: z * z)(z)
    np.testing.assert_allclose(forward.numpy(), np.diag(2 * z.numpy()))
    np.testing.assert_allclose(reverse.numpy(), np.diag(2 * z.numpy()).conj())
    magnitude = nm.jacrev(lambda z: abs(z) ** 2)(z)  # a real result: the gradient
    np.testing.assert_allclose(magnitude.numpy(), np.diag(2 * z.numpy()), 1e-12)
