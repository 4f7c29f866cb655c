"""What the figures depend on: the machine, versions, and what else runs on it meanwhile.

Used by `bench.py` and `worker.py`.
"""

from __future__ import annotations

import os
import platform
import subprocess
import time
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


class Watch:
    """Measures how many cores other processes keep busy, from its making to `others()`."""

    def __init__(self) -> None:
        self.busy = busy_seconds()
        self.own = time.process_time()
        self.start = time.perf_counter()

    def others(self) -> float:
        """Cores that others used on average; 0 where the system does not tell."""
        elapsed = time.perf_counter() - self.start
        own = time.process_time() - self.own
        return max(0.0, busy_seconds() - self.busy - own) / max(elapsed, 1e-9)


def busy_seconds() -> float:
    """Processor time that everything together has used since the start of the machine."""
    try:
        with open("/proc/stat") as file:
            ticks = [int(word) for word in file.readline().split()[1:9]]
    except OSError:
        return 0.0
    idle, waiting = ticks[3], ticks[4]
    return (sum(ticks) - idle - waiting) / TICKS


def wait_until_quiet(limit: float, others: float) -> bool:
    """Wait until other processes use less than `others` cores, at most `limit` seconds."""
    end = time.perf_counter() + limit
    while time.perf_counter() < end:
        watch = Watch()
        time.sleep(0.1)
        if watch.others() <= others:
            return True
    return False


def cores() -> int:
    """Cores that this process may use: the number of threads of either side."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def facts() -> dict[str, str]:
    """Machine, versions, commit and date, to be kept with every figure."""
    dirty = " with changes" if _git("status", "--porcelain") else ""
    return {
        "machine": f"{_processor()}, {cores()} cores, {platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": _version("numpy"),
        "llvmlite": _version("llvmlite"),
        "torch": _version("torch"),
        "commit": (_git("rev-parse", "--short", "HEAD") or "none") + dirty,
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
    }


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip()


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown processor"
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
