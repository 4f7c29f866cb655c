"""Values, dtypes, shapes and scalars are NumPy's, for every row, dtype and memory layout."""

import numpy as np
import pytest
from cases import DTYPES, ROWS, numpy_meaning, quiet, samples, wrapped

from numen.dispatch.core import SCALAR
from numen.namespace.array import Array
from numen.ops import table
from tolerances import assert_close, assert_same

UNARY = [
    *("negative", "exp", "log", "tanh", "sqrt", "absolute", "relu"),
    *("sin", "floor", "isnan", "modf_fraction", "frexp_exponent"),
]
BINARY = [
    *("add", "subtract", "multiply", "divide", "power", "maximum", "minimum"),
    *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
    *("hypot", "remainder", "fmax", "logical_or"),
]
REDUCTIONS = ["sum", "mean", "max", "min"]
ROUNDED_OTHERWISE = {"erf", "expm", "cofactor_slope"}
"""Rows that NumPy has no function for, compared with one of higher precision."""


def outcome(function, *args, **params):
    try:
        return quiet(function, *args, **params), None
    except Exception as error:
        return None, error


def check(name, args, params):
    expected, error = outcome(numpy_meaning(name), *args, **params)
    if error is not None:
        with pytest.raises(type(error)):
            quiet(table[name], *wrapped(args), **params)
        return
    result = quiet(table[name], *wrapped(args), **params)
    if name in ROUNDED_OTHERWISE:
        assert result.dtype == expected.dtype
        assert_close(result._d, expected, 1 if name == "erf" else 10)
    else:
        assert_same(result._d, expected)
    if any(isinstance(a, np.ndarray) and a.ndim for a in args):
        assert (result._v is SCALAR) == isinstance(expected, np.generic)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", ROWS)
def test_samples_have_numpys_values(name, dtype):
    for args, params in samples(name, dtype):
        check(name, args, params)


def layouts():
    """Arrays with every kind of strides, by name."""
    base = (np.arange(1, 61, dtype=np.float64).reshape(3, 4, 5) % 7) + 0.5
    return {
        "scalar": np.array(1.5),
        "empty": np.ones((0,)),
        "one": np.ones((1,)),
        "empty rows": np.ones((0, 3)),
        "odd": base[:, :3, 0].copy(),
        "fortran": np.asfortranarray(base),
        "transposed": base.transpose(2, 0, 1),
        "strided": base[::2, 1::2, ::3],
        "reversed": base[::-1, :, ::-1],
        "broadcast": np.broadcast_to(base[:, :1], (3, 4, 5)),
        "long": np.arange(1001) / 1001 + 0.5,
        "other byte order": base.astype(">f8"),
        "unaligned": np.frombuffer(b"\0" + base.tobytes(), np.uint8)[1:].view(np.float64),
    }


@pytest.mark.parametrize("layout", layouts())
@pytest.mark.parametrize("name", UNARY)
def test_unary_rows_read_every_layout(name, layout):
    check(name, (layouts()[layout],), {})


@pytest.mark.parametrize("layout", layouts())
@pytest.mark.parametrize("name", BINARY)
def test_binary_rows_read_every_layout(name, layout):
    a = layouts()[layout]
    check(name, (a, a * 1.25), {})
    check(name, (a, 2.0), {})
    check(name, (np.float32(0.5) * np.ones(a.shape, np.float32), a), {})


@pytest.mark.parametrize("layout", layouts())
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_read_every_layout(name, layout):
    a = layouts()[layout]
    for axis in ((), tuple(range(a.ndim)), (a.ndim - 1,) if a.ndim else (), (0,) if a.ndim else ()):
        if name == "mean" and not a.size:
            continue
        check(name, (a,), {"axis": axis, "keepdims": False})
        check(name, (a,), {"axis": axis, "keepdims": True})


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "less", "where"])
@pytest.mark.parametrize("left", ["int8", "uint8", "int64", "float16", "float32", "complex64"])
@pytest.mark.parametrize("right", ["bool", "int16", "uint64", "float32", "float64"])
def test_mixed_dtypes_promote_as_numpy(name, left, right):
    a, b = np.arange(3).astype(left), np.array([2, 1, 0]).astype(right)
    check(name, (np.array([True, False, True]), a, b) if name == "where" else (a, b), {})


@pytest.mark.parametrize("name", ["add", "multiply", "divide", "power", "maximum", "less"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "float16", "float32", "complex64"])
@pytest.mark.parametrize("scalar", [True, 2, 2.5, 300])
def test_python_scalars_are_weak_as_in_numpy(name, dtype, scalar):
    a = np.array([0, 1, 1]).astype(dtype)
    check(name, (a, scalar), {})
    check(name, (scalar, a), {})


def test_mean_of_nothing_warns_as_numpy():
    with pytest.warns(RuntimeWarning):
        result = table["mean"](Array(np.ones((0, 2))), axis=(0,), keepdims=False)
    assert np.isnan(result._d).all()


def test_relu_keeps_the_dtype_and_nan():
    assert table["relu"](Array(np.array([True, False]))).dtype == np.bool_
    assert table["relu"](Array(np.array([-3, 3], np.int8)))._d.tolist() == [0, 3]
    assert np.isnan(table["relu"](Array(np.array([np.nan, -1.0])))._d[0])


def test_casts_and_copies_of_scalars_are_scalars():
    scalar = table["sum"](Array(np.ones(3)), axis=(0,), keepdims=False)
    assert scalar._v is SCALAR
    for result in (table["cast"](scalar, dtype=np.dtype(np.float32)), table["copy"](scalar)):
        assert result._v is SCALAR
        assert not result._d.flags.writeable
    assert table["copy"](Array(np.array(1.0)))._v is not SCALAR


def test_views_share_memory_with_their_base():
    x = Array(np.arange(6.0).reshape(2, 3))
    for name, params in [
        ("reshape", {"shape": (6,)}),
        ("transpose", {"axes": (1, 0)}),
        ("broadcast_to", {"shape": (4, 2, 3)}),
        ("getitem", {"index": (slice(None), slice(0, 2, 1))}),
    ]:
        view = table[name](x, **params)
        assert np.shares_memory(view._d, x._d)
        assert view.base is x


@pytest.mark.parametrize(
    "name", ["cast", "copy", "setitem", "scatter_set", "scatter_add", "gather"]
)
def test_other_rows_share_no_memory(name):
    for args, params in samples(name):
        result = np.asarray(table[name].impl(*args, **params))
        assert not any(np.shares_memory(result, a) for a in args if isinstance(a, np.ndarray))


def test_the_last_of_several_writes_stays():
    base, value = Array(np.zeros(2)), Array(np.array([1.0, 2.0, 3.0]))
    out = table["scatter_set"](base, value, np.array([0, 0, 1]), spec=(0,))
    assert out._d.tolist() == [2.0, 3.0]
