"""checkpoint: the same gradients from less memory."""

import tracemalloc
import weakref

import numpy as np
import pytest

import numen as nm
from numen.errors import GradientError, LeafWriteError, ShapeError
from numen.nn.utils import checkpoint_sequential

X = [0.3, -1.2, 2.0]


def x(grad=True):
    return nm.array(X, requires_grad=grad)


def close(a, b, tol=1e-12):
    values = [v.detach() if isinstance(v, nm.Array) else np.asarray(v) for v in (a, b)]
    np.testing.assert_allclose(*map(np.asarray, values), rtol=tol, atol=tol)


def block(v, scale=2.0):
    return nm.exp(nm.sin(v) * scale) + v * v


def test_gradients_of_arguments_and_of_captured_arrays():
    w = nm.array([1.0, 2.0, 3.0], requires_grad=True)

    def f(v):
        return block(v * w) * w

    a = x()
    f(a).sum().backward()
    want = a.grad, w.grad
    for call in (lambda v: nm.checkpoint(f, v), nm.checkpoint(f), nm.remat(f)):
        a, w.grad = x(), None
        out = call(a)
        close(out, f(a), 0)
        out.sum().backward()
        close(a.grad, want[0])
        close(w.grad, want[1])
    # no argument requires a gradient
    w.grad = None
    nm.checkpoint(f, x(False)).sum().backward()
    close(w.grad, want[1])


def test_function_transforms_see_captured_values():
    def loss(call):
        def g(w):
            return call(lambda v: block(v * w), x(False)).sum()

        return g

    def plain(f, v):
        return f(v)

    w = nm.array([1.0, 2.0, 3.0])
    close(nm.grad(loss(nm.checkpoint))(w), nm.grad(loss(plain))(w))
    _, pull = nm.vjp(loss(nm.checkpoint), w)
    close(pull(nm.array(2.0))[0], 2 * nm.grad(loss(plain))(w))
    close(nm.hessian(loss(nm.checkpoint))(w), nm.hessian(loss(plain))(w))
    close(nm.jvp(loss(nm.checkpoint), (w,), (w,)), nm.jvp(loss(plain), (w,), (w,)))


def test_higher_derivatives_and_create_graph():
    def twice(call):
        return nm.grad(lambda v: (nm.grad(lambda u: call(block, u).sum())(v) ** 2).sum())

    want = twice(lambda f, v: f(v))(x(False))
    close(twice(nm.checkpoint)(x(False)), want)
    a = x()
    nm.checkpoint(block, a).sum().backward(create_graph=True)
    first = a.grad
    a.grad = None
    (first * first).sum().backward()
    close(a.grad, want)


def test_nested_checkpoints_and_retain_graph():
    def inner(v):
        return nm.sin(v) * v

    def outer(v):
        return nm.checkpoint(inner, nm.exp(v)) + nm.checkpoint(inner, v)

    a = x()
    out = nm.checkpoint(outer, a).sum()
    out.backward(retain_graph=True)
    out.backward()
    b = x()
    (inner(nm.exp(b)) + inner(b)).sum().backward()
    close(a.grad, 2 * b.grad)
    with pytest.raises(GradientError, match="freed"):
        out.backward()


def test_containers_keywords_and_results_without_gradients():
    def f(pair, scale, *, shift):
        p, q = pair["p"], pair["q"]
        return {"a": p * q * scale + shift, "n": nm.argmax(p), "same": q, "text": "t"}

    a, b = x(), x()
    out = nm.checkpoint(f, {"p": a, "q": b}, 3.0, shift=1)
    assert out["text"] == "t" and out["n"] == 2 and not out["n"].requires_grad
    (out["a"].sum() + (out["same"] * 5).sum()).backward()
    close(a.grad, 3 * np.array(X))
    close(b.grad, 3 * np.array(X) + 5)
    with nm.no_grad():
        assert not nm.checkpoint(block, x()).requires_grad


def test_only_arguments_are_kept():
    def run(call):
        alive = []

        def layer(v):
            for _ in range(5):
                v = nm.sin(v)
                alive.append(weakref.ref(v))
            return v

        a = nm.array(np.linspace(0, 1, 50), requires_grad=True)
        out = a
        for _ in range(4):
            out = call(layer, out)
        return sum(ref() is not None for ref in alive), out

    kept, plain = run(lambda f, v: f(v))
    few, out = run(nm.checkpoint)
    assert kept == 20
    assert few <= 4
    close(out, plain, 0)


def test_memory_falls():
    def layer(v):
        for _ in range(10):
            v = nm.sin(v) * nm.cos(v)
        return v

    def peak(call):
        a = nm.array(np.linspace(0, 1, 4000), requires_grad=True)
        tracemalloc.start()
        try:
            out = a
            for _ in range(8):
                out = call(layer, out)
            held = tracemalloc.get_traced_memory()[0]
            out.sum().backward()
            return held, tracemalloc.get_traced_memory()[1], a.grad
        finally:
            tracemalloc.stop()

    peak(nm.checkpoint)
    held, most, gradient = peak(lambda f, v: f(v))
    less_held, less, same = peak(nm.checkpoint)
    assert less_held < held / 8
    assert less < most / 3
    close(gradient, same, 0)


def test_random_numbers_are_drawn_again_equal():
    def f(v):
        dropped = nm.nn.functional.dropout(v, 0.5)
        noise = nm.random.default_stream.uniform(v.shape, np.float64)
        return dropped * v + noise * v + nm.random.standard_normal(v.shape) * v

    values = np.linspace(1, 2, 64)

    def run(call):
        nm.manual_seed(3)
        nm.random.seed(3)
        a = nm.array(values, requires_grad=True)
        out = call(f, a)
        after = nm.nn.functional.dropout(nm.ones(8), 0.5).tolist()
        out.sum().backward()
        last = nm.nn.functional.dropout(nm.ones(8), 0.5).tolist()
        return out, a.grad, after, last, nm.random.standard_normal()

    want = run(lambda f, v: f(v))
    for got, expected in zip(run(nm.checkpoint), want, strict=True):
        close(got, expected)
    other = run(lambda f, v: nm.checkpoint(f, v, preserve_rng_state=False))
    assert not np.allclose(other[1], want[1])


def test_networks_and_checkpoint_sequential():
    nm.manual_seed(0)
    net = nm.nn.Sequential(
        nm.nn.Linear(4, 8),
        nm.nn.Tanh(),
        nm.nn.Dropout(0.3),
        nm.nn.Linear(8, 8),
        nm.nn.LayerNorm(8),
        nm.nn.ReLU(),
        nm.nn.Linear(8, 1),
    )
    data = nm.array(np.random.default_rng(0).normal(size=(5, 4)), np.float32)

    def gradients(call):
        net.zero_grad()
        nm.manual_seed(1)
        out = call(data)
        (out * out).sum().backward()
        return [out, *[p.grad for p in net.parameters()]]

    want = gradients(net)
    for segments in (1, 2, 3, 7):
        got = gradients(lambda v, n=segments: checkpoint_sequential(net, n, v))
        for a, b in zip(got, want, strict=True):
            close(a, b, 1e-6)
    for a, b in zip(gradients(lambda v: nm.checkpoint(net, v)), want, strict=True):
        close(a, b, 1e-6)
    with pytest.raises(ValueError, match="segments"):
        checkpoint_sequential(net, 8, data)


def test_arguments_that_are_written_raise():
    a = x()
    b = a * 1
    out = nm.checkpoint(block, b)
    b += 1
    with pytest.raises(GradientError, match="in place"):
        out.sum().backward()

    def writes(v):
        v += 1
        return v

    with pytest.raises(LeafWriteError):
        nm.checkpoint(writes, x() * 1)


def test_results_may_be_written():
    a, b = x(), x()
    for call, leaf in ((nm.checkpoint, a), (lambda f, v: f(v), b)):
        out = call(lambda v: nm.sin(v).reshape(3, 1), leaf)
        out *= 3
        out[0] = 0
        out.sum().backward()
    close(a.grad, b.grad)
    same = nm.checkpoint(lambda v: v, a)
    same *= 2
    close(a, X)


def test_a_second_run_that_differs_raises():
    sizes = iter([3, 2])
    out = nm.checkpoint(lambda v: v[: next(sizes)] * 2, x())
    with pytest.raises(ShapeError, match="second run"):
        out.sum().backward()
    weights = iter([nm.ones(3, requires_grad=True), nm.ones(3, requires_grad=True)])
    out = nm.checkpoint(lambda v: v * next(weights), x())
    with pytest.raises(GradientError, match="second run"):
        out.sum().backward()


def test_jit_and_vmap():
    a = x()
    compiled = nm.jit(nm.grad(lambda v: nm.checkpoint(block, v).sum()))
    want = nm.grad(lambda v: block(v).sum())(x(False))
    for _ in range(3):
        close(compiled(x(False)), want)
    inside = nm.jit(lambda v: nm.checkpoint(block, v).sum())
    for _ in range(3):
        a.grad = None
        inside(a).backward()
        close(a.grad, want)
    outside = nm.jit(block)
    for _ in range(3):
        a.grad = None
        nm.checkpoint(outside, a).sum().backward()
        close(a.grad, want)
    one = nm.vmap(nm.grad(lambda v: nm.checkpoint(block, v)))
    close(one(x(False)), want)
    close(nm.grad(lambda v: nm.vmap(nm.checkpoint(block))(v).sum())(x(False)), want)


def test_hooks_run_once():
    seen = []
    a = x()
    w = nm.array([1.0, 2.0, 3.0], requires_grad=True)
    a.register_hook(lambda g: seen.append("a"))
    w.register_hook(lambda g: seen.append("w"))

    def f(v):
        h = nm.sin(v * w)
        if h.requires_grad:
            h.register_hook(lambda g: seen.append("h"))
        return h * 2

    nm.checkpoint(f, a).sum().backward()
    assert sorted(seen) == ["a", "h", "w"]


def test_it_agrees_with_torch():
    torch = pytest.importorskip("torch")
    from torch.utils.checkpoint import checkpoint

    w, a = torch.tensor([1.0, 2.0, 3.0], requires_grad=True), torch.tensor(X, requires_grad=True)
    checkpoint(lambda v: torch.exp(torch.sin(v * w)), a, use_reentrant=False).sum().backward()
    v, b = nm.array([1.0, 2.0, 3.0], requires_grad=True), x()
    nm.checkpoint(lambda u: nm.exp(nm.sin(u * v)), b, use_reentrant=False).sum().backward()
    close(v.grad, w.grad.numpy(), 1e-6)
    close(b.grad, a.grad.numpy(), 1e-6)
