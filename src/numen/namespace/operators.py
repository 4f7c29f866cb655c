"""Python's operators on Arrays: `a + b`, `b + a`, `a += b`, made from the rows.

Plain calls take the fast paths of `dispatch/fast.py`. `array.py` puts what these functions make
into the class.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numen.dispatch import backward, core, fast, modes, views
from numen.dispatch.convert import as_array, operand
from numen.dispatch.core import SCALAR, ArrayCore
from numen.dispatch.primitive import Primitive
from numen.namespace.output import no_fit, write_directly, writes_directly
from numen.ops import table

Op = Callable[[Any, Any], Any]


def operator(name: str) -> Op:
    """The method `a op b`."""
    return fast.binary(table[name], _accepting(table[name]))


def reflected(name: str) -> Op:
    """The method `b op a` for a left operand that is no Array."""
    return _accepting(fast.reflected(table[name]))


def _accepting(method: Op) -> Op:
    """Let an operator take lists and ndarrays, and give NotImplemented for what is no operand."""

    def accepting(a: Any, b: Any) -> Any:
        kind = type(b)
        if isinstance(b, ArrayCore) or kind in (float, int, bool, complex):
            return method(a, b)
        if isinstance(b, np.generic):
            return method(a, core.wrap(b))
        if isinstance(b, (np.ndarray, list, tuple)):
            return method(a, as_array(b))
        if isinstance(b, (bool, int, float, complex)):
            return method(a, b)
        if getattr(kind, "_is_host_scalar", False) or hasattr(b, "__array__"):
            return method(a, operand(b))
        return NotImplemented

    return accepting


def equality(name: str, plain: Op) -> Op:
    """== or !=, which compare with anything: what is no number differs from every element."""
    method = operator(name)

    def equal(a: Any, b: Any) -> Any:
        result = method(a, b)
        if result is NotImplemented:
            a._leaves(f"{name} with a {type(b).__name__}")
            result = plain(a._d, b)
            return core.wrap(result) if isinstance(result, (np.ndarray, np.generic)) else result
        return result

    return equal


def in_place(name: str) -> Op:
    """The method `a op= b`: writes into a, or rebinds where NumPy has an immutable scalar."""
    prim: Primitive = table[name]

    def method(a: Any, b: Any) -> Any:
        other = operand(b)
        if a._v is SCALAR:
            return prim(a, other)
        args = (a, other)
        if writes_directly(prim, a, args):
            write_directly(prim, a, args)
            return a
        views.check_writable(a, f"{name} (in place)")
        result = prim(_operand_copy(a, prim), other)
        if result._d.shape != a._d.shape:
            raise no_fit(a, result._d.shape, name)
        views.write(a, result, f"{name} (in place)")
        return a

    return method


def _operand_copy(a: Any, prim: Primitive) -> Any:
    """`a` as an operand of an op whose result is written back into it: a copy where the op's rule
    saves it."""
    if a._n is None and not (modes.ACTIVE and modes.state.special):
        saved = prim.saves_for is not None and any(0 in s for s in prim.saves_for)
        if not saved and not prim.saves:
            return a
    fresh = core.ARRAY(a._d.copy(), a._n)
    fresh._t = backward.register_of(a)
    return fresh
