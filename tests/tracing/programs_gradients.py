"""Programs with gradients: accumulation, several backward passes, leaves as arguments, views,
no_grad.
"""

from __future__ import annotations

import numpy as np
from tests.tracing.programs import Box, array, call, program

import numen as nm


@program(compiled=True)
def gradients_accumulate_over_calls(jit):
    w = array(1.0, 2.0, requires_grad=True)

    def f(x):
        loss = (w * x).sum()
        loss.backward()
        return loss.detach(), w.grad

    g = jit(f)
    for i in range(9):
        if i == 5:
            w.grad = None
        if i == 7:
            w.grad = array(5.0, 5.0)
        yield call(g, array(1.0, 3.0)), w.grad


@program()
def backward_twice(jit):
    w = array(1.0, 2.0, requires_grad=True)

    def f(x):
        loss = (w * w * x).sum()
        loss.backward(retain_graph=True)
        first = w.grad.copy()
        loss.backward()
        return first, w.grad

    def h(x):
        loss = (w * x).sum()
        loss.backward()
        loss.backward()

    g, k = jit(f), jit(h)
    for _ in range(5):
        w.grad = None
        yield call(g, array(1.0, 3.0)), w.grad, call(k, array(1.0, 3.0)), w.grad


@program()
def create_graph(jit):
    w = array(1.0, 2.0, requires_grad=True)

    def f(x):
        w.grad = None
        loss = (w * w * w * x).sum()
        loss.backward(create_graph=True)
        g = w.grad
        penalty = (g * g).sum()
        w.grad = None
        penalty.backward()
        return w.grad

    g = jit(f)
    for _ in range(5):
        yield call(g, array(1.0, 3.0)), w.grad


@program()
def create_graph_is_kept(jit):
    w = array(1.0, 2.0, requires_grad=True)

    def f(x):
        w.grad = None
        (w * w * x).sum().backward(create_graph=True)
        return x

    g = jit(f)
    for _ in range(5):
        yield call(g, array(1.0, 3.0)), w.grad, w.grad.requires_grad


@program(compiled=True)
def leaves_as_arguments(jit):
    def f(w, x):
        loss = (nm.tanh(w) * x).sum()
        loss.backward()
        return w.grad

    g = jit(f)
    kept = array(0.5, 1.0, requires_grad=True)
    for i in range(8):
        w = kept if i % 2 else array(1.0, 2.0, requires_grad=True)
        yield call(g, w, array(1.0, 3.0)), w, w.grad


@program()
def parameters_as_arguments(jit):
    def f(w, x):
        return (w * x).detach(), type(w).__name__, w

    g = jit(f)
    for w in (
        nm.nn.Parameter(np.ones(2)),
        array(1.0, 2.0),
        array(1.0, 2.0, requires_grad=True),
    ) * 3:
        yield call(g, w, array(1.0, 3.0)), w


@program()
def leaf_twice_and_detached(jit):
    def f(a, b):
        ((a * b).sum() + (b.detach() * a).sum()).backward()
        return a.grad

    g = jit(f)
    for i in range(8):
        a = array(1.0, 2.0, requires_grad=True)
        b = a if i % 2 else array(3.0, 4.0, requires_grad=True)
        yield call(g, a, b), a.grad, b.grad


@program()
def results_that_carry_a_graph(jit):
    w = array(1.0, 2.0, requires_grad=True)
    f = jit(lambda x: (w * x).sum())
    for _ in range(5):
        y = call(f, array(1.0, 3.0))
        y.backward()
        yield y, w.grad


@program()
def arguments_that_carry_a_graph(jit):
    w = array(1.0, 2.0, requires_grad=True)

    def f(x):
        loss = (x * x).sum()
        loss.backward()
        return loss.detach()

    g = jit(f)
    for i in range(6):
        w.grad = None
        x = w * 2 if i % 2 else array(1.0, 2.0, requires_grad=True)
        yield call(g, x), w.grad


@program(compiled=True)
def no_grad_blocks(jit):
    w = array(1.0, 2.0, requires_grad=True)

    def f(x):
        w.grad = None
        with nm.no_grad():
            y = w * x
        z = (w * y).sum()
        z.backward()
        with nm.no_grad():
            w[...] = w - 0.1 * w.grad
            w[0] += 1
        return y, w.grad

    g = jit(f)
    for _ in range(6):
        yield call(g, array(1.0, 3.0)), w, w.grad


@program()
def no_grad_around_the_call(jit):
    w = array(1.0, 2.0, requires_grad=True)
    f = jit(lambda x: w * x)
    for i in range(12):
        if i % 2:
            with nm.no_grad():
                yield call(f, array(1.0, 3.0))
        else:
            yield call(f, array(1.0, 3.0))


@program()
def detach_chains(jit):
    w = array(1.0, 2.0, requires_grad=True)

    def f(x):
        w.grad = None
        y = w * x
        z = y.detach().detach()
        z += 1
        t = y[1:].detach()
        t *= 3
        (y.sum() + (z * w).sum()).backward()
        return y.detach(), z, t, w.grad

    g = jit(f)
    for _ in range(5):
        yield call(g, array(1.0, 3.0)), w.grad


@program()
def writes_to_detached_saved_values(jit):
    w = array(1.0, 2.0, requires_grad=True)

    def f(x):
        y = w * x
        z = y * y
        y.detach()[...] = 5.0
        z.sum().backward()
        return w.grad

    g = jit(f)
    for _ in range(4):
        w.grad = None
        yield call(g, array(1.0, 3.0)), w.grad


@program()
def inplace_on_views_with_gradients(jit):
    w = array(1.0, 2.0, 3.0, requires_grad=True)

    def f(x):
        w.grad = None
        y = w * x
        v = y[1:]
        y[:2] += w[1:]
        v *= 2
        u = v[::-1]
        u[0] = w[0] * 3
        y[...] += y * 1
        loss = (y * x).sum() + (u * 2).sum()
        loss.backward()
        return loss.detach(), w.grad, y.detach(), v.detach(), u.detach()

    g = jit(f)
    for _ in range(5):
        yield call(g, array(1.0, 3.0, 2.0)), w.grad


@program()
def leaf_written_outside_no_grad(jit):
    w = array(1.0, 2.0, requires_grad=True)

    def f(x):
        w[...] = x

    g = jit(f)
    for _ in range(3):
        yield call(g, array(1.0, 3.0)), w


@program()
def buffer_written_with_a_gradient(jit):
    w = array(1.0, 2.0, requires_grad=True)
    buffer = array(0.0, 0.0)

    def f(x):
        buffer[...] = w * x
        return x + 1

    g = jit(f)
    for _ in range(4):
        yield call(g, array(1.0, 3.0)), buffer


@program()
def requires_grad_changes_inside(jit):
    w = array(1.0, 2.0, requires_grad=True)
    box = Box(b=array(1.0, 1.0))

    def f(x):
        w.requires_grad_(not w.requires_grad)
        box.b.requires_grad = True
        return (w * x).detach()

    g = jit(f)
    for _ in range(6):
        yield call(g, array(1.0, 3.0)), w, box.b
        box.b.requires_grad = False


@program()
def requires_grad_changes_between_calls(jit):
    w = array(1.0, 2.0, requires_grad=True)

    def f(x):
        y = (w * x).sum()
        if y.requires_grad:
            y.backward()
        return y.detach()

    g = jit(f)
    for i in range(12):
        w.requires_grad = (i // 3) % 2 == 0
        yield call(g, array(1.0, 3.0)), w, w.grad


@program(compiled=True)
def gradients_are_changed_in_place(jit):
    w = array(1.0, 2.0, requires_grad=True)

    def f(x):
        w.grad = None
        (w * w * x).sum().backward()
        w.grad *= 0.5
        w.grad[0] = 7.0
        norm = (w.grad * w.grad).sum()
        if norm > 10:
            w.grad /= norm
        with nm.no_grad():
            w.__isub__(0.1 * w.grad)
        return norm

    g = jit(f)
    for _ in range(6):
        yield call(g, array(1.0, 3.0)), w, w.grad


@program()
def gradient_is_zeroed_in_place(jit):
    w = array(1.0, 2.0, requires_grad=True)

    def f(x):
        if w.grad is not None:
            w.grad.fill(0)
        (w * x).sum().backward()
        return w.grad.sum()

    g = jit(f)
    grads = []
    for _ in range(6):
        yield call(g, array(1.0, 3.0)), w.grad
        grads.append(w.grad)
    yield grads


@program()
def gradient_is_assigned(jit):
    w, other = array(1.0, 2.0, requires_grad=True), array(1.0, 1.0)

    def f(x):
        w.grad = x
        old = w.grad
        w.grad = other
        return old

    def h(x):
        w.grad = x
        return x * 2

    g, k = jit(f), jit(h)
    for _ in range(5):
        x = array(1.0, 3.0)
        yield call(g, x), x, w.grad, other, call(k, x), w.grad, x


@program()
def gradient_is_returned_and_stored(jit):
    w = array(1.0, 2.0, requires_grad=True)
    box = Box()

    def f(x):
        w.grad = None
        (w * x).sum().backward()
        box.g = w.grad
        return w.grad, box.g[1:]

    g = jit(f)
    for _ in range(5):
        yield call(g, array(1.0, 3.0)), w.grad, box.g


@program()
def leaves_made_inside(jit):
    def f(x):
        w = nm.array(x, requires_grad=True)
        (w * w).sum().backward()
        return w.grad, w.detach()

    def h(x):
        w = nm.array(x, requires_grad=True)
        (w * w).sum().backward()
        return w

    def k(x):
        w = x.detach()
        w.requires_grad = True
        (w * w * x).sum().backward()
        return w.grad

    for function in (f, h, k):
        g = jit(function)
        for _ in range(5):
            x = array(1.0, 3.0)
            yield call(g, x), x


@program()
def backward_without_a_graph(jit):
    f = jit(lambda x: x.sum().backward())
    for _ in range(3):
        yield call(f, array(1.0))


@program()
def gradient_of_intermediate_values(jit):
    def f(x):
        y = nm.tanh(x)
        z, pull = nm.vjp(lambda t: t * t * x, y)
        return z, pull(nm.ones(2))[0], nm.grad(lambda t: (t * y).sum())(x)

    g = jit(f)
    for _ in range(4):
        yield call(g, array(1.0, 3.0))


@program()
def backward_with_a_cotangent(jit):
    w = array(1.0, 2.0, requires_grad=True)

    def f(x, c):
        w.grad = None
        (w * w).backward(c)
        (w * x).backward(nm.ones(2))
        return w.grad

    g = jit(f)
    for _ in range(5):
        yield call(g, array(1.0, 3.0), array(2.0, 5.0)), w.grad


@program()
def views_of_parameters(jit):
    w = nm.array(np.arange(6.0).reshape(2, 3), requires_grad=True)
    view = w[0]

    def f(x):
        w.grad = None
        ((w.T @ x).sum() + (w[1] * 2).sum()).backward()
        return w.grad, w.grad.T

    def h(x):
        (view * x[0]).sum().backward()
        return w.grad

    g, k = jit(f), jit(h)
    for _ in range(5):
        yield call(g, array(1.0, 3.0)), w.grad, call(k, array(1.0, 3.0)), w.grad


@program()
def shared_parameter(jit):
    w = array(1.0, 2.0, requires_grad=True)
    a, b = Box(w=w), Box(w=w)

    def f(x):
        a.w.grad = None
        ((a.w * x) + (b.w * b.w)).sum().backward()
        with nm.no_grad():
            a.w -= 0.1 * b.w.grad
        return b.w * 1

    g = jit(f)
    for _ in range(5):
        yield call(g, array(1.0, 3.0)), w, w.grad


@program()
def argument_is_a_captured_leaf(jit):
    w = array(1.0, 2.0, requires_grad=True)

    def f(p):
        p.grad = None
        ((w * p).sum() + p.sum()).backward()
        return p.grad

    g = jit(f)
    other = array(3.0, 4.0, requires_grad=True)
    for p in (other, other, other, w, w, other, w, other):
        w.grad = other.grad = None
        yield call(g, p), w.grad, other.grad


@program(compiled=True)
def detached_views_of_leaves(jit):
    w = array(1.0, 2.0, requires_grad=True)

    def f(p):
        with nm.no_grad():
            v = w[1:]
        return w.detach(), w.detach()[1:], p.detach()[:1], v, p.detach()

    g = jit(f)
    for _ in range(5):
        p = array(3.0, 4.0, requires_grad=True)
        yield call(g, p), w, p


@program()
def captured_gradient_array(jit):
    w = array(1.0, 2.0, requires_grad=True)
    (w * 2).sum().backward()
    box = Box(g=w.grad)

    def f(x):
        box.g *= 2
        return w.grad * x

    g = jit(f)
    for i in range(8):
        if i == 4:
            w.grad = array(1.0, 1.0)
        yield call(g, array(1.0, 1.0)), box.g, w.grad


@program()
def gradients_flow_through_the_call(jit):
    w = array(1.0, 2.0, requires_grad=True)

    def f(x):
        return nm.tanh(w * x).sum() * x[0]

    g = jit(f)
    for i in range(6):
        w.grad = None
        x = array(1.0 + i, 2.0, requires_grad=True)
        y = call(g, x)
        (y * y).backward()
        yield y.detach(), w.grad, x.grad
    for _ in range(4):
        x = array(1.0, 2.0, requires_grad=True)
        yield nm.grad(lambda t: g(t) * 2)(x), nm.grad(lambda t: nm.grad(g)(t).sum())(x)


@program()
def momentum_by_hand(jit):
    w, v = array(1.0, 2.0, requires_grad=True), array(0.0, 0.0)

    def f(x, lr, mu):
        w.grad = None
        loss = ((w * x - 1) ** 2).sum()
        loss.backward()
        with nm.no_grad():
            v.__imul__(mu)
            v.__iadd__(w.grad)
            if lr > 0.05:
                w.__isub__(lr * v)
            else:
                w.__isub__(v * (lr / 2))
        return loss.item()

    g = jit(f)
    for i in range(20):
        yield call(g, array(1.0, 0.5), 0.1 * 0.9**i, 0.9), w, v, w.grad


@program()
def errors_in_the_backward_pass(jit):
    w = array(1.0, 2.0, requires_grad=True)

    def f(x):
        y = w * x
        z = y * y
        y += 1
        z.sum().backward()

    def h(x):
        (w * x).backward()

    g, k = jit(f), jit(h)
    for _ in range(3):
        yield call(g, array(1.0, 2.0)), call(k, array(1.0, 2.0)), w.grad
