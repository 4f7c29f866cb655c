"""vjp and jvp rules against central differences, first and second order, raw and on Arrays."""

import numpy as np
import pytest
from cases import (
    DIFFERENTIABLE,
    LINEAR,
    central_difference,
    evaluate,
    gradients,
    is_float,
    leaves,
    raw,
    samples,
    seeded,
    wrapped,
)

from numen.namespace.array import Array
from numen.ops import table
from tolerances import DIFFERENCES, STEP, assert_close


def indexed(name, dtype="float64"):
    return [pytest.param(name, i, id=f"{name}-{i}") for i in range(len(samples(name, dtype)))]


CASES = [case for name in DIFFERENTIABLE for case in indexed(name)]


def weights(rng, shape, dtype):
    """Random cotangents: complex ones for a complex result."""
    values = rng.standard_normal(shape)
    return (values + 1j * rng.standard_normal(shape) if dtype.kind == "c" else values).astype(dtype)


def step_of(name):
    return 0.5 if name in LINEAR else STEP


def numeric_gradient(function, args, position, step):
    """Central differences of a scalar function, one element at a time."""
    a = args[position]
    result = np.zeros(a.shape)
    for at in np.ndindex(a.shape):
        direction = np.zeros(a.shape)
        direction[at] = 1.0
        result[at] = central_difference(function, args, position, direction, step)
    return result


@pytest.mark.parametrize(("name", "i"), CASES)
def test_vjp_is_the_derivative(name, i):
    args, params = samples(name)[i]
    inputs = leaves(args)
    out = table[name](*inputs, **params)
    weight = weights(seeded(name), out.shape, out.dtype)
    positions = [p for p, a in enumerate(args) if is_float(a)]
    found = gradients(out, weight, [inputs[p] for p in positions])

    def scalar(*values):
        return float(np.sum((weight.conj() * evaluate(name, values, params)).real))

    for p, g in zip(positions, found, strict=True):
        expected = numeric_gradient(scalar, args, p, step_of(name))
        g = raw(g)
        assert g.dtype == args[p].dtype
        assert_close(g, expected, table=DIFFERENCES)


@pytest.mark.parametrize("arrays", [False, True], ids=["raw", "arrays"])
@pytest.mark.parametrize(("name", "i"), CASES)
def test_jvp_is_the_derivative(name, i, arrays):
    args, params = samples(name)[i]
    rng = seeded(name)
    positions = [p for p, a in enumerate(args) if is_float(a)]
    directions = {p: rng.standard_normal(args[p].shape) for p in positions}
    for chosen in [positions, *[[p] for p in positions if len(positions) > 1]]:
        tangents = [directions[p] if p in chosen else None for p in range(len(args))]
        expected = sum(
            central_difference(
                lambda *v: evaluate(name, v, params), args, p, directions[p], step_of(name)
            )
            for p in chosen
        )
        given = wrapped(args) if arrays else args
        moved = [Array(t) if arrays and t is not None else t for t in tangents]
        out = table[name](*given, **params)
        found = raw(table[name].jvp(out, given, moved, **params))
        assert_close(found, expected, table=DIFFERENCES)


@pytest.mark.parametrize(("name", "i"), CASES)
def test_gradients_of_gradients(name, i):
    args, params = samples(name)[i]
    rng = seeded(name)
    positions = [p for p, a in enumerate(args) if is_float(a)]
    result = evaluate(name, args, params)
    weight = weights(rng, result.shape, result.dtype)
    mix = [rng.standard_normal(args[p].shape) for p in positions]

    def first(*values, create_graph):
        inputs = leaves(values)
        out = table[name](*inputs, **params)
        chosen = [inputs[p] for p in positions]
        seed = weight.astype(out.dtype)
        return chosen, gradients(out, seed, chosen, create_graph=create_graph)

    def mixed(*values):
        _, found = first(*values, create_graph=False)
        return sum(float(np.sum(m * raw(g))) for m, g in zip(mix, found, strict=True))

    inputs, found = first(*args, create_graph=True)
    for x in inputs:
        assert x.grad is None
    total = Array(np.zeros(()))
    for m, g in zip(mix, found, strict=True):
        total = total + table["sum"](g * Array(m), axis=tuple(range(m.ndim)), keepdims=False)
    if total._n is None:
        second = [np.zeros(x.shape) for x in inputs]
    else:
        second = [raw(g) for g in gradients(total, None, inputs)]
    for p, g in zip(positions, second, strict=True):
        expected = numeric_gradient(mixed, args, p, 1e-4)
        assert_close(g, expected, 10, table=DIFFERENCES)
