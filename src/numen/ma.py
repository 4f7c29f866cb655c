"""`numpy.ma`: masked arrays. They stay NumPy's own, on host memory, without gradients."""

from numen.namespace.borrowed import borrow

__getattr__, __dir__ = borrow("numpy.ma", globals())
