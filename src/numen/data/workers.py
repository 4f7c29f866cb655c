"""Worker processes of a loader: started once, fed with tasks in turn, read in the same order.

Each worker has a pipe for tasks and small answers; batches lie in shared memory (`sharing.py`). A
worker that dies is noticed at once, as the pool waits for its end too. Loaded by `loader.py` when
it needs workers.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import time
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from multiprocessing import connection
from typing import Any

from numen.data.fetching import (
    END,
    Fetcher,
    Plan,
    WorkerError,
    WorkerInfo,
    WorkerTimeoutError,
    set_worker_info,
)
from numen.data.sharing import Segment
from numen.data.streams import batch_seed, seed_everything
from numen.settings import config

PATIENCE = 2.0
"""Seconds that a worker has to end by itself."""


class RemoteError(Exception):
    """The traceback of a worker, as the cause of the exception it raised."""

    def __str__(self) -> str:
        return f"\n\n{self.args[0]}"


class Worker:
    """The main process's side of one worker."""

    def __init__(self, number: int, process: Any, pipe: Any, segments: list[Segment]) -> None:
        self.number = number
        self.process = process
        self.pipe = pipe
        self.segments = segments
        self.given = 0
        self.taken = 0

    def give(self, task: Any) -> None:
        """Send a task; its answer comes in the next segment in turn."""
        try:
            self.pipe.send((self.given % len(self.segments), task))
        except OSError:
            raise self.death() from None
        self.given += 1

    def take(self, ends: list[Any], timeout: float) -> Any:
        """Wait for the answer to the oldest task."""
        ready = connection.wait([self.pipe, *ends], timeout or None)
        if not ready:
            raise WorkerTimeoutError(
                f"DataLoader worker {self.number} gave no batch within {timeout:g} seconds"
            )
        if self.pipe not in ready:
            raise _DeathError  # of any worker
        try:
            slot, sizes = self.pipe.recv()
        except (EOFError, OSError):
            raise self.death() from None
        self.taken += 1
        return self.segments[slot].read(sizes)

    def death(self) -> WorkerError:
        """What to say of a worker that has died."""
        self.process.join(PATIENCE)
        code = self.process.exitcode
        how = f"exited with code {code}"
        if code is not None and code < 0:
            how = f"was killed by {signal.Signals(-code).name}"
        hint = " Hint: perhaps memory ran out" if code == -9 else ""
        return WorkerError(f"DataLoader worker {self.number} (pid {self.process.pid}) {how}.{hint}")


class _DeathError(Exception):
    """A worker has died."""


class Pool:
    """The workers of a loader.

    Parameters
    ----------
    plan : Plan
        What is to be fetched.
    count : int
        How many workers.
    ahead : int
        Batches that each prepares ahead.
    init : callable, optional
        Called in each with its number.
    context : str or context, optional
        How processes start; "fork" where there is one.
    """

    def __init__(
        self,
        plan: Plan,
        count: int,
        ahead: int,
        init: Callable[[int], Any] | None = None,
        context: Any = None,
    ) -> None:
        if not hasattr(os, "fork"):
            raise WorkerError("DataLoader: worker processes need a POSIX system; use num_workers=0")
        if context is None or isinstance(context, str):
            context = multiprocessing.get_context(context or "fork")
        self.owner = os.getpid()
        self.workers: list[Worker] = []
        try:
            for number in range(count):
                self.workers.append(self._start(number, plan, count, ahead, init, context))
        except BaseException:
            self.close()
            raise
        self._ends = [w.process.sentinel for w in self.workers]

    def _start(
        self, number: int, plan: Plan, count: int, ahead: int, init: Any, context: Any
    ) -> Worker:
        ours, theirs = context.Pipe()
        segments = [Segment() for _ in range(ahead)]
        forked = context.get_start_method() == "fork"
        # What a forked child inherits of the others it closes: a pipe ends with its last holder.
        inherited = [w.pipe for w in self.workers] + [ours] if forked else []
        info = (number, count, plan, init, os.getpid())
        process = context.Process(
            target=_work, args=(info, theirs, segments, inherited), daemon=True
        )
        process.name = f"numen-data-{number}"
        with warnings.catch_warnings():
            # Python 3.12 warns of forks beside threads; a worker uses none of ours.
            warnings.filterwarnings("ignore", ".*fork.*", DeprecationWarning)
            process.start()
        theirs.close()
        return Worker(number, process, ours, segments)

    def run(self, epoch: int, tasks: Iterator[Any], timeout: float) -> Iterator[Any]:
        """Give the batches of an epoch in the order of their tasks.

        Raises
        ------
        WorkerError
            If a worker dies or is too slow.
        Exception
            What a worker raised.
        """
        for worker in self.workers:
            self._drain(worker)
            worker.give(("epoch", epoch))
            self._take(worker, timeout)
        order: deque[Worker] = deque()
        ended: set[int] = set()
        for _ in range(len(self.workers[0].segments)):
            for worker in self.workers:
                self._feed(worker, tasks, order)
        while order:
            worker = order.popleft()
            kind, value = self._take(worker, timeout)
            if kind == "error":
                raise _revived(*value)
            if kind == END:
                ended.add(worker.number)
            if worker.number not in ended:
                self._feed(worker, tasks, order)
            if kind == "batch":
                yield value

    def _feed(self, worker: Worker, tasks: Iterator[Any], order: deque[Worker]) -> None:
        for task in tasks:
            worker.give(task)
            order.append(worker)
            return

    def _take(self, worker: Worker, timeout: float) -> Any:
        try:
            return worker.take(self._ends, timeout)
        except _DeathError:
            raise self._dead().death() from None

    def _dead(self) -> Worker:
        ended = connection.wait(self._ends, 0)
        return next(w for w in self.workers if w.process.sentinel in ended)

    def _drain(self, worker: Worker) -> None:
        """Throw away what an epoch that was left early had asked for."""
        while worker.taken < worker.given:
            self._take(worker, 0)

    def close(self) -> None:
        """End all workers: ask, then insist."""
        if os.getpid() != self.owner:  # a copy in a forked child
            return
        for worker in self.workers:
            with contextlib.suppress(OSError, ValueError):
                worker.pipe.send(None)
            worker.pipe.close()
        limit = time.monotonic() + PATIENCE
        for worker in self.workers:
            worker.process.join(max(0.0, limit - time.monotonic()))
        for insist in ("terminate", "kill"):
            for worker in self.workers:
                if worker.process.is_alive():
                    getattr(worker.process, insist)()
                    worker.process.join(PATIENCE)
        for worker in self.workers:
            worker.process.close()
            for segment in worker.segments:
                segment.close()
        self.workers = []


def _revived(error: Any, text: str, number: int) -> Any:
    """The exception of a worker, with its traceback as the cause."""
    revived: Any = None
    if error is not None:
        with contextlib.suppress(Exception):
            revived = pickle.loads(error)
    if not isinstance(revived, BaseException):
        last = text.strip().rpartition("\n")[2]
        revived = WorkerError(f"DataLoader worker {number} raised {last}")
    revived.add_note(f"raised in DataLoader worker {number}")
    revived.__cause__ = RemoteError(text)
    return revived


# ------------------------------------------------------------ the worker's side


def _work(info: Any, pipe: Any, segments: list[Segment], inherited: list[Any]) -> None:
    """Answer tasks until told to stop, or until the main process is gone."""
    number, count, plan, init, owner = info
    for other in inherited:
        other.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process sees it and ends its workers
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    config.engine = "numpy"  # kernels compile in threads, which a forked process lacks
    set_worker_info(WorkerInfo(number, count, plan.seed, plan.dataset))
    seed_everything(batch_seed(plan.seed, 0, 1 << 32, number))
    fault: Any = None
    try:
        if init is not None:
            init(number)
    except Exception as error:
        fault = _packed(error, number)
    fetcher: Any = None
    while True:
        while not pipe.poll(5.0):
            if os.getppid() != owner:
                return
        try:
            message = pipe.recv()
        except (EOFError, OSError):
            return
        if message is None:
            return
        slot, (kind, *rest) = message
        if kind == "epoch":
            fetcher, answer = Fetcher(plan, rest[0], number), ("ready", None)
        else:
            answer = fault or _answer(fetcher, number, *rest)
        try:
            sizes = segments[slot].write(answer)
        except Exception as error:  # a batch that can't be pickled
            sizes = segments[slot].write(_packed(error, number))
        try:
            pipe.send((slot, sizes))
        except OSError:
            return


def _answer(fetcher: Fetcher, number: int, batch: int, indices: Any) -> tuple[str, Any]:
    try:
        value = fetcher.batch(batch, indices)
    except Exception as error:
        return _packed(error, number)
    return (END, None) if value is END else ("batch", value)


def _packed(error: Exception, number: int) -> tuple[str, Any]:
    text = "".join(traceback.format_exception(error))[-20_000:]
    data = None
    with contextlib.suppress(Exception):
        data = pickle.dumps(error)
        pickle.loads(data)  # classes with arguments of their own often fail only here
    return "error", (data, text, number)
