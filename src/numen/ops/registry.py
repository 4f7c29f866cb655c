"""The table of all primitives, put together from the families' ROWS.

Every ufunc of one result has its row under the ufunc's `__name__`; of those with two, the parts
have one each: floor_divide and remainder, modf_fraction and modf_integer, frexp_mantissa and
frexp_exponent.

Imported as `numen.ops.table`; also fills the places where the backward pass and view bookkeeping
look. A new row goes into its family's ROWS; nothing changes here. Next: `dtypes.py`, `kernels.py`.
"""

from __future__ import annotations

from numen.dispatch import slots
from numen.dispatch.primitive import Primitive
from numen.ops import (
    activations,
    comparisons,
    complex_parts,
    convolution,
    cumulative,
    determinants,
    draws,
    eigen,
    elementwise,
    exponential,
    factors,
    filters,
    floats,
    fourier,
    gathering,
    indexing,
    integers,
    joining,
    kinks,
    linear_algebra,
    logical,
    lookup,
    losses,
    masked,
    matrices,
    matrix_functions,
    normalization,
    norms,
    ordering,
    orthogonal,
    pooling,
    powers,
    reductions,
    rounding,
    scans,
    selection,
    shape,
    small_floats,
    softmax,
    spectra,
    trigonometric,
    vectors,
    window_sums,
)

FAMILIES = (
    elementwise,
    masked,
    powers,
    exponential,
    trigonometric,
    rounding,
    floats,
    complex_parts,
    kinks,
    comparisons,
    logical,
    integers,
    selection,
    reductions,
    linear_algebra,
    matrices,
    determinants,
    factors,
    orthogonal,
    norms,
    spectra,
    eigen,
    matrix_functions,
    fourier,
    vectors,
    shape,
    indexing,
    gathering,
    joining,
    filters,
    cumulative,
    ordering,
    softmax,
    losses,
    scans,
    activations,
    normalization,
    convolution,
    window_sums,
    pooling,
    lookup,
    draws,
)

table: dict[str, Primitive] = {row.name: row for family in FAMILIES for row in family.ROWS}

for _row in table.values():
    small_floats.extend(_row)

slots.fill(**table)
