"""`numpy.lib.scimath`: the functions of `numen.emath`, under their other name."""

from numen.emath import arccos, arcsin, arctanh, log, log2, log10, logn, power, sqrt

__all__ = ["sqrt", "log", "log2", "logn", "log10", "power", "arccos", "arcsin", "arctanh"]
