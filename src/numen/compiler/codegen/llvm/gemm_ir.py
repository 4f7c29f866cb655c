"""The IR builder with what the matrix product needs more: helpers with their own parameters.

`gemm_pack.py`, `gemm_kernel.py` and `gemm.py` write their functions with it; it adds to `ir.py`
named parameters, branches without a result, and calls between functions of one module.
Next: `gemm_layout.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from numen.compiler.codegen.llvm.ir import Function, Value, constant, integer

Params = Sequence[tuple[str, str]]
"""Parameters of a helper: (name, dtype), where dtype is "ptr" or "int64"."""


class Helper(Function):
    """A function that only its own module calls, its parameters found by name."""

    def __init__(self, name: str, params: Params) -> None:
        super().__init__(name, [dtype for _, dtype in params])
        self._positions = {param: position for position, (param, _) in enumerate(params)}

    def __getitem__(self, param: str) -> Value:
        return self.parameters[self._positions[param]]


@contextmanager
def when(function: Function, condition: Value) -> Iterator[None]:
    """Write a body that runs where the condition holds."""
    inside, after = function._new_block("then"), function._new_block("after")
    function.statement(f"br {condition.typed}, label %{inside}, label %{after}")
    function._enter(inside)
    yield
    function.statement(f"br label %{after}")
    function._enter(after)


@contextmanager
def unless(function: Function, condition: Value) -> Iterator[None]:
    """Write a body that runs where the condition does not hold."""
    with when(function, function.binary("xor", condition, constant(True, "bool"))):
        yield


def compare(function: Function, predicate: str, left: Value, right: Value | int) -> Value:
    """Compare two int64; `predicate` is "eq", "ne", "slt", "sge" ..."""
    right = integer(right) if isinstance(right, int) else right
    return function.compare(f"icmp {predicate}", left, right)


def mask(function: Function, value: Value, bits: int) -> Value:
    return function.binary("and", value, integer(bits))


def call(function: Function, name: str, *operands: Value) -> None:
    """Call another function of the module."""
    function.statement(f"call void @{name}({', '.join(operand.typed for operand in operands)})")
