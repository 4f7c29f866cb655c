"""softmax, log_softmax and logsumexp, along an axis and under a mask.

Plain small arrays take one row of `ops/softmax.py`; a trace, the kernel engine and large arrays get
the same composed of rows that have kernels. Losses and attention call these. Next:
`reductions.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch import modes
from numen.dispatch.convert import as_array, normalize_axes, operand
from numen.dispatch.core import is_differentiable
from numen.errors import DTypeError, describe
from numen.ops import table

__all__ = ["softmax", "log_softmax", "logsumexp"]

INFINITY = float("inf")


def softmax(x: Any, axis: Any = -1, *, where: Any = None, dim: Any = None) -> Any:
    """exp(x) / sum(exp(x)) along an axis, without overflow.

    Parameters
    ----------
    x : array_like
        Real; integers are taken as float64.
    axis : int or tuple of int
        Over which the result sums to 1; `dim` is another name for it.
    where : array_like of bool, optional
        Elements that count, broadcast against x; the others get 0, and gradient 0 whatever their
        value.

    Returns
    -------
    Array
        Of x's shape. 0 where nothing counts: no element at all, or nothing but -inf; gradients are
        0 there.

    Raises
    ------
    DTypeError
        If x is not real.
    numpy.exceptions.AxisError
        If an axis is out of bounds.

    Examples
    --------
    >>> import numen as nm
    >>> nm.softmax(nm.array([1.0, 1.0, 5.0]), where=[True, True, False])
    array([0.5, 0.5, 0. ])
    """
    x, axes = _prepared(x, axis if dim is None else dim, where, "softmax")
    if _is_plain(x):
        return table["softmax"](x, axis=axes)
    if x.dtype.itemsize < 4:
        return softmax(x.astype(np.float32), axes).astype(x.dtype)
    _, _, e, total, _ = _parts(x, axes)
    return e / total


def log_softmax(x: Any, axis: Any = -1, *, where: Any = None, dim: Any = None) -> Any:
    """The logarithm of softmax, exact where the softmax underflows.

    Parameters
    ----------
    x, axis, where, dim
        As `softmax`'s.

    Returns
    -------
    Array
        Of x's shape; -inf for what does not count.

    Raises
    ------
    DTypeError
        If x is not real.
    numpy.exceptions.AxisError
        If an axis is out of bounds.

    Examples
    --------
    >>> import numen as nm
    >>> nm.log_softmax(nm.array([0.0, 1000.0]))
    array([-1000.,     0.])
    """
    x, axes = _prepared(x, axis if dim is None else dim, where, "log_softmax")
    if _is_plain(x):
        return table["log_softmax"](x, axis=axes)
    if x.dtype.itemsize < 4:
        return log_softmax(x.astype(np.float32), axes).astype(x.dtype)
    shifted, _, _, total, _ = _parts(x, axes)
    return shifted - table["log"](total)


def logsumexp(
    x: Any, axis: Any = None, keepdims: bool = False, *, where: Any = None, dim: Any = None
) -> Any:
    """log(sum(exp(x))) over axes, without overflow.

    Parameters
    ----------
    x : array_like
        Real; integers are taken as float64.
    axis : int, tuple of int or None
        Axes to sum over, None for all; `dim` is another name for it.
    keepdims : bool
        Keep them as ones.
    where : array_like of bool, optional
        Elements that count, broadcast against x.

    Returns
    -------
    Array
        -inf where nothing counts, and the gradient is 0 there.

    Raises
    ------
    DTypeError
        If x is not real.
    numpy.exceptions.AxisError
        If an axis is out of bounds.

    Examples
    --------
    >>> import numen as nm
    >>> round(float(nm.logsumexp(nm.array([1000.0, 1000.0])) - 1000), 6)
    0.693147
    """
    x, axes = _prepared(x, axis if dim is None else dim, where, "logsumexp")
    if _is_plain(x):
        return table["logsumexp"](x, axis=axes, keepdims=bool(keepdims))
    if x.dtype.itemsize < 4:
        return logsumexp(x.astype(np.float32), axes, keepdims).astype(x.dtype)
    _, top, _, total, empty = _parts(x, axes)
    out = table["where"](empty, -INFINITY, table["log"](total) + top)
    if not keepdims:
        out = out.reshape(tuple([n for i, n in enumerate(out.shape) if i not in axes]))
    return out if out.ndim else out[()]


def _prepared(x: Any, axis: Any, where: Any, op: str) -> tuple[Any, tuple[int, ...]]:
    """x as a floating Array with -inf for what does not count, and the axes."""
    x = as_array(x)
    if not is_differentiable(x.dtype) or x.dtype.kind == "c":
        if x.dtype.kind not in "biu":
            raise DTypeError(f"{op}: expected real numbers, got {describe(x)}")
        x = x.astype(np.float64)
    axes = normalize_axes(axis, x.ndim, op)
    if where is not None:
        x = table["where"](operand(where), x, -INFINITY)
    return x, axes


def _is_plain(x: Any) -> bool:
    return x.size < modes.LIMIT and not modes.asks_for_rows()


def _parts(x: Any, axes: tuple[int, ...]) -> tuple[Any, Any, Any, Any, Any]:
    """x less its maximum, the maximum (0 where it is infinite), exp of the difference, its sum (1
    where nothing counts) and where that is. The maximum's own gradient cancels: it takes no part.
    """
    where = table["where"]
    if not x.size:
        shape = tuple([1 if i in axes else n for i, n in enumerate(x.shape)])
        top = table["broadcast_to"](as_array(np.zeros((), x.dtype)), shape=shape)
    else:
        top = table["max"](x.detach(), axis=axes, keepdims=True)
        top = where(table["isfinite"](top), top, 0)
    shifted = x - top
    e = table["exp"](shifted)
    total = table["sum"](e, axis=axes, keepdims=True)
    empty = table["equal"](total, 0)
    return shifted, top, e, where(empty, 1, total), empty
