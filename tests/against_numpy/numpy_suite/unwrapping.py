"""`numpy.testing` for numen: its comparisons see the ndarrays and scalars inside Arrays.

`swap.py` hands it out as `numpy.testing`; everything that does not compare is NumPy's own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.testing

from numen.dispatch.core import SCALAR, ArrayCore

COMPARISONS = (
    "assert_allclose",
    "assert_almost_equal",
    "assert_approx_equal",
    "assert_array_almost_equal",
    "assert_array_almost_equal_nulp",
    "assert_array_compare",
    "assert_array_equal",
    "assert_array_less",
    "assert_array_max_ulp",
    "assert_equal",
    "print_assert_equal",
)


def unwrap(value: Any) -> Any:
    """The value with ndarrays and NumPy scalars in place of Arrays, also inside containers."""
    if isinstance(value, ArrayCore):
        return value._d[()] if value._v is SCALAR else value._d
    if type(value) in (list, tuple):
        return type(value)([unwrap(v) for v in value])
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[unwrap(v) for v in value])
    if type(value) is dict:
        return {k: unwrap(v) for k, v in value.items()}
    return value


def _unwrapping(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def compare(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return function(*[unwrap(a) for a in args], **{k: unwrap(v) for k, v in kwargs.items()})

    return compare


for _name in COMPARISONS:
    if hasattr(np.testing, _name):
        globals()[_name] = _unwrapping(getattr(np.testing, _name))


def __getattr__(name: str) -> Any:
    return getattr(np.testing, name)
