"""Lion: steps of one size in the direction of an interpolated gradient's sign.

Chen et al. (2023), "Symbolic discovery of optimization algorithms", Algorithm 2.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from numen.namespace import sign
from numen.optim.adam import check_betas
from numen.optim.optimizer import Optimizer, zeros_for


class Lion(Optimizer):
    """Lion.

    Parameters
    ----------
    params : iterable of Array, or of dict
        What to update.
    lr : float
        Size of a step; a third to a tenth of what Adam needs.
    betas : pair of float
        Share of the mean gradient in the step's direction, and in the mean itself.
    weight_decay : float
        Decoupled: p shrinks by lr * weight_decay * p before the step.
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
    >>> opt = nm.optim.Lion([w], lr=0.25)
    >>> (w * w).sum().backward(); opt.step()
    >>> w.tolist()
    [0.75, -1.75]
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-4,
        betas: tuple[float, float] = (0.9, 0.99),
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        options = {"lr": lr, "betas": betas, "weight_decay": weight_decay, "maximize": maximize}
        super().__init__(params, options)

    def _check(self, group: dict[str, Any]) -> None:
        super()._check(group)
        check_betas(type(self).__name__, group)

    def _new_state(self, p: Any, group: dict[str, Any]) -> dict[str, Any]:
        return {"exp_avg": zeros_for(p)}

    def _step(self) -> None:
        position = 0
        for group in self.param_groups:
            lr, (beta1, beta2), decay = group["lr"], group["betas"], group["weight_decay"]
            for p in group["params"]:
                m = self.state[position]["exp_avg"]
                position += 1
                if p.grad is None:
                    continue
                g = self._gradient(p, group)
                if not p.ndim:  # what an op computes from 0-d arrays is a scalar
                    p, g, m = p.reshape(1), g.reshape(1), m.reshape(1)
                if g.dtype != m.dtype:
                    g = g.astype(m.dtype)
                if decay:
                    p *= 1.0 - lr * decay
                direction = m * beta1
                direction += g * (1.0 - beta1)
                if p.dtype.kind != "c":
                    sign(direction, out=direction)
                else:  # either part is a number of its own
                    for part in (direction.real, direction.imag):
                        sign(part, out=part)
                direction *= lr
                p -= direction
                m *= beta2
                m += g * (1.0 - beta2)
