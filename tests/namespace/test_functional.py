"""vectorize, apply_along_axis, nditer, floating-point state, dates, and NumPy's modules."""

import importlib

import numpy as np
import pytest
from same_source import compare

import numen as nm

MODULES = ["char", "strings", "rec", "ma", "exceptions", "emath", "ctypeslib", "typing", "testing"]
for _name in MODULES:
    importlib.import_module(f"numen.{_name}")

SAME_TEXTS = r"""
np.vectorize(lambda a, b: a - b if a > b else a + b)([1, 2, 3, 4], 2)
np.vectorize(lambda a: a * 2)(np.arange(3.0))
np.vectorize(lambda a: (a, -a))(np.arange(3))
np.vectorize(lambda a: str(a))(np.arange(3))
np.vectorize(lambda a: a, otypes=[float])(np.arange(3))
np.vectorize(lambda a: a, otypes="i")(np.array([]))
np.vectorize(lambda a: a)(np.array([]))
np.vectorize(lambda a: a)(3)
np.vectorize(lambda a: a + 1)(np.float32(3))
np.vectorize(lambda a, n=1: a * n)(np.arange(3), n=3)
np.vectorize(lambda p, x: p[0] + x, excluded=[0])([5, 6], np.arange(2))
np.vectorize(lambda p, x: p[0] + x, excluded=["p"])(p=[5, 6], x=np.arange(2))
np.vectorize(lambda v: v.sum(), signature="(n)->()")(np.ones((2, 3)))
np.vectorize(lambda v, w: np.outer(v, w), signature="(n),(m)->(n,m)")(np.ones((2, 3)), np.ones(2))
np.vectorize(lambda v: (v.min(), v.max()), signature="(n)->(),()")(np.ones((2, 3)))
np.vectorize(lambda v: v, signature="(n)->(m)")(3)
np.vectorize(lambda a, b: a)([1, 2], [1, 2, 3])
np.vectorize(lambda a: a, otypes=[3])
np.vectorize(lambda a: a, cache=True)(np.arange(2))
np.vectorize(lambda a: a).otypes
np.vectorize(np.exp)([0.0, 1.0])
np.apply_along_axis(lambda v: v.max() - v.min(), 0, np.arange(6).reshape(2, 3))
np.apply_along_axis(lambda v: v[::-1], -1, np.arange(6).reshape(2, 3))
np.apply_along_axis(sorted, 1, np.array([[8, 1, 7], [4, 3, 9]]))
np.apply_along_axis(np.diag, -1, np.arange(6).reshape(2, 3))
np.apply_along_axis(np.outer, 0, np.arange(6).reshape(2, 3), [1, 2])
np.apply_along_axis(np.sum, 2, np.arange(6).reshape(2, 3))
np.apply_along_axis(np.sum, 0, np.ones((3, 0)))
np.apply_along_axis(lambda v, k=1: v * k, 0, [1, 2], k=3)
np.apply_over_axes(np.sum, np.arange(24).reshape(2, 3, 4), [0, 2])
np.apply_over_axes(np.sum, np.arange(24).reshape(2, 3, 4), (-1,))
np.apply_over_axes(np.sum, np.arange(24).reshape(2, 3, 4), 1)
np.apply_over_axes(lambda a, axis: a.sum(), np.ones((2, 2)), [0])
np.apply_over_axes(np.cumsum, np.ones((2, 2)), [0, 1])
[int(x) for x in np.nditer(np.arange(6).reshape(2, 3), order="F")]
[(int(x), int(y)) for x, y in np.nditer([np.arange(2), np.arange(4).reshape(2, 2)])]
[x.tolist() for x in np.nditer(np.arange(6).reshape(2, 3), flags=["external_loop"], order="F")]
it = np.nditer(np.arange(4).reshape(2, 2), flags=["multi_index"])
r = [(int(x), it.multi_index) for x in it]
it = np.nditer([np.arange(3), None])
for x, y in it:\n    y[...] = x * x
r = it.operands[1]
a = np.arange(3.0)
with np.nditer(a, op_flags=["readwrite"]) as it:\n    for x in it:\n        x[...] = 2 * x
r = a
a = np.arange(3)
o = dict(op_dtypes="f8", casting="unsafe")
with np.nditer(a, ["buffered"], ["readwrite"], **o) as it:\n    for x in it: x[...] = x * 1.5
r = a
it = np.nditer(np.arange(3), ["c_index"])
r = (it.nop, it.itersize, it.ndim, it.finished, it.index, it.iternext(), it.index, len(it), it[0])
a = np.zeros(3)
it = np.nditer(a, op_flags=["writeonly"])
it[0] = 7
it.iternext()
it[0] = 8
it.close()
r = a
np.nditer(np.arange(3), op_flags=["readwrite"], op_dtypes=["f8"])
np.nditer([np.arange(3), np.arange(4)])
np.nditer(np.arange(3), ["nonsense"])
it = np.nditer(np.arange(3)); b = it.copy(); next(it)
r = (int(it.value), int(b.value), it.shape, it.dtypes)
it = np.nditer(np.arange(4), ["ranged"]); it.iterrange = (1, 3)
r = [int(x) for x in it]
i, j = np.nested_iters(np.arange(6).reshape(2, 3), [[0], [1]], flags=["multi_index"])
r = [(i.multi_index, [int(y) for y in j]) for _ in i]
np.busday_count("2024-01", ["2024-02", "2024-03"])
np.busday_count("2024-01", "2024-02")
np.busday_offset(np.array(["2024-03-02"], "M8[D]"), 1, roll="forward")
np.busday_offset("2024-03-02", 1)
np.is_busday(["2024-03-01", "2024-03-02"])
np.is_busday("2024-03-01", busdaycal=np.busdaycalendar("1111100", ["2024-03-01"]))
np.datetime_as_string(np.array(["2024-03-01T12"], "M8[h]"), unit="s", timezone="UTC")
str(np.datetime_as_string(np.datetime64("2024-03-01")))
np.datetime_data(np.dtype("M8[25s]"))
np.geterr()
np.getbufsize()
np.emath.sqrt(-1)
np.emath.sqrt([1, -4])
np.emath.logn(2, np.array([4.0, -8.0]))
np.strings.upper(np.array(["ab", "c"]))
np.strings.find(np.array(["ab", "ba"]), "b")
np.strings.multiply(np.array(["ab"]), np.array([2, 3]))
np.strings.partition(np.array(["a-b"]), "-")
np.char.add(np.array(["a"]), ["b"])
np.char.split(np.array(["a b"])).tolist()
np.char.compare_chararrays(np.array(["a"]), np.array(["b"]), "<", True)
np.char.upper("abc").tolist()
np.ma.getdata(np.ma.array([1, 2], mask=[0, 1]))
np.ma.count(np.ma.masked_greater(np.arange(5), 2))
np.rec.fromarrays([np.arange(2), np.array(["a", "b"])], names="n,s").n.tolist()
np.ctypeslib.as_array((__import__("ctypes").c_int * 3)(1, 2, 3))
np.matrix([[1, 2]]).tolist()
np.asmatrix(np.arange(4).reshape(2, 2)).I.tolist()
type(np.asmatrix(np.arange(4))).__name__
np.exceptions.AxisError.__name__
"""


def texts():
    """One a line; lines that assign go together up to the one that sets r."""
    block = []
    for line in SAME_TEXTS.strip().split("\n"):
        block.append(line.replace("\\n", "\n"))
        if line.startswith("r = ") or (len(block) == 1 and not opens(line)):
            yield "\n".join(block)
            block = []


def opens(line):
    return line.startswith(("it = ", "it[", "it.", "for ", "a = ", "with ", "i, j", "o = "))


@pytest.mark.parametrize("text", list(texts()))
def test_as_numpy(text):
    compare(text)


# ------------------------------------------------------------ gradients


def gradient(f, data):
    x = nm.array(np.asarray(data, float), requires_grad=True)
    f(x).backward()
    return x.grad.tolist()


def test_vectorize_keeps_gradients():
    square = nm.vectorize(lambda a, b: a * a * b)
    assert gradient(lambda x: square(x, [[1.0], [2.0]]).sum(), [1, 2]) == [6, 12]
    assert gradient(lambda x: nm.vectorize(lambda a: 2 if a > 1 else a)(x).sum(), [1, 2]) == [1, 0]
    pair = nm.vectorize(lambda a: (a * 2, a * 3))
    assert gradient(lambda x: (pair(x)[0] + pair(x)[1]).sum(), [1, 2]) == [5, 5]
    norm = nm.vectorize(lambda v: (v * v).sum(), signature="(n)->()")
    assert gradient(lambda x: norm(x).sum(), [[1, 2], [3, 4]]) == [[2, 4], [6, 8]]
    scale = nm.vectorize(lambda k, v: v * k["by"], excluded=["k"])
    assert gradient(lambda x: scale(k={"by": 3}, v=x).sum(), [1, 2]) == [3, 3]
    weight = nm.array(2.0, requires_grad=True)  # a gradient that the function brings along
    nm.vectorize(lambda a: a * weight)(nm.arange(3.0)).sum().backward()
    assert weight.grad.item() == 3
    assert nm.vectorize(lambda a: a * weight, otypes=["f4"])(nm.arange(3)).dtype == nm.float32


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_apply_along_axis_keeps_gradients(axis):
    data = np.arange(24.0).reshape(2, 3, 4)
    for f in (lambda v: (v * v).sum(), lambda v: v * v, lambda v: nm.stack([v, v * v])):
        x = nm.array(data, requires_grad=True)
        y = nm.apply_along_axis(f, axis, x)
        expected = nm.apply_along_axis(f, axis, nm.array(data))
        assert y.tolist() == expected.tolist()
        y.sum().backward()
        ones = f(nm.ones(1)).size == 2
        assert x.grad.tolist() == (2 * data + ones).tolist()


def test_apply_over_axes_keeps_gradients():
    total = lambda x: nm.apply_over_axes(nm.sum, x * x, [0, 1]).sum()  # noqa: E731
    assert gradient(total, [[1, 2], [3, 4]]) == [[2, 4], [6, 8]]


def test_vectorize_decorates():
    @nm.vectorize(otypes=[float])
    def half(a):
        """Half of a."""
        return a / 2

    assert half(nm.arange(3)).tolist() == [0, 0.5, 1]
    assert half.__doc__ == "Half of a."
    assert half.__name__ == "half"


# ------------------------------------------------------------ iterating and memory


def test_writing_through_an_iterator_is_seen_by_what_was_saved():
    x = nm.arange(3.0)
    w = nm.array(2.0, requires_grad=True)
    y = (w * x).sum()
    with nm.nditer(x, op_flags=["readwrite"]) as it:
        for e in it:
            e[...] = 0
    with pytest.raises(nm.GradientError):
        y.backward()
    with pytest.raises(nm.GradientError, match="iterator"):
        nm.nditer(w, op_flags=["readwrite"])
    with pytest.raises(nm.GradientError, match="nditer has no derivative"):
        next(nm.nditer(w)).sum().backward()
    with pytest.raises(ValueError, match="read-only"):
        nm.nditer(nm.broadcast_to(x, (2, 3)), op_flags=["readwrite"])


def test_a_trace_with_an_iterator_runs_eagerly():
    f = nm.jit(lambda x: sum(float(e) for e in nm.nditer(x)))
    assert [f(nm.arange(3.0) * k) for k in range(4)] == [0, 3, 6, 9]


# ------------------------------------------------------------ state


def test_errstate_is_numpy_s():
    for module in (nm, np):
        with module.errstate(divide="raise"), pytest.raises(FloatingPointError):
            nm.ones(2) / nm.zeros(2)
    with nm.errstate(divide="ignore", invalid="ignore"):
        assert (nm.ones(1) / 0.0).tolist() == [np.inf]
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        nm.ones(2) / nm.zeros(2)
    seen = []
    before = nm.seterrcall(lambda kind, flag: seen.append(kind))
    try:
        with nm.errstate(over="call"):
            nm.exp(nm.array([1e4, 1.0]))
    finally:
        nm.seterrcall(before)
    assert seen == ["overflow"]


def test_errstate_holds_under_jit():
    f = nm.jit(lambda a, b: a / b)
    a, zeros = nm.ones(3), nm.zeros(3)
    with nm.errstate(divide="ignore"):
        for _ in range(4):
            f(a, zeros)
    with nm.errstate(divide="raise"), pytest.raises(FloatingPointError):
        f(a, zeros)


def test_info_and_settings(capsys):
    nm.info(nm.arange(3))
    ours = capsys.readouterr().out
    np.info(np.arange(3))
    lines = capsys.readouterr().out.splitlines()
    assert [x for x in ours.splitlines() if "0x" not in x] == [x for x in lines if "0x" not in x]
    old = nm.setbufsize(4096)
    try:
        assert np.getbufsize() == 4096
    finally:
        nm.setbufsize(old)
    assert nm.get_include() == np.get_include()


# ------------------------------------------------------------ NumPy's modules


@pytest.mark.parametrize("name", [*MODULES, "dtypes"])
def test_modules_have_numpy_s_names(name):
    ours = importlib.import_module(f"numen.{name}")
    theirs = getattr(np, name)
    missing = [n for n in theirs.__all__ if n != "test" and not hasattr(ours, n)]
    assert missing == []
    assert set(theirs.__all__) - {"test"} <= set(dir(ours))
    with pytest.raises(AttributeError):
        ours.nothing_of_this_name


def test_assertions_take_arrays():
    from numen import testing

    x = nm.array([1.0, 2.0], requires_grad=True)
    testing.assert_allclose(x, [1, 2])
    testing.assert_equal({"a": [x.sum()]}, {"a": [3.0]})
    testing.assert_array_equal(nm.arange(3), nm.arange(3), strict=True)
    with pytest.raises(AssertionError, match="Mismatched elements"):
        testing.assert_array_equal(x, nm.zeros(2))
    with pytest.raises(AssertionError, match=r"mismatch\)"):
        testing.assert_array_equal(nm.arange(2), nm.arange(2.0), strict=True)
    testing.assert_raises(ValueError, lambda a: a.reshape(3), x)
    assert isinstance(testing.assert_array_max_ulp(x, x), nm.Array)


def test_masked_arrays_stay_numpy_s():
    from numen import ma

    masked = ma.masked_array(nm.arange(3.0), mask=nm.array([False, True, False]))
    assert isinstance(masked, np.ma.MaskedArray)
    assert ma.add.reduce(masked).item() == 2
    assert isinstance(ma.add(masked, nm.ones(3)), np.ma.MaskedArray)
    assert isinstance(masked.mean(), float)
    x = nm.ones(2)
    ma.masked_array(x.numpy(), copy=False)[0] = 5
    assert x.tolist() == [5, 1]
    assert isinstance(nm.asarray(masked), nm.Array)


def test_text_of_older_classes():
    assert isinstance(importlib.import_module("numen.char").array(["a"]), np.char.chararray)


def test_absences_have_reasons_and_are_absent():
    from numen.namespace.absences import ABSENT

    for name, reason in ABSENT.items():
        owner, _, attribute = name.rpartition(".")
        theirs, ours = (getattr(np, owner), getattr(nm, owner)) if owner else (np, nm)
        assert hasattr(theirs, attribute) or name == "core"
        assert not hasattr(ours, attribute), name
        assert len(reason) > 20
