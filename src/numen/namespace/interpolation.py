"""interp: a function given by points, evaluated between them.

Differentiates with respect to the places, the points and their values. Called by users; next:
`differences.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch import modes
from numen.dispatch.backends import module_of
from numen.dispatch.convert import as_array, operand
from numen.dispatch.core import ArrayCore
from numen.namespace.calling import composes, wrap_results
from numen.namespace.devices import beside
from numen.ops import table

__all__ = ["interp"]


@composes(np.interp)
def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    """The piecewise linear function through the points (xp, fp), at x.

    Parameters
    ----------
    x : array_like
        Where it is evaluated.
    xp : 1-D array_like
        Coordinates, increasing unless `period` is given.
    fp : 1-D array_like
        Values, real or complex.
    left, right : scalar, optional
        Values outside; by default the first and the last of `fp`.
    period : float, optional
        The function repeats after this distance.

    Raises
    ------
    ValueError
        If xp and fp differ in length, are not 1-D, or are empty; if `period` is 0.

    Examples
    --------
    >>> import numen as nm
    >>> nm.interp(2.5, [1, 2, 3], [3, 2, 0])
    np.float64(1.0)
    """
    values = as_array(fp)
    kinds = [as_array(a).dtype.kind for a in (x, xp, values)]
    if any([kind not in "biufc" for kind in kinds]) or "c" in kinds[:2]:
        return NotImplemented
    working = np.dtype(np.complex128 if values.dtype.kind == "c" else np.float64)
    given = (x, xp, fp)
    at, places = (beside(a, *given, dtype=np.float64) for a in (x, xp))
    values = beside(fp, *given, dtype=working)
    if places.ndim != 1 or values.ndim != 1 or places.shape != values.shape:
        return NotImplemented
    if places.shape[0] < 2:
        return NotImplemented
    if period is not None:
        if isinstance(period, ArrayCore) or not period:
            return NotImplemented
        period = abs(period)
        left = right = None
        at, places = table["remainder"](at, period), table["remainder"](places, period)
        order = table["argsort"](places, axis=0, kind=None)
        places = table["gather"](places, order, spec=(0,))
        values = table["gather"](values, order, spec=(0,))
        around = (places[-1:] - period, places, places[:1] + period)
        places = table["concatenate"](*around, axis=0)
        values = table["concatenate"](values[-1:], values, values[:1], axis=0)
    n = places.shape[0]
    stretch = _stretch_of(at, places[1:-1])
    low, high = _picked(places, stretch), _picked(places, stretch + 1)
    start, end = _picked(values, stretch), _picked(values, stretch + 1)
    slope = (end - start) / (high - low)
    knot = table["logical_and"](
        table["equal"](at, low), table["logical_not"](table["isfinite"](slope))
    )
    result = table["where"](knot, start, slope * (at - low) + start)
    result = table["where"](
        table["greater"](at, places[n - 1]),
        operand(values[n - 1] if right is None else right),
        result,
    )
    result = table["where"](
        table["less"](at, places[0]), operand(values[0] if left is None else left), result
    )
    return result if result.ndim else result[()]


def _stretch_of(at: Any, inner: Any) -> Any:
    """The number of inner points at or below each x: the stretch that it lies in."""
    if modes.ACTIVE and modes.state.recorder is not None:
        below = table["less_equal"](inner, at.reshape((*at.shape, 1)))
        return table["sum"](below, axis=(at.ndim,), keepdims=False)
    found = module_of(inner._d, at._d).searchsorted(inner._d, at._d, side="right")
    return wrap_results(found, "interp")


def _picked(a: Any, positions: Any) -> Any:
    """Elements of a 1-D array at positions of any shape, 0-d included."""
    if positions.ndim:
        return table["gather"](a, positions, spec=(0,))
    return table["gather"](a, positions.reshape((1,)), spec=(0,)).reshape(())
