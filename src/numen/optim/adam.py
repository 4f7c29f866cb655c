"""Adam and AdamW: steps scaled by running means of the gradient and its square.

Kingma and Ba (2015); decoupled weight decay by Loshchilov and Hutter (2019); the running maximum
(amsgrad) by Reddi et al. (2018). The powers of the betas are part of the clock (`clocks.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from numen.namespace import array, divide, maximum, multiply, sqrt
from numen.namespace.dtypes import float64
from numen.optim.clocks import Clocked
from numen.optim.optimizer import zeros_for


class Adam(Clocked):
    """Adam.

    Parameters
    ----------
    params : iterable of Array, or of dict
        What to update.
    lr : float
        Learning rate.
    betas : pair of float
        Decay of the running means of the gradient and of its square.
    eps : float
        Added to the root of the mean square, after the bias correction.
    weight_decay : float
        L2 penalty: weight_decay * p is added to the gradient.
    amsgrad : bool
        Divide by the largest mean square so far.
    maximize : bool
        Climb instead of descending.

    Raises
    ------
    ValueError
        If an option is out of range.

    Examples
    --------
    >>> import numen as nm
    >>> w = nm.array([1.0, -2.0], requires_grad=True)
    >>> opt = nm.optim.Adam([w], lr=0.5)
    >>> (w * w).sum().backward(); opt.step()
    >>> [round(v, 6) for v in w.tolist()]
    [0.5, -1.5]
    """

    clock = ("step", "beta1_power", "beta2_power")
    decoupled = False
    """Whether weight decay shrinks the parameter itself (AdamW) instead of joining the gradient."""

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        options = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, {**options, "amsgrad": amsgrad, "maximize": maximize})

    def _check(self, group: dict[str, Any]) -> None:
        super()._check(group)
        check_betas(type(self).__name__, group)

    def _new_state(self, p: Any, group: dict[str, Any]) -> dict[str, Any]:
        state = {
            "step": array(0.0, float64),
            "beta1_power": array(1.0, float64),
            "beta2_power": array(1.0, float64),
            "exp_avg": zeros_for(p),
            "exp_avg_sq": zeros_for(p),
        }
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = zeros_for(p)
        return state

    def _restored(self, saved: Mapping[str, Any], position: int) -> Mapping[str, Any]:
        """PyTorch stores the number of steps alone."""
        if "step" not in saved or "beta1_power" in saved:
            return saved
        beta1, beta2 = self._group_of(position)[0]["betas"]
        steps = float(saved["step"])
        return {**saved, "beta1_power": beta1**steps, "beta2_power": beta2**steps}

    def _tick(self, state: dict[str, Any], group: dict[str, Any]) -> Any:
        """lr / (1 - beta1^t) and 1 / sqrt(1 - beta2^t), float64."""
        (beta1, beta2), (step, power1, power2) = group["betas"], [state[n] for n in self.clock]
        step += 1.0
        power1 *= beta1
        power2 *= beta2
        return group["lr"] / (1.0 - power1), 1.0 / sqrt(1.0 - power2)

    def _update(
        self, p: Any, g: Any, group: dict[str, Any], state: dict[str, Any], factors: Any
    ) -> None:
        """m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g g; p -= rate m / (scale sqrt(v) + eps)."""
        (beta1, beta2), decay = group["betas"], group["weight_decay"]
        m, v = state["exp_avg"], state["exp_avg_sq"]
        if decay and self.decoupled:
            p *= 1.0 - group["lr"] * decay
        elif decay:
            g = p * decay + g
        rate, scale = factors
        if m.dtype != rate.dtype:
            rate, scale = rate.astype(m.dtype), scale.astype(m.dtype)
        t = g * (1.0 - beta1)  # the one temporary of the parameter's size
        m *= beta1
        m += t
        multiply(g, g, out=t)
        t *= 1.0 - beta2
        v *= beta2
        v += t
        if group["amsgrad"]:
            largest = state["max_exp_avg_sq"]
            maximum(largest, v, out=largest)
            v = largest
        sqrt(v, out=t)
        t *= scale
        t += group["eps"]
        divide(m, t, out=t)
        t *= rate
        p -= t


class AdamW(Adam):
    """Adam with decoupled weight decay: p shrinks by lr * weight_decay * p before the step.

    Parameters
    ----------
    params : iterable of Array, or of dict
        What to update.
    lr, betas, eps, amsgrad, maximize
        As for Adam.
    weight_decay : float
        Decay per step, times the learning rate.

    Examples
    --------
    >>> import numen as nm
    >>> w = nm.array([1.0], requires_grad=True)
    >>> opt = nm.optim.AdamW([w], lr=0.1, weight_decay=0.1)
    >>> w.sum().backward(); opt.step()
    >>> round(w.item(), 6)
    0.89
    """

    decoupled = True

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)


def check_betas(name: str, group: dict[str, Any]) -> None:
    """Make the betas a list, which schedules write in place (a traced step then reads the new
    values without a new trace), and refuse what lies outside [0, 1).

    Raises
    ------
    ValueError
        Naming the optimiser.
    """
    group["betas"] = list(group["betas"])
    if len(group["betas"]) != 2 or not all(0.0 <= beta < 1.0 for beta in group["betas"]):
        raise ValueError(f"{name}: betas must be two numbers in [0, 1), got {group['betas']}")
