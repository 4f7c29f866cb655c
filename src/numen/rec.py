"""`numpy.rec`: record arrays, which stay NumPy's `recarray`."""

from numen.namespace.borrowed import borrow

__getattr__, __dir__ = borrow("numpy.rec", globals())
