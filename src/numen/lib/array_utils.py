"""`numpy.lib.array_utils`: bounds of memory and normalized axes, of Arrays."""

from numen.namespace.borrowed import borrow

__getattr__, __dir__ = borrow("numpy.lib.array_utils", globals())
