"""`numpy.char`: functions on arrays of text, and the older class `chararray`.

New programs use `numen.strings`.
"""

from numen.namespace.borrowed import borrow

__getattr__, __dir__ = borrow("numpy.char", globals(), results_as_they_are=("array", "asarray"))
