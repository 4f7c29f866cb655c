"""Functions that pick and place elements: where, take and the writes by index.

Next: `ops/gathering.py` for the rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch.convert import as_array, normalize_axes, operand
from numen.dispatch.core import ArrayCore
from numen.errors import describe
from numen.namespace.calling import composes, host
from numen.ops import table

__all__ = ["where", "take", "put", "choose", "compress", "nonzero", "scatter_add"]


def where(condition: Any, x: Any, y: Any) -> Any:
    """Choose x where the condition holds, else y; the branch not taken gets gradient 0.

    Examples
    --------
    >>> import numen as nm
    >>> nm.where(nm.array([True, False]), 1.0, nm.array([5.0, 6.0]))
    array([1., 6.])
    """
    c = as_array(condition)
    if c._d.dtype != np.bool_:
        c = table["not_equal"](c, 0)
    return table["where"](c, operand(x), operand(y))


@composes(np.take)
def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
    """Elements at `indices` along an axis (flattened by default).

    Raises
    ------
    IndexError
        If an index is out of bounds.
    """
    if out is not None or mode != "raise":
        return NotImplemented
    x = as_array(a)
    if axis is None:
        x, axis = x.ravel(), 0
    (ax,) = normalize_axes(axis, x.ndim, "take")
    picks = as_array(indices)
    if picks._d.dtype.kind not in "iu":
        if isinstance(indices, (ArrayCore, np.ndarray, np.generic)):
            raise TypeError(f"take: indices must be integers, got {describe(picks)}")
        picks = picks.astype(np.intp)
    spec = (*[("b", slice(0, n, 1)) for n in x.shape[:ax]], 0)
    return table["gather"](x, picks, spec=spec)


put = host(np.put, writes=(0,))
choose = host(np.choose)
compress = host(np.compress)
nonzero = host(np.nonzero)


def scatter_add(a: Any, index: Any, value: Any) -> Any:
    """A copy of `a` with `value` added at `a[index]`; repeated positions add up (`numpy.add.at`,
    functional).

    Examples
    --------
    >>> import numen as nm
    >>> nm.scatter_add(nm.zeros(3), nm.array([0, 0, 2]), 1.0)
    array([2., 0., 1.])
    """
    x = as_array(a)
    arrays = index if isinstance(index, tuple) else (index,)
    given = [as_array(i) for i in arrays]
    return table["scatter_add"](x, operand(value), *given, spec=tuple(range(len(given))))
