"""Schedules that multiply the rate: at certain steps, at each one, or by a function's value.

Next: `annealing.py`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from numen.optim.lr_scheduler.base import LRScheduler
from numen.optim.optimizer import Optimizer

Factor = Callable[[int], float]


class _ByFunction(LRScheduler):
    """What schedules of users' functions share."""

    def __init__(
        self, optimizer: Optimizer, lr_lambda: Factor | list[Factor], last_epoch: int = -1
    ) -> None:
        self.optimizer = optimizer
        self.lr_lambdas = self._per_group(lr_lambda, "lr_lambda")
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """As the base's; of functions that are objects, their attributes."""
        state = super().state_dict()
        state["lr_lambdas"] = [_attributes(f) for f in self.lr_lambdas]
        return state

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        state = dict(state_dict)
        for function, attributes in zip(self.lr_lambdas, state.pop("lr_lambdas"), strict=True):
            if attributes is not None:
                vars(function).update(attributes)
        super().load_state_dict(state)


def _attributes(function: Any) -> dict[str, Any] | None:
    plain = isinstance(function, type(_attributes)) or not hasattr(function, "__dict__")
    return None if plain else dict(vars(function))


class LambdaLR(_ByFunction):
    """The initial rate times a function of the step.

    Parameters
    ----------
    optimizer : Optimizer
        Whose rates are set.
    lr_lambda : callable, or list of callable
        Step to factor; one for all groups, or one a group.

    Examples
    --------
    >>> import numen as nm
    >>> opt = nm.optim.SGD([nm.ones(1)], lr=1.0)
    >>> schedule = nm.optim.lr_scheduler.LambdaLR(opt, lambda step: 0.5**step)
    >>> schedule.step(); opt.lr
    0.5
    """

    def get_lr(self) -> list[float]:
        return [
            base * factor(self.last_epoch)
            for base, factor in zip(self.base_lrs, self.lr_lambdas, strict=True)
        ]


class MultiplicativeLR(_ByFunction):
    """The present rate times a function of the step."""

    def get_lr(self) -> list[float]:
        if self._is_initial:
            return self._rates()
        return [
            group["lr"] * factor(self.last_epoch)
            for group, factor in zip(self.optimizer.param_groups, self.lr_lambdas, strict=True)
        ]


class StepLR(LRScheduler):
    """The rate times gamma every `step_size` steps.

    Examples
    --------
    >>> import numen as nm
    >>> opt = nm.optim.SGD([nm.ones(1)], lr=1.0)
    >>> schedule = nm.optim.lr_scheduler.StepLR(opt, step_size=2, gamma=0.5)
    >>> rates = []
    >>> for _ in range(5):
    ...     rates.append(opt.lr); schedule.step()
    >>> rates
    [1.0, 1.0, 0.5, 0.5, 0.25]
    """

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        due = self.last_epoch and self.last_epoch % self.step_size == 0
        return self._scaled(self.gamma) if due else self._rates()

    def _get_closed_form_lr(self) -> list[float]:
        factor = self.gamma ** (self.last_epoch // self.step_size)
        return [base * factor for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """The rate times gamma at each of the steps in `milestones`."""

    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Iterable[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        times = self.milestones.get(self.last_epoch, 0)
        return self._scaled(self.gamma**times) if times else self._rates()

    def _get_closed_form_lr(self) -> list[float]:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        super().load_state_dict(state_dict)
        self.milestones = Counter({int(k): v for k, v in self.milestones.items()})


class ExponentialLR(LRScheduler):
    """The rate times gamma at each step."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        return self._rates() if self._is_initial else self._scaled(self.gamma)

    def _get_closed_form_lr(self) -> list[float]:
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class ConstantLR(LRScheduler):
    """The rate times `factor` for the first `total_iters` steps.

    Raises
    ------
    ValueError
        If factor is not in [0, 1].
    """

    def __init__(
        self,
        optimizer: Optimizer,
        factor: float = 1.0 / 3,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 <= factor <= 1:
            raise ValueError(f"ConstantLR: expected factor in [0, 1], got {factor}")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        if self.last_epoch == 0:
            return self._scaled(self.factor)
        return (
            self._scaled(1.0 / self.factor)
            if self.last_epoch == self.total_iters
            else (self._rates())
        )

    def _get_closed_form_lr(self) -> list[float]:
        factor = self.factor if self.last_epoch < self.total_iters else 1.0
        return [base * factor for base in self.base_lrs]


class LinearLR(LRScheduler):
    """The rate times a factor that goes from `start_factor` to `end_factor` in `total_iters` steps.

    Raises
    ------
    ValueError
        If start_factor is not in (0, 1] or end_factor not in [0, 1].

    Examples
    --------
    >>> import numen as nm
    >>> opt = nm.optim.SGD([nm.ones(1)], lr=1.0)
    >>> schedule = nm.optim.lr_scheduler.LinearLR(opt, start_factor=0.5, total_iters=2)
    >>> rates = []
    >>> for _ in range(4):
    ...     rates.append(opt.lr); schedule.step()
    >>> rates
    [0.5, 0.75, 1.0, 1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < start_factor <= 1 or not 0 <= end_factor <= 1:
            raise ValueError(
                "LinearLR: expected start_factor in (0, 1] and end_factor in [0, 1], got "
                f"{start_factor} and {end_factor}"
            )
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        start, slope = self.start_factor, self.end_factor - self.start_factor
        if self.last_epoch == 0:
            return self._scaled(start)
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._rates()
        before = self.total_iters * start + (self.last_epoch - 1) * slope
        return self._scaled(1.0 + slope / before)

    def _get_closed_form_lr(self) -> list[float]:
        slope = self.end_factor - self.start_factor
        share = min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * (self.start_factor + slope * share) for base in self.base_lrs]
