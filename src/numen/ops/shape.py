"""Views of shape: reshape, transpose, broadcast_to; memory is shared where NumPy shares it.

`x.T`, `x.reshape` and many rules call them; they are also steps of a `setitem` path. The views that
see memory another way are in `memory.py`. Next: `indexing.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch.derived import linear
from numen.errors import ShapeError, describe
from numen.ops import memory
from numen.ops.samples import DType, Errors, Inputs, Rng, draw

Shape = tuple[int, ...]


def _array(a: Any) -> Any:
    """A scalar as an ndarray; arrays as they are."""
    return np.asarray(a) if isinstance(a, (np.generic, int, float, complex)) else a


# reshape


def _reshape(a: Any, shape: Shape) -> Any:
    try:
        return _array(a).reshape(shape)
    except ValueError as error:
        raise ShapeError(f"reshape: cannot reshape {describe(a)} into shape {shape}") from error


def _reshape_transpose(g: Any, a: Any, shape: Shape) -> Any:
    return g.reshape(a.shape)


def _reshape_batch(size: int, a: Any, shape: Shape) -> Any:
    return reshape(a, shape=(size, *shape))


def _reshape_samples(rng: Rng, dtype: DType) -> Inputs:
    a = draw(rng, (2, 3, 4), dtype)
    return [
        ((a,), {"shape": (4, 6)}),
        ((a,), {"shape": (24,)}),
        ((a.transpose(2, 0, 1),), {"shape": (8, 3)}),
        ((a[:1, :1, 0],), {"shape": ()}),
        ((a[:0],), {"shape": (3, 0)}),
    ]


def _reshape_errors() -> Errors:
    return [((np.ones((2, 3)),), {"shape": (4,)}, ValueError)]


reshape = linear(
    "reshape",
    _reshape,
    _reshape_transpose,
    _reshape_batch,
    view=True,
    samples=_reshape_samples,
    errors=_reshape_errors,
)


# transpose


def _transpose(a: Any, axes: Shape) -> Any:
    return _array(a).transpose(axes)


def _transpose_transpose(g: Any, a: Any, axes: Shape) -> Any:
    inverse = [0] * len(axes)
    for new, old in enumerate(axes):
        inverse[old] = new
    return transpose(g, axes=tuple(inverse))


def _transpose_batch(size: int, a: Any, axes: Shape) -> Any:
    return transpose(a, axes=(0, *[axis + 1 for axis in axes]))


def _transpose_samples(rng: Rng, dtype: DType) -> Inputs:
    return [
        ((draw(rng, (2, 3, 4), dtype),), {"axes": (2, 0, 1)}),
        ((draw(rng, (3, 2), dtype),), {"axes": (1, 0)}),
        ((draw(rng, (), dtype),), {"axes": ()}),
    ]


def _transpose_errors() -> Errors:
    return [((np.ones((2, 3)),), {"axes": (0,)}, ValueError)]


transpose = linear(
    "transpose",
    _transpose,
    _transpose_transpose,
    _transpose_batch,
    view=True,
    samples=_transpose_samples,
    errors=_transpose_errors,
)


# broadcast_to


def _broadcast_to_transpose(g: Any, a: Any, shape: Shape) -> Any:
    return g  # the backward pass sums it over the axes that were added or stretched


def _broadcast_to_batch(size: int, a: Any, shape: Shape) -> Any:
    ones = (1,) * (len(shape) - (len(a.shape) - 1))
    if ones:
        a = a.reshape((size, *ones, *a.shape[1:]))
    return broadcast_to(a, shape=(size, *shape))


def _broadcast_to_samples(rng: Rng, dtype: DType) -> Inputs:
    return [
        ((draw(rng, (3, 1), dtype),), {"shape": (2, 3, 4)}),
        ((draw(rng, (), dtype),), {"shape": (5,)}),
        ((draw(rng, (4,), dtype),), {"shape": (4,)}),
        ((draw(rng, (1,), dtype),), {"shape": (0,)}),
    ]


def _broadcast_to_errors() -> Errors:
    return [((np.ones(3),), {"shape": (2, 4)}, ValueError)]


broadcast_to = linear(
    "broadcast_to",
    np.broadcast_to,
    _broadcast_to_transpose,
    _broadcast_to_batch,
    view=True,
    samples=_broadcast_to_samples,
    errors=_broadcast_to_errors,
)

ROWS = (reshape, transpose, broadcast_to, *memory.ROWS)
