"""What each row of `scalar.OPS` means: one NumPy function a row, the reference for every target.

`execute.py` calls `APPLY[op](operands, dtype)` with arrays that broadcast; const, load, scalar,
index and reduce are its own business. Nothing here warns: `execute.py` holds np.errstate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from numen.compiler.codegen.python.fma import fma

Array = NDArray[Any]
Apply = Callable[[Sequence[Array], str], Any]


def _ufunc(function: Callable[..., Any]) -> Apply:
    return lambda operands, dtype: function(*operands)


def _logical(on_bool: Callable[..., Any], on_ints: Callable[..., Any]) -> Apply:
    return lambda operands, dtype: (on_bool if dtype == "bool" else on_ints)(*operands)


def _shl(operands: Sequence[Array], dtype: str) -> Any:
    return np.left_shift(*operands)


def _lshr(operands: Sequence[Array], dtype: str) -> Any:
    """Zeros come in from the left for signed dtypes too."""
    unsigned = np.dtype(dtype.replace("uint", "int").replace("int", "uint"))
    x, count = (np.asarray(operand).view(unsigned) for operand in operands)
    return np.asarray(np.right_shift(x, count)).view(dtype)


def _cast(operands: Sequence[Array], dtype: str) -> Any:
    return operands[0].astype(dtype)


def _bitcast(operands: Sequence[Array], dtype: str) -> Any:
    return operands[0].view(dtype)


APPLY: dict[str, Apply] = {
    "add": _ufunc(np.add),
    "subtract": _ufunc(np.subtract),
    "multiply": _ufunc(np.multiply),
    "divide": _ufunc(np.divide),
    "negative": _ufunc(np.negative),
    "absolute": _ufunc(np.absolute),
    "sqrt": _ufunc(np.sqrt),
    "fma": _ufunc(fma),
    "rint": _ufunc(np.rint),
    "floor": _ufunc(np.floor),
    "less": _ufunc(np.less),
    "less_equal": _ufunc(np.less_equal),
    "equal": _ufunc(np.equal),
    "not_equal": _ufunc(np.not_equal),
    "greater": _ufunc(np.greater),
    "greater_equal": _ufunc(np.greater_equal),
    "and": _logical(np.logical_and, np.bitwise_and),
    "or": _logical(np.logical_or, np.bitwise_or),
    "xor": _logical(np.logical_xor, np.bitwise_xor),
    "not": _logical(np.logical_not, np.invert),
    "shl": _shl,
    "lshr": _lshr,
    "select": _ufunc(np.where),
    "cast": _cast,
    "bitcast": _bitcast,
}
"""Scalar op -> function(operands, result dtype) -> array."""
