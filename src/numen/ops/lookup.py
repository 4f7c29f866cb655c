"""embedding: rows of a table by number, and its transpose, which adds rows up.

The indices are looked at on every call, in a replayed program too. Row `padding_idx` is read as any
other and gets no gradient. Called by `nn/functional_lookup.py`. Next: `draws.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from numen.dispatch.backends import module_of
from numen.dispatch.derived import broadcast_to
from numen.dispatch.primitive import Primitive
from numen.errors import DTypeError, IndexRangeError, ShapeError, describe
from numen.ops.common import constant
from numen.ops.comparisons import equal
from numen.ops.samples import DType, Errors, Inputs, Rng
from numen.ops.selection import where
from numen.ops.windows import coarse, wide


def _check(op: str, other: Any, index: Any, rows: int) -> None:
    """Refuse indices outside [0, rows).

    Raises
    ------
    DTypeError
        If they are no integers.
    IndexRangeError
        If one is out of range.
    """
    if index.dtype.kind not in "iu":
        raise DTypeError(f"{op}: expected integer indices, got {describe(other, index)}")
    if not index.size:
        return
    low, high = int(index.min()), int(index.max())
    if low < 0 or high >= rows:
        wrong = low if low < 0 else high
        place = int((index == wrong).argmax())
        raise IndexRangeError(
            f"{op}: index {wrong} (flat position {place}) is out of bounds for {rows} rows; "
            f"expected 0 <= index < {rows}; got {describe(other, index)}"
        )


def _embedding(weight: Any, index: Any, padding_idx: int | None) -> Any:
    _check("embedding", weight, index, weight.shape[0])
    return weight[index]


def _kept(x: Any, index: Any, padding_idx: int | None) -> Any:
    """x with zeros where the padding index stands."""
    if padding_idx is None:
        return x
    padding = equal(index, padding_idx)
    shape = tuple(index.shape)
    return where(padding.reshape((*shape, *(1,) * (len(x.shape) - len(shape)))), 0, x)


def _embedding_vjp(
    needs: Sequence[bool], g: Any, out: Any, weight: Any, index: Any, padding_idx: int | None
) -> tuple[Any, ...]:
    g = _kept(g, index, padding_idx)
    return embedding_place(g, index, rows=weight.shape[0]), None


def _embedding_jvp(
    out: Any, args: Sequence[Any], tangents: Sequence[Any], padding_idx: int | None
) -> Any:
    index = args[1]
    return _kept(embedding(tangents[0], index, padding_idx=None), index, padding_idx)


def _embedding_batch(
    size: int, args: Sequence[Any], axes: Sequence[bool], padding_idx: int | None
) -> Any:
    weight, index = args
    if not axes[0]:
        return embedding(weight, index, padding_idx=padding_idx)
    # one table of all batches' rows
    if not axes[1]:
        index = broadcast_to(index, (size, *index.shape))
    rows = weight.shape[1]
    starts = (np.arange(size) * rows).reshape((size, *(1,) * (len(index.shape) - 1)))
    table = weight.reshape((size * rows, *weight.shape[2:]))
    return embedding(table, index + constant(starts, index), padding_idx=None)


# embedding_place


def _embedding_place(g: Any, index: Any, rows: int) -> Any:
    _check("embedding_place", g, index, rows)
    depth = index.ndim
    if g.shape[:depth] != index.shape:
        raise ShapeError(f"embedding_place: expected one row an index; got {describe(g, index)}")
    xp = module_of(g, index)
    features = g.shape[depth:]
    width = math.prod(features)
    out = xp.zeros((rows, width), g.dtype)
    # add.at is quick for one flat index; the additions keep the order of the indices
    starts = index.reshape((-1, 1)).astype(np.int64) * width
    places = (starts + xp.arange(width)).reshape(-1)
    xp.add.at(out.reshape(-1), places, g.reshape(-1))
    return out.reshape((rows, *features))


def _embedding_place_vjp(
    needs: Sequence[bool], g: Any, out: Any, a: Any, index: Any, rows: int
) -> tuple[Any, ...]:
    return embedding(g, index, padding_idx=None), None


def _embedding_place_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any], rows: int) -> Any:
    return embedding_place(tangents[0], args[1], rows=rows)


def _embedding_place_batch(size: int, args: Sequence[Any], axes: Sequence[bool], rows: int) -> Any:
    g, index = args
    g = g if axes[0] else broadcast_to(g, (size, *g.shape))
    index = index if axes[1] else broadcast_to(index, (size, *index.shape))
    starts = (np.arange(size) * rows).reshape((size, *(1,) * (len(index.shape) - 1)))
    out = embedding_place(g, index + constant(starts, index), rows=size * rows)
    return out.reshape((size, rows, *out.shape[1:]))


# samples


def _samples(rng: Rng, dtype: DType) -> Inputs:
    index = np.array([[3, 0, 0], [1, 3, 3]])
    return [
        ((coarse(rng, (4, 2), dtype), index), {"padding_idx": None}),
        ((coarse(rng, (4, 2), dtype), index.astype(np.uint8)), {"padding_idx": 2}),
        ((coarse(rng, (4,), dtype), np.array(1)), {"padding_idx": None}),
        ((coarse(rng, (4, 2), dtype), index[:0]), {"padding_idx": None}),
    ]


def _place_samples(rng: Rng, dtype: DType) -> Inputs:
    index = np.array([[3, 0, 0], [1, 3, 3]])
    return [
        ((coarse(rng, (2, 3, 2), dtype), index), {"rows": 4}),
        ((coarse(rng, (2, 3), dtype), index), {"rows": 5}),
        ((coarse(rng, (0, 3, 2), dtype), index[:0]), {"rows": 4}),
    ]


def _errors() -> Errors:
    table = np.ones((4, 2))
    return [
        ((table, np.array([0, 4])), {"padding_idx": None}, IndexError),
        ((table, np.array([0, -1])), {"padding_idx": None}, IndexError),
        ((table, np.array([0.0])), {"padding_idx": None}, TypeError),
    ]


def _place_errors() -> Errors:
    return [
        ((np.ones((2, 2)), np.array([0, 4])), {"rows": 4}, IndexError),
        ((np.ones((2, 2)), np.array([0, 1, 1])), {"rows": 4}, ValueError),
    ]


embedding: Primitive = Primitive(
    "embedding",
    _embedding,
    vjp=_embedding_vjp,
    jvp=_embedding_jvp,
    batch=_embedding_batch,
    saves=(1,),
    samples=_samples,
    errors=_errors,
)

embedding_place: Primitive = Primitive(
    "embedding_place",
    wide(_embedding_place, indexed=True),
    vjp=_embedding_place_vjp,
    jvp=_embedding_place_jvp,
    batch=_embedding_place_batch,
    saves=(1,),
    samples=_place_samples,
    errors=_place_errors,
)

ROWS = (embedding, embedding_place)
