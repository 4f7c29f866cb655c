"""Initial values of layers: new parameters and buffers in a layer's dtype and on its device.

Values come from the default Philox stream, so that `nm.manual_seed` repeats them. Used by the files
of layers; `init.py` refills parameters that are there.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numen.namespace import array
from numen.nn.parameter import Parameter
from numen.random.stream import default_stream


def floats_of(dtype: Any) -> np.dtype[Any]:
    """A layer's dtype: float32 where none is given."""
    return np.dtype(np.float32 if dtype is None else dtype)


def uniform(shape: tuple[int, ...], bound: float, dtype: Any) -> Parameter:
    """A parameter uniform in [-bound, bound)."""
    return Parameter(_drawn("uniform", shape, dtype, -bound, bound))


def normal(shape: tuple[int, ...], dtype: Any) -> Parameter:
    """A parameter of mean 0 and variance 1."""
    return Parameter(_drawn("normal", shape, dtype, 0.0, 1.0))


def full(shape: tuple[int, ...], value: float, dtype: Any) -> Parameter:
    """A parameter of one value."""
    return Parameter(np.full(shape, value, floats_of(dtype)))


def buffer(shape: tuple[int, ...], value: float, dtype: Any) -> Any:
    """An array of one value that is no parameter."""
    return array(np.full(shape, value, dtype))


def bound_of(fan_in: int) -> float:
    """1 / sqrt(fan_in): He et al. (2015) with a = sqrt(5), PyTorch's default."""
    return 1.0 / math.sqrt(fan_in) if fan_in > 0 else 0.0


def _drawn(kind: str, shape: tuple[int, ...], dtype: Any, *parameters: float) -> Any:
    target = floats_of(dtype)
    inner = target if target in (np.float32, np.float64) else np.dtype(np.float32)
    drawn = getattr(default_stream, kind)(shape, inner, *parameters)
    return drawn if target == inner else drawn.astype(target)
