"""Finite differences: derivatives of functions of a flat list of arrays, by evaluation alone.

`Flat` makes such a function of the user's, whose leaves are the differentiable arrays; complex
numbers count as pairs of real ones. Used by `gradients.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numen.dispatch import core, modes
from numen.dispatch.convert import as_array
from numen.dispatch.core import ArrayCore, is_differentiable
from numen.transforms.trees import flatten

Values = list[Any]


def values_of(array: Any) -> Any:
    """The values of an Array as an ndarray of float64 or complex128."""
    data = np.asarray(core.ARRAY.detach(array)) if isinstance(array, ArrayCore) else array
    return np.array(data, np.complex128 if data.dtype.kind == "c" else np.float64)


def pairing(a: Any, b: Any) -> float:
    """The real inner product of two arrays: Re sum conj(a) b."""
    return float(np.real(np.sum(np.conj(a) * b)))


class Flat:
    """A function on the differentiable leaves of its arguments alone.

    Attributes
    ----------
    leaves : list of Array
        The differentiable arguments.
    names : list of str
        What error texts call them.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        args: Sequence[Any],
        chosen: Callable[[Any], bool] | None = None,
    ) -> None:
        self.f = f
        self.everything: Values = []
        self.names: list[str] = []
        self.places: list[int] = []
        self._structures = []
        for number, arg in enumerate(args):
            leaves, structure = flatten(arg)
            self._structures.append(structure)
            for i, leaf in enumerate(leaves):
                if isinstance(leaf, (float, complex, np.ndarray, np.generic)):
                    leaf = as_array(leaf)
                if _can_differ(leaf) and (chosen is None or chosen(leaf)):
                    self.places.append(len(self.everything))
                    self.names.append(
                        f"argument {number}" + (f", leaf {i}" if len(leaves) > 1 else "")
                    )
                self.everything.append(leaf)
        self.leaves = [core.ARRAY.detach(self.everything[i]) for i in self.places]

    def __call__(self, *leaves: Any) -> tuple[Any, ...]:
        """The differentiable results."""
        filled = [core.ARRAY.detach(x) if isinstance(x, ArrayCore) else x for x in self.everything]
        for place, leaf in zip(self.places, leaves, strict=True):
            filled[place] = leaf
        start, args = 0, []
        for structure in self._structures:
            args.append(structure.unflatten(filled[start : start + structure.count]))
            start += structure.count
        return tuple([x for x in flatten(self.f(*args))[0] if _can_differ(x)])

    def evaluate(self, leaves: Sequence[Any]) -> Values:
        """The values of the results at other values of the leaves."""
        arrays = [
            as_array(np.asarray(value)).astype(like._d.dtype)
            for value, like in zip(leaves, self.leaves, strict=True)
        ]
        with modes.no_grad():
            return [values_of(o) for o in self(*arrays)]

    def along(self, directions: Sequence[Any], eps: float) -> Values:
        """The results' derivatives along a direction, by a central difference."""
        points = [values_of(leaf) for leaf in self.leaves]
        above = self.evaluate([p + eps * d for p, d in zip(points, directions, strict=True)])
        below = self.evaluate([p - eps * d for p, d in zip(points, directions, strict=True)])
        return [(a - b) / (2 * eps) for a, b in zip(above, below, strict=True)]

    def by_element(self, leaf: int, index: tuple[int, ...], unit: complex, eps: float) -> Values:
        """The results' derivatives by one element; `unit` 1j: by its imaginary part."""
        directions = [np.zeros_like(values_of(x)) for x in self.leaves]
        directions[leaf][index] = unit
        return self.along(directions, eps)


def _can_differ(x: Any) -> bool:
    return isinstance(x, ArrayCore) and is_differentiable(x._d.dtype)


def units_of(array: Any) -> tuple[complex, ...]:
    """The directions in which an element can move: 1, and 1j where it is complex."""
    return (1.0, 1j) if array.dtype.kind == "c" else (1.0,)


def random_like(array: Any, rng: Any) -> Any:
    """Normal numbers of an array's shape, complex where it is."""
    shape = tuple(array.shape)
    numbers = rng.normal(size=shape)
    return numbers + 1j * rng.normal(size=shape) if array.dtype.kind == "c" else numbers
