"""Lists of arrays as one vector, and what an iteration asks of it.

Solvers work on vectors, also inside `vmap`, where one run solves for all examples: what Python
decides is decided for the worst of them. Used by `iterations.py` and `systems.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numen.dispatch.frames import Frame
from numen.errors import DTypeError, NumenError, ShapeError, describe
from numen.namespace import concatenate, sqrt
from numen.namespace import sum as total

Leaves = list[Any]
Vector = Any


class ConvergenceError(NumenError, RuntimeError):
    """A solver did not reach a solution.

    Attributes
    ----------
    residual : float
        Norm of what is left of the equation.
    iterations : int
        Steps made.
    """

    def __init__(self, message: str, residual: float, iterations: int) -> None:
        super().__init__(message)
        self.residual = residual
        self.iterations = iterations


class Packing:
    """How a list of arrays lies in a vector."""

    def __init__(self, leaves: Sequence[Any]) -> None:
        self.shapes = [tuple(x.shape) for x in leaves]
        self.dtypes = [x.dtype for x in leaves]
        self.sizes = [int(np.prod(shape)) for shape in self.shapes]
        self.dtype = np.result_type(*self.dtypes)
        self.size = sum(self.sizes)

    def join(self, leaves: Sequence[Any], what: str) -> Vector:
        """The vector of these arrays.

        Raises
        ------
        ShapeError, DTypeError
            If they don't have the shapes of the first ones, or are complex where those are real.
        """
        if [tuple(x.shape) for x in leaves] != self.shapes:
            raise ShapeError(
                f"{what}: expected arrays of shapes {self.shapes}; got {describe(*leaves)}"
            )
        for x, dtype in zip(leaves, self.dtypes, strict=True):
            if x.dtype.kind == "c" and dtype.kind != "c":
                raise DTypeError(f"{what}: a complex value for a {dtype} unknown")
        flat = [x.reshape(-1).astype(self.dtype) for x in leaves]
        return concatenate(flat) if len(flat) > 1 else flat[0]

    def split(self, vector: Vector) -> Leaves:
        """The arrays in a vector."""
        leaves, start = [], 0
        for shape, size, dtype in zip(self.shapes, self.sizes, self.dtypes, strict=True):
            part = vector[start : start + size].reshape(shape)
            leaves.append(part if part.dtype == dtype else part.astype(dtype))
            start += size
        return leaves

    def flat(self, function: Callable[[Leaves], Leaves], what: str) -> Callable[[Vector], Vector]:
        """A function of lists as a function of vectors."""
        return lambda vector: self.join(function(self.split(vector)), what)


def resolution(dtype: Any) -> float:
    """The spacing of numbers at 1."""
    return float(np.finfo(dtype).eps) if dtype.kind in "fc" else 2.0**-8


def norm(vector: Vector) -> Any:
    """The Euclidean length, an array of one real number."""
    squares = vector * vector.conj()
    return sqrt(total(squares.real if squares.dtype.kind == "c" else squares))


def greatest(value: Any) -> float:
    """A number, in `vmap` the greatest of all examples; NaN if there is one."""
    while type(value._d) is Frame:
        value = value._d.value
    return float(value.max())
