"""Comparisons of whole arrays and tests of their elements."""

from __future__ import annotations

from typing import Any

from numen.dispatch.convert import as_array
from numen.ops import table

__all__ = ["array_equal"]


def array_equal(a1: Any, a2: Any) -> bool:
    """Whether two arrays have the same shape and elements."""
    x, y = as_array(a1), as_array(a2)
    if x.shape != y.shape:
        return False
    different = table["not_equal"](x, y)
    return (
        not bool(table["max"](different, axis=tuple(range(x.ndim)), keepdims=False))
        if x.size
        else True
    )
