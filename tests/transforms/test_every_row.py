"""Every row of the op table through the public transforms, nested and compiled.

`tests/ops` compares the rules with finite differences; here `jvp`, `vjp`, `vmap` and `jit` meet:
forward against reverse, vmap over each combination of operands against a loop, second derivatives
in both orders, compiled against eager.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from cases import ANY_BASIS, quiet, samples

import numen as nm
from numen.errors import GradientError
from numen.namespace.array import Array
from numen.ops import table

RANDOM = {"philox_uniform"}
WITHOUT = {name for name in table if table[name].vjp is None} | RANDOM
FLOATS = sorted(set(table) - WITHOUT)
STEPS = 3


def pick(name, dtype="float64"):
    """A sample with elements, and the positions of its floating arrays."""
    for args, params in samples(name, dtype):
        arrays = [a for a in args if isinstance(a, np.ndarray)]
        if arrays and all(a.size for a in arrays):
            return args, params, [i for i, a in enumerate(args) if _is_float(a)]
    pytest.skip("no sample with elements")


def _is_float(a):
    return isinstance(a, np.ndarray) and a.dtype.kind == "f"


def function_of(name, args, params, wrt):
    """The row as a function of its floating arrays, and those."""
    held = [Array(a.copy()) if isinstance(a, np.ndarray) else a for a in args]

    def function(*chosen):
        full = list(held)
        for i, x in zip(wrt, chosen, strict=True):
            full[i] = x
        return table[name](*full, **params)

    return function, [Array(args[i].copy()) for i in wrt]


def noise(like, seed):
    rng = np.random.default_rng(seed)
    data = rng.normal(size=like.shape)
    if like.dtype.kind == "c":
        data = data + 1j * rng.normal(size=like.shape)
    return Array(np.asarray(data, like.dtype))


def dot(x, y):
    return float(np.real(np.vdot(data_of(x), data_of(y))))


def data_of(x):
    return np.asarray(x.detach().numpy())


@pytest.mark.parametrize("name", [n for n in FLOATS if n not in ANY_BASIS])
def test_forward_is_the_transpose_of_reverse(name):
    args, params, wrt = pick(name)
    f, primals = function_of(name, args, params, wrt)
    if not wrt or f(*primals).dtype.kind not in "fc":
        pytest.skip("no floating operand or result")
    tangents = [noise(p, k) for k, p in enumerate(primals)]
    out, push = quiet(nm.jvp, f, tuple(primals), tuple(tangents))
    cotangent = noise(out, 99)
    _, pull = quiet(nm.vjp, f, *primals)
    pulled = quiet(pull, cotangent)
    reverse = sum(dot(g, t) for g, t in zip(pulled, tangents, strict=True))
    rtol = 1e-7 if out.dtype.itemsize >= 8 else 1e-5  # `cast` gives float32
    np.testing.assert_allclose(dot(cotangent, push), reverse, rtol, 1e-9)
    # the push of `linearize` is the transpose of the pull
    _, linear = quiet(nm.linearize, f, *primals)
    np.testing.assert_allclose(data_of(quiet(linear, *tangents)), data_of(push), 1e-9, 1e-11)


@pytest.mark.parametrize("name", FLOATS)
def test_second_derivatives_agree_in_both_orders(name):
    args, params, wrt = pick(name)
    f, primals = function_of(name, args, params, wrt)
    if not wrt or f(*primals).dtype.kind != "f":
        pytest.skip("no floating operand or real result")
    weights = noise(f(*primals), 7)
    tangents = tuple([noise(p, k) for k, p in enumerate(primals)])
    positions = tuple(range(len(primals)))

    def scalar(*xs):
        return (f(*xs) * weights).sum()

    gradient = nm.grad(scalar, positions)
    _, forward = quiet(nm.jvp, gradient, tuple(primals), tangents)
    _, pull = quiet(nm.vjp, gradient, *primals)
    reverse = quiet(pull, tangents)  # the Hessian is symmetric
    for a, b in zip(forward, reverse, strict=True):
        np.testing.assert_allclose(data_of(a), data_of(b), 1e-6, 1e-8)


@pytest.mark.parametrize("name", sorted(set(table) - RANDOM))
def test_vmap_is_a_loop(name):
    dtype = "float64" if name not in _integer_rows() else "int64"
    args, params, _ = pick(name, dtype)
    places = [i for i, a in enumerate(args) if isinstance(a, np.ndarray)]
    for mapped in itertools.product([False, True], repeat=len(places)):
        if not any(mapped):
            continue
        axes, stacked = [], []
        for i, a in enumerate(args):
            if i in places and mapped[places.index(i)]:
                axis = -1 if a.ndim % 2 else 0
                axes.append(axis)
                stacked.append(Array(np.stack([_moved(a, k) for k in range(2)], axis)))
            else:
                axes.append(None)
                stacked.append(Array(a.copy()) if isinstance(a, np.ndarray) else a)

        def function(*xs):
            return table[name](*xs, **params)

        found = quiet(nm.vmap(function, tuple(axes)), *stacked)
        for k in range(2):
            one = [
                Array(_moved(a, k)) if axis is not None else x
                for a, axis, x in zip(args, axes, stacked, strict=True)
            ]
            expected = quiet(function, *one)
            row = data_of(found)[k]
            assert (row.shape, row.dtype) == (expected.shape, expected.dtype)
            np.testing.assert_allclose(row, data_of(expected), 1e-9, 1e-11)


def _moved(a, k):
    """Other values of the same kind: rolled, so that bounds and orders stay good."""
    if not k or a.ndim == 0 or a.dtype.kind not in "fc":
        return a.copy()
    return np.roll(a, 1, axis=0) if a.shape[0] > 1 and a.ndim == 1 else a.copy()


def _integer_rows():
    bits = {f"bitwise_{name}" for name in ("and", "or", "xor", "count")}
    return {"gcd", "lcm", "left_shift", "right_shift", "invert", "ldexp"} | bits


@pytest.mark.parametrize("name", FLOATS)
def test_compiled_transforms_equal_eager_ones(name):
    args, params, wrt = pick(name)
    f, primals = function_of(name, args, params, wrt)
    if not wrt or f(*primals).dtype.kind not in "fc":
        pytest.skip("no floating operand or result")
    out = quiet(f, *primals)
    cotangent, tangents = noise(out, 3), tuple([noise(p, k) for k, p in enumerate(primals)])

    def both(*xs):
        value, pull = nm.vjp(f, *xs)
        return value, pull(cotangent), nm.jvp(f, xs, tangents)[1]

    with nm.config(engine="kernels"):
        value, pulled, pushed = quiet(both, *primals)
    compiled = nm.jit(both)
    try:
        for _ in range(STEPS):
            again, pulled_again, pushed_again = quiet(compiled, *primals)
    except GradientError:
        pytest.fail("the compiled function refuses what the eager one computes")
    expected = [value, *pulled, pushed]
    for a, b in zip([again, *pulled_again, pushed_again], expected, strict=True):
        np.testing.assert_array_equal(data_of(a), data_of(b))


@pytest.mark.parametrize("name", sorted(n for n in table if table[n].errors is not None))
def test_bad_examples_raise_inside_vmap(name):
    """A batch axis is no axis of the example: what an example raises, vmap raises."""
    for args, params, error in table[name].errors():
        places = [i for i, a in enumerate(args) if isinstance(a, np.ndarray)]
        if not places or any(args[i].dtype.kind not in "biufc" for i in places):
            continue
        axes = tuple(0 if i in places else None for i in range(len(args)))
        stacked = [Array(np.stack([a, a])) if i in places else a for i, a in enumerate(args)]
        with pytest.raises(error):
            quiet(nm.vmap(lambda *xs, p=params: table[name](*xs, **p), axes), *stacked)
