"""pad: NumPy's modes; those that move elements have a gradient.

The edges of constant, edge, reflect, symmetric and wrap are gathered where NumPy puts positions;
the statistics and ramps are NumPy's own. Next: `repeating.py`.
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
from numen.namespace.repeating import gathered
from numen.ops import table

__all__ = ["pad"]

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
        NumPy's modes. Gradients flow through constant (also to `constant_values`), edge, reflect,
        symmetric, wrap and empty.

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
