"""Promotion with the small floats: bfloat16 and the float8 kinds beside NumPy's dtypes.

NumPy's own rules hold for its own dtypes; this table says what a small float meets. It follows
JAX's lattice ("Design of Type Promotion Semantics for JAX"): ints and Python numbers never widen a
small float, and two different float8 kinds have no common dtype. Used by `dtypes.py` (ops),
`small_floats.py` (rows) and `namespace/types.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import ml_dtypes
import numpy as np

DType = np.dtype[Any]
Kind = DType | type
"""A dtype, or int, float or complex for a weak Python number."""

BFLOAT16: DType = np.dtype(ml_dtypes.bfloat16)
FLOAT8 = {
    name: np.dtype(getattr(ml_dtypes, name))
    for name in (
        "float8_e3m4",
        "float8_e4m3",
        "float8_e4m3b11fnuz",
        "float8_e4m3fn",
        "float8_e4m3fnuz",
        "float8_e5m2",
        "float8_e5m2fnuz",
        "float8_e8m0fnu",
    )
}
SMALL: dict[DType, str] = {dtype: dtype.name for dtype in (BFLOAT16, *FLOAT8.values())}

FIRST_SMALL = 256
"""NumPy's own dtypes have smaller numbers; only those above need a look."""

# What a small float and another float give; `=` is the small float itself. A float8 fits into
# bfloat16 and float16 exactly, but for float8_e8m0fnu, whose range is bfloat16's.
TABLE = """
small           bool  integer  bfloat16  float16  float32  float64  longdouble  complex
bfloat16        =     =        =         float32  float32  float64  longdouble  other
float8          =     =        bfloat16  float16  float32  float64  longdouble  other
float8_e8m0fnu  =     =        bfloat16  float32  float32  float64  longdouble  other
"""
_head, *_rows = [line.split() for line in TABLE.strip().splitlines()]
PROMOTED = {row[0]: dict(zip(_head[1:], row[1:], strict=True)) for row in _rows}

ACCUMULATOR: DType = np.dtype(np.float32)
"""What sums and products of small floats are computed in, before they are rounded once."""


def is_small(dtype: DType) -> bool:
    """Whether a dtype is bfloat16 or a float8.

    >>> is_small(np.dtype("bfloat16")), is_small(np.dtype("float16"))
    (True, False)
    """
    return dtype.num >= FIRST_SMALL and dtype in SMALL


def promote(small: DType, other: DType) -> DType:
    """The common dtype of a small float and another dtype.

    Raises
    ------
    numpy.exceptions.DTypePromotionError
        If both are float8 of different kinds.

    Examples
    --------
    >>> promote(BFLOAT16, np.dtype(np.float16)), promote(BFLOAT16, np.dtype(np.int64)).name
    (dtype('float32'), 'bfloat16')
    """
    if small == other:
        return small
    if other in SMALL and other != BFLOAT16:
        if small != BFLOAT16:
            raise np.exceptions.DTypePromotionError(
                f"result_type: {small.name} and {other.name} have no common dtype. "
                "Hint: cast one of them"
            )
        return BFLOAT16
    row = PROMOTED.get(small.name) or PROMOTED["float8"]
    result = row.get(_column(other))
    if result is None:  # text, dates, objects: NumPy's answer, or its error
        return np.promote_types(small, other)
    if result == "=":
        return small
    return other if result == "other" else np.dtype(result)


def _column(dtype: DType) -> str:
    if dtype.kind == "b":
        return "bool"
    if dtype.kind in "iu":
        return "integer"
    if dtype.kind == "c":
        return "complex"
    return "longdouble" if dtype.char == "g" else dtype.name


def result_type(kinds: Iterable[Kind]) -> DType:
    """The dtype of an op's operands: NumPy's rules (NEP 50), with the small floats among them.

    The order of the operands does not matter.

    Raises
    ------
    numpy.exceptions.DTypePromotionError
        If the dtypes have none in common.
    """
    return _result_type(tuple(kinds))


@lru_cache(maxsize=4096)
def _result_type(kinds: tuple[Kind, ...]) -> DType:
    strong = [k for k in kinds if not isinstance(k, type)]
    small = sorted({d for d in strong if is_small(d)}, key=lambda d: d.name)
    if not small:
        return np.result_type(*[k(0) if isinstance(k, type) else k for k in kinds])
    others = [d for d in strong if not is_small(d)]
    if others:
        wide = np.result_type(*others)
        if wide.kind in "biu":
            result = _join(small)
        else:
            result = wide
            for dtype in small:
                result = np.promote_types(result, promote(dtype, wide))
    else:
        result = _join(small)
    if complex in kinds and result.kind != "c":
        result = np.promote_types(
            np.dtype(np.complex64), ACCUMULATOR if is_small(result) else result
        )
    return result


def _join(small: Sequence[DType]) -> DType:
    """The common dtype of small floats alone: bfloat16 holds every float8."""
    if BFLOAT16 in small:
        return BFLOAT16
    result = small[0]
    for dtype in small[1:]:
        result = promote(result, dtype)
    return result


def can_cast(source: DType, target: DType, casting: str) -> bool:
    """Whether a cast from or to a small float is allowed by a casting rule.

    "safe" keeps every value; "same_kind" goes between floats, and from ints to floats.
    """
    if source == target or casting == "unsafe":
        return source == target or np.can_cast(source, target, casting)  # type: ignore[arg-type]
    if casting in ("no", "equiv"):
        return False
    if casting == "safe":
        if is_small(source) and target.kind != "O":
            wider = is_small(target) or target.kind in "fc"
            return wider and promote_or_none(source, target) == target
        return bool(np.can_cast(source, target, "safe"))
    if casting != "same_kind":
        return bool(np.can_cast(source, target, casting))  # type: ignore[arg-type]
    if is_small(target):
        return is_small(source) or source.kind in "biuf"
    return target.kind in "fcO"


def promote_or_none(a: DType, b: DType) -> DType | None:
    """The common dtype of a small float and another one, None where they have none."""
    try:
        return promote(a, b)
    except TypeError:
        return None
