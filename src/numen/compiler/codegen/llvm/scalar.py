"""The scalar instruction set in LLVM: one table from op name to the function that writes it.

`write(function, op, dtype, operands)` serves scalars and vectors alike; the operands' width is the
result's. Signedness comes from the dtype names. The rows are those of `numen.compiler.scalar.OPS`
that compute; loads, constants, indices and reductions belong to `scope.py` and the loops. Next:
`scope.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from numen.compiler.codegen.llvm.ir import Function, Value, constant
from numen.compiler.scalar import FLOATS, INTS, ITEMSIZE, SIGNED
from numen.errors import InternalError

Write = Callable[[Function, str, Sequence[Value]], Value]


def write(function: Function, op: str, dtype: str, operands: Sequence[Value]) -> Value:
    """Append the instructions of `op`, whose result has this dtype."""
    try:
        row = TABLE[op]
    except KeyError:
        raise InternalError(f"llvm: no spelling of the scalar op {op!r}") from None
    return row(function, dtype, operands)


def _arithmetic(for_floats: str, for_ints: str) -> Write:
    def row(function: Function, dtype: str, operands: Sequence[Value]) -> Value:
        left, right = operands
        return function.binary(for_floats if dtype in FLOATS else for_ints, left, right)

    return row


def _comparison(for_floats: str, for_signed: str, for_unsigned: str) -> Write:
    def row(function: Function, dtype: str, operands: Sequence[Value]) -> Value:
        left, right = operands
        if left.dtype in FLOATS:
            return function.compare(f"fcmp {for_floats}", left, right)
        predicate = for_signed if left.dtype in SIGNED else for_unsigned
        return function.compare(f"icmp {predicate}", left, right)

    return row


def _float_intrinsic(name: str) -> Write:
    def row(function: Function, dtype: str, operands: Sequence[Value]) -> Value:
        width = operands[0].width
        return function.call(f"llvm.{name}.{suffix(dtype, width)}", dtype, width, *operands)

    return row


def suffix(dtype: str, width: int) -> str:
    """The name of a type inside an intrinsic's name: f32, v16f32, v8i64."""
    letter = "f" if dtype in FLOATS else "i"
    return ("" if width == 1 else f"v{width}") + f"{letter}{8 * ITEMSIZE[dtype]}"


def _negative(function: Function, dtype: str, operands: Sequence[Value]) -> Value:
    (x,) = operands
    if dtype in FLOATS:
        return function.value(dtype, x.width, f"fneg {x.typed}")
    return function.binary("sub", constant(0, dtype, x.width), x)


def _absolute(function: Function, dtype: str, operands: Sequence[Value]) -> Value:
    (x,) = operands
    if dtype in FLOATS:
        return _float_intrinsic("fabs")(function, dtype, operands)
    if dtype not in SIGNED:
        return x
    below = function.compare("icmp slt", x, constant(0, dtype, x.width))
    return function.select(below, _negative(function, dtype, operands), x)


def _not(function: Function, dtype: str, operands: Sequence[Value]) -> Value:
    (x,) = operands
    ones = constant(True if dtype == "bool" else -1, dtype, x.width)
    return function.binary("xor", x, ones)


def _shift(instruction: str) -> Write:
    def row(function: Function, dtype: str, operands: Sequence[Value]) -> Value:
        x, count = operands
        if not count.is_constant:
            # In range by contract; the mask keeps a broken contract from being undefined behaviour.
            mask = constant(8 * ITEMSIZE[dtype] - 1, dtype, x.width)
            count = function.binary("and", count, mask)
        return function.binary(instruction, x, count)

    return row


def _select(function: Function, dtype: str, operands: Sequence[Value]) -> Value:
    condition, if_true, if_false = operands
    return function.select(condition, if_true, if_false)


def _bitcast(function: Function, dtype: str, operands: Sequence[Value]) -> Value:
    return function.convert("bitcast", operands[0], dtype)


def _cast(function: Function, dtype: str, operands: Sequence[Value]) -> Value:
    (x,) = operands
    if x.dtype == dtype:
        return x
    if dtype == "bool":
        zero = constant(0, x.dtype, x.width)
        return function.compare("fcmp une" if x.dtype in FLOATS else "icmp ne", x, zero)
    if x.dtype in FLOATS:
        if dtype in FLOATS:
            return function.convert("fpext" if dtype == "float64" else "fptrunc", x, dtype)
        return function.convert("fptosi" if dtype in SIGNED else "fptoui", x, dtype)
    signed = x.dtype in SIGNED
    if dtype in FLOATS:
        return function.convert("sitofp" if signed else "uitofp", x, dtype)
    if x.dtype in INTS:
        if ITEMSIZE[dtype] == ITEMSIZE[x.dtype]:
            return Value(x.text, dtype, x.width)
        if ITEMSIZE[dtype] < ITEMSIZE[x.dtype]:
            return function.convert("trunc", x, dtype)
    return function.convert("sext" if signed else "zext", x, dtype)


TABLE: dict[str, Write] = {
    "add": _arithmetic("fadd", "add"),
    "subtract": _arithmetic("fsub", "sub"),
    "multiply": _arithmetic("fmul", "mul"),
    "divide": _arithmetic("fdiv", "fdiv"),
    "negative": _negative,
    "absolute": _absolute,
    "sqrt": _float_intrinsic("sqrt"),
    "fma": _float_intrinsic("fma"),
    "rint": _float_intrinsic("rint"),
    "floor": _float_intrinsic("floor"),
    "less": _comparison("olt", "slt", "ult"),
    "less_equal": _comparison("ole", "sle", "ule"),
    "equal": _comparison("oeq", "eq", "eq"),
    "not_equal": _comparison("une", "ne", "ne"),
    "greater": _comparison("ogt", "sgt", "ugt"),
    "greater_equal": _comparison("oge", "sge", "uge"),
    "and": _arithmetic("and", "and"),
    "or": _arithmetic("or", "or"),
    "xor": _arithmetic("xor", "xor"),
    "not": _not,
    "shl": _shift("shl"),
    "lshr": _shift("lshr"),
    "select": _select,
    "cast": _cast,
    "bitcast": _bitcast,
}
