"""LRScheduler: counts steps and writes the learning rates that a subclass computes.

A subclass gives `get_lr()`, mostly from the present rates, so that several schedules of one
optimiser multiply. Next: `factors.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numen.errors import describe
from numen.optim.optimizer import Optimizer


class LRScheduler:
    """The base of the schedules.

    Parameters
    ----------
    optimizer : Optimizer
        Whose rates are set; making a schedule sets those of step 0.
    last_epoch : int
        The step to go on from; -1 starts anew and remembers each group's rate as "initial_lr".

    Attributes
    ----------
    last_epoch : int
        Steps made.
    base_lrs : list of float
        The initial rate of each group.

    Raises
    ------
    TypeError
        If optimizer is none.
    KeyError
        If it goes on from a step and a group has no "initial_lr".
    """

    _is_initial = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        name = type(self).__name__
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{name}: expected an Optimizer, got {describe(optimizer)}")
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise KeyError(
                    f"{name}: going on from step {last_epoch} needs 'initial_lr' in "
                    f"param_groups[{i}]. Hint: load the optimiser's state first"
                )
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            del self._is_initial

    def get_lr(self) -> list[float]:
        """The rates of step `last_epoch`, one a group."""
        raise NotImplementedError

    def get_last_lr(self) -> list[float]:
        """The rates that the last step set."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Go one step on (or to step `epoch`) and set the rates."""
        self._step_count += 1
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        closed = getattr(self, "_get_closed_form_lr", None)
        self._set(self.get_lr() if epoch is None or closed is None else closed())

    def _set(self, rates: Sequence[float]) -> None:
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = rate
        self._last_lr = self._rates()

    def _rates(self) -> list[float]:
        return [group["lr"] for group in self.optimizer.param_groups]

    def _scaled(self, factor: float) -> list[float]:
        """The present rates times a factor."""
        return [group["lr"] * factor for group in self.optimizer.param_groups]

    def _per_group(self, value: Any, name: str) -> list[Any]:
        """One value for each group."""
        groups = len(self.optimizer.param_groups)
        if not isinstance(value, (list, tuple)):
            return [value] * groups
        if len(value) != groups:
            raise ValueError(
                f"{type(self).__name__}: expected {groups} values of {name}, one a group; got "
                f"{describe(value)}"
            )
        return list(value)

    # ------------------------------------------------------------ storage
    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimiser; functions are left out."""
        return {k: v for k, v in vars(self).items() if k != "optimizer" and not callable(v)}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over what `state_dict` gave; the rates are the optimiser's to restore."""
        vars(self).update(state_dict)
