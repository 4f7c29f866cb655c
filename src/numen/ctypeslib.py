"""`numpy.ctypeslib`: arrays and C functions through ctypes."""

from numen.namespace.borrowed import borrow

__getattr__, __dir__ = borrow(
    "numpy.ctypeslib", globals(), as_they_are=("load_library",), results_as_they_are=("as_ctypes",)
)
