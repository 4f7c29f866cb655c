"""One side of a benchmark, in a process of its own so that the two sides' thread pools never meet.

`bench.py` starts it as `worker.py numen 2` and talks to it by lines of JSON: {"prepare": case}
builds the work and calls it for the first time, {"measure": seconds} times one round. Each line is
answered by one line.
"""

from __future__ import annotations

import gc
import json
import statistics
import sys
import time
from typing import Any, TextIO

import workloads
from machine import Watch

WARM_CALLS = 3
ROUND_CALLS = 4_000
LOOP_SECONDS = 300e-6
"""Calls shorter than this are timed as a loop of several, so that the clock's own cost vanishes."""


def prepare(side: str, threads: int, case: str) -> tuple[workloads.Work, dict[str, Any]]:
    """Build the work of a case and run it warm; say what the first call cost."""
    note = ""
    if side == "numen":
        work = workloads.numen_cases()[case]()
    else:
        work = workloads.torch_cases(threads)[case]()
    begin = time.perf_counter()
    try:
        work()
    except Exception as error:
        if (side, case) != ("torch", "fused"):
            raise
        note = f"torch.compile failed ({type(error).__name__}): compared with eager torch"
        work = workloads.torch_eager_fused()
        begin = time.perf_counter()
        work()
    first = time.perf_counter() - begin
    for _ in range(WARM_CALLS):
        work()
    return work, {"first": first, "note": note}


def measure(work: workloads.Work, seconds: float) -> dict[str, Any]:
    """Time one round: the median and the least of the calls that fit into `seconds`."""
    begin = time.perf_counter()
    work()
    once = time.perf_counter() - begin
    loop = max(1, int(LOOP_SECONDS / max(once, 1e-7)))
    times: list[float] = []
    gc.collect()
    gc.disable()
    watch = Watch()
    end = time.perf_counter() + seconds
    while len(times) < 3 or (time.perf_counter() < end and len(times) < ROUND_CALLS):
        begin = time.perf_counter()
        for _ in range(loop):
            work()
        times.append((time.perf_counter() - begin) / loop)
    others = watch.others()
    gc.enable()
    return {
        "median": statistics.median(times),
        "least": min(times),
        "calls": len(times) * loop,
        "others": others,
    }


def main(side: str, threads: int, requests: TextIO, answers: TextIO) -> None:
    work: workloads.Work | None = None
    for line in requests:
        request = json.loads(line)
        try:
            if "prepare" in request:
                work = None  # free the last case's memory first
                work, answer = prepare(side, threads, request["prepare"])
            else:
                assert work is not None
                answer = measure(work, request["measure"])
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    # Whatever else prints goes to stderr, so that the answers stay readable.
    out, sys.stdout = sys.stdout, sys.stderr
    main(sys.argv[1], int(sys.argv[2]), sys.stdin, out)
