"""Rows on small floats: operands cast to their common dtype, sums in float32 rounded once.

`extend` changes the impl of the rows that need it, so every caller (eager, the backward pass, host
calls of compiled programs) computes alike; rows on NumPy's own dtypes keep theirs. Called once, by
`registry.py`. Next: `promotion.py` for the table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numen.dispatch.primitive import Primitive
from numen.ops.dtypes import BOOL, kind_of
from numen.ops.promotion import ACCUMULATOR, FIRST_SMALL, is_small, result_type

Impl = Callable[..., Any]

_ACCUMULATES = """
sum mean prod cumsum cumprod nansum nanmean nanprod nancumsum nancumprod trace average var std
nanvar nanstd trapezoid cumulative_sum cumulative_prod cov corrcoef norm
matmul dot inner vdot tensordot einsum vecdot matvec vecmat convolve correlate
"""
ACCUMULATES = frozenset(_ACCUMULATES.split())
"""Rows and functions that add up products or elements."""

PROMOTES = {"where": 1, "concatenate": 0, "clip": 0, "masked_product": 0, "masked_quotient": 0}
"""Rows without a ufunc whose operands, from a position on, get one dtype."""


def extend(row: Primitive) -> None:
    """Teach a row the small floats."""
    if row.name in ACCUMULATES:
        pair = row.ufunc is not None and row.ufunc.nin == 2
        row.impl = row.plain_impl = (accumulating_pair if pair else accumulating)(row.impl)
    elif row.ufunc is not None and row.ufunc.nin == 2:
        row.impl = promoting_pair(row.impl)
    elif row.name in PROMOTES:
        row.impl = promoting(row.impl, PROMOTES[row.name])


def promoting_pair(impl: Impl) -> Impl:
    """`promoting` for a ufunc of two operands, quick where they are NumPy's."""

    def promoted(a: Any, b: Any) -> Any:
        x, y = getattr(a, "dtype", BOOL), getattr(b, "dtype", BOOL)
        if x is not y and (x.num >= FIRST_SMALL or y.num >= FIRST_SMALL):
            a, b = common((a, b))
        return impl(a, b)

    return promoted


def promoting(impl: Impl, first: int) -> Impl:
    """The implementation with its operands from `first` on in their common dtype where a small
    float is among them."""

    def promoted(*args: Any, **params: Any) -> Any:
        for a in args:
            dtype = getattr(a, "dtype", None)
            if dtype is not None and dtype.num >= FIRST_SMALL:
                return impl(*args[:first], *common(args[first:]), **params)
        return impl(*args, **params)

    return promoted


def common(args: Sequence[Any]) -> Sequence[Any]:
    """Operands cast to the dtype the table gives them, if a small float is among them."""
    kinds = [kind_of(a) for a in args]
    if not any([not isinstance(k, type) and is_small(k) for k in kinds]):
        return args
    dtype = result_type(kinds)
    return [_cast(a, dtype) for a in args]


def _cast(a: Any, dtype: np.dtype[Any]) -> Any:
    if hasattr(a, "astype"):
        return a if a.dtype == dtype else a.astype(dtype)
    return dtype.type(a)


def has_small(values: Sequence[Any]) -> bool:
    """Whether arrays of a small float are among values, also inside lists."""
    for value in values:
        if type(value) in (list, tuple):
            if has_small(value):
                return True
        else:
            dtype = getattr(value, "dtype", None)
            if isinstance(dtype, np.dtype) and dtype.num >= FIRST_SMALL and is_small(dtype):
                return True
    return False


def accumulating(function: Impl) -> Impl:
    """The function of one array computing small floats in float32; the result is rounded to its
    dtype."""

    def accumulated(a: Any, *args: Any, **params: Any) -> Any:
        dtype = getattr(a, "dtype", BOOL)
        if dtype.num >= FIRST_SMALL or args:
            return in_float32(function, (a, *args), params)
        return function(a, **params)

    return accumulated


def accumulating_pair(function: Impl) -> Impl:
    """`accumulating` for a product of two arrays, rounded to their common dtype."""

    def accumulated(a: Any, b: Any) -> Any:
        x, y = getattr(a, "dtype", BOOL), getattr(b, "dtype", BOOL)
        if x.num >= FIRST_SMALL or y.num >= FIRST_SMALL:
            return in_float32(function, (a, b), {})
        return function(a, b)

    return accumulated


def in_float32(function: Impl, args: Sequence[Any], params: dict[str, Any]) -> Any:
    """Call a function with its small floats (raw or Arrays, with their gradients) as float32 and
    round what it returns."""
    dtypes: list[np.dtype[Any]] = []
    wide = _widened(args, dtypes)
    if not any([is_small(d) for d in dtypes]):
        return function(*args, **params)
    target = result_type(dtypes)
    asked: list[Any] = [a for a in args if isinstance(a, (np.dtype, type))] or [params.get("dtype")]
    if asked[0] is not None:
        target = np.dtype(asked[0])
        instead = ACCUMULATOR if is_small(target) else target
        wide = [instead if a is asked[0] else a for a in wide]
        params = {k: instead if v is asked[0] else v for k, v in params.items()}
    out = params.get("out")
    if out is not None:
        rest = {k: v for k, v in params.items() if k != "out"}
        destination = out[0] if isinstance(out, tuple) else out
        destination[...] = function(*wide, **rest)
        return destination
    return _rounded(function(*wide, **params), target)


def _widened(values: Sequence[Any], dtypes: list[np.dtype[Any]]) -> list[Any]:
    """Values with float32 in place of small floats; notes the dtypes that compute."""
    out: list[Any] = []
    for value in values:
        if type(value) in (list, tuple):
            out.append(type(value)(_widened(value, dtypes)))
            continue
        dtype = getattr(value, "dtype", None)
        if isinstance(dtype, np.dtype):
            dtypes.append(dtype)
            if is_small(dtype):
                value = value.astype(ACCUMULATOR)
        out.append(value)
    return out


def _rounded(result: Any, target: np.dtype[Any]) -> Any:
    if isinstance(result, tuple):
        return tuple([_rounded(r, target) for r in result])
    if getattr(result, "dtype", None) == ACCUMULATOR and target != ACCUMULATOR:
        return result.astype(target)
    return result
