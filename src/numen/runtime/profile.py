"""Counters of what the native side did: kernels compiled, loaded from disk, cache entries rejected.

`count` is called by the runtime and by the folders above; tests and `explain` read `counters()`.
The names are free: a counter exists from its first count on. Nothing here is on the path of one op.
"""

from __future__ import annotations

import os
import threading

_counts: dict[str, int] = {}
_lock = threading.Lock()


def count(name: str, n: int = 1) -> None:
    """Add `n` to the counter `name`."""
    with _lock:
        _counts[name] = _counts.get(name, 0) + n


def counters() -> dict[str, int]:
    """A copy of all counters; those never counted are absent."""
    with _lock:
        return dict(_counts)


def reset() -> None:
    """Forget all counters."""
    with _lock:
        _counts.clear()


def _after_fork_in_child() -> None:
    """Replace the lock: a thread that does not exist in the child may have held it."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
