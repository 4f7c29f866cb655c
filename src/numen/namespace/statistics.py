"""Statistics over samples: average, cov, corrcoef.

Compositions of sums and products, hence with gradients by the values and by the weights. Next:
`quantiles.py`, `histograms.py`.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from numen.dispatch import core
from numen.dispatch.convert import as_array, normalize_axes
from numen.namespace.calling import composes
from numen.namespace.complex_numbers import complex_of, conj_of
from numen.namespace.reducing import numeric, recording, reduce, somewhere
from numen.ops import table

__all__ = ["average", "cov", "corrcoef"]


def weights_for(x: Any, weights: Any, axis: Any) -> Any:
    """The weights in a shape that broadcasts against x; None where NumPy refuses them."""
    w = as_array(weights)
    if not numeric(w):
        return None
    if w._d.shape == x._d.shape:
        return w
    if axis is None:
        return None
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = [normalize_axes(i, x._d.ndim, "average")[0] for i in given]
    if w._d.shape != tuple([x._d.shape[i] for i in axes]):
        return None
    w = table["transpose"](w, axes=tuple(np.argsort(axes).tolist()))
    return w.reshape(tuple([n if i in axes else 1 for i, n in enumerate(x._d.shape)]))


@composes(np.average)
def average(
    a: Any,
    axis: Any = None,
    weights: Any = None,
    returned: Any = False,
    *,
    keepdims: Any = False,
) -> Any:
    """Weighted mean over axes.

    Parameters
    ----------
    a : array_like
        The values.
    axis : int, tuple of int or None
        The axes to average over.
    weights : array_like, optional
        Of a's shape, or of its extents along `axis`; by default all 1.
    returned : bool
        Return the sum of the weights too.
    keepdims : bool
        Keep the reduced axes with extent 1.

    Raises
    ------
    ZeroDivisionError
        If the weights add up to zero.

    Examples
    --------
    >>> import numen as nm
    >>> nm.average(nm.array([1.0, 2.0, 6.0]), weights=[1, 1, 2])
    np.float64(3.75)
    """
    x = as_array(a)
    if not numeric(x):
        return NotImplemented
    if weights is None:
        result = reduce("mean", x, axis, keepdims)
        if not result._d.size:
            return NotImplemented  # NumPy raises
        if not returned:
            return result
        total: Any = core.wrap(result._d.dtype.type(x._d.size / max(result._d.size, 1)))
    else:
        if axis is not None:
            normalize_axes(axis, x._d.ndim, "average")
        w = weights_for(x, weights, axis)
        if w is None:
            return NotImplemented
        least = (np.float64,) if x._d.dtype.kind in "biu" else ()
        dtype = np.result_type(x._d.dtype, w._d.dtype, *least)
        total = reduce("sum", w, axis, keepdims, dtype)
        if somewhere(total == 0):
            return NotImplemented  # NumPy raises
        terms = x.astype(dtype, copy=False) * w.astype(dtype, copy=False)
        result = reduce("sum", terms, axis, keepdims) / total
        if not returned:
            return result
    if total._d.shape != result._d.shape:
        total = table["broadcast_to"](total, shape=result._d.shape).copy()
    return result, total


def _rows(m: Any, rowvar: Any, dtype: Any) -> Any:
    """The variables as rows of a matrix."""
    x = m.astype(dtype, copy=False)
    if x._d.ndim < 2:
        return x.reshape((1, -1))
    return x if rowvar else table["transpose"](x, axes=(1, 0))


def _weights_of_samples(weights: Any, n: int, whole: bool) -> Any:
    """One weight a sample, in float64; None where NumPy refuses them."""
    w = as_array(weights)
    if not numeric(w) or w._d.dtype.kind == "c" or w._d.shape != (n,):
        return None
    if somewhere(w < 0) or (whole and somewhere(w != w.astype(np.int64))):
        return None
    return w.astype(np.float64, copy=False)


def _covariance(
    m: Any, y: Any, rowvar: Any, bias: Any, ddof: Any, fweights: Any, aweights: Any, dtype: Any
) -> Any:
    """What cov computes; NotImplemented where NumPy has to decide or to refuse."""
    first = as_array(m)
    second = None if y is None else as_array(y)
    parts = [p for p in (first, second) if p is not None]
    if not all(numeric(p) and 0 < p._d.ndim < 3 for p in parts):
        return NotImplemented
    if ddof is not None and ddof != int(ddof):
        return NotImplemented
    kind = np.result_type(*[p._d.dtype for p in parts], np.float64) if dtype is None else dtype
    x = _rows(first, rowvar, kind)
    if not x._d.shape[0] or np.dtype(kind).kind not in "fc":
        return NotImplemented
    if second is not None:
        more = second if second._d.ndim == 2 else second.reshape((1, -1))
        turned = not rowvar and more._d.shape[0] != 1
        x = table["concatenate"](x, _rows(more, not turned, kind), axis=0)
    lost = (0 if bias else 1) if ddof is None else ddof
    n = x._d.shape[1]
    frequencies = None if fweights is None else _weights_of_samples(fweights, n, True)
    importance = None if aweights is None else _weights_of_samples(aweights, n, False)
    if (frequencies is None) != (fweights is None) or (importance is None) != (aweights is None):
        return NotImplemented
    if importance is None:
        w = frequencies
    else:
        w = importance if frequencies is None else frequencies * importance
    if w is None:
        center = reduce("mean", x, 1, True)
        factor: Any = n - lost
    else:
        total = reduce("sum", w, None)
        if somewhere(total == 0):
            return NotImplemented  # NumPy raises
        center = reduce("sum", x * w, 1, True) / total
        factor = total
        if lost:
            terms = total if importance is None else reduce("sum", w * importance, None)
            factor = total - lost * (terms / total)
    if bool(factor <= 0):
        if not recording():
            warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=3)
        factor = as_array(0.0)
    away = x - center
    weighted = away if w is None else away * w
    product = table["matmul"](away, conj_of(table["transpose"](weighted, axes=(1, 0))))
    result = product * (1 / as_array(factor).astype(np.float64, copy=False))
    return result.astype(kind, copy=False).squeeze()


@composes(np.cov)
def cov(
    m: Any,
    y: Any = None,
    rowvar: Any = True,
    bias: Any = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    """Covariance matrix of variables.

    Parameters
    ----------
    m : array_like
        The variables as rows (`rowvar`) or columns, one sample a column or row.
    y : array_like, optional
        More variables.
    bias : bool
        Divide by the number of samples, not by one less.
    ddof : int, optional
        Instead of `bias`: what the number of samples is lowered by.
    fweights, aweights : array_like, optional
        How often each sample occurs, and how much it counts.
    dtype : dtype, optional
        Of the result; at least float64 by default.

    Examples
    --------
    >>> import numen as nm
    >>> nm.cov(nm.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    return _covariance(m, y, rowvar, bias, ddof, fweights, aweights, dtype)


@composes(np.corrcoef)
def corrcoef(x: Any, y: Any = None, rowvar: Any = True, *, dtype: Any = None) -> Any:
    """Matrix of correlation coefficients; parameters as `cov`'s.

    Examples
    --------
    >>> import numen as nm
    >>> nm.corrcoef(nm.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    c = _covariance(x, y, rowvar, False, None, None, None, dtype)
    if c is NotImplemented or c._d.ndim == 1:
        return NotImplemented
    if not c._d.ndim:
        return c / c
    n = c._d.shape[0]
    each = core.new_constant(np.arange(n))
    deviations = table["sqrt"](table["real"](table["gather"](c, each, each, spec=(0, 1))))
    c = c / deviations.reshape((n, 1)) / deviations.reshape((1, n))
    return _inside(c) if c._d.dtype.kind != "c" else complex_of(_inside(c.real), _inside(c.imag))


def _inside(x: Any) -> Any:
    """x between -1 and 1."""
    return table["maximum"](table["minimum"](x, 1.0), -1.0)
