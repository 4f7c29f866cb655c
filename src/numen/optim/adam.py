"""Adam and AdamW: steps scaled by running means of the gradient and its square.

Kingma and Ba (2015); decoupled weight decay by Loshchilov and Hutter (2019). The number of steps
and the powers of the betas are 0-d arrays written in place, so a traced step is the same
instructions at every step. Parameters that always step together share them: their state dicts hold
the same arrays.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from numen.dispatch.modes import no_grad
from numen.namespace import array, divide, multiply, sqrt
from numen.namespace.dtypes import float64
from numen.optim.optimizer import Optimizer, zeros_for

CLOCK = ("step", "beta1_power", "beta2_power")
"""What counts steps: t, beta1 ** t, beta2 ** t."""


class Adam(Optimizer):
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

    decoupled = False
    """Whether weight decay shrinks the parameter itself (AdamW) instead of joining the gradient."""

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(
            params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        )

    def add_param_group(self, group: dict[str, Any]) -> None:
        super().add_param_group(group)
        self._share_clocks()

    def _check(self, group: dict[str, Any]) -> None:
        super()._check(group)
        group["betas"] = tuple(group["betas"])
        if not all(0.0 <= beta < 1.0 for beta in group["betas"]):
            raise ValueError(
                f"{type(self).__name__}: betas must lie in [0, 1), got {group['betas']}"
            )

    def _new_state(self, p: Any, group: dict[str, Any]) -> dict[str, Any]:
        return {
            "step": array(0.0, float64),
            "beta1_power": array(1.0, float64),
            "beta2_power": array(1.0, float64),
            "exp_avg": zeros_for(p),
            "exp_avg_sq": zeros_for(p),
        }

    # ------------------------------------------------------------ clocks
    def _share_clocks(self) -> None:
        """Let parameters of a group that have made equal steps hold the same clock arrays."""
        position = 0
        for group in self.param_groups:
            known: dict[tuple[float, ...], dict[str, Any]] = {}
            for _ in group["params"]:
                state = self.state[position]
                first = known.setdefault(tuple([float(state[name]) for name in CLOCK]), state)
                state.update({name: first[name] for name in CLOCK})
                position += 1

    def _leave_behind(self, states: list[dict[str, Any]], idle: list[dict[str, Any]]) -> None:
        """Give parameters that step a clock of their own where they share one with parameters that
        do not."""
        stopped = {id(state["step"]) for state in idle}
        copies: dict[int, dict[str, Any]] = {}
        for state in states:
            clock = id(state["step"])
            if clock in stopped:
                if clock not in copies:
                    copies[clock] = {name: state[name].copy() for name in CLOCK}
                state.update(copies[clock])

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        for state in self.state.values():
            state.update({name: state[name].copy() for name in CLOCK})
        super().load_state_dict(state_dict)
        self._share_clocks()

    def _restored(self, saved: Mapping[str, Any], position: int) -> Mapping[str, Any]:
        """PyTorch stores the number of steps alone."""
        if "step" not in saved or "beta1_power" in saved:
            return saved
        beta1, beta2 = self._group_of(position)["betas"]
        steps = float(saved["step"])
        return {**saved, "beta1_power": beta1**steps, "beta2_power": beta2**steps}

    def _group_of(self, position: int) -> dict[str, Any]:
        for group in self.param_groups:
            if position < len(group["params"]):
                return group
            position -= len(group["params"])
        raise IndexError(f"{type(self).__name__}: no parameter at position {position}")

    # ------------------------------------------------------------ the step
    def step(self) -> None:
        position = 0
        with no_grad():
            for group in self.param_groups:
                moving: list[tuple[Any, Any, dict[str, Any]]] = []
                idle: list[dict[str, Any]] = []
                for p in group["params"]:
                    state, g = self.state[position], p.grad
                    position += 1
                    if g is None:
                        idle.append(state)
                    else:
                        moving.append((p, g, state))
                if idle:
                    self._leave_behind([state for _, _, state in moving], idle)
                factors: dict[Any, tuple[Any, Any]] = {}
                for p, g, state in moving:
                    clock = id(state["step"])
                    if clock not in factors:
                        factors[clock] = _tick(state, group["lr"], group["betas"])
                    self._update(p, g, group, state, factors[clock])

    def _update(
        self, p: Any, g: Any, group: dict[str, Any], state: dict[str, Any], factors: tuple[Any, Any]
    ) -> None:
        """m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g g; p -= rate m / (scale sqrt(v) + eps), all
        in place."""
        (beta1, beta2), decay = group["betas"], group["weight_decay"]
        m, v = state["exp_avg"], state["exp_avg_sq"]
        if not p.ndim:  # what an op computes from 0-d arrays is a scalar, which can't be written
            p, g, m, v = p.reshape(1), g.reshape(1), m.reshape(1), v.reshape(1)
        if g.dtype != m.dtype:
            g = g.astype(m.dtype)
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
        sqrt(v, out=t)
        t *= scale
        t += group["eps"]
        divide(m, t, out=t)
        t *= rate
        p -= t


def _tick(state: dict[str, Any], lr: float, betas: tuple[float, float]) -> tuple[Any, Any]:
    """Advance a clock; lr / (1 - beta1^t) and 1 / sqrt(1 - beta2^t), float64."""
    step, power1, power2 = [state[name] for name in CLOCK]
    step += 1.0
    power1 *= betas[0]
    power2 *= betas[1]
    return lr / (1.0 - power1), 1.0 / sqrt(1.0 - power2)


class AdamW(Adam):
    """Adam with decoupled weight decay: p shrinks by lr * weight_decay * p before the step.

    Parameters
    ----------
    params : iterable of Array, or of dict
        What to update.
    lr, betas, eps
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
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay)
