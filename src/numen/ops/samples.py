"""Random inputs for the rows' samples: they fit every dtype and avoid kinks, ties and overflow.

Used by the `samples` and `errors` functions of the families, which the generated tests read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    Rng = np.random.Generator
else:
    Rng = Any  # naming numpy.random loads it, which takes a tenth of the time of `import numen`

Inputs = list[tuple[tuple[Any, ...], dict[str, Any]]]
Errors = list[tuple[tuple[Any, ...], dict[str, Any], type[Exception]]]
DType = np.dtype[Any]


def draw(
    rng: Rng, shape: tuple[int, ...], dtype: DType, low: float = -2.0, high: float = 2.0
) -> Any:
    """Uniform values in [low, high), as far as `dtype` has them."""
    kind = dtype.kind
    if kind == "b":
        return np.asarray(rng.random(shape) < 0.5)
    if kind in "iu":
        least = max(int(low), 0) if kind == "u" else int(low)
        return np.asarray(rng.integers(least, int(high) + 1, shape)).astype(dtype)
    values = rng.uniform(low, high, shape)
    if kind == "c":
        values = values + 1j * rng.uniform(low, high, shape)
    return np.asarray(values).astype(dtype)


def away_from_zero(rng: Rng, shape: tuple[int, ...], dtype: DType) -> Any:
    """Values of both signs with magnitudes of 0.3 and more (1 and more for integers)."""
    magnitude = draw(rng, shape, dtype, 1.0 if dtype.kind in "iu" else 0.3, 2.0)
    if dtype.kind in "bu":
        return magnitude
    return np.where(rng.random(shape) < 0.5, -magnitude, magnitude).astype(dtype)


def distinct(rng: Rng, shape: tuple[int, ...], dtype: DType, step: float = 0.25) -> Any:
    """A shuffled ramp around zero, without ties where the dtype has that many values.

    A float dtype's ramp never hits 0.
    """
    size = int(np.prod(shape))
    ramp = np.arange(size) - size // 2
    values = ramp * step + step / 2 if dtype.kind in "fc" else ramp
    if dtype.kind in "bu":
        values = ramp - ramp.min(initial=0)
    return rng.permutation(np.asarray(values)).reshape(shape).astype(dtype)


def pairs(rng: Rng, dtype: DType, low: float = -2.0, high: float = 2.0) -> Inputs:
    """Operands of a binary op: equal and broadcasting shapes, a 0-d array, a Python scalar."""

    def value(*shape: int) -> Any:
        return draw(rng, shape, dtype, low, high)

    scalar = {"b": True, "i": int(high), "u": int(high)}.get(dtype.kind, high / 2)
    return [
        ((value(3, 4), value(3, 4)), {}),
        ((value(3, 1), value(2, 1, 4)), {}),
        ((value(3), value()), {}),
        ((value(2, 3), scalar), {}),
        ((scalar, value(5)), {}),
        ((value(0, 3), value(3)), {}),
    ]


def singles(rng: Rng, dtype: DType, low: float = -2.0, high: float = 2.0) -> Inputs:
    """Operands of a unary op."""
    return [((draw(rng, shape, dtype, low, high),), {}) for shape in ((3, 4), (7,), (), (0, 2))]


def unequal_shapes() -> Errors:
    """Operands that do not broadcast together."""
    return [((np.ones((2, 3)), np.ones(4)), {}, ValueError)]


def text_operand() -> Errors:
    """An operand that is no number."""
    return [((np.array(["x"]),), {}, TypeError)]
