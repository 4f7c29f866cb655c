"""The counts of a run as text, and the page of the documentation."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.oracle.compare import BOUNDS
from tests.oracle.disagreements import REASONS

PARTS = ("operations", "modules", "optimizers")

WORDS = {"operations": "Operations", "modules": "Layers", "optimizers": "Optimisers"}

COUNTS = {
    "samples": "samples",
    "compared": "samples compared",
    "equal values": "equal values",
    "with gradients": "samples with gradients",
    "equal gradients": "equal gradients",
    "refused by torch": "error samples that torch refuses",
    "refused here too": "of these, refused by numen too",
}
"""What is counted, and what the page calls it."""

INTRODUCTION = """\
# torch's sample inputs

`make oracle` runs numen on the inputs of torch's own test-suite: its tables of operations
(`op_db`), layers (`module_db`) and optimisers (`optim_db`). Values, shapes, dtypes and the gradient
of sum(result * cotangent), with a random cotangent, are compared in float64, float32 and
complex128. A layer takes over torch's state and runs in training and in evaluation; an optimiser
makes ten steps from the same gradients. `tests/oracle/mapping.py` says which function stands for
which operation. Pointwise operations are compared element by element, others relative to the
largest term: {bounds}.
This page is of torch {version}; `make oracle ARGS="--write docs/oracle.md"` writes it.
"""

EXPLANATION = """\
Each entry holds for the operations and the samples it names, and for no others
(`tests/oracle/disagreements.py`). *Right* is the side that NumPy's semantics or mathematics takes;
both are defensible where it says convention. Every other difference makes the command fail."""


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
    """The page of the documentation: counts, reasons, and what is not compared."""
    import torch

    bounds = f"{BOUNDS['float64']:g} in float64 and complex128, {BOUNDS['float32']:g} in float32"
    version = torch.__version__.partition("+")[0]
    lines = [
        *INTRODUCTION.format(bounds=bounds, version=version).splitlines(),
        "",
        "| | operations | layers | optimisers |",
        "| --- | --- | --- | --- |",
    ]
    sums = [totals(results, part) for part in PARTS]
    for label, key in (
        ("in torch's table", "entries"),
        ("with a counterpart", "mapped"),
        ("compared", "compared entries"),
    ):
        lines.append(f"| {label} | " + " | ".join(str(t[key]) for t in sums) + " |")
    for key, label in COUNTS.items():
        lines.append(f"| {label} | " + " | ".join(str(t["counts"][key]) for t in sums) + " |")
    for label in ("explained", "unexplained"):
        numbers = " | ".join(str(sum(t[label].values())) for t in sums)
        lines.append(f"| disagreements, {label} | {numbers} |")
    lines += [
        "",
        "## Disagreements",
        "",
        *EXPLANATION.splitlines(),
        "",
        "| operations | where | what differs | times | right | why |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    found = Counter(
        f["explained"] for r in results for f in r["findings"] if f["explained"] is not None
    )
    for reason in REASONS:
        count = found[reason.because]
        names = ", ".join(f"`{name}`" for name in reason.operations)
        kinds = ", ".join(reason.kinds)
        lines.append(
            f"| {names} | {reason.condition} | {kinds} | {count} | {reason.right} "
            f"| {reason.because} |"
        )
    lines += ["", "## Samples left out", "", "| why | samples |", "| --- | --- |"]
    left_out = sum((t["left out"] for t in sums), Counter())
    lines += [f"| {why} | {count} |" for why, count in left_out.most_common()]
    lines += ["", "## Without a counterpart", ""]
    for part, total in zip(PARTS, sums, strict=True):
        for why in total["absent"]:
            names = [r["name"] for r in results if r["part"] == part and r["absent"] == why]
            listed = ", ".join(f"`{name}`" for name in names)
            lines += [f"**{WORDS[part]}, {why}** ({len(names)}): {listed}", ""]
    return "\n".join(lines).rstrip() + "\n"
