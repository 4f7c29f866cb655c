"""`numpy.polynomial.laguerre`: functions of the coefficients of Laguerre series."""

from numen.polynomial.evaluating import evaluating, series

_SOURCE = "numpy.polynomial.laguerre"

lagval = evaluating(_SOURCE, "lagval")

__getattr__, __dir__ = series(_SOURCE, globals(), "Laguerre")
