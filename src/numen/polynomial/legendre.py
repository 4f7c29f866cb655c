"""`numpy.polynomial.legendre`: functions of the coefficients of Legendre series."""

from numen.polynomial.evaluating import evaluating, series

_SOURCE = "numpy.polynomial.legendre"

legval = evaluating(_SOURCE, "legval")

__getattr__, __dir__ = series(_SOURCE, globals(), "Legendre")
