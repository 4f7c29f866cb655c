"""Callbacks: what `fit` calls on the way. The base class, history, and learning rates.

Hooks have Keras's names: `on_train_begin`, `on_epoch_end(epoch, logs)`,
`on_train_batch_end(batch, logs)` ... with epochs and batches counted from 0. Next: `stopping.py`,
`storing.py`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from numen.optim.lr_scheduler import LRScheduler, ReduceLROnPlateau

Hook = Callable[..., Any]


class Callback:
    """The base of the callbacks: every hook does nothing.

    Attributes
    ----------
    training : Training
        The run: its `model`, `optimizer`, `epochs`, and `stop_training`, which ends it.
    model : Module
        The run's.
    """

    training: Any

    @property
    def model(self) -> Any:
        """The model that is trained."""
        return self.training.model

    @property
    def optimizer(self) -> Any:
        """The optimiser that trains it."""
        return self.training.optimizer

    def set_training(self, training: Any) -> None:
        """Called by `fit` before everything else."""
        self.training = training

    def on_train_begin(self, logs: Any = None) -> None:
        """Before the first epoch."""

    def on_train_end(self, logs: Any = None) -> None:
        """After the last epoch, whatever ended it but an exception."""

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Before an epoch."""

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """After an epoch and its validation; logs has the loss, the metrics and "val_..."."""

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Before a step."""

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """After a step; logs has the means of the epoch so far."""

    def on_test_begin(self, logs: Any = None) -> None:
        """Before a validation."""

    def on_test_end(self, logs: Any = None) -> None:
        """After a validation."""

    def state_dict(self) -> dict[str, Any]:
        """What a stored run needs of it."""
        return {}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over what `state_dict` gave."""


class Numbers(Callback):
    """A callback whose state is attributes that are named."""

    kept: tuple[str, ...] = ()

    def state_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.kept}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        vars(self).update(state_dict)


class LambdaCallback(Callback):
    """A callback made of functions, one a hook.

    Parameters
    ----------
    **hooks : callable
        By the hooks' names.

    Raises
    ------
    TypeError
        If there is no hook of a name.

    Examples
    --------
    >>> import numen as nm
    >>> show = nm.train.LambdaCallback(on_epoch_end=lambda epoch, logs: print(epoch, logs["loss"]))
    >>> show.on_epoch_end(0, {"loss": 0.5})
    0 0.5
    """

    def __init__(self, **hooks: Hook) -> None:
        for name, hook in hooks.items():
            if not name.startswith("on_") or not hasattr(Callback, name):
                known = [n for n in vars(Callback) if n.startswith("on_")]
                raise TypeError(f"LambdaCallback: no hook {name!r}; there are {', '.join(known)}")
            setattr(self, name, hook)


class History(Callback):
    """The means of each epoch; what `fit` returns.

    Attributes
    ----------
    epoch : list of int
        The epochs, from 0.
    history : dict of list of float
        "loss", the metrics, and both with "val_" for the validation: one value an epoch.
    """

    def __init__(self) -> None:
        self.epoch: list[int] = []
        self.history: dict[str, list[float]] = {}

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self.epoch.append(epoch)
        for name, value in logs.items():
            self.history.setdefault(name, []).append(value)

    def __repr__(self) -> str:
        last = {name: values[-1] for name, values in self.history.items()}
        return f"History({len(self.epoch)} epochs, last {last})"

    def state_dict(self) -> dict[str, Any]:
        return {"epoch": self.epoch, "history": self.history}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        self.epoch = list(state_dict["epoch"])
        self.history = {name: list(values) for name, values in state_dict["history"].items()}


class LearningRateScheduler(Callback):
    """Sets the learning rate, by a function of the epoch or by a schedule of `optim.lr_scheduler`.

    Parameters
    ----------
    schedule : callable or LRScheduler
        (epoch, rate) to rate, called before each epoch; or a schedule of the run's optimiser, which
        is stepped.
    every : {"epoch", "batch"}
        When a schedule is stepped: after each epoch, or after each batch.
    monitor : str
        What a ReduceLROnPlateau is given.

    Raises
    ------
    ValueError
        If `every` is something else, or there is nothing to monitor.
    """

    def __init__(self, schedule: Any, every: str = "epoch", monitor: str = "val_loss") -> None:
        if every not in ("epoch", "batch"):
            raise ValueError(f"LearningRateScheduler: expected every epoch or batch, got {every!r}")
        self.schedule = schedule
        self.every = every
        self.monitor = monitor

    @property
    def _steps(self) -> bool:
        return isinstance(self.schedule, LRScheduler)

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        if not self._steps:
            both = len(inspect.signature(self.schedule).parameters) > 1
            rate = self.schedule(epoch, self.optimizer.lr) if both else self.schedule(epoch)
            self.optimizer.lr = float(rate)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if self._steps and self.every == "batch":
            self.schedule.step()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if not self._steps or self.every != "epoch":
            return
        if isinstance(self.schedule, ReduceLROnPlateau):
            self.schedule.step(monitored(self.monitor, logs, "LearningRateScheduler"))
        else:
            self.schedule.step()

    def state_dict(self) -> dict[str, Any]:
        return self.schedule.state_dict() if self._steps else {}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        if self._steps:
            self.schedule.load_state_dict(state_dict)


def monitored(name: str, logs: Mapping[str, float], who: str) -> float:
    """The value that a callback watches.

    Raises
    ------
    ValueError
        If the run has no value of that name.
    """
    if name not in logs:
        hint = ". Hint: pass validation=" if name.startswith("val_") else ""
        raise ValueError(f"{who}: no {name!r} to monitor; there are {', '.join(logs)}{hint}")
    return logs[name]
