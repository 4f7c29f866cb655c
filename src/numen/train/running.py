"""The state of a run of `fit`: what callbacks see, and what a stored run is made of."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from typing import Any

from numen.dispatch.modes import no_grad
from numen.train.callbacks import Callback
from numen.train.metrics import Metric


class Means:
    """The mean loss and the metrics over the batches so far."""

    def __init__(self, metrics: list[Metric]) -> None:
        self.metrics = metrics
        self.restart()

    def restart(self) -> None:
        """Forget everything."""
        self.total, self.rows = 0.0, 0
        for metric in self.metrics:
            metric.reset()

    def add(self, loss: float, rows: int, output: Any, target: Any) -> None:
        """Take in a batch."""
        self.total += loss * rows
        self.rows += rows
        with no_grad():
            for metric in self.metrics:
                metric.update(output, target)

    def logs(self, prefix: str = "") -> dict[str, float]:
        """The means by name."""
        mean = self.total / self.rows if self.rows else math.nan
        return {f"{prefix}loss": mean, **{f"{prefix}{m.name}": m.result() for m in self.metrics}}

    def state_dict(self) -> dict[str, Any]:
        """The numbers gathered so far."""
        metrics = [m.state_dict() for m in self.metrics]
        return {"total": self.total, "rows": self.rows, "metrics": metrics}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over what `state_dict` gave."""
        self.total, self.rows = state_dict["total"], state_dict["rows"]
        for metric, state in zip(self.metrics, state_dict["metrics"], strict=True):
            metric.load_state_dict(state)


class Training:
    """The state of a run of `fit`.

    Attributes
    ----------
    model, optimizer
        What is trained, and by what.
    epochs, epoch : int
        How many, and which one it is, from 0.
    batch, steps : int
        Batches of this epoch and steps of the whole run that are done.
    batches : int or None
        Batches an epoch, where that is known.
    last_loss : float
        The loss of the last batch.
    stop_training : bool
        Set it to end the run after the present batch.
    """

    def __init__(self, model: Any, optimizer: Any, data: Any, epochs: int, means: Means) -> None:
        self.model = model
        self.optimizer = optimizer
        self.data = data
        self.epochs = epochs
        self.means = means
        self.epoch = self.batch = self.steps = 0
        self.last_loss = math.nan
        self.stop_training = False
        self.callbacks: list[Callback] = []
        self.batches = None
        with contextlib.suppress(TypeError):
            self.batches = len(data)

    def call(self, hook: str, *args: Any) -> None:
        """Call a hook of all callbacks."""
        for callback in self.callbacks:
            getattr(callback, hook)(*args)

    def after(self, what: str) -> None:
        """Tell those that store the run that all callbacks have had the batch, or the epoch."""
        for callback in self.callbacks:
            store = getattr(callback, f"after_{what}", None)
            if store is not None:
                store()

    @property
    def stopped(self) -> bool:
        """Whether the run is to end; `model.stop_training = True` does it too, as in Keras."""
        return self.stop_training or bool(vars(self.model).get("stop_training", False))

    # ------------------------------------------------------------ storage
    def parts(self) -> dict[str, Any]:
        """What makes up the run, each with a state dict."""
        parts = {"model": self.model, "optimizer": self.optimizer, "training": self}
        if hasattr(self.data, "state_dict"):
            parts["loader"] = self.data
        return parts

    def state_dict(self) -> dict[str, Any]:
        """Counts, means of the epoch, and the callbacks' states."""
        counts = {"epoch": self.epoch, "batch": self.batch, "steps": self.steps}
        callbacks = [[type(c).__name__, c.state_dict()] for c in self.callbacks]
        return {**counts, "means": self.means.state_dict(), "callbacks": callbacks}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over what `state_dict` gave.

        Raises
        ------
        ValueError
            If the run has other callbacks.
        """
        kinds = [type(c).__name__ for c in self.callbacks]
        saved = state_dict["callbacks"]
        if [name for name, _ in saved] != kinds:
            raise ValueError(
                f"fit: the stored run had the callbacks {[name for name, _ in saved]}, this one "
                f"has {kinds}"
            )
        for name in ("epoch", "batch", "steps"):
            setattr(self, name, state_dict[name])
        self.means.load_state_dict(state_dict["means"])
        for callback, (_, state) in zip(self.callbacks, saved, strict=True):
            callback.load_state_dict(state)
