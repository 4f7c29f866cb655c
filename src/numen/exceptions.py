"""`numpy.exceptions`: NumPy's exceptions and warnings. numen's own are in `errors.py`."""

from numpy.exceptions import *  # noqa: F403
from numpy.exceptions import __all__ as __all__
