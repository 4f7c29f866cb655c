"""Operations that reduce or run along an axis: torch's name to numen's function. Next:
`linear_algebra.py`."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.oracle.counterparts import Counterpart, axis_of, reduction, refuses

import numen as nm


def all_of(function: Any) -> Any:
    """all and any: torch's dim may be empty."""

    def call(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
        return function(x, axis=axis_of(dim), keepdims=keepdim)

    return call


def deviation(function: Any) -> Any:
    """std and var: `unbiased` or `correction` as NumPy's correction."""

    def call(
        x: Any,
        dim: Any = None,
        unbiased: Any = None,
        keepdim: bool = False,
        *,
        correction: Any = None,
    ) -> Any:
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        if correction is None:
            correction = 1 if unbiased is None or unbiased else 0
        return function(x, axis=axis_of(dim), correction=correction, keepdims=keepdim)

    return call


def and_mean(function: Any) -> Any:
    """std_mean and var_mean."""
    spread = deviation(function)

    def call(x: Any, dim: Any = None, *args: Any, keepdim: bool = False, **more: Any) -> Any:
        axis = None if isinstance(dim, bool) else axis_of(dim)
        return (
            spread(x, dim, *args, keepdim=keepdim, **more),
            nm.mean(x, axis=axis, keepdims=keepdim),
        )

    return call


def extreme(function: Any, place: Any) -> Any:
    """max and min along an axis: values and places."""

    def call(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
        if dim is None:
            return function(x)
        if x.ndim == 0:
            return x[...], nm.zeros((), np.int64)
        at = place(x, axis=dim, keepdims=True)
        found = nm.take_along_axis(x, at, dim)
        return (found, at) if keepdim else (nm.squeeze(found, dim), nm.squeeze(at, dim))

    return call


def argument(function: Any) -> Any:
    def call(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
        return function(x, axis=dim, keepdims=keepdim) if x.ndim else nm.zeros((), np.int64)

    return call


def aminmax(x: Any, *, dim: Any = None, keepdim: bool = False) -> Any:
    if x.ndim == 0:
        dim = None
    return nm.min(x, axis=dim, keepdims=keepdim), nm.max(x, axis=dim, keepdims=keepdim)


def lower_median(quantile: Any) -> Any:
    """torch's median is the lower of the two in the middle; its place is not unique."""

    def call(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
        axis = dim if x.ndim else None
        return quantile(x, 0.5, axis=axis, keepdims=keepdim and x.ndim > 0, method="lower")

    return call


def quantile(function: Any) -> Any:
    def call(
        x: Any, q: Any, dim: Any = None, keepdim: bool = False, *, interpolation: str = "linear"
    ) -> Any:
        if x.ndim == 0 and dim is not None:
            dim = None
        return function(x, q, axis=dim, keepdims=keepdim, method=interpolation)

    return call


def count_nonzero(x: Any, dim: Any = None) -> Any:
    return nm.count_nonzero(x, axis=axis_of(dim))


def product(x: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    return nm.prod(x, axis=dim, keepdims=keepdim, dtype=dtype)


def along(function: Any) -> Any:
    """Running sums and the like: torch's 0-d tensor stays 0-d."""

    def call(x: Any, dim: int, *, dtype: Any = None) -> Any:
        if x.ndim == 0:
            return function(nm.reshape(x, (1,)), axis=0, dtype=dtype)[0]
        return function(x, axis=dim, dtype=dtype)

    return call


def running(function: Any) -> Any:
    """cummax and the like: the values alone."""

    def call(x: Any, dim: int) -> Any:
        if x.ndim == 0:
            return x[...]
        refuses(x.dtype.kind == "c", "complex numbers")
        return function.accumulate(x, axis=dim)

    return call


def logsumexp(x: Any, dim: Any, keepdim: bool = False) -> Any:
    refuses(x.dtype.kind == "c", "complex numbers")
    return nm.logsumexp(x, axis=axis_of(dim) if x.ndim else None, keepdims=keepdim)


def diff(x: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Any:
    more = {k: v for k, v in (("prepend", prepend), ("append", append)) if v is not None}
    return nm.diff(x, n, axis=dim, **more)


def trapezoid(y: Any, x: Any = None, *, dx: Any = 1.0, dim: int = -1) -> Any:
    return nm.trapezoid(y, x, dx=dx, axis=dim)


def values_alone(result: Any) -> Any:
    """Without the places, which ties leave open."""
    return result[0] if isinstance(result, tuple) else result


def cumulative_trapezoid(y: Any, x: Any = None, *, dx: Any = 1.0, dim: int = -1) -> Any:
    if x is not None and x.ndim == 1:
        shape = [1] * y.ndim
        shape[dim] = -1
        x = nm.reshape(x, shape)
    widths = dx if x is None else nm.diff(x, axis=dim)
    length = y.shape[dim]
    lower = nm.take(y, np.arange(length - 1), axis=dim)
    upper = nm.take(y, np.arange(1, length), axis=dim)
    return nm.cumsum((lower + upper) * widths / 2, axis=dim)


def cov(x: Any, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    return nm.cov(x, ddof=correction, fweights=fweights, aweights=aweights)


def gradient(x: Any, *, spacing: Any = None, dim: Any = None, edge_order: int = 1) -> Any:
    if spacing is None:
        spacing = ()
    spaces = spacing if isinstance(spacing, (list, tuple)) else (spacing,)
    axis = tuple(dim) if isinstance(dim, list) else dim
    return nm.gradient(x, *spaces, axis=axis, edge_order=edge_order)


def dist(x: Any, y: Any, p: float = 2) -> Any:
    return nm.linalg.vector_norm(x - y, ord=p)


def renorm(x: Any, p: float, dim: int, maxnorm: float) -> Any:
    others = tuple(i for i in range(x.ndim) if i != dim % x.ndim)
    norms = nm.linalg.vector_norm(x, axis=others, keepdims=True, ord=p)
    factor = nm.where(nm.greater(norms, maxnorm), maxnorm / (norms + 1e-7), 1.0)
    return x * factor.astype(norms.dtype)


REDUCTIONS: dict[str, Any] = {
    "all": all_of(nm.all),
    "any": all_of(nm.any),
    "sum": reduction(nm.sum),
    "nansum": reduction(nm.nansum),
    "mean": reduction(nm.mean),
    "nanmean": reduction(nm.nanmean),
    "prod": product,
    "amax": reduction(nm.amax),
    "amin": reduction(nm.amin),
    "aminmax": aminmax,
    "argmax": argument(nm.argmax),
    "argmin": argument(nm.argmin),
    "max.reduction_no_dim": nm.max,
    "min.reduction_no_dim": nm.min,
    "max.reduction_with_dim": extreme(nm.max, nm.argmax),
    "min.reduction_with_dim": extreme(nm.min, nm.argmin),
    "count_nonzero": count_nonzero,
    "std": deviation(nm.std),
    "std.unbiased": deviation(nm.std),
    "var": deviation(nm.var),
    "var.unbiased": deviation(nm.var),
    "std_mean": and_mean(nm.std),
    "std_mean.unbiased": and_mean(nm.std),
    "var_mean": and_mean(nm.var),
    "var_mean.unbiased": and_mean(nm.var),
    "median": Counterpart(lower_median(nm.quantile), values_alone),
    "nanmedian": Counterpart(lower_median(nm.nanquantile), values_alone),
    "cummax": Counterpart(running(nm.maximum), values_alone),
    "cummin": Counterpart(running(nm.minimum), values_alone),
    "cumulative_trapezoid": cumulative_trapezoid,
    "quantile": quantile(nm.quantile),
    "nanquantile": quantile(nm.nanquantile),
    "logsumexp": logsumexp,
    "logcumsumexp": running(nm.logaddexp),
    "cumsum": along(nm.cumsum),
    "cumprod": along(nm.cumprod),
    "diff": diff,
    "gradient": gradient,
    "trapz": trapezoid,
    "trapezoid": trapezoid,
    "cov": cov,
    "corrcoef": nm.corrcoef,
    "dist": dist,
    "renorm": renorm,
    "trace": nm.trace,
}
