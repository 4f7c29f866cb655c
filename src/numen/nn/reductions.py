"""What the losses share: operands of one shape and dtype, and the reduction of a loss per element.

Called by `functional_losses.py`, `functional_classification.py` and `functional_ctc.py`.
"""

from __future__ import annotations

from typing import Any

from numen.dispatch.convert import as_array
from numen.dispatch.core import is_differentiable
from numen.errors import DTypeError, ShapeError, describe

REDUCTIONS = ("mean", "sum", "none")


def check_reduction(reduction: str, op: str, *more: str) -> None:
    """Refuse a reduction that there is not.

    Raises
    ------
    ValueError
        If it is none of `REDUCTIONS` and `more`.
    """
    if reduction not in REDUCTIONS and reduction not in more:
        raise ValueError(
            f"{op}: expected reduction to be one of {(*REDUCTIONS, *more)}, got {reduction!r}"
        )


def floating(x: Any, op: str, name: str = "input") -> Any:
    """x as a floating Array.

    Raises
    ------
    DTypeError
        If its dtype is another.
    """
    x = as_array(x)
    if not is_differentiable(x.dtype) or x.dtype.kind == "c":
        raise DTypeError(f"{op}: expected floating {name}, got {describe(x)}")
    return x


def alike(value: Any, x: Any, op: str, name: str = "target") -> Any:
    """`value` in x's dtype.

    Raises
    ------
    DTypeError
        If it is not real.
    """
    value = as_array(value)
    if value.dtype == x.dtype:
        return value
    if value.dtype.kind not in "biuf" and not (
        is_differentiable(value.dtype) and value.dtype.kind != "c"
    ):
        raise DTypeError(f"{op}: expected real {name}, got {describe(value)}")
    return value.astype(x.dtype)


def pair(x: Any, target: Any, op: str, names: tuple[str, str] = ("input", "target")) -> Any:
    """Two arrays of one shape, in the first one's floating dtype.

    Raises
    ------
    ShapeError
        If the shapes differ: nothing is broadcast.
    DTypeError
        If the first is not floating or the second not real.
    """
    x = floating(x, op, names[0])
    target = as_array(target)
    if x.shape != target.shape:
        raise ShapeError(
            f"{op}: {names[0]} and {names[1]} must have the same shape, got {describe(x, target)}"
        )
    return x, alike(target, x, op, names[1])


def reduced(losses: Any, reduction: str) -> Any:
    """The losses, their sum or their mean, which is NaN (its gradient 0) where there are none."""
    if reduction == "none":
        return losses
    if reduction == "sum":
        return losses.sum()
    return losses.mean() if losses.size else losses.sum() * float("nan")


def weighted(losses: Any, weight: Any, op: str) -> Any:
    """The losses times a weight that broadcasts to their shape.

    Raises
    ------
    ShapeError
        If it does not.
    """
    if weight is None:
        return losses
    weight = alike(weight, losses, op, "weight")
    result = None
    if weight.ndim <= losses.ndim:
        ends = zip(weight.shape[::-1], losses.shape[::-1], strict=False)
        result = losses * weight if all([m in (1, n) for m, n in ends]) else None
    if result is None:
        raise ShapeError(
            f"{op}: expected a weight that broadcasts to the losses' shape {losses.shape}, got "
            f"{describe(weight)}"
        )
    return result
