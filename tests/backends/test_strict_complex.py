"""Gradients of complex arrays on the strict backend are the host's."""

import numpy as np
import pytest

from numen.backends import strict
from numen.dispatch.backward import backward
from numen.dispatch.core import Leaf
from numen.namespace.array import Array
from numen.ops import table

ROWS = (
    *("absolute", "sign", "conjugate", "real", "imag", "cast", "where", "multiply", "divide"),
    *("power", "float_power", "exp", "log", "log1p", "sqrt", "arcsin", "arcsinh", "square"),
    *("sum", "mean", "prod", "cumsum", "cumprod", "max", "sort", "matmul", "vecdot", "matvec"),
    *("vecmat", "convolve", "convolution", "gather", "scatter_add", "concatenate", "maximum"),
)
COMPLEX = np.dtype(np.complex128)


def gradients(name, args, params, place):
    """The cotangents of the row's complex arguments."""
    inputs, leaves = [], []
    for a in args:
        x = Array(place(a)) if isinstance(a, np.ndarray) else a
        if isinstance(a, np.ndarray) and a.dtype.kind == "c":
            x._n = Leaf(a.shape, a.dtype)
            leaves.append(x)
        inputs.append(x)
    out = table[name](*inputs, **params)
    seed = np.arange(1.0, out.size + 1).reshape(out.shape)
    if out.dtype.kind == "c":
        seed = seed * (1 - 2j)
    found = backward([out], [Array(place(np.asarray(seed)))], wrt=[x._n for x in leaves])
    found = [g[...] if isinstance(g, np.generic) else g for g in found]
    return [g if isinstance(g, Array) else Array(g) for g in found]


@pytest.mark.parametrize("name", [name for name in ROWS if name in table])
def test_complex_gradients_are_the_hosts(name):
    for args, params in table[name].samples(np.random.default_rng(3), COMPLEX):
        expected = gradients(name, args, params, np.copy)
        found = gradients(name, args, params, strict.from_host)
        for host, device in zip(expected, found, strict=True):
            assert isinstance(device._d, strict.StrictArray)
            np.testing.assert_allclose(device.numpy(), host.numpy(), rtol=1e-12)
