"""bfloat16 and float8 in ops: the table's dtypes, sums in float32 rounded once, jit like eager."""

import itertools

import numpy as np
import pytest

import numen as nm
from numen.ops import promotion, table
from numen.ops.promotion import BFLOAT16, FLOAT8

DTYPES = [BFLOAT16, FLOAT8["float8_e4m3fn"], FLOAT8["float8_e5m2"]]
OTHERS = [*DTYPES, *map(np.dtype, ("?", "i1", "i8", "f2", "f4", "f8", "c8"))]


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "less", "where", "concatenate"])
@pytest.mark.parametrize(("a", "b"), list(itertools.product(DTYPES, OTHERS)), ids=str)
def test_mixed_operands(name, a, b):
    x, y = nm.array([1, 2, 0.5], dtype=a), nm.asarray(np.array([2, 1, 3]).astype(b))
    call = {
        "where": lambda p, q: nm.where(nm.array([True, False, True]), p, q),
        "concatenate": lambda p, q: nm.concatenate([p, q]),
    }.get(name, getattr(nm, name))
    for p, q in ((x, y), (y, x)):
        try:
            common = promotion.result_type((a, b))
        except TypeError:
            with pytest.raises(TypeError, match=r"(?i)no common dtype"):
                call(p, q)
            continue
        result = call(p, q)
        expected = call(p.astype(common), q.astype(common))
        assert result.dtype == expected.dtype
        assert result.tolist() == expected.tolist()
        if name != "less":
            assert result.dtype == common


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_python_numbers_are_weak(dtype):
    x = nm.array([1, 2, 0.5], dtype=dtype)
    for result in (x * 2.0, 0.0 + x, x / 3, x - True, 1 - x, x**0.5, nm.where(x > 0.25, x, 0.0)):
        assert result.dtype == dtype
    assert (x + 1j).dtype == np.complex64
    y = nm.array([1, 2, 0.5], dtype=dtype)
    y *= 2.0
    assert y.dtype == dtype
    assert y.tolist() == [2, 4, 1]


SUMS = """
x.sum()
x.mean()
x @ x
nm.sum(x)
nm.dot(x, x)
nm.cumsum(x)
nm.var(x)
nm.std(x)
nm.trace(nm.ones((300, 300), x.dtype))
nm.matmul(nm.ones((2, 300), x.dtype), nm.ones((300, 2), x.dtype))
"""


@pytest.mark.parametrize("text", SUMS.split("\n")[1:-1])
def test_sums_are_in_float32_and_rounded_once(text):
    data = (np.arange(3000) % 7).astype(BFLOAT16)
    result = eval(text, {"nm": nm, "x": nm.asarray(data)})
    wide = eval(text, {"nm": nm, "x": nm.asarray(data.astype(np.float32))})
    assert result.dtype == BFLOAT16
    assert result.tolist() == wide.astype(BFLOAT16).tolist()


def test_a_dtype_asked_for_is_not_rounded_on_the_way():
    x = nm.ones(3000, nm.bfloat16)
    assert nm.sum(x, dtype=nm.float32).item() == 3000
    out = nm.zeros((), nm.float32)
    assert nm.sum(x, dtype=nm.float32, out=out).item() == 3000


def test_gradients_have_the_operands_dtypes():
    x = nm.array(np.ones(300, BFLOAT16), requires_grad=True)
    h = nm.array(np.ones(300, np.float16), requires_grad=True)
    y = (x * h * 2.0).sum()
    assert y.dtype == np.float32
    y.backward()
    assert x.grad.dtype == BFLOAT16
    assert h.grad.dtype == np.float16
    assert x.grad.tolist() == h.grad.tolist() == [2] * 300


def test_jit_and_kernels_compute_alike():
    def f(a, k):
        return (a * k + 2.0).sum() + a @ a, nm.where(a > 0.5, a, 0.0), a.astype("f4") * a

    a = nm.asarray((np.arange(3000) % 5).astype(BFLOAT16))
    k = nm.arange(3000) % 2
    eager = f(a, k)
    compiled = nm.jit(f)
    for _ in range(4):
        results = compiled(a, k)
        assert [r.dtype for r in results] == [r.dtype for r in eager]
        assert [r.tolist() for r in results] == [r.tolist() for r in eager]
    with nm.config(engine="kernels"):
        assert [r.tolist() for r in f(a, k)] == [r.tolist() for r in eager]


def test_rows_of_numpy_s_dtypes_stay_numpy_s():
    assert table["add"].plain_impl is np.add
    assert table["add"].impl(np.float32(1), np.float64(2)).dtype == np.float64
