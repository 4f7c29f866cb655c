"""Time numen against torch in one run and print a table, ratios first: `make bench`.

Each side runs in a process of its own (`worker.py`) with as many threads as there are cores; the
rounds alternate, so that whatever else the machine does falls on both. The cases and what is asked
of them are in `workloads.py`. `--write` puts the table into docs/benchmarks.md and README.md,
`--json FILE` keeps every figure.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import machine
from workloads import CASES, Case

ROOT = Path(__file__).resolve().parents[1]
IMPORT_ASKED = 0.2
IMPORT_RUNS = 12
QUIET = 0.15
"""Cores that other processes may use in a round that counts."""
QUIET_LIMIT = 5.0
"""Seconds to wait for that."""
BEGIN, END = "<!-- benchmarks: begin -->", "<!-- benchmarks: end -->"


@dataclass
class Row:
    """What came out of a case. Times are seconds; `ratio` is ours / peer, the median over the
    rounds.
    """

    text: str
    asked: float
    peer_name: str
    ours: float = float("nan")
    peer: float = float("nan")
    ratio: float = float("nan")
    first: float = float("nan")
    peer_first: float = float("nan")
    note: str = ""
    rounds: list[dict[str, Any]] = field(default_factory=list)

    @property
    def value(self) -> float:
        """The figure that is held against `asked`."""
        return self.ratio if self.peer_name else self.ours

    @property
    def verdict(self) -> str:
        if self.value != self.value:
            return "failed"
        return "ok" if self.value <= self.asked else "miss"


class Worker:
    """A process that runs one side's cases on request."""

    def __init__(self, side: str, threads: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(ROOT / "benchmarks/worker.py"), side, str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment(threads),
        )

    def ask(self, **request: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the worker ended with exit code {self.process.wait()}")
        return dict(json.loads(answer))

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def environment(threads: int) -> dict[str, str]:
    env = dict(os.environ)
    # Without byte code on disk an import would time Python's compiler.
    for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "PYTHONDONTWRITEBYTECODE"):
        env.pop(name, None)
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        env[name] = str(threads)
    return env


# ------------------------------------------------------------ running


def run_case(case: Case, ours: Worker, peer: Worker, rounds: int, seconds: float) -> Row:
    row = Row(case.text, case.asked, case.peer or "")
    sides = [("ours", ours)] + ([("peer", peer)] if case.peer else [])
    for name, worker in sides:
        prepared = worker.ask(prepare=case.name)
        if "error" in prepared:
            row.note = f"{name}: {prepared['error']}"
            return row
        setattr(row, "first" if name == "ours" else "peer_first", prepared["first"])
        row.note = row.note or prepared["note"]
    # A round in which something else kept cores busy is repeated: threads that wait for a core at
    # a barrier cost one side a hundredfold.
    clean = 0
    while clean < rounds and len(row.rounds) < 2 * rounds:
        figures: dict[str, Any] = {}
        for name, worker in sides:
            machine.wait_until_quiet(QUIET_LIMIT, QUIET)
            figures[name] = worker.ask(measure=seconds)
            if "error" in figures[name]:
                row.note = figures[name]["error"]
                return row
        row.rounds.append(figures)
        clean += undisturbed(figures)
    settle(row)
    return row


def undisturbed(figures: dict[str, Any]) -> bool:
    return all(side["others"] <= QUIET for side in figures.values())


def settle(row: Row) -> None:
    """Draw the row's figures from its rounds: the undisturbed ones, or all if those are too few."""
    chosen = [figures for figures in row.rounds if undisturbed(figures)]
    if len(chosen) < 3:
        row.note = f"{row.note} only {len(chosen)} of {len(row.rounds)} rounds undisturbed".strip()
        chosen = row.rounds
    row.ours = statistics.median(figures["ours"]["median"] for figures in chosen)
    if row.peer_name:
        row.peer = statistics.median(figures["peer"]["median"] for figures in chosen)
        row.ratio = statistics.median(
            figures["ours"]["median"] / figures["peer"]["median"] for figures in chosen
        )


def run_import(threads: int) -> Row:
    """Time `import numen` in fresh processes: the least counts, NumPy's share is said apart."""
    code = (
        "import time; t = time.perf_counter(); import numpy; n = time.perf_counter() - t; "
        "import numen; print(n, time.perf_counter() - t)"
    )
    row = Row("import numen", IMPORT_ASKED, "")
    for _ in range(IMPORT_RUNS):
        machine.wait_until_quiet(QUIET_LIMIT, QUIET)
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, env=environment(threads)
        )
        if done.returncode:
            row.note = done.stderr.strip().splitlines()[-1]
            return row
        numpy_part, total = map(float, done.stdout.split())
        row.rounds.append({"numpy": numpy_part, "total": total})
    row.ours = min(figures["total"] for figures in row.rounds)
    share = min(figures["numpy"] for figures in row.rounds)
    row.note = f"of it NumPy {show_time(share)}"
    return row


# ------------------------------------------------------------ printing


def show_time(seconds: float) -> str:
    if seconds != seconds:
        return "-"
    for unit, scale in (("us", 1e6), ("ms", 1e3)):
        if seconds * scale < 1000:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds:.3g} s"


def cells(row: Row) -> list[str]:
    asked = f"<= {row.asked:g}" if row.peer_name else f"<= {show_time(row.asked)}"
    ratio = f"{row.ratio:.2f}" if row.ratio == row.ratio else "-"
    peer = f"{show_time(row.peer)} ({row.peer_name})" if row.peer_name else "-"
    return [row.text, ratio, asked, row.verdict, show_time(row.ours), peer]


HEAD = ["work", "ours / peer", "asked", "", "ours", "peer"]


def table(rows: Iterable[Row]) -> str:
    lines = [HEAD, ["---"] * len(HEAD), *(cells(row) for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEAD))]

    def show(line: list[str]) -> str:
        fill = "-" if line[0] == "---" else " "
        padded = (text.ljust(width, fill) for text, width in zip(line, widths, strict=True))
        return "| " + " | ".join(padded) + " |"

    return "\n".join(map(show, lines))


def first_calls(rows: Iterable[Row]) -> str:
    """Compile time, apart: what the first call of each compiled case cost."""
    lines = [
        f"{row.text}: {show_time(row.first)}"
        + (f" ({row.peer_name} {show_time(row.peer_first)})" if row.peer_name else "")
        for row in rows
        if "jit" in row.text and row.first == row.first
    ]
    return "First calls, compilation included:\n\n" + "\n".join(f"- {line}" for line in lines)


def notes(rows: Iterable[Row]) -> str:
    return "\n".join(f"- {row.text}: {row.note}" for row in rows if row.note)


def report(rows: list[Row], facts: dict[str, str]) -> str:
    said = "; ".join(f"{name} {value}" for name, value in facts.items())
    return "\n\n".join(part for part in (table(rows), first_calls(rows), notes(rows), said) if part)


# ------------------------------------------------------------ keeping


def replace_between_marks(path: Path, text: str) -> None:
    """Put `text` between the two marks of a Markdown file."""
    before, _, rest = path.read_text().partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        raise SystemExit(f"bench: {path} lacks the marks {BEGIN} and {END}")
    path.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")


def keep_json(path: Path, rows: list[Row], facts: dict[str, str]) -> None:
    record = {"facts": facts, "rows": [asdict(row) | {"verdict": row.verdict} for row in rows]}
    path.write_text(json.dumps(record, indent=1) + "\n")


def run_all(only: str, rounds: int, seconds: float, say: Callable[[str], None]) -> list[Row]:
    threads = machine.cores()
    rows: list[Row] = []
    ours, peer = Worker("numen", threads), Worker("torch", threads)
    try:
        for case in CASES:
            if only in case.name:
                rows.append(run_case(case, ours, peer, rounds, seconds))
                say(f"  {case.name}: {rows[-1].verdict}")
    finally:
        ours.close()
        peer.close()
    if only in "import":
        rows.append(run_import(threads))
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="cases whose name holds this text")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.4, help="one side's time in a round")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep every figure")
    parser.add_argument("--write", action="store_true", help="put the table into the docs")
    options = parser.parse_args()

    rows = run_all(
        options.only, options.rounds, options.seconds, lambda line: print(line, file=sys.stderr)
    )
    facts = machine.facts()
    print(report(rows, facts))
    if options.json:
        keep_json(options.json, rows, facts)
    if options.write:
        replace_between_marks(ROOT / "docs/benchmarks.md", report(rows, facts))
        replace_between_marks(ROOT / "README.md", table(rows))
    return 0 if all(row.verdict != "failed" for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
