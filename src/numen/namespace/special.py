"""Special functions that are no ufuncs: sinc and the Bessel function i0.

NumPy computes plain calls; recorded ones are composed so that their derivatives are good too. Next:
`differences.py`.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from numen.dispatch.convert import as_array
from numen.namespace.calling import composes
from numen.namespace.ufuncs import absolute, exp, sqrt
from numen.ops import table

__all__ = ["i0", "sinc"]

NEAR = 0.02
"""|pi x| below which `sinc` is its series: sin(y) / y has useless derivatives there."""


@composes(np.sinc)
def sinc(x: Any) -> Any:
    """sin(pi x) / (pi x), and 1 at 0.

    Examples
    --------
    >>> import numen as nm
    >>> nm.sinc(nm.array([0.0, 0.5]))
    array([1.        , 0.63661977])
    """
    y = as_array(x) * np.pi
    if y._d.dtype.kind not in "fc":
        return NotImplemented
    near = table["less"](table["absolute"](y), NEAR)
    s = y * y
    series = 1 - s / 6 * (1 - s / 20 * (1 - s / 42))
    far = table["where"](near, 1, y)
    result = table["where"](near, series, table["sin"](far) / far)
    return result if result._d.ndim else result[()]


@composes(np.i0)
def i0(x: Any) -> Any:
    """The modified Bessel function of the first kind, order 0.

    Recorded calls sum two Chebyshev series, below 8 and above (Clenshaw 1962).

    Examples
    --------
    >>> import numen as nm
    >>> nm.i0(0.0)
    array(1.)
    """
    a = as_array(x)
    if a._d.dtype.kind not in "biuf":
        return NotImplemented
    size = absolute(a if a._d.dtype.kind == "f" else a.astype(np.float64))
    small = table["less_equal"](size, 8.0)
    near = table["where"](small, size, 1)
    far = table["where"](small, 9, size)
    below, above = _bessel_series()
    low = exp(near) * _clenshaw(near / 2.0 - 2.0, below)
    high = exp(far) * _clenshaw(32.0 / far - 2.0, above) / sqrt(far)
    return table["where"](small, low, high)


@functools.cache
def _bessel_series() -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Chebyshev coefficients of exp(-z) I0(z), with u = z/2 - 2, and of sqrt(z) times it, with
    u = 32/z - 2, for u in [-2, 2]."""
    angles = np.pi * (np.arange(40) + 0.5) / 40
    u = 2 * np.cos(angles)
    # I0(z) is the mean of exp(z cos t) over a turn: the midpoint rule is exact to rounding
    turn = np.cos(np.pi * (np.arange(2000) + 0.5) / 2000) - 1
    to_coefficients = np.cos(np.multiply.outer(np.arange(30), angles)) / 20
    below, above = 2 * u + 4, 32 / (u + 2)
    scaled = [np.exp(np.multiply.outer(z, turn)).mean(axis=1) for z in (below, above)]
    first = to_coefficients @ scaled[0]
    second = to_coefficients @ (scaled[1] * np.sqrt(above))
    return tuple(first.tolist()), tuple(second.tolist())


def _clenshaw(u: Any, coefficients: tuple[float, ...]) -> Any:
    """The Chebyshev series at u, which runs over [-2, 2]."""
    b0: Any = coefficients[-1]
    b1: Any = 0.0
    b2: Any = 0.0
    for c in coefficients[-2::-1]:
        b2, b1 = b1, b0
        b0 = u * b1 - b2 + c
    return (b0 - b2) * 0.5
