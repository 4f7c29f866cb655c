"""`numpy.ma`: masked arrays. They stay NumPy's own, on host memory, without gradients.

The modules of this package are NumPy's, too, loaded when they are asked for. Next:
`namespace/borrowed.py`.
"""

import importlib
from typing import Any

from numen.namespace.borrowed import borrow

MODULES = ("core", "extras", "mrecords", "testutils")

MASKS = ("getmask", "get_mask", "make_mask", "mask_or")
"""Functions whose result may be the constant `nomask`."""

_get, __dir__ = borrow("numpy.ma", globals(), constants=dict.fromkeys(MASKS, "nomask"))


def __getattr__(name: str) -> Any:
    if name in MODULES:
        return importlib.import_module(f"numen.ma.{name}")
    return _get(name)
