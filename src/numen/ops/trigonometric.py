"""Sines, angles and hyperbolic functions, with their inverses.

Rows of a ufunc and its partial derivatives; at the origin, where arctan2 and hypot have none, the
gradient is 0. Angles are in radians unless the name says degrees. Next: `exponential.py`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numen.dispatch.derived import elementwise
from numen.dispatch.primitive import Primitive
from numen.ops.comparisons import equal
from numen.ops.elementwise import sqrt
from numen.ops.samples import (
    between,
    nonzero_pairs,
    singles,
    text_operand,
    unequal_shapes,
)
from numen.ops.selection import where


def _unary(ufunc: np.ufunc, partial: Any, samples: Any = singles) -> Primitive:
    return elementwise(
        ufunc.__name__,
        ufunc,
        partial,
        exact=False,
        ufunc=ufunc,
        samples=samples,
        errors=text_operand,
    )


INSIDE = between(-0.9, 0.9)
"""Operands inside [-1, 1], away from its ends, where slopes are infinite."""

# Of an angle

sin = _unary(np.sin, lambda a: cos(a))
cos: Primitive = _unary(np.cos, lambda a: -sin(a))
tan = _unary(np.tan, lambda o: 1.0 + o * o, between(-1.2, 1.2))

# To an angle; (1 - a) (1 + a) keeps the digits that 1 - a**2 loses near 1


def _cosine(a: Any) -> Any:
    """sqrt(1 - a**2), the cosine of an angle whose sine is `a`."""
    if a.dtype.kind == "c":  # the sign of a zero imaginary part tells the sides of the branch cuts
        return sqrt(-(a - 1.0) * (1.0 + a))
    return sqrt((1.0 - a) * (1.0 + a))


arcsin = _unary(np.arcsin, lambda a: 1.0 / _cosine(a), INSIDE)
arccos = _unary(np.arccos, lambda a: -1.0 / _cosine(a), INSIDE)
arctan = _unary(np.arctan, lambda a: 1.0 / (1.0 + a * a))


def _distance(a: Any, b: Any) -> Any:
    """hypot(a, b), 1 at the origin, so that it can divide."""
    h = hypot(a, b)
    return where(equal(h, 0), 1, h)


def _arctan2_by_first(a: Any, b: Any) -> Any:
    """b / (a**2 + b**2), in two steps that don't overflow."""
    h = _distance(a, b)
    return b / h / h


def _arctan2_by_second(a: Any, b: Any) -> Any:
    h = _distance(a, b)
    return -(a / h / h)


arctan2 = elementwise(
    "arctan2",
    np.arctan2,
    _arctan2_by_first,
    _arctan2_by_second,
    exact=False,
    ufunc=np.arctan2,
    samples=nonzero_pairs,
    errors=unequal_shapes,
)

hypot = elementwise(
    "hypot",
    np.hypot,
    lambda o, a: a / where(equal(o, 0), 1, o),
    lambda o, b: b / where(equal(o, 0), 1, o),
    exact=False,
    ufunc=np.hypot,
    samples=nonzero_pairs,
    errors=unequal_shapes,
)

# Hyperbolic


def _arcsinh_slope(a: Any) -> Any:
    if a.dtype.kind == "c":  # hypot has no complex numbers, and needs none here
        return 1.0 / sqrt((1.0 - 1j * a) * (1.0 + 1j * a))
    return 1.0 / hypot(a, 1.0)


sinh = _unary(np.sinh, lambda a: cosh(a))
cosh: Primitive = _unary(np.cosh, lambda a: sinh(a))
arcsinh = _unary(np.arcsinh, _arcsinh_slope)
arccosh = _unary(np.arccosh, lambda a: 1.0 / (sqrt(a - 1.0) * sqrt(a + 1.0)), between(1.25, 3.0))
arctanh = _unary(np.arctanh, lambda a: 1.0 / ((1.0 - a) * (1.0 + a)), INSIDE)

# Degrees and radians


def _scaling(ufunc: np.ufunc, factor: float) -> Primitive:
    return elementwise(
        ufunc.__name__,
        ufunc,
        lambda: factor,
        ufunc=ufunc,
        samples=singles,
        errors=text_operand,
    )


degrees = _scaling(np.degrees, 180.0 / math.pi)
rad2deg = _scaling(np.rad2deg, 180.0 / math.pi)
radians = _scaling(np.radians, math.pi / 180.0)
deg2rad = _scaling(np.deg2rad, math.pi / 180.0)

ROWS = (
    *(sin, cos, tan, arcsin, arccos, arctan, arctan2, hypot),
    *(sinh, cosh, arcsinh, arccosh, arctanh, degrees, rad2deg, radians, deg2rad),
)
