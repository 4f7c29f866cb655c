"""NumPy's functions and the class `Array`, over the rows in `ops`.

`array.py` is the class; `creation.py` makes arrays, `functions.py` computes on them, `dtypes.py`
holds names of dtypes and constants. `numen` re-exports `__all__`. A function checks its arguments
as NumPy does and calls one primitive.
"""

from numen.namespace import creation, dtypes, functions
from numen.namespace.array import Array
from numen.namespace.creation import *  # noqa: F403
from numen.namespace.dtypes import *  # noqa: F403
from numen.namespace.functions import *  # noqa: F403

__all__ = ["Array"]
__all__ += creation.__all__
__all__ += functions.__all__
__all__ += dtypes.__all__
