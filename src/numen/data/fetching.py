"""Read the samples of a batch and join them: what the loader does here and its workers elsewhere.

Each batch has random streams of its own, so they do not depend on who reads it; a fault in a
sample names it. Next: `workers.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from numen.data.collate import default_collate
from numen.data.datasets import IterableDataset, taker
from numen.data.streams import batch_seed, seed_everything
from numen.errors import NumenError


class WorkerError(NumenError, RuntimeError):
    """A loader's worker process died, or raised what can't be brought over."""


class WorkerTimeoutError(WorkerError, TimeoutError):
    """A loader's worker gave no batch in time."""


@dataclass(frozen=True)
class WorkerInfo:
    """Which worker this process is.

    Attributes
    ----------
    id, num_workers : int
        Its number, and how many there are.
    seed : int
        The loader's.
    dataset : object
        This process's copy.
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any


_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """What a worker of a loader is told about itself; None in the main process."""
    return _info


def set_worker_info(info: WorkerInfo) -> None:
    global _info
    _info = info


END = "end"
"""What an iterable data set gives when there is nothing left."""


@dataclass
class Plan:
    """What is to be fetched, the same for all workers.

    batch_size is None where single samples are wanted.
    """

    dataset: Any
    collate: Callable[[Any], Any] | None
    batch_size: int | None
    drop_last: bool
    seed: int

    @property
    def iterable(self) -> bool:
        return is_iterable(self.dataset)


def is_iterable(dataset: Any) -> bool:
    """Whether a data set is read one sample after another."""
    return isinstance(dataset, IterableDataset) or not hasattr(dataset, "__getitem__")


class Fetcher:
    """Fetches the batches of one epoch.

    Parameters
    ----------
    plan : Plan
        What to fetch.
    epoch : int
        Which one.
    lane : int
        Number of the worker.
    """

    def __init__(self, plan: Plan, epoch: int, lane: int = 0) -> None:
        self.plan = plan
        self.epoch = epoch
        self.lane = lane if plan.iterable else 0
        self.join = plan.collate or (default_collate if plan.batch_size else _as_it_is)
        self._take = taker(plan.dataset) if self.join is default_collate else None
        self._samples: Iterator[Any] | None = None

    @property
    def runs_user_code(self) -> bool:
        """Whether samples are made by code that may draw random numbers."""
        return self._take is None

    def batch(self, number: int, indices: Any) -> Any:
        """The batch of a number; for iterable data sets the next one, or END."""
        if self._take is not None:
            return self._take(indices)
        seed_everything(batch_seed(self.plan.seed, self.epoch, self.lane, number))
        if self.plan.iterable:
            return self._next_batch(number)
        if self.plan.batch_size is None:
            sample = self._sample(indices)
            return self._named(lambda: self.join(sample), "sample", indices)
        many = getattr(self.plan.dataset, "__getitems__", None)
        if many is not None:
            samples = self._named(lambda: many(indices), "samples", indices)
        else:
            samples = [self._sample(i) for i in indices]
        return self._named(lambda: self.join(samples), "samples", indices)

    def _sample(self, i: Any) -> Any:
        try:
            return self.plan.dataset[i]
        except Exception as error:
            named(error, "sample", i)
            raise

    def _next_batch(self, number: int) -> Any:
        size = self.plan.batch_size
        if self._samples is None:
            self._samples = iter(self.plan.dataset)
        samples = []
        try:
            for sample in islice(self._samples, size or 1):
                samples.append(sample)
        except Exception as error:
            named(error, "iterated sample", number * (size or 1) + len(samples))
            raise
        if not samples or (size and self.plan.drop_last and len(samples) < size):
            return END
        return self.join(samples if size else samples[0])

    def _named(self, call: Callable[[], Any], what: str, which: Any) -> Any:
        try:
            return call()
        except Exception as error:
            named(error, what, which)
            raise


def _as_it_is(sample: Any) -> Any:
    return sample


def named(error: Exception, what: str, which: Any) -> None:
    """Put the sample into an exception's text, keeping its class; once."""
    if getattr(error, "_names_sample", False):
        return
    text = str(which)
    place = f"{what} {text if len(text) <= 80 else text[:77] + '...'}"
    plain = len(error.args) == 1 and isinstance(error.args[0], str) and str(error) == error.args[0]
    if plain:
        error.args = (f"{error.args[0]} ({place})",)
    else:
        error.add_note(f"while fetching {place}")
    error._names_sample = True  # type: ignore[attr-defined]
