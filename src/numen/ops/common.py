"""What several families' rules share: zeros that a recorder knows, the way back of a reduction, stand-ins for shapes.

Rules run on raw ndarrays in a first-order backward pass, on Arrays otherwise: these helpers answer in kind.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch import core, modes, slots
from numen.dispatch.core import ArrayCore

SMALL = 4096
"""Elements up to which filling an array is cheaper than making a broadcast view of it."""


def zeros(shape: tuple[int, ...], dtype: np.dtype[Any], like: Any) -> Any:
    """Zeros, raw or Array as `like` is; under a recorder a broadcast constant instead of captured memory."""
    if not isinstance(like, ArrayCore):
        return np.zeros(shape, dtype)
    recorder = modes.state.recorder if modes.ACTIVE else None
    if recorder is None:
        return core.ARRAY(np.zeros(shape, dtype))
    zero = core.ARRAY(np.zeros((), dtype))
    recorder.constant(zero)
    return slots.primitive("broadcast_to")(zero, shape=shape)


def kept_shape(shape: tuple[int, ...], axis: tuple[int, ...]) -> tuple[int, ...]:
    """The shape with the reduced axes kept as ones."""
    return tuple([1 if i in axis else n for i, n in enumerate(shape)])


def spread(g: Any, shape: tuple[int, ...], axis: tuple[int, ...], keepdims: bool) -> Any:
    """A reduction's cotangent `g` repeated over the reduced axes, back to the argument's shape."""
    if not keepdims:
        g = g.reshape(kept_shape(shape, axis))
    if isinstance(g, ArrayCore):
        return slots.primitive("broadcast_to")(g, shape=shape)
    if g.size <= SMALL:
        full = np.empty(shape, g.dtype)
        full[...] = g
        return full
    return np.broadcast_to(g, shape)


def count(shape: tuple[int, ...], axis: tuple[int, ...]) -> int:
    """How many elements a reduction over `axis` folds into one."""
    n = 1
    for i in axis:
        n *= shape[i]
    return n


def ndim(x: Any) -> int:
    """Number of axes of an Array, ndarray or scalar."""
    return len(x.shape) if hasattr(x, "shape") else 0


def is_number(x: Any) -> bool:
    """Whether x is a Python scalar (weak beside an array)."""
    return isinstance(x, (int, float, complex)) and not isinstance(x, np.generic)


def add_tangents(a: Any, b: Any) -> Any:
    """The sum of two tangents, either of which may be None."""
    if a is None:
        return b
    return a if b is None else a + b
