"""Arrays as text: what NumPy prints for the same values, under every option."""

import numpy as np
import pytest

import numen as nm

VALUES = """
np.array([1.5, np.nan, -np.inf])
np.arange(3)
np.zeros((2, 0, 3))
np.array([], dtype="i4")
np.array(2.5)
np.array(7, dtype="u1")
np.array([[True, False]])
np.arange(2000)
np.arange(2000.0).reshape(40, 50)
np.array([1e-10, 1e10, 3], dtype="f4")
np.array([1 + 2j, np.nan * 1j])
np.array(["a", "bc"])
np.array([b"x", b"yz"])
np.array([None, 1, "s"], dtype=object)
np.array(["2024-01-01", "NaT"], dtype="M8[D]")
np.array([3, 4], dtype="m8[s]")
np.array([(1, 2.5), (3, 4.5)], dtype=[("a", "i4"), ("b", "f8")])
np.array([1, 2], dtype=">i4")
np.array([0.1, 0.2], dtype="f2")
np.array([0.1], dtype=np.longdouble)
np.array([1.0, 2.0]).sum()
np.array([1, 2], dtype="i1").max()
np.array([True]).all()
np.array([1j]).sum()
np.array([1.0, 2.0], dtype="f4")[1]
""".strip().splitlines()

OPTIONS = [
    {},
    {"precision": 2},
    {"threshold": 5, "edgeitems": 1},
    {"suppress": True, "floatmode": "fixed", "precision": 3},
    {"linewidth": 30, "sign": "+"},
    {"nanstr": "none", "infstr": "INF"},
    {"legacy": "1.13"},
    {"legacy": "1.25"},
    {"formatter": {"float": lambda v: f"<{v:.1f}>"}},
]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: "-".join(o) or "default")
@pytest.mark.parametrize("text", VALUES)
def test_printing(text, options):
    theirs, ours = eval(text, {"np": np}), eval(text, {"np": nm})
    with nm.printoptions(**options):
        assert repr(ours) == repr(theirs)
        assert str(ours) == str(theirs)
        assert f"{ours}" == f"{theirs}"


CALLS = """
array2string(x)
array2string(x, precision=1, separator=", ", prefix="x = ", suffix=".")
array2string(x, 20)
array2string(x, formatter={"all": lambda v: "*"})
array2string(x, threshold=2, edgeitems=1)
array2string(x, sign="nonsense")
array_repr(x)
array_repr(x, 20, 2, True)
array_str(x)
array_str(x, precision=1)
""".strip().splitlines()


def outcome(call):
    try:
        return call()
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("call", CALLS)
def test_functions_of_arrays(call):
    for text in VALUES:
        results = [
            outcome(lambda m=m, text=text: eval(f"m.{call}", {"m": m, "x": eval(text, {"np": m})}))
            for m in (nm, np)
        ]
        assert results[0] == results[1], text


NUMBERS = """
format_float_positional(np.float32(0.1))
format_float_positional(np.array([1e-5]).sum(), precision=3, unique=False)
format_float_positional(2.0, trim="-")
format_float_positional(np.float16(0.1), sign=True, pad_left=5)
format_float_scientific(np.array([1234.5]).max(), precision=2)
format_float_scientific(np.float32(1), exp_digits=3)
base_repr(255, 16)
base_repr(-5)
base_repr(5, 3, 4)
base_repr(5, 40)
base_repr(np.arange(9).max(), 2)
binary_repr(10)
binary_repr(-3, width=5)
binary_repr(np.arange(9).max(), 8)
binary_repr(0.5)
""".strip().splitlines()


@pytest.mark.parametrize("call", NUMBERS)
def test_functions_of_numbers(call):
    ours, theirs = (outcome(lambda m=m: eval(f"np.{call}", {"np": m})) for m in (nm, np))
    assert ours == theirs
    assert isinstance(ours, (str, type))


def test_options_are_shared_with_numpy():
    before = np.get_printoptions()
    try:
        nm.set_printoptions(precision=2)
        assert nm.get_printoptions() == np.get_printoptions()
        assert str(nm.array([1 / 3])) == "[0.33]"
    finally:
        np.set_printoptions(**{k: v for k, v in before.items() if k != "override_repr"})


def test_a_gradient_shows():
    x = nm.array([1.0, 2.0], requires_grad=True)
    assert repr(x) == "array([1., 2.], requires_grad=True)"
    assert nm.array_repr(x) == "array([1., 2.])"
