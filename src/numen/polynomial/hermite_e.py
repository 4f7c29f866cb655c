"""`numpy.polynomial.hermite_e`: functions of the coefficients of probabilists' Hermite series."""

from numen.polynomial.evaluating import evaluating, series

_SOURCE = "numpy.polynomial.hermite_e"

hermeval = evaluating(_SOURCE, "hermeval")

__getattr__, __dir__ = series(_SOURCE, globals(), "HermiteE")
