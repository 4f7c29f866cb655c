"""SGD: gradient descent with momentum, Nesterov's variant and L2 weight decay.

p -= lr * v with v = momentum * v + g (Sutskever et al. 2013, in PyTorch's form). Next: `adam.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from numen.namespace import array, where
from numen.optim.optimizer import Optimizer, zeros_for


class SGD(Optimizer):
    """Stochastic gradient descent.

    Parameters
    ----------
    params : iterable of Array, or of dict
        What to update.
    lr : float
        Learning rate.
    momentum : float
        Share of the last step's velocity that is kept.
    dampening : float
        The gradient joins the velocity times 1 - dampening, at the first step whole.
    weight_decay : float
        L2 penalty: weight_decay * p is added to the gradient.
    nesterov : bool
        Take the gradient's step from where the momentum leads.
    maximize : bool
        Climb instead of descending.

    Raises
    ------
    ValueError
        If an option is negative, or nesterov comes without momentum or with dampening.

    Examples
    --------
    >>> import numen as nm
    >>> w = nm.array([1.0, 2.0], requires_grad=True)
    >>> opt = nm.optim.SGD([w], lr=0.1)
    >>> (w * w).sum().backward(); opt.step()
    >>> w.tolist()
    [0.8, 1.6]
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        options = {"lr": lr, "momentum": momentum, "dampening": dampening}
        options |= {"weight_decay": weight_decay, "nesterov": nesterov, "maximize": maximize}
        super().__init__(params, options)

    def _check(self, group: dict[str, Any]) -> None:
        super()._check(group)
        if group["nesterov"] and (not group["momentum"] or group["dampening"]):
            raise ValueError(
                "SGD: nesterov needs momentum and no dampening, got momentum "
                f"{group['momentum']} and dampening {group['dampening']}"
            )

    def _new_state(self, p: Any, group: dict[str, Any]) -> dict[str, Any]:
        if not group["momentum"]:
            return {}
        # Dampening spares the first step alone, so whether there was one is part of the state.
        stepped = {"stepped": array(False)} if group["dampening"] else {}
        return {"momentum_buffer": zeros_for(p), **stepped}

    def _restored(self, saved: Mapping[str, Any], position: int) -> Mapping[str, Any]:
        """PyTorch stores no velocity, or None, before the first step."""
        if saved.get("momentum_buffer") is None:
            return self._new_state_of(position)
        return {"stepped": True, **saved}

    def _step(self) -> None:
        position = 0
        for group in self.param_groups:
            lr, momentum, decay = group["lr"], group["momentum"], group["weight_decay"]
            for p in group["params"]:
                state = self.state[position]
                position += 1
                if p.grad is None:
                    continue
                g = self._gradient(p, group)
                if decay:
                    g = p * decay + g
                if state:
                    v = state["momentum_buffer"]
                    v *= momentum
                    v += self._dampened(g, group, state)
                    g = v * momentum + g if group["nesterov"] else v
                p -= g * lr

    def _dampened(self, g: Any, group: dict[str, Any], state: dict[str, Any]) -> Any:
        if "stepped" not in state:
            return g
        share = where(state["stepped"], 1.0 - group["dampening"], 1.0)
        state["stepped"][...] = True
        return g * share.astype(g.dtype)
