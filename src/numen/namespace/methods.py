"""Methods: NumPy's methods of arrays, the part of the class Array that calls the functions.

Each has NumPy's signature and calls the function of its name in the files beside this one; what is
only a method (memory, bytes, flags) is in `memory.py`. `array.py` inherits this class.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch import core, modes, views
from numen.dispatch.convert import operand
from numen.dispatch.core import SCALAR, Node, is_differentiable
from numen.namespace import (
    complex_numbers,
    manipulation,
    placing,
    pointwise,
    products,
    reductions,
    selecting,
    sorting,
    ufuncs,
)
from numen.namespace.attributes import Attributes
from numen.namespace.creation import unwrapped
from numen.ops import table

_SUM = table["sum"]
NO_VALUE = reductions.NO_VALUE
"""Stands for a reduction's `initial` that is not given."""


def _total(x: Any, data: Any) -> Any:
    """The sum of all elements of a plain small array: how most backward passes begin."""
    result = core.ARRAY(core.freeze_scalar(np.add.reduce(data, None)), None, SCALAR)
    node = x._n
    if node is not None and (not modes.NO_GRAD or modes.state.grad):
        params = {"axis": tuple(range(data.ndim)), "keepdims": False}
        result._n = Node(_SUM, (node,), (None,), params, None, result._d)
    return result


class Methods(Attributes):
    """NumPy's methods."""

    __slots__ = ()

    # ------------------------------------------------------------ reductions
    def sum(
        self,
        /,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = NO_VALUE,
        where: Any = True,
    ) -> Any:
        """Sum over axes. Small ints are widened as NumPy's."""
        if (
            axis is None and dtype is None and out is None and keepdims is False
            and initial is NO_VALUE and where is True and not modes.ACTIVE
        ):  # fmt: skip
            data = self._d
            if data.size < modes.LIMIT and data.dtype.char in "fd":
                return _total(self, data)
        return reductions.sum(self, axis, dtype, out, keepdims, initial, where)

    def prod(
        self,
        /,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = NO_VALUE,
        where: Any = True,
    ) -> Any:
        """Product over axes. Small ints are widened as NumPy's."""
        return reductions.prod(self, axis, dtype, out, keepdims, initial, where)

    def mean(
        self,
        /,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        *,
        where: Any = True,
    ) -> Any:
        """Arithmetic mean over axes."""
        return reductions.mean(self, axis, dtype, out, keepdims, where=where)

    def std(
        self,
        /,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        where: Any = True,
        mean: Any = NO_VALUE,
        correction: Any = NO_VALUE,
    ) -> Any:
        """Standard deviation over axes."""
        more = _given(mean=mean, correction=correction)
        return reductions.std(self, axis, dtype, out, ddof, keepdims, where=where, **more)

    def var(
        self,
        /,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        where: Any = True,
        mean: Any = NO_VALUE,
        correction: Any = NO_VALUE,
    ) -> Any:
        """Variance over axes."""
        more = _given(mean=mean, correction=correction)
        return reductions.var(self, axis, dtype, out, ddof, keepdims, where=where, **more)

    def max(
        self,
        /,
        axis: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = NO_VALUE,
        where: Any = True,
    ) -> Any:
        """Largest element along axes; NaN wins; the gradient of ties is shared evenly."""
        return reductions.max(self, axis, out, keepdims, initial, where)

    def min(
        self,
        /,
        axis: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = NO_VALUE,
        where: Any = True,
    ) -> Any:
        """Smallest element along axes; NaN wins; the gradient of ties is shared evenly."""
        return reductions.min(self, axis, out, keepdims, initial, where)

    def any(
        self,
        /,
        axis: Any = None,
        out: Any = None,
        keepdims: bool = False,
        *,
        where: Any = True,
        dtype: Any = None,
    ) -> Any:
        """Whether any element along axes is true."""
        if dtype is not None:
            return ufuncs.logical_or.reduce(self, axis, dtype, out, keepdims, where=where)
        return reductions.any(self, axis, out, keepdims, where=where)

    def all(
        self,
        /,
        axis: Any = None,
        out: Any = None,
        keepdims: bool = False,
        *,
        where: Any = True,
        dtype: Any = None,
    ) -> Any:
        """Whether all elements along axes are true."""
        if dtype is not None:
            return ufuncs.logical_and.reduce(self, axis, dtype, out, keepdims, where=where)
        return reductions.all(self, axis, out, keepdims, where=where)

    def argmax(self, /, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
        """Index of the first largest element along an axis, or in the flattened array."""
        return reductions.argmax(self, axis, out, keepdims=keepdims)

    def argmin(self, /, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:
        """Index of the first smallest element along an axis, or in the flattened array."""
        return reductions.argmin(self, axis, out, keepdims=keepdims)

    def cumsum(self, /, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """Running sum along an axis, or of the flattened array."""
        return reductions.cumsum(self, axis, dtype, out)

    def cumprod(self, /, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """Running product along an axis, or of the flattened array."""
        return reductions.cumprod(self, axis, dtype, out)

    # ------------------------------------------------------------ shapes
    def reshape(self, /, *shape: Any, order: str = "C", copy: bool | None = None) -> Any:
        """This array with another shape, as a view where strides permit.

        Raises
        ------
        ValueError
            If the number of elements differs.
        """
        target = shape[0] if len(shape) == 1 else shape
        return manipulation.reshape(self, target, order, copy=copy)

    def transpose(self, /, *axes: Any) -> Any:
        """Axes permuted (reversed without arguments), as a view."""
        return manipulation.transpose(self, axes[0] if len(axes) == 1 else axes or None)

    def swapaxes(self, axis1: int, axis2: int, /) -> Any:
        """Two axes interchanged, as a view."""
        return manipulation.swapaxes(self, axis1, axis2)

    def ravel(self, /, order: str = "C") -> Any:
        """Flattened, as a view where possible."""
        return manipulation.ravel(self, order)

    def flatten(self, /, order: str = "C") -> Any:
        """Flattened copy."""
        return manipulation.flatten(self, order)

    def squeeze(self, /, axis: Any = None) -> Any:
        """Without axes of length one.

        Raises
        ------
        ValueError
            If a named axis has another length.
        """
        return manipulation.squeeze(self, axis)

    def diagonal(self, /, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
        """The diagonal of two axes, as a read-only view."""
        return manipulation.diagonal(self, offset, axis1, axis2)

    def trace(
        self,
        /,
        offset: int = 0,
        axis1: int = 0,
        axis2: int = 1,
        dtype: Any = None,
        out: Any = None,
    ) -> Any:
        """The sum of the diagonal of two axes."""
        return manipulation.trace(self, offset, axis1, axis2, dtype, out)

    def repeat(self, /, repeats: Any, axis: Any = None) -> Any:
        """Elements repeated along an axis, or flattened."""
        return manipulation.repeat(self, repeats, axis)

    # ------------------------------------------------------------ elements
    def take(self, /, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
        """Elements at `indices` along an axis (flattened by default)."""
        return selecting.take(self, indices, axis, out, mode)

    def put(self, /, indices: Any, values: Any, mode: str = "raise") -> None:
        """Write `values` at flat `indices`."""
        placing.put(self, indices, values, mode)

    def choose(self, /, *choices: Any, out: Any = None, mode: str = "raise") -> Any:
        """Elements of `choices` (one sequence, or several arguments), this array saying which."""
        given = choices[0] if len(choices) == 1 else choices
        return selecting.choose(self, given, out, mode)

    def compress(self, /, condition: Any, axis: Any = None, out: Any = None) -> Any:
        """Slices along an axis where `condition` holds."""
        return selecting.compress(condition, self, axis, out)

    def nonzero(self, /) -> Any:
        """Indices of the elements that are not zero, one array an axis."""
        return selecting.nonzero(self)

    def fill(self, /, value: Any) -> None:
        """Write one value into every element."""
        if self._v is SCALAR:
            if type(self._d) is np.ndarray:
                self._d.copy().fill(unwrapped(value))  # as NumPy's scalar, which does not change
            return
        if self._d.dtype.kind in "OV" and not is_differentiable(self._d.dtype):
            views.check_writable(self, "fill")
            self._d.fill(unwrapped(value))
            views.wrote(self, None)
        else:
            if placing.goes_through_int(value, self._d.dtype) and placing.is_float(value):
                value = int(value)  # so that one that does not fit raises, as in NumPy
            views.write(self, operand(value), "fill", casting="unsafe")

    # ------------------------------------------------------------ order
    def sort(
        self, /, axis: int = -1, kind: Any = None, order: Any = None, *, stable: bool | None = None
    ) -> None:
        """Sort along an axis, in place."""
        sorting.sort_in_place(self, axis, kind, order, stable=stable)

    def argsort(
        self, /, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: bool | None = None
    ) -> Any:
        """Indices that would sort along an axis."""
        return sorting.argsort(self, axis, kind, order, stable=stable)

    def partition(
        self, /, kth: Any, axis: int = -1, kind: str = "introselect", order: Any = None
    ) -> None:
        """Put the kth elements where sorting would put them, in place."""
        sorting.partition_in_place(self, kth, axis, kind, order)

    def argpartition(
        self, /, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None
    ) -> Any:
        """Indices that would partition along an axis."""
        return sorting.argpartition(self, kth, axis, kind, order)

    def searchsorted(self, /, v: Any, side: str = "left", sorter: Any = None) -> Any:
        """Where `v` would be inserted to keep this sorted array sorted."""
        return sorting.searchsorted(self, v, side, sorter)

    # ------------------------------------------------------------ values
    def clip(self, /, min: Any = None, max: Any = None, out: Any = None, **kwargs: Any) -> Any:
        """Elements limited to [min, max]; NaN stays."""
        return pointwise.clip(self, min, max, out, **kwargs)

    def round(self, /, decimals: int = 0, out: Any = None) -> Any:
        """Elements rounded to `decimals` places, halves to even."""
        return pointwise.round(self, decimals, out)

    def conj(self, /, out: Any = None) -> Any:
        """The complex conjugate; a real array itself."""
        return complex_numbers.conj_of(self) if out is None else ufuncs.conjugate(self, out)

    conjugate = conj

    def dot(self, /, b: Any, out: Any = None) -> Any:
        """NumPy's dot product."""
        return products.dot(self, b, out)


def _given(**values: Any) -> dict[str, Any]:
    return {k: v for k, v in values.items() if v is not NO_VALUE}
