"""`numpy.lib.scimath`: the functions of `numen.emath`, under their other name."""

from numen.namespace.borrowed import borrow

__getattr__, __dir__ = borrow("numpy.lib.scimath", globals())
