"""How many threads run a launch, and the pool's life: start, size, fork.

The pool itself is native (`pool_ir.py`). A caller that gets its lock publishes a job with a new
generation number and some tickets; a worker exchanges a ticket for the right to take chunks, and
the caller closes the job when no chunk is left and waits for those who joined, so a late or
sleeping worker delays nobody and touches no finished call's memory. A caller that finds the pool
busy runs all its chunks itself. Idle workers spin for some 50 us, then sleep in a futex. Next:
`executor.py`, which loads the native part.
"""

from __future__ import annotations

import ctypes
import operator
import os
import sys
import threading
from collections.abc import Callable

from numen.runtime.native import Library
from numen.runtime.pool_ir import MAX_THREADS

_lock = threading.Lock()
_threads: int | None = None
_pool: _Pool | None = None


class _Pool:
    """The native pool's controls."""

    def __init__(self, library: Library) -> None:
        def function(name: str, result: type | None, *arguments: type) -> Callable[..., int]:
            return ctypes.CFUNCTYPE(result, *arguments)(library.address(name))

        self.set_threads = function("pool_set_threads", None, ctypes.c_int32)
        self.reset = function("pool_reset", None)
        self.started = function("pool_started", ctypes.c_int32)


def num_threads() -> int:
    """The number of threads that share the chunks of a launch, the calling one included.

    At first $NUMEN_NUM_THREADS, or else the number of CPUs this process may use.

    Raises
    ------
    ValueError
        If $NUMEN_NUM_THREADS is not a positive integer.
    """
    global _threads
    if _threads is None:
        _threads = _default_threads()
    return _threads


def set_num_threads(n: int) -> None:
    """Let `n` threads share the chunks of each later launch. No result depends on it.

    Raises
    ------
    TypeError
        If `n` is not an integer.
    ValueError
        If `n` is not in 1 .. 1024.
    """
    global _threads
    n = operator.index(n)
    if not 1 <= n <= MAX_THREADS:
        raise ValueError(f"set_num_threads: expected 1 to {MAX_THREADS} threads, got {n}")
    with _lock:
        _threads = n
        if _pool is not None:
            _pool.set_threads(n)


def attach(library: Library) -> None:
    """Take control of the pool in `library`; called once, by `executor.py`."""
    global _pool
    threads = num_threads()
    with _lock:
        _pool = _Pool(library)
        _pool.set_threads(threads)


def started_workers() -> int:
    """How many worker threads there are; the first launch of several chunks starts them."""
    return 0 if _pool is None else _pool.started()


def _default_threads() -> int:
    if not sys.platform.startswith("linux"):
        return 1
    text = os.environ.get("NUMEN_NUM_THREADS")
    if text is None:
        return min(len(os.sched_getaffinity(0)), MAX_THREADS)
    if not text.strip().isdecimal() or int(text) < 1:
        raise ValueError(f"NUMEN_NUM_THREADS: expected a positive integer, got {text!r}")
    return min(int(text), MAX_THREADS)


def _after_fork_in_child() -> None:
    """The child has no workers, perhaps a job of a thread it lacks: start afresh, lazily."""
    global _lock
    _lock = threading.Lock()
    if _pool is not None:
        _pool.reset()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
