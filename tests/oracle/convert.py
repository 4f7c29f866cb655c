"""torch's tensors, dtypes and arguments as numen's, leaf for leaf.

`Pair` keeps both sides of one sample: the arguments for torch and those for numen, with the leaves
that carry gradients in the same order. Next: `counterparts.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np
import torch

import numen as nm

LEFT_OUT = ("device", "layout", "pin_memory", "requires_grad", "memory_format")
"""Keyword arguments that say where and how torch stores a result."""

DTYPES = {
    torch.bool: np.dtype(np.bool_),
    torch.uint8: np.dtype(np.uint8),
    torch.int8: np.dtype(np.int8),
    torch.int16: np.dtype(np.int16),
    torch.int32: np.dtype(np.int32),
    torch.int64: np.dtype(np.int64),
    torch.float16: np.dtype(np.float16),
    torch.bfloat16: np.dtype(ml_dtypes.bfloat16),
    torch.float32: np.dtype(np.float32),
    torch.float64: np.dtype(np.float64),
    torch.complex64: np.dtype(np.complex64),
    torch.complex128: np.dtype(np.complex128),
}


class LeftOutError(Exception):
    """A sample that has no form in numen; the message says why."""


def to_numpy(tensor: torch.Tensor) -> np.ndarray:
    """A tensor's values, in its own memory layout."""
    t = tensor.detach()
    if t.layout is not torch.strided or t.is_quantized:
        raise LeftOutError("sparse")
    if t.dtype not in DTYPES:
        raise LeftOutError(f"dtype {t.dtype}")
    if t.dtype is torch.bfloat16:
        return t.float().numpy(force=True).astype(ml_dtypes.bfloat16)
    return np.array(t.numpy(force=True), order="K")


class Pair:
    """The arguments of one sample for both libraries, with their leaves."""

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.leaves: list[tuple[torch.Tensor, nm.Array]] = []
        self.dtypes: set[str] = set()
        self._known: dict[int, tuple[torch.Tensor, nm.Array]] = {}
        self.theirs = (self._torch(args), self._torch(kwargs))
        self.ours = (self._numen(args), self._numen(without(kwargs)))

    def _both(self, tensor: torch.Tensor) -> tuple[torch.Tensor, nm.Array]:
        found = self._known.get(id(tensor))
        if found is None:
            copied = tensor.detach().clone()
            grads = tensor.requires_grad
            copied.requires_grad_(grads)
            # a fresh tensor's id must not meet a dead one's
            array = nm.asarray(to_numpy(tensor))
            if grads:
                array.requires_grad_(True)
            found = self._known[id(tensor)] = (copied, array)
            if grads:
                self.leaves.append(found)
            self.dtypes.add(str(array.dtype))
        return found

    def _torch(self, value: Any) -> Any:
        return mapped(value, lambda t: self._both(t)[0])

    def _numen(self, value: Any) -> Any:
        value = mapped(value, lambda t: self._both(t)[1])
        return plain(value)


def without(kwargs: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in kwargs.items() if k not in LEFT_OUT}


def mapped(value: Any, change: Callable[[torch.Tensor], Any]) -> Any:
    """`value` with every tensor in it replaced."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, torch.Size):
        return value
    if isinstance(value, slice):
        return slice(*[mapped(v, change) for v in (value.start, value.stop, value.step)])
    if type(value) in (list, tuple):
        return type(value)([mapped(v, change) for v in value])
    if type(value) is dict:
        return {k: mapped(v, change) for k, v in value.items()}
    return value


def plain(value: Any) -> Any:
    """torch's dtypes and sizes in `value` as NumPy's."""
    if isinstance(value, torch.dtype):
        if value not in DTYPES:
            raise LeftOutError(f"dtype {value}")
        return DTYPES[value]
    if isinstance(value, torch.Size):
        return tuple(value)
    if type(value) in (list, tuple):
        return type(value)([plain(v) for v in value])
    if type(value) is dict:
        return {k: plain(v) for k, v in value.items()}
    return value


def is_shape(value: Any) -> bool:
    return type(value) is tuple and all(type(v) is int for v in value)


def flat(value: Any) -> Iterator[Any]:
    """The results in a result: tuples, lists and named tuples opened."""
    if isinstance(value, torch.Size) or is_shape(value):
        yield np.asarray(value, np.int64)
    elif isinstance(value, (tuple, list)):
        for v in value:
            yield from flat(v)
    elif value is not None:
        yield value


def as_values(value: Any) -> np.ndarray:
    """The NumPy array of a result of either library."""
    if isinstance(value, torch.Tensor):
        return to_numpy(value)
    if isinstance(value, nm.Array):
        return np.asarray(value.detach().numpy())
    return np.asarray(value)


def cotangents(results: list[Any], index: int) -> list[np.ndarray | None]:
    """A random array for each result that carries a gradient."""
    rng = np.random.default_rng(index)
    found: list[np.ndarray | None] = []
    for r in results:
        if not isinstance(r, torch.Tensor) or not r.requires_grad:
            found.append(None)
            continue
        seed = rng.standard_normal(tuple(r.shape))
        if r.is_complex():
            seed = seed + 1j * rng.standard_normal(tuple(r.shape))
        dtype = DTYPES.get(r.dtype)
        found.append(None if dtype is None else np.asarray(seed).astype(dtype))
    return found


def summary(value: Any) -> str:
    """A short text of a sample's arguments."""
    if isinstance(value, torch.Tensor):
        grad = ", grad" if value.requires_grad else ""
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}{grad}"
    if type(value) in (list, tuple):
        left, right = ("[", "]") if type(value) is list else ("(", ")")
        return left + ", ".join(summary(v) for v in value) + right
    if type(value) is dict:
        return ", ".join(f"{k}={summary(v)}" for k, v in value.items())
    return repr(value)
