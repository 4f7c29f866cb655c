"""Comparisons: two operands in, bool out. Piecewise constant, so they have no derivative.

Called by Array's operators and by the rules of maximum, relu and the like. Next: `elementwise.py`.
"""

from __future__ import annotations

import numpy as np

from numen.dispatch.derived import elementwise
from numen.dispatch.primitive import Primitive
from numen.ops.samples import DType, Inputs, Rng, pairs, unequal_shapes


def _samples(rng: Rng, dtype: DType) -> Inputs:
    inputs = pairs(rng, dtype)
    (a, _), _ = inputs[0]
    return [*inputs, ((a, a.copy()), {})]


def _comparison(ufunc: np.ufunc) -> Primitive:
    return elementwise(
        ufunc.__name__, ufunc, None, None, ufunc=ufunc, samples=_samples, errors=unequal_shapes
    )


equal = _comparison(np.equal)
not_equal = _comparison(np.not_equal)
less = _comparison(np.less)
less_equal = _comparison(np.less_equal)
greater = _comparison(np.greater)
greater_equal = _comparison(np.greater_equal)

ROWS = (equal, not_equal, less, less_equal, greater, greater_equal)
