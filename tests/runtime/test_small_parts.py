"""Counters, allocator settings."""

from __future__ import annotations

import threading
from collections.abc import Callable

from numen.runtime import profile


def test_counters_count_in_all_threads() -> None:
    before = profile.counters().get("test", 0)

    def work() -> None:
        for _ in range(2000):
            profile.count("test")
            profile.count("test", 2)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert profile.counters()["test"] == before + 4 * 2000 * 3


def test_counters_are_a_copy() -> None:
    profile.count("test")
    profile.counters().clear()
    assert profile.counters()["test"] > 0


def test_reset_forgets(run_script: Callable[..., str]) -> None:
    run_script("""
from numen.runtime import profile
profile.count("x", 3)
assert profile.counters() == {"x": 3}
profile.reset()
assert profile.counters() == {}
""")


def test_large_blocks_are_kept_unless_switched_off(run_script: Callable[..., str]) -> None:
    # A freed block that stays is found again at the same address, and without new page faults.
    text = """
import resource
import numpy as np
from numen.runtime import memory
kept = memory.keep_freed_blocks()
assert memory.keep_freed_blocks() is kept
def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    np.ones(3_000_000, np.uint8)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
faults()
if kept:
    assert min(faults() for _ in range(5)) < 100
print(kept)
"""
    assert run_script(text, NUMEN_KEEP_MEMORY="0").split() == ["False"]
    run_script(text)
