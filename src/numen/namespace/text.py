"""Arrays as text: NumPy's printing, its options, and numbers in other bases.

Options are NumPy's own, so `repr` of an Array follows them too. Plain strings come out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch.core import SCALAR, ArrayCore
from numen.namespace.devices import on_host

__all__ = ["array2string", "array_repr", "array_str", "set_printoptions", "get_printoptions"]
__all__ += ["printoptions", "format_float_positional", "format_float_scientific"]
__all__ += ["base_repr", "binary_repr"]

set_printoptions = np.set_printoptions
get_printoptions = np.get_printoptions
printoptions = np.printoptions


def _value(x: Any) -> Any:
    """What NumPy prints: an ndarray, or the scalar that a scalar Array stands for."""
    if not isinstance(x, ArrayCore):
        return x.value if getattr(type(x), "_is_host_scalar", False) else x
    x._leaves("repr()")  # type: ignore[attr-defined]
    data = on_host(x)
    return data[()] if x._v is SCALAR else data


def array2string(a: Any, *args: Any, **options: Any) -> str:
    """An array's elements as text, with options for this call.

    Parameters
    ----------
    a : array_like
    max_line_width, precision, suppress_small, separator, prefix, formatter, threshold, edgeitems
        As `numpy.array2string`'s.
    sign, floatmode, suffix, legacy
        As `numpy.array2string`'s.

    Examples
    --------
    >>> import numen as nm
    >>> nm.array2string(nm.array([1.5, 2.25]), precision=1, separator=", ")
    '[1.5, 2.2]'
    """
    return np.array2string(_value(a), *args, **options)


def array_repr(
    arr: Any, max_line_width: Any = None, precision: Any = None, suppress_small: Any = None
) -> str:
    """The text of `repr(arr)`, with options.

    Examples
    --------
    >>> import numen as nm
    >>> nm.array_repr(nm.array([], dtype=nm.int32))
    'array([], dtype=int32)'
    """
    return np.array_repr(_value(arr), max_line_width, precision, suppress_small)


def array_str(
    a: Any, max_line_width: Any = None, precision: Any = None, suppress_small: Any = None
) -> str:
    """The text of `str(a)`, with options."""
    return np.array_str(_value(a), max_line_width, precision, suppress_small)


def _scalar(x: Any) -> Any:
    return _value(x)[()] if isinstance(x, ArrayCore) else _value(x)


def format_float_positional(x: Any, *args: Any, **options: Any) -> str:
    """A number in positional notation, shortest by default; options as NumPy's.

    Examples
    --------
    >>> import numen as nm
    >>> nm.format_float_positional(nm.float32(0.1))
    '0.1'
    """
    return np.format_float_positional(_scalar(x), *args, **options)


def format_float_scientific(x: Any, *args: Any, **options: Any) -> str:
    """A number in scientific notation, shortest by default; options as NumPy's."""
    return np.format_float_scientific(_scalar(x), *args, **options)


def base_repr(number: Any, base: int = 2, padding: int = 0) -> str:
    """An integer in a base from 2 to 36.

    Examples
    --------
    >>> import numen as nm
    >>> nm.base_repr(255, 16)
    'FF'
    """
    return np.base_repr(_scalar(number), base, padding)


def binary_repr(num: Any, width: Any = None) -> str:
    """An integer in binary; two's complement of `width` bits where it is negative.

    Examples
    --------
    >>> import numen as nm
    >>> nm.binary_repr(-3, width=5)
    '11101'
    """
    return np.binary_repr(_scalar(num), width)
