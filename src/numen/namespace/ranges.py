"""Functions that make ranges and small special matrices: arange, linspace, eye, tri, vander.

NumPy computes them; where an end point carries a gradient or belongs to a trace, rows do. Next:
`grids.py`.
"""

from __future__ import annotations

import math
from operator import index
from typing import Any

import numpy as np

from numen.dispatch.backends import module_of
from numen.dispatch.convert import normalize_axes, operand
from numen.dispatch.core import is_differentiable
from numen.namespace.calling import composes, wrap_results
from numen.namespace.creation import asarray, followed, known, made
from numen.namespace.devices import alongside, placed
from numen.namespace.filled import check_size
from numen.namespace.likes import from_like
from numen.ops import table
from numen.runtime.memory import check_room

_numpy: Any = np
"""NumPy's functions without their types, which list every form."""

__all__ = ["arange", "eye", "geomspace", "identity", "linspace", "logspace", "tri", "vander"]


def arange(
    *args: Any,
    dtype: Any = None,
    device: str | None = None,
    like: Any = None,
    requires_grad: bool = False,
    **ends: Any,
) -> Any:
    """Evenly spaced values in a half-open range: arange([start,] stop[, step,] dtype=None).

    Parameters
    ----------
    start, stop, step : number or datetime
        Gradients flow to start and step.
    dtype : dtype, optional
        By default NumPy's choice for the numbers.
    device : str, optional
        Where to put it.
    like : array_like, optional
        No meaning: the result is always an Array.
    requires_grad : bool
        Make a leaf.

    Raises
    ------
    MemoryError
        If the array does not fit into memory.

    Examples
    --------
    >>> import numen as nm
    >>> nm.arange(3), nm.arange(1.0, 2.0, 0.5)
    (array([0, 1, 2]), array([1. , 1.5]))
    """
    if like is not None and (other := from_like(arange, locals())) is not NotImplemented:
        return other
    numbers = [known(a, "arange") for a in args]
    named = {name: known(end, "arange") for name, end in ends.items()}
    _check_length(numbers, named)
    if len(args) < 4:
        named["dtype"] = dtype
    data = _numpy.arange(*numbers, **named)
    if followed(*args[:3], *ends.values()) and is_differentiable(data.dtype):
        start, step = _start_and_step(args, ends)
        steps = alongside(made(np.arange(data.size).astype(data.dtype)), start, step)
        result = steps * step + start
        result = result if result._d.dtype == data.dtype else result.astype(data.dtype)
    else:
        result = made(data)
    result = placed(result, device)
    return result.requires_grad_() if requires_grad else result


arange.__wrapped__ = np.arange  # type: ignore[attr-defined]  # its signature, where NumPy has one


def _start_and_step(args: Any, ends: dict[str, Any]) -> tuple[Any, Any]:
    start = ends.get("start", args[0] if len(args) > 1 or ("stop" in ends and args) else 0)
    step = ends.get("step", args[2] if len(args) > 2 else 1)
    return operand(start), operand(1 if step is None else step)


def _check_length(args: list[Any], ends: dict[str, Any]) -> None:
    numbers = [*args, *ends.values()]
    kinds = (int, float, np.integer, np.floating)
    if not all([isinstance(v, kinds) and not isinstance(v, np.timedelta64) for v in numbers]):
        return
    start, step = _start_and_step(args, ends)
    stop = ends.get("stop", args[1] if len(args) > 1 else args[0] if args else 0)
    length = (stop - start) / step if step else 0.0
    if 0 < length < math.inf:
        check_room(int(length) * 8, f"an array with shape ({int(length)},)")


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: str | None = None,
    requires_grad: bool = False,
) -> Any:
    """`num` evenly spaced values from start to stop, which may be arrays; gradients flow to both.

    Parameters
    ----------
    start, stop : array_like
        First and last value.
    num : int
        How many.
    endpoint : bool
        Whether `stop` is the last one.
    retstep : bool
        Return (values, step).
    dtype : dtype, optional
        By default NumPy's choice for the end points, at least float64.
    axis : int
        Axis of the result along which the values lie, if the end points are arrays.
    device : str, optional
        Where to put it; by default where the end points are.

    Raises
    ------
    ValueError
        If `num` is negative.

    Examples
    --------
    >>> import numen as nm
    >>> nm.linspace(0, 1, 5)
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    count = known(num, "linspace")
    result: Any = None
    if followed(start, stop) and _is_float(dtype):
        values, step = _line(asarray(start) * 1.0, asarray(stop) * 1.0, count, endpoint)
        result = _finished(values, dtype, axis)
    else:
        if isinstance(count, int) and count > 0:
            check_room(count * 8, f"an array with shape ({count},)")
        ends = known(start, "linspace"), known(stop, "linspace")
        data, step = _numpy.linspace(*ends, count, endpoint, True, dtype, axis)
        result, step = made(data), wrap_results(step, "linspace")
    result = placed(result, device)
    if requires_grad:
        result.requires_grad_()
    return (result, step) if retstep else result


def _is_float(dtype: Any) -> bool:
    return dtype is None or is_differentiable(np.dtype(dtype))


def _line(a: Any, b: Any, count: int, endpoint: bool) -> tuple[Any, Any]:
    """Values from a to b along a new first axis, and the step between them, by rows."""
    index(count)
    if count < 0:
        raise ValueError(f"Number of samples, {count}, must be non-negative.")
    divisions = count - 1 if endpoint else count
    delta = b - a
    step = delta / divisions if divisions > 0 else delta * math.nan
    positions = np.arange(count).reshape(-1, *(1,) * delta._d.ndim)
    steps = alongside(made(positions.astype(delta._d.dtype)), delta)
    if divisions <= 0:
        return steps * delta + a, step
    values = steps * step + a
    if endpoint:
        values = table["where"](made(positions == divisions), b, values)
    return values, step


def _finished(values: Any, dtype: Any, axis: int) -> Any:
    """Values along the first axis, cast and moved to the wanted one."""
    if dtype is not None and values._d.dtype != np.dtype(dtype):
        values = table["cast"](values, dtype=np.dtype(dtype))
    (to,) = normalize_axes(axis, values._d.ndim, "linspace")
    axes = list(range(1, values._d.ndim))
    axes.insert(to, 0)
    return table["transpose"](values, axes=tuple(axes)) if to else values


def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """`num` values from base**start to base**stop, evenly spaced in the exponent; gradients flow.

    Examples
    --------
    >>> import numen as nm
    >>> nm.logspace(0, 2, 3)
    array([  1.,  10., 100.])
    """
    if followed(start, stop, base) and _is_float(dtype):
        a, b, c = asarray(start) * 1.0, asarray(stop) * 1.0, operand(base)
        exponents, _ = _line(a, b, known(num, "logspace"), endpoint)
        return _finished(table["power"](c, exponents), dtype, axis)
    numbers = [known(v, "logspace") for v in (start, stop, num, endpoint, base)]
    return made(_numpy.logspace(*numbers, dtype, axis))


def geomspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """`num` values from start to stop, each a constant multiple of the one before; gradients flow
    to real end points.

    Raises
    ------
    ValueError
        If an end point is 0.

    Examples
    --------
    >>> import numen as nm
    >>> nm.geomspace(1, 8, 4)
    array([1., 2., 4., 8.])
    """
    count = known(num, "geomspace")
    if followed(start, stop) and _is_float(dtype):
        a, b = asarray(start) * 1.0, asarray(stop) * 1.0
        if a._d.dtype.kind == b._d.dtype.kind == "f":
            return _finished(_progression(a, b, count, endpoint), dtype, axis)
    ends = known(start, "geomspace"), known(stop, "geomspace")
    return made(np.geomspace(*ends, count, endpoint, dtype, axis))


def _progression(a: Any, b: Any, count: int, endpoint: bool) -> Any:
    """The values of `geomspace` along a new first axis, by rows."""
    if not bool((a != 0).all()) or not bool((b != 0).all()):
        raise ValueError("Geometric sequence cannot include zero")
    log, absolute, where = table["log"], table["absolute"], table["where"]
    exponents, _ = _line(log(absolute(a)), log(absolute(b)), count, endpoint)
    values = a / absolute(a) * table["exp"](exponents)
    # the ends exactly, as NumPy's
    positions = np.arange(count).reshape(-1, *(1,) * (a - b)._d.ndim)
    values = where(made(positions == 0), a, values)
    if endpoint and count > 1:
        values = where(made(positions == count - 1), b, values)
    return values


# ------------------------------------------------------------ special matrices


def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: Any = float,
    order: str = "C",
    *,
    device: str | None = None,
    like: Any = None,
) -> Any:
    """Ones on the k-th diagonal of an N x M matrix, zeros elsewhere.

    Examples
    --------
    >>> import numen as nm
    >>> nm.eye(2, 3, k=1)
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """
    if like is not None and (other := from_like(eye, locals())) is not NotImplemented:
        return other
    n, m, k = known(N, "eye"), known(M, "eye"), known(k, "eye")
    check_size((n, n if m is None else m), dtype)
    return placed(made(_numpy.eye(n, m, k, dtype, order)), device)


def identity(n: int, dtype: Any = None, *, like: Any = None) -> Any:
    """The n x n identity matrix."""
    if like is not None and (other := from_like(identity, locals())) is not NotImplemented:
        return other
    n = known(n, "identity")
    check_size((n, n), dtype)
    return made(np.identity(n, dtype))


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = float, *, like: Any = None) -> Any:
    """Ones on and below the k-th diagonal of an N x M matrix, zeros above.

    Examples
    --------
    >>> import numen as nm
    >>> nm.tri(2, 3, dtype=int)
    array([[1, 0, 0],
           [1, 1, 0]])
    """
    if like is not None and (other := from_like(tri, locals())) is not NotImplemented:
        return other
    n, m, k = known(N, "tri"), known(M, "tri"), known(k, "tri")
    check_size((n, n if m is None else m), dtype)
    return made(np.tri(n, m, k, dtype))


@composes(np.vander)
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """The Vandermonde matrix: a row of powers of each element; gradients flow to x.

    Raises
    ------
    ValueError
        If x is not one-dimensional.

    Examples
    --------
    >>> import numen as nm
    >>> nm.vander([2, 3], 3)
    array([[4, 2, 1],
           [9, 3, 1]])
    """
    v = asarray(x)
    if v._d.ndim != 1 or not followed(v):
        return NotImplemented
    count = v._d.size if N is None else known(N, "vander")
    if count < 1:
        return NotImplemented
    v = v.astype(np.promote_types(v._d.dtype, np.int_), copy=False)
    powers = [made(module_of(v._d).ones(v._d.shape, v._d.dtype))]
    for _ in range(count - 1):
        powers.append(powers[-1] * v)
    columns = [table["reshape"](p, shape=(v._d.size, 1)) for p in powers]
    return table["concatenate"](*(columns if increasing else columns[::-1]), axis=1)
