"""`numpy.ma.core`: masked arrays and what works element by element."""

from numen.ma import MASKS
from numen.namespace.borrowed import borrow

__getattr__, __dir__ = borrow(
    "numpy.ma.core",
    globals(),
    constants=dict.fromkeys(MASKS, "nomask"),
    unlisted=True,
)
