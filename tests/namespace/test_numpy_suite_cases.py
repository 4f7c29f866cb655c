"""Cases of NumPy's own tests of numpy._core that once failed, each by the right value."""

from __future__ import annotations

import copy
import inspect
from typing import Any

import numpy as np
import pytest

import numen as nm


class Wrapped:
    """An object whose `__array__` gives an Array."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.array


class Duck:
    """A class that makes its own arrays for `like=`."""

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return func, args, kwargs


def test_engine_numpy_runs_numpys_functions() -> None:
    x = np.asfortranarray(np.random.default_rng(0).standard_normal((17, 33)))
    with nm.config(engine="numpy"):
        for name in ("sum", "mean", "var", "max", "cumsum", "argmin"):
            ours, theirs = getattr(nm, name)(nm.asarray(x), axis=0), getattr(np, name)(x, axis=0)
            assert ours.numpy().tobytes() == theirs.tobytes()
            assert ours.strides == theirs.strides
        kept = nm.mean(nm.asarray(x), axis=0, keepdims=True)
        assert kept.strides == np.mean(x, axis=0, keepdims=True).strides
        assert nm.var(nm.asarray(x, "f2")).numpy() == np.var(x.astype("f2"))


@pytest.mark.parametrize("engine", ["auto", "numpy", "kernels"])
@pytest.mark.parametrize("name", ["sum", "prod", "max", "any", "argmax", "cumsum", "argsort"])
@pytest.mark.parametrize("axis", [0, -1])
def test_axes_of_0d(engine: str, name: str, axis: int) -> None:
    with nm.config(engine=engine):
        ours = getattr(nm, name)(nm.array(5.0), axis=axis)
    theirs = getattr(np, name)(np.array(5.0), axis=axis)
    assert ours.shape == theirs.shape
    assert ours.dtype == theirs.dtype
    assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("engine", ["auto", "numpy", "kernels"])
@pytest.mark.parametrize("name", ["mean", "var", "std"])
def test_averages_of_0d_have_no_axis(engine: str, name: str) -> None:
    with nm.config(engine=engine), pytest.raises(np.exceptions.AxisError):
        getattr(nm, name)(nm.array(1, "f4"), axis=0)


@pytest.mark.parametrize("name", ["round", "var", "std"])
def test_kernels_keep_byte_orders_as_numpy(name: str) -> None:
    x = np.array([[1, -3, 7], [2, 9, 100]], ">f4")
    with nm.config(engine="kernels"):
        assert getattr(nm.asarray(x), name)().dtype == getattr(x, name)().dtype
        assert nm.round(nm.asarray(x.astype(">i2"))).dtype == np.dtype(">i2")


@pytest.mark.skipif(not np.ndarray.sum.__text_signature__, reason="NumPy shows no signatures")
@pytest.mark.parametrize(
    "name", ["all", "argsort", "astype", "choose", "conj", "put", "repeat", "sum", "take", "var"]
)
def test_signatures_of_methods(name: str) -> None:
    assert inspect.signature(getattr(nm.ndarray, name)) == inspect.signature(
        getattr(np.ndarray, name)
    )


def test_arguments_of_methods() -> None:
    z = nm.array([1 - 1j, 2j])
    out = nm.empty_like(z)
    assert z.conjugate(out) is out
    assert out.tolist() == [1 + 1j, -2j]
    with pytest.raises(TypeError, match="cannot conjugate non-numeric"):
        nm.array(["a"]).conj()
    assert nm.array([0, 1]).choose([10, 11], [20, 21]).tolist() == [10, 21]
    assert nm.ones(2, object).any(dtype=object, keepdims=True).dtype == object
    assert nm.ones((2, 3)).transpose(nm.array([1, 0])).shape == (3, 2)
    with pytest.raises(ValueError, match="axes don't match"):
        nm.ones((2, 2)).transpose(())


def test_like_asks_foreign_classes() -> None:
    assert nm.zeros((2, 3), dtype="f4", like=Duck()) == (nm.zeros, ((2, 3),), {"dtype": "f4"})
    function, args, _ = nm.frombuffer(b"12345678", dtype=int, like=Duck())
    assert function is nm.frombuffer
    assert args == (b"12345678",)
    assert type(nm.asarray([1], like=np.ones(1))) is nm.ndarray
    for function in (nm.array, nm.ascontiguousarray, nm.loadtxt):
        with pytest.raises(TypeError, match="The `like` argument must be"):
            function(1, like=1)


def test_objects_whose_array_is_an_array() -> None:
    x = Wrapped(nm.array([1.0, 2.0]))
    assert nm.array(x).tolist() == [1.0, 2.0]
    assert nm.array([x, x]).shape == (2, 2)
    assert nm.add(x, 1).tolist() == [2.0, 3.0]
    assert nm.union1d(x, [3]).tolist() == [1.0, 2.0, 3.0]
    assert nm.may_share_memory(x, x.array)
    y = nm.zeros(2)
    y[:] = x
    assert y.tolist() == [1.0, 2.0]


def test_arrays_of_objects_hold_the_very_arrays() -> None:
    x = nm.array([1.0, 2.0])
    ragged = nm.array([x, [x]], dtype=object)
    assert ragged[0] is x
    assert ragged[1][0] is x
    holder = nm.array([None], dtype=object)
    holder[0] = x
    assert holder[0] is x
    holder[:] = [Wrapped(x)]
    assert type(holder[0]) is Wrapped
    holder.fill([])
    assert holder[0] == []


def test_lists_that_contain_themselves() -> None:
    endless: list[Any] = []
    endless.append(endless)
    found = nm.array([endless, endless], dtype=object)
    assert found.shape == np.array([endless, endless], dtype=object).shape
    holder = nm.array([None])
    holder[0] = endless
    with pytest.raises(ValueError):
        holder.astype("M8")


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.4.0", reason="new in NumPy 2.4")
def test_ndmax() -> None:
    made = nm.array([[1, 2], [3]], dtype=object, ndmax=1)
    assert made.tolist() == [[1, 2], [3]]
    assert made.shape == (2,)


def test_out_ellipsis_gives_arrays() -> None:
    x = nm.array(3.0, requires_grad=True)
    y = nm.multiply(x, x, out=...)
    assert repr(nm.add(1, 2, out=...)) == "array(3)"
    assert repr(nm.add.reduce(nm.array([1, 2]), out=...)) == "array(3)"
    y.backward()
    assert x.grad == 6.0
    with pytest.raises(TypeError, match="only allowed as a keyword"):
        nm.add(1, 2, ...)


def test_methods_of_scalars() -> None:
    half = nm.array([0.5])[0]
    assert not half.is_integer()
    assert half.as_integer_ratio() == (1, 2)
    assert nm.array([7])[0].bit_count() == 3
    assert not hasattr(nm.array([0.5]), "is_integer")
    assert not hasattr(half, "bit_count")


def test_small_faults() -> None:
    assert copy.copy(nm.asarray(np.ones((2, 3), order="F"))).flags.f_contiguous
    x = nm.array([1])
    x.resize(())
    assert x.shape == ()
    with pytest.raises(TypeError):
        nm.eye(3).resize(refcheck="hi")
    with pytest.raises(TypeError):
        nm.can_cast("i4", None)
    with pytest.raises(ValueError):
        nm.broadcast(1, x=1)
    assert nm.finfo[np.float64] == np.finfo[np.float64]
    assert nm.array([1.5, "ab"], dtype=object).astype(np.dtypes.BytesDType).dtype == np.dtype("S3")


def test_byteswap_of_scalars() -> None:
    x = np.array([1 + 2j])
    assert nm.asarray(x)[0].byteswap().numpy() == x[0].byteswap()
    assert nm.array([1.0])[0].view("i8") == np.float64(1.0).view("i8")
