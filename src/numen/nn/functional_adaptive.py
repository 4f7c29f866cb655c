"""Adaptive pooling: windows chosen so that the result has given extents.

Along an axis of n elements, window i of o reaches from floor(i n / o) to ceil((i + 1) n / o). Where
o divides n these are plain windows; else the elements of each are gathered. Called by `pooling.py`;
`functional.py` re-exports `__all__`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numen.dispatch.convert import as_array
from numen.errors import ShapeError, describe
from numen.namespace import where
from numen.nn.arguments import batched, floating
from numen.nn.functional_pooling import _avg, _max
from numen.ops.common import constant
from numen.ops.gathering import gather
from numen.ops.pooling import pool_pick

__all__ = [f"adaptive_{kind}_pool{n}d" for kind in ("avg", "max") for n in (1, 2, 3)]

Sizes = tuple[int, ...]


def _extents(op: str, x: Any, output_size: Any, rank: int) -> Sizes:
    """The wanted extents; None keeps one.

    Raises
    ------
    ValueError
        If there are too few or too many, or one is below 1.
    """
    sizes = output_size if isinstance(output_size, (tuple, list)) else (output_size,) * rank
    if len(sizes) != rank:
        raise ValueError(f"{op}: expected {rank} output sizes, got {output_size!r}")
    wanted = [n if s is None else int(s) for n, s in zip(x.shape[-rank:], sizes, strict=True)]
    if min(wanted) < 1:
        raise ValueError(f"{op}: expected output sizes of 1 or more, got {output_size!r}")
    if 0 in x.shape[1:]:
        raise ShapeError(f"{op}: nothing to pool in the {describe(x)}")
    return tuple(wanted)


def _table(sizes: Sizes, wanted: Sizes) -> tuple[Any, Any]:
    """The flat places of each window's elements, (windows, most elements), and which of them count.

    Places that do not count repeat one that does.
    """
    flat: Any = np.zeros((1, 1), np.int64)
    counts: Any = np.ones((1, 1), bool)
    for n, o in zip(sizes, wanted, strict=True):
        i = np.arange(o)
        start, end = i * n // o, -(-(i + 1) * n // o)
        inside = start[:, None] + np.arange((end - start).max())
        here = inside < end[:, None]
        inside = np.where(here, inside, start[:, None])
        flat = flat[:, None, :, None] * n + inside[None, :, None, :]
        counts = counts[:, None, :, None] & here[None, :, None, :]
        flat = flat.reshape(flat.shape[0] * o, -1)
        counts = counts.reshape(flat.shape)
    return flat, counts


def _gathered(x: Any, flat: Any) -> Any:
    """x (N, C, *spatial) as (N, C, windows, elements)."""
    rows = x.reshape((*x.shape[:2], math.prod(x.shape[2:])))
    full = ("b", slice(None))
    return gather(rows, constant(flat, x), spec=(full, full, 0))


def _even(x: Any, wanted: Sizes) -> Sizes | None:
    """The extents of plain windows, where there are such."""
    sizes = x.shape[2:]
    if any(n % o for n, o in zip(sizes, wanted, strict=True)):
        return None
    return tuple([n // o for n, o in zip(sizes, wanted, strict=True)])


def _adaptive_avg(rank: int, input: Any, output_size: Any) -> Any:
    op = f"adaptive_avg_pool{rank}d"
    x, alone = batched(floating(input, op), rank, op)
    wanted = _extents(op, x, output_size, rank)
    kernel = _even(x, wanted)
    if math.prod(wanted) == 1:
        out = x.mean(axis=tuple(range(2, 2 + rank)), keepdims=True)
    elif kernel is not None:
        out = _avg(rank, x, kernel, None, 0, False, True, None)
    else:
        flat, counts = _table(x.shape[2:], wanted)
        seen = where(constant(counts, x), _gathered(x, flat), 0.0)
        totals = constant(counts.sum(1).astype(x.dtype), x)
        out = (seen.sum(axis=-1) / totals).reshape((*x.shape[:2], *wanted))
    return out[0] if alone else out


def _adaptive_max(rank: int, input: Any, output_size: Any, return_indices: bool) -> Any:
    op = f"adaptive_max_pool{rank}d"
    x, alone = batched(as_array(input), rank, op)
    wanted = _extents(op, x, output_size, rank)
    kernel = _even(x, wanted)
    if kernel is not None:
        result = _max(rank, x, kernel, None, 0, 1, False, return_indices)
    else:
        flat, _ = _table(x.shape[2:], wanted)
        # the first of equal elements, or the first NaN
        first = _gathered(x.detach(), flat).argmax(axis=-1)  # (N, C, windows)
        rows = constant(np.arange(len(flat)), x)
        index = gather(constant(flat, x), rows, first, spec=(0, 1))
        index = index.reshape((*x.shape[:2], *wanted))
        picked = pool_pick(x, index, rank=rank)
        result = (picked, index) if return_indices else picked
    if not alone:
        return result
    return (result[0][0], result[1][0]) if return_indices else result[0]


def adaptive_avg_pool1d(input: Any, output_size: Any) -> Any:
    """Averages of (N, C, L) with the given extent; see `adaptive_avg_pool2d`."""
    return _adaptive_avg(1, input, output_size)


def adaptive_avg_pool2d(input: Any, output_size: Any) -> Any:
    """Averages of windows that give a result of the given extents.

    Parameters
    ----------
    input : array_like, shape (N, C, H, W) or (C, H, W)
        Floating.
    output_size : int, None or a sequence of them
        Extents of the result; None keeps the input's.

    Raises
    ------
    ShapeError
        If the input has other axes or no elements.
    ValueError
        If an extent is wrong.

    Examples
    --------
    >>> import numen as nm
    >>> nm.nn.functional.adaptive_avg_pool2d(nm.arange(9.0).reshape(1, 3, 3), 2).tolist()
    [[[2.0, 3.0], [5.0, 6.0]]]
    """
    return _adaptive_avg(2, input, output_size)


def adaptive_avg_pool3d(input: Any, output_size: Any) -> Any:
    """Averages of (N, C, D, H, W) with the given extents; see `adaptive_avg_pool2d`."""
    return _adaptive_avg(3, input, output_size)


def adaptive_max_pool1d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """Largest elements of (N, C, L) with the given extent; see `adaptive_max_pool2d`."""
    return _adaptive_max(1, input, output_size, return_indices)


def adaptive_max_pool2d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """Largest elements of windows that give a result of the given extents; with `return_indices`
    also their flat places, as `max_pool2d`."""
    return _adaptive_max(2, input, output_size, return_indices)


def adaptive_max_pool3d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """Largest elements of (N, C, D, H, W) with the given extents; see `adaptive_max_pool2d`."""
    return _adaptive_max(3, input, output_size, return_indices)
