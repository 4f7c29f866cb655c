"""`numpy.polynomial.polyutils`: what the modules of polynomials share, on Arrays."""

from numen.namespace.borrowed import borrow

__getattr__, __dir__ = borrow("numpy.polynomial.polyutils", globals())
