"""`numpy.lib.format`: the npy format in parts, on Arrays. `numen.save` and `load` use it whole."""

import numpy as np

from numen.namespace.borrowed import borrow

__getattr__, __dir__ = borrow(
    "numpy.lib.format",
    globals(),
    names=tuple([name for name in dir(np.lib.format) if not name.startswith("_")]),
    results_as_they_are=("open_memmap",),
)
