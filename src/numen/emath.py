"""`numpy.emath`: functions that leave the real numbers where their argument demands it."""

from numen.namespace.borrowed import borrow

__getattr__, __dir__ = borrow("numpy.lib.scimath", globals())
