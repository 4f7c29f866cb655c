"""The roots of a power series, whose gradients flow to its coefficients.

Composed of `numen.roots` with the coefficients turned round. Next: `namespace/polynomials.py`.
"""

from __future__ import annotations

import importlib
from typing import Any

from numen.dispatch.core import ArrayCore
from numen.namespace.calling import on_backend, recorded, run_host
from numen.namespace.polynomials import roots
from numen.namespace.sorting import sort


def polyroots(c: Any) -> Any:
    """The roots of a power series, sorted.

    Gradients flow where neither the first nor the last coefficient is 0 and no root is double. See
    `numpy.polynomial.polynomial.polyroots`.

    >>> from numen.polynomial.polynomial import polyroots
    >>> polyroots([2.0, -3.0, 1.0])
    array([1., 2.])
    """
    given: Any = c
    if isinstance(c, ArrayCore) and (recorded((c,), {}) or on_backend((c,), {})):
        found = roots.composition(given[::-1] if given.ndim == 1 else c)  # type: ignore[attr-defined]
        if found is not NotImplemented:
            return sort(found)
    function = importlib.import_module("numpy.polynomial.polynomial").polyroots
    return run_host(function, "polyroots", (c,), {})
