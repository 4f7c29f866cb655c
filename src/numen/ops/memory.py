"""Views that follow memory, and the copy that chooses its order: diagonal, as_strided, view_dtype,
lay_out.

`as_strided` keeps the strides of the array it was made for, so that its rules and later versions of
the array read the same elements wherever those lie. Rows of `shape.py`; next: `indexing.py`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numen.dispatch import core, slots, views
from numen.dispatch.backends import module_of, placed_like
from numen.dispatch.core import ArrayCore, View
from numen.dispatch.derived import linear
from numen.dispatch.modes import grad_enabled
from numen.dispatch.primitive import Primitive
from numen.errors import GradientError
from numen.ops.common import constant, zeros
from numen.ops.samples import DType, Errors, Inputs, Rng, draw

Shape = tuple[int, ...]


# diagonal


def _diagonal(a: Any, offset: int, axis1: int, axis2: int) -> Any:
    return module_of(a).diagonal(a, offset, axis1, axis2)


def _diagonal_transpose(g: Any, a: Any, offset: int, axis1: int, axis2: int) -> Any:
    positions = _positions_of(a.shape).diagonal(offset, axis1, axis2)
    return _put_back(g, positions, a.shape)


def _diagonal_batch(size: int, a: Any, offset: int, axis1: int, axis2: int) -> Any:
    return diagonal(a, offset=offset, axis1=axis1 + 1, axis2=axis2 + 1)


def _diagonal_samples(rng: Rng, dtype: DType) -> Inputs:
    a = draw(rng, (3, 4), dtype)
    cube = draw(rng, (2, 3, 2), dtype)
    return [
        ((a,), {"offset": 0, "axis1": 0, "axis2": 1}),
        ((a.T,), {"offset": -1, "axis1": 1, "axis2": 0}),
        ((cube,), {"offset": 1, "axis1": 2, "axis2": 1}),
        ((cube,), {"offset": 5, "axis1": 0, "axis2": 1}),
    ]


def _diagonal_errors() -> Errors:
    params = {"offset": 0, "axis1": 0, "axis2": 1}
    return [((np.ones(3),), params, ValueError)]


diagonal = linear(
    "diagonal",
    _diagonal,
    _diagonal_transpose,
    _diagonal_batch,
    view=True,
    samples=_diagonal_samples,
    errors=_diagonal_errors,
)


def _positions_of(shape: Shape) -> Any:
    """The flat position of every element of a shape."""
    return np.arange(math.prod(shape)).reshape(shape)


def _put_back(g: Any, positions: Any, shape: Shape) -> Any:
    """Zeros of a shape with g added at flat positions."""
    flat = zeros((math.prod(shape),), g.dtype, g)
    where = constant(positions.reshape(-1), g)
    return slots.primitive("scatter_add")(flat, g.reshape(-1), where, spec=(0,)).reshape(shape)


# as_strided


class _AsStrided(Primitive):
    """Registers its views itself: NumPy hides the array behind an interface object."""

    def finish(self, args: tuple[Any, ...], params: dict[str, Any], data: Any) -> Any:
        result = super().finish(args, params, data)
        source = args[0]
        if isinstance(source, ArrayCore) and source._d.strides == params["source"]:
            if source._v is not core.SCALAR:
                views.register(result, source, self, params)
        return result


def strided_positions(shape: Shape, source: Shape, target: Shape, strides: Shape) -> Any:
    """The flat positions, in an array of `shape` with strides `source`, of the elements that a
    strided view reads.

    Raises
    ------
    ValueError
        If it reads memory between or outside the array's elements.
    """
    have = _addresses(shape, source).reshape(-1)
    wanted = _addresses(target, strides)
    order = np.argsort(have, kind="stable")
    found = np.searchsorted(have, wanted, sorter=order)
    positions = order[np.minimum(found, have.size - 1)] if have.size else np.zeros_like(found)
    if wanted.size and (not have.size or (have[positions] != wanted).any()):
        raise ValueError(
            f"as_strided: shape {target} with strides {strides} reads memory that is no element "
            f"of the array of shape {shape} with strides {source}"
        )
    return positions


def _addresses(shape: Shape, strides: Shape) -> Any:
    """The byte offset of every element."""
    total = np.zeros((1,) * len(shape), np.intp)
    for axis, (n, stride) in enumerate(zip(shape, strides, strict=True)):
        along = np.arange(n) * stride
        total = total + along.reshape((n,) + (1,) * (len(shape) - axis - 1))
    return np.broadcast_to(total, shape)


def _as_strided(a: Any, shape: Shape, strides: Shape, source: Shape, writeable: bool) -> Any:
    if a.strides == source:
        xp = module_of(a)
        if xp is np:
            return np.lib.stride_tricks.as_strided(a, shape, strides, writeable=writeable)
        return xp.lib.stride_tricks.as_strided(a, shape, strides)
    # the same elements of an array that lies otherwise in memory
    return a.reshape(-1)[placed_like(strided_positions(a.shape, source, shape, strides), a)]


def _as_strided_transpose(
    g: Any, a: Any, shape: Shape, strides: Shape, source: Shape, writeable: bool
) -> Any:
    return _put_back(g, strided_positions(a.shape, source, shape, strides), a.shape)


def _as_strided_batch(
    size: int, a: Any, shape: Shape, strides: Shape, source: Shape, writeable: bool
) -> Any:
    positions = strided_positions(tuple(a.shape[1:]), source, shape, strides)
    flat = a.reshape((size, -1))
    return slots.primitive("gather")(
        flat, constant(positions, a), spec=(("b", slice(None)), 0)
    ).reshape((size, *shape))


def _as_strided_samples(rng: Rng, dtype: DType) -> Inputs:
    a = draw(rng, (3, 4), dtype)
    n = a.itemsize
    windows = {"shape": (3, 3, 2), "strides": (4 * n, n, n)}
    turned = {"shape": (2, 4), "strides": (n, 3 * n)}
    one = {"shape": (2,), "strides": (0,)}
    return [
        ((a,), {**windows, "source": (4 * n, n), "writeable": False}),
        ((np.asfortranarray(a)[:2],), {**turned, "source": (n, 3 * n), "writeable": True}),
        ((np.asfortranarray(a),), {**windows, "source": (4 * n, n), "writeable": True}),
        ((draw(rng, (), dtype),), {**one, "source": (), "writeable": True}),
    ]


def _as_strided_errors() -> Errors:
    outside = {"shape": (3,), "strides": (8,), "source": (-8,), "writeable": True}
    return [((np.ones(3),), outside, ValueError)]


as_strided = linear(
    "as_strided",
    _as_strided,
    _as_strided_transpose,
    _as_strided_batch,
    kind=_AsStrided,
    view=True,
    samples=_as_strided_samples,
    errors=_as_strided_errors,
)


# view_dtype


class _ViewDType(Primitive):
    """ndarray.view(dtype). Only views of the parts of complex numbers have a derivative.

    A write through other bits would spoil a gradient: such a view of an array with one is
    read-only, and one whose items have another size takes no part in gradients.
    """

    def finish(self, args: tuple[Any, ...], params: dict[str, Any], data: Any) -> Any:
        result = super().finish(args, params, data)
        source = args[0]
        if isinstance(source, ArrayCore) and not _is_linear(source._d.dtype, params["dtype"]):
            memory = result._v
            if type(memory) is View and source._d.itemsize != result._d.itemsize:
                memory.detached = True
            if source._n is not None and grad_enabled() and isinstance(result._d, np.ndarray):
                result._d.setflags(write=False)  # of other backends check_writable knows
        return result


def _is_linear(old: DType, new: DType) -> bool:
    """Whether a view is a linear map: the same items, or complex numbers and their parts."""
    if old == new:
        return True
    kinds, sizes = {old.kind, new.kind}, {old.itemsize, new.itemsize}
    small = min(sizes)
    return kinds == {"c", "f"} and sizes == {small, 2 * small} and old.isnative and new.isnative


def _view_dtype(a: Any, dtype: DType) -> Any:
    return a.view(dtype)


def _view_dtype_transpose(g: Any, a: Any, dtype: DType) -> Any:
    if not _is_linear(a.dtype, dtype):
        raise GradientError(f"view: seeing {a.dtype} as {dtype} has no derivative")
    return view_dtype(slots.primitive("copy")(g), dtype=a.dtype)


def _view_dtype_batch(size: int, a: Any, dtype: DType) -> Any:
    return view_dtype(a, dtype=dtype)


def _view_dtype_samples(rng: Rng, dtype: DType) -> Inputs:
    a = draw(rng, (2, 4), dtype)
    parts = {"c": f"f{dtype.itemsize // 2}", "f": dtype.str}
    target = np.dtype(parts.get(dtype.kind, np.uint8))
    return [((a,), {"dtype": target}), ((a[:, ::2],), {"dtype": dtype})]


def _view_dtype_errors() -> Errors:
    return [((np.ones(3),), {"dtype": np.dtype(np.complex128)}, ValueError)]


view_dtype = linear(
    "view_dtype",
    _view_dtype,
    _view_dtype_transpose,
    _view_dtype_batch,
    kind=_ViewDType,
    view=True,
    samples=_view_dtype_samples,
    errors=_view_dtype_errors,
)


# lay_out


def _lay_out(a: Any, order: str) -> Any:
    return a.copy(order)


def _lay_out_transpose(g: Any, a: Any, order: str) -> Any:
    return g


def _lay_out_batch(size: int, a: Any, order: str) -> Any:
    return lay_out(a, order=order)


def _lay_out_samples(rng: Rng, dtype: DType) -> Inputs:
    a = draw(rng, (2, 3, 4), dtype)
    return [
        ((a,), {"order": "F"}),
        ((a.transpose(2, 0, 1),), {"order": "K"}),
        ((a[:, ::2].T,), {"order": "A"}),
        ((draw(rng, (), dtype),), {"order": "C"}),
    ]


def _lay_out_errors() -> Errors:
    return [((np.ones(3),), {"order": "X"}, ValueError)]


lay_out = linear(
    "lay_out",
    _lay_out,
    _lay_out_transpose,
    _lay_out_batch,
    samples=_lay_out_samples,
    errors=_lay_out_errors,
)
"""A copy whose memory order is chosen: C, F, A or K."""

ROWS = (diagonal, as_strided, view_dtype, lay_out)
