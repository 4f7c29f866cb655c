"""jvp and linearize: values, containers, nesting with every transform, writes, errors, jit."""

import threading

import numpy as np
import pytest

import numen as nm
from numen.dispatch import modes
from numen.errors import DTypeError, GradientError, ShapeError, TransformError
from numen.namespace.calling import host


def same(found, expected, rtol=1e-12):
    np.testing.assert_allclose(np.asarray(nm.array(found).detach().numpy()), expected, rtol, 1e-14)


def test_values_and_tangents():
    x, t = np.array([0.5, 2.0]), np.array([1.0, -3.0])
    y, dy = nm.jvp(lambda v: nm.sin(v) * v, (x,), (t,))
    same(y, np.sin(x) * x)
    same(dy, (np.cos(x) * x + np.sin(x)) * t)
    y, dy = nm.jvp(lambda a, b: a * b + 1, (x, 3.0), (t, 2.0))
    same(dy, 3 * t + 2 * x)
    y, dy = nm.jvp(lambda v: nm.ones(2), (x,), (t,))
    same(dy, [0, 0])
    y, dy = nm.jvp(lambda v: v.astype(np.float32), (x,), (t,))
    assert (y.dtype, dy.dtype) == (np.float32, np.float32)
    y, dy, aux = nm.jvp(lambda v: (v * 2, {"seen": v}), (x,), (t,), has_aux=True)
    same(aux["seen"], x)
    assert not aux["seen"].requires_grad


def test_containers():
    def f(p, scale):
        return {"sum": p["w"].sum() * scale, "pair": (p["b"], p["w"] ** 2)}

    p = {"w": nm.array([1.0, 2.0]), "b": nm.array(3.0)}
    t = {"w": nm.array([1.0, 0.0]), "b": nm.array(5.0)}
    out, tangent = nm.jvp(f, (p, 2.0), (t, 0.0))
    assert out["sum"].item() == 6
    assert tangent["sum"].item() == 2
    assert tangent["pair"][0].item() == 5
    same(tangent["pair"][1], [2, 0])


def test_python_control_flow_follows_the_primal():
    def f(x):
        y = x
        while float(y) < 100:
            y = y * x if y > 3 else y + 1
        return y

    y, dy = nm.jvp(f, (2.5,), (1.0,))
    step = 1e-6
    numeric = (f(nm.array(2.5 + step)) - f(nm.array(2.5 - step))) / (2 * step)
    assert y.item() == f(nm.array(2.5)).item()
    same(dy, numeric.item(), 1e-6)
    assert nm.jvp(lambda x: int(x) * x, (2.5,), (1.0,))[1].item() == 2


def test_writes():
    def f(x):
        y = nm.zeros(4)
        y[1:3] = x
        view = y[::-1]
        view *= x[0]
        y += 1
        y[2] = 7.0  # its tangent goes back to 0
        square = y.reshape(2, 2)
        square[0, 0] = x[1]
        return y

    x, t = nm.array([2.0, 3.0]), nm.array([1.0, 10.0])
    y, dy = nm.jvp(f, (x,), (t,))
    same(y, f(x).numpy())
    same(dy, [10, 4, 0, 0])
    same(nm.jacfwd(f)(x), nm.jacrev(f)(x).numpy())
    outside = nm.zeros(2)

    def write_outside(v):
        outside[0] = v[0]
        return v

    with pytest.raises(TransformError, match="outside"):
        nm.jvp(write_outside, (x,), (t,))
    assert outside.tolist() == [0, 0]
    own = nm.array([1.0, 1.0])
    direction = nm.array([1.0, 2.0])

    def write_argument(v):
        v[0] = v[1] * 3
        return v.sum()

    y, dy = nm.jvp(write_argument, (own,), (direction,))
    assert (y.item(), dy.item()) == (4, 8)
    assert own.tolist() == [3, 1]  # as a plain call
    assert direction.tolist() == [1, 2]


def test_a_later_write_leaves_earlier_results_alone():
    def f(x):
        z = nm.zeros(2)
        z[:] = x
        results = [z + 1, z.copy(), z * 1.0, z.reshape(2, 1) + 0, z[::-1] + nm.zeros(2), -z, abs(z)]
        view = z[:1]
        z[0] = 0
        return results, view

    t = nm.array([3.0, 4.0])
    _, (tangents, view) = nm.jvp(f, (nm.array([1.0, 2.0]),), (t,))
    for k, tangent in enumerate(tangents):
        expected = [-3, -4] if k == 5 else [4, 3] if k == 4 else [3, 4]
        assert tangent.ravel().tolist() == expected, k
    assert view.tolist() == [0]


def test_nesting():
    f = nm.tanh

    def derivative(g):
        return lambda x: nm.jvp(g, (x,), (1.0,))[1]

    t = np.tanh(0.5)
    third = (1 - t * t) * (6 * t * t - 2)
    same(derivative(derivative(derivative(f)))(0.5), third, 1e-10)
    same(nm.grad(derivative(nm.grad(f)))(0.5), third, 1e-10)
    same(derivative(nm.grad(derivative(f)))(0.5), third, 1e-10)
    # x d/dy (x y) = x^2: no tangent of the outer level in the inner one
    assert nm.grad(lambda x: x * derivative(lambda y: x * y)(2.0))(3.0).item() == 6
    assert derivative(lambda x: x * derivative(lambda y: x + y)(1.0))(1.0).item() == 1
    assert derivative(lambda x: nm.grad(lambda y: x * y * y)(x))(3.0).item() == 12
    xs = nm.array([0.5, 1.0])
    same(nm.vmap(derivative(f))(xs), 1 - np.tanh(xs.numpy()) ** 2)
    _, d = nm.jvp(nm.vmap(f), (xs,), (nm.array([1.0, 2.0]),))
    same(d, (1 - np.tanh(xs.numpy()) ** 2) * [1, 2])
    outer = nm.vmap(lambda s: nm.jvp(lambda v: (v**3).sum(), (xs,), (s,))[1])
    same(outer(nm.eye(2)), 3 * xs.numpy() ** 2)


def test_captured_leaves_keep_their_tape():
    w = nm.array([1.0, 2.0], requires_grad=True)
    _, d = nm.jvp(lambda x: (x * x * w).sum(), (nm.array([3.0, 4.0]),), (nm.array([1.0, 1.0]),))
    d.backward()
    same(w.grad, [6, 8])
    _, d = nm.jvp(lambda x: (x * w).sum(), (w,), (nm.array([1.0, 0.0]),))
    assert d.item() == 1  # w itself is a constant
    with nm.no_grad():
        assert nm.jvp(lambda x: x * x, (3.0,), (1.0,))[1].item() == 6


def test_layers():
    nm.manual_seed(0)
    net = nm.nn.Sequential(nm.nn.Linear(3, 5), nm.nn.GELU(), nm.nn.LayerNorm(5), nm.nn.Linear(5, 2))
    x = nm.array(np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32))
    t = nm.ones((4, 3), np.float32)
    _, forward = nm.jvp(net, (x,), (t,))
    step = 1e-2
    numeric = (net(x + step * t) - net(x - step * t)) / (2 * step)
    np.testing.assert_allclose(
        forward.detach().numpy(), numeric.detach().numpy(), rtol=2e-2, atol=2e-3
    )


def test_linearize():
    x = nm.array([1.0, 3.0])
    calls = []

    def f(p):
        calls.append(1)
        return {"a": p["x"] ** 2, "b": p["x"].sum() * p["y"]}

    primal = {"x": x, "y": nm.array(2.0)}
    out, linear = nm.linearize(f, primal)
    same(out["a"], [1, 9])
    for tx, ty in (([1.0, 0.0], 0.0), ([0.0, 2.0], 3.0)):
        t = {"x": nm.array(tx), "y": nm.array(ty)}
        expected = nm.jvp(f, (primal,), (t,))[1]
        found = linear(t)
        same(found["a"], expected["a"].numpy())
        same(found["b"], expected["b"].numpy())
        assert not found["a"].requires_grad
    assert len(calls) == 3
    same(nm.vmap(nm.linearize(lambda v: v**2, x)[1])(nm.eye(2)), np.diag([2.0, 6.0]))


def test_complex_numbers():
    z, t = np.array([1 + 2j, 0.5 - 1j]), np.array([0.3 - 1j, 2 + 0.1j])
    _, d = nm.jvp(lambda v: nm.exp(v) * v, (z,), (t,))
    same(d, np.exp(z) * (1 + z) * t)
    _, d = nm.jvp(nm.abs, (z,), (t,))
    same(d, (z.conj() * t).real / np.abs(z))


def test_bad_arguments():
    x = nm.ones(2)
    with pytest.raises(ShapeError, match="tangent 0 has shape"):
        nm.jvp(nm.sin, (x,), (nm.ones(3),))
    with pytest.raises(TypeError, match="tuples or lists"):
        nm.jvp(nm.sin, x, x)
    with pytest.raises(TypeError, match="form of the primals"):
        nm.jvp(nm.sin, (x,), (x, x))
    with pytest.raises(DTypeError, match="carries no derivative"):
        nm.jvp(nm.sin, (nm.array([1, 2]),), (nm.ones(2),))
    with pytest.raises(DTypeError, match="complex"):
        nm.jvp(nm.sin, (x,), (x * 1j,))
    with pytest.raises(GradientError, match="sinc has no derivative"):
        nm.jvp(host(np.sinc), (x,), (x,))  # a function of NumPy's without rows
    assert nm.jvp(lambda v: host(np.sinc)(v.detach()) * v, (x,), (x,))[0].shape == (2,)
    assert nm.jvp(lambda v: host(np.argsort)(v) * v, (x,), (x,))[1].tolist() == [0, 1]
    found = []
    nm.jvp(lambda v: found.append(v) or v, (x,), (x,))
    with pytest.raises(TransformError, match="left its jvp"):
        found[0] * 2
    assert modes.state.level == 0


def test_a_tangent_does_not_leave_unseen():
    x = nm.ones(2)
    for leave in (lambda v: v.numpy(), np.asarray, lambda v: nm.array(np.asarray(v) * 2)):
        with pytest.raises(GradientError, match=r"jvp: .* would lose the tangent"):
            nm.jvp(lambda v, leave=leave: nm.array(leave(v)), (x,), (x,))
        _, tangent = nm.jvp(lambda v, leave=leave: leave(v.detach()) + v, (x,), (x,))
        assert tangent.tolist() == [1, 1]
    for change in ("shape", "dtype"):
        with pytest.raises(TransformError, match=f"{change}: the form"):
            nm.jvp(lambda v, change=change: setattr(v, change, getattr(v, change)), (x,), (x,))


def test_jit():
    def f(x):
        y = nm.zeros(3)
        y[:] = nm.sin(x) * x
        y[0] += x[1]
        return (y**2).sum()

    product = nm.jit(lambda x, t: nm.jvp(nm.grad(f), (x,), (t,))[1])
    x, t = nm.array([0.1, 0.2, 0.3]), nm.array([1.0, -1.0, 2.0])
    expected = nm.hvp(f, (x,), (t,))[1]
    for _ in range(3):
        same(product(x, t), expected.numpy())
    assert "1 compiled, 0 eager" in str(nm.explain(product))
    compiled = nm.jit(f)
    same(nm.jvp(compiled, (x,), (t,))[1], nm.jvp(f, (x,), (t,))[1].numpy())


def test_sixteen_threads():
    results = [None] * 16

    def work(i):
        results[i] = [
            nm.jvp(lambda x: nm.jvp(lambda y: y**3, (x,), (1.0,))[1], (float(i),), (1.0,))[1].item()
            for _ in range(30)
        ]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == [[6.0 * i] * 30 for i in range(16)]


def test_an_integer_array_takes_the_value_and_no_tangent():
    def f(x):
        whole = nm.zeros(2, int)
        whole[:] = x * 2
        nm.copyto(whole, x * 3, casting="unsafe")
        return whole * x, x.copy().reshape(2, 1)[0] * 1

    y, dy = nm.jvp(f, (nm.array([1.5, 2.0]),), (nm.array([1.0, 1.0]),))
    assert y[0].tolist() == [6, 12]
    assert dy[0].tolist() == [4, 6]


def test_copies_of_0d_arrays_stay_writable_arrays():
    def f(x):
        total = nm.array(x[0]).copy()  # a 0-d array, no scalar
        x.sum(out=total)
        total[...] = total * 2
        return total

    x = nm.array([1.0, 2.0])
    same(nm.jvp(f, (x,), (x,))[1], 6)
    same(nm.vmap(f)(nm.array([[1.0, 2.0], [3.0, 4.0]])), [6, 14])


def test_results_that_are_no_arrays():
    x = nm.array([1.0, 2.0])
    y, dy = nm.jvp(lambda v: (v, 3, 2.5), (x,), (x,))
    assert [part.item() for part in y[1:]] == [3, 2.5]
    assert [part.item() for part in dy[1:]] == [0, 0]
    with pytest.raises(TransformError, match="must return arrays"):
        nm.jvp(lambda v: (v, "text"), (x,), (x,))
    _, _, aux = nm.jvp(lambda v: (v, ("text", v)), (x,), (x,), has_aux=True)
    assert aux[0] == "text"
    assert aux[1].tolist() == [1, 2]


def test_a_view_by_einsum_is_a_view_inside():
    def f(x):
        y = x * 1.0
        turned = nm.einsum("ij->ji", y)
        turned[0] = 0.0
        return y

    x = nm.ones((2, 3))
    assert nm.jvp(f, (x,), (x,))[1].tolist() == [[0, 1, 1]] * 2
    assert nm.vmap(f)(nm.ones((4, 2, 3))).sum().item() == 16
