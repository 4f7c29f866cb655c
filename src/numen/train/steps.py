"""The training step and the evaluation step of `fit`: what is compiled, and what goes in.

A step is plain Python over the model, the loss and the optimiser; `fitting.py` passes it to `jit`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from numen.data import ArrayDataset, DataLoader, Dataset
from numen.dispatch.convert import as_array
from numen.dispatch.core import ArrayCore
from numen.errors import NumenError, describe
from numen.namespace import isfinite
from numen.nn.utils.clip import clip_grad_norm_
from numen.tracing import jit


class NonFiniteLossError(NumenError, FloatingPointError):
    """A loss became NaN or infinite; the text names epoch and batch."""


def training_step(
    model: Any, loss: Any, optimizer: Any, clip: float | None, outputs: bool, compiled: bool
) -> Callable[[Any, Any], Any]:
    """A function of a batch that makes one step; it gives the loss and, if asked for, the outputs.

    The optimiser steps only where the loss is finite: the weights then are what they were before
    the batch.
    """

    parameters = list(model.parameters())

    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        out = apply(model, x)
        value = loss(out, y)
        value.backward()
        if isfinite(value):
            if clip is not None:
                clip_grad_norm_(parameters, clip)
            optimizer.step()
        return (value.item(), out.detach()) if outputs else (value.item(), None)

    return jit(step) if compiled else step


def evaluation_step(
    model: Any, loss: Any, outputs: bool, compiled: bool
) -> Callable[[Any, Any], Any]:
    """A function of a batch that gives the loss and, if asked for, the outputs."""

    def step(x: Any, y: Any) -> Any:
        out = apply(model, x)
        return (loss(out, y).item(), out if outputs else None)

    return jit(step) if compiled else step


def apply(model: Any, x: Any) -> Any:
    """Call a model with the inputs of a batch: an array, or several by place or name."""
    if isinstance(x, dict):
        return model(**x)
    return model(*x) if isinstance(x, (tuple, list)) else model(x)


def pair(batch: Any, op: str) -> tuple[Any, Any]:
    """Inputs and targets of a batch, as Arrays.

    Raises
    ------
    ValueError
        If a batch is no pair.
    """
    if not isinstance(batch, (tuple, list)) or len(batch) != 2:
        raise ValueError(f"{op}: expected batches of (inputs, targets), got {describe(batch)}")
    return arrays(batch[0]), arrays(batch[1])


def arrays(value: Any) -> Any:
    """ndarrays as Arrays, within tuples, lists and dicts too."""
    if isinstance(value, ArrayCore):
        return value
    if isinstance(value, dict):
        return {key: arrays(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return tuple([arrays(item) for item in value])
    return as_array(value)


def rows_of(value: Any) -> int:
    """Samples in a batch."""
    while not isinstance(value, ArrayCore):
        value = next(iter(value.values() if isinstance(value, dict) else value))
    return int(value.shape[0]) if value.ndim else 1  # type: ignore[attr-defined]


def batches_of(data: Any, batch_size: int, shuffle: bool, op: str) -> Any:
    """What gives batches, from what users pass: a loader, a data set, a pair of arrays, or anything
    that can be iterated over again and again.

    Raises
    ------
    TypeError
        If it is none of these.
    """
    if isinstance(data, DataLoader):
        return data
    if isinstance(data, tuple) and len(data) == 2 and all([_is_array(a) for a in data]):
        data = ArrayDataset(*data)
    if isinstance(data, Dataset):
        return DataLoader(data, batch_size, shuffle)
    if not isinstance(data, Iterable):
        raise TypeError(
            f"{op}: expected a DataLoader, a Dataset, a pair of arrays or an iterable of batches, "
            f"got {describe(data)}"
        )
    if iter(data) is data:
        raise TypeError(
            f"{op}: {describe(data)} can be read only once. Hint: pass a list or a DataLoader"
        )
    return data


def _is_array(value: Any) -> bool:
    return isinstance(value, (ArrayCore, np.ndarray))
