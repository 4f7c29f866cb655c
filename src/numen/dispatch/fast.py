"""Fast paths: the methods of Array for plain small arrays, specialised by arity.

`namespace/array.py` builds its operators from these factories; whatever is not plain (a mode, a large array, another
type) falls through to `Primitive.__call__`, which has the same result. They are closures because a call costs less
than the array they make.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numen.dispatch import core, modes
from numen.dispatch.core import Node
from numen.dispatch.primitive import Primitive

NO_PARAMS: dict[str, Any] = {}
_ndarray = np.ndarray
_weak_constants: dict[Any, Any] = {}


def weak(value: Any, dtype: np.dtype[Any]) -> Any:
    """The Python scalar as a 0-d ndarray of the dtype it takes beside `dtype` (NEP 50); faster than the scalar."""
    key = (value, type(value), dtype)
    constant = _weak_constants.get(key)
    if constant is None:
        if value != value or value == 0:
            return value  # NaN and the two zeros are not told apart by a dict
        try:
            constant = np.asarray(value, np.result_type(dtype, value))
        except OverflowError:
            return value
        if constant.dtype != dtype:
            return value
        constant.flags.writeable = False
        if len(_weak_constants) > 4096:
            _weak_constants.clear()
        _weak_constants[key] = constant
    return constant


def binary(
    prim: Primitive, raw: Callable[[Any, Any], Any] | None = None
) -> Callable[[Any, Any], Any]:
    """The method `a op b` of Array. `raw` may replace prim.impl where a cheaper spelling has the same result."""
    impl = raw or prim.impl
    saves = prim.saves_for
    differentiable = prim.vjp is not None
    nothing_saved = saves == ((), ()) and not prim.saves_out
    crossed = saves == ((1,), (0,)) and not prim.saves_out

    def method(a: Any, b: Any) -> Any:
        array = core.ARRAY
        kind = type(b)
        if kind is array and not modes.ACTIVE:
            x = a._d
            y = b._d
            limit = modes.LIMIT
            if x.size < limit and y.size < limit:
                d = impl(x, y)
                if type(d) is not _ndarray:
                    return prim.finish((a, b), NO_PARAMS, d)
                r = array(d)
                if differentiable:
                    n = a._n
                    m = b._n
                    if (n is not None or m is not None) and (not modes.NO_GRAD or modes.state.grad):
                        if nothing_saved:
                            r._n = Node(prim, (n, m), (None, None), NO_PARAMS, None, d)
                        elif crossed:
                            r._n = Node(
                                prim,
                                (n, m),
                                (a if m is not None else None, b if n is not None else None),
                                NO_PARAMS,
                                None,
                                d,
                            )
                        else:
                            r._n = prim.node((a, b), (n, m), NO_PARAMS, d)
                return r
        elif (kind is float or kind is int) and not modes.ACTIVE:
            x = a._d
            if x.size < modes.LIMIT:
                d = impl(x, weak(b, x.dtype))
                if type(d) is not _ndarray:
                    return prim.finish((a, b), NO_PARAMS, d)
                r = array(d)
                n = a._n
                if n is not None and differentiable and (not modes.NO_GRAD or modes.state.grad):
                    r._n = prim.node((a, b), (n, None), NO_PARAMS, d)
                return r
        return prim(a, b)

    return method


def reflected(prim: Primitive) -> Callable[[Any, Any], Any]:
    """The method `b op a` of Array for a left operand that is no Array."""

    def method(a: Any, b: Any) -> Any:
        return prim(b, a)

    return method


def unary(prim: Primitive) -> Callable[[Any], Any]:
    """A function or method of one array and no parameters."""
    impl = prim.impl
    differentiable = prim.vjp is not None

    def method(a: Any) -> Any:
        array = core.ARRAY
        if type(a) is array and not modes.ACTIVE:
            x = a._d
            if x.size < modes.LIMIT:
                d = impl(x)
                if type(d) is not _ndarray:
                    return prim.finish((a,), NO_PARAMS, d)
                r = array(d)
                n = a._n
                if n is not None and differentiable and (not modes.NO_GRAD or modes.state.grad):
                    r._n = prim.node((a,), (n,), NO_PARAMS, d)
                return r
        return prim(a)

    return method
