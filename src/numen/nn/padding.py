"""Padding as layers, with PyTorch's names: constant, zero, reflection, replication, circular.

Each calls `functional.pad`. Next: `functional_convolution.py`.
"""

from __future__ import annotations

from typing import Any, ClassVar

from numen.dispatch.convert import as_array
from numen.errors import ShapeError, describe
from numen.nn.functional_convolution import pad
from numen.nn.module import Module

__all__ = ["ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d"]
__all__ += ["ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d"]
__all__ += ["ReplicationPad1d", "ReplicationPad2d", "ReplicationPad3d"]
__all__ += ["CircularPad1d", "CircularPad2d", "CircularPad3d"]


class Padding(Module):
    """What the layers share.

    Parameters
    ----------
    padding : int or sequence of int
        One width for all sides, or (before, after) of the last axis, then of the one before.

    Raises
    ------
    ValueError
        If the number of widths is wrong.
    """

    rank: ClassVar[int]
    mode: ClassVar[str] = "constant"
    value: float | None = None

    def __init__(self, padding: Any) -> None:
        super().__init__()
        sides = 2 * self.rank
        widths = (padding,) * sides if isinstance(padding, int) else tuple(padding)
        if len(widths) != sides:
            raise ValueError(
                f"{type(self).__name__}: expected one width or {sides}, got {describe(padding)}"
            )
        self.padding = tuple([int(w) for w in widths])

    def forward(self, input: Any) -> Any:
        """Pad the last axes.

        Raises
        ------
        ShapeError
            If the input is not of shape (C, ...) or (N, C, ...).
        """
        x = as_array(input)
        if x.ndim not in (self.rank + 1, self.rank + 2) and self.mode != "constant":
            raise ShapeError(
                f"{type(self).__name__}: expected an input of {self.rank + 1} or {self.rank + 2} "
                f"axes, got {describe(x)}"
            )
        return pad(x, self.padding, self.mode, self.value)

    def extra_repr(self) -> str:
        return str(self.padding)


class _Constant(Padding):
    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_Constant):
    """Pads the last axis with a value.

    Examples
    --------
    >>> import numen as nm
    >>> nm.nn.ConstantPad1d((1, 0), 5.0)(nm.zeros((1, 2))).tolist()
    [[5.0, 0.0, 0.0]]
    """

    rank = 1


class ConstantPad2d(_Constant):
    """Pads the last two axes with a value."""

    rank = 2


class ConstantPad3d(_Constant):
    """Pads the last three axes with a value."""

    rank = 3


class ZeroPad1d(Padding):
    """Pads the last axis with 0."""

    rank, value = 1, 0.0


class ZeroPad2d(Padding):
    """Pads the last two axes with 0."""

    rank, value = 2, 0.0


class ZeroPad3d(Padding):
    """Pads the last three axes with 0."""

    rank, value = 3, 0.0


class ReflectionPad1d(Padding):
    """Mirrors the last axis at its ends, which are not repeated.

    Examples
    --------
    >>> import numen as nm
    >>> nm.nn.ReflectionPad1d(2)(nm.array([[1.0, 2.0, 3.0]])).tolist()
    [[3.0, 2.0, 1.0, 2.0, 3.0, 2.0, 1.0]]
    """

    rank, mode = 1, "reflect"


class ReflectionPad2d(Padding):
    """Mirrors the last two axes at their ends."""

    rank, mode = 2, "reflect"


class ReflectionPad3d(Padding):
    """Mirrors the last three axes at their ends."""

    rank, mode = 3, "reflect"


class ReplicationPad1d(Padding):
    """Repeats the ends of the last axis."""

    rank, mode = 1, "replicate"


class ReplicationPad2d(Padding):
    """Repeats the ends of the last two axes."""

    rank, mode = 2, "replicate"


class ReplicationPad3d(Padding):
    """Repeats the ends of the last three axes."""

    rank, mode = 3, "replicate"


class CircularPad1d(Padding):
    """Continues the last axis from its other end."""

    rank, mode = 1, "circular"


class CircularPad2d(Padding):
    """Continues the last two axes from their other ends."""

    rank, mode = 2, "circular"


class CircularPad3d(Padding):
    """Continues the last three axes from their other ends."""

    rank, mode = 3, "circular"
