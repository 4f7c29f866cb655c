"""Modules below numen.lib, numen.ma and numen.polynomial, and what classes of NumPy's need."""

import copy
import inspect
import io
import pickle

import numpy as np
import pytest

import numen as nm
from numen.lib import array_utils, npyio, recfunctions, scimath
from numen.lib import format as npy
from numen.ma import core, extras, testutils
from numen.polynomial import polyutils

MASKED = np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0])


def test_fields_of_records():
    ours = recfunctions.merge_arrays((nm.array([1, 2]), nm.array([10.0, 20.0, 30.0])))
    theirs = np.lib.recfunctions.merge_arrays((np.array([1, 2]), np.array([10.0, 20.0, 30.0])))
    assert isinstance(ours, nm.Array)
    assert ours.dtype == theirs.dtype
    assert ours.tolist() == theirs.tolist()
    records = nm.array([(1, 2.0), (3, 4.0)], dtype=[("a", "i4"), ("b", "f8")])
    plain = recfunctions.structured_to_unstructured(records)
    assert isinstance(plain, nm.Array)
    assert plain.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert recfunctions.merge_arrays(records).tolist() == records.tolist()


def test_parts_of_the_npy_format():
    file = io.BytesIO()
    npy.write_array(file, nm.arange(3))
    file.seek(0)
    read = npy.read_array(file)
    assert isinstance(read, nm.Array)
    assert read.tolist() == [0, 1, 2]
    assert nm.lib.format is npy


def test_npz_files_are_of_the_class_that_lib_names():
    file = io.BytesIO()
    nm.savez(file, x=nm.ones(2))
    file.seek(0)
    stored = nm.load(file)
    assert isinstance(stored, npyio.NpzFile)
    assert stored.f.x.tolist() == [1.0, 1.0]
    fields = stored.f
    stored.close()
    del stored
    with pytest.raises(ReferenceError, match="x"):
        fields.x


def test_small_modules_of_lib():
    x = nm.ones((2, 3))
    low, high = array_utils.byte_bounds(x)
    assert high - low == 48
    assert array_utils.normalize_axis_index(nm.array(-1), 3) == 2
    assert scimath.sqrt(-1) == 1j
    assert nm.lib.scimath is scimath
    with pytest.raises(AttributeError, match="nothing"):
        nm.lib.nothing


def test_polyutils_on_arrays():
    trimmed = polyutils.trimseq(nm.array([1.0, 2.0, 0.0, 0.0]))
    assert isinstance(trimmed, nm.Array)
    assert trimmed.tolist() == [1.0, 2.0]
    assert polyutils.mapdomain(nm.array([0.0, 4.0]), [0, 4], [0, 2]).tolist() == [0.0, 2.0]


def test_rank_warnings_are_among_the_exceptions():
    assert nm.exceptions.RankWarning is np.exceptions.RankWarning
    assert "RankWarning" in nm.exceptions.__all__


def test_masks_may_be_the_constant_nomask():
    assert nm.ma.getmask(nm.ones(3)) is nm.ma.nomask
    assert nm.ma.make_mask(nm.array([False, False])) is nm.ma.nomask
    assert nm.ma.getmask(MASKED).tolist() == [False, True, False]
    assert core.getmask is nm.ma.getmask
    assert extras.median is nm.ma.median
    assert core.MaskedConstant is type(np.ma.masked)
    with pytest.raises(AttributeError, match="nothing"):
        core.nothing


def test_borrowed_functions_show_numpy_s_signature():
    assert inspect.signature(nm.ma.median) == inspect.signature(np.ma.median)
    assert inspect.signature(nm.ma.masked_where) == inspect.signature(np.ma.masked_where)


def test_assertions_that_know_masks():
    testutils.assert_equal(nm.array([1, 2]), nm.array([1, 2]))
    with pytest.raises(AssertionError):
        testutils.assert_equal(nm.array([1, 2]), nm.array([1, 3]))


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "all", "any", "mean"])
def test_reductions_of_masked_arrays_skip_what_is_masked(name):
    assert float(getattr(nm, name)(MASKED)) == float(getattr(np, name)(MASKED))


@pytest.mark.parametrize("name", ["zeros_like", "ones_like", "empty_like"])
def test_arrays_like_masked_ones_are_plain(name):
    made = getattr(nm, name)(MASKED)
    assert type(made._d) is np.ndarray
    assert (made.shape, made.dtype) == ((3,), np.float64)


def test_numpy_reads_arrays_of_its_string_dtype():
    x = nm.array(["a", "bc"], dtype=np.dtypes.StringDType())
    assert np.array(x).tolist() == ["a", "bc"]
    assert np.asarray(x, np.dtypes.StringDType()).dtype == x.dtype


def test_limits_of_a_python_number():
    assert nm.finfo(1.0).eps == np.finfo(1.0).eps
    assert nm.finfo(1j).dtype == np.finfo(1j).dtype


def test_infinities_are_refused_without_a_warning():
    for value in (np.inf, np.nan):
        with pytest.raises(ValueError, match="infs or NaNs"):
            nm.asarray_chkfinite([1.0, value])
    assert nm.asarray_chkfinite([1.0, 2.0]).tolist() == [1.0, 2.0]


def test_piecewise_of_one_number():
    x = nm.array(4.0)
    assert nm.piecewise(x, x > 3, [4, 0]) == np.piecewise(np.array(4.0), np.True_, [4, 0])


def test_vectorize_takes_its_settings_later():
    calls = []

    @nm.vectorize
    def f(x):
        calls.append(x)
        return x**2

    f.cache = True
    assert f(nm.arange(5)).tolist() == [0, 1, 4, 9, 16]
    assert len(calls) == 5
    g = nm.vectorize(lambda x: x)
    g.otypes = "i"
    assert g(nm.zeros((0, 5))).dtype == np.int32
    assert g.otypes == "i"
    with pytest.raises(AttributeError, match="nothing"):
        g.nothing
    with pytest.raises(TypeError):
        nm.vectorize(pyfunc=3)


def test_vectorize_puts_the_very_objects_into_object_arrays():
    y = nm.arange(3)
    assert nm.vectorize(lambda x: y, otypes=[object])(None).item() is y
    both = nm.vectorize(lambda x: (y, nm.array(x) * 2), otypes=[object, float])
    first, second = both([1.0, 2.0])
    assert first[1] is y
    assert second.tolist() == [2.0, 4.0]


@pytest.mark.parametrize("name", ["array", "asarray", "asanyarray", "zeros", "empty"])
def test_makers_of_arrays_do_not_become_methods(name):
    maker = getattr(nm, name)

    class Holder:
        make = maker

    assert Holder().make([2]).shape == getattr(np, name)([2]).shape
    assert pickle.loads(pickle.dumps(maker)) is maker
    assert copy.deepcopy(maker) is maker
    assert "dtype" in inspect.signature(maker).parameters
    assert maker.__name__ == name


def test_makers_of_arrays_by_their_own_name_are_traced():
    from numen import array, zeros

    def f(x):
        return array([x[0], 2 * x[1]]) + zeros(2)

    traced = nm.jit(f)
    for x in ([1.0, 2.0], [3.0, 4.0], [5.0, 6.0]):
        assert traced(nm.array(x)).tolist() == f(nm.array(x)).tolist()
    assert nm.grad(lambda x: traced(x).sum())(nm.array([1.0, 2.0])).tolist() == [1.0, 2.0]


class Wrapped(np.lib.mixins.NDArrayOperatorsMixin):
    """Computes with numen's arrays and numbers, and refuses NumPy's."""

    def __init__(self, value):
        self.value = value

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        given = (*inputs, *kwargs.get("out", ()))
        if not all(isinstance(x, (nm.Array, Wrapped, int)) for x in given):
            return NotImplemented
        plain = [x.value if isinstance(x, Wrapped) else x for x in inputs]
        if "out" in kwargs:
            kwargs["out"] = tuple([x.value if isinstance(x, Wrapped) else x for x in kwargs["out"]])
        result = getattr(ufunc, method)(*plain, **kwargs)
        return None if method == "at" else Wrapped(result)


@pytest.mark.parametrize(
    ("compute", "expected"),
    [
        (lambda x, w: x + w, [4, 6]),
        (lambda x, w: w - x, [2, 2]),
        (lambda x, w: x @ w, 11),
        (lambda x, w: nm.multiply(x, w), [3, 8]),
        (lambda x, w: nm.add(x, x, out=w), [2, 4]),
        (lambda x, w: nm.add.reduce(w), 7),
    ],
)
def test_other_classes_compute_with_arrays(compute, expected):
    result = compute(nm.array([1, 2]), Wrapped(nm.array([3, 4])))
    assert isinstance(result, Wrapped)
    assert isinstance(result.value, nm.Array)
    assert result.value.tolist() == expected


def test_other_classes_take_part_in_place():
    x = given = nm.array([1, 2])
    x += Wrapped(nm.array([3, 4]))
    assert isinstance(x, Wrapped)
    assert given.tolist() == [4, 6]
    w = Wrapped(nm.array([1, 2, 3]))
    nm.negative.at(w, nm.array([0, 1]))
    assert w.value.tolist() == [-1, -2, 3]


def test_what_no_class_computes_is_a_type_error():
    with pytest.raises(TypeError):
        nm.add(Wrapped(nm.array([1])), "text")
    with pytest.raises(TypeError):
        nm.array([1]) + object()
