"""Integers: bits, shifts, common divisors and multiples. They have no derivative.

Next: `selection.py`.
"""

from __future__ import annotations

import numpy as np

from numen.dispatch.derived import elementwise
from numen.dispatch.primitive import Primitive
from numen.ops.samples import (
    DType,
    Errors,
    Inputs,
    Rng,
    fractions,
    pairs,
    singles,
)


def _shifts(rng: Rng, dtype: DType) -> Inputs:
    return pairs(rng, dtype, 0.0, 5.0)


def _small(rng: Rng, dtype: DType) -> Inputs:
    return pairs(rng, dtype, -9.0, 9.0)


def _binary(ufunc: np.ufunc, samples: object = pairs) -> Primitive:
    return elementwise(
        ufunc.__name__, ufunc, None, None, ufunc=ufunc, samples=samples, errors=fractions
    )


def _fraction() -> Errors:
    return [((np.ones(3),), {}, TypeError)]


bitwise_and = _binary(np.bitwise_and)
bitwise_or = _binary(np.bitwise_or)
bitwise_xor = _binary(np.bitwise_xor)
left_shift = _binary(np.left_shift, _shifts)
right_shift = _binary(np.right_shift, _shifts)
gcd = _binary(np.gcd, _small)
lcm = _binary(np.lcm, _small)
invert = elementwise("invert", np.invert, None, ufunc=np.invert, samples=singles, errors=_fraction)
bitwise_count = elementwise(
    "bitwise_count",
    np.bitwise_count,
    None,
    ufunc=np.bitwise_count,
    samples=singles,
    errors=_fraction,
)

ROWS = (
    *(bitwise_and, bitwise_or, bitwise_xor, left_shift, right_shift),
    *(gcd, lcm, invert, bitwise_count),
)
