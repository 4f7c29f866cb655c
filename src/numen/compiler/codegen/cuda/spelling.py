"""How CUDA C++ spells dtypes, constants and scalar instructions: the table of this target.

`emit.py` asks here for one expression per instruction. Float arithmetic is spelled with the `_rn`
intrinsics, which round once and which no compiler contracts; integers wrap because they compute in
an unsigned type. Next: `emit.py` for the loops around the expressions, `shim/cuda_cpu.h` for the
same intrinsics on a CPU.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from numen.compiler.nest import Instr
from numen.compiler.scalar import FLOATS, SIGNED, UNSIGNED
from numen.errors import InternalError

TYPES = {
    "bool": "bool",
    "int8": "signed char",
    "int16": "short",
    "int32": "int",
    "int64": "long long",
    "uint8": "unsigned char",
    "uint16": "unsigned short",
    "uint32": "unsigned int",
    "uint64": "unsigned long long",
    "float32": "float",
    "float64": "double",
}
"""The type of a value in a register."""

MEMORY_TYPES = {**TYPES, "bool": "unsigned char"}
"""The type of an item in memory."""

INTRINSICS: dict[str, dict[str, str]] = {
    "add": {
        "float32": "__fadd_rn({0}, {1})",
        "float64": "__dadd_rn({0}, {1})",
        "int": "({T})(({U}){0} + ({U}){1})",
    },
    "subtract": {
        "float32": "__fsub_rn({0}, {1})",
        "float64": "__dsub_rn({0}, {1})",
        "int": "({T})(({U}){0} - ({U}){1})",
    },
    "multiply": {
        "float32": "__fmul_rn({0}, {1})",
        "float64": "__dmul_rn({0}, {1})",
        "int": "({T})(({U}){0} * ({U}){1})",
    },
    "divide": {"float32": "__fdiv_rn({0}, {1})", "float64": "__ddiv_rn({0}, {1})"},
    "negative": {"float": "-{0}", "int": "({T})(0 - ({U}){0})"},
    "absolute": {
        "float32": "fabsf({0})",
        "float64": "fabs({0})",
        "signed": "{0} < 0 ? ({T})(0 - ({U}){0}) : {0}",
        "unsigned": "{0}",
    },
    "sqrt": {"float32": "__fsqrt_rn({0})", "float64": "__dsqrt_rn({0})"},
    "fma": {"float32": "__fmaf_rn({0}, {1}, {2})", "float64": "__fma_rn({0}, {1}, {2})"},
    "rint": {"float32": "rintf({0})", "float64": "rint({0})"},
    "floor": {"float32": "floorf({0})", "float64": "floor({0})"},
    "less": {"any": "{0} < {1}"},
    "less_equal": {"any": "{0} <= {1}"},
    "equal": {"any": "{0} == {1}"},
    "not_equal": {"any": "{0} != {1}"},
    "greater": {"any": "{0} > {1}"},
    "greater_equal": {"any": "{0} >= {1}"},
    "and": {"any": "({T})({0} & {1})"},
    "or": {"any": "({T})({0} | {1})"},
    "xor": {"any": "({T})({0} ^ {1})"},
    "not": {"bool": "!{0}", "int": "({T})~{0}"},
    "shl": {"int": "({T})(({U}){0} << {1})"},
    "lshr": {"int": "({T})(({W}){0} >> {1})"},
    "select": {"any": "{0} ? {1} : {2}"},
    "cast": {"any": "({R}){0}"},
    "bitcast": {
        "float32": "__float_as_int({0})",
        "int32": "__int_as_float({0})",
        "float64": "__double_as_longlong({0})",
        "int64": "__longlong_as_double({0})",
    },
}
"""Scalar op → class of the operands' dtype → its expression.

Of the classes the first that has an entry counts: the dtype's own name, "signed" or "unsigned",
"int" or "float", "any". In a template {0} {1} {2} are operands, T is their type, U the unsigned
type in which their arithmetic wraps, W the unsigned type of just their width, R the result's type.
"""


def expression(instr: Instr, names: Sequence[str], dtypes: Sequence[str]) -> str:
    """Spell an instruction whose operands are the variables `names` of these dtypes.

    Raises
    ------
    InternalError
        The op has no spelling for the dtype, or has a meaning only inside loops (load, reduce ...).
    """
    if instr.op == "const":
        return constant(instr.attr, instr.dtype)
    if instr.op == "cast" and instr.dtype == "bool":
        return f"{names[0]} != 0"
    operand = dtypes[-1] if dtypes else instr.dtype
    spellings = INTRINSICS.get(instr.op, {})
    for name in _classes(operand):
        if name in spellings:
            return spellings[name].format(
                *names,
                T=TYPES[operand],
                U="unsigned long long" if operand in ("int64", "uint64") else "unsigned int",
                W=TYPES["u" + operand] if operand in SIGNED else TYPES[operand],
                R=TYPES[instr.dtype],
            )
    raise InternalError(f"cuda: no spelling of {instr.op} for {operand}")


def _classes(dtype: str) -> tuple[str, ...]:
    if dtype in SIGNED:
        return dtype, "signed", "int", "any"
    if dtype in UNSIGNED:
        return dtype, "unsigned", "int", "any"
    if dtype in FLOATS:
        return dtype, "float", "any"
    return dtype, "any"


def constant(value: object, dtype: str) -> str:
    """Spell a constant so that the compiler reads back exactly these bits."""
    if dtype in FLOATS:
        return _float_constant(np.dtype(dtype).type(value))
    if dtype == "bool":
        return "true" if value else "false"
    number = int(np.dtype(dtype).type(value))
    if number == -(2**63):
        return "(-9223372036854775807LL - 1)"  # 2**63 fits no signed literal
    literal = f"{number}{'ULL' if dtype == 'uint64' else 'LL'}"
    return literal if dtype in ("int64", "uint64") else f"({TYPES[dtype]}){literal}"


def _float_constant(value: np.floating) -> str:
    single = value.dtype == np.float32
    if not np.isfinite(value):
        if single:
            return f"__int_as_float(0x{value.view(np.uint32):08x})"
        return f"__longlong_as_double(0x{value.view(np.uint64):016x}LL)"
    number = float(value)
    if number == math.trunc(number) and abs(number) < 2**20:
        return f"{number!r}{'f' if single else ''}"  # -0.0, 1.0, 32.0: exact and easier to read
    digits, exponent = number.hex().split("p")  # hexadecimal is exact by construction
    return f"{digits.rstrip('0').rstrip('.')}p{exponent}{'f' if single else ''}"
