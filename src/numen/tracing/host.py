"""Python scalars inside a trace: proxies that record Python's own arithmetic.

A scalar argument or state slot that changes between calls becomes a `HostScalar`: it computes with
real values, so plain Python code runs, and keeps the expression (`HostExpr`) that a replay
evaluates again. Comparisons and conversions are queries: the trace depends on their outcome. Made
by `recorder.py`, evaluated by `tree.py`.
"""

from __future__ import annotations

import math
import operator
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from numen.dispatch import modes
from numen.dispatch.core import ArrayCore

NUMBERS = (int, float, bool)


def _fit(value: int, least: int, most: int) -> int:
    """The value itself; raises where no int of an array's dtype is it."""
    if not least <= value <= most:
        raise OverflowError(f"Python integer {value} out of bounds")
    return value


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
    "lshift": operator.lshift,
    "rshift": operator.rshift,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "invert": operator.invert,
    "value": lambda x: x,
    "fit": _fit,
}

MAY_RAISE = frozenset(("truediv", "floordiv", "mod", "pow", "lshift", "rshift", "int", "fit"))
"""Operators that raise for some numbers."""


@dataclass(frozen=True)
class HostExpr:
    """An expression over host inputs.

    op: "input" (args: the number of a scalar input), "const" (args: type name and repr, then the
    value), "item" (args: a register), or a name in OPERATORS over HostExprs.
    """

    op: str
    args: tuple[Any, ...]

    def evaluate(self, inputs: Sequence[Any], registers: Any) -> Any:
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

    def may_raise(self) -> bool:
        """Whether some inputs make Python raise (a division by zero, an overflow of a power)."""
        if self.op in ("item", "input", "const"):
            return False
        return self.op in MAY_RAISE or any([a.may_raise() for a in self.args])


def text_of(value: Any) -> str:
    """Text that tells scalars apart, the two zeros and NaN too; ints may be longer than Python
    prints.
    """
    return hex(value) if type(value) is int else repr(value)


def constant(value: Any) -> HostExpr:
    """A literal; equal only to one of the same type and bits."""
    return HostExpr("const", (type(value).__name__, text_of(value), value))


class HostScalar:
    """A Python number during a trace. `isinstance(x, float)` holds for it as for the number it
    stands for.

    Outside its trace (in another thread, in a generator that runs later) it is just that number.
    """

    __slots__ = ("__weakref__", "expr", "recorder", "value")
    _is_host_scalar = True

    def __init__(self, value: Any, expr: HostExpr, recorder: Any) -> None:
        self.value = value
        self.expr = expr
        self.recorder = recorder
        recorder.proxies.append(weakref.ref(self))

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return type(self.value)

    @property
    def live(self) -> bool:
        """Whether the trace that the proxy belongs to goes on in this thread."""
        return modes.state.recorder is self.recorder

    def _made(self, op: str, exprs: list[HostExpr], values: list[Any]) -> Any:
        result = OPERATORS[op](*values)
        if not self.live:
            return result
        expr = HostExpr(op, tuple(exprs))
        if type(result) not in NUMBERS:
            return self.recorder.query_host(expr, result)
        return HostScalar(result, expr, self.recorder)

    def _apply(self, op: str, *others: Any) -> Any:
        exprs, values = [self.expr], [self.value]
        for other in others:
            if type(other) is HostScalar:
                exprs.append(other.expr)
                values.append(other.value)
            elif type(other) in NUMBERS:
                exprs.append(constant(other))
                values.append(other)
            elif isinstance(other, ArrayCore):
                return NotImplemented
            else:
                return OPERATORS[op](self.known(), *[plain(o) for o in others])
        return self._made(op, exprs, values)

    def _reflected(self, op: str, other: Any) -> Any:
        if isinstance(other, ArrayCore):
            return NotImplemented
        if type(other) not in NUMBERS:
            return OPERATORS[op](other, self.known())
        return self._made(op, [constant(other), self.expr], [other, self.value])

    def known(self) -> Any:
        """The number itself: a query, as the trace then depends on it."""
        return self._ask("value")

    def _ask(self, op: str, *others: Any) -> Any:
        asked = self._apply(op, *others)
        if type(asked) is not HostScalar:
            return asked
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

    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        if modulus is not None:
            return pow(self.known(), _known(other), _known(modulus))
        return self._apply("pow", other)

    def __rpow__(self, other: Any, modulus: Any = None) -> Any:
        if modulus is not None:
            return pow(_known(other), self.known(), _known(modulus))
        return self._reflected("pow", other)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __lshift__(self, other: Any) -> Any:
        return self._apply("lshift", other)

    def __rlshift__(self, other: Any) -> Any:
        return self._reflected("lshift", other)

    def __rshift__(self, other: Any) -> Any:
        return self._apply("rshift", other)

    def __rrshift__(self, other: Any) -> Any:
        return self._reflected("rshift", other)

    def __and__(self, other: Any) -> Any:
        return self._apply("and", other)

    def __rand__(self, other: Any) -> Any:
        return self._reflected("and", other)

    def __or__(self, other: Any) -> Any:
        return self._apply("or", other)

    def __ror__(self, other: Any) -> Any:
        return self._reflected("or", other)

    def __xor__(self, other: Any) -> Any:
        return self._apply("xor", other)

    def __rxor__(self, other: Any) -> Any:
        return self._reflected("xor", other)

    def __invert__(self) -> Any:
        return self._apply("invert")

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

    def __complex__(self) -> complex:
        return complex(self.known())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(self.known(), dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return getattr(ufunc, method)(*[_known(x) for x in inputs], **kwargs)

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
        return repr(self._text())

    def __str__(self) -> str:
        return str(self._text())

    def __format__(self, spec: str) -> str:
        return format(self._text(), spec)

    def _text(self) -> Any:
        """The number to make text of: a query, unless the code prints."""
        if self.live and not self.recorder.snapshot.prints:
            return self.known()
        self.recorder.formatted = True
        return self.value

    def __getattr__(self, name: str) -> Any:
        return getattr(self.known(), name)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a traced Python scalar can't be pickled")


def _known(value: Any) -> Any:
    return value.known() if type(value) is HostScalar else value


def plain(value: Any) -> Any:
    """The Python number behind a HostScalar; anything else unchanged."""
    return value.value if type(value) is HostScalar else value
