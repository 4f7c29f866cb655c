"""What `fit` prints: a line an epoch, and a bar while it runs where tqdm is installed."""

from __future__ import annotations

import importlib
import time
from typing import Any

from numen.train.callbacks import Callback


class Progress(Callback):
    """Prints how a run gets on, to standard output; the bar goes to standard error."""

    def __init__(self) -> None:
        try:
            self._tqdm: Any = importlib.import_module("tqdm").tqdm
        except ImportError:
            self._tqdm = None
        self._bar: Any = None
        self._started = 0.0

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self._started = time.perf_counter()
        if self._tqdm is not None:
            self._bar = self._tqdm(
                total=self.training.batches,
                desc=f"epoch {epoch + 1}/{self.training.epochs}",
                leave=False,
                unit="batch",
                disable=None,  # no bar where nobody looks at a terminal
            )

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if self._bar is not None:
            self._bar.update()
            self._bar.set_postfix_str(_text(logs), refresh=False)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self.close()
        took = time.perf_counter() - self._started
        print(f"epoch {epoch + 1}/{self.training.epochs}: {_text(logs)} ({took:.1f} s)", flush=True)

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _text(logs: Any) -> str:
    return ", ".join([f"{name} {value:.4g}" for name, value in logs.items()])
