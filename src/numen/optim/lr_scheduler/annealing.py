"""Schedules that let the rate fall along a curve: a polynomial, or half a cosine, once or again
and again.

Cosine annealing by Loshchilov and Hutter (2017). Next: `cycles.py`.
"""

from __future__ import annotations

from math import cos, log, pi

from numen.optim.lr_scheduler.base import LRScheduler
from numen.optim.optimizer import Optimizer


class PolynomialLR(LRScheduler):
    """The initial rate times (1 - step / total_iters) ** power, then 0.

    Examples
    --------
    >>> import numen as nm
    >>> opt = nm.optim.SGD([nm.ones(1)], lr=1.0)
    >>> schedule = nm.optim.lr_scheduler.PolynomialLR(opt, total_iters=4)
    >>> schedule.step(); opt.lr
    0.75
    """

    def __init__(
        self,
        optimizer: Optimizer,
        total_iters: int = 5,
        power: float = 1.0,
        last_epoch: int = -1,
    ) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._rates()
        now = 1.0 - self.last_epoch / self.total_iters
        before = 1.0 - (self.last_epoch - 1) / self.total_iters
        return self._scaled((now / before) ** self.power)

    def _get_closed_form_lr(self) -> list[float]:
        left = 1.0 - min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * left**self.power for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """From the initial rate to `eta_min` along half a cosine of T_max steps, and back.

    Examples
    --------
    >>> import numen as nm
    >>> opt = nm.optim.SGD([nm.ones(1)], lr=1.0)
    >>> schedule = nm.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=2)
    >>> schedule.step(); opt.lr
    0.5
    """

    def __init__(
        self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        low, step, period = self.eta_min, self.last_epoch, self.T_max
        if self._is_initial:
            return self._rates()
        if self._step_count == 1 and step > 0:
            return self._get_closed_form_lr()
        groups = self.optimizer.param_groups
        if (step - 1 - period) % (2 * period) == 0:  # the rate is at the bottom: no ratio from it
            rise = (1 - cos(pi / period)) / 2
            return [
                group["lr"] + (base - low) * rise
                for group, base in zip(groups, self.base_lrs, strict=True)
            ]
        ratio = (1 + cos(pi * step / period)) / (1 + cos(pi * (step - 1) / period))
        return [ratio * (group["lr"] - low) + low for group in groups]

    def _get_closed_form_lr(self) -> list[float]:
        share = (1 + cos(pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (base - self.eta_min) * share for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half a cosine of T_0 steps, then from the initial rate again, each T_mult times longer.

    `step(epoch)` takes fractions, to follow the curve within an epoch.

    Raises
    ------
    ValueError
        If T_0 or T_mult is no positive integer.

    Examples
    --------
    >>> import numen as nm
    >>> opt = nm.optim.SGD([nm.ones(1)], lr=1.0)
    >>> schedule = nm.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, T_0=2)
    >>> rates = []
    >>> for _ in range(4):
    ...     rates.append(round(opt.lr, 6)); schedule.step()
    >>> rates
    [1.0, 0.5, 1.0, 0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        for name, value in (("T_0", T_0), ("T_mult", T_mult)):
            if not isinstance(value, int) or value < 1:
                raise ValueError(
                    f"CosineAnnealingWarmRestarts: expected a positive integer {name}, got {value}"
                )
        self.T_0 = self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        share = (1 + cos(pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * share for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Go one step on, or to step `epoch`, which may be a fraction."""
        self._step_count += 1
        if epoch is None and self.last_epoch >= 0:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        else:
            epoch = epoch or 0
            if epoch < 0:
                raise ValueError(f"CosineAnnealingWarmRestarts: negative epoch {epoch}")
            self._go_to(epoch)
        self.last_epoch = int(epoch)
        self._set(self.get_lr())

    def _go_to(self, epoch: float) -> None:
        """Find the period that holds a step, and the place in it."""
        if self.T_mult == 1 or epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch % self.T_0
            return
        past = int(log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
        self.T_cur = epoch - self.T_0 * (self.T_mult**past - 1) / (self.T_mult - 1)
        self.T_i = self.T_0 * self.T_mult**past
