"""NumPy's package of polynomials on Arrays: `numpy.polynomial` under the same names.

The classes are NumPy's with coefficients on the host, and evaluate Arrays to Arrays, with
gradients. The modules' functions (`chebyshev.chebfit` ...) take and return Arrays. numpy.polynomial
loads when a name is first asked for. Next: `evaluating.py`.
"""

import importlib

from numen.polynomial import (
    chebyshev,
    hermite,
    hermite_e,
    laguerre,
    legendre,
    polynomial,
)
from numen.polynomial import polyutils as polyutils

_MODULES = {
    "Chebyshev": chebyshev,
    "Hermite": hermite,
    "HermiteE": hermite_e,
    "Laguerre": laguerre,
    "Legendre": legendre,
    "Polynomial": polynomial,
}
"""Where each class lives."""

__all__ = [*_MODULES, "set_default_printstyle"]
__all__ += ["chebyshev", "hermite", "hermite_e", "laguerre", "legendre", "polynomial"]


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return getattr(_MODULES[name], name)
    if name == "set_default_printstyle":
        return importlib.import_module("numpy.polynomial").set_default_printstyle
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "polyutils"]
