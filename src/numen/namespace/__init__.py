"""NumPy's functions and the class `Array`, over the rows in `ops`.

`array.py` is the class (`access.py` its indexing, `methods.py` its methods, `operators.py` its
operators, `protocols.py` what other libraries ask of it); the other files hold functions by family.
`calling.py` says how a function runs: NumPy's own on plain arrays, rows where a gradient or a trace
is concerned. `numen` re-exports `__all__`.
"""

from numen.namespace import (
    creation,
    dtypes,
    logic,
    manipulation,
    pointwise,
    products,
    reductions,
    selecting,
    sorting,
    types,
    ufuncs,
)
from numen.namespace.array import Array
from numen.namespace.creation import *  # noqa: F403
from numen.namespace.dtypes import *  # noqa: F403
from numen.namespace.logic import *  # noqa: F403
from numen.namespace.manipulation import *  # noqa: F403
from numen.namespace.pointwise import *  # noqa: F403
from numen.namespace.products import *  # noqa: F403
from numen.namespace.reductions import *  # noqa: F403
from numen.namespace.selecting import *  # noqa: F403
from numen.namespace.sorting import *  # noqa: F403
from numen.namespace.types import *  # noqa: F403
from numen.namespace.ufuncs import *  # noqa: F403

FAMILIES = (
    dtypes,
    types,
    creation,
    ufuncs,
    reductions,
    logic,
    manipulation,
    selecting,
    sorting,
    pointwise,
    products,
)
"""The files of functions; each lists its public names in `__all__`."""

__all__ = ["Array"]
for _family in FAMILIES:
    __all__ += _family.__all__
