"""The differences from NumPy that docs/compatibility.md lists, each pinned by one test."""

from __future__ import annotations

import copy
import json
import numbers
import pickle
import re
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import numen as nm
from numen.runtime import platforms

KERNELS = pytest.mark.skipif(not platforms.available(), reason="no kernels on this machine")
PAGE = Path(__file__).parents[2] / "docs/compatibility.md"


def test_page_and_tests_name_each_other() -> None:
    on_page = re.findall(r"\| `(\w+)` \|$", PAGE.read_text(), re.MULTILINE)
    here = [name for name in globals() if name.startswith("test_") and "page_and" not in name]
    assert len(on_page) == len(set(on_page))
    assert {f"test_{name}" for name in on_page} == set(here)


# ------------------------------------------------------------ types


def test_array_class() -> None:
    x = nm.zeros(2)
    assert type(x) is nm.Array is nm.ndarray
    assert isinstance(x, nm.ndarray)
    assert not isinstance(x, np.ndarray) and not issubclass(nm.Array, np.ndarray)


def test_scalar_class() -> None:
    s, theirs = nm.array([1.5, 2]).sum(), np.array([1.5, 2]).sum()
    assert type(s) is nm.Array and s.shape == ()
    assert not isinstance(s, (np.generic, float, numbers.Number))
    assert isinstance(theirs, (np.generic, float)) and isinstance(theirs, numbers.Number)
    assert (repr(s), str(s), f"{s:.2f}", hash(s)) == (repr(theirs), "3.5", "3.50", hash(theirs))
    assert {3.5: "found"}[s] == "found" and "abc"[nm.array([1])[0]] == "b"
    assert not s.flags.writeable
    with pytest.raises(TypeError):
        s[()] = 1


def test_truth_by_identity() -> None:
    assert (np.ones(1)[0] == 1) is np.True_
    equal = nm.ones(1)[0] == 1
    assert equal and equal is not np.True_ and not isinstance(equal, np.bool_)


def test_python_float_methods() -> None:
    s = nm.ones(1)[0]
    assert isinstance(np.float64(1), float) and not isinstance(s, float)
    assert json.dumps(np.float64(1)) == json.dumps(s.item()) == "1.0"
    with pytest.raises(TypeError):
        json.dumps(s)


def test_isscalar() -> None:
    s = nm.ones(2).sum()
    assert nm.isscalar(s) and not np.isscalar(s)


def test_kept_scalars() -> None:
    assert type(nm.array(["ab"])[0]) is np.str_
    assert type(nm.array(["2020-01-01"], dtype="M8[D]")[0]) is np.datetime64
    assert type(nm.array([1, 2], dtype="m8[s]").sum()) is np.timedelta64
    assert type(nm.array([(1, 2.0)], dtype="i4,f8")[0]) is np.void
    assert type(nm.array([3, None], dtype=object)[0]) is int


def test_scalar_constructors() -> None:
    assert nm.float64 is np.float64
    assert type(nm.float64(3) + nm.float64(4)) is np.float64
    assert type(nm.float64(3) + nm.ones(2)) is nm.Array


def test_subclassing() -> None:
    class Sub(nm.Array):
        pass

    assert type(nm.zeros(2).view(Sub)) is nm.Array
    assert type(nm.array(np.ma.array([[1, 2]]), subok=True)) is nm.Array
    assert type(np.array(np.ma.array([[1, 2]]), subok=True)) is np.ma.MaskedArray
    assert isinstance(nm.nn.Parameter(nm.zeros(2)), nm.Array)


def test_host_classes() -> None:
    assert nm.matrix is np.matrix and nm.recarray is np.recarray and nm.poly1d is np.poly1d
    masked = np.ma.array([1, 2], mask=[False, True])
    assert type(nm.array([1, 2]) + masked) is np.ma.MaskedArray
    with pytest.raises(nm.GradientError):
        nm.asmatrix(nm.ones((1, 2)) * nm.array([1.0, 2.0], requires_grad=True))


def test_ufunc_class() -> None:
    assert not isinstance(nm.add, np.ufunc) and isinstance(nm.add, nm.ufunc)
    assert nm.add is not np.add
    assert (nm.add.nin, nm.add.types, nm.add.identity) == (2, np.add.types, 0)


def test_own_classes() -> None:
    assert not isinstance(nm.ones(2).flat, np.flatiter)
    assert not isinstance(nm.vectorize(abs), np.vectorize)
    assert not isinstance(nm.random.default_rng(0), np.random.Generator)
    assert nm.memmap is not np.memmap


def test_limits() -> None:
    assert nm.finfo is not np.finfo and isinstance(nm.finfo(nm.float32), np.finfo)
    assert not isinstance(nm.iinfo(nm.int8), np.iinfo)
    assert nm.finfo(nm.float32).eps == np.finfo(np.float32).eps
    assert nm.finfo(nm.bfloat16).bits == 16


def test_functions_without_protocol() -> None:
    x = nm.arange(4)
    assert type(np.random.default_rng(0).permutation(x)) is np.ndarray
    assert type(np.sort(x)) is nm.Array


# ------------------------------------------------------------ memory


def test_base_is_the_owner() -> None:
    x, theirs = nm.arange(6.0), np.arange(6.0)
    window = np.lib.stride_tricks.sliding_window_view
    assert window(theirs, 2).base is not theirs
    assert nm.lib.stride_tricks.sliding_window_view(x, 2).base is x
    assert x[1:][1:].reshape(2, 2).T.base is x


def test_memoryview_needs_python_3_12() -> None:
    x = nm.arange(3)
    if sys.version_info >= (3, 12):
        assert memoryview(x).shape == (3,)
    else:
        with pytest.raises(TypeError):
            memoryview(x)
    assert memoryview(x.numpy()).tobytes() == x.tobytes()


def test_array_struct() -> None:
    assert hasattr(np.ones(2), "__array_struct__") and not hasattr(nm.ones(2), "__array_struct__")
    assert nm.ones(2).__array_interface__["shape"] == (2,)


def test_refcheck() -> None:
    x, theirs = nm.ones(2), np.ones(2)
    other, others = x, theirs
    with pytest.raises(ValueError):
        theirs.resize(4)
    x.resize(4)
    assert other.tolist() == [1, 1, 0, 0] and others.shape == (2,)


def test_where_without_out() -> None:
    a = nm.array([4.0, 9.0], requires_grad=True)
    result = nm.sqrt(a, where=nm.array([True, False]))
    assert result.tolist() == [2, 0]
    result.sum().backward()
    assert a.grad.tolist() == [0.25, 0]


def test_pickle_of_recorded() -> None:
    leaf = nm.array([1.0], requires_grad=True)
    assert pickle.loads(pickle.dumps(leaf)).requires_grad
    for store in (pickle.dumps, copy.deepcopy):
        with pytest.raises(nm.GradientError):
            store(leaf * 2)


# ------------------------------------------------------------ gradients


def test_write_into_a_leaf() -> None:
    leaf = nm.array([1.0, 2.0], requires_grad=True)
    with pytest.raises(nm.LeafWriteError):
        leaf[0] = 3
    with nm.no_grad():
        leaf[0] = 3
    assert leaf.tolist() == [3, 2]


def test_leaving_with_a_gradient() -> None:
    leaf = nm.array([1.0, 2.0], requires_grad=True)
    with pytest.raises(nm.GradientError):
        np.asarray(leaf)
    assert np.asarray(leaf.detach()).tolist() == [1, 2]


def test_repr_of_a_gradient() -> None:
    assert repr(nm.array([1.0], requires_grad=True)) == "array([1.], requires_grad=True)"


def test_gradients_at_kinks() -> None:
    assert nm.grad(nm.max)(nm.array([2.0, 2.0])).tolist() == [0.5, 0.5]
    assert nm.grad(lambda a: nm.maximum(a, 1))(nm.array(1.0)).item() == 0.5
    assert nm.grad(abs)(nm.array(0.0)).item() == 0
    assert nm.grad(nm.relu)(nm.array(0.0)).item() == 0
    assert nm.grad(lambda a: a**2)(nm.array(0.0)).item() == 0
    assert nm.grad(lambda p: nm.array(0.0) ** p)(nm.array(2.0)).item() == 0


def test_complex_gradients() -> None:
    z = nm.array([3 + 4j], requires_grad=True)
    abs(z).sum().backward()
    assert z.grad.tolist() == [0.6 + 0.8j]
    with pytest.raises(nm.GradientError, match="real"):
        (z * z).sum().backward()


# ------------------------------------------------------------ values, warnings, errors


@KERNELS
def test_rounding_of_large_arrays() -> None:
    x = nm.linspace(-20, 20, 16_384)
    exact = np.exp(x.numpy())
    with nm.config(engine="numpy"):
        assert np.array_equal(nm.exp(x).numpy(), exact)
    ulps = np.abs(nm.exp(x).numpy() - exact) / np.spacing(exact)
    assert 0 < ulps.max() <= 4


@KERNELS
def test_warnings_of_kernels() -> None:
    x = nm.full(16_384, 1000.0)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert nm.exp(x)[0] == nm.inf
    assert not seen
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        nm.exp(x)
    with nm.config(engine="numpy"), pytest.warns(RuntimeWarning, match="overflow"):
        nm.exp(x)


def test_error_texts() -> None:
    with pytest.raises(ValueError) as theirs:
        np.zeros(2) + np.zeros(3)
    with pytest.raises(ValueError) as ours:
        nm.zeros(2) + nm.zeros(3)
    assert type(ours.value) is type(theirs.value)
    assert str(theirs.value).strip() in str(ours.value)
    assert str(ours.value).startswith("add: ") and "float64 array of shape (3,)" in str(ours.value)


def test_small_float_promotion() -> None:
    b, i = np.ones(1, nm.bfloat16), np.ones(1, np.int32)
    assert (b + i).dtype == np.float64
    assert (nm.array(b) + nm.array(i)).dtype == nm.bfloat16


def test_small_float_sums() -> None:
    ones = np.ones(1000, nm.bfloat16)
    assert float(ones.sum()) == 256
    assert float(nm.array(ones).sum()) == 1000
