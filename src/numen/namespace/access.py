"""Access: `x[key]`, `x[key] = value`, iteration: the part of the class Array that indexes.

On plain arrays NumPy itself reads the index; what shares memory is registered as a view. Where a
gradient or a trace is concerned rows compute: basic indices make views, index arrays gather, masks
become positions. `array.py` inherits it; next: `indexing.py` for the parsing.
"""

from __future__ import annotations

from collections.abc import Iterator
from sys import getrefcount
from typing import Any

import numpy as np

from numen.dispatch import backends, core, frames, modes, places, views
from numen.dispatch.backends import module_of, placed_like
from numen.dispatch.convert import as_array, operand
from numen.dispatch.core import SCALAR, ArrayCore, Cell, View
from numen.errors import GradientError
from numen.namespace import calling, indexing
from numen.namespace.attributes import Attributes
from numen.namespace.creation import array, contains_array, followed, unwrapped
from numen.namespace.devices import alongside
from numen.namespace.objects import Originals, gives_arrays, readable, restored
from numen.namespace.placing import current, goes_through_int, is_float
from numen.ops import table

_ndarray = np.ndarray
_getitem = table["getitem"]
_MAY_BE_BASIC = (int, slice, tuple)


class Access(Attributes):
    """The indexing of Array."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        data = self._d
        if type(data) is not _ndarray or (
            modes.ACTIVE and (modes.state.recorder is not None or modes.state.level)
        ):
            return self._item_by_rows(key)
        kind = type(key)
        if self._n is not None and kind not in _MAY_BE_BASIC:
            return self._item_by_rows(key)
        plain = key if kind is int or kind is slice else indexing.raw(key)
        picked = data[plain] if self._v is not SCALAR else data[()][plain]
        if type(picked) is not _ndarray:
            return self._element(picked, key)
        base = picked.base
        if base is None or (base is not data and base is not data.base) or self._v is SCALAR:
            return self._fresh(picked, key)
        if kind is not int and kind is not slice and indexing.is_field(key):
            result = core.ARRAY(picked)
            views.register_detached(result, self)
            return result
        entries: Any = indexing.basic(key, data.shape)
        if not picked.ndim:
            return element_view(self, entries)  # an Ellipsis keeps NumPy from making a scalar
        result = core.ARRAY(picked)
        params = {"index": entries}
        views.register(result, self, _getitem, params)
        node = self._n
        if node is not None and (not modes.NO_GRAD or modes.state.grad):
            result._n = _getitem.node((self,), (node,), params, picked)
        return result

    def _element(self, picked: Any, key: Any) -> Any:
        """One element: a scalar Array, or what NumPy has for text, dates, records and objects."""
        kind = self._d.dtype.kind
        if kind == "O":
            return picked
        if kind == "V" and isinstance(picked, np.void):
            self._escape()  # a record's fields are memory of the array
        result = core.wrap(picked)
        node = self._n
        if node is not None and (not modes.NO_GRAD or modes.state.grad):
            entries = indexing.basic(key, self._d.shape)
            if entries is None:
                return self._item_by_rows(key)
            result._n = _getitem.node((self,), (node,), {"index": entries}, result._d)
        return result

    def _fresh(self, picked: Any, key: Any) -> Any:
        """What an index array picked: a new array, or the array that an object array holds."""
        if self._n is not None and (not modes.NO_GRAD or modes.state.grad):
            return self._item_by_rows(key)
        if self._d.dtype.kind == "O" and indexing.is_element(key, self._d.ndim):
            return picked
        return core.ARRAY(picked)

    def _item_by_rows(self, key: Any) -> Any:
        """`x[key]` where a gradient, a trace or another backend is concerned."""
        if self._d.dtype.names is not None:
            self._leaves("indexing of records")
        if indexing.is_field(key):
            result = core.ARRAY(self._d[key])
            views.register_detached(result, self)
            return result
        try:
            parsed = indexing.parse(key, self._d.shape)
            if isinstance(parsed, indexing.Basic):
                if parsed.ellipsis and indexing.is_element(parsed.entries, self._d.ndim):
                    return element_view(self, parsed.entries)
                return _getitem(self, index=parsed.entries)
            if isinstance(parsed, indexing.Advanced):
                result = table["gather"](self, *parsed.arrays, spec=parsed.spec)
                if parsed.ellipsis and result._v is SCALAR:
                    return table["reshape"](result, shape=())
                return result
            positions = self._positions(key)
            result = table["gather"](self._flat(), positions, spec=(0,))
            if result._v is SCALAR and positions._v is not SCALAR:
                return table["reshape"](result, shape=())
            return result
        except IndexError:
            framed = type(self._d) is backends.FRAME
            plain = np.empty(self._d.shape, np.bool_) if framed else self._d
            plain[indexing.raw(key)]  # raises with NumPy's words
            raise

    def _flat(self) -> Any:
        return table["reshape"](self, shape=(self._d.size,))

    def _positions(self, key: Any) -> Any:
        """Positions in the flattened array of the elements that an index with masks picks."""
        self._leaves("boolean mask")
        for mask in calling.arrays_in((key,), {}):
            if type(mask._d) is backends.FRAME:
                frames.concrete(mask._d, "the count of a boolean mask")  # raises if it differs
        data = self._d
        every = module_of(data).arange(data.size).reshape(data.shape)
        positions = every[_placed(indexing.raw(key), data)]
        if isinstance(positions, np.generic):
            return core.wrap(positions)
        return core.new_constant(positions)

    # ------------------------------------------------------------ writing
    def __setitem__(self, key: Any, value: Any) -> None:
        memory = self._v
        if memory is SCALAR:
            kind = type(self._d[()])
            raise TypeError(
                f"'{kind.__module__}.{kind.__name__}' object does not support item assignment"
            )
        data = self._d
        base = memory.base if type(memory) is View else self
        given = isinstance(value, ArrayCore)
        if (
            self._n is not None
            or base._n is not None
            or (given and value._n is not None)
            or type(data) is not _ndarray
            or (modes.ACTIVE and (modes.state.recorder is not None or modes.state.level))
        ):
            self._set_by_rows(key, value)
            return
        if given:
            if value._v is not None and memory is not None and value._v.cell is memory.cell:
                if self._is_view_at(key, value):  # the end of `x[key] += y`
                    return
            if data.dtype.kind == "O":
                self._set_on_host(key, value)
                return
            value = value._d[()] if value._v is SCALAR else value._d
        elif type(value) is list or type(value) is tuple:
            if followed(value):
                self._set_by_rows(key, value)
                return
            if data.dtype.kind == "O":
                self._set_on_host(key, value)
                return
            value = unwrapped(value)
        if memory is None:
            memory = self._v = Cell()
        cell = memory.cell
        cell.t = core.next_stamp()  # before, as what raises may have written a part
        if places.ON and (base is not self or getrefcount(self) > places.ALONE + 1):  # `base` too
            cell.place = places.here(1)
        kind = type(key)
        key = key if kind is int or kind is slice else indexing.raw(key)
        try:
            data[key] = value
        except ValueError as error:
            if not gives_arrays(error):
                raise
            originals: Originals = {}
            data[key] = readable(value, originals)
            restored(data, originals)

    def _is_view_at(self, key: Any, value: Any) -> bool:
        """Whether `value` is the view `x[key]` itself."""
        if indexing.is_field(key):
            same: bool = self._d[key].__array_interface__ == value._d.__array_interface__
            return same
        try:
            parsed = indexing.parse(key, self._d.shape)
        except IndexError:
            return False
        return isinstance(parsed, indexing.Basic) and views.same_view(
            self, value, _getitem, {"index": parsed.entries}
        )

    def _set_by_rows(self, key: Any, value: Any) -> None:
        """`x[key] = value` with gradients, in a trace, or on another backend."""
        if self._d.dtype.names is not None:
            self._leaves("indexing of records")
        if self._d.dtype.kind == "O" or indexing.is_field(key):
            self._set_on_host(key, value)
            return
        source = value
        if type(value) in (list, tuple):
            source = array(value, None if followed(value) else self._d.dtype)
            source = alongside(source, self)
        if goes_through_int(source, self._d.dtype):
            if is_float(source):
                source = int(source)
            np.asarray(getattr(source, "value", source), self._d.dtype)  # raises if it doesn't fit
        source = operand(source)
        try:
            parsed = indexing.parse(key, self._d.shape, writes=True)
            if isinstance(parsed, indexing.Basic):
                self._set_view(parsed, source)
                return
            if not isinstance(parsed, indexing.Advanced):
                self._set_mask(key, parsed.entries, source)
                return
            views.check_writable(self, "setitem")
            new = table["scatter_set"](current(self), source, *parsed.arrays, spec=parsed.spec)
            views.write(self, new, "setitem", casting="unsafe")
        except (IndexError, ValueError):
            if type(self._d) is not _ndarray:
                raise
            data = self._d.copy()
            data.flags.writeable = core.is_writeable(self._d)
            data[calling.raw(indexing.raw(key))] = indexing.raw(calling.raw(source))
            # NumPy has raised, with its words
            raise

    def _set_view(self, parsed: indexing.Basic, source: Any) -> None:
        """Write into a basic index."""
        if views.same_view(self, source, _getitem, {"index": parsed.entries}):
            return
        if not indexing.is_element(parsed.entries, self._d.ndim):
            target = _getitem(self, index=parsed.entries)
        else:
            if isinstance(source, ArrayCore) and source._d.ndim and not parsed.ellipsis:
                framed = type(source._d) is backends.FRAME
                given = np.zeros(source._d.shape) if framed else source._d
                np.empty(1, self._d.dtype)[0] = given  # raises where NumPy does
            target = element_view(self, parsed.entries)
        views.write(target, source, "setitem", casting="unsafe")

    def _set_mask(self, key: Any, entries: tuple[Any, ...], source: Any) -> None:
        """Write where a mask holds: by `where` if the mask's shape alone says where values go."""
        views.check_writable(self, "setitem")
        shape = self._d.shape
        mask = as_array(entries[0] if len(entries) == 1 else False)
        rank = mask._d.ndim
        fits = rank > 0 and mask._d.shape == shape[:rank]
        inner = source._d.shape if isinstance(source, ArrayCore) else ()
        while inner[:1] == (1,):
            inner = inner[1:]  # leading ones don't count in an assignment
        if fits and len(inner) <= len(shape) - rank:
            spread = table["reshape"](mask, shape=(*mask._d.shape, *(1,) * (len(shape) - rank)))
            if isinstance(source, ArrayCore):
                source = table["reshape"](source, shape=inner)
                if source._d.dtype != self._d.dtype:
                    source = table["cast"](source, dtype=self._d.dtype)
                source = table["broadcast_to"](source, shape=shape)
            new = table["where"](spread, source, current(self))
        else:
            positions = self._positions(key)
            flat = table["reshape"](current(self), shape=(self._d.size,))
            new = table["scatter_set"](flat, source, positions, spec=(0,))
            new = table["reshape"](new, shape=shape)
        views.write(self, new, "setitem", casting="unsafe")

    def _set_on_host(self, key: Any, value: Any) -> None:
        """Write objects and records: they carry no gradient."""
        if contains_array(value, gradient=True) and modes.grad_enabled():
            raise GradientError(
                f"setitem: no gradient flows into {self._d.dtype}. Hint: detach() the value"
            )
        views.check_writable(self, "setitem")
        originals: Originals = {}
        self._d[indexing.raw(key)] = readable(value, originals)
        if originals:
            restored(self._d, originals)
        views.wrote(self, None)

    def __delitem__(self, key: Any) -> None:
        raise ValueError("cannot delete array elements")

    # ------------------------------------------------------------ iteration
    def __iter__(self) -> Iterator[Any]:
        if not self._d.ndim:
            raise TypeError("iteration over a 0-d array")
        return map(self.__getitem__, range(self._d.shape[0]))

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).any())


def _placed(key: Any, data: Any) -> Any:
    """A raw index with its index arrays on the device of the raw array `data`."""
    if isinstance(data, _ndarray):
        return key
    if type(key) is tuple:
        return tuple([_placed(k, data) for k in key])
    return placed_like(np.asarray(key) if type(key) is list else key, data)


def element_view(x: Any, entries: tuple[Any, ...]) -> Any:
    """One element as a writable 0-d view: `x[..., 0]`."""
    picked = tuple([slice(i, i + 1, 1) if type(i) is int else i for i in entries])
    part = _getitem(x, index=picked) if picked else x
    return table["reshape"](part, shape=())
