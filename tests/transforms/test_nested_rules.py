"""Rules of the user, checkpoints and solutions in random nestings of transforms: the derivatives
are those of the plain function."""

import random

import numpy as np
import pytest

import numen as nm


def plain(x, y):
    return nm.sin(x) * y + nm.exp(x * 0.3)


def slopes(x, y):
    return nm.cos(x) * y + 0.3 * nm.exp(0.3 * x), nm.sin(x)


by_jvp = nm.custom_jvp(lambda x, y: plain(x, y))


@by_jvp.defjvp
def tangents_rule(p, t):
    a, b = slopes(*p)
    return by_jvp(*p), a * t[0] + b * t[1]


by_vjp = nm.custom_vjp(lambda x, y: plain(x, y))
by_vjp.defvjp(lambda x, y: (by_vjp(x, y), slopes(x, y)), lambda s, g: (g * s[0], g * s[1]))


class Plain(nm.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return plain(x, y)

    @staticmethod
    def backward(ctx, g):
        a, b = slopes(*ctx.saved_arrays)
        return g * a, g * b

    @staticmethod
    def jvp(ctx, s, t):
        a, b = slopes(*ctx.saved_arrays)
        return a * s + b * t


def by_root(x, y):
    def equation(v, x, y):
        value = plain(x, y)
        return v + 0.1 * v**3 - (value + 0.1 * value**3)

    return nm.implicit.root(equation, x * 0, x, y)


FORMS = {
    "custom_jvp": by_jvp,
    "custom_vjp": by_vjp,
    "Function": Plain.apply,
    "checkpoint": nm.checkpoint(plain),
    "root": by_root,
}
REVERSE = {
    "grad": lambda f: lambda x, y: nm.grad(lambda a: (f(a, y) * y).sum())(x),
    "grad of y": lambda f: lambda x, y: nm.grad(lambda b: (f(x, b) * x).sum())(y),
    "vjp": lambda f: lambda x, y: nm.vjp(f, x, y)[1](x)[1],
    "jacrev": lambda f: lambda x, y: nm.jacrev(lambda a: f(a, y))(x).sum(axis=-1),
    "checkpoint": lambda f: lambda x, y: nm.checkpoint(f, x, y),
    "vmap": lambda f: (
        lambda x, y: nm.vmap(f)(nm.stack([x, x + y]), nm.stack([y, y * 2])).sum(axis=0)
    ),
    "vmap of x": lambda f: lambda x, y: nm.vmap(f, (0, None))(nm.stack([x, x + y]), y).sum(axis=0),
    "jit": nm.jit,
}
FORWARD = {
    "jvp": lambda f: lambda x, y: nm.jvp(f, (x, y), (y, x * x))[1],
    "jvp of x": lambda f: lambda x, y: nm.jvp(lambda a: f(a, y), (x,), (y,))[1],
    "jacfwd": lambda f: lambda x, y: nm.jacfwd(lambda a: f(a, y))(x).sum(axis=-1),
}
INNER = [name for name in [*REVERSE, *FORWARD] if name != "jit"]


@pytest.mark.parametrize("form", FORMS)
def test_random_nestings(form):
    rng = random.Random(form)
    x, y = nm.array([0.3, -0.7]), nm.array([1.2, 0.5])
    inner = [n for n in INNER if form != "custom_vjp" or n not in FORWARD]
    for _ in range(12):
        chain = [rng.choice(inner) for _ in range(rng.choice([1, 2, 2, 3]))]
        if rng.random() < 0.2:
            chain.append("jit")
        got, want = FORMS[form], plain
        for name in chain:
            transform = (REVERSE | FORWARD)[name]
            got, want = transform(got), transform(want)
        np.testing.assert_allclose(
            np.asarray(got(x, y).detach()),
            np.asarray(want(x, y).detach()),
            rtol=1e-6,
            atol=1e-8,
            err_msg=f"{' of '.join(reversed(chain))} of {form}",
        )
