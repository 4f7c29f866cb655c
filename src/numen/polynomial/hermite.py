"""`numpy.polynomial.hermite`: functions of the coefficients of Hermite series."""

from numen.polynomial.evaluating import evaluating, series

_SOURCE = "numpy.polynomial.hermite"

hermval = evaluating(_SOURCE, "hermval")

__getattr__, __dir__ = series(_SOURCE, globals(), "Hermite")
