"""float32 stays float32 in every rule, and `resolve` names the dtypes NumPy computes in."""

import numpy as np
import pytest
from cases import DIFFERENTIABLE, is_float, quiet, raw, samples, wrapped

from numen.dispatch import primitive
from numen.namespace.array import Array
from numen.ops import table
from numen.ops.dtypes import resolve

F32 = np.dtype(np.float32)
SINGLE = (F32, np.dtype(np.complex64))
"""Of the latter, real arguments get the real part from the backward pass."""


@pytest.fixture
def computed(monkeypatch):
    """The dtypes of every Array an op makes."""
    seen = []
    finish = primitive.Primitive.finish

    def spy(self, args, params, data):
        seen.append(np.asarray(data).dtype)
        return finish(self, args, params, data)

    monkeypatch.setattr(primitive.Primitive, "finish", spy)
    return seen


def float32_samples(name):
    for args, params in samples(name, F32):
        if name == "cast":
            params = {"dtype": F32}
        yield args, params


@pytest.mark.parametrize("arrays", [False, True], ids=["raw", "arrays"])
@pytest.mark.parametrize("name", [n for n in DIFFERENTIABLE if n != "float_power"])
def test_rules_of_float32_yield_float32(name, arrays, computed):
    row = table[name]
    for args, params in float32_samples(name):
        given = wrapped(args) if arrays else args
        out = row(*given, **params)
        assert out.dtype in SINGLE
        g = np.ones(out.shape, out.dtype)
        cotangents = row.vjp(
            [is_float(a) for a in args], Array(g) if arrays else g, out, *given, **params
        )
        for a, c in zip(args, cotangents, strict=True):
            if is_float(a):
                assert c is None or c.dtype in SINGLE
            else:
                assert c is None or not isinstance(a, np.ndarray)
        tangents = [np.ones(a.shape, F32) if is_float(a) else None for a in args]
        if arrays:
            tangents = [None if t is None else Array(t) for t in tangents]
        assert row.jvp(out, given, tangents, **params).dtype == out.dtype
    assert not {np.dtype(np.float64), np.dtype(np.complex128)} & set(computed)


POINTWISE = [n for n in table if table[n].ufunc is not None and table[n].ufunc.signature is None]


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "float32"])
@pytest.mark.parametrize("name", POINTWISE)
def test_resolve_agrees_with_numpy(name, dtype):
    row = table[name]
    for other in ("int32", "float64", 2, 2.0, True)[: None if row.ufunc.nin > 1 else 1]:
        second = np.ones(2, other) if isinstance(other, str) else other
        args = (np.ones(2, dtype), second)[: row.ufunc.nin]
        try:
            expected = quiet(row.ufunc, *args)
        except TypeError:
            with pytest.raises(TypeError):
                resolve(row, args)
            continue
        operands, out = resolve(row, args)
        assert out == expected.dtype
        cast = [np.asarray(a).astype(d) for a, d in zip(args, operands, strict=True)]
        np.testing.assert_array_equal(quiet(row.ufunc, *cast), expected, strict=True)


def test_resolve_of_rows_without_a_ufunc():
    f4, f8, i8 = np.dtype("f4"), np.dtype("f8"), np.dtype("i8")
    condition, a, b = np.ones(2, bool), np.ones(2, f4), np.ones(2, f8)
    assert resolve(table["where"], (condition, a, 0.0))[1] == f4
    assert resolve(table["where"], (condition, a, b)) == ((np.dtype(bool), f8, f8), f8)
    assert resolve(table["concatenate"], (a, b)) == ((f8, f8), f8)
    assert resolve(table["relu"], (a,)) == ((f4,), f4)
    assert resolve(table["scatter_add"], (a, b, np.ones(2, i8))) == ((f4, f4, i8), f4)
    assert resolve(table["matmul"], (a, b))[1] == f8


def test_integers_carry_no_gradient():
    x = Array(np.arange(3.0)).requires_grad_()
    assert table["cast"](x, dtype=np.dtype(int))._n is None
    assert table["argmax"](x, axis=0, keepdims=False)._n is None
    assert (x > 1)._n is None
    assert raw(x * 2)._n is None if isinstance(raw(x * 2), Array) else (x * 2)._n is not None
