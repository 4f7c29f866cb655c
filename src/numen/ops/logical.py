"""Logic of elements, each of which is true unless it is zero: bool out, no derivative.

Next: `integers.py`.
"""

from __future__ import annotations

import numpy as np

from numen.dispatch.derived import elementwise
from numen.dispatch.primitive import Primitive
from numen.ops.samples import pairs, singles, text_operand, unequal_shapes


def _binary(ufunc: np.ufunc) -> Primitive:
    return elementwise(
        ufunc.__name__, ufunc, None, None, ufunc=ufunc, samples=pairs, errors=unequal_shapes
    )


logical_and = _binary(np.logical_and)
logical_or = _binary(np.logical_or)
logical_xor = _binary(np.logical_xor)
logical_not = elementwise(
    "logical_not", np.logical_not, None, ufunc=np.logical_not, samples=singles, errors=text_operand
)

ROWS = (logical_and, logical_or, logical_xor, logical_not)
