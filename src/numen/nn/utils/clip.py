"""Clipping of gradients: by their common norm, or element by element.

Called between `backward()` and the optimiser's step. Written with numen's functions and without
looking at values, so a traced step compiles; norms neither overflow nor underflow. Next:
`convert.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from numen.dispatch.core import ArrayCore
from numen.dispatch.modes import no_grad
from numen.errors import GradientError
from numen.namespace import abs, array, isfinite, maximum, minimum, sqrt, where
from numen.namespace.dtypes import float32


def get_total_norm(
    tensors: Any, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: Any = None
) -> Any:
    """The norm of some arrays as if they were one vector.

    Parameters
    ----------
    tensors : Array, or iterable of Array
        Of any shapes.
    norm_type : float
        Its order, positive or inf.
    error_if_nonfinite : bool
        Refuse a norm that is inf or NaN.
    foreach : object
        Taken for PyTorch's sake.

    Returns
    -------
    Array
        0-d, in the widest of the dtypes and float32; 0 where there is nothing.

    Raises
    ------
    GradientError
        If the norm is not finite, and that is to be an error.
    ValueError
        If norm_type is not positive.

    Examples
    --------
    >>> import numen as nm
    >>> nm.nn.utils.get_total_norm([nm.array([3.0]), nm.array([[4.0, 0.0]])])
    np.float64(5.0)
    """
    given = [tensors] if isinstance(tensors, ArrayCore) else list(tensors)
    with no_grad():
        return _norm(given, float(norm_type), error_if_nonfinite, "get_total_norm")


def clip_grad_norm_(
    parameters: Any,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: Any = None,
) -> Any:
    """Scale gradients down, in place, so that their common norm is at most `max_norm`.

    Gradients whose norm is inf or NaN are left as they are.

    Parameters
    ----------
    parameters : Array, or iterable of Array
        Those without a gradient are passed over.
    max_norm : float
        The bound.
    norm_type, error_if_nonfinite, foreach
        As for `get_total_norm`.

    Returns
    -------
    Array
        The norm before, 0-d.

    Raises
    ------
    GradientError
        If the norm is not finite, and that is to be an error; no gradient has changed then.

    Examples
    --------
    >>> import numen as nm
    >>> w = nm.array([1.0, 1.0], requires_grad=True)
    >>> (w * nm.array([3.0, 4.0])).sum().backward()
    >>> nm.nn.utils.clip_grad_norm_([w], max_norm=1.0)
    np.float64(5.0)
    >>> [round(g, 5) for g in w.grad.tolist()]
    [0.6, 0.8]
    """
    with no_grad():
        gradients = _gradients(parameters)
        norm = _norm(gradients, float(norm_type), error_if_nonfinite, "clip_grad_norm_")
        # NaN and inf give 1. The small number keeps 0 / 0 away, as in PyTorch's formula.
        factor = where(isfinite(norm), minimum(max_norm / (norm + 1e-6), 1.0), 1.0)
        for g in gradients:
            g *= factor.astype(g.dtype) if factor.dtype != g.dtype else factor
    return norm


def clip_grad_value_(parameters: Any, clip_value: float, foreach: Any = None) -> None:
    """Bring each element of the gradients into [-clip_value, clip_value], in place.

    Examples
    --------
    >>> import numen as nm
    >>> w = nm.array([1.0, 1.0], requires_grad=True)
    >>> (w * nm.array([3.0, -4.0])).sum().backward()
    >>> nm.nn.utils.clip_grad_value_([w], 3.5)
    >>> w.grad.tolist()
    [3.0, -3.5]
    """
    with no_grad():
        for g in _gradients(parameters):
            for part in (g.real, g.imag) if g.dtype.kind == "c" else (g,):
                minimum(part, clip_value, out=part)
                maximum(part, -clip_value, out=part)


def _gradients(parameters: Any) -> list[Any]:
    given: Iterable[Any] = [parameters] if isinstance(parameters, ArrayCore) else parameters
    return [g for g in [p.grad for p in given] if g is not None]


def _norm(arrays: list[Any], order: float, error_if_nonfinite: bool, op: str) -> Any:
    """The norm, from elements divided by the largest: no square then overflows or vanishes."""
    if not order > 0:
        raise ValueError(f"{op}: expected a positive norm_type, got {order}")
    arrays = [abs(a) if a.dtype.kind == "c" else a for a in arrays]
    dtype = np.result_type(float32, *[a.dtype for a in arrays]) if arrays else np.dtype(float32)
    sized = [a for a in arrays if a.size]
    if not sized:
        return array(0.0, dtype)[()]
    wide = [a if a.dtype == dtype else a.astype(dtype) for a in sized]
    largest = _fold(maximum, [abs(a).max() for a in wide])
    norm = largest
    if order != np.inf:
        usable = isfinite(largest) & (largest > 0)
        unit = where(usable, largest, 1.0).astype(dtype)
        norm = unit * _root(_fold(_add, [_powers(a / unit, order) for a in wide]), order)
    if error_if_nonfinite and not bool(isfinite(norm)):
        raise GradientError(
            f"{op}: the norm of order {order:g} of {len(arrays)} gradients is {float(norm)}; they "
            "were not clipped. Hint: error_if_nonfinite=False lets it pass"
        )
    return norm


def _powers(a: Any, order: float) -> Any:
    return (a * a).sum() if order == 2.0 else (abs(a) ** order).sum()


def _root(total: Any, order: float) -> Any:
    return sqrt(total) if order == 2.0 else total ** (1.0 / order)


def _add(a: Any, b: Any) -> Any:
    return a + b


def _fold(function: Any, values: list[Any]) -> Any:
    result = values[0]
    for value in values[1:]:
        result = function(result, value)
    return result
