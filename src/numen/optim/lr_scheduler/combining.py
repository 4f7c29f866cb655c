"""Schedules made of schedules: one after another, or all at once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

from numen.errors import describe
from numen.optim.lr_scheduler.base import LRScheduler
from numen.optim.lr_scheduler.plateau import ReduceLROnPlateau
from numen.optim.optimizer import Optimizer


class _Combined(LRScheduler):
    """What both kinds share: the parts and their storage."""

    def __init__(self, optimizer: Optimizer | None, schedulers: Sequence[LRScheduler]) -> None:
        name = type(self).__name__
        if not schedulers:
            raise ValueError(f"{name}: expected at least one schedule, got none")
        for i, part in enumerate(schedulers):
            if not isinstance(part, LRScheduler):
                raise TypeError(f"{name}: expected schedules, got {describe(part)} at {i}")
            if isinstance(part, ReduceLROnPlateau):
                raise ValueError(f"{name}: ReduceLROnPlateau (at {i}) needs a measure to step")
            optimizer = optimizer or part.optimizer
            if part.optimizer is not optimizer:
                raise ValueError(f"{name}: the schedule at {i} belongs to another optimiser")
        assert optimizer is not None
        self.optimizer = optimizer
        self._schedulers = list(schedulers)

    def state_dict(self) -> dict[str, Any]:
        """As the base's, with the states of the parts."""
        return {**super().state_dict(), "_schedulers": [s.state_dict() for s in self._schedulers]}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        state = dict(state_dict)
        for part, saved in zip(self._schedulers, state.pop("_schedulers"), strict=True):
            part.load_state_dict(saved)
        super().load_state_dict(state)


class SequentialLR(_Combined):
    """One schedule after another, each from its own step 0.

    Parameters
    ----------
    optimizer : Optimizer
        The one that all schedules were made for.
    schedulers : list of LRScheduler
        In order.
    milestones : list of int
        The steps at which the next one begins: one fewer than schedules.

    Raises
    ------
    ValueError
        If the numbers do not fit or a schedule belongs to another optimiser.

    Examples
    --------
    >>> import numen as nm
    >>> S = nm.optim.lr_scheduler
    >>> opt = nm.optim.SGD([nm.ones(1)], lr=1.0)
    >>> parts = [S.ConstantLR(opt, 0.5, 9), S.ExponentialLR(opt, 0.5)]
    >>> schedule = S.SequentialLR(opt, parts, milestones=[2])
    >>> rates = []
    >>> for _ in range(4):
    ...     rates.append(opt.lr); schedule.step()
    >>> rates
    [0.5, 0.5, 1.0, 0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: list[LRScheduler],
        milestones: list[int],
        last_epoch: int = -1,
    ) -> None:
        super().__init__(optimizer, schedulers)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                f"SequentialLR: expected {len(schedulers) - 1} milestones for {len(schedulers)} "
                f"schedules, got {len(milestones)}"
            )
        self._milestones = list(milestones)
        self.last_epoch = last_epoch + 1
        for group in optimizer.param_groups:  # undo what making the parts did
            group["lr"] = group["initial_lr"]
        _step_back(self)
        first = self._schedulers[bisect_right(self._milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def step(self, epoch: int | None = None) -> None:
        """Go one step on; `epoch` is not taken."""
        if epoch is not None:
            raise ValueError("SequentialLR: step() takes no epoch")
        self.last_epoch += 1
        i = bisect_right(self._milestones, self.last_epoch)
        part = self._schedulers[i]
        if i and self._milestones[i - 1] == self.last_epoch:
            part._update_lr(0)
        else:
            part.step()
        self._last_lr = part.get_last_lr()


def _step_back(schedule: LRScheduler) -> None:
    if isinstance(schedule, _Combined):
        for part in schedule._schedulers:
            _step_back(part)
    else:
        schedule.last_epoch -= 1


class ChainedScheduler(_Combined):
    """All schedules at each step: their factors multiply.

    Parameters
    ----------
    schedulers : sequence of LRScheduler
        Stepped in this order.
    optimizer : Optimizer, optional
        The one that all schedules were made for.

    Raises
    ------
    ValueError
        If there is none, or one belongs to another optimiser.

    Examples
    --------
    >>> import numen as nm
    >>> S = nm.optim.lr_scheduler
    >>> opt = nm.optim.SGD([nm.ones(1)], lr=1.0)
    >>> schedule = S.ChainedScheduler([S.ExponentialLR(opt, 0.5), S.StepLR(opt, 2, 0.5)])
    >>> schedule.step(); schedule.step(); opt.lr
    0.125
    """

    def __init__(
        self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None
    ) -> None:
        super().__init__(optimizer, schedulers)
        self._last_lr = self._rates()

    def step(self, epoch: int | None = None) -> None:
        """Go one step on with each; `epoch` is not taken."""
        if epoch is not None:
            raise ValueError("ChainedScheduler: step() takes no epoch")
        for part in self._schedulers:
            part.step()
        self._last_lr = self._rates()
