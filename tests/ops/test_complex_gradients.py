"""The rules of complex numbers against central differences along the real and imaginary axes.

The gradient of a real L with respect to z is dL/dRe z + i dL/dIm z, so the cotangent w of a result
stands for L = Re sum(conj(w) * result).
"""

import numpy as np
import pytest
from cases import (
    DIFFERENTIABLE,
    LINEAR,
    central_difference,
    evaluate,
    gradients,
    quiet,
    raw,
    samples,
    seeded,
    wrapped,
)

from numen.dispatch.core import Leaf
from numen.namespace.array import Array
from numen.ops import table
from numen.ops.registry import FAMILIES
from tolerances import STEP, assert_close

C64, C128 = np.dtype(np.complex64), np.dtype(np.complex128)
DIFFERENCES = {"complex64": 2e-3, "complex128": 2e-6, "float32": 2e-3, "float64": 2e-6}

REAL = {
    "order or sign": (
        *("arctan2", "copysign", "fabs", "floor_divide", "fmod", "heaviside", "hypot", "remainder"),
        *("max_pool", "relu", "softmax", "log_softmax", "logsumexp", "logaddexp", "logaddexp2"),
    ),
    "the bits or the integers of real floats": (
        *("ceil", "floor", "trunc", "frexp_mantissa", "ldexp", "modf_fraction", "modf_integer"),
        *("nextafter", "spacing"),
    ),
    "angles, and a root of negative numbers": (
        *("cbrt", "deg2rad", "degrees", "rad2deg", "radians"),
    ),
    "the half of a transform that says all about real numbers": ("fft_r2c",),
    "layers and losses of real networks": (
        *("binary_cross_entropy", "cross_entropy", "erf", "normalize", "sigmoid", "softplus"),
        *("gru_scan", "lstm_scan", "rnn_scan"),
    ),
}
"""Rows that refuse complex numbers, by what they would need."""

LINEAR_ALGEBRA = {
    row.name
    for family in FAMILIES
    if family.__name__.rsplit(".", 1)[1]
    in (
        *("matrices", "determinants", "factors", "orthogonal", "norms", "spectra", "eigen"),
        *("matrix_functions", "fourier"),
    )
    for row in family.ROWS
}
"""Rows whose arguments or results have a symmetry of their own, checked in tests/linalg."""

REFUSED = sorted({name for names in REAL.values() for name in names})
ROWS = [name for name in DIFFERENTIABLE if name not in (*REFUSED, *LINEAR_ALGEBRA)]


def is_complex(a):
    return isinstance(a, np.ndarray) and a.dtype.kind == "c"


def carries(a):
    return isinstance(a, np.ndarray) and a.dtype.kind in "fc"


def mixtures(args):
    """The arguments as they are and, of several, with one of them real."""
    yield args
    places = [p for p, a in enumerate(args) if is_complex(a)]
    if len(places) > 1:
        for p in places:
            yield (*args[:p], np.array(args[p].real), *args[p + 1 :])


def complex_samples(name):
    """[(args, params)] with at least one complex array."""
    found = []
    for args, params in samples(name, C128):
        params = {"dtype": C128} if name == "cast" else params
        mixed = mixtures(args) if keeps_dtypes(name) else [args]
        found += [(a, params) for a in mixed if any(is_complex(x) for x in a)]
    return found


def keeps_dtypes(name):
    """Whether operands of two dtypes meet in the wider one: a write casts to what is written."""
    return name not in ("setitem", "scatter_set", "scatter_add")


CASES = [
    pytest.param(name, i, id=f"{name}-{i}")
    for name in ROWS
    for i in range(len(complex_samples(name)))
]


def leaves(args):
    out = []
    for a in args:
        x = Array(a.copy(order="K")) if isinstance(a, np.ndarray) else a
        if carries(a):
            x._n = Leaf(a.shape, a.dtype)
        out.append(x)
    return out


def noise(rng, shape, dtype):
    values = rng.standard_normal(shape)
    if dtype.kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    return np.asarray(values).astype(dtype)


def inner(w, values):
    """The real number L whose gradient is w."""
    return float(np.sum((np.conj(w) * values).real))


def numeric_gradient(function, args, position, step):
    """Central differences of a real function: one element at a time, along both axes."""
    a = args[position]
    result = np.zeros(a.shape, a.dtype)
    for at in np.ndindex(a.shape):
        for axis in (1, 1j) if is_complex(a) else (1,):
            direction = np.zeros(a.shape, a.dtype)
            direction[at] = axis
            result[at] += axis * central_difference(function, args, position, direction, step)
    return result


def step_of(name):
    return 0.5 if name in LINEAR else STEP


@pytest.mark.parametrize(("name", "i"), CASES)
def test_vjp_is_the_gradient_along_both_axes(name, i):
    args, params = complex_samples(name)[i]
    inputs = leaves(args)
    out = table[name](*inputs, **params)
    weight = noise(seeded(name), out.shape, out.dtype)
    positions = [p for p, a in enumerate(args) if carries(a)]
    found = gradients(out, weight, [inputs[p] for p in positions])

    def scalar(*values):
        return inner(weight, evaluate(name, values, params))

    for p, g in zip(positions, found, strict=True):
        g = raw(g)
        assert g.dtype == args[p].dtype
        assert_close(g, numeric_gradient(scalar, args, p, step_of(name)), table=DIFFERENCES)


@pytest.mark.parametrize("arrays", [False, True], ids=["raw", "arrays"])
@pytest.mark.parametrize(("name", "i"), CASES)
def test_jvp_is_the_derivative_along_a_complex_direction(name, i, arrays):
    args, params = complex_samples(name)[i]
    rng = seeded(name)
    positions = [p for p, a in enumerate(args) if carries(a)]
    directions = {p: noise(rng, args[p].shape, args[p].dtype) for p in positions}
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
def test_gradients_of_complex_gradients(name, i):
    args, params = complex_samples(name)[i]
    rng = seeded(name)
    positions = [p for p, a in enumerate(args) if carries(a)]
    out = evaluate(name, args, params)
    weight = noise(rng, out.shape, out.dtype)
    mix = [noise(rng, args[p].shape, args[p].dtype) for p in positions]

    def first(*values, create_graph):
        inputs = leaves(values)
        chosen = [inputs[p] for p in positions]
        out = table[name](*inputs, **params)
        return chosen, gradients(out, weight, chosen, create_graph=create_graph)

    def mixed(*values):
        _, found = first(*values, create_graph=False)
        return sum(inner(m, raw(g)) for m, g in zip(mix, found, strict=True))

    inputs, found = first(*args, create_graph=True)
    total = Array(np.zeros(()))
    for m, g in zip(mix, found, strict=True):
        part = table["real"](g * Array(np.asarray(m.conj())))
        total = total + table["sum"](part, axis=tuple(range(m.ndim)), keepdims=False)
    if total._n is None:
        second = [np.zeros(x.shape, x.dtype) for x in inputs]
    else:
        second = [raw(g) for g in gradients(total, None, inputs)]
    for p, g in zip(positions, second, strict=True):
        assert g.dtype == args[p].dtype
        assert_close(g, numeric_gradient(mixed, args, p, 1e-4), 10, table=DIFFERENCES)


NARROW = {C128: C64, np.dtype(np.float64): np.dtype(np.float32)}


def narrowed(args, params):
    """A sample in single precision."""
    args = [a.astype(NARROW.get(a.dtype, a.dtype)) if hasattr(a, "dtype") else a for a in args]
    if "strides" in params:
        halves = {key: tuple([n // 2 for n in params[key]]) for key in ("strides", "source")}
        params = {**params, **halves}
    if "dtype" in params:
        params = {"dtype": NARROW[params["dtype"]]}
    return args, params


@pytest.mark.parametrize("name", [n for n in ROWS if n != "float_power"])
def test_rules_of_complex64_stay_in_single_precision(name):
    row = table[name]
    for args, params in complex_samples(name):
        single, narrow = narrowed(args, params)
        out = row(*single, **narrow)
        assert out.dtype in NARROW.values()
        needs = [carries(a) for a in args]
        g = noise(seeded(name), out.shape, out.dtype)
        found = row.vjp(needs, g, out, *single, **narrow)
        wide = [a.astype(b.dtype) if carries(b) else a for a, b in zip(single, args, strict=True)]
        out_wide = row(*wide, **params)
        expected = row.vjp(needs, g.astype(out_wide.dtype), out_wide, *wide, **params)
        for a, c, exact in zip(single, found, expected, strict=True):
            if carries(a):
                assert c.dtype in NARROW.values()
                assert_close(c, exact, 100)
        tangents = [np.ones(a.shape, a.dtype) if carries(a) else None for a in single]
        assert row.jvp(out, single, tangents, **narrow).dtype in NARROW.values()


@pytest.mark.parametrize("name", REFUSED)
def test_other_rows_refuse_complex_numbers(name):
    args, params = samples(name, C128)[0]
    with pytest.raises(TypeError, match=name.split("_")[0]):
        quiet(table[name], *wrapped(args), **params)
