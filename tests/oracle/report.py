"""The counts of a run as text, and the page of the documentation. Next: nothing; this is the end.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.oracle.disagreements import REASONS

PARTS = ("operations", "modules", "optimizers")

COUNTS = (
    "samples",
    "compared",
    "equal values",
    "with gradients",
    "equal gradients",
    "refused by torch",
    "refused here too",
)


def totals(results: list[dict[str, Any]], part: str) -> dict[str, Any]:
    """Sums over the entries of a part."""
    chosen = [r for r in results if r["part"] == part]
    here = [r for r in chosen if not r["absent"]]
    found = [f for r in here for f in r["findings"]]
    counts: Counter[str] = Counter()
    left_out: Counter[str] = Counter()
    for r in here:
        counts.update(r["counts"])
        left_out.update(r["left out"])
    return {
        "entries": len(chosen),
        "mapped": len(here),
        "compared entries": sum(r["counts"].get("compared", 0) > 0 for r in here),
        "counts": counts,
        "left out": left_out,
        "absent": Counter(r["absent"] for r in chosen if r["absent"]),
        "explained": Counter(f["kind"] for f in found if f["explained"]),
        "unexplained": Counter(f["kind"] for f in found if not f["explained"]),
    }


def unexplained(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [f for r in results for f in r["findings"] if not f["explained"]]


def text(results: list[dict[str, Any]], verbose: bool = False) -> str:
    """The counts, and every disagreement without a reason."""
    lines: list[str] = []
    for part in PARTS:
        t = totals(results, part)
        if not t["entries"]:
            continue
        lines.append(
            f"{part}: {t['entries']} in torch's table, {t['mapped']} with a counterpart, "
            f"{t['compared entries']} compared"
        )
        lines.append("    " + ", ".join(f"{t['counts'][k]} {k}" for k in COUNTS if t["counts"][k]))
        for label, counter in (
            ("absent", t["absent"]),
            ("samples left out", t["left out"]),
            ("disagreements with a reason", t["explained"]),
            ("disagreements without a reason", t["unexplained"]),
        ):
            if counter:
                words = ", ".join(f"{n} {k}" for k, n in counter.most_common())
                lines.append(f"    {label}: {words}")
    for r in results:
        open_ones = [f for f in r["findings"] if not f["explained"]]
        seen: Counter[str] = Counter()
        for f in open_ones:
            seen[f["kind"]] += 1
            if verbose or seen[f["kind"]] <= 2:
                lines.append(
                    f"{f['name']} [{f['dtype']} {f['index']} {f['kind']}] {f['text']} "
                    f"| {f['sample']}"
                )
        if not verbose and len(open_ones) > sum(min(n, 2) for n in seen.values()):
            lines.append(f"{r['name']}: {len(open_ones)} in all")
    return "\n".join(lines)


def line(result: dict[str, Any]) -> str:
    """One entry in a line."""
    if result["absent"]:
        return f"{result['name']}: {result['absent']}"
    counts = ", ".join(f"{v} {k}" for k, v in result["counts"].items())
    left_out = "".join(f"; left out {v} ({k})" for k, v in result["left out"].items())
    open_ones = sum(not f["explained"] for f in result["findings"])
    explained = len(result["findings"]) - open_ones
    more = f"; {explained} explained" if explained else ""
    more += f"; {open_ones} UNEXPLAINED" if open_ones else ""
    return f"{result['name']}: {counts}{left_out}{more}"


def page(results: list[dict[str, Any]]) -> str:
    raise NotImplementedError(REASONS)
