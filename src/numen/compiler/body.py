"""Builder of SSA bodies: calls like `b.add(x, y)` in, a tuple of `nest.Instr` out.

Used by `math.py`, `lower.py` and the scheduler. Each call checks dtypes against `scalar.OPS`, and
an instruction equal to an earlier one is not repeated (every instruction is pure). Next: `math.py`
and `lower.py`, which emit through it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from numen.compiler.nest import Instr
from numen.compiler.scalar import FLOATS, fault
from numen.errors import InternalError

Constant = float | int | bool
Attr = float | int | bool | str | None


@dataclass(frozen=True)
class Value:
    """Handle of an instruction: its position in the body and its dtype name."""

    position: int
    dtype: str


def canonical(value: Constant, dtype: str) -> Constant:
    """Give the one Python value that stands for `value` in `dtype`: float32 ones are rounded here.

    Raises InternalError where the value is no number of the dtype (an int out of range, 0.5 as
    int64).
    """
    if dtype == "bool":
        if value in (0, 1):
            return bool(value)
    elif dtype in FLOATS:
        with np.errstate(over="ignore"):
            number = float(np.dtype(dtype).type(value))
        return math.nan if math.isnan(number) else number
    elif value == value and abs(value) != math.inf and int(value) == value:
        info = np.iinfo(dtype)
        if info.min <= value <= info.max:
            return int(value)
    raise InternalError(f"{value!r} is no constant of dtype {dtype}")


class Body:
    """A growing SSA body. `instrs` is the result; the methods append to it and return handles."""

    def __init__(self) -> None:
        self._instrs: list[Instr] = []
        self._known: dict[tuple[str, tuple[int, ...], str, str], Value] = {}

    @property
    def instrs(self) -> tuple[Instr, ...]:
        """The instructions so far, in order."""
        return tuple(self._instrs)

    def emit(self, op: str, args: tuple[Value, ...], dtype: str, attr: Attr = None) -> Value:
        """Append one instruction, or return the equal one that is there.

        Raises InternalError for operands or a result dtype that the table does not allow.
        """
        wrong = fault(op, [a.dtype for a in args], dtype, attr)
        if wrong:
            raise InternalError(wrong)
        positions = tuple(a.position for a in args)
        # repr tells 0.0 from -0.0 and 1 from 1.0 and True, which == does not.
        key = (op, positions, dtype, repr(attr))
        value = self._known.get(key)
        if value is None:
            value = Value(len(self._instrs), dtype)
            self._instrs.append(Instr(op, positions, dtype, attr))
            self._known[key] = value
        return value

    def _same(self, op: str, *args: Value) -> Value:
        return self.emit(op, args, args[-1].dtype)

    def _test(self, op: str, x: Value, y: Value) -> Value:
        return self.emit(op, (x, y), "bool")

    # Sources

    def const(self, value: Constant, dtype: str) -> Value:
        """A constant; a float32 one is rounded to nearest here."""
        return self.emit("const", (), dtype, canonical(value, dtype))

    def load(self, buffer: int, dtype: str) -> Value:
        """The current item of a buffer of the nest."""
        return self.emit("load", (), dtype, buffer)

    def scalar(self, index: int, dtype: str) -> Value:
        """A run-time scalar, "float64" or "int64"."""
        return self.emit("scalar", (), dtype, index)

    def index(self, axis: int) -> Value:
        """The current index along an axis, int64."""
        return self.emit("index", (), "int64", axis)

    def reduce(self, kind: str, x: Value) -> Value:
        """The reduction of x along the reduced axis: "sum", "max", "min" or "argmax" (int64)."""
        return self.emit("reduce", (x,), "int64" if kind == "argmax" else x.dtype, kind)

    # Arithmetic

    def add(self, x: Value, y: Value) -> Value:
        return self._same("add", x, y)

    def subtract(self, x: Value, y: Value) -> Value:
        return self._same("subtract", x, y)

    def multiply(self, x: Value, y: Value) -> Value:
        return self._same("multiply", x, y)

    def divide(self, x: Value, y: Value) -> Value:
        return self._same("divide", x, y)

    def negative(self, x: Value) -> Value:
        return self._same("negative", x)

    def absolute(self, x: Value) -> Value:
        return self._same("absolute", x)

    def sqrt(self, x: Value) -> Value:
        return self._same("sqrt", x)

    def fma(self, x: Value, y: Value, z: Value) -> Value:
        """x * y + z with one rounding."""
        return self._same("fma", x, y, z)

    def rint(self, x: Value) -> Value:
        return self._same("rint", x)

    def floor(self, x: Value) -> Value:
        return self._same("floor", x)

    # Comparisons

    def less(self, x: Value, y: Value) -> Value:
        return self._test("less", x, y)

    def less_equal(self, x: Value, y: Value) -> Value:
        return self._test("less_equal", x, y)

    def equal(self, x: Value, y: Value) -> Value:
        return self._test("equal", x, y)

    def not_equal(self, x: Value, y: Value) -> Value:
        return self._test("not_equal", x, y)

    def greater(self, x: Value, y: Value) -> Value:
        return self._test("greater", x, y)

    def greater_equal(self, x: Value, y: Value) -> Value:
        return self._test("greater_equal", x, y)

    # Bits

    def and_(self, x: Value, y: Value) -> Value:
        return self._same("and", x, y)

    def or_(self, x: Value, y: Value) -> Value:
        return self._same("or", x, y)

    def xor(self, x: Value, y: Value) -> Value:
        return self._same("xor", x, y)

    def not_(self, x: Value) -> Value:
        return self._same("not", x)

    def shl(self, x: Value, count: int) -> Value:
        """x shifted left by a constant count in [0, width)."""
        return self._same("shl", x, self.const(count, x.dtype))

    def lshr(self, x: Value, count: int) -> Value:
        """x shifted right by a constant count in [0, width), zeros coming in."""
        return self._same("lshr", x, self.const(count, x.dtype))

    # Choice and conversion

    def select(self, condition: Value, x: Value, y: Value) -> Value:
        """x where the condition holds, else y."""
        return self._same("select", condition, x, y)

    def cast(self, x: Value, dtype: str) -> Value:
        """x converted as NumPy's astype does; x itself when it has the dtype already."""
        return x if x.dtype == dtype else self.emit("cast", (x,), dtype)

    def bitcast(self, x: Value, dtype: str) -> Value:
        """The value of `dtype` that has x's bits."""
        return self.emit("bitcast", (x,), dtype)
