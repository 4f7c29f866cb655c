"""Random inputs for the rows' samples: they fit every dtype and avoid kinks, ties and overflow.

Used by the `samples` and `errors` functions of the families, which the generated tests read.
"""

from __future__ import annotations

from collections.abc import Callable
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


def fractional(rng: Rng, shape: tuple[int, ...], dtype: DType) -> Any:
    """Values of both signs that are a quarter or more away from any integer."""
    whole = draw(rng, shape, dtype, -3.0, 3.0)
    if dtype.kind not in "fc":
        return whole
    real = np.rint(whole.real) + draw(rng, shape, np.dtype(np.float64), 0.25, 0.75)
    return np.asarray(real).astype(dtype)


def off_multiples(rng: Rng, shape: tuple[int, ...], divisor: Any, dtype: DType) -> Any:
    """Values whose quotient by `divisor` is a quarter or more away from any integer."""
    if dtype.kind not in "fc":
        return draw(rng, shape, dtype)
    return np.asarray(fractional(rng, shape, dtype) * divisor).astype(dtype)


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


def nonzero(rng: Rng, dtype: DType) -> Inputs:
    """Operands of a unary op with a kink or a pole at 0."""
    return [((away_from_zero(rng, shape, dtype),), {}) for shape in ((3, 4), (7,), (), (0, 2))]


def nonzero_pairs(rng: Rng, dtype: DType) -> Inputs:
    """Operands of a binary op with a kink or a pole at 0."""

    def value(*shape: int) -> Any:
        return away_from_zero(rng, shape, dtype)

    scalar = {"b": True, "i": 2, "u": 2}.get(dtype.kind, 1.5)
    return [
        ((value(3, 4), value(3, 4)), {}),
        ((value(3, 1), value(2, 1, 4)), {}),
        ((value(2, 3), scalar), {}),
        ((scalar, value(5)), {}),
    ]


def between(low: float, high: float) -> Callable[[Rng, DType], Inputs]:
    """Operands of a unary op with a domain."""

    def samples(rng: Rng, dtype: DType) -> Inputs:
        return singles(rng, dtype, low, high)

    return samples


def steps(rng: Rng, dtype: DType) -> Inputs:
    """Operands of a unary op that jumps at the integers."""
    return [((fractional(rng, shape, dtype),), {}) for shape in ((3, 4), (7,), (), (0, 2))]


def unequal_shapes() -> Errors:
    """Operands that do not broadcast together."""
    return [((np.ones((2, 3)), np.ones(4)), {}, ValueError)]


def text_operand() -> Errors:
    """An operand that is no number."""
    return [((np.array(["x"]),), {}, TypeError)]


def fractions() -> Errors:
    """Operands of an op of integers that are none."""
    return [((np.ones(3), np.ones(3)), {}, TypeError), *unequal_shapes_of_integers()]


def unequal_shapes_of_integers() -> Errors:
    """Integer operands that do not broadcast together."""
    return [((np.ones((2, 3), np.int64), np.ones(4, np.int64)), {}, ValueError)]
