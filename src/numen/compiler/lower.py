"""The table from graph ops to scalar instructions: one row an op, shared by every target.

The scheduler asks `has_kernel` whether an op can be part of a kernel, and calls `lower` for each
elementwise op. What has no row, or no exact kernel form (casts from float to int, integer power,
float16, complex), is a host call. Next: `nest.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from numen.compiler import math, special
from numen.compiler.body import Body, Value
from numen.compiler.scalar import BOOL, DTYPES, FLOATS, INTS
from numen.errors import InternalError

Params = Mapping[str, object]
Emit = Callable[[Body, Sequence[Value], str, Params], Value]


@dataclass(frozen=True)
class Row:
    """An elementwise op: how many operands, the dtypes they may have, and what emits it.

    `emit(body, operands, result dtype, params)`. All operands have one dtype, but where's condition
    is bool.
    """

    arity: int
    dtypes: tuple[str, ...]
    emit: Emit


def _plain(op: str) -> Emit:
    """The scalar instruction of the same name."""
    return lambda b, args, dtype, params: b.emit(op, tuple(args), dtype)


def _add(b: Body, args: Sequence[Value], dtype: str, params: Params) -> Value:
    return b.emit("or" if dtype == "bool" else "add", tuple(args), dtype)


def _multiply(b: Body, args: Sequence[Value], dtype: str, params: Params) -> Value:
    return b.emit("and" if dtype == "bool" else "multiply", tuple(args), dtype)


def _power(b: Body, args: Sequence[Value], dtype: str, params: Params) -> Value:
    return math.power(b, args[0], _exponent(params))


def _absolute(b: Body, args: Sequence[Value], dtype: str, params: Params) -> Value:
    return args[0] if dtype == "bool" else b.absolute(args[0])


def _cast(b: Body, args: Sequence[Value], dtype: str, params: Params) -> Value:
    return b.cast(args[0], dtype)


def _unary(function: Callable[[Body, Value], Value]) -> Emit:
    return lambda b, args, dtype, params: function(b, args[0])


def _binary(function: Callable[[Body, Value, Value], Value]) -> Emit:
    return lambda b, args, dtype, params: function(b, args[0], args[1])


def _square(b: Body, args: Sequence[Value], dtype: str, params: Params) -> Value:
    return b.multiply(args[0], args[0])


def _reciprocal(b: Body, args: Sequence[Value], dtype: str, params: Params) -> Value:
    return b.emit("divide", (b.const(1.0, dtype), args[0]), dtype)


def _isnan(b: Body, args: Sequence[Value], dtype: str, params: Params) -> Value:
    return b.emit("not_equal", (args[0], args[0]), "bool")


def _where(b: Body, args: Sequence[Value], dtype: str, params: Params) -> Value:
    return b.select(args[0], args[1], args[2])


_NUMBERS = INTS + FLOATS

ELEMENTWISE: dict[str, Row] = {
    "add": Row(2, DTYPES, _add),
    "subtract": Row(2, _NUMBERS, _plain("subtract")),
    "multiply": Row(2, DTYPES, _multiply),
    "divide": Row(2, FLOATS, _plain("divide")),
    "power": Row(2, FLOATS, _power),
    "maximum": Row(2, DTYPES, _binary(math.maximum)),
    "minimum": Row(2, DTYPES, _binary(math.minimum)),
    "negative": Row(1, _NUMBERS, _plain("negative")),
    "exp": Row(1, FLOATS, _unary(math.exp)),
    "log": Row(1, FLOATS, _unary(math.log)),
    "tanh": Row(1, FLOATS, _unary(math.tanh)),
    "sqrt": Row(1, FLOATS, _plain("sqrt")),
    "absolute": Row(1, DTYPES, _absolute),
    "relu": Row(1, _NUMBERS, _unary(math.relu)),
    "masked_product": Row(2, FLOATS, _binary(math.masked_product)),
    "masked_quotient": Row(2, FLOATS, _binary(math.masked_quotient)),
    "square": Row(1, _NUMBERS, _square),
    "reciprocal": Row(1, FLOATS, _reciprocal),
    "fabs": Row(1, FLOATS, _plain("absolute")),
    "floor": Row(1, FLOATS, _plain("floor")),
    "rint": Row(1, FLOATS, _plain("rint")),
    "isnan": Row(1, FLOATS, _isnan),
    "bitwise_and": Row(2, BOOL + INTS, _plain("and")),
    "bitwise_or": Row(2, BOOL + INTS, _plain("or")),
    "bitwise_xor": Row(2, BOOL + INTS, _plain("xor")),
    "invert": Row(1, BOOL + INTS, _plain("not")),
    "logical_and": Row(2, BOOL, _plain("and")),
    "logical_or": Row(2, BOOL, _plain("or")),
    "logical_xor": Row(2, BOOL, _plain("xor")),
    "logical_not": Row(1, BOOL, _plain("not")),
    "equal": Row(2, DTYPES, _plain("equal")),
    "not_equal": Row(2, DTYPES, _plain("not_equal")),
    "less": Row(2, DTYPES, _plain("less")),
    "less_equal": Row(2, DTYPES, _plain("less_equal")),
    "greater": Row(2, DTYPES, _plain("greater")),
    "greater_equal": Row(2, DTYPES, _plain("greater_equal")),
    "where": Row(3, DTYPES, _where),
    "cast": Row(1, DTYPES, _cast),
    "sigmoid": Row(1, FLOATS, _unary(special.sigmoid)),
    "softplus": Row(1, FLOATS, _unary(special.softplus)),
    "erf": Row(1, FLOATS, _unary(special.erf)),
}
"""Graph op name -> row."""

COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
"""The rows that compare two operands."""

BOOLEAN = frozenset({*COMPARISONS, "isnan"})
"""The rows whose result is bool."""

REDUCTIONS: dict[str, tuple[str, ...]] = {
    "sum": _NUMBERS,
    "max": DTYPES,
    "min": DTYPES,
    "argmax": DTYPES,
}
"""Graph reductions that are a "reduce" of the same name -> dtypes. A mean is decomposed before."""


def lower(b: Body, op: str, args: Sequence[Value], dtype: str, params: Params) -> Value:
    """Emit elementwise graph op `op` on `args`, with a result of `dtype`.

    Raises InternalError where `has_kernel` is false.
    """
    if op not in ELEMENTWISE or not has_kernel(op, [a.dtype for a in args], dtype, params):
        came = ", ".join(a.dtype for a in args)
        raise InternalError(f"{op} of ({came}) to {dtype} has no elementwise kernel form")
    return ELEMENTWISE[op].emit(b, args, dtype, params)


def has_kernel(op: str, dtypes: Sequence[str], dtype: str, params: Params) -> bool:
    """Whether `op` on operands of `dtypes`, giving `dtype`, has an exact enough kernel form.

    "power" has one only with a constant exponent of `math.POWERS`, told by `params["exponent"]`.
    Views, gathers and concatenations are no computation and have no row here.
    """
    if op == "matmul":
        return dtype in FLOATS and list(dtypes) == [dtype, dtype]
    if op in REDUCTIONS:
        result = "int64" if op == "argmax" else dtypes[0]
        return len(dtypes) == 1 and dtypes[0] in REDUCTIONS[op] and dtype == result
    row = ELEMENTWISE.get(op)
    if row is None or len(dtypes) != row.arity or dtype not in DTYPES:
        return False
    operands = list(dtypes)
    if op == "where" and operands.pop(0) != "bool":
        return False
    if len(set(operands)) > 1 or operands[0] not in row.dtypes:
        return False
    if op == "cast":
        return operands[0] not in FLOATS or dtype in FLOATS + BOOL
    if op == "power" and _exponent(params) not in math.POWERS:
        return False
    return dtype == ("bool" if op in BOOLEAN else operands[0])


def _exponent(params: Params) -> float:
    """The constant exponent of a power, NaN if it has none."""
    exponent = params.get("exponent")
    return float(exponent) if isinstance(exponent, (int, float)) else float("nan")
