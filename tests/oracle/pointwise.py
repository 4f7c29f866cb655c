"""Operations that work element by element: torch's name to numen's function. Next:
`arrangement.py`."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.oracle.counterparts import refuses, scalar

import numen as nm

F = nm.nn.functional

SAME = (
    *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "conj", "copysign"),
    *("cos", "cosh", "deg2rad", "exp", "exp2", "expm1", "floor", "fmax", "fmin", "fmod", "hypot"),
    *("i0", "imag", "isfinite", "isinf", "isnan", "isneginf", "isposinf", "isreal"),
    *("log", "log10", "log1p", "log2", "logaddexp2", "logical_and", "logical_not"),
    *("logical_or", "logical_xor", "maximum", "minimum", "nextafter", "positive", "pow"),
    *("rad2deg", "real", "reciprocal", "remainder", "sign", "signbit", "sin", "sinc", "sinh"),
    *("sqrt", "square", "tan", "tanh", "trunc", "abs", "heaviside", "gcd", "lcm", "float_power"),
    *("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "bitwise_left_shift"),
    *("bitwise_right_shift", "floor_divide", "true_divide", "frexp", "angle"),
)
"""Names that are numen's too, with the same arguments."""


def add(x: Any, other: Any, *, alpha: Any = 1) -> Any:
    return nm.add(x, other if alpha == 1 else nm.multiply(other, alpha))


def sub(x: Any, other: Any, *, alpha: Any = 1) -> Any:
    return nm.subtract(x, other if alpha == 1 else nm.multiply(other, alpha))


def rsub(x: Any, other: Any, *, alpha: Any = 1) -> Any:
    return nm.subtract(other, x if alpha == 1 else nm.multiply(x, alpha))


def div(x: Any, other: Any, *, rounding_mode: Any = None) -> Any:
    if rounding_mode == "floor":
        return nm.floor_divide(x, other)
    ratio = nm.true_divide(x, other)
    return ratio if rounding_mode is None else nm.trunc(ratio)


def clamp(x: Any, min: Any = None, max: Any = None) -> Any:  # torch's keywords
    return nm.clip(x, min, max)


def nan_to_num(x: Any, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    return nm.nan_to_num(x, nan=0.0 if nan is None else nan, posinf=posinf, neginf=neginf)


def round_to(x: Any, *, decimals: int = 0) -> Any:
    return nm.round(x, decimals)


def addcmul(x: Any, a: Any, b: Any, *, value: Any = 1) -> Any:
    return x + (a * b if value == 1 else a * b * value)


def addcdiv(x: Any, a: Any, b: Any, *, value: Any = 1) -> Any:
    return x + a / b * value


def lerp(x: Any, end: Any, weight: Any) -> Any:
    return x + weight * (end - x)


def isclose(a: Any, b: Any, **settings: Any) -> Any:
    return nm.isclose(a, b, **settings)


def complex_of(x: Any, y: Any) -> Any:
    # two multiplications by 1j would turn an infinite part into a NaN, as in NumPy
    return x + 1j * y if x.dtype == np.float64 else x + np.complex64(1j) * y


def polar(size: Any, angle: Any) -> Any:
    return complex_of(size * nm.cos(angle), size * nm.sin(angle))


def frac(x: Any) -> Any:
    return nm.modf(x)[0]


def cast(dtype: Any) -> Any:
    def call(x: Any) -> Any:
        return x.astype(dtype)

    return call


def to(x: Any, *args: Any, **kwargs: Any) -> Any:
    for value in (*args, *kwargs.values()):
        if isinstance(value, nm.Array):
            return x.astype(value.dtype)
        if isinstance(value, np.dtype):
            return x.astype(value)
    return nm.copy(x) if kwargs.get("copy") else x.astype(x.dtype)


def fill(x: Any, value: Any) -> Any:
    return nm.full_like(x, scalar(value)) if not isinstance(value, nm.Array) else x * 0 + value


def flipped(function: Any) -> Any:
    """The operator with its operands exchanged: torch's `__radd__`."""

    def call(x: Any, other: Any) -> Any:
        return function(other, x)

    return call


def copied(x: Any, **settings: Any) -> Any:
    refuses(bool(settings), "memory format")
    return nm.copy(x)


def real_only(function: Any) -> Any:
    """A function that takes no complex numbers, in NumPy or here."""

    def call(*args: Any) -> Any:
        complexes = any(isinstance(a, nm.Array) and a.dtype.kind == "c" for a in args)
        refuses(complexes, "complex numbers")
        return function(*args)

    return call


def xlogy(x: Any, y: Any) -> Any:
    zero = nm.equal(x, 0) & ~nm.isnan(y)
    return nm.where(zero, 0.0, x * nm.log(nm.where(zero, 1.0, y)))


POINTWISE: dict[str, Any] = {
    **{name: getattr(nm, name) for name in SAME},
    "conj_physical": nm.conj,
    "resolve_conj": nm.positive,
    "resolve_neg": nm.positive,
    "sgn": nm.sign,
    "neg": nm.negative,
    "mul": nm.multiply,
    "add": add,
    "sub": sub,
    "rsub": rsub,
    "div.no_rounding_mode": div,
    "div.trunc_rounding": div,
    "div.floor_rounding": div,
    "eq": nm.equal,
    "ne": nm.not_equal,
    "ge": nm.greater_equal,
    "gt": nm.greater,
    "le": nm.less_equal,
    "lt": nm.less,
    "max.binary": nm.maximum,
    "min.binary": nm.minimum,
    "clamp": clamp,
    "clamp_max": nm.minimum,
    "clamp_min": nm.maximum,
    "nan_to_num": nan_to_num,
    "round": round_to,
    "round.decimals_0": round_to,
    "round.decimals_3": round_to,
    "round.decimals_neg_3": round_to,
    "addcmul": addcmul,
    "addcdiv": addcdiv,
    "lerp": lerp,
    "isclose": isclose,
    "complex": complex_of,
    "polar": polar,
    "frac": frac,
    "fill": fill,
    "logaddexp": real_only(nm.logaddexp),
    "ldexp": lambda x, other: x * nm.exp2(other),
    "rsqrt": lambda x: nm.reciprocal(nm.sqrt(x)),
    "sigmoid": real_only(F.sigmoid),
    "xlogy": xlogy,
    "clone": copied,
    "contiguous": lambda x: nm.copy(x, order="C"),
    "zero_": nm.zeros_like,
    "to": to,
    "bfloat16": cast(nm.bfloat16),
    "half": cast(np.float16),
    "float": cast(np.float32),
    "double": cast(np.float64),
    "cfloat": cast(np.complex64),
    "cdouble": cast(np.complex128),
    "bool": cast(np.bool_),
    "byte": cast(np.uint8),
    "char": cast(np.int8),
    "short": cast(np.int16),
    "int": cast(np.int32),
    "long": cast(np.int64),
    "__radd__": flipped(nm.add),
    "__rsub__": flipped(nm.subtract),
    "__rmul__": flipped(nm.multiply),
    "__rdiv__": flipped(nm.true_divide),
    "__rmod__": flipped(nm.remainder),
    "__rpow__": flipped(nm.power),
    "__rmatmul__": flipped(nm.matmul),
    "__rand__": flipped(nm.bitwise_and),
    "__ror__": flipped(nm.bitwise_or),
    "__rxor__": flipped(nm.bitwise_xor),
}
