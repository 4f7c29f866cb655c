"""Rounding and division to integers: floor, ceil, trunc, rint, floor_divide, remainder, fmod.

What is piecewise constant has gradient 0; a remainder moves with its dividend. Next: `floats.py`.
"""

from __future__ import annotations

import numpy as np

from numen.dispatch.derived import elementwise
from numen.dispatch.primitive import Primitive
from numen.ops.common import flat
from numen.ops.samples import (
    DType,
    Inputs,
    Rng,
    away_from_zero,
    draw,
    fractional,
    off_multiples,
    steps,
    text_operand,
    unequal_shapes,
)


def _rounding(ufunc: np.ufunc) -> Primitive:
    return flat(ufunc.__name__, ufunc, ufunc=ufunc, samples=steps, errors=text_operand)


floor = _rounding(np.floor)
ceil = _rounding(np.ceil)
trunc = _rounding(np.trunc)
rint = _rounding(np.rint)


def _divisions(rng: Rng, dtype: DType) -> Inputs:
    """Dividends and divisors whose quotient is no integer, where the dtype has such."""
    real = dtype.kind == "f"
    b = away_from_zero(rng, (3, 4), dtype)
    scalar = {"b": True, "i": 2, "u": 2}.get(dtype.kind, 1.5)
    small = draw(rng, (2, 1, 4), dtype, 0.1, 0.2)  # less than every divisor
    divisors = away_from_zero(rng, (5,), dtype)
    if real:
        divisors = (scalar / fractional(rng, (5,), dtype)).astype(dtype)
    return [
        ((off_multiples(rng, (3, 4), b, dtype), b), {}),
        ((small, b[:, :1]), {}),
        ((off_multiples(rng, (2, 3), scalar, dtype), scalar), {}),
        ((scalar, divisors), {}),
    ]


floor_divide = flat(
    "floor_divide",
    np.floor_divide,
    2,
    cheap=False,
    ufunc=np.floor_divide,
    samples=_divisions,
    errors=unequal_shapes,
)

# a = q b + r: d r / da = 1, d r / db = -q

remainder = elementwise(
    "remainder",
    np.remainder,
    True,
    lambda a, b: -floor_divide(a, b),
    cheap=False,
    ufunc=np.remainder,
    samples=_divisions,
    errors=unequal_shapes,
)

fmod = elementwise(
    "fmod",
    np.fmod,
    True,
    lambda o, a, b: rint((o - a) / b),  # a / b itself may round up to the next integer
    cheap=False,
    ufunc=np.fmod,
    samples=_divisions,
    errors=unequal_shapes,
)

ROWS = (floor, ceil, trunc, rint, floor_divide, remainder, fmod)
