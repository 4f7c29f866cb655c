"""Splitting: arrays cut into views along an axis.

The parts are slices, so they share memory and gradients with the whole. Next: `padding.py`.
"""

from __future__ import annotations

from itertools import pairwise
from operator import index
from typing import Any

import numpy as np

from numen.dispatch.convert import as_array, normalize_axes
from numen.errors import describe
from numen.namespace.axes import moveaxis
from numen.namespace.layout import plain_argument

__all__ = ["array_split", "split", "hsplit", "vsplit", "dsplit", "unstack"]


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """The array cut into parts that may differ in size, as views.

    Parameters
    ----------
    ary : array_like
    indices_or_sections : int or sequence of int
        Number of parts, or where to cut.
    axis : int

    Raises
    ------
    ValueError
        If the number of parts is not positive.

    Examples
    --------
    >>> import numen as nm
    >>> [part.tolist() for part in nm.array_split(nm.arange(5), 2)]
    [[0, 1, 2], [3, 4]]
    """
    x = as_array(ary)
    wanted = plain_argument(indices_or_sections, "array_split")
    (ax,) = normalize_axes(axis, x._d.ndim, "array_split")
    total = x._d.shape[ax]
    if _is_sequence(wanted):
        cuts = [0, *wanted, total]
    else:
        sections = int(wanted)
        if sections <= 0:
            raise ValueError("number sections must be larger than 0.")
        each, more = divmod(total, sections)
        cuts = [0]
        for i in range(sections):
            cuts.append(cuts[-1] + each + (i < more))
    before = (slice(None),) * ax
    return [x[(*before, slice(_cut(start), _cut(stop)))] for start, stop in pairwise(cuts)]


def _is_sequence(wanted: Any) -> bool:
    return hasattr(wanted, "__len__") and bool(np.ndim(wanted))


def _cut(position: Any) -> int | None:
    return None if position is None else index(position)


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """The array cut into equal parts, or at given places, as views.

    Raises
    ------
    ValueError
        If a number of parts does not divide the axis.

    Examples
    --------
    >>> import numen as nm
    >>> [part.tolist() for part in nm.split(nm.arange(4), 2)]
    [[0, 1], [2, 3]]
    """
    wanted = plain_argument(indices_or_sections, "split")
    x = as_array(ary)
    if not _is_sequence(wanted):
        (ax,) = normalize_axes(axis, x._d.ndim, "split")
        if x._d.shape[ax] % wanted:
            raise ValueError(
                f"array split does not result in an equal division: {describe(x)} into {wanted} "
                f"along axis {axis}"
            )
    return array_split(x, wanted, axis)


def hsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """The array cut along its second axis, or its only one."""
    x = as_array(ary)
    if not x._d.ndim:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return split(x, indices_or_sections, 1 if x._d.ndim > 1 else 0)


def vsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """The array cut along its first axis."""
    x = as_array(ary)
    if x._d.ndim < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(x, indices_or_sections, 0)


def dsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """The array cut along its third axis."""
    x = as_array(ary)
    if x._d.ndim < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split(x, indices_or_sections, 2)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """The slices along an axis, which they lose, as views.

    Raises
    ------
    ValueError
        If the array has no axis.
    """
    a = as_array(x)
    if not a._d.ndim:
        raise ValueError("Input array must be at least 1-d.")
    return tuple(moveaxis(a, axis, 0))
