"""What only scalars have: methods of NumPy's number classes on the Arrays that stand for them.

Each is there for a scalar of a class that has it, and missing on every other Array, so `hasattr`
says what NumPy's does. `array.py` inherits this class.
"""

from __future__ import annotations

from typing import Any

from numen.dispatch.core import SCALAR, ArrayCore


def _of_scalar(name: str, doc: str) -> property:
    def get(self: Any) -> Any:
        if self._v is SCALAR:
            self._leaves(name)
            return getattr(self._d[()], name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute {name!r}")

    return property(get, doc=doc)


class Scalars(ArrayCore):
    """Methods of NumPy's integers and floats."""

    __slots__ = ()

    is_integer = _of_scalar("is_integer", "Whether the scalar has no fraction (a method).")
    as_integer_ratio = _of_scalar(
        "as_integer_ratio",
        "The scalar as a pair of Python ints: numerator, denominator (a method).",
    )
    bit_count = _of_scalar("bit_count", "How many bits of the integer's size are 1 (a method).")
    numerator = _of_scalar("numerator", "The integer itself.")
    denominator = _of_scalar("denominator", "1, for an integer.")
    hex = _of_scalar("hex", "The float64 in hexadecimal (a method).")
