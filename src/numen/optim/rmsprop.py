"""RMSprop: gradients divided by the root of their running mean square.

Tieleman and Hinton (2012); centered by Graves (2013), with momentum, in PyTorch's form.
Next: `adagrad.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from numen.namespace import array, divide, multiply, sqrt
from numen.namespace.dtypes import float32
from numen.optim.clocks import Clocked
from numen.optim.optimizer import zeros_for


class RMSprop(Clocked):
    """RMSprop.

    Parameters
    ----------
    params : iterable of Array, or of dict
        What to update.
    lr : float
        Learning rate.
    alpha : float
        Decay of the running mean of the squared gradient.
    eps : float
        Added to the root.
    weight_decay : float
        L2 penalty: weight_decay * p is added to the gradient.
    momentum : float
        Share of the last step's velocity that is kept.
    centered : bool
        Divide by the root of the variance: the mean gradient's square is taken off.
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
    >>> opt = nm.optim.RMSprop([w], lr=0.1, alpha=0.75)
    >>> (w * w).sum().backward(); opt.step()
    >>> [round(v, 6) for v in w.tolist()]
    [0.8, -1.8]
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum: float = 0.0,
        centered: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        options = {"lr": lr, "alpha": alpha, "eps": eps, "weight_decay": weight_decay}
        options |= {"momentum": momentum, "centered": centered, "maximize": maximize}
        super().__init__(params, options)

    def _new_state(self, p: Any, group: dict[str, Any]) -> dict[str, Any]:
        state = {"step": array(0.0, float32), "square_avg": zeros_for(p)}
        if group["momentum"]:
            state["momentum_buffer"] = zeros_for(p)
        if group["centered"]:
            state["grad_avg"] = zeros_for(p)
        return state

    def _tick(self, state: dict[str, Any], group: dict[str, Any]) -> Any:
        state["step"] += 1.0

    def _update(
        self, p: Any, g: Any, group: dict[str, Any], state: dict[str, Any], factors: Any
    ) -> None:
        """v = alpha v + (1 - alpha) g g; p -= lr g / (sqrt(v) + eps)."""
        alpha, v = group["alpha"], state["square_avg"]
        if group["weight_decay"]:
            g = p * group["weight_decay"] + g
        t = g * g  # the one temporary of the parameter's size
        t *= 1.0 - alpha
        v *= alpha
        v += t
        if group["centered"]:
            mean = state["grad_avg"]
            mean += (g - mean) * (1.0 - alpha)
            multiply(mean, mean, out=t)
            t *= -1.0
            t += v
            sqrt(t, out=t)
        else:
            sqrt(v, out=t)
        t += group["eps"]
        divide(g, t, out=t)
        if group["momentum"]:
            velocity = state["momentum_buffer"]
            velocity *= group["momentum"]
            velocity += t
            t = velocity * group["lr"]
        else:
            t *= group["lr"]
        p -= t
