"""Every operation of torch's table: numen's counterpart, or why there is none.

`COUNTERPARTS` gathers the tables of the files beside this one. Next: `pointwise.py`.
"""

from __future__ import annotations

from typing import Any

from tests.oracle.arrangement import ARRANGEMENT
from tests.oracle.decompositions import DECOMPOSITIONS
from tests.oracle.joining import JOINING
from tests.oracle.linear_algebra import LINEAR_ALGEBRA
from tests.oracle.network import NETWORK
from tests.oracle.pointwise import POINTWISE
from tests.oracle.reductions import REDUCTIONS
from tests.oracle.selection import SELECTION

COUNTERPARTS: dict[str, Any] = {
    **POINTWISE,
    **ARRANGEMENT,
    **JOINING,
    **SELECTION,
    **REDUCTIONS,
    **LINEAR_ALGEBRA,
    **DECOMPOSITIONS,
    **NETWORK,
}
