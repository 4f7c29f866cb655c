"""`numpy.polynomial.chebyshev`: functions of the coefficients of Chebyshev series."""

from numen.polynomial.evaluating import evaluating, series

_SOURCE = "numpy.polynomial.chebyshev"

chebval = evaluating(_SOURCE, "chebval")

__getattr__, __dir__ = series(_SOURCE, globals(), "Chebyshev")
