"""The reduction scheme of the numerics contract, over the last axis of an array.

`execute.py` calls `reduce_last` for "reduce" instructions, `matmul.py` for products with a single
column. Blocks of `nest.BLOCK` elements; in a block element i is accumulated in lane i %
`nest.LANES`, in order; lanes are folded by halves; with several blocks their partial results go
through the same lanes once more, as one block.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from numen.compiler.nest import BLOCK, LANES

Array = NDArray[Any]
Combine = Callable[[Array, Array], Array]


def identity(kind: str, dtype: np.dtype[Any]) -> Any:
    """Where a lane starts. A float sum starts from -0.0, which changes no value it is added to."""
    if dtype == np.bool_:
        return kind == "min"
    if np.issubdtype(dtype, np.floating):
        return {"sum": -0.0, "max": -np.inf, "min": np.inf}[kind]
    info = np.iinfo(dtype)
    return {"sum": 0, "max": int(info.min), "min": int(info.max)}[kind]


def _add(a: Array, b: Array) -> Array:
    return np.asarray(np.add(a, b))


def _max(a: Array, b: Array) -> Array:
    return np.where((a > b) | (a != a), a, b)


def _min(a: Array, b: Array) -> Array:
    return np.where((a < b) | (a != a), a, b)


COMBINE: dict[str, Combine] = {"sum": _add, "max": _max, "min": _min}
"""Reduction kind -> (accumulator, element) -> accumulator. A NaN, once there, stays."""


def reduce_last(kind: str, x: Array) -> Array:
    """Reduce x of shape (..., n) to (...). For n = 0 a sum is 0; the other kinds need n > 0."""
    if kind == "argmax":
        return np.asarray(np.argmax(x, axis=-1)).astype(
            np.int64
        )  # the first maximum; the first NaN wins
    n = x.shape[-1]
    if n == 0:
        return np.zeros(x.shape[:-1], x.dtype)
    partials = [_reduce_block(kind, x[..., k : k + BLOCK]) for k in range(0, n, BLOCK)]
    if len(partials) == 1:
        return partials[0]
    return _reduce_block(kind, np.stack(partials, axis=-1))


def _reduce_block(kind: str, x: Array) -> Array:
    """Reduce (..., n) of any n through the lanes."""
    combine = COMBINE[kind]
    start = np.asarray(identity(kind, x.dtype), x.dtype)
    # Padding with the identity changes no lane.
    steps = -(-x.shape[-1] // LANES)
    padded = np.full((*x.shape[:-1], steps * LANES), start)
    padded[..., : x.shape[-1]] = x
    lanes = np.full((*x.shape[:-1], LANES), start)
    for step in range(steps):
        lanes = combine(lanes, padded[..., step * LANES : (step + 1) * LANES])
    half = LANES // 2
    while half:
        lanes = combine(lanes[..., :half], lanes[..., half : 2 * half])
        half //= 2
    return lanes[..., 0]
