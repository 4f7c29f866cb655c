"""FlatIterator: what `x.flat` is, the elements of an array in C order, whatever its layout.

Plain arrays are read and written by NumPy's own flat iterator; with gradients and in traces the
rows of indexing do it. `attributes.py` makes it; next: `placing.py`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from numen.dispatch import core, modes, views
from numen.dispatch.core import SCALAR, ArrayCore
from numen.errors import GradientError, describe
from numen.namespace.creation import array, contains_array, followed, made, unwrapped
from numen.namespace.devices import backend_among, on_host
from numen.namespace.indexing import is_element, raw
from numen.namespace.placing import target, write_flat
from numen.ops import table

__all__ = ["flatiter"]


def _comparison(compare: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        return compare(self[:], other[:] if isinstance(other, FlatIterator) else other)

    return method


class FlatIterator:
    """Iterator over an array's elements that can also be indexed and assigned to.

    Examples
    --------
    >>> import numen as nm
    >>> x = nm.arange(6).reshape(2, 3).T
    >>> [int(v) for v in x.flat]
    [0, 3, 1, 4, 2, 5]
    >>> x.flat[[0, 1]] = 9
    >>> x
    array([[9, 9],
           [1, 4],
           [2, 5]])
    """

    __slots__ = ("_array", "_next")
    __hash__ = None  # type: ignore[assignment]
    __eq__ = _comparison(operator.eq)
    __ne__ = _comparison(operator.ne)
    __lt__ = _comparison(operator.lt)
    __le__ = _comparison(operator.le)
    __gt__ = _comparison(operator.gt)
    __ge__ = _comparison(operator.ge)

    def __init__(self, x: Any) -> None:
        self._array = x
        self._next = 0

    @property
    def base(self) -> Any:
        """The array that is iterated over."""
        return self._array

    @property
    def index(self) -> int:
        """The flat position of the next element."""
        return self._next

    @property
    def coords(self) -> tuple[int, ...]:
        """The coordinates of the next element."""
        shape = self._array.shape
        rest, found = self._next, []
        for n in reversed(shape):
            found.append(rest % n if n else 0)
            rest = rest // n if n else 0
        if rest and found:
            found[-1] += rest * shape[0]  # at the end, as NumPy has it
        return tuple(found[::-1])

    def copy(self, /) -> Any:
        """A flattened copy of the array."""
        return self[:]

    def __len__(self) -> int:
        return int(self._array.size)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self._next >= self._array.size:
            raise StopIteration
        self._next += 1
        return self[self._next - 1]

    def __array__(self, /, dtype: Any = None, copy: bool | None = None) -> Any:
        x = self._array
        if x._n is not None and modes.grad_enabled():
            raise GradientError(
                f"__array__: {describe(x)} requires a gradient. Hint: detach() it, or flat[:]"
            )
        x._leaves("flat.__array__")
        x._escape()
        return np.asarray(x._d.flat.__array__(), dtype, copy=copy)

    def __getitem__(self, key: Any) -> Any:
        x = self._array
        if not modes.ACTIVE or backend_among(x) is None:
            picked = x._d.flat[raw(key)]
        if not followed(x):
            if isinstance(picked, np.ndarray) and not _holds_arrays(x, key):
                return made(picked)
            return picked if x._d.dtype.kind == "O" else core.wrap(picked)
        flat = table["reshape"](x, shape=(x._d.size,))
        return table["gather"](flat, self._positions(key), spec=(0,))

    def _positions(self, key: Any) -> Any:
        """The flat positions that a key picks, as an Array."""
        if isinstance(key, ArrayCore) and key._d.dtype.kind in "iu":
            return key
        if isinstance(key, ArrayCore):
            self._array._leaves("boolean mask")
        spots = on_host(key) if isinstance(key, ArrayCore) else raw(key)
        return made(np.arange(len(self)).flat[spots])

    def __delitem__(self, key: Any) -> None:
        raise TypeError("cannot delete iterator elements")

    def __setitem__(self, key: Any, value: Any) -> None:
        x = self._array
        if followed(x, value) and x._d.dtype.kind != "O":
            positions = self._positions(key)
            write_flat(target(x, "flat"), positions, value, "flat")
            return
        if contains_array(value, gradient=True) and modes.grad_enabled():
            raise GradientError("flat: no gradient flows into objects. Hint: detach() the values")
        views.check_writable(x, "flat")
        views.keep_saved_result(x)
        x._d.flat[raw(key)] = unwrapped(value)
        views.wrote(x, None)


def _holds_arrays(x: Any, key: Any) -> bool:
    return x._d.dtype.kind == "O" and is_element(key, 1)


def assign(x: Any, value: Any) -> None:
    """`x.flat = value`: all elements, the values repeated if there are fewer."""
    if x._v is SCALAR:
        raise AttributeError(f"flat: expected an array, got the scalar {x!r}")
    FlatIterator(x)[:] = array(value, copy=None) if followed(value) else value


flatiter = FlatIterator
