"""Arrays of a dtype, shape and memory layout with random and odd values, for property tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
FLOATS = ["f2", "f4", "f8"]
COMPLEX = ["c8", "c16"]
DTYPES = ["?", *INTEGERS, *FLOATS, *COMPLEX]

SHAPES = [(), (0,), (1,), (7,), (64,), (1023,), (3, 0), (1, 5), (5, 1), (17, 33), (2, 3, 5)]
"""Empty, single, odd, more than one vector, more than one block."""


def values(rng: Any, dtype: str, shape: tuple[int, ...], wild: bool = True) -> Any:
    """Random values; `wild` adds extremes, infinities, NaN, zeros of both signs and subnormals."""
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return rng.random(shape) < 0.5
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        small = rng.integers(max(-9, limits.min), 10, shape).astype(kind)
        if not wild:
            return small
        full = rng.integers(limits.min, limits.max, shape, dtype=kind, endpoint=True)
        return np.where(rng.random(shape) < 0.5, small, full)
    if kind.kind == "c":
        part = f"f{kind.itemsize // 2}"
        out = np.empty(shape, kind)
        out.real, out.imag = values(rng, part, shape, wild), values(rng, part, shape, wild)
        return out
    x = np.asarray(rng.normal(size=shape) * 4).astype(kind)
    if not wild:
        return x
    limit = np.finfo(kind)
    odd = [np.nan, np.inf, -np.inf, 0.0, -0.0, limit.max, limit.min, limit.tiny, 1.0, -1.0, 0.5]
    odd.append(limit.smallest_subnormal)
    chosen = np.array(odd, kind)[rng.integers(len(odd), size=shape)]
    return np.where(rng.random(shape) < 0.3, chosen, x)


def _reversed(x: Any) -> Any:
    every = (slice(None, None, -1),) * x.ndim
    return np.ascontiguousarray(x[every])[every]


def _strided(x: Any) -> Any:
    if not x.ndim:
        return x
    room = np.empty((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)
    room[..., ::2] = x
    return room[..., ::2]


def _swapped(x: Any) -> Any:
    return np.array(np.swapaxes(x, 0, -1), order="C").swapaxes(0, -1) if x.ndim else x


def _repeated(x: Any) -> Any:
    return np.broadcast_to(x.reshape(-1)[:1], x.shape) if x.size > 1 else x


def _unaligned(x: Any) -> Any:
    memory = np.empty(x.nbytes + 1, np.uint8)
    out = memory[1:].view(x.dtype).reshape(x.shape)
    out[...] = x
    return out


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "C": np.ascontiguousarray,
    "F": lambda x: np.array(x, order="F"),
    "negative steps": _reversed,
    "every other element": _strided,
    "axes swapped": _swapped,
    "one element repeated": _repeated,
    "other byte order": lambda x: x.astype(x.dtype.newbyteorder()),
    "unaligned": _unaligned,
}


def arrays(shape: tuple[int, ...], wild: bool = True, dtypes: list[str] = DTYPES) -> Any:
    """A strategy for ndarrays of one shape."""

    def make(dtype: str, layout: str, seed: int) -> Any:
        x = np.asarray(values(np.random.default_rng(seed), dtype, shape, wild))
        out = LAYOUTS[layout](x)
        return out.reshape(shape) if out.shape != shape else out

    return st.builds(
        make, st.sampled_from(dtypes), st.sampled_from(list(LAYOUTS)), st.integers(0, 99)
    )
