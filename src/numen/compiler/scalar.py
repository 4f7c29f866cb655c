"""The scalar instruction set of the loop IR as one table: name, arity, operand and result dtypes.

`nest.Instr.op` names a row of `OPS`. `body.py` and `nest_text.py` check dtypes by it; every target
(python, llvm, cuda) spells exactly these rows. No row rounds more than once; anything more complex
is expanded by `math.py`. Next: `body.py`, which builds bodies, and `codegen/python/scalars.py`,
which says what each row means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

BOOL = ("bool",)
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTS = SIGNED + UNSIGNED
FLOATS = ("float32", "float64")
DTYPES = BOOL + INTS + FLOATS
"""Every dtype a kernel can hold, by NumPy name."""

ITEMSIZE = {
    "bool": 1,
    "int8": 1,
    "uint8": 1,
    "int16": 2,
    "uint16": 2,
    "int32": 4,
    "uint32": 4,
    "float32": 4,
    "int64": 8,
    "uint64": 8,
    "float64": 8,
}
"""Bytes of one item in memory."""

SCALARS = ("float64", "int64")
"""The dtypes of run-time scalars (`Nest.scalars`)."""

REDUCTIONS = ("sum", "max", "min", "argmax")
"""The kinds of "reduce", its attr. "sum" has no bool form; "argmax" gives int64."""

BITCASTS = frozenset(
    {("float32", "int32"), ("int32", "float32"), ("float64", "int64"), ("int64", "float64")}
)
"""The (from, to) pairs of "bitcast"."""

Result = Literal["same", "bool", "stated"]
"""Rule for the result's dtype: the (last) operand's, bool, or the one that `Instr.dtype` states."""


@dataclass(frozen=True)
class ScalarOp:
    """A row. `dtypes`: what the operands may have, or the result where there are no operands.

    All operands of a row have one dtype, except the first of "select", which is bool.
    """

    name: str
    arity: int
    result: Result
    dtypes: tuple[str, ...]


def _rows() -> tuple[ScalarOp, ...]:
    arithmetic = INTS + FLOATS
    logical = BOOL + INTS
    return (
        # sources
        ScalarOp("const", 0, "stated", DTYPES),  # attr: the value
        ScalarOp(
            "load", 0, "stated", DTYPES
        ),  # attr: buffer; a bool is true when its byte is not 0
        ScalarOp("scalar", 0, "stated", SCALARS),  # attr: index in Nest.scalars
        ScalarOp("index", 0, "stated", ("int64",)),  # attr: axis
        ScalarOp("reduce", 1, "stated", DTYPES),  # attr: one of REDUCTIONS
        # arithmetic: ints wrap, floats round once
        ScalarOp("add", 2, "same", arithmetic),
        ScalarOp("subtract", 2, "same", arithmetic),
        ScalarOp("multiply", 2, "same", arithmetic),
        ScalarOp("divide", 2, "same", FLOATS),
        ScalarOp("negative", 1, "same", arithmetic),  # floats: flips the sign bit
        ScalarOp(
            "absolute", 1, "same", arithmetic
        ),  # floats: clears the sign bit; ints: |min| is min
        ScalarOp("sqrt", 1, "same", FLOATS),
        ScalarOp("fma", 3, "same", FLOATS),  # a * b + c rounded once
        ScalarOp("rint", 1, "same", FLOATS),  # ties to even
        ScalarOp("floor", 1, "same", FLOATS),
        # comparisons: with a NaN only not_equal is true; false < true
        ScalarOp("less", 2, "bool", DTYPES),
        ScalarOp("less_equal", 2, "bool", DTYPES),
        ScalarOp("equal", 2, "bool", DTYPES),
        ScalarOp("not_equal", 2, "bool", DTYPES),
        ScalarOp("greater", 2, "bool", DTYPES),
        ScalarOp("greater_equal", 2, "bool", DTYPES),
        # bits
        ScalarOp("and", 2, "same", logical),
        ScalarOp("or", 2, "same", logical),
        ScalarOp("xor", 2, "same", logical),
        ScalarOp("not", 1, "same", logical),
        ScalarOp("shl", 2, "same", INTS),  # the count must be in [0, width)
        ScalarOp("lshr", 2, "same", INTS),  # fills with zeros for signed dtypes too; same rule
        # choice and conversion
        ScalarOp("select", 3, "same", DTYPES),  # select(condition, if true, if false)
        ScalarOp(
            "cast", 1, "stated", DTYPES
        ),  # NumPy's astype; float to int only for values in range
        ScalarOp("bitcast", 1, "stated", ("int32", "int64", "float32", "float64")),  # see BITCASTS
    )


OPS: dict[str, ScalarOp] = {row.name: row for row in _rows()}
"""The instruction set."""


def fault(op: str, args: Sequence[str], dtype: str, attr: object = None) -> str | None:
    """Say what is wrong with an instruction of these operand and result dtypes; None if none is."""
    row = OPS.get(op)
    if row is None:
        return f"unknown scalar op {op!r}"
    if len(args) != row.arity:
        return f"{op} takes {row.arity} operands, got {len(args)}"
    operands = list(args)
    if op == "select":
        if operands[0] != "bool":
            return f"select needs a bool condition, got {operands[0]}"
        operands = operands[1:]
    if len(set(operands)) > 1:
        return f"{op} needs operands of one dtype, got {', '.join(operands)}"
    checked = operands[0] if operands else dtype
    if checked not in row.dtypes or dtype not in DTYPES:
        return f"{op} is not defined for {checked} to {dtype}"
    if row.result == "same" and dtype != operands[0]:
        return f"{op} of {operands[0]} gives {operands[0]}, not {dtype}"
    if row.result == "bool" and dtype != "bool":
        return f"{op} gives bool, not {dtype}"
    if op == "bitcast" and (operands[0], dtype) not in BITCASTS:
        return f"bitcast from {operands[0]} to {dtype} is not defined"
    if op == "reduce":
        return _reduce_fault(operands[0], dtype, attr)
    return None


def _reduce_fault(operand: str, dtype: str, attr: object) -> str | None:
    if attr not in REDUCTIONS:
        return f"unknown reduction {attr!r}"
    if attr == "sum" and operand == "bool":
        return "a sum of bool is not defined: cast first"
    expected = "int64" if attr == "argmax" else operand
    if dtype != expected:
        return f"reduce {attr} of {operand} gives {expected}, not {dtype}"
    return None
