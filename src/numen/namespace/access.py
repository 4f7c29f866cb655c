"""Access: `x[key]`, `x[key] = value`, the part of the class Array that indexes.

Basic indices make views, integer arrays gather, masks become positions. `array.py` inherits it;
next: `indexing.py` for the parsing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch import backward as _backward
from numen.dispatch import core, views
from numen.dispatch.convert import as_array, operand
from numen.dispatch.core import SCALAR, ArrayCore
from numen.namespace import indexing, manipulation
from numen.namespace.attributes import Attributes
from numen.ops import table


class Access(Attributes):
    """The indexing of Array."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        parsed = indexing.parse(key, self._d.shape)
        if isinstance(parsed, indexing.Basic):
            result = table["getitem"](self, index=parsed.entries)
            if parsed.ellipsis and not result._d.ndim and result._v is SCALAR:
                return _element_view(self, parsed.entries)
            return result
        if isinstance(parsed, indexing.Advanced):
            return table["gather"](self, *[as_array(a) for a in parsed.arrays], spec=parsed.spec)
        return self._masked(parsed.key)

    def _masked(self, key: Any) -> Any:
        """Elements that an index with boolean masks picks: the masks become index arrays."""
        self._leaves("boolean mask")
        positions: list[Any] = []
        axis = 0
        for e in key if type(key) is tuple else (key,):
            entry = (
                np.asarray(core.unwrap(e))
                if isinstance(e, (*indexing.ARRAY_LIKE, bool, np.bool_))
                else e
            )
            if not isinstance(entry, np.ndarray) or entry.dtype != np.bool_:
                positions.append(e)
                axis = -1 if e is Ellipsis or axis < 0 else axis + (e is not None)
                continue
            if not entry.ndim:  # adds an axis instead of picking along one
                return manipulation.reshape(self, -1)[core.ARRAY(self._positions(key))]
            have = self._d.shape[axis : axis + entry.ndim]
            if axis >= 0 and have != entry.shape:
                raise IndexError(
                    f"boolean index did not match indexed array: mask of shape {entry.shape} "
                    f"against axes of sizes {have}"
                )
            axis = axis + entry.ndim if axis >= 0 else axis
            positions.extend(entry.nonzero())
        return self[tuple(positions)]

    def _positions(self, key: Any) -> Any:
        """Positions in the flattened array of the elements that an index picks."""
        return np.arange(self._d.size).reshape(self._d.shape)[_raw_key(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        if self._v is SCALAR:
            raise TypeError(
                f"'{self._d.dtype}' object does not support item assignment: NumPy scalars are "
                f"immutable"
            )
        parsed = indexing.parse(key, self._d.shape)
        if isinstance(parsed, indexing.Basic):
            params = {"index": parsed.entries}
            if views.same_view(self, value, table["getitem"], params):
                return
            source = operand(value)
            if _is_element(self, parsed.entries):
                if isinstance(source, ArrayCore) and source._d.ndim:
                    np.empty(1, self._d.dtype)[0] = source._d  # raises where NumPy does
                target = _element_view(self, parsed.entries)
            else:
                target = self[key]
            views.write(target, source, "setitem", casting="unsafe")
            return
        if isinstance(parsed, indexing.Masked):
            self._leaves("boolean mask")
            if self._n is None and not (isinstance(value, ArrayCore) and value._n is not None):
                views.check_writable(self, "setitem")
                views.keep_saved_result(self)
                self._d[_raw_key(parsed.key)] = core.unwrap(operand(value))
                views.wrote(self, None)
                return
            rows = np.unravel_index(self._positions(parsed.key), self._d.shape)
            arrays, spec = tuple(rows), tuple(range(len(rows)))
        else:
            arrays, spec = parsed.arrays, parsed.spec
        views.check_writable(self, "setitem")
        new = table["scatter_set"](
            _current(self), operand(value), *[as_array(a) for a in arrays], spec=spec
        )
        views.write(self, new, "setitem", casting="unsafe")

    def __delitem__(self, key: Any) -> None:
        raise ValueError("cannot delete array elements")


def _is_element(x: Any, index: tuple[Any, ...]) -> bool:
    return len(index) == x._d.ndim and all(type(i) is int for i in index)


def _element_view(x: Any, index: tuple[Any, ...]) -> Any:
    """One element as a writable 0-d view: `x[..., 0]`."""
    picked = tuple([slice(i, i + 1, 1) if type(i) is int else i for i in index])
    part = table["getitem"](x, index=picked) if picked else x
    return table["reshape"](part, shape=())


def _raw_key(key: Any) -> Any:
    if type(key) is tuple:
        return tuple([core.unwrap(k) for k in key])
    return core.unwrap(key)


def _current(x: Any) -> Any:
    """x as the operand of a functional update of itself: its node and register, memory copied only
    if saved."""
    fresh = core.ARRAY(x._d, x._n)
    fresh._t = _backward.register_of(x)
    return fresh
