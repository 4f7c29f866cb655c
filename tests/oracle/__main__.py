"""`python -m tests.oracle`: compare, print the counts; fails where a difference has no reason."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import re
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from tests.oracle import report

LIMIT = 40
"""Samples of an operation in each dtype, unless --all asks for every one."""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.oracle")
    parser.add_argument("--only", default="", help="entries whose name this expression finds")
    parser.add_argument("--part", choices=report.PARTS, help="one of torch's three tables")
    parser.add_argument("--all", action="store_true", help="every sample")
    parser.add_argument("--samples", type=int, default=LIMIT, help="of an operation in a dtype")
    parser.add_argument("--jit", action="store_true", help="compiled, instead of eager")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--verbose", action="store_true", help="a line for each entry")
    parser.add_argument("--json", type=Path, help="write every result here")
    parser.add_argument("--write", type=Path, help="write the page of results here")
    chosen = parser.parse_args(arguments)
    start = time.time()
    results = compare(chosen)
    seconds = time.time() - start
    print(report.text(results, chosen.verbose))
    print(f"{seconds:.0f} s")
    if chosen.json:
        chosen.json.write_text(json.dumps(results, indent=1))
    if chosen.write:
        chosen.write.write_text(report.page(results))
    return 1 if report.unexplained(results) else 0


def compare(chosen: argparse.Namespace) -> list[dict[str, Any]]:
    """The result of every entry, in torch's order."""
    from tests.oracle import tables

    names = [
        (part, name)
        for part, name in tables.entries()
        if re.search(chosen.only, name) and chosen.part in (None, part)
    ]
    limit = None if chosen.all else chosen.samples
    tasks = [(part, name, limit, chosen.jit) for part, name in names]
    results: dict[tuple[str, str], dict[str, Any]] = {}
    for done in runs(tasks, chosen.jobs):
        results[done["part"], done["name"]] = done
        if chosen.verbose:
            print(report.line(done), file=sys.stderr, flush=True)
    return [results[n] for n in names]


def runs(tasks: list[Any], jobs: int) -> Iterator[dict[str, Any]]:
    if jobs == 1:
        yield from map(one, tasks)
        return
    with ProcessPoolExecutor(jobs, initializer=alone) as pool:
        yield from pool.map(one, tasks, chunksize=4)


def alone() -> None:
    """Each process has one thread of torch's."""
    import torch

    torch.set_num_threads(1)


def one(task: tuple[str, str, int | None, bool]) -> dict[str, Any]:
    """One entry's counts and findings, as plain data."""
    from tests.oracle import tables

    start = time.time()
    tally = tables.run(*task)
    return {
        "seconds": round(time.time() - start, 3),
        "part": tally.part,
        "name": tally.name,
        "absent": tally.absent,
        "counts": dict(tally.counts),
        "left out": dict(tally.left_out),
        "findings": [dataclasses.asdict(f) for f in tally.findings],
    }


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main(sys.argv[1:]))
