"""A small builder of LLVM IR text: typed values, basic blocks, structured loops with carried phis,
choices.

Used by every other file of this folder to write one function; `kernels.py` joins functions into a
module. No pass runs over the text, so what is written here is what is compiled: SSA from the
start, nothing in memory that could be in a register. Next: `scalar.py`, the scalar instructions on
top of this.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from numen.compiler.scalar import FLOATS, ITEMSIZE

_TYPES = {
    "ptr": "ptr",
    "bool": "i1",
    "int8": "i8",
    "uint8": "i8",
    "int16": "i16",
    "uint16": "i16",
    "int32": "i32",
    "uint32": "i32",
    "int64": "i64",
    "uint64": "i64",
    "float32": "float",
    "float64": "double",
}
"""The register type of a dtype; "ptr" is an address. A bool is one bit here and one byte in
memory.
"""


@dataclass(frozen=True, slots=True)
class Value:
    """An SSA value or a constant: its operand text, its dtype, and its lanes (width 1 is no
    vector).
    """

    text: str
    dtype: str
    width: int = 1

    @property
    def type(self) -> str:
        return llvm_type(self.dtype, self.width)

    @property
    def is_constant(self) -> bool:
        return not self.text.startswith("%")

    @property
    def typed(self) -> str:
        return f"{self.type} {self.text}"


def llvm_type(dtype: str, width: int = 1) -> str:
    return _TYPES[dtype] if width == 1 else f"<{width} x {_TYPES[dtype]}>"


def memory_dtype(dtype: str) -> str:
    return "uint8" if dtype == "bool" else dtype


def constant(value: float | int | bool, dtype: str, width: int = 1) -> Value:
    """A constant; a vector holds it in every lane."""
    text = _constant_text(value, dtype)
    if width > 1:
        text = f"splat ({_TYPES[dtype]} {text})"
    return Value(text, dtype, width)


def integer(value: int) -> Value:
    """An int64 constant, the type of every index and offset."""
    return Value(str(value), "int64")


def iota(dtype: str, width: int) -> Value:
    """The constant 0, 1, 2, ... of an integer dtype."""
    if width == 1:
        return constant(0, dtype)
    lanes = ", ".join(f"{_TYPES[dtype]} {lane}" for lane in range(width))
    return Value(f"<{lanes}>", dtype, width)


def _constant_text(value: float | int | bool, dtype: str) -> str:
    if dtype == "bool":
        return "true" if value else "false"
    if dtype in FLOATS:
        number = float(value)
        if dtype == "float32":
            number = _to_float32(number)
        return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"
    bits = 8 * ITEMSIZE[dtype]
    wrapped = int(value) & ((1 << bits) - 1)
    return str(wrapped - (1 << bits) if wrapped >> (bits - 1) else wrapped)


def _to_float32(number: float) -> float:
    try:
        return float(struct.unpack("<f", struct.pack("<f", number))[0])
    except OverflowError:
        return math.copysign(math.inf, number)


@dataclass
class Loop:
    """A loop being written: its index, the carried values at the top, and what the body leaves for
    the next turn.

    `results` are the carried values after the loop, filled when it ends.
    """

    index: Value
    state: list[Value]
    next: list[Value] = field(default_factory=list)
    results: list[Value] = field(default_factory=list)


class Function:
    """The text of one function in the making: a kernel `void name(ptr args, i64 chunk)`, or a
    helper of one.
    """

    def __init__(self, name: str, parameters: Sequence[str] | None = None) -> None:
        self.name = name
        self.declarations: set[str] = set()
        self.helpers: dict[str, Function] = {}
        if parameters is None:
            self.parameters = [Value("%args", "ptr"), Value("%chunk", "int64")]
            self._linkage = ""
        else:
            self.parameters = [Value(f"%a{i}", dtype) for i, dtype in enumerate(parameters)]
            self._linkage = "internal "
        self._allocas: list[str] = []
        self._lines: list[str] = []
        self._names = 0
        self._block = "start"

    def text(self) -> str:
        listed = ", ".join(parameter.typed for parameter in self.parameters)
        lines = [f"define {self._linkage}void @{self.name}({listed}) nounwind {{", "entry:"]
        lines += [
            *self._allocas,
            "  br label %start",
            "start:",
            *self._lines,
            "  ret void",
            "}",
            "",
        ]
        return "\n".join([*lines, *(helper.text() for helper in self.helpers.values())])

    def all_declarations(self) -> set[str]:
        """Of this function and its helpers."""
        helpers = (helper.all_declarations() for helper in self.helpers.values())
        return self.declarations.union(*helpers)

    def invoke(
        self, name: str, arguments: Sequence[Value], write: Callable[[Function, list[Value]], None]
    ) -> None:
        """Call a helper of this kernel; `write` writes its body at the first call of that name.

        Cold code goes into helpers: compile time grows faster than the size of a function.
        """
        full_name = f"{self.name}.{name}"
        if full_name not in self.helpers:
            helper = Function(full_name, [argument.dtype for argument in arguments])
            self.helpers[full_name] = helper
            write(helper, helper.parameters)
        listed = ", ".join(argument.typed for argument in arguments)
        self.statement(f"call void @{full_name}({listed})")

    # --- instructions

    def value(self, dtype: str, width: int, instruction: str) -> Value:
        """Append `%new = instruction`, whose result has this dtype and width."""
        self._names += 1
        name = f"%v{self._names}"
        self._lines.append(f"  {name} = {instruction}")
        return Value(name, dtype, width)

    def statement(self, instruction: str) -> None:
        self._lines.append(f"  {instruction}")

    def call(self, intrinsic: str, dtype: str, width: int, *operands: Value) -> Value:
        """Call an intrinsic that the target lowers to instructions."""
        kind = llvm_type(dtype, width)
        types = ", ".join(operand.type for operand in operands)
        self.declarations.add(f"declare {kind} @{intrinsic}({types})")
        listed = ", ".join(operand.typed for operand in operands)
        return self.value(dtype, width, f"call {kind} @{intrinsic}({listed})")

    def binary(self, instruction: str, left: Value, right: Value) -> Value:
        return self.value(left.dtype, left.width, f"{instruction} {left.typed}, {right.text}")

    def compare(self, predicate: str, left: Value, right: Value) -> Value:
        """`predicate` is LLVM's with its instruction: "icmp ult", "fcmp ogt"."""
        return self.value("bool", left.width, f"{predicate} {left.typed}, {right.text}")

    def select(self, condition: Value, if_true: Value, if_false: Value) -> Value:
        return self.value(
            if_true.dtype,
            if_true.width,
            f"select {condition.typed}, {if_true.typed}, {if_false.typed}",
        )

    def convert(self, instruction: str, operand: Value, dtype: str) -> Value:
        kind = llvm_type(dtype, operand.width)
        return self.value(dtype, operand.width, f"{instruction} {operand.typed} to {kind}")

    # --- index arithmetic (int64, never wraps)

    def add(self, left: Value, right: Value | int) -> Value:
        if isinstance(right, int):
            if right == 0:
                return left
            right = constant(right, left.dtype)
        return self.binary("add nsw", left, right)

    def subtract(self, left: Value, right: Value) -> Value:
        return self.binary("sub nsw", left, right)

    def multiply(self, left: Value, right: Value | int) -> Value:
        if isinstance(right, int):
            if right == 1:
                return left
            right = constant(right, left.dtype)
        return self.binary("mul nsw", left, right)

    def minimum(self, left: Value, right: Value) -> Value:
        return self.call("llvm.umin.i64", "int64", 1, left, right)

    def maximum(self, left: Value, right: Value) -> Value:
        return self.call("llvm.smax.i64", "int64", 1, left, right)

    # --- vectors

    def splat(self, scalar: Value, width: int) -> Value:
        """A vector that holds `scalar` in every lane."""
        if width == 1:
            return scalar
        kind = llvm_type(scalar.dtype, width)
        first = self.value(
            scalar.dtype, width, f"insertelement {kind} poison, {scalar.typed}, i64 0"
        )
        return self.value(
            scalar.dtype,
            width,
            f"shufflevector {first.typed}, {kind} poison, <{width} x i32> zeroinitializer",
        )

    def extract(self, vector: Value, lane: int) -> Value:
        if vector.width == 1:
            return vector
        return self.value(vector.dtype, 1, f"extractelement {vector.typed}, i64 {lane}")

    def insert(self, vector: Value, scalar: Value, lane: int) -> Value:
        return self.value(
            vector.dtype,
            vector.width,
            f"insertelement {vector.typed}, {scalar.typed}, i64 {lane}",
        )

    def lanes(self, vector: Value, first: int, count: int) -> Value:
        """Lanes first, ..., first + count - 1 as a vector, or as a scalar where count is 1."""
        if count == 1:
            return self.extract(vector, first)
        mask = ", ".join(f"i32 {lane}" for lane in range(first, first + count))
        return self.value(
            vector.dtype,
            count,
            f"shufflevector {vector.typed}, {vector.type} poison, <{count} x i32> <{mask}>",
        )

    # --- memory

    def offset(self, pointer: Value, count: Value, dtype: str = "uint8") -> Value:
        """The address `count` items of `dtype` (bytes by default) after `pointer`."""
        if count.text == "0":
            return pointer
        item = llvm_type(memory_dtype(dtype))
        return self.value("ptr", 1, f"getelementptr {item}, {pointer.typed}, {count.typed}")

    def load(self, pointer: Value, dtype: str, width: int = 1) -> Value:
        kind = memory_dtype(dtype)
        address = f"{pointer.typed}, align {_alignment(dtype)}"
        item = self.value(kind, width, f"load {llvm_type(kind, width)}, {address}")
        if dtype == "bool":
            return self.compare("icmp ne", item, constant(0, kind, width))
        return item

    def store(self, value: Value, pointer: Value) -> None:
        if value.dtype == "bool":
            value = self.convert("zext", value, "uint8")
        alignment = _alignment(value.dtype)
        self.statement(f"store {value.typed}, {pointer.typed}, align {alignment}")

    def prefetch(self, pointer: Value) -> None:
        """Hint that this address is read soon; it need not be valid."""
        self.declarations.add("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
        self.statement(f"call void @llvm.prefetch.p0({pointer.typed}, i32 0, i32 3, i32 1)")

    def array(self, dtype: str, count: int) -> Value:
        """Memory of this call for `count` items, 64-byte aligned; the content is undefined."""
        self._names += 1
        name = f"%v{self._names}"
        item = llvm_type(memory_dtype(dtype))
        self._allocas.append(f"  {name} = alloca [{count} x {item}], align 64")
        return Value(name, "ptr")

    def opaque(self, value: Value) -> Value:
        """The same value, hidden from the analysis of enclosing loops, whose cost grows with what
        it can see.
        """
        if value.is_constant:
            return value
        return self.value(value.dtype, value.width, f"freeze {value.typed}")

    # --- control flow

    def _new_block(self, role: str) -> str:
        self._names += 1
        return f"{role}{self._names}"

    def _enter(self, block: str) -> None:
        self._lines.append(f"{block}:")
        self._block = block

    def return_if(self, condition: Value) -> None:
        done, go_on = self._new_block("done"), self._new_block("go")
        self.statement(f"br {condition.typed}, label %{done}, label %{go_on}")
        self._enter(done)
        self.statement("ret void")
        self._enter(go_on)

    @contextmanager
    def loop(
        self, low: Value, high: Value, step: int = 1, carried: Sequence[Value] = ()
    ) -> Iterator[Loop]:
        """`for index in range(low, high, step)`; the body sets `next` to the carried values of the
        next turn.
        """
        head, after = self._new_block("loop"), self._new_block("after")
        low, high = self.opaque(low), self.opaque(high)
        before = self._block
        entered = self.compare("icmp slt", low, high)
        self.statement(f"br {entered.typed}, label %{head}, label %{after}")
        self._enter(head)
        names = [self._new_block("%p") for _ in range(1 + len(carried))]
        place = len(self._lines)
        self._lines.append("")
        state = [Value(n, c.dtype, c.width) for n, c in zip(names[1:], carried, strict=True)]
        loop = Loop(Value(names[0], "int64"), state)
        yield loop
        if len(loop.next) != len(carried):
            raise ValueError(f"loop carries {len(carried)} values, the body left {len(loop.next)}")
        index = self.add(loop.index, step)
        again = self.compare("icmp slt", index, high)
        last = self._block
        self.statement(f"br {again.typed}, label %{head}, label %{after}")
        firsts = [low, *carried]
        nexts = [index, *loop.next]
        self._lines[place] = "\n".join(
            f"  {name} = phi {a.type} [ {a.text}, %{before} ], [ {b.text}, %{last} ]"
            for name, a, b in zip(names, firsts, nexts, strict=True)
        )
        self._enter(after)
        for first, following in zip(carried, loop.next, strict=True):
            loop.results.append(self._phi([(first, before), (following, last)]))

    def choose(
        self,
        condition: Value,
        if_true: Callable[[], Sequence[Value]],
        if_false: Callable[[], Sequence[Value]] = tuple,
    ) -> list[Value]:
        """Write both sides of a branch; the values they return are merged."""
        yes, no, after = (self._new_block(role) for role in ("yes", "no", "after"))
        self.statement(f"br {condition.typed}, label %{yes}, label %{no}")
        sides: list[tuple[Sequence[Value], str]] = []
        for block, write in ((yes, if_true), (no, if_false)):
            self._enter(block)
            sides.append((write(), self._block))
            self.statement(f"br label %{after}")
        self._enter(after)
        (first, first_block), (second, second_block) = sides
        return [
            self._phi([(a, first_block), (b, second_block)])
            for a, b in zip(first, second, strict=True)
        ]

    def _phi(self, incoming: Sequence[tuple[Value, str]]) -> Value:
        first = incoming[0][0]
        listed = ", ".join(f"[ {value.text}, %{block} ]" for value, block in incoming)
        return self.value(first.dtype, first.width, f"phi {first.type} {listed}")


def _alignment(dtype: str) -> int:
    return 8 if dtype == "ptr" else ITEMSIZE[dtype]
