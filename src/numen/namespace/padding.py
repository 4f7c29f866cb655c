"""pad: NumPy's modes, all with a gradient but functions and `reflect_type="odd"`.

The edges of constant, edge, reflect, symmetric and wrap are gathered where NumPy puts positions;
statistics and ramps are made axis by axis, from what the axes before have padded. Next:
`repeating.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch import core
from numen.dispatch.backends import module_of
from numen.dispatch.convert import as_array
from numen.dispatch.core import ArrayCore
from numen.namespace.calling import composes
from numen.namespace.layout import cast_of, plain_argument
from numen.namespace.quantiles import median
from numen.namespace.reducing import reduce
from numen.namespace.repeating import gathered
from numen.ops import table
from numen.ops.common import constant

__all__ = ["pad"]

_STATISTICS = ("maximum", "mean", "median", "minimum")
_MOVES = {"edge": (), "reflect": ("reflect_type",), "symmetric": ("reflect_type",), "wrap": ()}


@composes(np.pad)
def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    """The array with elements added before and behind along each axis.

    Parameters
    ----------
    array : array_like
    pad_width : int, sequence or dict
        How many: for all axes, or (before, after) for all or for each axis.
    mode : str or callable
        NumPy's modes. Gradients flow through all (also to `constant_values`) but a function and
        `reflect_type="odd"`.

    Raises
    ------
    ValueError
        If the mode or one of its arguments is unknown, or a width negative.

    Examples
    --------
    >>> import numen as nm
    >>> nm.pad(nm.array([1, 2]), 1)
    array([0, 1, 2, 0])
    >>> nm.pad(nm.array([1, 2, 3]), (2, 0), "reflect")
    array([3, 2, 1, 2, 3])
    """
    x = as_array(array)
    width = plain_argument(pad_width, "pad")
    if mode in ("constant", "empty") and set(kwargs) <= {"constant_values"}:
        return _constant(x, width, kwargs.get("constant_values", 0))
    if mode in _STATISTICS and set(kwargs) <= {"stat_length"}:
        return _by_axis(x, width, mode, kwargs.get("stat_length"))
    if mode == "linear_ramp" and set(kwargs) <= {"end_values"}:
        return _by_axis(x, width, mode, kwargs.get("end_values", 0))
    if mode not in _MOVES or kwargs.get("reflect_type", "even") != "even":
        return NotImplemented
    positions = np.pad(_positions(x), width, mode, **kwargs)
    return gathered(x.reshape(-1), positions)


def _constant(x: Any, width: Any, constants: Any) -> Any:
    """x among constants: written into an array of one, gathered among several."""
    given = as_array(constants)
    if not given._d.ndim and not isinstance(width, dict):
        inside = np.pad(np.broadcast_to(np.True_, x._d.shape), width)
        at = [np.flatnonzero(inside.any(_others(inside, i))) for i in range(inside.ndim)]
        if x._d.size:
            spots = tuple([slice(int(i[0]), int(i[-1]) + 1, 1) for i in at])
            if not isinstance(constants, ArrayCore):
                given = core.new_constant(module_of(x._d).full((), constants, x._d.dtype))
            fill = table["broadcast_to"](cast_of(given, x._d.dtype), shape=inside.shape)
            path = ((table["getitem"], {"index": spots}),)
            return table["setitem"](fill, x, path=path)
    ids = x._d.size + np.arange(given._d.size).reshape(given._d.shape)
    positions = np.pad(_positions(x), width, constant_values=ids)
    values = cast_of(given, x._d.dtype, copy=False).reshape(-1)
    both = table["concatenate"](x.reshape(-1), values, axis=0)
    return cast_of(gathered(both, positions), x._d.dtype, copy=False)


def _positions(x: Any) -> Any:
    return np.arange(x._d.size).reshape(x._d.shape)


def _others(mask: Any, axis: int) -> tuple[int, ...]:
    return tuple([i for i in range(mask.ndim) if i != axis])


def _by_axis(x: Any, width: Any, mode: str, option: Any) -> Any:
    """x with statistics or ramps beside it; NotImplemented where NumPy has to decide or to
    refuse."""
    kind, rank = x._d.dtype.kind, x._d.ndim
    pairs = _pairs(width, rank)
    if kind not in "fc" or not x._d.size or pairs is None or pairs.dtype.kind not in "iu":
        return NotImplemented
    if isinstance(option, ArrayCore) or (pairs < 0).any():
        return NotImplemented
    options = [(None, None)] * rank if option is None else _pairs(option, rank)
    if options is None:
        return NotImplemented
    for axis in range(rank):
        beside = []
        for side, last in enumerate((False, True)):
            n, given = int(pairs[axis][side]), options[axis][side]
            if mode == "linear_ramp":
                beside.append(_ramp(x, axis, last, n, given))
                continue
            length = x._d.shape[axis] if given is None else min(int(given), x._d.shape[axis])
            if length < 1:
                return NotImplemented
            beside.append(_statistic(x, axis, last, n, length, mode))
        x = table["concatenate"](beside[0], x, beside[1], axis=axis)
    return x


def _pairs(value: Any, rank: int) -> Any:
    """A (before, after) pair for each axis; None where the value does not say that."""
    try:
        return np.broadcast_to(np.asarray(value), (rank, 2))
    except (TypeError, ValueError):
        return None


def _part(x: Any, axis: int, last: bool, length: int) -> Any:
    """The first or last elements along an axis."""
    n = x._d.shape[axis]
    part = slice(n - length, n, 1) if last else slice(0, length, 1)
    return table["getitem"](x, index=(slice(None),) * axis + (part,))


def _statistic(x: Any, axis: int, last: bool, n: int, length: int, mode: str) -> Any:
    part = _part(x, axis, last, length)
    if mode == "median":
        value = median(part, axis, keepdims=True)
    else:
        value = reduce({"maximum": "max", "minimum": "min"}.get(mode, mode), part, axis, True)
    shape = list(value._d.shape)
    shape[axis] = n
    return table["broadcast_to"](value, shape=tuple(shape))


def _ramp(x: Any, axis: int, last: bool, n: int, end: Any) -> Any:
    """n steps from an end value towards the edge, or back from there."""
    edge = _part(x, axis, last, 1)
    start = np.asarray(end).astype(x._d.dtype)
    shape = (n,) + (1,) * (x._d.ndim - axis - 1)
    steps = np.arange(n, dtype=_part_dtype(x)).reshape(shape)
    steps = constant(steps[::-1] if last else steps, x)
    ramp = (edge - start[()]) / max(n, 1) * steps + start[()]
    return cast_of(ramp, x._d.dtype, copy=False)


def _part_dtype(x: Any) -> Any:
    return np.empty((), x._d.dtype).real.dtype
