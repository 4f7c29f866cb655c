"""Every row of the lowering table against the NumPy function it stands for, and what has no row."""

import itertools
import math

import numpy as np
import pytest

from numen.compiler.body import Body
from numen.compiler.codegen.python import execute
from numen.compiler.lower import COMPARISONS, ELEMENTWISE, REDUCTIONS, has_kernel, lower
from numen.compiler.nest import Buffer, Nest, Store
from numen.compiler.nest_text import verify_nest
from numen.compiler.scalar import BOOL, DTYPES, FLOATS, INTS
from numen.errors import InternalError

ROUNDED = ("exp", "log", "tanh", "sigmoid", "softplus", "erf")
NUMPY = {
    "relu": lambda x: np.maximum(x, 0),
    "masked_product": lambda x, y: np.where(x == 0, x, x * y),
    "masked_quotient": lambda x, y: np.where(x == 0, x, x / y),
    "cast": None,
    "power": None,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "softplus": lambda x: np.logaddexp(x, np.zeros_like(x)),
    "erf": lambda x: np.array([math.erf(v) for v in x.tolist()], x.dtype),
}


def edges(dtype):
    if dtype == "bool":
        return np.array([False, True])
    if dtype in FLOATS:
        return np.array([0.0, -0.0, 1.0, -1.5, 3.25, np.inf, -np.inf, np.nan, 1e-40], dtype)
    info = np.iinfo(dtype)
    return np.array([info.min, 0, 1, 2, 7, info.max], dtype)


def run(op, operands, dtype, params=None):
    b = Body()
    args = [b.load(i, x.dtype.name) for i, x in enumerate(operands)]
    result = lower(b, op, args, dtype, params or {})
    out = np.empty(operands[0].shape, dtype)
    buffers = tuple(Buffer(x.dtype.name, ("1",)) for x in (*operands, out))
    nest = Nest(1, False, buffers, (), b.instrs, (Store(len(operands), result.position),))
    verify_nest(nest)
    execute(nest, out.shape, [*operands, out])
    return out


def product(*arrays):
    """All combinations of the arrays' elements, as arrays of one length."""
    columns = zip(*itertools.product(*arrays), strict=True)
    return [np.array(c, a.dtype) for c, a in zip(columns, arrays, strict=True)]


@pytest.mark.parametrize("op", [op for op in ELEMENTWISE if op not in ("cast", "power", "where")])
def test_row_is_the_numpy_function(op):
    row = ELEMENTWISE[op]
    function = NUMPY.get(op) or getattr(np, op)
    for dtype in row.dtypes:
        operands = product(*[edges(dtype)] * row.arity)
        with np.errstate(all="ignore"):
            expected = function(*operands)
        got = run(op, operands, expected.dtype.name)
        assert got.dtype == expected.dtype
        if op in ROUNDED:
            np.testing.assert_allclose(got, expected, rtol=4 * np.finfo(dtype).eps)
            continue
        np.testing.assert_array_equal(got, expected)
        if got.dtype.kind == "f" and op != "relu":
            known = ~np.isnan(expected)
            np.testing.assert_array_equal(np.signbit(got[known]), np.signbit(expected[known]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_where(dtype):
    condition, x, y = product(edges("bool"), edges(dtype), edges(dtype))
    np.testing.assert_array_equal(run("where", [condition, x, y], dtype), np.where(condition, x, y))


@pytest.mark.parametrize("dtype", FLOATS)
def test_power_with_a_constant_exponent(dtype):
    x = edges(dtype)
    for exponent in (2, 1.0, 0.5, 0, -1):
        with np.errstate(all="ignore"):
            expected = x**exponent
        y = np.full_like(x, exponent)
        got = run("power", [x, y], dtype, {"exponent": exponent})
        np.testing.assert_array_equal(got, expected)


def test_casts():
    for source, dtype in itertools.product(DTYPES, DTYPES):
        exact = source not in FLOATS or dtype in FLOATS + BOOL
        assert has_kernel("cast", [source], dtype, {"dtype": dtype}) == exact
        if exact:
            x = edges(source)
            with np.errstate(all="ignore"):
                expected = x.astype(dtype)
            np.testing.assert_array_equal(run("cast", [x], dtype), expected)


@pytest.mark.parametrize(
    ("op", "dtypes", "dtype", "params"),
    [
        ("cast", ["float32"], "int32", {}),
        ("cast", ["float32"], "float16", {}),
        ("cast", ["complex64"], "float32", {}),
        ("power", ["float32", "float32"], "float32", {}),
        ("power", ["float32", "float32"], "float32", {"exponent": 3}),
        ("power", ["float32", "float32"], "float32", {"exponent": None}),
        ("power", ["int32", "int32"], "int32", {"exponent": 2}),
        ("divide", ["int32", "int32"], "float64", {}),
        ("subtract", ["bool", "bool"], "bool", {}),
        ("negative", ["bool"], "bool", {}),
        ("add", ["float16", "float16"], "float16", {}),
        ("add", ["complex64", "complex64"], "complex64", {}),
        ("add", ["bfloat16", "bfloat16"], "bfloat16", {}),
        ("add", ["float32", "float64"], "float64", {}),
        ("add", ["float32", "float32"], "float64", {}),
        ("add", ["float32"], "float32", {}),
        ("less", ["float32", "float32"], "float32", {}),
        ("where", ["int8", "float32", "float32"], "float32", {}),
        ("exp", ["int32"], "float64", {}),
        ("sum", ["bool"], "bool", {}),
        ("sum", ["int32"], "int64", {}),
        ("argmax", ["float32"], "float32", {}),
        ("matmul", ["int32", "int32"], "int32", {}),
        ("gather", ["float32", "int64"], "float32", {}),
        ("reshape", ["float32"], "float32", {}),
    ],
)
def test_what_has_no_kernel(op, dtypes, dtype, params):
    assert not has_kernel(op, dtypes, dtype, params)
    if not set(dtypes) <= set(DTYPES):
        return
    b = Body()
    args = [b.load(i, name) for i, name in enumerate(dtypes)]
    with pytest.raises(InternalError, match="no elementwise kernel form"):
        lower(b, op, args, dtype, params)


def test_reductions_and_matmul_have_kernels():
    for op, dtypes in REDUCTIONS.items():
        for dtype in dtypes:
            assert has_kernel(op, [dtype], "int64" if op == "argmax" else dtype, {})
    assert REDUCTIONS["sum"] == INTS + FLOATS
    assert has_kernel("matmul", ["float32", "float32"], "float32", {})


def test_comparisons_give_bool():
    for op in COMPARISONS:
        assert has_kernel(op, ["int8", "int8"], "bool", {})
