"""`numpy.ma.mrecords`: records with masked fields."""

from numen.namespace.borrowed import borrow

__getattr__, __dir__ = borrow("numpy.ma.mrecords", globals(), unlisted=True)
