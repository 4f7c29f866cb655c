"""Python's operators on Arrays: `a + b`, `b + a`, `a += b`, made from the rows.

Plain calls take the fast paths of `dispatch/fast.py`. Numbers go to rows; text, dates, objects,
records and what other libraries pass run NumPy's own operator on the memory. `array.py` puts what
these functions make into the class. Next: `output.py`.
"""

from __future__ import annotations

import operator as python
from collections.abc import Callable
from sys import getrefcount
from typing import Any

import numpy as np

from numen.dispatch import core, fast, modes, places, views
from numen.dispatch.backends import module_of
from numen.dispatch.convert import as_array, operand
from numen.dispatch.core import SCALAR, ArrayCore, Cell
from numen.errors import BackendError
from numen.namespace import calling
from numen.namespace.calling import run_host, wrap_results
from numen.namespace.devices import alongside
from numen.namespace.output import no_fit, operand_copy, write_directly, writes_directly
from numen.namespace.ufunc_calls import numeric, operator_on_host
from numen.ops import table
from numen.ops.powers import power_row

Op = Callable[..., Any]

SYMBOLS: dict[str, Op] = {
    "add": python.add,
    "subtract": python.sub,
    "multiply": python.mul,
    "divide": python.truediv,
    "floor_divide": python.floordiv,
    "remainder": python.mod,
    "power": python.pow,
    "matmul": python.matmul,
    "divmod": divmod,
    "left_shift": python.lshift,
    "right_shift": python.rshift,
    "bitwise_and": python.and_,
    "bitwise_or": python.or_,
    "bitwise_xor": python.xor,
    "equal": python.eq,
    "not_equal": python.ne,
    "less": python.lt,
    "less_equal": python.le,
    "greater": python.gt,
    "greater_equal": python.ge,
    "negative": python.neg,
    "positive": python.pos,
    "absolute": abs,
    "invert": python.invert,
}
"""NumPy's name of each operator -> the function of Python's `operator` module."""

IN_PLACE: dict[str, Op] = {
    "add": python.iadd,
    "subtract": python.isub,
    "multiply": python.imul,
    "divide": python.itruediv,
    "floor_divide": python.ifloordiv,
    "remainder": python.imod,
    "power": python.ipow,
    "matmul": python.imatmul,
    "left_shift": python.ilshift,
    "right_shift": python.irshift,
    "bitwise_and": python.iand,
    "bitwise_or": python.ior,
    "bitwise_xor": python.ixor,
}

OVERFLOWING = ("add", "subtract", "multiply")
"""Operators whose integer scalars NumPy watches for overflow."""

PLAIN_POWERS = "efdbhilqBHILQ"
"""Dtypes (characters) for which a power with a Python number has the bits of NumPy's operator."""

PRIORITY = 0.0
"""ndarray's `__array_priority__`: an object with a higher one computes the operator itself."""


# ------------------------------------------------------------ operands


class _Foreign:
    """Marks an operand that NumPy's operator must deal with."""


FOREIGN = _Foreign()


def _priority(b: Any) -> float:
    """An operand's `__array_priority__`; one that is no number, or raises, counts as none."""
    try:
        return float(getattr(b, "__array_priority__", -1.0))
    except Exception:
        return -1.0


def _taken(b: Any) -> Any:
    """The other operand as a row takes it; FOREIGN, or NotImplemented where `b` computes itself."""
    kind = type(b)
    if isinstance(b, ArrayCore) or kind in (float, int, bool, complex):
        return b
    if isinstance(b, np.generic):
        return core.wrap(b)
    if kind in (np.ndarray, list, tuple):
        return as_array(b)
    if getattr(kind, "_is_host_scalar", False):
        return operand(b)
    if isinstance(b, (bool, int, float, complex)):
        return b
    if isinstance(b, np.ndarray):
        return FOREIGN
    if hasattr(kind, "__array_ufunc__"):
        return NotImplemented if kind.__array_ufunc__ is None else FOREIGN
    if _priority(b) > PRIORITY:
        return NotImplemented
    if hasattr(b, "__array__"):
        return as_array(b)
    return FOREIGN


def _between_scalars(symbol: Op, name: str, a: Any, b: Any) -> Any:
    """The operator of NumPy's scalars, which differs from the arrays' in warnings, errors and
    powers."""
    arrays = [x for x in (a, b) if isinstance(x, ArrayCore)]
    return wrap_results(symbol(_element(a), _element(b)), name, arrays)


def _element(x: Any) -> Any:
    if isinstance(x, ArrayCore):
        return x._d[()] if x._v is SCALAR else x._d
    return x


def _is_plain_scalar(a: Any, b: Any = None) -> bool:
    """Whether `a` is a scalar to NumPy, which computes the operator, and nothing is recorded."""
    if a._v is not SCALAR or a._n is not None or type(a._d) is not np.ndarray:
        return False
    if modes.ACTIVE and (modes.state.recorder is not None or modes.engine() == "kernels"):
        return False
    return not isinstance(b, ArrayCore) or (b._n is None and type(b._d) is np.ndarray)


# ------------------------------------------------------------ binary


def _general(name: str, swapped: bool = False) -> Op:
    """`a op b` (`b op a` where swapped) for calls that are not plain."""
    symbol = SYMBOLS[name]
    row = table.get(name)

    def general(a: Any, b: Any) -> Any:
        other = _taken(b)
        if other is NotImplemented:
            return NotImplemented
        if modes.ACTIVE and type(b) in (list, tuple):
            other = alongside(other, a)
        given = (b, a) if swapped else (a, b)
        if a._v is SCALAR and _is_plain_scalar(a, b):
            return _between_scalars(symbol, name, *given)
        if row is None or other is FOREIGN or not numeric((a, other)):
            return operator_on_host(symbol, name, given)
        return row(other, a) if swapped else row(a, other)

    return general


def operator(name: str) -> Op:
    """The method `a op b`."""
    if name not in table:
        return _general(name)
    scalars = SYMBOLS[name] if name in OVERFLOWING else None
    return fast.binary(table[name], _general(name), scalars)


def reflected(name: str) -> Op:
    """The method `b op a` for a left operand that is no Array."""
    return _general(name, swapped=True)


def equality(name: str) -> Op:
    """== or !=, which compare with anything: what can't be compared differs everywhere."""
    method = operator(name)
    symbol = SYMBOLS[name]

    def equal(a: Any, b: Any) -> Any:
        try:
            return method(a, b)
        except BackendError:
            if _taken(b) is not FOREIGN:
                raise
            return core.ARRAY(module_of(a._d).full(a._d.shape, name == "not_equal"))
        except TypeError:
            return run_host(symbol, name, (a, b), {})

    return equal


def _general_power() -> Op:
    """`a ** b` for calls that are not plain: squares, roots and reciprocals where NumPy's operator
    takes them."""
    other = _general("power")

    def general(a: Any, b: Any) -> Any:
        kind = type(b)
        if (kind is int or kind is float) and a._v is not SCALAR and a._d.dtype.kind in "biufc":
            row, operands = power_row(a, b)
            return row(*operands)
        return other(a, b)

    return general


def power() -> Op:
    """The method `a ** b`; pow(a, b, c) is a TypeError, as NumPy's."""
    return fast.binary(table["power"], _general_power(), SYMBOLS["power"], PLAIN_POWERS)


def matmul() -> Op:
    """The method `a @ b`, which scalars do not have."""
    quick, general = operator("matmul"), _general("matmul")

    def method(a: Any, b: Any) -> Any:
        if a._v is not SCALAR:
            return quick(a, b)
        if isinstance(b, ArrayCore) and b._v is SCALAR:
            return python.matmul(_element(a), _element(b))  # raises
        return general(a, b)

    return method


def division(swapped: bool = False) -> Op:
    """divmod(a, b), or divmod(b, a) where swapped: quotients and remainders."""
    quotient = _general("floor_divide", swapped)
    rest = _general("remainder", swapped)

    def both(a: Any, b: Any) -> Any:
        other = _taken(b)
        if other is NotImplemented:
            return NotImplemented
        recorded = a._n is not None or getattr(other, "_n", None) is not None or modes.ACTIVE
        if not recorded or other is FOREIGN or not numeric((a, other)):
            return run_host(divmod, "divmod", (b, a) if swapped else (a, b), {})
        return quotient(a, other), rest(a, other)

    return both


# ------------------------------------------------------------ unary


def unary(name: str) -> Callable[[Any], Any]:
    """The method of an operator with one operand."""
    symbol = SYMBOLS[name]
    row = table.get(name)

    def general(a: Any) -> Any:
        if row is None or not numeric((a,)):
            return run_host(symbol, name, (a,), {})
        return row(a)

    return general if row is None else fast.unary(row, general)


# ------------------------------------------------------------ in place


def in_place(name: str) -> Op:
    """The method `a op= b`: writes into a, or rebinds where NumPy has an immutable scalar."""
    symbol = IN_PLACE[name]
    fresh = {"power": power, "matmul": matmul}.get(name, lambda: operator(name))()
    row = table.get(name)
    ufunc = None if row is None or not row.exact else row.ufunc

    def method(a: Any, b: Any) -> Any:
        kind = type(b)
        if (
            ufunc is not None
            and (type(b) is core.ARRAY or kind is float or kind is int)
            and a._n is None
            and not modes.ACTIVE
            and (a._v is None or type(a._v) is Cell)
        ):
            y = b
            if kind is not float and kind is not int:
                y = b._d if b._n is None else None
            if y is not None:
                ufunc(a._d, y, a._d)
                cell = a._v
                if cell is None:
                    cell = a._v = Cell()
                cell.t = core.next_stamp()
                if places.ON and getrefcount(a) > places.ALONE:
                    cell.place = places.here(1)
                return a
        return general(a, b)

    def general(a: Any, b: Any) -> Any:
        if a._v is SCALAR:
            return fresh(a, b)
        other = _taken(b)
        if other is NotImplemented:
            return NotImplemented
        if modes.ACTIVE and type(b) in (list, tuple):
            other = alongside(other, a)
        if other is FOREIGN or row is None or not numeric((a, other)):
            return operator_on_host(symbol, name, (a, b), (a,))
        used, args = power_row(a, other) if name == "power" else (row, (a, other))
        if name != "matmul":
            if writes_directly(used, a, args):
                write_directly(used, a, args)
                return a
        elif not calling.recorded((a, other), {}) and not calling.on_backend((a, other), {}):
            return run_host(symbol, name, (a, b), {}, writes=(0,))
        views.check_writable(a, f"{name} (in place)")
        try:
            result = used(*[operand_copy(a, used) if x is a else x for x in args])
            if result._d.shape != a._d.shape:
                raise no_fit(a, result._d.shape, name)
            views.write(a, result, f"{name} (in place)")
        except calling.REFUSALS as error:
            raise calling.refusal(symbol, name, (a, b), {}) or error from None
        return a

    return method
