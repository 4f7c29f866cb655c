"""NumPy's array classes that stay NumPy's: matrices and records, on host memory.

They take Arrays and share their memory; functions of numen take them as they take any ndarray.
Next: `numen/ma.py` and `numen/rec.py` for the functions about masks and records.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch.core import ArrayCore

__all__ = ["matrix", "asmatrix", "recarray"]

matrix = np.matrix
recarray = np.recarray


def asmatrix(data: Any, dtype: Any = None) -> Any:
    """NumPy's `matrix` over the memory of `data`."""
    if isinstance(data, ArrayCore):
        data = data.__array__()  # type: ignore[attr-defined]
    return np.asmatrix(data, dtype)
