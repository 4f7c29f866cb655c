"""`numpy.ma.testutils`: assertions that know masks."""

from numen.namespace.borrowed import borrow

__getattr__, __dir__ = borrow("numpy.ma.testutils", globals(), unlisted=True)
