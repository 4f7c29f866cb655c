"""Schedules that raise the rate and let it fall again, the momentum the other way round.

Cyclic rates and the one-cycle policy are by Smith (2017) and Smith and Topin (2018).
Next: `plateau.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import cos, floor, pi
from typing import Any

from numen.optim.lr_scheduler.base import LRScheduler
from numen.optim.optimizer import Optimizer


class _WithMomentum(LRScheduler):
    """A schedule that also sets momentum, or the first beta."""

    cycle_momentum: bool

    def _start_momentum(self, base: Any, largest: Any, fresh: bool) -> None:
        if not self.cycle_momentum:
            return
        defaults = self.optimizer.defaults
        if "momentum" not in defaults and "betas" not in defaults:
            raise ValueError(
                f"{type(self).__name__}: cycle_momentum needs an optimiser with momentum or "
                f"betas, got {type(self.optimizer).__name__}"
            )
        self.use_beta1 = "betas" in defaults
        self.base_momentums = self._per_group(base, "base_momentum")
        self.max_momentums = self._per_group(largest, "max_momentum")
        if fresh:
            limits = zip(self.base_momentums, self.max_momentums, strict=True)
            for group, (low, high) in zip(self.optimizer.param_groups, limits, strict=True):
                group["base_momentum"], group["max_momentum"] = low, high
                self._set_momentum(group, high)

    def _set_momentum(self, group: dict[str, Any], value: float) -> None:
        if not self.use_beta1:
            group["momentum"] = value
        elif isinstance(group["betas"], list):
            group["betas"][0] = value
        else:
            group["betas"] = (value, *group["betas"][1:])


class CyclicLR(_WithMomentum):
    """The rate goes from `base_lr` to `max_lr` and back, again and again; step it once a batch.

    Parameters
    ----------
    optimizer : Optimizer
        Whose rates are set.
    base_lr, max_lr : float, or list of float
        The limits; a list has one a group.
    step_size_up, step_size_down : int
        Steps of the rise and of the fall; the fall is as long as the rise unless said.
    mode : {"triangular", "triangular2", "exp_range"}
        The height stays, halves with each cycle, or is multiplied by gamma at each step.
    gamma : float
        For "exp_range".
    scale_fn : callable, optional
        Instead of mode: factor of the height by cycle (from 1) or by step, as `scale_mode` says.
    scale_mode : {"cycle", "iterations"}
        What scale_fn is called with.
    cycle_momentum : bool
        Whether the momentum goes from `max_momentum` to `base_momentum` and back.

    Raises
    ------
    ValueError
        If mode is unknown, or the optimiser has no momentum to cycle.

    Examples
    --------
    >>> import numen as nm
    >>> opt = nm.optim.SGD([nm.ones(1)], lr=1.0, momentum=0.9)
    >>> schedule = nm.optim.lr_scheduler.CyclicLR(opt, 0.0, 1.0, step_size_up=2)
    >>> rates = []
    >>> for _ in range(5):
    ...     rates.append(opt.lr); schedule.step()
    >>> rates
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.8,
        max_momentum: float | list[float] = 0.9,
        last_epoch: int = -1,
    ) -> None:
        if scale_fn is None and mode not in ("triangular", "triangular2", "exp_range"):
            raise ValueError(
                "CyclicLR: expected mode to be triangular, triangular2 or exp_range, or a "
                f"scale_fn; got {mode!r}"
            )
        self.optimizer = optimizer
        base_lrs = self._per_group(base_lr, "base_lr")
        self.max_lrs = self._per_group(max_lr, "max_lr")
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, base_lrs, strict=True):
                group["lr"] = rate
        down = step_size_up if step_size_down is None else step_size_down
        self.total_size = float(step_size_up + down)
        self.step_ratio = step_size_up / self.total_size
        self.mode = mode
        self.gamma = gamma
        self._scale_fn = scale_fn
        by_step = mode == "exp_range" if scale_fn is None else scale_mode == "iterations"
        self.scale_mode = "iterations" if by_step else "cycle"
        self.cycle_momentum = cycle_momentum
        self._start_momentum(base_momentum, max_momentum, last_epoch == -1)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def scale_fn(self, x: float) -> float:
        """The factor of the height in cycle (or at step) x."""
        if self._scale_fn is not None:
            return self._scale_fn(x)
        if self.mode == "triangular":
            return 1.0
        return float(0.5 ** (x - 1) if self.mode == "triangular2" else self.gamma**x)

    def get_lr(self) -> list[float]:
        cycle = floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle  # place in the cycle, [0, 1)
        rising = x <= self.step_ratio
        height = x / self.step_ratio if rising else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            limits = zip(self.base_momentums, self.max_momentums, strict=True)
            for group, (low, high) in zip(self.optimizer.param_groups, limits, strict=True):
                self._set_momentum(group, high - (high - low) * height * scale)
        # The base class sets base_lrs to "initial_lr", which holds the same until the first step.
        return [
            low + (high - low) * height * scale
            for low, high in zip(self.base_lrs, self.max_lrs, strict=True)
        ]


class OneCycleLR(_WithMomentum):
    """One rise to `max_lr` and one fall far below the start; step it once a batch.

    Parameters
    ----------
    optimizer : Optimizer
        Whose rates are set.
    max_lr : float, or list of float
        The top; a list has one a group.
    total_steps : int, optional
        Steps of the cycle; else epochs * steps_per_epoch.
    pct_start : float
        Share of the steps spent rising.
    anneal_strategy : {"cos", "linear"}
        The shape.
    cycle_momentum, base_momentum, max_momentum
        Whether the momentum goes the other way round, and its limits.
    div_factor, final_div_factor : float
        The start is max_lr / div_factor, the end start / final_div_factor.
    three_phase : bool
        Fall to the start as symmetrically as it rose, then on to the end.

    Raises
    ------
    ValueError
        If the number of steps or an option makes no sense, or after the last step.

    Examples
    --------
    >>> import numen as nm
    >>> opt = nm.optim.SGD([nm.ones(1)], lr=1.0, momentum=0.9)
    >>> schedule = nm.optim.lr_scheduler.OneCycleLR(opt, max_lr=1.0, total_steps=10)
    >>> schedule.step(); schedule.step(); opt.lr
    1.0
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        if total_steps is None and epochs is not None and steps_per_epoch is not None:
            total_steps = epochs * steps_per_epoch
        if total_steps is None or total_steps <= 0:
            raise ValueError(
                "OneCycleLR: expected a positive total_steps, or epochs and steps_per_epoch; got "
                f"{total_steps}, {epochs}, {steps_per_epoch}"
            )
        if not 0 <= pct_start <= 1 or anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                "OneCycleLR: expected pct_start in [0, 1] and anneal_strategy cos or linear, got "
                f"{pct_start} and {anneal_strategy!r}"
            )
        self.optimizer = optimizer
        self.total_steps = total_steps
        self.anneal_strategy = anneal_strategy
        # Each phase: its last step, then (from, to) of the rate and of the momentum, by group key.
        rise, end = float(pct_start * total_steps) - 1, float(total_steps - 1)
        up = (rise, ("initial_lr", "max_lr"), ("max_momentum", "base_momentum"))
        back = ("base_momentum", "max_momentum")
        if three_phase:
            middle = 2 * float(pct_start * total_steps) - 2
            self._phases: list[Any] = [up, (middle, ("max_lr", "initial_lr"), back)]
            self._phases += [(end, ("initial_lr", "min_lr"), ("max_momentum", "max_momentum"))]
        else:
            self._phases = [up, (end, ("max_lr", "min_lr"), back)]
        if last_epoch == -1:
            tops = self._per_group(max_lr, "max_lr")
            for group, top in zip(optimizer.param_groups, tops, strict=True):
                group["initial_lr"] = top / div_factor
                group["max_lr"] = top
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        self._start_momentum(base_momentum, max_momentum, last_epoch == -1)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(f"OneCycleLR: step {step} of a cycle of {self.total_steps} steps")
        start = 0.0
        for end, rate, momentum in self._phases:  # noqa: B007 (the last one is used after the loop)
            if step <= end or end == self._phases[-1][0]:
                break
            start = end
        share = (step - start) / (end - start)
        groups = self.optimizer.param_groups
        if self.cycle_momentum:
            for group in groups:
                low, high = group[momentum[0]], group[momentum[1]]
                self._set_momentum(group, self._between(low, high, share))
        return [self._between(group[rate[0]], group[rate[1]], share) for group in groups]

    def _between(self, start: float, end: float, share: float) -> float:
        if self.anneal_strategy == "linear":
            return (end - start) * share + start
        return end + (start - end) / 2.0 * (cos(pi * share) + 1)
