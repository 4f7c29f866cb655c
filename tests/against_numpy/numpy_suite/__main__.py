"""`python -m tests.against_numpy.numpy_suite [files]`: run, print, and write what is asked for."""

from __future__ import annotations

import argparse
import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.against_numpy.numpy_suite import FILES, report
from tests.against_numpy.numpy_suite.runner import PACKAGE, Result, run_file


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.against_numpy.numpy_suite")
    parser.add_argument("files", nargs="*", help="test files (a part of the path), default all")
    parser.add_argument("--library", default="numen", choices=("numen", "numpy"))
    parser.add_argument("--jobs", type=int, default=1, help="files at a time")
    parser.add_argument("--seconds", type=float, default=600, help="for a file")
    parser.add_argument("--json", type=Path, help="write every result here")
    parser.add_argument("--read", type=Path, help="results of --json instead of running")
    parser.add_argument(
        "--reference", type=Path, help="results (--json) of --library numpy, for the rates"
    )
    parser.add_argument("--write", type=Path, help="write the tables as markdown here")
    parser.add_argument("--details", type=Path, help="write every failure, grouped, here")
    chosen = parser.parse_args(arguments)
    if chosen.read:
        results = json.loads(chosen.read.read_text())
    else:
        results = run(chosen)
    reference = json.loads(chosen.reference.read_text()) if chosen.reference else None
    print(report.tables(results, reference))
    if chosen.write:
        chosen.write.write_text(report.page(results, reference))
    if chosen.details:
        chosen.details.write_text(report.details(results))
    return 0


def run(chosen: argparse.Namespace) -> dict[str, list[Result]]:
    """Run the chosen files; those that the installed NumPy lacks are left out."""
    names = [f for f in FILES if not chosen.files or any(part in f for part in chosen.files)]
    absent = [f for f in names if not (PACKAGE / f).exists()]
    if absent:
        print(f"not in this NumPy: {', '.join(absent)}", file=sys.stderr)
    names = [f for f in names if f not in absent]

    results: dict[str, list[Result]] = {}

    def one(name: str) -> None:
        start = time.time()
        found = run_file(name, chosen.library, chosen.seconds)
        passed = sum(r["outcome"] == "passed" for r in found)
        seconds = time.time() - start
        print(f"{name}: {passed} of {len(found)}, {seconds:.0f} s", file=sys.stderr, flush=True)
        results[name] = found
        if chosen.json:  # also after each file: a full run takes a quarter of an hour
            chosen.json.write_text(json.dumps(results, indent=1))

    with ThreadPoolExecutor(chosen.jobs) as pool:
        list(pool.map(one, names))
    return {name: results[name] for name in names}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
