"""Dtypes: NumPy's answers, the table of the small floats, and the names of all types."""

import itertools

import ml_dtypes
import numpy as np
import pytest
from same_source import compare

import numen as nm
from numen.dispatch.core import SCALAR
from numen.ops import promotion
from numen.ops.promotion import BFLOAT16, FLOAT8, SMALL

SAME_TEXTS = """
np.result_type(np.ones(2, "f4"), 2.5)
np.result_type("i4", np.float32, np.int8(3))
np.result_type(np.ones(2, "u1"), 300)
np.result_type(np.int64, "f2", True)
np.result_type("M8[s]", "m8[D]")
np.result_type("U3", "i4")
np.result_type("M8[s]", "i4", "f4")
np.result_type()
np.promote_types("i4", "f4")
np.promote_types("S3", "U5")
np.promote_types("M8", "f4")
np.can_cast("i4", "f4")
np.can_cast("f8", np.float32, "same_kind")
np.can_cast(np.ones(2), "f4", "same_kind")
np.can_cast(np.float64, int, casting="unsafe")
np.can_cast(3, "i1")
np.can_cast("i4", "i4", "nonsense")
np.common_type(np.ones(2, "f4"), np.ones(2, "i2"))
np.common_type(np.ones(2, "c8"), np.ones(2))
np.common_type(np.array(["a"]))
np.min_scalar_type(300)
np.min_scalar_type(-1)
np.min_scalar_type(np.array(1e50))
np.min_scalar_type(np.arange(3))
np.mintypecode(["f", "D"])
np.issubdtype(np.float32, np.floating)
np.issubdtype("i4", np.floating)
np.issubdtype(np.floating, np.number)
np.issubdtype(np.dtype("m8"), np.signedinteger)
np.isdtype(np.float32, "real floating")
np.isdtype(np.dtype("i8"), ("bool", "integral"))
np.isdtype(np.int8, np.int8)
np.isdtype(np.int8, "nonsense")
np.isdtype("i4", "integral")
np.isdtype(np.int8, 3)
np.typename("S1")
np.typename("G")
np.isscalar(3)
np.isscalar("text")
np.isscalar(np.float64(2))
np.isscalar(np.ones(3)[1])
np.isscalar(np.sum(np.arange(3)))
np.isscalar(np.asarray(3.0))
np.isscalar([1])
np.iterable(np.ones(2))
np.iterable(np.asarray(1.0))
np.iterable(3)
np.iterable({})
bool(np.finfo(np.float32).eps == 2.0**-23)
int(np.finfo(np.complex64(2)).bits)
np.finfo("i4")
np.iinfo(np.int16).max
np.dtype("f4").newbyteorder().str
np.dtype([("a", "i4"), ("b", "U3")]).itemsize
np.typecodes["AllFloat"]
np.little_endian
np.newaxis
np.sctypeDict["float32"] is np.float32
""".strip().splitlines()


@pytest.mark.parametrize("text", SAME_TEXTS)
def test_as_numpy(text):
    compare(text)


# ------------------------------------------------------------ the small floats

OTHERS = [np.dtype(c) for c in "?bBhHiIlLqQefdgFDG"]


def expected(small, other):
    """What the table says, by hand."""
    if other.kind in "biu":
        return small
    if other.kind == "c" or other.char in "fdg":
        return other
    assert other.char == "e"
    return (
        np.dtype("f2") if small in FLOAT8.values() and "e8m0" not in small.name else np.dtype("f4")
    )


@pytest.mark.parametrize("small", SMALL, ids=str)
def test_every_row_of_the_table(small):
    for other in OTHERS:
        common = expected(small, other)
        assert nm.promote_types(small, other) == common == nm.promote_types(other, small)
        assert nm.result_type(small, other) == common
        assert nm.result_type(nm.ones(2, small), nm.ones(2, other)) == common
    for weak in (2, 2.5, True):
        assert nm.result_type(nm.ones(2, small), weak) == small
    assert nm.result_type(small, 2j) == np.complex64
    assert nm.promote_types(small, BFLOAT16) == BFLOAT16
    assert nm.promote_types(small, small) == small
    for text in ("U3", "M8[s]"):
        with pytest.raises(TypeError):
            nm.promote_types(small, text)


@pytest.mark.parametrize(("a", "b"), list(itertools.combinations(FLOAT8.values(), 2)), ids=str)
def test_two_float8_kinds_have_no_common_dtype(a, b):
    for pair in ((a, b), (b, a), (a, np.dtype("i4"), b)):
        with pytest.raises(np.exceptions.DTypePromotionError, match="no common dtype"):
            nm.result_type(*pair)
    assert nm.result_type(a, b, BFLOAT16) == BFLOAT16
    assert nm.result_type(a, np.float32, b) == np.float32


def test_promotion_does_not_depend_on_the_order():
    dtypes = [BFLOAT16, *FLOAT8.values(), *OTHERS[:1], *map(np.dtype, ("i4", "f2", "f4", "c8"))]
    for triple in itertools.combinations(dtypes, 3):
        answers = set()
        for order in itertools.permutations(triple):
            try:
                answers.add(promotion.result_type(order))
            except TypeError:
                answers.add(None)
        assert len(answers) == 1, triple


def test_what_a_small_float_promotes_to_holds_its_values():
    for small in SMALL:
        every = np.arange(256 if small.itemsize == 1 else 65536).astype(f"u{small.itemsize}")
        with np.errstate(invalid="ignore"):  # signalling NaNs
            values = every.view(small).astype(np.float64)
        for other in (np.dtype("f2"), np.dtype("f4"), BFLOAT16):
            common = nm.promote_types(small, other)
            np.testing.assert_array_equal(values.astype(common).astype(np.float64), values)
            assert nm.can_cast(small, common)


def test_casts_of_small_floats():
    b, e5 = nm.bfloat16, nm.float8_e5m2
    safe = [(b, "f4"), (b, "f8"), (b, "c8"), (e5, b), (e5, "f2"), ("i1", b), ("?", e5), (b, b)]
    for source, target in safe:
        assert nm.can_cast(source, target)
    same_kind = [("f4", b), ("f8", e5), (b, e5), (b, "f2"), ("i8", b)]
    for source, target in same_kind:
        assert not nm.can_cast(source, target)
        assert nm.can_cast(source, target, "same_kind")
    for source, target in [(b, "i4"), ("c8", b)]:
        assert not nm.can_cast(source, target, "same_kind")
        assert nm.can_cast(source, target, "unsafe")
    assert nm.can_cast(nm.ones(2, b), "f4")
    assert not nm.can_cast(b, "f4", "equiv")


def test_questions_about_small_floats():
    for dtype in SMALL:
        assert nm.issubdtype(dtype, nm.floating)
        assert nm.issubdtype(dtype.type, nm.inexact)
        assert not nm.issubdtype(dtype, nm.integer)
        assert nm.isdtype(dtype, "real floating")
        assert nm.isdtype(dtype, ("integral", "numeric"))
        assert not nm.isdtype(dtype, ("bool", np.float32))
        assert nm.isdtype(dtype.type, dtype)
        assert nm.finfo(dtype).dtype == dtype
        assert nm.common_type(nm.ones(1, dtype), nm.ones(1, "f4")) is np.float32
    with pytest.raises(ValueError, match="nonsense"):
        nm.isdtype(nm.bfloat16, "nonsense")
    assert float(nm.finfo(nm.ones(1, nm.bfloat16)).max) == float(ml_dtypes.finfo("bfloat16").max)


# ------------------------------------------------------------ names


def test_scalar_types_are_numpy_s():
    from numen.namespace import dtypes

    for name in [*dtypes.SCALAR_TYPES, "float128", "complex256"]:
        if hasattr(np, name):
            assert getattr(nm, name) is getattr(np, name), name
    missing = [
        name
        for name in dir(np)
        if isinstance(getattr(np, name), type)
        and issubclass(getattr(np, name), np.generic)
        and not hasattr(nm, name)
    ]
    assert missing == []


def test_a_scalar_array_counts_as_a_scalar():
    assert nm.ones(3).sum()._v is SCALAR
    assert nm.isscalar(nm.ones(3).sum())
    assert not nm.isscalar(nm.asarray(3.0))
