"""grad, value_and_grad and vjp: values, nesting, mixing with the tape, errors."""

import threading

import numpy as np
import pytest

import numen as nm
from numen.errors import DTypeError, GradientError


def test_grad_and_value():
    x = nm.array([1.0, 2.0])
    value, gradient = nm.value_and_grad(lambda x: (x * x).sum())(x)
    assert (float(value), gradient.tolist()) == (5, [2, 4])
    assert not value.requires_grad
    assert not gradient.requires_grad
    assert not x.requires_grad
    assert nm.grad(lambda x: x**2)(3.0).item() == 6
    assert nm.grad(lambda x: nm.array(1.0) * 2 + 0 * x)(2.0).item() == 0
    assert nm.grad(lambda x, y: nm.sum(y * 1.0))(x, x).tolist() == [0, 0]


def test_argnums_and_aux():
    def f(a, b, scale=1.0):
        return (a * b * scale).sum(), "aux"

    a, b = nm.array([1.0, 2.0]), nm.array([3.0, 4.0])
    both, aux = nm.grad(f, argnums=(0, 1), has_aux=True)(a, b, scale=2.0)
    assert [g.tolist() for g in both] == [[6, 8], [2, 4]]
    assert aux == "aux"
    assert nm.grad(f, argnums=-1, has_aux=True)(a, b)[0].tolist() == [1, 2]
    (value, aux), gradient = nm.value_and_grad(f, has_aux=True)(a, b)
    assert (float(value), aux, gradient.tolist()) == (11, "aux", [3, 4])
    with pytest.raises(TypeError, match="argnums"):
        nm.grad(f, argnums=2)(a, b)


def test_nesting():
    f = nm.tanh
    first = nm.grad(f)
    second = nm.grad(first)
    third = nm.grad(second)
    t = np.tanh(0.5)
    np.testing.assert_allclose(first(0.5).item(), 1 - t * t)
    np.testing.assert_allclose(second(0.5).item(), -2 * t * (1 - t * t))
    np.testing.assert_allclose(third(0.5).item(), (1 - t * t) * (6 * t * t - 2))
    # x d/dy (x y) = x^2: the inner derivative must not see the outer one's node
    assert nm.grad(lambda x: x * nm.grad(lambda y: x * y)(2.0))(3.0).item() == 6
    assert nm.grad(lambda x: nm.grad(lambda y: x * y * y)(x))(3.0).item() == 12


def test_vjp():
    y, pull = nm.vjp(lambda a, b: a @ b, nm.ones((2, 3)), nm.arange(3.0))
    assert y.tolist() == [3, 3]
    ga, gb = pull(nm.array([1.0, 2.0]))
    assert ga.tolist() == [[0, 1, 2], [0, 2, 4]]
    assert gb.tolist() == [3, 3, 3]
    assert pull([0.0, 1.0])[1].tolist() == [1, 1, 1]
    with pytest.raises(ValueError, match="shape"):
        pull(nm.ones(3))
    with pytest.raises(GradientError, match="array"):
        nm.vjp(lambda x: "text", nm.ones(2))


def test_captured_leaves_keep_their_tape():
    w = nm.array([1.0, 2.0], requires_grad=True)
    g = nm.grad(lambda x: (x * x * w).sum())(nm.array([3.0, 4.0]))
    assert g.tolist() == [6, 16]
    assert g.requires_grad
    g.sum().backward()
    assert w.grad.tolist() == [6, 8]
    assert nm.grad(lambda x: (x * w).sum())(w).tolist() == [1, 2]


def test_writes_inside():
    def f(x):
        y = x * 1.0
        y[1:] *= 3.0
        y += x
        return y.sum()

    assert nm.grad(f)(nm.ones(3)).tolist() == [2, 4, 4]


def test_a_gradient_is_found_inside_no_grad():
    with nm.no_grad():
        assert nm.grad(lambda x: x * x)(3.0).item() == 6


def test_errors():
    with pytest.raises(GradientError, match="one element"):
        nm.grad(lambda x: x)(nm.ones(2))
    with pytest.raises(GradientError, match="one element"):
        nm.grad(lambda x: "text")(nm.ones(2))
    with pytest.raises(DTypeError, match="argument 0"):
        nm.grad(lambda x: x)(nm.array(1))
    with pytest.raises(GradientError, match="real array"):
        nm.grad(lambda x: x)(nm.array(1j))


def test_sixteen_threads():
    results = [None] * 16

    def work(i):
        results[i] = [nm.grad(nm.grad(lambda x: x**3))(float(i)).item() for _ in range(100)]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == [[6.0 * i] * 100 for i in range(16)]


def test_results_carry_no_graph_of_transforms_that_have_ended():
    third = nm.grad(nm.grad(nm.grad(lambda x: nm.sin(x) * x)))
    assert not third(2.0).requires_grad
    _, pull = nm.vjp(lambda x: x**3, nm.array([1.0, 2.0]))
    (first,) = pull(nm.ones(2))
    (second,) = nm.vjp(lambda c: pull(c)[0], nm.ones(2))[1](nm.ones(2))
    assert not first.requires_grad
    assert not second.requires_grad
    x = nm.array([1.0, 2.0], requires_grad=True)  # an outer leaf keeps it
    assert nm.grad(lambda y: (y**2 * x).sum())(nm.ones(2)).requires_grad
    seen = []
    nm.grad(lambda x: (seen.append(nm.grad(lambda y: (x * y).sum())(x)), (x**2).sum())[1])(
        nm.ones(2)
    )
    assert seen[0].requires_grad  # inside, it depends on the outer argument
