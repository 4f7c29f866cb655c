"""Attributes: shape, dtype, memory, and the views `T`, `mT`, `real`, `imag`, `flat` of an Array.

The base of the classes in `access.py`, `methods.py` and `array.py`. Next: `methods.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch import core, modes
from numen.dispatch.backends import device_backend_of
from numen.dispatch.core import SCALAR, ArrayCore, View
from numen.errors import describe
from numen.namespace.flat import FlatIterator, assign
from numen.ops import table


class Attributes(ArrayCore):
    """NumPy's attributes of arrays."""

    __slots__ = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """The extent of each axis."""
        return self._d.shape  # type: ignore[no-any-return]

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self._d.ndim  # type: ignore[no-any-return]

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's dtype of the elements."""
        return self._d.dtype  # type: ignore[no-any-return]

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._d.size  # type: ignore[no-any-return]

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self._d.itemsize  # type: ignore[no-any-return]

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self._d.nbytes  # type: ignore[no-any-return]

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one element to the next along each axis."""
        return self._d.strides  # type: ignore[no-any-return]

    @property
    def flags(self) -> Any:
        """NumPy's flags of the memory: C_CONTIGUOUS, OWNDATA, WRITEABLE and others."""
        return self._d.flags

    @property
    def device(self) -> str:
        """Where the memory is: "cpu", or the name of a backend's device."""
        backend = device_backend_of(self._d)
        return "cpu" if backend is None else backend.name

    @property
    def base(self) -> Any:
        """The Array whose memory this one views, or None."""
        memory = self._v
        if type(memory) is View:
            return memory.base
        return None if self._d.base is None else self._d.base

    @property
    def T(self) -> Any:
        """A view with the axes in reverse order."""
        return table["transpose"](self, axes=tuple(range(self._d.ndim))[::-1])

    @property
    def mT(self) -> Any:
        """A view with the last two axes swapped.

        Raises
        ------
        ValueError
            If there are fewer than two axes.
        """
        if self.ndim < 2:
            raise ValueError(f"mT: expected at least 2 dimensions, got {describe(self)}")
        n = self.ndim
        return table["transpose"](self, axes=(*range(n - 2), n - 1, n - 2))

    @property
    def flat(self) -> Any:
        """A flat iterator over the elements, which also reads and writes by flat index."""
        return FlatIterator(self)

    @flat.setter
    def flat(self, value: Any) -> None:
        assign(self, value)

    def _escape(self) -> None:
        if self._v is None:
            self._v = core.Cell()
        if self._v is not SCALAR:
            self._v.cell.escaped = True

    def _leaves(self, what: str) -> None:
        """Tell a recorder that values leave numen here."""
        if modes.ACTIVE and modes.state.recorder is not None:
            modes.state.recorder.leave(self, what)

    def _exported(self, what: str) -> None:
        """The memory is about to be seen outside numen."""
        self._leaves(what)
        self._escape()
