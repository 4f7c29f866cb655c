"""Products of vectors and matrices.

Next: `ops/linear_algebra.py` for the rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch.convert import as_array
from numen.namespace.calling import composes
from numen.namespace.output import into
from numen.ops import table

__all__ = ["matmul", "dot"]


def matmul(x1: Any, x2: Any, /, out: Any = None) -> Any:
    """Matrix product with NumPy's rules: vectors, matrices, batches.

    Raises
    ------
    ValueError
        If the inner extents differ or an operand is 0-d.
    """
    a, b = as_array(x1), as_array(x2)
    return into(out, table["matmul"](a, b), "matmul")


@composes(np.dot)
def dot(a: Any, b: Any, out: Any = None) -> Any:
    """NumPy's dot: product of matrices and vectors; a scalar operand multiplies."""
    x, y = as_array(a), as_array(b)
    if out is not None or y.ndim > 2:
        return NotImplemented
    if not x.ndim or not y.ndim:
        return table["multiply"](x, y)
    return table["matmul"](x, y)
