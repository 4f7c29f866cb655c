"""einops on numen's arrays: `rearrange`, `reduce`, `repeat`, `einsum`, differentiable as numen's
ops are.

einops finds this class among its backends' subclasses. Imported by `imports.py` once einops is.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from einops._backends import AbstractBackend

from numen.dispatch.core import ArrayCore


class NumenBackend(AbstractBackend):
    """What einops asks of an array library."""

    framework_name = "numen"

    def __init__(self) -> None:
        self.numen = sys.modules["numen"]

    def is_appropriate_type(self, tensor: Any) -> bool:
        return isinstance(tensor, ArrayCore)

    def from_numpy(self, x: Any) -> Any:
        return self.numen.asarray(x)

    def to_numpy(self, x: Any) -> Any:
        return x.detach().numpy()

    def arange(self, start: int, stop: int) -> Any:
        return self.numen.arange(start, stop)

    def stack_on_zeroth_dimension(self, tensors: Sequence[Any]) -> Any:
        return self.numen.stack(tensors)

    def add_axis(self, x: Any, new_position: int) -> Any:
        return self.numen.expand_dims(x, new_position)

    def tile(self, x: Any, repeats: Sequence[int]) -> Any:
        return self.numen.tile(x, repeats)

    def concat(self, tensors: Sequence[Any], axis: int) -> Any:
        return self.numen.concatenate(tensors, axis=axis)

    def is_float_type(self, x: Any) -> bool:
        return bool(np.issubdtype(x.dtype, np.inexact))

    def einsum(self, pattern: str, *x: Any) -> Any:
        return self.numen.einsum(pattern, *x)
