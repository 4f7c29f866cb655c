"""Implicit differentiation: solutions against closed forms and finite differences."""

import numpy as np
import pytest

import numen as nm
from numen.errors import DTypeError, GradientError, ShapeError, TransformError
from numen.implicit import ConvergenceError, fixed_point, linear_solve, root
from numen.testing import check_grads

RNG = np.random.default_rng(0)


def close(a, b, tol=1e-9):
    values = [v.detach() if isinstance(v, nm.Array) else np.asarray(v) for v in (a, b)]
    np.testing.assert_allclose(*map(np.asarray, values), rtol=tol, atol=tol)


def square_root(a):
    return root(lambda x, a: x * x - a, nm.array(1.0), a)


def kepler(m, e):
    """The eccentric anomaly E with E - e sin E = m."""
    return root(lambda x, m, e: x - e * nm.sin(x) - m, m, m, e)


def test_square_root_in_every_mode_and_order():
    a = nm.array(4.0)
    close(square_root(a), 2)
    close(nm.grad(square_root)(a), 1 / 4)
    close(nm.grad(nm.grad(square_root))(a), -1 / 32)
    close(nm.grad(nm.grad(nm.grad(square_root)))(a), 3 / 256)
    value, tangent = nm.jvp(square_root, (a,), (nm.array(3.0),))
    close([value, tangent], [2, 0.75])
    for twice in (
        nm.jacfwd(nm.jacrev(square_root)),
        nm.jacrev(nm.jacfwd(square_root)),
        nm.jacrev(nm.jacrev(square_root)),
        nm.jacfwd(nm.jacfwd(square_root)),
        nm.hessian(square_root),
    ):
        close(twice(a), -1 / 32)
    many = nm.array([1.0, 4.0, 9.0])
    close(nm.vmap(square_root)(many), [1, 2, 3])
    close(nm.vmap(nm.grad(square_root))(many), [1 / 2, 1 / 4, 1 / 6])
    close(nm.grad(lambda v: nm.vmap(square_root)(v).sum())(many), [1 / 2, 1 / 4, 1 / 6])
    second = nm.grad(lambda v: nm.vmap(nm.grad(square_root))(v).sum())(many)
    close(second, -0.25 * np.array([1, 4, 9]) ** -1.5)
    leaf = nm.array(4.0, requires_grad=True)
    square_root(leaf).backward()
    close(leaf.grad, 1 / 4)


def test_keplers_equation():
    m, e = nm.array(1.3), nm.array(0.6)
    anomaly = kepler(m, e)
    close(anomaly - e * nm.sin(anomaly), m, 1e-14)
    slope = 1 / (1 - 0.6 * np.cos(anomaly.item()))
    close(nm.grad(kepler, (0, 1))(m, e), [slope, np.sin(anomaly.item()) * slope])
    check_grads(kepler, (m, e), order=2)
    ms = nm.array(np.linspace(0.1, 3.0, 7))
    both = nm.vmap(nm.value_and_grad(kepler), (0, None))(ms, e)
    for i in range(7):
        close([part[i] for part in both], nm.value_and_grad(kepler)(ms[i], e))


def test_systems_with_containers():
    def f(x, a):
        return {"u": x["u"] ** 3 + x["v"].sum() - a["p"], "v": x["v"] * x["u"] - a["q"]}

    def solution(a):
        x = root(f, {"u": nm.array(1.0), "v": nm.ones(2)}, a)
        return nm.concatenate([x["u"].reshape(1), x["v"]])

    a = {"p": nm.array(6.0), "q": nm.array([1.0, 2.0])}
    x = solution(a)
    close(x[0] ** 3 + x[1:].sum(), 6)
    close(x[1:] * x[0], [1, 2])
    check_grads(solution, (a,), order=2)


def test_ridge_regression_against_its_closed_form():
    data, y = nm.array(RNG.normal(size=(9, 4))), nm.array(RNG.normal(size=9))

    def closed(alpha, data, y):
        return nm.linalg.solve(data.T @ data + alpha * nm.eye(4), data.T @ y)

    def by_optimality(alpha, data, y):
        def gradient(w, alpha, data, y):
            return nm.grad(lambda w: ((data @ w - y) ** 2).sum() / 2 + alpha * (w @ w) / 2)(w)

        return root(gradient, nm.zeros(4), alpha, data, y)

    def by_products(alpha, data, y):
        return linear_solve(
            lambda w, alpha, data: data.T @ (data @ w) + alpha * w,
            data.T @ y,
            alpha,
            data,
            symmetric=True,
        )

    args = (nm.array(0.7), data, y)
    for solution in (by_optimality, by_products):
        close(solution(*args), closed(*args))

        def loss(*args, solution=solution):
            return (solution(*args) ** 3).sum()

        def reference(*args):
            return (closed(*args) ** 3).sum()

        for got, want in zip(
            nm.grad(loss, (0, 1, 2))(*args), nm.grad(reference, (0, 1, 2))(*args), strict=True
        ):
            close(got, want)
        close(nm.hessian(loss)(*args), nm.hessian(reference)(*args))
        close(nm.jacfwd(loss)(*args), nm.jacfwd(reference)(*args))
        mixed = nm.grad(lambda d, f=loss: nm.grad(f)(args[0], d, y) ** 2)(data)
        close(mixed, nm.grad(lambda d: nm.grad(reference)(args[0], d, y) ** 2)(data))


def test_a_deep_equilibrium_layer():
    weight = nm.array(0.3 * RNG.normal(size=(5, 5)))
    bias, x = nm.array(RNG.normal(size=5)), nm.array(RNG.normal(size=5))

    def layer(z, weight, bias, x):
        return nm.tanh(weight @ z + bias + x)

    def solution(weight, bias, x):
        return fixed_point(layer, nm.zeros(5), weight, bias, x)

    def unrolled(weight, bias, x):
        z = nm.zeros(5)
        for _ in range(150):
            z = layer(z, weight, bias, x)
        return z

    args = (weight, bias, x)
    close(solution(*args), unrolled(*args))

    def total(f):
        return lambda *args: (f(*args) ** 2).sum()

    got = nm.grad(total(solution), (0, 1, 2))(*args)
    for a, b in zip(got, nm.grad(total(unrolled), (0, 1, 2))(*args), strict=True):
        close(a, b)
    check_grads(solution, args, order=2)
    batch = nm.array(RNG.normal(size=(3, 5)))
    each = nm.vmap(solution, (None, None, 0))(weight, bias, batch)
    for i in range(3):
        close(each[i], solution(weight, bias, batch[i]))
    of_weight = nm.grad(lambda w: (nm.vmap(solution, (None, None, 0))(w, bias, batch) ** 2).sum())
    want = sum(np.asarray(nm.grad(total(solution))(weight, bias, batch[i])) for i in range(3))
    close(of_weight(weight), want)


def test_captured_parameters_get_gradients():
    nm.manual_seed(0)
    cell = nm.nn.Linear(4, 4).double()
    with nm.no_grad():
        cell.weight *= 0.4
    x = nm.array(RNG.normal(size=4))

    def run(z):
        return nm.tanh(cell(z) + x)

    (fixed_point(run, nm.zeros(4)) ** 2).sum().backward()
    got = cell.weight.grad, cell.bias.grad
    cell.zero_grad()
    z = nm.zeros(4)
    for _ in range(100):
        z = run(z)
    (z**2).sum().backward()
    close(got[0], cell.weight.grad)
    close(got[1], cell.bias.grad)
    # a value of an outer transform that is captured: reverse mode follows it, forward can't
    a = nm.array(4.0)

    def captured(a):
        return root(lambda x: x * x - a, nm.array(1.0))

    close(nm.grad(captured)(a), 0.25)
    close(nm.grad(nm.grad(captured))(a), -1 / 32)
    with pytest.raises(TransformError):
        nm.jvp(captured, (a,), (a,))
    with pytest.raises(TransformError):
        nm.vmap(captured)(nm.array([1.0, 4.0]))


def test_linear_solve_and_its_solvers():
    a, b = nm.array(RNG.normal(size=(6, 6)) + 4 * np.eye(6)), nm.array(RNG.normal(size=6))

    def plain(a, b):
        return nm.linalg.solve(a, b)

    def product(v, a):
        return a @ v

    from numen.implicit.systems import conjugate_gradients, gmres

    for solve in (None, gmres, lambda mv, b: nm.array(np.asarray(plain(a, b.detach())))):
        if solve is gmres:

            def solver(matvec, b):
                return gmres(lambda v: [matvec(v[0])], [b])[0]
        else:
            solver = None if solve is None else lambda matvec, b, s=solve: s(matvec, b)

        def solution(a, b, solver=solver):
            transposed = None
            if solver is not None and solver.__name__ == "<lambda>":
                transposed = lambda mv, b: nm.linalg.solve(a.detach().T, b)  # noqa: E731
            return linear_solve(product, b, a, solve=solver, transpose_solve=transposed)

        close(solution(a, b), plain(a, b))
        got = nm.grad(lambda a, b, f=solution: (f(a, b) ** 2).sum(), (0, 1))(a, b)
        want = nm.grad(lambda a, b: (plain(a, b) ** 2).sum(), (0, 1))(a, b)
        close(got[0], want[0])
        close(got[1], want[1])
    check_grads(lambda a, b: linear_solve(product, b, a), (a, b), order=2)
    spd = a @ a.T
    x = conjugate_gradients(lambda v: [spd @ v[0]], [b])[0]
    close(spd @ x, b)
    many = nm.array(RNG.normal(size=(3, 6)))
    close(nm.vmap(lambda b: linear_solve(product, b, a))(many), plain(a, many.T).T)
    for solver in (conjugate_gradients, gmres):

        def batched(b, solver=solver):
            return linear_solve(
                lambda v: spd @ v, b, solve=lambda mv, r: solver(lambda v: [mv(v[0])], [r])[0]
            )

        close(nm.vmap(batched)(many), plain(spd, many.T).T)


def test_large_systems_are_not_made_dense():
    n = 900
    diagonal = nm.array(np.linspace(1, 3, n))
    b = nm.array(RNG.normal(size=n))
    shift = nm.array(np.eye(n, k=1)[0] * 0)

    def product(v, d):
        return d * v + 0.3 * nm.roll(v, 1) + shift * 0

    def symmetric(v, d):
        return d * v + 0.2 * (nm.roll(v, 1) + nm.roll(v, -1))

    for matvec, sym in ((product, False), (symmetric, True)):

        def solution(d, b, matvec=matvec, sym=sym):
            return linear_solve(matvec, b, d, symmetric=sym)

        x = solution(diagonal, b)
        close(matvec(x, diagonal), b)
        gradient = nm.grad(lambda d, f=solution: (f(d, b) ** 2).sum())(diagonal)
        step, direction = 1e-6, RNG.normal(size=n)
        above, below = (
            float((solution(diagonal + s * step * direction, b) ** 2).sum()) for s in (1, -1)
        )
        close((np.asarray(gradient) * direction).sum(), (above - below) / (2 * step), 1e-5)


def test_solvers_of_the_user():
    def bisection(g, init):
        low, high = 0.0, 10.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if float(g(nm.array(middle))) < 0 else (low, middle)
        return nm.array(low)

    calls = []

    def tangent(matvec, b):
        calls.append(1)
        return b / matvec(nm.array(1.0))

    def f(a):
        return root(
            lambda x, a: x * x - a, nm.array(1.0), a, solve=bisection, tangent_solve=tangent
        )

    close(f(nm.array(4.0)), 2, 1e-12)
    close(nm.grad(f)(nm.array(4.0)), 0.25)
    close(nm.jvp(f, (nm.array(4.0),), (nm.array(1.0),))[1], 0.25)
    assert len(calls) == 2
    with pytest.raises(TransformError):
        nm.vmap(f)(nm.array([4.0, 9.0]))

    def picard(g, init):
        x = init
        for _ in range(100):
            x = g(x)
        return x

    def cosine(a):
        return fixed_point(lambda x, a: nm.cos(a * x), nm.array(0.5), a, solve=picard)

    a = nm.array(0.9)
    close(cosine(a), fixed_point(lambda x, a: nm.cos(a * x), nm.array(0.5), a))
    check_grads(cosine, (a,), order=2)
    close(nm.vmap(cosine)(nm.array([0.5, 0.9]))[1], cosine(a))


def test_failures_say_what_is_left():
    with pytest.raises(ConvergenceError, match=r"root: .* residual is") as caught:
        root(lambda x: x * x + 1, nm.array(3.0))
    assert caught.value.residual >= 1 and caught.value.iterations >= 1
    with pytest.raises(ConvergenceError, match="after 2 iterations"):
        root(lambda x: nm.exp(x) - 2, nm.array(30.0), maxiter=2)
    with pytest.raises(ConvergenceError, match="singular"):
        root(lambda x: 0 * x + 1, nm.array(1.0))
    with pytest.raises(ConvergenceError, match="fixed_point"):
        fixed_point(lambda x: x + 1, nm.array(1.0), maxiter=20)
    with pytest.raises(ConvergenceError, match="linear_solve"):
        linear_solve(lambda v: v * nm.array([1.0, 0.0]), nm.ones(2))
    with pytest.raises(ConvergenceError, match="linear_solve"):
        linear_solve(lambda v: nm.roll(v, 1) - nm.roll(v, -1), nm.ones(700), symmetric=True)
    with pytest.raises(ShapeError, match="shapes"):
        root(lambda x: x[:1], nm.ones(2))
    with pytest.raises(ShapeError, match="returned"):
        root(lambda x: (x, x), nm.ones(2))
    with pytest.raises(ShapeError):
        linear_solve(lambda v: v[:1], nm.ones(2))
    with pytest.raises(DTypeError, match="unknowns"):
        root(lambda x: x, nm.array([1]))


def test_written_arguments_and_freed_graphs_raise():
    a = nm.array(4.0, requires_grad=True)
    b = a * nm.ones(1)
    out = root(lambda x, b: x * x - b, nm.ones(1), b)
    b += 1
    with pytest.raises(GradientError, match="in place"):
        out.sum().backward()
    out = square_root(a)
    out.backward()
    with pytest.raises(GradientError, match="freed"):
        out.backward()


def test_dtypes_and_complex_numbers():
    a = nm.array(4.0, np.float32)
    assert square_root(a).dtype == np.float64  # the start's
    single = root(lambda x, a: x * x - a, nm.array(1.0, np.float32), a)
    assert single.dtype == np.float32
    close(single, 2, 1e-6)
    gradient = nm.grad(lambda a: root(lambda x, a: x * x - a, nm.array(1.0, np.float32), a))(a)
    assert gradient.dtype == np.float32
    close(gradient, 0.25, 1e-6)

    def complex_root(z):
        return root(lambda x, z: x * x - z, nm.array(1 + 1j), z)

    z = nm.array(-3 + 4j)
    close(complex_root(z), 1 + 2j)
    check_grads(complex_root, (z,), order=2)


def test_jit_and_checkpoint():
    a = nm.array(4.0)
    step = nm.jit(nm.value_and_grad(square_root))
    for value in (4.0, 9.0, 4.0):
        close(step(nm.array(value)), [value**0.5, 0.5 * value**-0.5])
    close(nm.grad(lambda a: nm.checkpoint(square_root, a))(a), 0.25)


def test_it_agrees_with_jax():
    jax = pytest.importorskip("jax")
    jnp = pytest.importorskip("jax.numpy")
    x64 = jax.enable_x64 if hasattr(jax, "enable_x64") else jax.experimental.enable_x64
    with x64():

        def theirs(a):
            def newton(g, x):
                for _ in range(12):
                    x = x - g(x) / jax.grad(g)(x)
                return x

            return jax.lax.custom_root(
                lambda x: x**3 + a * x - 2, jnp.array(1.0), newton, lambda g, y: y / g(1.0)
            )

        def ours(a):
            return root(lambda x, a: x**3 + a * x - 2, nm.array(1.0), a)

        close(ours(nm.array(0.7)), theirs(0.7))
        close(nm.grad(ours)(nm.array(0.7)), jax.grad(theirs)(0.7))
        close(nm.grad(nm.grad(ours))(nm.array(0.7)), jax.grad(jax.grad(theirs))(0.7))
