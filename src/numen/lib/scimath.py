"""`numpy.lib.scimath`: functions that leave the real numbers where their argument demands it.

Where an element is outside the function's real domain the whole argument becomes complex. NumPy
computes plain calls; recorded ones are composed, hence with gradients. Also `numen.emath`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch.convert import as_array
from numen.namespace import ufuncs
from numen.namespace.calling import composes
from numen.namespace.reducing import numeric, somewhere

__all__ = ["sqrt", "log", "log2", "logn", "log10", "power", "arccos", "arcsin", "arctanh"]


def _complex(x: Any) -> Any:
    """x as complex numbers, single ones for what fits into them."""
    return x.astype(np.complex64 if x._d.dtype.char in "fbhBHF" else np.complex128)


def _from_negative(value: Any) -> Any:
    """An Array, complex where an element is negative; NotImplemented of what is no number."""
    x = as_array(value)
    if not numeric(x):
        return NotImplemented
    return _complex(x) if x._d.dtype.kind != "c" and somewhere(x < 0) else x


def _from_outside(value: Any) -> Any:
    """An Array, complex where an element is outside [-1, 1]."""
    x = as_array(value)
    if not numeric(x):
        return NotImplemented
    return _complex(x) if x._d.dtype.kind != "c" and somewhere(abs(x) > 1) else x


def _applied(function: Any, x: Any) -> Any:
    return x if x is NotImplemented else function(x)


@composes(np.emath.sqrt)
def sqrt(x: Any) -> Any:
    """The square root; complex where an element is negative.

    Examples
    --------
    >>> import numen as nm
    >>> nm.emath.sqrt([1, -4])
    array([1.+0.j, 0.+2.j])
    """
    return _applied(ufuncs.sqrt, _from_negative(x))


@composes(np.emath.log)
def log(x: Any) -> Any:
    """The natural logarithm; complex where an element is negative."""
    return _applied(ufuncs.log, _from_negative(x))


@composes(np.emath.log10)
def log10(x: Any) -> Any:
    """The logarithm to base 10; complex where an element is negative."""
    return _applied(ufuncs.log10, _from_negative(x))


@composes(np.emath.log2)
def log2(x: Any) -> Any:
    """The logarithm to base 2; complex where an element is negative."""
    return _applied(ufuncs.log2, _from_negative(x))


@composes(np.emath.logn)
def logn(n: Any, x: Any) -> Any:
    """The logarithm of `x` to base `n`; complex where an element is negative.

    Examples
    --------
    >>> import numen as nm
    >>> nm.emath.logn(2, [4, 8])
    array([2., 3.])
    """
    value, base = _from_negative(x), _from_negative(n)
    if value is NotImplemented or base is NotImplemented:
        return NotImplemented
    return ufuncs.log(value) / ufuncs.log(base)


@composes(np.emath.power)
def power(x: Any, p: Any) -> Any:
    """x to the power of p; complex where an element of x is negative.

    Examples
    --------
    >>> import numen as nm
    >>> nm.emath.power([2, 4], -2)
    array([0.25  , 0.0625])
    """
    base, exponent = _from_negative(x), as_array(p)
    if base is NotImplemented or not numeric(exponent):
        return NotImplemented
    if exponent._d.dtype.kind != "c" and somewhere(exponent < 0):
        exponent = exponent * 1.0  # integers have no negative powers
    return ufuncs.power(base, exponent)


@composes(np.emath.arccos)
def arccos(x: Any) -> Any:
    """The angle of a cosine; complex where an element is outside [-1, 1]."""
    return _applied(ufuncs.arccos, _from_outside(x))


@composes(np.emath.arcsin)
def arcsin(x: Any) -> Any:
    """The angle of a sine; complex where an element is outside [-1, 1]."""
    return _applied(ufuncs.arcsin, _from_outside(x))


@composes(np.emath.arctanh)
def arctanh(x: Any) -> Any:
    """The inverse of tanh; complex where an element is outside [-1, 1]."""
    return _applied(ufuncs.arctanh, _from_outside(x))
