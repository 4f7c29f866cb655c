"""Fast paths: the methods of Array for plain small arrays, specialised by arity.

`namespace/array.py` builds its operators from these factories; whatever is not plain (a mode, a
large array, another type) falls through to `Primitive.__call__`, which has the same result. They
are closures because a call costs less than the array they make.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from types import CodeType
from typing import Any

import numpy as np

from numen.dispatch import backends, core, modes
from numen.dispatch.core import Node, next_stamp
from numen.dispatch.places import inside, mark
from numen.dispatch.primitive import Primitive
from numen.errors import name_error

Method = Callable[[Any, Any], Any]
Function = Callable[..., Any]

NO_PARAMS: dict[str, Any] = {}
NOTHING_SAVED = (None, None)
FIRST_USER_DTYPE = 256
_new: Any = object.__new__
_ndarray = np.ndarray
_weak_constants: dict[Any, Any] = {}
_known: Any = None


class _Missing:
    """Stands for an operand that was not given."""


MISSING = _Missing()


def is_outside(code: CodeType) -> bool:
    """Whether code belongs to the user's program; the latest that does is known by identity."""
    global _known
    if inside[code.co_filename]:
        return False
    _known = code
    return True


def weak(value: Any, dtype: np.dtype[Any]) -> Any:
    """The Python scalar as a 0-d ndarray of the dtype it takes beside `dtype` (NEP 50); faster than
    the scalar."""
    key = (value, type(value), dtype)
    constant = _weak_constants.get(key)
    if constant is None:
        if value != value or value == 0 or dtype.kind in "mMOSTU":
            return value  # NaN and the two zeros are not told apart by a dict
        try:
            small = dtype.num >= FIRST_USER_DTYPE  # bfloat16, float8: Python numbers are weak
            constant = np.asarray(value, dtype if small else np.result_type(dtype, value))
        except OverflowError:
            return value
        if constant.dtype != dtype:
            return value
        constant.flags.writeable = False
        if len(_weak_constants) > 4096:
            _weak_constants.clear()
        _weak_constants[key] = constant
    return constant


def scalar_result(prim: Primitive, args: tuple[Any, ...], d: Any, scalars: Method | None) -> Any:
    """Wrap what is no ndarray: NumPy's scalars, and what object arrays hold.

    `scalars` is Python's operator: between NumPy's integer scalars it warns of an overflow, which
    the op on arrays does not, and its powers have other signs at zero and infinity.
    """
    if not isinstance(d, np.generic):
        return d if not backends.in_use() else prim.finish(args, NO_PARAMS, d)
    kind = d.dtype.kind
    if kind not in "biufc" and not core.is_differentiable(d.dtype):
        return d
    if scalars is not None and (kind in "iu" or prim.name == "power") and all(map(is_scalar, args)):
        a, b = args
        d = scalars(element(a), element(b))
    return prim.finish(args, NO_PARAMS, d)


def is_scalar(a: Any) -> bool:
    """Whether an operand is a scalar to NumPy: a Python number or an Array marked so."""
    return a._v is core.SCALAR if isinstance(a, core.ArrayCore) else type(a) in (int, float, bool)


def element(a: Any) -> Any:
    """NumPy's scalar for an Array marked so; a Python number itself."""
    return a._d[()] if isinstance(a, core.ArrayCore) else a


def binary(
    prim: Primitive,
    general: Method | None = None,
    scalars: Method | None = None,
    dtypes: str | None = None,
    depth: int = 1,
) -> Method:
    """The method `a op b` of Array.

    `general` takes the calls that are not plain (by default the row), `scalars` those between
    integer scalars; `dtypes` are the characters of those that are plain beside a Python number.
    `depth` is how many frames out the caller is.
    """
    impl = prim.impl
    plain = prim.plain_impl
    cheap = prim.cheap
    general = general or prim
    saves_out = prim.saves_out
    differentiable = prim.vjp is not None
    nothing_saved = prim.saves_for == ((), ())
    crossed = prim.saves_for == ((1,), (0,))
    saves_first = 0 in (prim.saves if prim.saves_for is None else prim.saves_for[0])
    own_dtype = prim.name == "ldexp"  # its second operand is an int beside any float

    def method(a: Any, b: Any) -> Any:
        array = core.ARRAY
        kind = type(b)
        if kind is array and not modes.ACTIVE:
            x = a._d
            y = b._d
            limit = modes.QUICK
            if x.size < limit and y.size < limit:
                try:
                    d = plain(x, y) if x.dtype is y.dtype else impl(x, y)
                except Exception as error:
                    name_error(prim.name, error, (a, b))
                    raise
                if type(d) is not _ndarray:
                    return scalar_result(prim, (a, b), d, scalars)
                r = _new(array)
                r._d = d
                r._n = None
                r._v = None
                r._t = None
                if differentiable:
                    n = a._n
                    m = b._n
                    if (n is not None or m is not None) and (not modes.NO_GRAD or modes.state.grad):
                        node = r._n = _new(Node)
                        node.prim = prim
                        node.parents = (n, m)
                        node.params = NO_PARAMS
                        node.out = d if saves_out else None
                        node.shape = d.shape
                        node.dtype = d.dtype
                        node.stamp = next_stamp()
                        if nothing_saved:
                            node.args = NOTHING_SAVED
                            return r
                        try:
                            frame = _getframe(depth)
                            code = frame.f_code
                            if code is _known or is_outside(code):
                                node.code = code
                                node.offset = frame.f_lasti
                            else:
                                mark(node, depth)
                        except ValueError:
                            pass  # no Python called
                        if crossed:
                            node.args = (a if m is not None else None, b if n is not None else None)
                        else:
                            node.args = prim.kept((a, b), (n, m))
                return r
        elif (kind is float or kind is int) and not modes.ACTIVE:
            x = a._d
            if x.size < (modes.CHEAP_LIMIT if cheap else modes.LIMIT) and (
                dtypes is None or x.dtype.char in dtypes
            ):
                try:
                    y = b if own_dtype else weak(b, x.dtype)
                    d = plain(x, y) if type(y) is _ndarray else impl(x, y)
                except Exception as error:
                    name_error(prim.name, error, (a, b))
                    raise
                if type(d) is not _ndarray:
                    return scalar_result(prim, (a, b), d, scalars)
                r = _new(array)
                r._d = d
                r._n = None
                r._v = None
                r._t = None
                n = a._n
                if n is not None and differentiable and (not modes.NO_GRAD or modes.state.grad):
                    node = r._n = prim.node((a, b), (n, None), NO_PARAMS, d)
                    if saves_first:
                        mark(node, depth)
                return r
        return general(a, b)

    return method


def unary(
    prim: Primitive, general: Callable[[Any], Any] | None = None, depth: int = 1
) -> Callable[[Any], Any]:
    """A method of one array and no parameters, whose caller is `depth` frames out."""
    impl = prim.impl
    cheap = prim.cheap
    general = general or prim
    differentiable = prim.vjp is not None
    marked = prim.saves_arguments

    def method(a: Any) -> Any:
        array = core.ARRAY
        if type(a) is array and not modes.ACTIVE:
            x = a._d
            if x.size < (modes.CHEAP_LIMIT if cheap else modes.LIMIT):
                try:
                    d = impl(x)
                except Exception as error:
                    name_error(prim.name, error, (a,))
                    raise
                if type(d) is not _ndarray:
                    return scalar_result(prim, (a,), d, None)
                r = _new(array)
                r._d = d
                r._n = None
                r._v = None
                r._t = None
                n = a._n
                if n is not None and differentiable and (not modes.NO_GRAD or modes.state.grad):
                    node = r._n = prim.node((a,), (n,), NO_PARAMS, d)
                    if marked:
                        try:
                            frame = _getframe(depth)
                            code = frame.f_code
                            if code is _known or is_outside(code):
                                node.code = code
                                node.offset = frame.f_lasti
                            else:
                                mark(node, depth)
                        except ValueError:
                            pass  # no Python called
                return r
        return general(a)

    return method


def binary_function(prim: Primitive, general: Function) -> Function:
    """The ufunc of a row with two operands; `general` takes the calls that are not plain."""
    quick = binary(prim, general, depth=2)

    def function(x1: Any = MISSING, x2: Any = MISSING, /, *more: Any, **options: Any) -> Any:
        if type(x1) is core.ARRAY and not more and not options:
            return quick(x1, x2)
        return general(x1, x2, *more, **options)

    return function


def unary_function(prim: Primitive, general: Function) -> Function:
    """The ufunc of a row with one operand; `general` takes the calls that are not plain."""
    quick = unary(prim, general, depth=2)

    def function(x: Any = MISSING, /, *more: Any, **options: Any) -> Any:
        if more or options:
            return general(x, *more, **options)
        return quick(x)

    return function
