"""NumPy's ufuncs as numen's: one line each, over NumPy's own and the row of its name.

`ufunc_class.py` says what they are and how they are called; `ops/` (elementwise and the files after
it) what they compute and how they are differentiated. Next: `ufunc_class.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numen.namespace import gufuncs
from numen.namespace.ufunc_class import define, ufunc
from numen.ops import table

__all__ = [
    "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "fmod", "power",
    "float_power", "negative", "positive", "absolute", "fabs", "sign", "signbit", "conjugate",
    "reciprocal", "square", "sqrt", "cbrt", "hypot", "exp", "exp2", "expm1", "log", "log2",
    "log10", "log1p", "logaddexp", "logaddexp2", "sin", "cos", "tan", "arcsin", "arccos",
    "arctan", "arctan2", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "degrees",
    "rad2deg", "radians", "deg2rad", "floor", "ceil", "trunc", "rint", "copysign",
    "nextafter", "spacing", "ldexp", "heaviside", "maximum", "minimum", "fmax", "fmin",
    "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and",
    "logical_or", "logical_xor", "logical_not", "isfinite", "isinf", "isnan", "isnat", "gcd",
    "lcm", "bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift",
    "bitwise_count", "divmod", "modf", "frexp", "matmul", "vecdot", "matvec", "vecmat",
    "relu", "true_divide", "mod", "pow", "abs", "conj", "acos", "acosh", "asin", "asinh",
    "atan", "atan2", "atanh", "bitwise_not", "bitwise_invert", "bitwise_left_shift",
    "bitwise_right_shift",
]  # fmt: skip
__all__ = [name for name in __all__ if hasattr(np, name) or name == "relu"]  # NumPy 2.1 lacks two

OPTIONS = """out : Array, ndarray or tuple of them, optional
        Where the result is written; it is returned.
    where : array_like of bool
        Elements to compute; others keep `out`, or are 0 (gradient 0) without it.
    dtype : dtype, optional
        The dtype of the result: operands are cast first.
    casting, order, subok, signature
        As in NumPy.

    Raises
    ------
    ValueError
        If shapes do not broadcast, or do not fit `out`.
    TypeError
        If there is no loop for the dtypes, `out` can't take the result, or arguments are missing.
"""

OPERANDS = {
    1: "x : array_like\n        Operand of any shape.",
    2: "x1, x2 : array_like\n        Operands that broadcast together; Python scalars take the "
    "other's dtype (NEP 50).",
}

EXAMPLES = {
    "add": ("nm.add([1, 2], 3)", "array([4, 5])"),
    "multiply": ("nm.multiply([1, 2], [3, 4])", "array([3, 8])"),
    "divide": ("nm.divide([1, 2], 4)", "array([0.25, 0.5 ])"),
    "remainder": ("nm.remainder([-7, 7], 3)", "array([2, 1])"),
    "power": ("nm.power([2, 3], 2)", "array([4, 9])"),
    "maximum": ("nm.maximum([1.0, nm.nan], 2)", "array([ 2., nan])"),
    "arctan2": ("nm.arctan2(1.0, -1.0) / nm.pi", "np.float64(0.75)"),
    "sqrt": ("nm.sqrt([4.0, 9.0])", "array([2., 3.])"),
    "exp": ("nm.exp([0.0, 1.0])", "array([1.        , 2.71828183])"),
    "absolute": ("nm.absolute([-1.5, 2.0])", "array([1.5, 2. ])"),
    "sign": ("nm.sign([-2.0, 0.0, 5.0])", "array([-1.,  0.,  1.])"),
    "greater": ("nm.greater([1, 3], 2)", "array([False,  True])"),
    "logical_not": ("nm.logical_not([0, 2])", "array([ True, False])"),
    "left_shift": ("nm.left_shift(1, [0, 3])", "array([1, 8])"),
    "divmod": ("nm.divmod([7, -7], 2)", "(array([ 3, -4]), array([1, 1]))"),
    "modf": ("nm.modf([1.5, -2.25])", "(array([ 0.5 , -0.25]), array([ 1., -2.]))"),
    "frexp": ("nm.frexp([8.0])", "(array([0.5]), array([4], dtype=int32))"),
    "matmul": ("nm.matmul([[1, 2], [3, 4]], [1, 1])", "array([3, 7])"),
    "vecdot": ("nm.vecdot([[1, 2], [3, 4]], [1, 1])", "array([3, 7])"),
    "relu": ("nm.relu([-1.0, 2.0])", "array([0., 2.])"),
}


def _doc(name: str, summary: str, nin: int, more: str = "") -> str:
    text = f"{summary}\n\n    Parameters\n    ----------\n    {OPERANDS[nin]}\n    {more}{OPTIONS}"
    if name in EXAMPLES:
        call, shown = EXAMPLES[name]
        text += "\n    Examples\n    --------\n    >>> import numen as nm\n"
        text += f"    >>> {call}\n    {shown}\n"
    return text + "    "


def _define(name: str, summary: str, composition: Callable[..., Any] | None = None) -> ufunc:
    numpy_ufunc = getattr(np, name)
    return define(numpy_ufunc, _doc(name, summary, numpy_ufunc.nin), composition)


def _product(name: str, summary: str, composition: Callable[..., Any]) -> ufunc:
    more = (
        "axes, axis, keepdims\n        Which axes hold the vectors and matrices, as in NumPy.\n    "
    )
    return define(getattr(np, name), _doc(name, summary, 2, more), composition)


# arithmetic

add = _define("add", "Add, element by element.")
subtract = _define("subtract", "Subtract x2 from x1, element by element.")
multiply = _define("multiply", "Multiply, element by element.")
divide = _define("divide", "Divide x1 by x2 in floating point.")
floor_divide = _define("floor_divide", "The largest integer not above x1 / x2; gradient 0.")
remainder = _define("remainder", "What `floor_divide` leaves, with the sign of x2.")
fmod = _define("fmod", "What division towards zero leaves, with the sign of x1, as C's fmod.")
power = _define(
    "power", "x1 to the power of x2; the gradient at base 0 is finite where the power's is."
)
float_power = _define("float_power", "x1 to the power of x2 in float64 or complex128 at least.")
negative = _define("negative", "The elements with the opposite sign.")
positive = _define("positive", "A copy of the elements, which must be numbers.")
absolute = _define("absolute", "The absolute value of each element; gradient 0 at 0.")
fabs = _define("fabs", "The absolute value in floating point; no complex numbers.")
sign = _define(
    "sign", "The sign of each element: -1, 0 or 1 (z / |z| of a complex number); gradient 0."
)
signbit = _define("signbit", "Whether the sign bit is set: true for negative numbers and -0.0.")
conjugate = _define("conjugate", "The complex conjugate of each element.")
reciprocal = _define("reciprocal", "1 / x of each element, in its own dtype.")
square = _define("square", "The square of each element.")
sqrt = _define("sqrt", "The non-negative square root of each element.")
cbrt = _define("cbrt", "The cube root of each element.")
hypot = _define("hypot", "The hypotenuse: sqrt(x1**2 + x2**2) without overflow.")

# exponentials and logarithms

exp = _define("exp", "The exponential of each element.")
exp2 = _define("exp2", "2**x of each element.")
expm1 = _define("expm1", "exp(x) - 1 of each element, exact near 0.")
log = _define("log", "The natural logarithm of each element.")
log2 = _define("log2", "The logarithm to base 2 of each element.")
log10 = _define("log10", "The logarithm to base 10 of each element.")
log1p = _define("log1p", "log(1 + x) of each element, exact near 0.")
logaddexp = _define("logaddexp", "log(exp(x1) + exp(x2)) without overflow.")
logaddexp2 = _define("logaddexp2", "log2(2**x1 + 2**x2) without overflow.")

# angles

sin = _define("sin", "The sine of angles in radians.")
cos = _define("cos", "The cosine of angles in radians.")
tan = _define("tan", "The tangent of angles in radians.")
arcsin = _define("arcsin", "The angle in radians, in [-pi/2, pi/2], whose sine is x.")
arccos = _define("arccos", "The angle in radians, in [0, pi], whose cosine is x.")
arctan = _define("arctan", "The angle in radians, in [-pi/2, pi/2], whose tangent is x.")
arctan2 = _define("arctan2", "The angle in radians of the point (x2, x1) from the positive x axis.")
sinh = _define("sinh", "The hyperbolic sine of each element.")
cosh = _define("cosh", "The hyperbolic cosine of each element.")
tanh = _define("tanh", "The hyperbolic tangent of each element.")
arcsinh = _define("arcsinh", "The inverse hyperbolic sine of each element.")
arccosh = _define("arccosh", "The inverse hyperbolic cosine of each element, which is 1 or more.")
arctanh = _define("arctanh", "The inverse hyperbolic tangent of each element, in [-1, 1].")
degrees = _define("degrees", "Angles in radians as degrees.")
rad2deg = _define("rad2deg", "Angles in radians as degrees.")
radians = _define("radians", "Angles in degrees as radians.")
deg2rad = _define("deg2rad", "Angles in degrees as radians.")

# rounding and floating-point numbers

floor = _define("floor", "The largest integer not above each element; gradient 0.")
ceil = _define("ceil", "The smallest integer not below each element; gradient 0.")
trunc = _define("trunc", "Each element without its fraction; gradient 0.")
rint = _define("rint", "The nearest integer, halves to even; gradient 0.")
copysign = _define("copysign", "x1 with the sign of x2.")
nextafter = _define("nextafter", "The next floating-point number after x1 towards x2.")
spacing = _define(
    "spacing", "The distance from each element to the next larger floating-point number."
)
ldexp = _define("ldexp", "x1 * 2**x2.")
heaviside = _define(
    "heaviside", "The step function: 0 below zero, 1 above, x2 at zero; gradient 0."
)

# comparisons and logic

maximum = _define(
    "maximum", "The larger of two elements; NaN wins; ties share the gradient evenly."
)
minimum = _define(
    "minimum", "The smaller of two elements; NaN wins; ties share the gradient evenly."
)
fmax = _define(
    "fmax", "The larger of two elements; a number wins over NaN; ties share the gradient evenly."
)
fmin = _define(
    "fmin", "The smaller of two elements; a number wins over NaN; ties share the gradient evenly."
)
equal = _define("equal", "Whether elements are equal.")
not_equal = _define("not_equal", "Whether elements differ.")
less = _define("less", "Whether x1 < x2.")
less_equal = _define("less_equal", "Whether x1 <= x2.")
greater = _define("greater", "Whether x1 > x2.")
greater_equal = _define("greater_equal", "Whether x1 >= x2.")
logical_and = _define("logical_and", "Whether both elements are true.")
logical_or = _define("logical_or", "Whether any of two elements is true.")
logical_xor = _define("logical_xor", "Whether exactly one of two elements is true.")
logical_not = _define("logical_not", "Whether each element is false.")
isfinite = _define("isfinite", "Whether each element is neither infinite nor NaN.")
isinf = _define("isinf", "Whether each element is infinite.")
isnan = _define("isnan", "Whether each element is NaN.")
isnat = _define("isnat", "Whether each date or duration is not-a-time.")

# integers

gcd = _define("gcd", "The greatest common divisor of integers.")
lcm = _define("lcm", "The least common multiple of integers.")
bitwise_and = _define("bitwise_and", "The bits set in both integers; and of booleans.")
bitwise_or = _define("bitwise_or", "The bits set in any of two integers; or of booleans.")
bitwise_xor = _define(
    "bitwise_xor", "The bits set in exactly one of two integers; xor of booleans."
)
invert = _define("invert", "The integers with every bit flipped; not of booleans.")
left_shift = _define("left_shift", "The bits of x1 shifted to the left by x2.")
right_shift = _define("right_shift", "The bits of x1 shifted to the right by x2.")
bitwise_count = _define("bitwise_count", "The number of bits set in |x|.")
# two results

divmod = _define(
    "divmod",
    "Quotients and remainders: `floor_divide` and `remainder` at once.",
    gufuncs.pair("floor_divide", "remainder"),
)
modf = _define(
    "modf",
    "The fraction and the whole part of each element, both with its sign.",
    gufuncs.pair("modf_fraction", "modf_integer"),
)
frexp = _define(
    "frexp",
    "Mantissas in [0.5, 1) and exponents of two: x = mantissa * 2**exponent.",
    gufuncs.pair("frexp_mantissa", "frexp_exponent"),
)

# products

matmul = _product(
    "matmul", "Matrix product: vectors, matrices, batches of matrices.", gufuncs.matmul
)
vecdot = _product(
    "vecdot", "Inner products of vectors, the first conjugated, along an axis.", gufuncs.vecdot
)
if hasattr(np, "matvec"):
    matvec = _product("matvec", "Products of matrices with vectors.", gufuncs.matvec)
    vecmat = _product("vecmat", "Products of vectors, conjugated, with matrices.", gufuncs.vecmat)

# numen's own

relu = ufunc(
    "relu",
    None,
    _doc("relu", "max(x, 0) of each element; NaN stays; gradient 0 at 0.", 1),
    table["relu"],
)

# other names of the same objects

true_divide = divide
mod = remainder
pow = power
abs = absolute
conj = conjugate
acos = arccos
acosh = arccosh
asin = arcsin
asinh = arcsinh
atan = arctan
atan2 = arctan2
atanh = arctanh
bitwise_not = invert
bitwise_invert = invert
bitwise_left_shift = left_shift
bitwise_right_shift = right_shift
