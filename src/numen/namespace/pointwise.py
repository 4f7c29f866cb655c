"""Functions of single elements that are no ufuncs: clip, round and their like.

Called by Array's methods too. Next: `ufuncs.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch.convert import as_array, operand
from numen.namespace.calling import composes, host
from numen.ops import table

__all__ = ["clip", "round", "around"]


@composes(np.clip)
def clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, **kwargs: Any) -> Any:
    """Elements limited to [a_min, a_max]; NaN stays.

    Examples
    --------
    >>> import numen as nm
    >>> nm.clip(nm.array([-1.0, 0.5, 2.0]), 0, 1)
    array([0. , 0.5, 1. ])
    """
    if out is not None or kwargs:
        return NotImplemented
    result = as_array(a)
    if a_min is not None:
        result = table["maximum"](result, operand(a_min))
    if a_max is not None:
        result = table["minimum"](result, operand(a_max))
    return result


round = host(np.round)
around = round


def conj_of(x: Any) -> Any:
    """The complex conjugate; a real array itself."""
    if x._d.dtype.kind != "c":
        return x
    return host(np.conjugate)(x)
