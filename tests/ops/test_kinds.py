"""Dates, text, objects and records are NumPy's: what a row gives is what its ufunc gives."""

import operator
import warnings
from fractions import Fraction

import numpy as np
import pytest

from numen.dispatch import core
from numen.dispatch.core import SCALAR
from numen.namespace.array import Array
from numen.ops import table
from numen.ops.powers import power_operator, power_row

DAYS = np.array(["2024-02-28", "2024-03-01", "NaT"], "M8[D]")
SPANS = np.array([1, -2, 3], "m8[D]")
TEXT = np.array(["b", "a", ""])
OBJECTS = np.array([Fraction(1, 2), 3, 2.5], object)

CASES = [
    ("subtract", DAYS, DAYS),
    ("subtract", DAYS, SPANS),
    ("add", DAYS, SPANS),
    ("add", SPANS, DAYS),
    ("add", DAYS, np.timedelta64(1, "h")),
    ("add", DAYS, DAYS),  # no such loop
    ("subtract", DAYS[0], DAYS[1]),
    ("multiply", SPANS, np.array([2, 3, 4])),
    ("multiply", SPANS, np.array([0.5, 2, 1])),
    ("divide", SPANS, SPANS[::-1]),
    ("floor_divide", SPANS, np.timedelta64(2, "D")),
    ("remainder", SPANS, np.timedelta64(2, "D")),
    ("absolute", SPANS),
    ("negative", SPANS),
    ("sign", SPANS),
    ("isnat", DAYS),
    ("isfinite", DAYS),
    *[(name, DAYS, DAYS[::-1]) for name in ("less", "equal", "maximum", "fmin", "greater_equal")],
    ("maximum", SPANS, SPANS[::-1]),
    ("add", TEXT, TEXT),
    ("equal", TEXT, np.array(["b", "b", "b"])),
    ("less", TEXT, np.array(["b", "b", "b"])),
    ("equal", TEXT, np.array([1, 2, 3])),
    ("multiply", TEXT, TEXT),
    ("add", OBJECTS, OBJECTS),
    ("multiply", OBJECTS, np.array([2, 3, 4])),
    ("divide", OBJECTS, np.array([Fraction(1, 3)] * 3, object)),
    ("power", OBJECTS, np.array([2, 2, 2])),
    ("maximum", OBJECTS, np.array([1, 2, 3])),
    ("less", OBJECTS, np.array([1, 2, 3])),
    ("logical_and", OBJECTS, np.array([None, "x", 0], object)),
    ("negative", OBJECTS),
    ("square", OBJECTS),
    ("floor", OBJECTS),
    ("sin", OBJECTS),  # asks the elements for a method
    ("gcd", np.array([12, 18], object), np.array([8, 27], object)),
    ("add", np.array(Fraction(1, 2), object), np.array(3, object)),
]


def outcome(function, args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*args), None
        except Exception as error:
            return None, type(error)


@pytest.mark.parametrize(
    ("name", "args"), [pytest.param(n, a, id=f"{n}-{i}") for i, (n, *a) in enumerate(CASES)]
)
def test_rows_of_other_kinds_have_numpys_results(name, args):
    expected, error = outcome(getattr(np, name), args)
    wrapped = [Array(a) if isinstance(a, np.ndarray) else a for a in args]
    found, raised = outcome(table[name], wrapped)
    assert raised is error
    if isinstance(expected, np.ndarray):
        np.testing.assert_array_equal(found._d, expected, strict=True)
    elif isinstance(expected, np.bool_):
        assert found._v is SCALAR
        assert found._d == expected
    else:
        assert type(found) is type(expected)
        assert found == expected


def test_wrap_keeps_what_no_array_stands_for():
    record = np.array([(1, 2.0)], [("a", "i4"), ("b", "f8")])[0]
    for value in (np.str_("x"), np.bytes_(b"x"), DAYS[0], SPANS[0], record, Fraction(1, 2), None):
        assert core.wrap(value) is value
    assert core.wrap(np.float64(1.5))._v is SCALAR


@pytest.mark.parametrize("data", [DAYS, TEXT, OBJECTS])
def test_elements_are_numpys(data):
    found = table["getitem"](Array(data), index=(0,))
    assert type(found) is type(data[0])
    assert found == data[0]


def test_an_array_in_an_object_array_is_that_array():
    holder = np.empty(2, object)
    holder[0] = np.arange(3)
    assert table["getitem"](Array(holder), index=(0,)) is holder[0]
    assert isinstance(table["getitem"](Array(holder), index=(slice(0, 1, 1),)), Array)


POWERS = [2, 2.0, 0.5, -1, -1.0, 1, 0, 3, True, 2 + 0j, 10**30]


@pytest.mark.parametrize("exponent", POWERS, ids=repr)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "f2", "f4", "f8", "c16"])
def test_the_power_operator_has_numpys_results(dtype, exponent):
    data = np.array([0, 1, 3]).astype(dtype)
    if data.dtype.kind in "fc":
        data = np.append(data, [np.inf, -np.inf, -0.0, 0.3]).astype(dtype)
    with np.errstate(all="ignore"):
        expected, error = outcome(lambda: data**exponent, ())
        found, raised = outcome(power_operator, (Array(data), exponent))
    assert raised is error
    if error is None:
        np.testing.assert_array_equal(found._d, expected, strict=True)
        np.testing.assert_array_equal(np.signbit(found._d.real), np.signbit(expected.real))


def test_the_power_operator_knows_python_scalars_from_arrays():
    flags = Array(np.array([True]))
    assert power_row(flags, 2)[0] is table["square"]
    assert power_row(flags, Array(np.array(2)))[0] is table["power"]
    assert power_row(flags, True)[0] is table["power"]
    assert power_row(2, flags)[0] is table["power"]


def test_the_power_operator_is_differentiable():
    for exponent, slope in [(2, [1.0, 4.0]), (0.5, [1.0, 0.5**1.5]), (-1, [-4.0, -0.25])]:
        x = Array(np.array([0.5, 2.0])).requires_grad_()
        if exponent == 0.5:
            x = Array(np.array([0.25, 2.0])).requires_grad_()
        power_operator(x, exponent).sum().backward()
        np.testing.assert_allclose(x.grad._d, slope, rtol=1e-15)


OPERANDS = [DAYS, SPANS, TEXT, OBJECTS, np.array([1, 2, 3]), np.array([0.5, 2.0, 1.0])]
OTHERS = [*OPERANDS, np.timedelta64(1, "D"), np.datetime64("2024-01-01"), np.float64(2), "a"]


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "lt", "ge", "eq", "ne"])
def test_operators_between_kinds_have_numpys_results(name):
    method = getattr(operator, name)
    for a in OPERANDS:
        for b in OTHERS:
            expected, error = outcome(method, (a, b))
            given = Array(b) if isinstance(b, np.ndarray) else b
            found, raised = outcome(method, (Array(a), given))
            assert (raised is None) == (error is None)
            if error is None:
                np.testing.assert_array_equal(found._d, expected, strict=True)
            else:
                assert issubclass(raised, error) or issubclass(error, raised)
