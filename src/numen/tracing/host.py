"""Python scalars inside a trace: proxies that record Python's own arithmetic.

A scalar argument or state slot that changes between calls becomes a `HostScalar`: it computes with real values, so
plain Python code runs, and keeps the expression (`HostExpr`) that a replay evaluates again. Comparisons and
conversions are queries: the trace depends on their outcome. Made by `recorder.py`, evaluated by `tree.py`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

OPERATORS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "pow": operator.pow,
    "neg": operator.neg,
    "pos": operator.pos,
    "abs": abs,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
    "bool": bool,
    "float": float,
    "int": int,
    "index": operator.index,
    "round": round,
    "trunc": math.trunc,
    "floor": math.floor,
    "ceil": math.ceil,
    "value": lambda x: x,
}


@dataclass(frozen=True)
class HostExpr:
    """An expression over host inputs.

    op: "input" (args: the number of a scalar input), "const" (args: type name and repr, then the value), "item"
    (args: a register), or a name in OPERATORS over HostExprs.
    """

    op: str
    args: tuple[Any, ...]

    def evaluate(self, inputs: Sequence[Any], registers: Sequence[Any]) -> Any:
        """The value for a call's scalar inputs and array registers."""
        if self.op == "input":
            return inputs[self.args[0]]
        if self.op == "const":
            return self.args[2]
        if self.op == "item":
            return registers[self.args[0]].item()
        return OPERATORS[self.op](*[a.evaluate(inputs, registers) for a in self.args])

    def registers(self) -> set[int]:
        """The array registers the expression reads."""
        if self.op == "item":
            return {self.args[0]}
        if self.op in ("input", "const"):
            return set()
        found: set[int] = set()
        for a in self.args:
            found |= a.registers()
        return found


def constant(value: Any) -> HostExpr:
    """A literal; equal only to one of the same type and bits."""
    return HostExpr("const", (type(value).__name__, repr(value), value))


class HostScalar:
    """A Python number during a trace. `isinstance(x, float)` holds for it as for the number it stands for."""

    __slots__ = ("expr", "recorder", "value")
    _is_host_scalar = True

    def __init__(self, value: Any, expr: HostExpr, recorder: Any) -> None:
        self.value = value
        self.expr = expr
        self.recorder = recorder

    @property
    def __class__(self) -> Any:
        return type(self.value)

    def _apply(self, op: str, *others: Any) -> Any:
        exprs, values = [self.expr], [self.value]
        for other in others:
            if type(other) is HostScalar:
                exprs.append(other.expr)
                values.append(other.value)
            elif type(other) in (int, float, bool):
                exprs.append(constant(other))
                values.append(other)
            else:
                return NotImplemented
        return HostScalar(OPERATORS[op](*values), HostExpr(op, tuple(exprs)), self.recorder)

    def _reflected(self, op: str, other: Any) -> Any:
        if type(other) not in (int, float, bool):
            return NotImplemented
        expr = HostExpr(op, (constant(other), self.expr))
        return HostScalar(OPERATORS[op](other, self.value), expr, self.recorder)

    def _ask(self, op: str, *others: Any) -> Any:
        asked = self._apply(op, *others)
        if asked is NotImplemented:
            return NotImplemented
        return self.recorder.query_host(asked.expr, asked.value)

    def __add__(self, other: Any) -> Any:
        return self._apply("add", other)

    def __radd__(self, other: Any) -> Any:
        return self._reflected("add", other)

    def __sub__(self, other: Any) -> Any:
        return self._apply("sub", other)

    def __rsub__(self, other: Any) -> Any:
        return self._reflected("sub", other)

    def __mul__(self, other: Any) -> Any:
        return self._apply("mul", other)

    def __rmul__(self, other: Any) -> Any:
        return self._reflected("mul", other)

    def __truediv__(self, other: Any) -> Any:
        return self._apply("truediv", other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._reflected("truediv", other)

    def __floordiv__(self, other: Any) -> Any:
        return self._apply("floordiv", other)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._reflected("floordiv", other)

    def __mod__(self, other: Any) -> Any:
        return self._apply("mod", other)

    def __rmod__(self, other: Any) -> Any:
        return self._reflected("mod", other)

    def __pow__(self, other: Any) -> Any:
        return self._apply("pow", other)

    def __rpow__(self, other: Any) -> Any:
        return self._reflected("pow", other)

    def __neg__(self) -> Any:
        return self._apply("neg")

    def __pos__(self) -> Any:
        return self._apply("pos")

    def __abs__(self) -> Any:
        return self._apply("abs")

    def __lt__(self, other: Any) -> Any:
        return self._ask("lt", other)

    def __le__(self, other: Any) -> Any:
        return self._ask("le", other)

    def __gt__(self, other: Any) -> Any:
        return self._ask("gt", other)

    def __ge__(self, other: Any) -> Any:
        return self._ask("ge", other)

    def __eq__(self, other: object) -> Any:
        return self._ask("eq", other)

    def __ne__(self, other: object) -> Any:
        return self._ask("ne", other)

    def __bool__(self) -> bool:
        return bool(self._ask("bool"))

    def __float__(self) -> float:
        return float(self._ask("float"))

    def __int__(self) -> int:
        return int(self._ask("int"))

    def __index__(self) -> int:
        if type(self.value) is float:
            raise TypeError("'float' object cannot be interpreted as an integer")
        return int(self._ask("index"))

    def __hash__(self) -> int:
        return hash(self._ask("value"))

    def __round__(self, *digits: Any) -> Any:
        return self._ask("round", *digits)

    def __trunc__(self) -> Any:
        return self._ask("trunc")

    def __floor__(self) -> Any:
        return self._ask("floor")

    def __ceil__(self) -> Any:
        return self._ask("ceil")

    def __repr__(self) -> str:
        self.recorder.formatted = True
        return repr(self.value)

    def __str__(self) -> str:
        self.recorder.formatted = True
        return str(self.value)

    def __format__(self, spec: str) -> str:
        self.recorder.formatted = True
        return format(self.value, spec)

    def __getattr__(self, name: str) -> Any:
        value = self.recorder.query_host(self.expr, self.value)
        return getattr(value, name)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a traced Python scalar can't be pickled")


def plain(value: Any) -> Any:
    """The Python number behind a HostScalar; anything else unchanged."""
    return value.value if type(value) is HostScalar else value
