"""The rules of linear algebra's and the transforms' rows, real and complex, against differences.

Vectors that are unique up to signs, phases or a basis are looked at through the matrices that they
span: u w u^H.
"""

import numpy as np
import pytest
from recorded import cotangent, inner, slopes_of

import numen as nm
from numen.dispatch import backward
from numen.dispatch.core import Leaf
from numen.namespace.array import Array
from numen.ops import (
    determinants,
    eigen,
    factors,
    fourier,
    linear_algebra,
    matrices,
    matrix_functions,
    norms,
    orthogonal,
    spectra,
    table,
)
from tolerances import DIFFERENCES, STEP, assert_close

FAMILIES = (linear_algebra, matrices, determinants, factors, orthogonal, norms, spectra, eigen)
FAMILIES += (matrix_functions, fourier)
ROWS = [row.name for family in FAMILIES for row in family.ROWS]
LINEAR = {"fft_c2c", "fft_r2c", "fft_c2r"}


def samples(name, dtype):
    if name == "fft_r2c":
        dtype = "float64"
    return table[name].samples(np.random.default_rng(list(name.encode())), np.dtype(dtype))


CASES = [
    pytest.param(name, dtype, i, id=f"{name}-{dtype}-{i}")
    for name in ROWS
    for dtype in ("float64", "complex128")
    for i in range(len(samples(name, dtype)))
]


def turned(x):
    return x.swapaxes(-1, -2).conj()


def seen(name, out, args):
    """What of a row's result has a derivative, of ndarrays and Arrays: [parts]."""
    if name in ("qr_rest", "svd_u_rest"):
        return [out @ turned(out)]
    if name == "svd_v_rest":
        return [turned(out) @ out]
    if not name.endswith("_parts") or name == "qr_parts":
        return [out]
    n = out.shape[-1]
    w = np.arange(1.0, n + 1)  # different for each vector that is unique up to a phase
    if name == "svd_parts":
        m = args[0].shape[-2]
        u, v = out[..., :m, :], out[..., m + 1 :, :]
        return [(u * w) @ turned(u), (u * w) @ turned(v), (v * w) @ turned(v), out[..., m, :].real]
    v, values = out[..., :n, :], out[..., n, :]
    return [(v * w) @ turned(v), values if name == "eig_parts" else values.real]


def evaluate(name, args, params):
    return flat(seen(name, np.asarray(table[name].impl(*args, **params)), args))


def flat(parts):
    """The parts' elements, as complex numbers where one is."""
    return np.concatenate([np.asarray(p).reshape(-1) for p in parts])


def steps(name):
    return 0.5 if name in LINEAR else STEP


def leaves(args):
    """Arrays that require gradients for the arrays, numbers as they are."""
    arrays = [Array(a.copy()) if isinstance(a, np.ndarray) else a for a in args]
    for x in arrays:
        if isinstance(x, Array):
            x._n = Leaf(x.shape, x.dtype)
    return arrays


def places(args):
    return [p for p, a in enumerate(args) if isinstance(a, np.ndarray)]


def pulled(name, args, params, weight, create_graph=False):
    inputs = leaves(args)
    out = nm.concatenate([p.reshape(-1) for p in seen(name, table[name](*inputs, **params), args)])
    assert out.dtype == weight.dtype
    inputs = [x for x in inputs if isinstance(x, Array)]
    wrt = [x._n for x in inputs]
    found = backward.backward([out], [weight], wrt=wrt, create_graph=create_graph)
    return inputs, [Array(np.zeros(x.shape, x.dtype)) if g is None else g
                    for g, x in zip(found, inputs, strict=True)]  # fmt: skip


def raw(x):
    return x._d if isinstance(x, Array) else np.asarray(x)


@pytest.mark.parametrize(("name", "dtype", "i"), CASES)
def test_vjp(name, dtype, i):
    args, params = samples(name, dtype)[i]
    weight = cotangent(evaluate(name, args, params))
    _, found = pulled(name, args, params, weight)
    for p, g in zip(places(args), found, strict=True):

        def moved(v, p=p):
            return inner(weight, evaluate(name, (*args[:p], v, *args[p + 1 :]), params))

        assert raw(g).dtype == args[p].dtype
        assert_close(raw(g), slopes_of(moved, args[p], steps(name)), table=DIFFERENCES)


@pytest.mark.parametrize("arrays", [False, True], ids=["raw", "arrays"])
@pytest.mark.parametrize(("name", "dtype", "i"), CASES)
def test_jvp(name, dtype, i, arrays):
    args, params = samples(name, dtype)[i]
    directions = [cotangent(a, 3) if p in places(args) else None for p, a in enumerate(args)]
    step = steps(name)
    sides = [
        evaluate(
            name,
            [a if t is None else a + s * t for a, t in zip(args, directions, strict=True)],
            params,
        )
        for s in (step, -step)
    ]
    given, moving = args, directions
    if arrays:
        given = [Array(a) if isinstance(a, np.ndarray) else a for a in args]
        moving = [None if t is None else Array(t) for t in directions]
    out = table[name](*given, **params)
    t = table[name].jvp(out, given, moving, **params)
    assert t.dtype == out.dtype
    ahead, behind = (flat(seen(name, raw(out) + s * raw(t), args)) for s in (0.5, -0.5))
    found = ahead - behind  # exact of polynomials of degree 2
    assert_close(found, (sides[0] - sides[1]) / (2 * step), table=DIFFERENCES)


@pytest.mark.parametrize(("name", "dtype", "i"), CASES)
def test_gradients_of_gradients(name, dtype, i):
    args, params = samples(name, dtype)[i]
    weight = cotangent(evaluate(name, args, params))
    mix = [cotangent(args[p], 4) for p in places(args)]
    inputs, found = pulled(name, args, params, weight, create_graph=True)
    total = nm.array(0.0)
    for m, g in zip(mix, found, strict=True):
        total = total + (nm.array(m).conj() * g).real.sum()
    if total._n is None:
        second = [None] * len(inputs)
    else:
        second = backward.backward([total], [None], wrt=[x._n for x in inputs])

    def mixed(*values):
        _, found = pulled(name, values, params, weight)
        return sum(inner(m, raw(g)) for m, g in zip(mix, found, strict=True))

    for p, g in zip(places(args), second, strict=True):
        expected = slopes_of(lambda v, p=p: mixed(*args[:p], v, *args[p + 1 :]), args[p], 1e-4)
        g = np.zeros_like(args[p]) if g is None else raw(g)
        assert g.dtype == args[p].dtype
        assert_close(g, expected, 10, table=DIFFERENCES)


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.parametrize("name", ROWS)
def test_single_precision_stays(name, dtype):
    single = {"f": np.dtype("f4"), "c": np.dtype("c8")}
    for args, params in samples(name, dtype):
        args = [a.astype(single[a.dtype.kind]) if isinstance(a, np.ndarray) else a for a in args]
        out = table[name](*args, **params)
        assert out.dtype == single[out.dtype.kind]
        weight = cotangent(evaluate(name, args, params))
        _, found = pulled(name, args, params, weight)
        wide = [
            a.astype({"f": "f8", "c": "c16"}[a.dtype.kind]) if isinstance(a, np.ndarray) else a
            for a in args
        ]
        exact = weight.astype(evaluate(name, wide, params).dtype)
        _, expected = pulled(name, wide, params, exact)
        for g, w, p in zip(found, expected, places(args), strict=True):
            assert raw(g).dtype == args[p].dtype
            assert_close(raw(g), raw(w), 200)
