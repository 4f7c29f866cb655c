"""sigmoid, softplus and erf within 4 ulp of the true value, over their whole domain."""

import math

import numpy as np
import pytest

from numen.compiler import special
from numen.compiler.body import Body
from numen.compiler.codegen.python import execute
from numen.compiler.nest import Buffer, Nest, Store

TRUE = {
    "sigmoid": lambda v: 1 / (1 + math.exp(-v)) if v > -700 else math.exp(v),
    "softplus": lambda v: math.log1p(math.exp(-abs(v))) + max(v, 0.0),
    "erf": math.erf,
}


def apply(function, x):
    b = Body()
    result = function(b, b.load(0, x.dtype.name))
    out = np.empty_like(x)
    buffers = (Buffer(x.dtype.name, ("1",)),) * 2
    nest = Nest(1, False, buffers, (), b.instrs, (Store(1, result.position),))
    execute(nest, out.shape, [x, out])
    return out


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", TRUE)
def test_accuracy(name, dtype):
    rng = np.random.default_rng(0)
    most = {"erf": 7.0}.get(name, 80.0)
    parts = [
        rng.uniform(-most, most, 1500),
        rng.uniform(-2, 2, 1500),
        np.exp2(rng.uniform(-60, 6, 500)) * rng.choice([-1, 1], 500),
        [0.0, 1.0, -1.0, np.log(3), -np.log(3), 0.999999, 1.000001],
    ]
    x = np.concatenate(parts).astype(dtype)
    found = apply(getattr(special, name), x).astype(float)
    expected = np.array([TRUE[name](v) for v in x.astype(float).tolist()])
    unit = np.spacing(np.abs(expected).astype(dtype)).astype(float)
    assert (np.abs(found - expected) / unit).max() <= 4


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_special_values(dtype):
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e4, -1e4], dtype)
    erf = apply(special.erf, x)
    np.testing.assert_array_equal(erf, [0, 0, 1, -1, np.nan, 1, -1])
    assert np.signbit(erf).tolist() == [False, True, False, True, np.signbit(erf[4]), False, True]
    sigmoid = apply(special.sigmoid, x)
    np.testing.assert_array_equal(sigmoid, [0.5, 0.5, 1, 0, np.nan, 1, 0])
    softplus = apply(special.softplus, x)
    assert softplus[2:].tolist()[:2] == [np.inf, 0]
    assert np.isnan(softplus[4])
    assert softplus[5] == 1e4
