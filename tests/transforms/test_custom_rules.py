"""custom_vjp and custom_jvp: the user's rule is what is used, under every transform."""

import numpy as np
import pytest

import numen as nm
from numen.errors import GradientError, ShapeError, TransformError

X = [0.3, -1.2, 2.0]
Y = [1.5, 0.7, -0.4]


def x():
    return nm.array(X)


def y():
    return nm.array(Y)


def close(a, b, tol=1e-12):
    values = [v.detach() if isinstance(v, nm.Array) else np.asarray(v) for v in (a, b)]
    np.testing.assert_allclose(*map(np.asarray, values), rtol=tol, atol=tol)


def plain(a, b):
    return nm.sin(a) * b, a + b * b


def by_vjp(saved="arguments"):
    """`plain` with its derivative as a custom_vjp that saves different things."""

    @nm.custom_vjp
    def f(a, b):
        return plain(a, b)

    def fwd(a, b):
        out = plain(a, b)
        if saved == "arguments":
            return out, (a, b)
        if saved == "between":
            return out, {"cos": nm.cos(a), "sin": nm.sin(a), "b": 1 * b}
        return out, (a, b, out[0])

    def bwd(saved_things, g):
        if saved == "between":
            cos, sin, b = saved_things["cos"], saved_things["sin"], saved_things["b"]
        elif saved == "arguments":
            a, b = saved_things
            cos, sin = nm.cos(a), nm.sin(a)
        else:
            a, b, first = saved_things
            cos, sin = nm.cos(a), first / b
        return g[0] * cos * b + g[1], g[0] * sin + 2 * b * g[1]

    f.defvjp(fwd, bwd)
    return f


def by_jvp():
    @nm.custom_jvp
    def f(a, b):
        return plain(a, b)

    @f.defjvp
    def rule(primals, tangents):
        a, b = primals
        s, t = tangents
        return f(a, b), (nm.cos(a) * b * s + nm.sin(a) * t, s + 2 * b * t)

    return f


def by_jvps():
    @nm.custom_jvp
    def f(a, b):
        return plain(a, b)

    f.defjvps(
        lambda t, out, a, b: (t * nm.cos(a) * b, t),
        lambda t, out, a, b: (t * nm.sin(a), 2 * t * b),
    )
    return f


MAKERS = {
    "vjp of arguments": by_vjp,
    "vjp of values between": lambda: by_vjp("between"),
    "vjp of results": lambda: by_vjp("results"),
    "jvp": by_jvp,
    "jvps": by_jvps,
}
every_rule = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())


def loss_of(f):
    def loss(a, b):
        p, q = f(a, b)
        return (p * p * q).sum() + p.sum()

    return loss


@every_rule
def test_first_and_second_derivatives_are_those_of_the_plain_function(make):
    f = make()

    def second(f):
        def norm(a, b):
            g, h = nm.grad(loss_of(f), (0, 1))(a, b)
            return (g * g).sum() + (h**3).sum()

        return nm.grad(norm, (0, 1))

    def third(f):
        return nm.grad(lambda a, b: (second(f)(a, b)[0] ** 2).sum())

    close(f(x(), y()), plain(x(), y()), 0)
    close(nm.grad(loss_of(f), (0, 1))(x(), y()), nm.grad(loss_of(plain), (0, 1))(x(), y()))
    close(second(f)(x(), y()), second(plain)(x(), y()))
    close(third(f)(x(), y()), third(plain)(x(), y()))


@every_rule
def test_leaves_get_gradients_and_the_graph_is_freed(make):
    f = make()
    a = nm.array(X, requires_grad=True)
    out = loss_of(f)(a, y())
    out.backward(retain_graph=True)
    first = a.grad.copy()
    close(first, nm.grad(loss_of(plain))(x(), y()))
    out.backward()
    close(a.grad, 2 * first)
    with pytest.raises(GradientError, match="freed"):
        out.backward()


@every_rule
def test_vmap_inside_and_outside_of_grad(make):
    f = make()

    def one(f):
        def g(a, b):
            p, q = f(a, b)
            return p * p * q

        return g

    close(nm.vmap(one(f))(x(), y()), one(plain)(x(), y()))
    close(
        nm.vmap(nm.grad(one(f), (0, 1)))(x(), y()), nm.vmap(nm.grad(one(plain), (0, 1)))(x(), y())
    )

    def over(f, axes):
        return lambda a, b: (nm.vmap(one(f), axes)(a, b) ** 2).sum()

    for axes in ((0, 0), (0, None), (None, 0)):
        a, b = (x() if t == 0 else nm.array(0.4) for t in axes)
        got = nm.grad(over(f, axes), (0, 1))(a, b)
        want = nm.grad(over(plain, axes), (0, 1))(a, b)
        for p, q in zip(got, want, strict=True):
            assert p.shape == q.shape
            close(p, q)
    # the rule on vectors: one argument shared by all examples
    rows = nm.array([X, Y])
    got = nm.grad(lambda r, b: (nm.vmap(loss_of(f), (0, None))(r, b) ** 2).sum(), (0, 1))(rows, y())
    want = nm.grad(lambda r, b: (nm.vmap(loss_of(plain), (0, None))(r, b) ** 2).sum(), (0, 1))(
        rows, y()
    )
    for p, q in zip(got, want, strict=True):
        close(p, q)


@every_rule
def test_nested_vmaps(make):
    f = make()
    table = nm.array([X, Y])

    def nested(f):
        inner = nm.vmap(lambda a, b: f(a, b)[0] * 2, (0, None))
        return lambda t, b: (nm.vmap(inner, (0, 0))(t, b) ** 3).sum()

    b = nm.array([0.5, 2.0])
    got = nm.grad(nested(f), (0, 1))(table, b)
    want = nm.grad(nested(plain), (0, 1))(table, b)
    for p, q in zip(got, want, strict=True):
        close(p, q)


@pytest.mark.parametrize("make", [by_jvp, by_jvps])
def test_forward_mode_uses_the_rule(make):
    f = make()
    loss, reference = loss_of(f), loss_of(plain)
    close(nm.jvp(loss, (x(), y()), (y(), x())), nm.jvp(reference, (x(), y()), (y(), x())))
    close(nm.jacfwd(loss)(x(), y()), nm.jacfwd(reference)(x(), y()))
    close(nm.hessian(loss)(x(), y()), nm.hessian(reference)(x(), y()))
    forward_reverse = nm.grad(lambda a: nm.jvp(loss, (a, y()), (y(), x()))[1])(x())
    close(forward_reverse, nm.grad(lambda a: nm.jvp(reference, (a, y()), (y(), x()))[1])(x()))
    mapped = nm.jvp(nm.vmap(lambda a, b: f(a, b)[0]), (x(), y()), (y(), x()))
    close(mapped, nm.jvp(nm.vmap(lambda a, b: plain(a, b)[0]), (x(), y()), (y(), x())))


def test_forward_mode_of_custom_vjp_says_that_it_has_no_rule():
    with pytest.raises(GradientError, match="forward mode"):
        nm.jvp(by_vjp(), (x(), y()), (y(), x()))
    # without a tangent there is nothing to ask for
    _, tangent = nm.jvp(lambda a: by_vjp()(y(), y())[0] * a, (x(),), (x(),))
    close(tangent, plain(y(), y())[0] * x())


def test_the_rule_is_used_rather_than_the_derivative():
    @nm.custom_vjp
    def reversed_gradient(v):
        return v

    reversed_gradient.defvjp(lambda v: (v, None), lambda _, g: (-g,))

    @nm.custom_jvp
    def straight_through(v):
        return nm.round(v)

    straight_through.defjvp(lambda p, t: (straight_through(*p), t[0]))
    close(nm.grad(lambda v: (reversed_gradient(v) * v).sum())(x()), np.zeros(3))
    close(nm.grad(lambda v: (straight_through(v) ** 2).sum())(x()), 2 * np.round(X))
    close(nm.vmap(nm.grad(straight_through))(x()), np.ones(3))
    close(nm.grad(lambda v: nm.vmap(straight_through)(v).sum())(x()), np.ones(3))
    close(nm.jit(nm.grad(lambda v: (straight_through(v) ** 2).sum()))(x()), 2 * np.round(X))


@every_rule
def test_jit_inlines_what_the_rule_does(make):
    loss = loss_of(make())
    both = nm.jit(nm.value_and_grad(loss))
    want = nm.value_and_grad(loss_of(plain))(x(), y())
    for _ in range(3):
        value, gradient = both(x(), y())
        close(value, want[0])
        close(gradient, want[1])
    text = str(nm.explain(both, stages=True))
    assert "sin" in text and "custom" not in text
    w = nm.array(X, requires_grad=True)
    compiled = nm.jit(loss)
    for _ in range(3):
        w.grad = None
        compiled(w, y()).backward()
        close(w.grad, want[1])


def test_containers_of_arrays_go_in_and_out():
    @nm.custom_vjp
    def layer(params, v):
        return {"out": params["w"] * v + params["b"], "none": None, "list": [v]}

    def fwd(params, v):
        return layer(params, v), (params, v)

    def bwd(saved, g):
        params, v = saved
        assert set(g) == {"out", "none", "list"}
        out = g["out"]
        return {"b": out, "w": out * v}, out * params["w"] + g["list"][0]

    layer.defvjp(fwd, bwd)
    params = {"w": x(), "b": y()}
    grads = nm.grad(lambda p: (layer(p, y())["out"] ** 2).sum())(params)
    want = 2 * (x() * y() + y())
    close(grads["w"], want * y())
    close(grads["b"], want)
    by_input = nm.grad(lambda v: layer(params, v)["list"][0].sum())(y())
    close(by_input, np.ones(3))  # the other result's cotangent is zeros


def test_none_stands_for_zeros():
    @nm.custom_vjp
    def f(pair, v):
        return pair[0] * pair[1] * v

    f.defvjp(lambda pair, v: (f(pair, v), (pair, v)), lambda s, g: ((g * 5, None), None))
    a, b, c = (nm.array(X, requires_grad=True) for _ in range(3))
    f((a, b), c).sum().backward()
    close(a.grad, np.full(3, 5.0))
    assert b.grad is None and c.grad is None


def test_arguments_that_are_not_differentiated_come_first():
    calls = []

    @nm.custom_vjp
    def wrong():
        return None

    def apply(f, v, power):
        return f(v) ** power

    op = nm.custom_vjp(apply, nondiff_argnums=(0, 2))

    def fwd(f, v, power):
        return op(f, v, power), v

    def bwd(f, power, v, g):
        calls.append((f, power))
        return (g * power * v,)

    op.defvjp(fwd, bwd)
    close(nm.grad(lambda v: op(nm.sin, v, 3).sum())(x()), 3 * np.array(X))
    close(nm.grad(lambda v: op(nm.sin, power=2, v=v).sum())(x()), 2 * np.array(X))
    assert calls == [(nm.sin, 3), (nm.sin, 2)]

    scaled = nm.custom_jvp(lambda f, v: f(v), nondiff_argnums=(0,))
    scaled.defjvp(lambda f, p, t: (f(p[0]), 7 * t[0]))
    close(nm.grad(lambda v: scaled(nm.cos, v).sum())(x()), np.full(3, 7.0))
    with pytest.raises(AttributeError, match="defvjp"):
        wrong()


def test_python_numbers_and_integer_arrays_have_no_gradient():
    @nm.custom_jvp
    def f(v, k, factor):
        return v[k] * factor, k + 1

    @f.defjvp
    def rule(primals, tangents):
        v, k, factor = primals
        tv, tk, tf = tangents
        assert tk.dtype == bool and not tk.any() and tf == 0.0
        return f(v, k, factor), (tv[k] * factor + tf, tk)

    k = nm.array([2, 0])
    got = nm.grad(lambda v: f(v, k, 2.0)[0].sum())(x())
    close(got, [2, 0, 2])

    @nm.custom_vjp
    def h(v, k):
        return v[k], k

    h.defvjp(
        lambda v, k: (h(v, k), (v, k)), lambda s, g: (nm.zeros(3) + g[0].sum() + g[1].sum(), None)
    )
    close(nm.grad(lambda v: h(v, k)[0].sum())(x()), [2, 2, 2])


def test_a_saved_array_that_is_written_afterwards_raises():
    f = by_vjp()
    a = nm.array(X, requires_grad=True)
    for changed in ("argument", "result"):
        b = a * 1
        f = by_vjp("arguments" if changed == "argument" else "results")
        p, q = f(b, y())
        if changed == "argument":
            b += 1
        else:
            p *= 2
        with pytest.raises(GradientError, match="in place"):
            (p + q).sum().backward()


def test_results_may_be_written_and_their_gradient_goes_on():
    f = by_vjp()
    a = nm.array(X, requires_grad=True)
    p, q = f(a, y())
    p *= 3
    p[0] = 0
    (p + q).sum().backward()
    close(a.grad, np.cos(X) * np.array(Y) * [0, 3, 3] + 1)


def test_a_result_that_is_an_argument_has_memory_of_its_own():
    same = nm.custom_vjp(lambda v: v)
    same.defvjp(lambda v: (v, None), lambda _, g: (2 * g,))
    a = nm.array(X, requires_grad=True)
    out = same(a)
    out *= 3
    out.sum().backward()
    close(a, X)
    close(a.grad, np.full(3, 6.0))


def test_a_captured_array_with_a_gradient_is_refused():
    w = nm.array(Y, requires_grad=True)
    f = nm.custom_vjp(lambda v: v * w)
    f.defvjp(lambda v: (v * w, v), lambda v, g: (g,))
    a = nm.array(X, requires_grad=True)
    with pytest.raises(GradientError, match="captured"):
        f(a)
    out = f(x())  # the value is right; the gradient is not to be had
    close(out, np.array(X) * Y)
    with pytest.raises(GradientError, match="captured"):
        out.sum().backward()
    with nm.no_grad():
        close(f(a), np.array(X) * Y)
    held = []

    def leak(v):
        held.append(v)
        return f_of_leaked(v)

    f_of_leaked = nm.custom_vjp(lambda v: v * held[0])
    f_of_leaked.defvjp(lambda v: (v * held[0], v), lambda v, g: (g,))
    with pytest.raises(TransformError):
        nm.vmap(leak)(x())


def test_writing_into_an_argument_is_refused():
    def f(v):
        v += 1
        return v * 2

    op = nm.custom_vjp(f)
    op.defvjp(lambda v: (f(v), None), lambda _, g: (g,))
    a = nm.array(X, requires_grad=True)
    with pytest.raises(GradientError, match=r"argument 0.*in place"):
        op(a * 1)


@pytest.mark.parametrize(
    ("answer", "error", "text"),
    [
        (lambda g: g, GradientError, "tuple"),
        (lambda g: (g, g), GradientError, "tuple of 2"),
        (lambda g: (g[:1],), ShapeError, r"shape \(1,\).*shape \(3,\)"),
        (lambda g: ((g,),), GradientError, "for an array"),
        (lambda g: ("text",), GradientError, "as a gradient"),
    ],
)
def test_what_bwd_returns_is_checked(answer, error, text):
    f = nm.custom_vjp(lambda v: v * 2)
    f.defvjp(lambda v: (v * 2, None), lambda _, g: answer(g))
    with pytest.raises(error, match=text):
        nm.grad(lambda v: f(v).sum())(x())


@pytest.mark.parametrize(
    ("answer", "error", "text"),
    [
        (lambda p, t: t, GradientError, "must return"),
        (lambda p, t: (p * 2, t[:1]), ShapeError, "tangent of shape"),
        (lambda p, t: (p * 2, (t, t)), GradientError, "for an array"),
        (lambda p, t: ((p, p), t), GradientError, "gave"),
    ],
)
def test_what_a_jvp_rule_returns_is_checked(answer, error, text):
    f = nm.custom_jvp(lambda v: v * 2)
    f.defjvp(lambda p, t: answer(p[0], t[0]))
    with pytest.raises(error, match=text):
        nm.grad(lambda v: f(v).sum())(x())


def test_fwd_must_return_a_pair():
    f = nm.custom_vjp(lambda v: v * 2)
    f.defvjp(lambda v: v * 2, lambda _, g: (g,))
    with pytest.raises(GradientError, match="residuals"):
        nm.grad(lambda v: f(v).sum())(x())


def test_complex_arguments():
    @nm.custom_vjp
    def square(z):
        return z * z

    square.defvjp(lambda z: (square(z), z), lambda z, g: (g * nm.conj(2 * z),))

    @nm.custom_jvp
    def square2(z):
        return z * z

    square2.defjvp(lambda p, t: (square2(*p), 2 * p[0] * t[0]))
    z = nm.array([1 + 2j, -0.5j])

    def loss(f):
        return lambda z: nm.abs(f(z)).sum() + nm.real(f(z)[0])

    want = nm.grad(loss(lambda z: z * z))(z)
    close(nm.grad(loss(square))(z), want)
    close(nm.grad(loss(square2))(z), want)


def test_methods_and_names():
    class Model:
        def __init__(self, factor):
            self.factor = factor

        @nm.custom_jvp
        def forward(self, v):
            """Scale."""
            return v * self.factor

    Model.forward.defjvp(lambda p, t: (p[0].forward(p[1]), t[1] * 10))
    model = Model(2.0)
    close(model.forward(x()), 2 * np.array(X))
    close(nm.grad(lambda v: model.forward(v).sum())(x()), np.full(3, 10.0))
    assert Model.forward.__doc__ == "Scale." and Model.forward.__name__ == "forward"


def test_large_arrays_take_kernels():
    f = by_vjp("between")
    rng = np.random.default_rng(0)
    a, b = (nm.array(rng.normal(size=30_000)) for _ in range(2))
    leaf = nm.array(np.asarray(a), requires_grad=True)
    loss_of(f)(leaf, b).backward()
    close(leaf.grad, nm.grad(loss_of(plain))(a, b), 1e-10)
    with nm.config(engine="kernels"):
        close(nm.grad(loss_of(f))(x(), y()), nm.grad(loss_of(plain))(x(), y()))


def test_the_rules_agree_with_jax():
    jax = pytest.importorskip("jax")
    jnp = pytest.importorskip("jax.numpy")
    with jax.enable_x64() if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():

        def make(np_, custom):
            f = custom(lambda v: np_.sin(v) * 2)
            # wrong on purpose: what counts is which rule is used at which order
            f.defvjp(lambda v: (f(v), (v, np_.exp(v))), lambda s, g: (g * s[0] * s[1],))
            return f

        ours, theirs = make(nm, nm.custom_vjp), make(jnp, jax.custom_vjp)
        for order in range(1, 4):
            g, h = ours, theirs
            for _ in range(order):
                g, h = nm.grad(g), jax.grad(h)
            close(g(nm.array(0.7)), h(0.7), 1e-10)
            close(nm.vmap(g)(x()), jax.vmap(h)(jnp.array(X)), 1e-10)
