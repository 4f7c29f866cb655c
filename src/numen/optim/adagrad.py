"""Adagrad: gradients divided by the root of the sum of all their squares so far.

Duchi, Hazan and Singer (2011), in PyTorch's form. Next: `lion.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from numen.namespace import array, divide, sqrt
from numen.namespace.dtypes import float64
from numen.optim.clocks import Clocked
from numen.optim.optimizer import zeros_for


class Adagrad(Clocked):
    """Adagrad.

    Parameters
    ----------
    params : iterable of Array, or of dict
        What to update.
    lr : float
        Learning rate.
    lr_decay : float
        The rate of step t is lr / (1 + (t - 1) * lr_decay).
    weight_decay : float
        L2 penalty: weight_decay * p is added to the gradient.
    initial_accumulator_value : float
        What the sums of squares start from.
    eps : float
        Added to the root.
    maximize : bool
        Climb instead of descending.

    Raises
    ------
    ValueError
        If an option is negative.

    Examples
    --------
    >>> import numen as nm
    >>> w = nm.array([1.0, -2.0], requires_grad=True)
    >>> opt = nm.optim.Adagrad([w], lr=0.25)
    >>> (w * w).sum().backward(); opt.step()
    >>> [round(v, 6) for v in w.tolist()]
    [0.75, -1.75]
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-2,
        lr_decay: float = 0.0,
        weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0,
        eps: float = 1e-10,
        *,
        maximize: bool = False,
    ) -> None:
        options = {"lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay}
        options["initial_accumulator_value"] = initial_accumulator_value
        super().__init__(params, {**options, "maximize": maximize})

    def _check(self, group: dict[str, Any]) -> None:
        super()._check(group)
        if not group["initial_accumulator_value"] >= 0:
            raise ValueError(
                "Adagrad: initial_accumulator_value must not be negative, got "
                f"{group['initial_accumulator_value']}"
            )

    def _new_state(self, p: Any, group: dict[str, Any]) -> dict[str, Any]:
        total = zeros_for(p)
        first = group["initial_accumulator_value"]
        total += first if total.dtype.kind != "c" else complex(first, first)
        return {"step": array(0.0, float64), "sum": total}

    def _tick(self, state: dict[str, Any], group: dict[str, Any]) -> Any:
        """The rate of this step."""
        step = state["step"]
        step += 1.0
        if not group["lr_decay"]:
            return group["lr"]
        return group["lr"] / (1.0 + (step - 1.0) * group["lr_decay"])

    def _update(
        self, p: Any, g: Any, group: dict[str, Any], state: dict[str, Any], factors: Any
    ) -> None:
        """s = s + g g; p -= rate g / (sqrt(s) + eps)."""
        total, rate = state["sum"], factors
        if group["weight_decay"]:
            g = p * group["weight_decay"] + g
        t = g * g  # the one temporary of the parameter's size
        total += t
        sqrt(total, out=t)
        t += group["eps"]
        divide(g, t, out=t)
        t *= rate.astype(t.dtype) if group["lr_decay"] else rate
        p -= t
