"""Layers that leave values alone: Identity, Unflatten.

`Flatten` is in `layers.py`.
"""

from __future__ import annotations

import math
from typing import Any

from numen.dispatch.convert import normalize_axes
from numen.errors import ShapeError, describe
from numen.nn.module import Module

__all__ = ["Identity", "Unflatten"]


class Identity(Module):
    """Returns its input, whatever it is made with.

    Examples
    --------
    >>> import numen as nm
    >>> nm.nn.Identity(54, unused=True)(nm.ones(2)).tolist()
    [1.0, 1.0]
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        return input


class Unflatten(Module):
    """Splits one axis into several.

    Parameters
    ----------
    dim : int
        The axis.
    unflattened_size : sequence of int
        What it becomes; one of them may be -1.

    Examples
    --------
    >>> import numen as nm
    >>> nm.nn.Unflatten(1, (2, -1))(nm.zeros((3, 8))).shape
    (3, 2, 4)
    """

    def __init__(self, dim: int, unflattened_size: Any) -> None:
        super().__init__()
        self.dim, self.unflattened_size = dim, tuple(unflattened_size)

    def forward(self, input: Any) -> Any:
        """Split the axis.

        Raises
        ------
        ShapeError
            If the extents do not multiply to the axis's.
        """
        (axis,) = normalize_axes(self.dim, len(input.shape), "Unflatten")
        sizes, n = self.unflattened_size, input.shape[axis]
        known = math.prod([s for s in sizes if s != -1])
        if sizes.count(-1) == 1 and known and n % known == 0:
            sizes = tuple([n // known if s == -1 else s for s in sizes])
        if math.prod(sizes) != n or -1 in sizes:
            raise ShapeError(
                f"Unflatten: expected sizes whose product is {n}, got {self.unflattened_size} for "
                f"axis {self.dim} of the {describe(input)}"
            )
        return input.reshape((*input.shape[:axis], *sizes, *input.shape[axis + 1 :]))

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
