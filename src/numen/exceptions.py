"""`numpy.exceptions`: NumPy's exceptions and warnings. numen's own are in `errors.py`."""

from numpy.exceptions import *  # noqa: F403
from numpy.exceptions import RankWarning as RankWarning
from numpy.exceptions import __all__ as _listed

__all__ = sorted({*_listed, "RankWarning"})
