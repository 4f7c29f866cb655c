"""`numpy.strings`: functions on arrays of text, element by element."""

from numen.namespace.borrowed import borrow

__getattr__, __dir__ = borrow("numpy.strings", globals())
