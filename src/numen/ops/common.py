"""What the rules of several families share: zeros, the way back of a reduction, sums of tangents.

Rules run on raw ndarrays in a first-order backward pass, on Arrays otherwise: these helpers answer
in kind. Next: `elementwise.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numen.dispatch import core, modes, slots
from numen.dispatch.backends import module_of, placed_like
from numen.dispatch.core import ArrayCore
from numen.dispatch.derived import align
from numen.dispatch.primitive import Primitive

SMALL = 4096
"""Elements up to which filling an array is cheaper than making a broadcast view of it."""


def zeros(shape: tuple[int, ...], dtype: np.dtype[Any], like: Any) -> Any:
    """Zeros, raw or Array as `like` is.

    Under a recorder they are a broadcast constant: a large array would be kept with the trace.
    """
    if not isinstance(like, ArrayCore):
        return module_of(like).zeros(shape, dtype)
    if modes.ACTIVE and modes.state.recorder is not None:
        zero = core.new_constant(np.zeros((), dtype))
        return slots.primitive("broadcast_to")(zero, shape=shape)
    return core.ARRAY(module_of(like._d).zeros(shape, dtype))


def constant(data: Any, like: Any) -> Any:
    """An ndarray that a rule made itself, as an Array where `like` is one."""
    if not isinstance(like, ArrayCore):
        return placed_like(data, like)
    return core.new_constant(placed_like(np.asarray(data), like._d))


def kept_shape(shape: tuple[int, ...], axis: tuple[int, ...]) -> tuple[int, ...]:
    """The shape with the reduced axes kept as ones."""
    return tuple([1 if i in axis else n for i, n in enumerate(shape)])


def spread(g: Any, shape: tuple[int, ...], axis: tuple[int, ...], keepdims: bool) -> Any:
    """A reduction's cotangent `g` repeated over the reduced axes, back to the argument's shape."""
    if not keepdims and len(axis) != len(shape):  # a 0-d cotangent broadcasts as it is
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


def aligned_batch(row: Callable[[], Primitive]) -> Callable[..., Any]:
    """The batch rule of an elementwise row, which is made later: `aligned_batch(lambda: power)`."""

    def batch(size: int, args: Sequence[Any], axes: Sequence[bool]) -> Any:
        return row()(*align(args, axes))

    return batch


def _flat_vjp(needs: Sequence[bool], g: Any, out: Any, *args: Any) -> tuple[Any, ...]:
    return tuple([zeros(g.shape, g.dtype, g) if needed else None for needed in needs])


def _flat_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    return zeros(out.shape, out.dtype, out)


def flat(name: str, impl: Callable[..., Any], arity: int = 1, **fields: Any) -> Primitive:
    """Make the row of a piecewise constant op: its gradient is exactly 0, whatever the
    cotangent."""
    row = Primitive(
        name,
        impl,
        vjp=_flat_vjp,
        jvp=_flat_jvp,
        batch=aligned_batch(lambda: row),
        saves_for=((),) * arity,
        **fields,
    )
    return row
