"""`numpy.lib.recfunctions`: functions of the fields of structured arrays, on Arrays."""

from numen.namespace.borrowed import borrow

__getattr__, __dir__ = borrow("numpy.lib.recfunctions", globals())
