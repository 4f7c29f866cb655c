"""`numpy.polynomial.polynomial`: functions of the coefficients of power series."""

from numen.polynomial.evaluating import evaluating, series
from numen.polynomial.roots import polyroots as polyroots

_SOURCE = "numpy.polynomial.polynomial"

polyval = evaluating(_SOURCE, "polyval")

__getattr__, __dir__ = series(_SOURCE, globals(), "Polynomial")
