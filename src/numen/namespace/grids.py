"""Functions that make grids of coordinates: meshgrid, indices, fromfunction.

Next: `index_tricks.py` for the indexed forms, mgrid and ogrid.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numen.namespace.calling import composes
from numen.namespace.creation import asarray, followed, known, made
from numen.namespace.filled import check_size, shape_of
from numen.namespace.likes import from_like
from numen.ops import table

__all__ = ["fromfunction", "indices", "meshgrid"]


@composes(np.meshgrid)
def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    """Coordinate matrices of one-dimensional coordinate arrays; gradients flow to those.

    Parameters
    ----------
    *xi : array_like
        Coordinates along each axis.
    copy : bool
        Whether the results have memory of their own.
    sparse : bool
        Leave axes of length 1 as they are; the results broadcast to the full grid.
    indexing : {'xy', 'ij'}
        Cartesian (the first two axes exchanged) or matrix order.

    Raises
    ------
    ValueError
        If `indexing` is another text.

    Examples
    --------
    >>> import numen as nm
    >>> x, y = nm.meshgrid([0, 1], [5, 6, 7])
    >>> y
    array([[5, 5],
           [6, 6],
           [7, 7]])
    """
    if indexing not in ("xy", "ij") or not followed(*xi):
        return NotImplemented
    rank = len(xi)
    order = list(range(rank))
    if indexing == "xy" and rank > 1:
        order[:2] = 1, 0
    parts = []
    for i, x in enumerate(map(asarray, xi)):
        sizes = [1] * rank
        sizes[order[i]] = x._d.size
        parts.append(table["reshape"](x, shape=tuple(sizes)))
    if not sparse:
        full = np.broadcast_shapes(*[p._d.shape for p in parts])
        parts = [table["broadcast_to"](p, shape=full) for p in parts]
    return tuple([table["copy"](p) for p in parts] if copy else parts)


def indices(dimensions: Any, dtype: Any = int, sparse: bool = False) -> Any:
    """The indices of a grid, one array an axis (a tuple of broadcasting ones if `sparse`).

    Examples
    --------
    >>> import numen as nm
    >>> nm.indices((2, 2))[1]
    array([[0, 1],
           [0, 1]])
    """
    shape = shape_of(dimensions)
    if not sparse and isinstance(shape, tuple):
        check_size((len(shape), *shape), dtype)
    function: Any = np.indices
    result = function(shape, dtype, sparse)
    return tuple(map(made, result)) if isinstance(result, tuple) else made(result)


def fromfunction(
    function: Callable[..., Any], shape: Any, *, dtype: Any = float, like: Any = None, **kwargs: Any
) -> Any:
    """What `function` returns for the coordinate arrays of a grid.

    Examples
    --------
    >>> import numen as nm
    >>> nm.fromfunction(lambda i, j: i + j, (2, 3), dtype=int)
    array([[0, 1, 2],
           [1, 2, 3]])
    """
    if like is not None and (other := from_like(fromfunction, locals())) is not NotImplemented:
        return other
    return function(*indices(known(shape, "fromfunction"), dtype), **kwargs)
