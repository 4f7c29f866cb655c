"""DataLoader: batches of a data set, read here or by worker processes.

What an epoch gives depends on the seed and the epoch's number alone, not on the number of workers;
`state_dict` tells how far it has come, so that training goes on where it stopped. The reading is in
`fetching.py`, the processes in `workers.py`.
"""

from __future__ import annotations

import contextlib
import importlib
import weakref
from collections.abc import Callable, Iterator, Mapping
from itertools import repeat
from typing import Any

from numen.data.fetching import END, Fetcher, Plan, is_iterable
from numen.data.samplers import BatchSampler, RandomSampler, Sampler, SequentialSampler
from numen.data.streams import seed_of, untouched
from numen.errors import describe


class DataLoader:
    """Iterates over a data set in batches.

    Parameters
    ----------
    dataset : Dataset or sequence
        Samples by number, or an IterableDataset.
    batch_size : int or None
        Samples a batch; None gives single samples.
    shuffle : bool
        A new random order each epoch.
    sampler, batch_sampler : iterable, optional
        The order of samples, or of lists of them, instead of shuffle and batch_size.
    num_workers : int
        Processes that read ahead; 0 reads here.
    collate_fn : callable, optional
        Makes a batch of a list of samples; `default_collate` unless given.
    pin_memory : bool
        Taken for PyTorch's sake.
    drop_last : bool
        Leave out a last batch that is smaller.
    timeout : float
        Seconds to wait for a worker's batch; 0 waits as long as it lives.
    worker_init_fn : callable, optional
        Called in each worker with its number. Random streams need no help from it.
    multiprocessing_context : str or context, optional
        How workers start: "fork" (the default), "forkserver" or "spawn".
    generator : None, int or generator
        Where the seed comes from; None draws it from the default stream (`manual_seed`).
    prefetch_factor : int, optional
        Batches that each worker prepares ahead, 2 unless given.
    persistent_workers : bool
        Keep the workers from epoch to epoch.
    seed : int, optional
        The seed itself, instead of generator.

    Attributes
    ----------
    seed : int
        Names the orders and the batches' random streams.
    epoch : int
        The epoch that comes next.

    Raises
    ------
    ValueError
        If options exclude each other or are out of range.

    Examples
    --------
    >>> import numen as nm
    >>> data = nm.data.ArrayDataset(nm.arange(5), nm.arange(5) * 10)
    >>> for x, y in nm.data.DataLoader(data, batch_size=2):
    ...     print(x, y)
    [0 1] [ 0 10]
    [2 3] [20 30]
    [4] [40]
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        batch_sampler: Any = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        multiprocessing_context: Any = None,
        generator: Any = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        seed: int | None = None,
    ) -> None:
        self.dataset = dataset
        self.num_workers = num_workers
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.prefetch_factor = 2 if prefetch_factor is None else prefetch_factor
        self.persistent_workers = persistent_workers
        self.pin_memory = pin_memory
        self.seed = seed_of(generator if seed is None else seed)
        self.epoch = 0
        self._skip = 0
        self._place = (0, 0)
        self._pool: Any = None
        iterable = is_iterable(dataset)
        chosen = sampler is not None or batch_sampler is not None
        self._check(iterable and (bool(shuffle) or chosen), bool(shuffle) and chosen)
        if batch_sampler is not None:
            if batch_size not in (1, None) or sampler is not None or drop_last:
                raise ValueError(
                    "DataLoader: batch_sampler stands for batch_size, sampler and drop_last; "
                    "give only it"
                )
            batch_size = 1  # anything but None: batches it is
        elif not iterable:
            if sampler is None:
                kind = RandomSampler if shuffle else SequentialSampler
                sampler = (
                    kind(dataset, generator=self.seed) if kind is RandomSampler else kind(dataset)
                )
            if batch_size is not None:
                batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        elif batch_size is not None:
            BatchSampler((), batch_size, drop_last)  # refuses sizes that make no sense
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.collate_fn = collate_fn
        self._plan = Plan(dataset, collate_fn, batch_size, drop_last, self.seed)

    def _check(self, iterable_order: bool, two_orders: bool) -> None:
        if iterable_order:
            raise ValueError(
                "DataLoader: an iterable data set comes in its own order; shuffle, sampler and "
                "batch_sampler need one with __getitem__"
            )
        if two_orders:
            raise ValueError("DataLoader: give shuffle or a sampler, not both")
        limits = (("num_workers", 0), ("timeout", 0), ("prefetch_factor", 1))
        for name, least in limits:
            if not getattr(self, name) >= least:
                raise ValueError(
                    f"DataLoader: {name} must be at least {least}, got {getattr(self, name)}"
                )
        if self.persistent_workers and not self.num_workers:
            raise ValueError("DataLoader: persistent_workers needs num_workers of at least 1")

    def __len__(self) -> int:
        """Batches an epoch.

        Raises
        ------
        TypeError
            If the data set is iterable and has no length.
        """
        if self.batch_sampler is not None:
            return len(self.batch_sampler)
        if self.sampler is not None:
            return len(self.sampler)
        if not hasattr(self.dataset, "__len__"):
            raise TypeError(f"DataLoader: {describe(self.dataset)} has no length")
        n, size = len(self.dataset), self.batch_size or 1
        return n // size if self.drop_last else -(-n // size)

    def __iter__(self) -> Iterator[Any]:
        epoch, skip = self.epoch, self._skip
        self.epoch, self._skip = epoch + 1, 0
        self._place = (epoch, skip)
        return self._epoch(epoch, skip)

    def _epoch(self, epoch: int, skip: int) -> Iterator[Any]:
        batches = self._parallel(epoch, skip) if self.num_workers else self._serial(epoch, skip)
        try:
            for number, batch in enumerate(batches, skip + 1):
                self._place = (epoch, number)
                yield batch
            self._place = (epoch + 1, 0)
        finally:
            batches.close()  # type: ignore[attr-defined]

    def _tasks(self, epoch: int, skip: int) -> Iterator[Any]:
        """(number, indices) of the batches of an epoch; for iterable data sets without end."""
        if self._plan.iterable:
            yield from enumerate(repeat(None))
            return
        source = self.sampler if self.batch_sampler is None else self.batch_sampler
        if isinstance(source, Sampler) or hasattr(source, "set_epoch"):
            if hasattr(source, "set_epoch"):
                source.set_epoch(epoch)
        for number, indices in enumerate(source):
            if number >= skip:
                yield number, indices

    def _serial(self, epoch: int, skip: int) -> Iterator[Any]:
        fetcher = Fetcher(self._plan, epoch)
        for number, indices in self._tasks(epoch, skip):
            with untouched() if fetcher.runs_user_code else contextlib.nullcontext():
                batch = fetcher.batch(number, indices)
            if batch is END:
                return
            if number >= skip:
                yield batch

    def _parallel(self, epoch: int, skip: int) -> Iterator[Any]:
        if not self._plan.iterable and not len(self):
            return
        pool = self._pool or self._new_pool()
        kept = self.persistent_workers
        if kept:
            self._pool, pool_of_epoch = pool, None
        else:
            pool_of_epoch = pool
        tasks = (("batch", *task) for task in self._tasks(epoch, skip))
        done = False
        passed = skip if self._plan.iterable else 0
        try:
            for number, batch in enumerate(pool.run(epoch, tasks, self.timeout)):
                if number >= passed:
                    yield batch
            done = True
        except GeneratorExit:
            done = True  # left early: the workers are well
            raise
        finally:
            if pool_of_epoch is not None or not done:
                self._pool = None
                pool.close()

    def _new_pool(self) -> Any:
        workers = importlib.import_module("numen.data.workers")
        pool = workers.Pool(
            self._plan,
            self.num_workers,
            self.prefetch_factor,
            self.worker_init_fn,
            self.multiprocessing_context,
        )
        if self.persistent_workers:
            weakref.finalize(self, pool.close)
        return pool

    def close(self) -> None:
        """End persistent workers."""
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    # ------------------------------------------------------------ storage
    def state_dict(self) -> dict[str, int]:
        """Seed, epoch, and how many of its batches have been given."""
        epoch, batch = self._place
        return {"seed": self.seed, "epoch": epoch, "batch": batch}

    def load_state_dict(self, state_dict: Mapping[str, int]) -> None:
        """Let the next iteration go on where the saved one was.

        Batches that were given are passed over: read and thrown away where the data set is
        iterable.
        """
        self.seed = self._plan.seed = int(state_dict["seed"])
        for source in (self.sampler, getattr(self.batch_sampler, "sampler", None)):
            if isinstance(source, RandomSampler) and source.data_source is self.dataset:
                source.seed = self.seed
        self.epoch, self._skip = int(state_dict["epoch"]), int(state_dict["batch"])
        self._place = (self.epoch, self._skip)
        self.close()
