"""Contexts: what a Function's forward tells its backward. Used by `function.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from numen.dispatch.core import ArrayCore
from numen.errors import describe


class FunctionContext:
    """What forward tells backward; attributes may be set freely.

    Attributes
    ----------
    needs_input_grad : tuple of bool
        Which arguments of `apply` need a gradient.
    saved_arrays, saved_tensors : tuple
        What `save_for_backward` got.
    """

    def __init__(self, needs: Sequence[bool]) -> None:
        self.needs_input_grad = tuple(needs)
        self._saved: tuple[Any, ...] = ()
        self._forward: tuple[Any, ...] = ()
        self._silent: tuple[Any, ...] = ()
        self._dirty: tuple[Any, ...] = ()
        self._materialize = True

    @property
    def saved_arrays(self) -> tuple[Any, ...]:
        return self._saved or self._forward

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        return self.saved_arrays

    def save_for_backward(self, *arrays: Any) -> None:
        """Keep arguments and results of forward (or None) for backward, which may differentiate
        through them.

        Raises
        ------
        TypeError
            If something else is given; make it an attribute of the context.
        """
        self._saved = _only_arrays(arrays, "save_for_backward")

    def save_for_forward(self, *arrays: Any) -> None:
        """Keep arrays for `jvp`."""
        self._forward = _only_arrays(arrays, "save_for_forward")

    def mark_non_differentiable(self, *results: Any) -> None:
        """Say that results take no part in gradients; backward gets zeros for them."""
        self._silent = results

    def mark_dirty(self, *arguments: Any) -> None:
        """Say that forward wrote into arguments, which it must return."""
        self._dirty = arguments

    def set_materialize_grads(self, value: bool) -> None:
        """Whether backward gets zeros (the default) or None for results that have no gradient."""
        self._materialize = bool(value)


def _only_arrays(values: tuple[Any, ...], what: str) -> tuple[Any, ...]:
    for v in values:
        if v is not None and not isinstance(v, (ArrayCore, np.ndarray)):
            raise TypeError(f"{what}: expected arrays or None, got {describe(v)}")
    return values


class VmapInfo(NamedTuple):
    """What a Function's `vmap` is told: the number of examples, and vmap's `randomness`."""

    batch_size: int
    randomness: str
