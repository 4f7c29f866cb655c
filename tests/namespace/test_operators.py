"""Python's operators on Arrays against NumPy's: every operand, in place, foreign objects."""

import fractions

import numpy as np
import pytest
from same_source import compare

import numen as nm

VALUES = {
    "?": "[True, False, True]",
    "i1": "[1, -2, 100]",
    "i8": "[7, -1, 2]",
    "f": "[.5, -0.0, np.nan]",
    "d": "[.5, -1.5, np.inf]",
    "D": "[1+2j, -1j, 0]",
}
ARITHMETIC = ["+", "-", "*", "/", "//", "%", "**", "@", "<<", ">>", "&", "|", "^"]
COMPARISONS = ["==", "!=", "<", "<=", ">", ">="]
OTHERS = """2;-1;0;0.5;True;1j;300;-300;2**70;np.float32(2);np.int8(3);np.array(2);[1, 2, 3];None
'a';np.ones(3);np.ones((2, 3));np.ones(4);object();(1, 2);{};np.array([1, 0, 2], 'u8')
np.array([1, -1, 3], 'i4')""".replace("\n", ";").split(";")


def array(dtype):
    return f"np.array({VALUES[dtype]}, '{dtype}')"


@pytest.mark.parametrize("dtype", VALUES)
@pytest.mark.parametrize("symbol", ARITHMETIC + COMPARISONS)
def test_against_numpy(symbol, dtype):
    for other in OTHERS:
        for left in (array(dtype), f"{array(dtype)}[0]"):
            compare(f"{left} {symbol} {other}")
            if not (symbol in ("==", "!=") and other == "1j"):  # complex compares with a float
                compare(f"{other} {symbol} {left}")
            if symbol in ARITHMETIC:
                compare(f"r = {left}\nr {symbol}= {other}")


@pytest.mark.parametrize("dtype", VALUES)
def test_unary_and_divmod(dtype):
    for value in (array(dtype), f"{array(dtype)}[0]"):
        for symbol in "-+~":
            compare(f"{symbol}{value}")
        compare(f"abs({value})")
        compare(f"pow({value}, 2, 3)")
        for other in OTHERS:
            compare(f"divmod({value}, {other})")
            compare(f"divmod({other}, {value})")


@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "e", "f", "d", "F", "D"])
def test_powers(dtype):
    for exponent in ("2", "-1", "0.5", "1", "0", "3", "2.0", "-1.0", "True", "1.5", "2 + 0j"):
        compare(f"np.array([1, 2, 3]).astype('{dtype}') ** {exponent}")
        compare(f"r = np.array([1, 2, 3]).astype('{dtype}')\nr **= {exponent}")
        compare(f"np.array([1, 2, 3]).astype('{dtype}')[1] ** {exponent}")
    compare(f"2 ** np.array([1, 2, 3]).astype('{dtype}')")


IN_PLACE = """x += 1.5
i += 1.5
i /= 2
x -= i
x *= np.ones((2, 2, 3))
x[0] *= 2
x[:, ::2] -= x[:, 1:2]
x += x[::-1]
x @= np.ones((3, 3))
x @= np.ones((3, 2))
x[0] @= np.ones((3, 3))
i @= np.ones((3, 3))
i <<= 2
i ^= 3
i //= 0
m += m
m -= m
m &= 1
m **= 2
b += 1""".splitlines()


@pytest.mark.parametrize("statement", IN_PLACE)
def test_in_place(statement):
    name = statement[0]
    compare(
        "x = np.arange(6.).reshape(2, 3) + 1\ni = np.arange(6).reshape(2, 3)\n"
        "m = np.array([True, False])\nb = np.broadcast_to(1., (2, 2))\n"
        f"{statement}\nr = {name}"
    )


def test_in_place_keeps_the_object():
    x = same = nm.arange(3.0)
    for y in (nm.ones(3), 2.0, 3, np.ones(3), [1, 1, 1], np.float32(1)):
        x += y
        x //= 1
        assert x is same
    s = scalar = nm.arange(3.0)[1]
    s += 1
    assert s is not scalar
    assert scalar == 1


OTHER_KINDS = """np.zeros(2, 'i,i') == np.zeros(2, 'i,i')
np.zeros(2, 'i,i') == np.zeros(2, 'f,f')
np.zeros(2, 'i,i') == 1
np.zeros(2, 'i,i') + 1
np.array(['a', 'b']) == 'a'
np.array(['a', 'b']) != np.array(['a', 'c'])
np.array(['a', 'b']) + 'c'
np.array(['a', 'b']) < 1
np.array(['ab']) * 3
np.array(['a'], object) + 'b'
np.array([1, 2], object) * 2
np.array(1, object) + 1
np.array(['2020'], 'M8[Y]') + np.timedelta64(1, 'Y')
np.array([1, 2], 'm8[s]') / 2
np.array([1, 2], 'm8[s]') // np.array([2, 1], 'm8[s]')
-np.array([1], 'm8[s]')
np.array(['2020'], 'M8[D]') - np.array(['2019'], 'M8[D]')
np.array(['2020'], 'M8[D]') == 1
np.array([1, 2]) == None
np.array([1, 2]) != 'x'
np.array([1, 2]) == object
np.array([1, 2]) < None""".splitlines()


@pytest.mark.parametrize("text", OTHER_KINDS)
def test_text_dates_objects_and_records(text):
    compare(text)


@pytest.mark.parametrize("text", ["x + x", "x * 3", "x - y", "3 * x", "x + 100"])
def test_integer_scalars_warn_of_an_overflow(text):
    scope = {"x": nm.array([100], "i1")[0], "y": nm.array([-100], "i1")[0]}
    with pytest.warns(RuntimeWarning, match="overflow"):
        result = eval(text, scope)
    assert result.dtype == np.int8


class Refusing:
    __array_ufunc__ = None

    def __radd__(self, other):
        return ("radd", type(other))

    def __eq__(self, other):
        return ("eq", type(other))

    __hash__ = None


class Superior:
    __array_priority__ = 10.0

    def __rmul__(self, other):
        return ("rmul", type(other))


class Computing:
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return ufunc.__name__, method


class Convertible:
    def __array__(self, dtype=None, copy=None):
        return np.array([1.0, 2.0])


def test_foreign_objects_compute_themselves():
    x = nm.ones(2)
    assert x + Refusing() == ("radd", nm.Array)
    assert (x == Refusing()) == ("eq", nm.Array)
    assert x * Superior() == ("rmul", nm.Array)
    assert x + Computing() == ("add", "__call__")
    assert (x + Convertible()).tolist() == [2, 3]
    assert (x + fractions.Fraction(1, 2)).dtype == object
    with pytest.raises(TypeError):
        x *= Refusing()


def test_numpy_s_values_on_the_left():
    x = nm.array([1.0, 2.0], requires_grad=True)
    for left in (np.float64(2), np.array([2.0, 2.0]), np.array(2.0), [2.0, 2.0], (2, 2)):
        y = left * x
        assert isinstance(y, nm.Array)
        assert y.requires_grad
        assert y.tolist() == [2, 4]


def test_operators_differentiate():
    x = nm.array([1.5, 2.5, -3.5], requires_grad=True)
    ((x % 2) + 3 * (7 // x) + divmod(x, 2)[1] * 2 + (x**2) + (+x) + abs(x)).sum().backward()
    assert x.grad.tolist() == [1 + 2 + 3 + 1 + 1, 1 + 2 + 5 + 1 + 1, 1 + 2 - 7 + 1 - 1]
    a = nm.array([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    b = a * 1
    b @= a
    b **= 2
    b %= 1000
    b.sum().backward()
    A = np.array([[1.0, 2.0], [3.0, 4.0]])
    slope = 2 * A @ A
    np.testing.assert_allclose(a.grad.numpy(), slope @ A.T + A.T @ slope)


def test_operators_compile():
    def f(a, n):
        b = a // 2 + a % 2 + (n << 1) % 3 + (n & 1)
        b **= 2
        return divmod(b, 3.0)[1] - ~n

    a, n = nm.array([1.0, -2.0, 5.0]), nm.array([3, 4, 5])
    compiled = nm.jit(f)
    for _ in range(3):
        assert compiled(a, n).tolist() == f(a, n).tolist()
