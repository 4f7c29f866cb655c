"""`numpy.emath`: the functions of `numen.lib.scimath`, under their other name."""

from numen.lib.scimath import arccos, arcsin, arctanh, log, log2, log10, logn, power, sqrt

__all__ = ["sqrt", "log", "log2", "logn", "log10", "power", "arccos", "arcsin", "arctanh"]
