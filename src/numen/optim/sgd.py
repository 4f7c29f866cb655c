"""SGD: gradient descent with momentum, Nesterov's variant and L2 weight decay.

p -= lr * v with v = momentum * v + g (Sutskever et al. 2013, in PyTorch's form). Next: `adam.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from numen.dispatch.modes import no_grad
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
    weight_decay : float
        L2 penalty: weight_decay * p is added to the gradient.
    nesterov : bool
        Take the gradient's step from where the momentum leads.

    Raises
    ------
    ValueError
        If an option is negative, or nesterov comes without momentum.

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
        weight_decay: float = 0.0,
        nesterov: bool = False,
    ) -> None:
        options = {
            "lr": lr,
            "momentum": momentum,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
        }
        super().__init__(params, options)

    def _check(self, group: dict[str, Any]) -> None:
        super()._check(group)
        if group["nesterov"] and not group["momentum"]:
            raise ValueError("SGD: nesterov needs momentum, got momentum 0")

    def _new_state(self, p: Any, group: dict[str, Any]) -> dict[str, Any]:
        return {"momentum_buffer": zeros_for(p)} if group["momentum"] else {}

    def step(self) -> None:
        position = 0
        with no_grad():
            for group in self.param_groups:
                lr, momentum, decay = group["lr"], group["momentum"], group["weight_decay"]
                for p in group["params"]:
                    state = self.state[position]
                    position += 1
                    g = p.grad
                    if g is None:
                        continue
                    if decay:
                        g = p * decay + g
                    if state:
                        v = state["momentum_buffer"]
                        v *= momentum
                        v += g
                        g = v * momentum + g if group["nesterov"] else v
                    p -= g * lr
