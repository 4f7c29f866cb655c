"""ReduceLROnPlateau: a smaller rate when a measure has stopped improving.

Called with the measure: `step(validation_loss)`. Next: `combining.py`.
"""

from __future__ import annotations

from math import inf
from typing import Any

from numen.errors import describe
from numen.optim.lr_scheduler.base import LRScheduler
from numen.optim.optimizer import Optimizer


class ReduceLROnPlateau(LRScheduler):
    """The rate times `factor` after more than `patience` steps without improvement.

    Parameters
    ----------
    optimizer : Optimizer
        Whose rates are set.
    mode : {"min", "max"}
        Whether the measure should fall or rise.
    factor : float
        Below 1.
    patience : int
        Steps without improvement that are let pass.
    threshold, threshold_mode : float, {"rel", "abs"}
        What counts as improvement: by that share of the best, or by that much.
    cooldown : int
        Steps after a reduction that are not counted.
    min_lr : float, or list of float
        The least rate.
    eps : float
        A smaller change is not made.

    Raises
    ------
    ValueError
        If an option is out of range.

    Examples
    --------
    >>> import numen as nm
    >>> opt = nm.optim.SGD([nm.ones(1)], lr=1.0)
    >>> schedule = nm.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.5, patience=1)
    >>> for loss in (3.0, 2.0, 2.0, 2.0):
    ...     schedule.step(loss)
    >>> opt.lr
    0.5
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float | list[float] = 0.0,
        eps: float = 1e-8,
    ) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"ReduceLROnPlateau: expected an Optimizer, got {describe(optimizer)}")
        if mode not in ("min", "max") or threshold_mode not in ("rel", "abs") or factor >= 1:
            raise ValueError(
                "ReduceLROnPlateau: expected mode min or max, threshold_mode rel or abs and a "
                f"factor below 1; got {mode!r}, {threshold_mode!r} and {factor}"
            )
        self.optimizer = optimizer
        self.mode = mode
        self.factor = factor
        self.patience = patience
        self.threshold = threshold
        self.threshold_mode = threshold_mode
        self.cooldown = cooldown
        self.min_lrs = self._per_group(min_lr, "min_lr")
        self.eps = eps
        self.last_epoch = 0
        self.best = inf if mode == "min" else -inf
        self.num_bad_epochs = 0
        self.cooldown_counter = 0
        self._last_lr = self._rates()

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Take the measure's new value."""
        current = float(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(current):
            self.best, self.num_bad_epochs = current, 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = self._rates()

    def _is_better(self, value: float) -> bool:
        sign = 1.0 if self.mode == "max" else -1.0
        if self.threshold_mode == "rel":
            limit = self.best * (1.0 + sign * self.threshold)
        else:
            limit = self.best + sign * self.threshold
        return value > limit if self.mode == "max" else value < limit

    def _reduce(self) -> None:
        for group, least in zip(self.optimizer.param_groups, self.min_lrs, strict=True):
            rate = max(group["lr"] * self.factor, least)
            if group["lr"] - rate > self.eps:
                group["lr"] = rate
