"""The table of all primitives, put together from the families' ROWS.

Imported as `numen.ops.table`; also fills the places where the backward pass and view bookkeeping
look. A new row goes into its family's ROWS; nothing changes here. Next: `dtypes.py`, `kernels.py`.
"""

from __future__ import annotations

from numen.dispatch import slots
from numen.dispatch.primitive import Primitive
from numen.ops import (
    comparisons,
    elementwise,
    gathering,
    indexing,
    joining,
    kinks,
    linear_algebra,
    reductions,
    selection,
    shape,
)

FAMILIES = (
    elementwise,
    kinks,
    comparisons,
    selection,
    reductions,
    linear_algebra,
    shape,
    indexing,
    gathering,
    joining,
)

table: dict[str, Primitive] = {row.name: row for family in FAMILIES for row in family.ROWS}

slots.fill(**table)
