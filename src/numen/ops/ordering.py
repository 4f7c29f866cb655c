"""Order along an axis: sort, argsort, partition, argpartition; NaN comes last.

sort and partition only move elements, so their cotangents move back the same way; between equal
elements any assignment is a derivative, and these rules take the stable one. Called by
`namespace/sorting.py` and `namespace/statistics.py`; next: `gathering.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numen.dispatch.backends import module_of
from numen.dispatch.primitive import Primitive
from numen.ops.common import constant
from numen.ops.gathering import gather
from numen.ops.samples import DType, Errors, Inputs, Rng, distinct


def take_along(a: Any, indices: Any, axis: int) -> Any:
    """a's elements at `indices` along an axis; on the other axes both have equal extents."""
    rank = len(a.shape)
    grid = []
    for i, n in enumerate(indices.shape):
        if i == axis:
            grid.append(indices)
        else:
            shape = [1] * rank
            shape[i] = n
            grid.append(constant(np.arange(n).reshape(shape), a))
    return gather(a, *grid, spec=tuple(range(rank)))


def _ranks(order: Any, axis: int) -> Any:
    """The inverse of permutations along an axis."""
    return argsort(order, axis=axis, kind="stable")


def _samples(rng: Rng, dtype: DType) -> Inputs:
    a = distinct(rng, (2, 3, 5), dtype)
    return [
        ((a,), {"axis": 0, "kind": None}),
        ((a,), {"axis": 1, "kind": "stable"}),
        ((a,), {"axis": 2, "kind": "heapsort"}),
        ((a[0, 0],), {"axis": 0, "kind": None}),
        ((a[:0],), {"axis": 2, "kind": None}),
        ((a[:0],), {"axis": 0, "kind": None}),
    ]


def _errors() -> Errors:
    return [
        ((np.ones(3),), {"axis": 1, "kind": None}, np.exceptions.AxisError),
        ((np.ones(3),), {"axis": 0, "kind": "no such"}, ValueError),
    ]


# argsort


def _argsort(a: Any, axis: int, kind: str | None) -> Any:
    return module_of(a).argsort(a, axis=axis, kind=kind)


def _argsort_batch(
    size: int, args: Sequence[Any], axes: Sequence[bool], axis: int, kind: str | None
) -> Any:
    return argsort(args[0], axis=axis + 1, kind=kind)


argsort = Primitive("argsort", _argsort, batch=_argsort_batch, samples=_samples, errors=_errors)


# sort


def _sort(a: Any, axis: int, kind: str | None) -> Any:
    return module_of(a).sort(a, axis=axis, kind=kind)


def _sort_vjp(
    needs: Sequence[bool], g: Any, out: Any, a: Any, axis: int, kind: str | None
) -> tuple[Any, ...]:
    order = argsort(a, axis=axis, kind="stable")
    return (take_along(g, _ranks(order, axis), axis),)


def _sort_jvp(
    out: Any, args: Sequence[Any], tangents: Sequence[Any], axis: int, kind: str | None
) -> Any:
    return take_along(tangents[0], argsort(args[0], axis=axis, kind="stable"), axis)


def _sort_batch(
    size: int, args: Sequence[Any], axes: Sequence[bool], axis: int, kind: str | None
) -> Any:
    return sort(args[0], axis=axis + 1, kind=kind)


sort = Primitive(
    "sort",
    _sort,
    vjp=_sort_vjp,
    jvp=_sort_jvp,
    batch=_sort_batch,
    saves=(0,),
    samples=_samples,
    errors=_errors,
)


# partition and argpartition


Places = tuple[int, ...]


def _argpartition(a: Any, kth: Places, axis: int) -> Any:
    return module_of(a).argpartition(a, kth, axis)


def _argpartition_batch(
    size: int, args: Sequence[Any], axes: Sequence[bool], kth: Places, axis: int
) -> Any:
    return argpartition(args[0], kth=kth, axis=axis + 1)


def _partition_samples(rng: Rng, dtype: DType) -> Inputs:
    a = distinct(rng, (2, 3, 5), dtype)
    return [
        ((a,), {"kth": (1,), "axis": 0}),
        ((a,), {"kth": (0, 2), "axis": 1}),
        ((a,), {"kth": (-2,), "axis": 2}),
        ((a[0, 0],), {"kth": (2,), "axis": 0}),
        ((a[:0],), {"kth": (2,), "axis": 2}),
    ]


def _partition_errors() -> Errors:
    return [
        ((np.ones(3),), {"kth": (0,), "axis": 1}, np.exceptions.AxisError),
        ((np.ones(3),), {"kth": (3,), "axis": 0}, ValueError),
    ]


argpartition = Primitive(
    "argpartition",
    _argpartition,
    batch=_argpartition_batch,
    samples=_partition_samples,
    errors=_partition_errors,
)


def _partition(a: Any, kth: Places, axis: int) -> Any:
    return module_of(a).partition(a, kth, axis)


def _partition_vjp(
    needs: Sequence[bool], g: Any, out: Any, a: Any, kth: Places, axis: int
) -> tuple[Any, ...]:
    # argument and result sorted are the same: through there each element finds its cotangent
    g = take_along(g, argsort(out, axis=axis, kind="stable"), axis)
    return (take_along(g, _ranks(argsort(a, axis=axis, kind="stable"), axis), axis),)


def _partition_jvp(
    out: Any, args: Sequence[Any], tangents: Sequence[Any], kth: Places, axis: int
) -> Any:
    t = take_along(tangents[0], argsort(args[0], axis=axis, kind="stable"), axis)
    return take_along(t, _ranks(argsort(out, axis=axis, kind="stable"), axis), axis)


def _partition_batch(
    size: int, args: Sequence[Any], axes: Sequence[bool], kth: Places, axis: int
) -> Any:
    return partition(args[0], kth=kth, axis=axis + 1)


partition = Primitive(
    "partition",
    _partition,
    vjp=_partition_vjp,
    jvp=_partition_jvp,
    batch=_partition_batch,
    saves=(0,),
    saves_out=True,
    samples=_partition_samples,
    errors=_partition_errors,
)

ROWS = (sort, argsort, partition, argpartition)
