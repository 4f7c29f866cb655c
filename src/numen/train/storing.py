"""Callbacks that write files: weights, whole runs to go on with, and tables of the logs."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any

from numen.formats.checkpoint import load_checkpoint, save_checkpoint
from numen.formats.model import save_model
from numen.train.callbacks import Callback, Numbers, monitored
from numen.train.stopping import Improvement

PathLike = str | os.PathLike[str]


class ModelCheckpoint(Numbers):
    """Writes the model's weights, after epochs or every so many batches.

    Parameters
    ----------
    filepath : str or path-like
        May name {epoch} (from 1) and logs, as in "net-{epoch:02d}-{val_loss:.2f}.safetensors".
    monitor : str
        The value that save_best_only watches.
    save_best_only : bool
        Whether only improvements are written.
    mode : {"auto", "min", "max"}
        Which way is better; auto lets accuracies rise.
    save_freq : "epoch" or int
        After each epoch, or after so many batches.

    Attributes
    ----------
    best : float
        The best value so far.

    Raises
    ------
    ValueError
        If save_freq makes no sense, or the run has no such value.
    """

    kept = ("best",)

    def __init__(
        self,
        filepath: PathLike,
        monitor: str = "val_loss",
        save_best_only: bool = False,
        mode: str = "auto",
        save_freq: str | int = "epoch",
    ) -> None:
        self.filepath = os.fspath(filepath)
        self.monitor = monitor
        self.save_best_only = save_best_only
        self.save_freq = _checked(save_freq, "ModelCheckpoint")
        self._improvement = Improvement(monitor, mode)
        self.best = self._improvement.worst

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if self.save_freq != "epoch" and self.training.steps % int(self.save_freq) == 0:
            self._save(self.training.epoch, logs)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if self.save_freq == "epoch":
            self._save(epoch, logs)

    def _save(self, epoch: int, logs: Any) -> None:
        if self.save_best_only:
            value = monitored(self.monitor, logs, "ModelCheckpoint")
            if not self._improvement.better(value, self.best):
                return
            self.best = value
        path = Path(self.filepath.format(epoch=epoch + 1, **logs))
        path.parent.mkdir(parents=True, exist_ok=True)
        save_model(self.model, path)


class BackupAndRestore(Callback):
    """Lets a run that was interrupted go on where it was, with the bits it would have had.

    It stores the model, the optimiser, the loader's place, the other callbacks and the random
    stream; `fit` with the same arguments finds the file and goes on.

    Parameters
    ----------
    path : str or path-like
        The file; it is replaced whole.
    save_freq : "epoch" or int
        After each epoch, or after so many batches too.
    delete_checkpoint : bool
        Whether the file goes when the run has come to its end.

    Raises
    ------
    ValueError
        If save_freq makes no sense.
    """

    def __init__(
        self, path: PathLike, save_freq: str | int = "epoch", delete_checkpoint: bool = True
    ) -> None:
        self.path = Path(path)
        self.save_freq = _checked(save_freq, "BackupAndRestore")
        self.delete_checkpoint = delete_checkpoint

    def after_begin(self) -> None:
        """Called when all callbacks have had the begin."""
        if self.path.exists():
            load_checkpoint(self.path, **self.training.parts())

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if self.save_freq != "epoch" and self.training.steps % int(self.save_freq) == 0:
            self._due = True

    _due = False

    def after_batch(self) -> None:
        """Called when all callbacks have had the batch: their state is then that of one moment."""
        if self._due:
            self._due = False
            self._save()

    def after_epoch(self) -> None:
        """Called when all callbacks have had the epoch."""
        self._save()

    def _save(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        save_checkpoint(self.path, **self.training.parts())

    def on_train_end(self, logs: Any = None) -> None:
        if self.delete_checkpoint:
            self.path.unlink(missing_ok=True)


class CSVLogger(Callback):
    """Writes the logs of each epoch as a row of a table.

    Parameters
    ----------
    filename : str or path-like
        The file.
    separator : str
        Between columns.
    append : bool
        Whether an old table is gone on with.
    """

    def __init__(self, filename: PathLike, separator: str = ",", append: bool = False) -> None:
        self.filename = Path(filename)
        self.separator = separator
        self.append = append
        self._columns: list[str] | None = None

    def on_train_begin(self, logs: Any = None) -> None:
        self._columns = None

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        row = {"epoch": epoch, **logs}
        if self._columns is None:
            self._columns = self._begin(epoch, list(row))
        with open(self.filename, "a", newline="") as file:
            self._writer(file).writerow([row.get(name, "") for name in self._columns])

    def _begin(self, epoch: int, columns: list[str]) -> list[str]:
        """Start the table, or find the columns of the one to go on with."""
        self.filename.parent.mkdir(parents=True, exist_ok=True)
        if (self.append or epoch) and self.filename.exists() and self.filename.stat().st_size:
            with open(self.filename, newline="") as file:
                return next(csv.reader(file, delimiter=self.separator))
        with open(self.filename, "w", newline="") as file:
            self._writer(file).writerow(columns)
        return columns

    def _writer(self, file: Any) -> Any:
        return csv.writer(file, delimiter=self.separator, lineterminator="\n")


def _checked(save_freq: str | int, who: str) -> str | int:
    if save_freq != "epoch" and (not isinstance(save_freq, int) or save_freq < 1):
        raise ValueError(f"{who}: save_freq must be 'epoch' or a positive int, got {save_freq!r}")
    return save_freq
