"""philox_uniform: random numbers as an op, so that a compiled program draws new ones at each call.

Its argument is an array (seed, position) of uint64; the caller adds the number of elements to the
position afterwards, in place. The numbers are those of `random.Stream(seed, stream)` from that
position on. Used by `nn/dropout.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from numen.dispatch.backends import backend_of, placed_like
from numen.dispatch.primitive import Primitive
from numen.errors import DTypeError, ShapeError, describe
from numen.ops.indexing import getitem
from numen.ops.joining import concatenate
from numen.ops.philox import words
from numen.ops.samples import DType, Errors, Inputs, Rng


def _philox_uniform(state: Any, shape: tuple[int, ...], stream: int) -> Any:
    if state.dtype != np.uint64:
        raise DTypeError(f"philox_uniform: expected a state of uint64, got {describe(state)}")
    if state.shape != (2,):
        raise ShapeError(f"philox_uniform: expected (seed, position), got {describe(state)}")
    backend = backend_of((state,))
    seed, position = (state if backend is None else backend.to_host(state)).tolist()
    drawn = words(seed, stream, position, math.prod(shape)).reshape(shape)
    unit = np.multiply(drawn >> np.uint32(8), np.float32(2.0**-24), dtype=np.float32)
    return placed_like(np.asarray(unit), state)


def _batch(size: int, args: Sequence[Any], axes: Sequence[bool], **params: Any) -> Any:
    drawn = [philox_uniform(getitem(args[0], index=(i,)), **params) for i in range(size)]
    return concatenate(*[d.reshape((1, *d.shape)) for d in drawn], axis=0)


def _samples(rng: Rng, dtype: DType) -> Inputs:
    states = ((7, 0), (7, 5), (2**63, 2**33))
    shapes = ((2, 3), (5,), ())
    return [
        ((np.array(state, np.uint64),), {"shape": shape, "stream": 1})
        for state, shape in zip(states, shapes, strict=True)
    ]


def _errors() -> Errors:
    params = {"shape": (2,), "stream": 1}
    return [
        ((np.zeros(2),), params, TypeError),
        ((np.zeros(3, np.uint64),), params, ValueError),
    ]


philox_uniform = Primitive(
    "philox_uniform", _philox_uniform, batch=_batch, samples=_samples, errors=_errors
)

ROWS = (philox_uniform,)
