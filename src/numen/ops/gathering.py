"""Indexing with integer arrays: gather reads, scatter_set writes, scatter_add accumulates.

All give new arrays. `spec` has one entry per index position: the number of an index array, or
("b", entry) for a basic int, slice or None. `namespace/indexing.py` makes it from an index
expression. Next: `joining.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from numen.dispatch import core
from numen.dispatch.backends import module_of
from numen.dispatch.convert import even_value
from numen.dispatch.derived import align
from numen.dispatch.primitive import Primitive
from numen.errors import ShapeError, describe
from numen.ops.common import constant, ndim, zeros
from numen.ops.comparisons import equal
from numen.ops.samples import DType, Errors, Inputs, Rng, draw
from numen.ops.selection import where
from numen.ops.shape import broadcast_to, transpose

Spec = tuple[Any, ...]

MOST_INDICES = 64
"""NumPy's largest number of axes, hence of index arrays."""


def index_of(indices: Sequence[Any], spec: Spec) -> tuple[Any, ...]:
    """The index expression that a spec and its arrays stand for."""
    return tuple([entry[1] if isinstance(entry, tuple) else indices[entry] for entry in spec])


def region_shape(shape: tuple[int, ...], indices: Sequence[Any], spec: Spec) -> tuple[int, ...]:
    """The shape of a[index]."""
    raw = [core.unwrap(i) for i in indices]
    xp = module_of(*raw)
    dummy = xp.broadcast_to(xp.zeros((), np.bool_), shape)
    return dummy[index_of(raw, spec)].shape  # type: ignore[no-any-return]


# gather


def _gather(a: Any, *indices: Any, spec: Spec) -> Any:
    return a[index_of(indices, spec)]


def _gather_vjp(
    needs: Sequence[bool], g: Any, out: Any, a: Any, *indices: Any, spec: Spec
) -> tuple[Any, ...]:
    # repeated positions add up
    cotangent = scatter_add(zeros(a.shape, g.dtype, g), g, *indices, spec=spec)
    return (cotangent, *[None] * len(indices))


def _gather_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any], spec: Spec) -> Any:
    return gather(tangents[0], *args[1:], spec=spec)


def _gather_batch(size: int, args: Sequence[Any], axes: Sequence[bool], spec: Spec) -> Any:
    a, *indices = args
    if not axes[0]:
        a = broadcast_to(a, shape=(size, *a.shape))
    indices, spec, order = _batched(size, a, indices, axes[1:], spec)
    out = gather(a, *indices, spec=spec)
    return out if order is None else transpose(out, axes=order)


class _Batched(NamedTuple):
    indices: list[Any]
    spec: Spec
    order: tuple[int, ...] | None


def _batched(
    size: int, a: Any, indices: Sequence[Any], axes: Sequence[bool], spec: Spec
) -> _Batched:
    """The index with an index array for the batch axis in front of the others.

    `order` are the axes of the wanted region (batch axis first, the rest as without a batch) among
    those NumPy gives for the new index, or None where they agree.
    """
    rank = max([len(i.shape) - t for i, t in zip(indices, axes, strict=True)])
    even = align([*indices, np.zeros((1,) * rank, np.intp)], [*axes, False])[:-1]
    along = np.arange(size).reshape((size, *(1,) * rank))
    moved = tuple([e if isinstance(e, tuple) else e + 1 for e in spec])
    # With an index array in front, NumPy puts (batch, common) first, then what slices give.
    before, after, adjacent = _layout(spec, len(a.shape) - 1)
    order = None
    if adjacent and before:
        common = tuple(range(1, 1 + rank))
        first = tuple(range(1 + rank, 1 + rank + before))
        order = (0, *first, *common, *range(1 + rank + before, 1 + rank + before + after))
    return _Batched([constant(along, a), *even], (0, *moved), order)


def _layout(spec: Spec, rank: int) -> tuple[int, int, bool]:
    """How many axes basic entries give before and after the index arrays; are those adjacent?

    An int counts as an index array.
    """
    basic = [
        p
        for p, e in enumerate(spec)
        if isinstance(e, tuple) and (e[1] is None or isinstance(e[1], slice))
    ]
    advanced = [p for p in range(len(spec)) if p not in basic]
    consumed = sum(not (isinstance(e, tuple) and e[1] is None) for e in spec)
    before = sum(p < advanced[0] for p in basic)
    after = len(basic) - before + rank - consumed
    return before, after, advanced[-1] - advanced[0] + 1 == len(advanced)


def _gather_samples(rng: Rng, dtype: DType) -> Inputs:
    a = draw(rng, (4, 3, 5), dtype)
    rows = np.array([3, 0, 0, -1])
    grid = np.array([[0, 2], [1, 1], [2, 0]])
    full = ("b", slice(None))
    return [
        ((a, rows), {"spec": (0,)}),
        ((a, grid), {"spec": (full, 0)}),
        ((a, grid, grid + 1), {"spec": (0, full, 1)}),
        ((a, grid), {"spec": (("b", slice(3, 0, -2)), 0, ("b", None), ("b", slice(1, 4)))}),
        ((a, grid), {"spec": (("b", 1), 0)}),
        ((a, grid, np.array(2)), {"spec": (full, 0, 1)}),
        ((a, rows[:0]), {"spec": (0,)}),
    ]


def _gather_errors() -> Errors:
    return [
        ((np.ones(3), np.array([3])), {"spec": (0,)}, IndexError),
        ((np.ones((3, 3)), np.zeros(2, int), np.zeros(3, int)), {"spec": (0, 1)}, IndexError),
    ]


gather = Primitive(
    "gather",
    _gather,
    vjp=_gather_vjp,
    jvp=_gather_jvp,
    batch=_gather_batch,
    saves=tuple(range(1, 1 + MOST_INDICES)),
    samples=_gather_samples,
    errors=_gather_errors,
)


# scatter_add


def _scatter_add(base: Any, value: Any, *indices: Any, spec: Spec) -> Any:
    xp = module_of(base, value, *indices)
    out = xp.array(base, order="C")
    index = index_of(indices, spec)
    value = xp.asarray(value).astype(out.dtype, copy=False)
    try:
        # add.at is quick for one flat index array only; the order of the additions is the same.
        positions = xp.asarray(xp.arange(out.size).reshape(out.shape)[index])
        value = xp.broadcast_to(_fitted(value, positions.ndim), positions.shape)
        xp.add.at(out.reshape(-1), positions.reshape(-1), value.reshape(-1))
    except ValueError as error:
        raise _no_fit("scatter_add", base, value, indices) from error
    return out


def _fitted(value: Any, rank: int) -> Any:
    """Without the leading ones that NumPy ignores in an assigned value."""
    while value.ndim > rank and value.shape[0] == 1:
        value = value[0]
    return value


def _no_fit(op: str, base: Any, value: Any, indices: Sequence[Any]) -> ShapeError:
    return ShapeError(
        f"{op}: could not broadcast {describe(value)} into the elements that {describe(*indices)} "
        f"pick from {describe(base)}"
    )


def _value_cotangent(picked: Any, value: Any) -> Any:
    extra = ndim(value) - len(picked.shape)
    return picked.reshape((*(1,) * extra, *picked.shape)) if extra > 0 else picked


def _scatter_add_vjp(
    needs: Sequence[bool], g: Any, out: Any, base: Any, value: Any, *indices: Any, spec: Spec
) -> tuple[Any, ...]:
    by_value = _value_cotangent(gather(g, *indices, spec=spec), value) if needs[1] else None
    return (g if needs[0] else None, by_value, *[None] * len(indices))


def _scatter_jvp(row: Primitive) -> Any:
    def jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any], spec: Spec) -> Any:
        tb, tv = tangents[:2]
        if tb is None:
            tb = zeros(out.shape, out.dtype, out)
        return row(tb, 0 if tv is None else tv, *args[2:], spec=spec)

    return jvp


def _scatter_batch(row: Primitive) -> Any:
    def batch(size: int, args: Sequence[Any], axes: Sequence[bool], spec: Spec) -> Any:
        base, value, *indices = args
        if not axes[0]:
            base = broadcast_to(base, shape=(size, *base.shape))
        inside = [core.unwrap(i)[0] if t else i for i, t in zip(indices, axes[2:], strict=True)]
        rank = len(region_shape(tuple(base.shape[1:]), inside, spec))
        new_indices, new_spec, order = _batched(size, base, indices, axes[2:], spec)
        if ndim(value):
            if not axes[1]:
                value = value.reshape((1, *value.shape))
            value = even_value(value, rank)
            if order is not None:
                inverse = sorted(range(len(order)), key=order.__getitem__)
                value = transpose(value, axes=tuple(inverse))
        return row(base, value, *new_indices, spec=new_spec)

    return batch


def _scatter_samples(rng: Rng, dtype: DType) -> Inputs:
    base = draw(rng, (4, 3, 5), dtype)
    rows = np.array([3, 0, 0, -1])
    grid = np.array([[0, 2], [1, 1], [2, 0]])
    full = ("b", slice(None))

    def value(*shape: int) -> Any:
        return draw(rng, shape, dtype)

    return [
        ((base, value(4, 3, 5), rows), {"spec": (0,)}),
        ((base, value(5), rows), {"spec": (0,)}),
        ((base, value(4, 3, 2, 5), grid), {"spec": (full, 0)}),
        ((base, value(3, 2, 1), grid, grid + 1), {"spec": (0, full, 1)}),
        ((base, value(1, 1, 3, 2, 5), grid), {"spec": (("b", 1), 0)}),
        ((base[0, 0], value(), rows), {"spec": (0,)}),
        ((base, 1, rows), {"spec": (0,)}),
        ((base, value(0, 3, 5), rows[:0]), {"spec": (0,)}),
    ]


def _scatter_errors() -> Errors:
    rows = np.array([0, 1])
    return [
        ((np.ones(3), np.ones(1), np.array([3])), {"spec": (0,)}, IndexError),
        ((np.ones((3, 3)), np.ones(4), rows), {"spec": (0,)}, ValueError),
    ]


scatter_add = Primitive(
    "scatter_add",
    _scatter_add,
    vjp=_scatter_add_vjp,
    saves=tuple(range(2, 2 + MOST_INDICES)),
    samples=_scatter_samples,
    errors=_scatter_errors,
)
scatter_add.jvp = _scatter_jvp(scatter_add)
scatter_add.batch = _scatter_batch(scatter_add)


# scatter_set


def _scatter_set(base: Any, value: Any, *indices: Any, spec: Spec) -> Any:
    out = module_of(base, value, *indices).array(base, order="K")
    try:
        out[index_of(indices, spec)] = value
    except ValueError as error:
        raise _no_fit("scatter_set", base, value, indices) from error
    return out


def _scatter_set_vjp(
    needs: Sequence[bool], g: Any, out: Any, base: Any, value: Any, *indices: Any, spec: Spec
) -> tuple[Any, ...]:
    by_base = scatter_set(g, 0, *indices, spec=spec) if needs[0] else None
    if not needs[1]:
        return (by_base, None, *[None] * len(indices))
    # Of several writes into one element the last one stays: only that one has a gradient.
    written = gather(g, *indices, spec=spec)
    shape = tuple(written.shape)
    turns = constant(np.arange(math.prod(shape)).reshape(shape), g)
    last = scatter_set(zeros(g.shape, turns.dtype, g), turns, *indices, spec=spec)
    stays = equal(gather(last, *indices, spec=spec), turns)
    return (by_base, _value_cotangent(where(stays, written, 0), value), *[None] * len(indices))


scatter_set = Primitive(
    "scatter_set",
    _scatter_set,
    vjp=_scatter_set_vjp,
    saves=tuple(range(2, 2 + MOST_INDICES)),
    samples=_scatter_samples,
    errors=_scatter_errors,
)
scatter_set.jvp = _scatter_jvp(scatter_set)
scatter_set.batch = _scatter_batch(scatter_set)

ROWS = (gather, scatter_add, scatter_set)
