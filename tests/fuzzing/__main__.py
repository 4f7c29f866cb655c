"""`python -m tests.fuzzing [count] [first seed]`: random programs, in fresh processes of 500."""

from __future__ import annotations

import collections
import functools
import os
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Callable

from tests.fuzzing.against_numpy import WAYS, compare
from tests.fuzzing.check import DifferenceError, check
from tests.fuzzing.generate import Program, generate
from tests.fuzzing.transformed import compare_jvp, compare_vmap

BATCH = 500


def report(seed: int, error: Exception, source: str) -> None:
    """Print a difference, or what a program raised that no difference explains."""
    if isinstance(error, DifferenceError):
        print(error, flush=True)
    else:
        print(f"seed {seed} raised\n{source}", flush=True)
        traceback.print_exception(error, file=sys.stdout)


def run_batch(first: int, count: int) -> int:
    """Check seeds first .. first + count - 1 in this process; prints a line of counts; returns the
    differences.
    """
    warnings.simplefilter("ignore")
    how: collections.Counter[str] = collections.Counter()
    differences = 0
    for seed in range(first, first + count):
        program = generate(seed)
        try:
            reason, _ = check(program)
            how[reason] += 1
        except Exception as error:
            differences += 1
            report(seed, error, program.source)
        checks: list[Callable[[Program], object]] = [
            *[functools.partial(compare, way=way) for way in WAYS],
            compare_vmap,
            compare_jvp,
        ]
        for agrees in checks:
            try:
                agrees(program)
            except Exception as error:
                differences += 1
                report(seed, error, program.source)
    total = ", ".join(f"{n} {reason}" for reason, n in how.most_common())
    print(f"seeds {first}-{first + count - 1}: {differences} differences; {total}", flush=True)
    return differences


def main() -> int:
    if len(sys.argv) == 4 and sys.argv[1] == "--batch":
        return 1 if run_batch(int(sys.argv[2]), int(sys.argv[3])) else 0
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    start, failed = time.time(), 0
    pending = [(s, min(BATCH, first + count - s)) for s in range(first, first + count, BATCH)]
    running: list[subprocess.Popen[bytes]] = []
    workers = os.cpu_count() or 1
    while pending or running:
        while pending and len(running) < workers:
            s, n = pending.pop(0)
            running.append(
                subprocess.Popen([sys.executable, "-m", "tests.fuzzing", "--batch", str(s), str(n)])
            )
        done = [p for p in running if p.poll() is not None]
        failed += sum(p.returncode != 0 for p in done)
        running = [p for p in running if p.poll() is None]
        time.sleep(0.2)
    print(f"{count} programs in {time.time() - start:.0f} s, {failed} batch(es) with differences")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
