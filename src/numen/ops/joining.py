"""concatenate: arrays joined along an axis; its gradient cuts the cotangent apart again.

Called by `nm.concatenate` and `nm.stack`. Next: `registry.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numen.dispatch.backends import module_of
from numen.dispatch.core import Leaf, Node
from numen.dispatch.primitive import Primitive
from numen.ops.common import zeros
from numen.ops.indexing import getitem
from numen.ops.samples import DType, Errors, Inputs, Rng, draw
from numen.ops.shape import broadcast_to


class _Concatenate(Primitive):
    """Keeps every argument's extent, also of those without a gradient: they place the others."""

    def node(
        self, args: tuple[Any, ...], parents: tuple[Any, ...], params: dict[str, Any], data: Any
    ) -> Node:
        extents = tuple(
            [
                Leaf(a.shape, a.dtype) if parent is None else None
                for a, parent in zip(args, parents, strict=True)
            ]
        )
        return Node(self, parents, extents, params, None, data)


def _concatenate(*arrays: Any, axis: int) -> Any:
    return module_of(*arrays).concatenate(arrays, axis)


def _vjp(needs: Sequence[bool], g: Any, out: Any, *arrays: Any, axis: int) -> tuple[Any, ...]:
    cotangents, start = [], 0
    before = (slice(None),) * axis
    for needed, a in zip(needs, arrays, strict=True):
        stop = start + a.shape[axis]
        part = (*before, slice(start, stop, 1))
        cotangents.append(getitem(g, index=part) if needed else None)
        start = stop
    return tuple(cotangents)


def _jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any], axis: int) -> Any:
    parts = [
        zeros(tuple(a.shape), out.dtype, out) if t is None else t
        for a, t in zip(args, tangents, strict=True)
    ]
    return concatenate(*parts, axis=axis)


def _batch(size: int, args: Sequence[Any], axes: Sequence[bool], axis: int) -> Any:
    parts = [
        a if batched else broadcast_to(a, shape=(size, *a.shape))
        for a, batched in zip(args, axes, strict=True)
    ]
    return concatenate(*parts, axis=axis + 1)


def _samples(rng: Rng, dtype: DType) -> Inputs:
    def value(*shape: int) -> Any:
        return draw(rng, shape, dtype)

    return [
        ((value(2, 3), value(2, 1), value(2, 4)), {"axis": 1}),
        ((value(2, 3), value(0, 3), value(1, 3)), {"axis": 0}),
        ((value(4),), {"axis": 0}),
    ]


def _errors() -> Errors:
    return [
        ((np.ones((2, 3)), np.ones((3, 2))), {"axis": 0}, ValueError),
        ((np.ones(2), np.ones(3)), {"axis": 1}, np.exceptions.AxisError),
    ]


concatenate = _Concatenate(
    "concatenate", _concatenate, vjp=_vjp, jvp=_jvp, batch=_batch, samples=_samples, errors=_errors
)

ROWS = (concatenate,)
