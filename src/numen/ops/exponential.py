"""Exponentials and logarithms to every base, and sums of what is given by its logarithm.

`exp` and `log` themselves are in `elementwise.py`. Next: `powers.py`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numen.dispatch.derived import elementwise
from numen.dispatch.primitive import Primitive
from numen.ops.comparisons import equal
from numen.ops.elementwise import exp
from numen.ops.samples import (
    DType,
    Inputs,
    Rng,
    between,
    pairs,
    singles,
    text_operand,
    unequal_shapes,
)
from numen.ops.selection import where

LN2 = math.log(2.0)
LN10 = math.log(10.0)


def _unary(ufunc: np.ufunc, partial: Any, samples: Any = singles) -> Primitive:
    return elementwise(
        ufunc.__name__,
        ufunc,
        partial,
        exact=False,
        ufunc=ufunc,
        samples=samples,
        errors=text_operand,
    )


def _positive(rng: Rng, dtype: DType) -> Inputs:
    return singles(rng, dtype, 1.0 if dtype.kind in "iu" else 0.5, 3.0)


exp2 = _unary(np.exp2, lambda o: o * LN2)
expm1 = _unary(np.expm1, lambda o: o + 1.0)
log2 = _unary(np.log2, lambda a: 1.0 / (a * LN2), _positive)
log10 = _unary(np.log10, lambda a: 1.0 / (a * LN10), _positive)
log1p = _unary(np.log1p, lambda a: 1.0 / (1.0 + a), between(-0.5, 2.0))


def _sum_of_powers(ufunc: np.ufunc, power: Primitive, half: float) -> Primitive:
    """log(base**a + base**b): the derivative is an operand's share of the sum.

    `half` is minus the logarithm of one half. Equal infinities share evenly: their difference is
    not taken, for it would be NaN.
    """

    def share(o: Any, a: Any, b: Any) -> Any:
        whole = equal(a, o)
        total = where(whole * equal(a, b), half, where(whole, 0, o))
        return power(where(whole, 0, a) - total)

    return elementwise(
        ufunc.__name__,
        ufunc,
        share,
        lambda o, a, b: share(o, b, a),
        exact=False,
        ufunc=ufunc,
        samples=pairs,
        errors=unequal_shapes,
    )


logaddexp = _sum_of_powers(np.logaddexp, exp, LN2)
logaddexp2 = _sum_of_powers(np.logaddexp2, exp2, 1.0)

ROWS = (exp2, expm1, log2, log10, log1p, logaddexp, logaddexp2)
