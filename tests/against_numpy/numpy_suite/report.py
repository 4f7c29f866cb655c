"""Tables of what became of NumPy's tests: by file, by reason, and every failure in groups.

A file's rate is the tests that pass with numen over those that pass with NumPy in the same loader,
where a reference run is given, else over all that ran. Called by `__main__.py`.
"""

from __future__ import annotations

import platform
from collections import Counter
from typing import Any

import numpy as np
from tests.against_numpy.numpy_suite.reasons import BY_DESIGN, EXPLAINED, reason, symptom

Results = dict[str, list[dict[str, Any]]]
COLUMNS = ("file", "collected", "passed", "failed", "errors", "skipped", "NumPy passes", "rate")
FAILED = ("failed", "error", "crashed")


def rows(results: Results, reference: Results | None) -> list[tuple[Any, ...]]:
    """One row a file and the total."""
    out: list[tuple[Any, ...]] = []
    for file, found in results.items():
        n = Counter(r["outcome"] for r in found)
        of = n["passed"] + sum(n[f] for f in FAILED)
        if reference and file in reference:
            of = sum(r["outcome"] == "passed" for r in reference[file])
        failed, skipped = n["failed"] + n["crashed"], n["skipped"] + n["xfailed"]
        out.append((file, len(found), n["passed"], failed, n["error"], skipped, of))
    total = ("total", *[sum(row[i] for row in out) for i in range(1, 7)])
    return [(*row, f"{100 * row[2] / max(row[6], 1):.1f} %") for row in [*out, total]]


def failures(results: Results) -> list[dict[str, Any]]:
    """The failed tests, with their file and reason."""
    return [
        {**r, "file": file, "reason": reason(r)}
        for file, found in results.items()
        for r in found
        if r["outcome"] in FAILED
    ]


def by_reason(results: Results) -> list[tuple[str, int, str]]:
    """Reason, count, and whether it follows from a decision."""
    counts = Counter(f["reason"] for f in failures(results))
    return [(r, n, "by design" if r in BY_DESIGN else "") for r, n in counts.most_common()]


def tables(results: Results, reference: Results | None = None) -> str:
    """The two tables as text."""
    lines = [_line(COLUMNS), _line(["---"] * len(COLUMNS))]
    lines += [_line(row) for row in rows(results, reference)]
    lines += ["", _line(("failures", "tests", "")), _line(["---"] * 3)]
    lines += [_line(row) for row in by_reason(results)]
    return "\n".join(lines)


def _line(cells: Any) -> str:
    return "| " + " | ".join(str(c) for c in cells) + " |"


def page(results: Results, reference: Results | None = None) -> str:
    """A page of documentation: what is measured, the tables, and every reason explained."""
    lines = [f"- {name} ({count}): {EXPLAINED[name]}" for name, count, _ in by_reason(results)]
    explained = "\n".join(lines)
    return f"""# NumPy's own tests

NumPy {np.__version__}'s test files, loaded with numen in NumPy's place (Python
{platform.python_version()}). `python -m tests.against_numpy.numpy_suite --write FILE` writes this
page. `numpy.testing` compares the ndarrays inside Arrays; private modules stay NumPy's. The rate is
the tests that pass with numen over those that pass with NumPy in the same loader, where NumPy was
run too, else over all that ran.

{tables(results, reference)}

## The failures

{explained}
"""


def details(results: Results) -> str:
    """Every group of failures, the most frequent first, with one test and its line each."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for f in failures(results):
        groups.setdefault((f["reason"], symptom(f)), []).append(f)
    lines = []
    for name, count, design in by_reason(results):
        lines += [f"\n## {name}: {count}" + (f" ({design})" if design else "")]
        chosen = [(s, fs) for (r, s), fs in groups.items() if r == name]
        for text, found in sorted(chosen, key=lambda pair: -len(pair[1])):
            example = min(found, key=lambda f: len(f["id"]))
            lines.append(f"- {len(found)} x {text}")
            lines.append(f"    {example['id']}  line {example.get('line', '?')}")
    return "\n".join(lines)
