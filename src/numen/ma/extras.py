"""`numpy.ma.extras`: functions of masked arrays along axes."""

from numen.namespace.borrowed import borrow

__getattr__, __dir__ = borrow("numpy.ma.extras", globals(), unlisted=True)
