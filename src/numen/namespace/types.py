"""Questions about dtypes: promotion, casts, kinds, limits.

NumPy's answers for its dtypes; `ops/promotion.py` has those for bfloat16 and the float8 kinds.
Next: `dtypes.py` for the names.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from numen.dispatch.core import SCALAR, ArrayCore
from numen.namespace.calling import raw
from numen.ops import promotion
from numen.ops.dtypes import kind_of

__all__ = ["result_type", "promote_types", "can_cast", "common_type", "min_scalar_type"]
__all__ += ["mintypecode", "issubdtype", "isdtype", "typename", "isscalar", "iterable"]
__all__ += ["finfo", "iinfo"]

mintypecode = np.mintypecode
iinfo = ml_dtypes.iinfo


def _given(value: Any) -> Any:
    """A raw array or number, or the dtype that a name or type means."""
    value = raw(value)
    if isinstance(value, (np.ndarray, np.generic, np.dtype, bool, int, float, complex)):
        return value
    if not isinstance(value, type) and hasattr(value, "dtype") and hasattr(value, "shape"):
        return value.dtype  # another backend's array
    return np.dtype(value)


def result_type(*arrays_and_dtypes: Any) -> Any:
    """The dtype that NumPy's promotion rules (NEP 50) give operands.

    Parameters
    ----------
    *arrays_and_dtypes : Arrays, dtypes and Python numbers
        Python numbers are weak: they take the others' dtype where their kind allows it.

    Raises
    ------
    numpy.exceptions.DTypePromotionError
        If there is no common dtype, as between two different float8 kinds.

    Examples
    --------
    >>> import numen as nm
    >>> nm.result_type(nm.float32, nm.int8, 2.5), nm.result_type(nm.bfloat16, 2.5).name
    (dtype('float32'), 'bfloat16')
    """
    given = [_given(a) for a in arrays_and_dtypes]
    if any([promotion.is_small(getattr(a, "dtype", a)) for a in given if not _is_number(a)]):
        return promotion.result_type([a if isinstance(a, np.dtype) else kind_of(a) for a in given])
    return np.result_type(*given)


def _is_number(value: Any) -> bool:
    return type(value) in (bool, int, float, complex)


def promote_types(type1: Any, type2: Any) -> Any:
    """The smallest dtype that both can be cast to safely.

    Examples
    --------
    >>> import numen as nm
    >>> nm.promote_types("i4", "f4"), nm.promote_types(nm.bfloat16, nm.float16)
    (dtype('float64'), dtype('float32'))
    """
    a, b = np.dtype(type1), np.dtype(type2)
    if promotion.is_small(a) or promotion.is_small(b):
        return promotion.result_type((a, b))
    return np.promote_types(a, b)


def can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    """Whether a cast between dtypes is allowed by a casting rule.

    Raises
    ------
    TypeError
        If `from_` is a Python number.

    Examples
    --------
    >>> import numen as nm
    >>> nm.can_cast(nm.float8_e5m2, nm.bfloat16), nm.can_cast(nm.bfloat16, nm.float16)
    (True, False)
    """
    if to is None:
        raise TypeError("did not understand one of the types; 'None' not accepted")
    given, target = raw(from_), np.dtype(to)
    if not _is_number(given):
        source = _given(given)
        source = source if isinstance(source, np.dtype) else source.dtype
        if promotion.is_small(source) or promotion.is_small(target):
            return promotion.can_cast(source, target, casting)
    return bool(np.can_cast(given, target, casting))


def common_type(*arrays: Any) -> Any:
    """The inexact scalar type that the elements of all arrays have in common; integers count as
    float64."""
    given = [a._d if isinstance(a, ArrayCore) else a for a in arrays]
    if any([promotion.is_small(a.dtype) for a in given]):
        return promotion.result_type([a.dtype for a in given]).type
    return np.common_type(*given)


def min_scalar_type(a: Any, /) -> Any:
    """The smallest dtype that holds a scalar's value; an array's own dtype.

    Examples
    --------
    >>> import numen as nm
    >>> nm.min_scalar_type(300)
    dtype('uint16')
    """
    return np.min_scalar_type(raw(a))


def issubdtype(arg1: Any, arg2: Any) -> bool:
    """Whether a dtype is below another one in NumPy's hierarchy; the small floats are floating.

    Examples
    --------
    >>> import numen as nm
    >>> nm.issubdtype(nm.int8, nm.integer), nm.issubdtype(nm.bfloat16, nm.floating)
    (True, True)
    """
    above = (np.floating, np.inexact, np.number)
    if arg2 in above and arg1 not in (None, np.floating, np.inexact, np.number):
        if not (isinstance(arg1, type) and issubclass(arg1, np.generic) and arg1 not in _SMALL):
            return promotion.is_small(np.dtype(arg1)) or bool(np.issubdtype(arg1, arg2))
    return bool(np.issubdtype(arg1, arg2))


_SMALL = {dtype.type for dtype in promotion.SMALL}


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a dtype is of a kind, as the array API standard names them.

    Parameters
    ----------
    dtype : dtype
    kind : str, dtype or tuple of them
        "bool", "signed integer", "unsigned integer", "integral", "real floating",
        "complex floating" or "numeric".

    Examples
    --------
    >>> import numen as nm
    >>> nm.isdtype(nm.float32, "real floating"), nm.isdtype(nm.bfloat16, "integral")
    (True, False)
    """
    kinds = kind if isinstance(kind, tuple) else (kind,)
    given = dtype if isinstance(dtype, np.dtype) else None
    if dtype in _SMALL:
        given = np.dtype(dtype)
    if given is not None and promotion.is_small(given):
        np.isdtype(np.float32, kind if not _has_small(kinds) else "numeric")  # checks the names
        return any([k in ("real floating", "numeric") or k in (given, given.type) for k in kinds])
    plain = tuple([k for k in kinds if not _has_small((k,))])
    return bool(np.isdtype(dtype, plain)) if plain or not kinds else False


def _has_small(kinds: tuple[Any, ...]) -> bool:
    return any([k in _SMALL or (isinstance(k, np.dtype) and promotion.is_small(k)) for k in kinds])


_CHARS = {dtype.char: dtype for dtype in promotion.SMALL}


def typename(char: Any) -> str:
    """A description of a dtype's character code."""
    if char in _CHARS and char not in np.typecodes["All"]:
        return str(_CHARS[char].name)
    return str(np.typename(char))


def isscalar(element: Any) -> bool:
    """Whether a value is what NumPy counts as a scalar: a number, text, or an element of an array.

    Examples
    --------
    >>> import numen as nm
    >>> nm.isscalar(nm.ones(2)[0]), nm.isscalar(nm.asarray(1.0))
    (True, False)
    """
    if isinstance(element, ArrayCore):
        return bool(element._v is SCALAR)
    return bool(np.isscalar(raw(element)))


def iterable(y: Any) -> bool:
    """Whether a value can be iterated over; a 0-d array can't."""
    if isinstance(y, ArrayCore):
        return bool(y._d.ndim > 0)
    return bool(np.iterable(y))


class finfo:  # noqa: N801
    """The limits of a floating dtype: eps, max, min, tiny, bits ...

    Parameters
    ----------
    dtype : dtype or Array
        Also bfloat16 and the float8 kinds.

    Raises
    ------
    ValueError
        If it is no floating dtype.

    Examples
    --------
    >>> import numen as nm
    >>> float(nm.finfo(nm.float32).eps) == 2.0**-23, float(nm.finfo(nm.bfloat16).max)
    (True, 3.3895313892515355e+38)
    """

    def __new__(cls, dtype: Any) -> Any:
        given = dtype._d.dtype if isinstance(dtype, ArrayCore) else dtype
        if isinstance(given, (float, complex)):
            given = type(given)
        return ml_dtypes.finfo(given)  # type: ignore[no-untyped-call]

    @classmethod
    def __class_getitem__(cls, item: Any) -> Any:
        return np.finfo[item]
