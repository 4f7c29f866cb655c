"""Callbacks that end a run: no more improvement, or a loss that is NaN. Next: `storing.py`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from numen.train.callbacks import Callback, Numbers, monitored


class Improvement:
    """Whether a watched value has become better.

    Parameters
    ----------
    monitor : str
        Its name; "auto" mode lets accuracies rise and the rest fall.
    mode : {"auto", "min", "max"}
        Which way is better.
    min_delta : float
        Less does not count.
    """

    def __init__(self, monitor: str, mode: str = "auto", min_delta: float = 0.0) -> None:
        if mode not in ("auto", "min", "max"):
            raise ValueError(f"expected mode auto, min or max, got {mode!r}")
        rising = ("acc", "accuracy", "precision", "recall", "auc", "f1")
        upward = mode == "max" or (mode == "auto" and monitor.rpartition("_")[2] in rising)
        self.sign = 1.0 if upward else -1.0
        self.min_delta = abs(min_delta)

    @property
    def worst(self) -> float:
        """A value that anything is better than."""
        return -self.sign * math.inf

    def better(self, value: float, best: float) -> bool:
        """Whether value improves on best."""
        return self.sign * value > self.sign * best + self.min_delta


class EarlyStopping(Numbers):
    """Ends the run when a value has not improved for `patience` epochs.

    Parameters
    ----------
    monitor : str
        "val_loss", or the name of another value in the logs.
    min_delta : float
        A smaller improvement does not count.
    patience : int
        Epochs without improvement that are let pass.
    mode : {"auto", "min", "max"}
        Which way is better; auto lets accuracies rise.
    baseline : float, optional
        The value to improve on from the start.
    restore_best_weights : bool
        Whether the model ends with the weights of its best epoch.
    start_from_epoch : int
        Epochs before it are not watched.

    Attributes
    ----------
    best, best_epoch, stopped_epoch
        The best value and its epoch, and the epoch that the run ended in (0 if it did not).

    Raises
    ------
    ValueError
        If the run has no such value.
    """

    kept = ("best", "best_epoch", "wait", "stopped_epoch", "_best_weights")

    def __init__(
        self,
        monitor: str = "val_loss",
        min_delta: float = 0.0,
        patience: int = 0,
        mode: str = "auto",
        baseline: float | None = None,
        restore_best_weights: bool = False,
        start_from_epoch: int = 0,
    ) -> None:
        self.monitor = monitor
        self.patience = patience
        self.baseline = baseline
        self.restore_best_weights = restore_best_weights
        self.start_from_epoch = start_from_epoch
        self._improvement = Improvement(monitor, mode, min_delta)
        self._restart()

    def _restart(self) -> None:
        self.best = self._improvement.worst
        self.best_epoch = 0
        self.wait = 0
        self.stopped_epoch = 0
        self._best_weights: Mapping[str, Any] | None = None

    def on_train_begin(self, logs: Any = None) -> None:
        self._restart()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        value = monitored(self.monitor, logs, "EarlyStopping")
        if epoch < self.start_from_epoch:
            return
        if self._improvement.better(value, self.best):
            self.best, self.best_epoch = value, epoch
            if self.restore_best_weights:
                self._best_weights = {k: v.copy() for k, v in self.model.state_dict().items()}
            if self.baseline is None or self._improvement.better(value, self.baseline):
                self.wait = 0
                return
        self.wait += 1
        if self.wait >= self.patience and epoch > 0:
            self.stopped_epoch = epoch
            self.training.stop_training = True

    def on_train_end(self, logs: Any = None) -> None:
        if self._best_weights is not None:
            self.model.load_state_dict(self._best_weights)


class TerminateOnNaN(Callback):
    """Ends the run quietly at a loss that is NaN or infinite, where `fit` else raises.

    The weights are those before the batch.
    """

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if not math.isfinite(self.training.last_loss):
            self.training.stop_training = True
