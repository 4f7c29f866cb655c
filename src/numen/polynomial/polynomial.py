"""`numpy.polynomial.polynomial`: functions of the coefficients of power series."""

from numen.polynomial.evaluating import evaluating, series

_SOURCE = "numpy.polynomial.polynomial"

polyval = evaluating(_SOURCE, "polyval")

__getattr__, __dir__ = series(_SOURCE, globals(), "Polynomial")
