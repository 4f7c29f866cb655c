"""exp, log and tanh within 2 ulp of the true value; maximum, minimum, relu and power as NumPy."""

from decimal import Decimal, localcontext

import numpy as np
import pytest

from numen.compiler import math
from numen.compiler.body import Body
from numen.compiler.codegen.python import execute
from numen.compiler.nest import Buffer, Nest, Store
from numen.errors import InternalError

FUNCTIONS = ("exp", "log", "tanh")


def apply(function, *arrays):
    """Run a function of `math.py` elementwise on arrays of one dtype."""
    dtype = arrays[0].dtype.name
    b = Body()
    result = function(b, *(b.load(i, dtype) for i in range(len(arrays))))
    out = np.empty_like(arrays[0])
    buffers = tuple(Buffer(dtype, ("1",)) for _ in range(len(arrays) + 1))
    nest = Nest(1, False, buffers, (), b.instrs, (Store(len(arrays), result.position),))
    execute(nest, out.shape, [*arrays, out])
    return out


def assert_same_signs(got, expected):
    """The signs of zeros as well."""
    if got.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(got), np.signbit(expected))


def ulps(got, exact, mantissa, least):
    """Distance in units of the last place of the exact (float64 or Decimal-derived) value."""
    exponent = np.floor(np.log2(np.maximum(np.abs(exact), 2.0**least)))
    return np.abs(got.astype(np.float64) - exact) / np.exp2(np.maximum(exponent, least) - mantissa)


def samples(name, rng, n, dtype):
    """Arguments over the whole domain, dense where something changes."""
    if name == "exp":
        top = 88.7 if dtype == "float32" else 709.7
        low = -103.9 if dtype == "float32" else -745.0
        x = [
            rng.uniform(low, top, n),
            rng.uniform(low, low + 18, n),  # subnormal results
            np.exp2(rng.uniform(-60, 3, n)) * rng.choice([-1, 1], n),
            (np.arange(n) - n // 2) * (np.log(2) / 2) * 0.99 % top,
        ]
    elif name == "tanh":
        most = 10.0 if dtype == "float32" else 20.0
        x = [
            rng.uniform(-most, most, n),
            rng.uniform(0.5, 0.6, n),
            rng.uniform(0, 2, n),
            np.exp2(rng.uniform(-149 if dtype == "float32" else -1074, 4, n)),
        ]
    else:
        low, high = (-149, 127.9) if dtype == "float32" else (-1074, 1023.9)
        x = [
            np.exp2(rng.uniform(low, high, n)),
            rng.uniform(0.5, 2, n),
            1 + rng.normal(size=n) * 1e-3,
            np.exp2(rng.uniform(low, low + 24, n)),  # subnormal
        ]
    x = np.concatenate(x).astype(dtype)
    return x[x > 0] if name == "log" else x


@pytest.mark.parametrize("name", FUNCTIONS)
def test_float32_accuracy(name):
    x = samples(name, np.random.default_rng(1), 30_000, "float32")
    exact = getattr(np, name)(x.astype(np.float64))
    worst = ulps(apply(getattr(math, name), x), exact, 23, -126).max()
    assert worst <= 1.6


@pytest.mark.parametrize("name", FUNCTIONS)
def test_float64_accuracy(name):
    x = samples(name, np.random.default_rng(2), 100, "float64")
    got = apply(getattr(math, name), x)
    worst = max(_ulps_float64(name, float(a), float(g)) for a, g in zip(x, got, strict=True))
    assert worst <= 1.6


def _ulps_float64(name, x, got):
    with localcontext(prec=60, Emin=-9999, Emax=9999):
        a = Decimal(x)
        if name == "exp":
            exact = a.exp()
        elif name == "log":
            exact = a.ln()
        elif abs(x) < 1e-10:
            exact = a - a**3 / 3
        else:
            twice = (2 * a).exp()
            exact = (twice - 1) / (twice + 1)
        if exact == 0:
            return 0 if got == 0 else np.inf
        return float(abs(Decimal(got) - exact) / Decimal(float(np.spacing(abs(float(exact))))))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_special_values(name, dtype):
    tiny = np.finfo(dtype).smallest_subnormal
    most = np.finfo(dtype).max
    values = [0.0, -0.0, np.inf, -np.inf, np.nan, tiny, -tiny, most, -most, 1.0, -1.0]
    x = np.array(values, dtype)
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(x)
    got = apply(getattr(math, name), x)
    np.testing.assert_allclose(got, expected, rtol=4 * np.finfo(dtype).eps, atol=0)
    known = ~np.isnan(expected)
    assert_same_signs(got[known], expected[known])


@pytest.mark.parametrize(
    ("dtype", "last", "first"),
    [
        ("float32", 88.72283, 88.72284),
        ("float64", 709.782712893384, 709.7827128933841),
    ],
)
def test_exp_overflows_where_it_should(dtype, last, first):
    got = apply(math.exp, np.array([last, first], dtype))
    assert np.isfinite(got[0])
    assert np.isinf(got[1])


@pytest.mark.parametrize(("dtype", "zero"), [("float32", -103.98), ("float64", -745.14)])
def test_exp_underflows_where_it_should(dtype, zero):
    got = apply(math.exp, np.array([zero, np.nextafter(zero, 0) + 0.02], dtype))
    assert got[0] == 0
    assert got[1] == np.finfo(dtype).smallest_subnormal


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_tanh_is_odd_monotone_and_bounded(dtype):
    x = np.linspace(0, 25, 20_001).astype(dtype)
    y = apply(math.tanh, x)
    np.testing.assert_array_equal(apply(math.tanh, -x), -y)
    assert y.max() == 1
    slack = 2 * np.finfo(dtype).eps  # an ulp or two where pieces meet
    assert (np.diff(y) >= -slack * y[1:]).all()


def edges(dtype):
    if np.issubdtype(dtype, np.floating):
        tiny = np.finfo(dtype).smallest_subnormal
        values = [0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, tiny, -tiny, 3e38]
        return np.array(values, dtype)
    info = np.iinfo(dtype)
    return np.array([info.min, 0, 1, 2, info.max], dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint64"])
@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_maximum_and_minimum_have_numpys_bits(name, dtype):
    x, y = (a.ravel().copy() for a in np.meshgrid(edges(dtype), edges(dtype)))
    got, expected = apply(getattr(math, name), x, y), getattr(np, name)(x, y)
    np.testing.assert_array_equal(got, expected)
    known = expected == expected
    assert_same_signs(got[known], expected[known])


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint64"])
def test_relu(dtype):
    x = edges(dtype)
    got = apply(math.relu, x)
    np.testing.assert_array_equal(got, np.maximum(x, 0))
    assert not np.signbit(got[got == 0].astype(np.float64)).any()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("exponent", math.POWERS)
def test_power_has_numpys_bits(exponent, dtype):
    x = np.concatenate([edges(dtype), np.random.default_rng(3).normal(size=200).astype(dtype)])
    with np.errstate(all="ignore"):
        expected = x**exponent
    got = apply(lambda b, v: math.power(b, v, exponent), x)
    np.testing.assert_array_equal(got, expected)
    known = ~np.isnan(expected)
    assert_same_signs(got[known], expected[known])


def test_other_powers_have_no_kernel():
    b = Body()
    with pytest.raises(InternalError, match="no kernel"):
        math.power(b, b.load(0, "float32"), 3.0)
