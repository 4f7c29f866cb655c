"""The disagreements that have a reason: which operation, in which samples, and who is right.

An entry holds for one kind of finding of the operations it names, where its predicate holds for the
sample. Everything else that differs makes the command fail. Next: `report.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Reason:
    """Why numen and torch differ; `right` names the one that NumPy's semantics or mathematics
    has on its side ("numen", "torch", "convention": both defensible)."""

    operations: tuple[str, ...]
    kinds: tuple[str, ...]
    when: Callable[[Any, Any], bool]
    right: str
    because: str


REASONS: tuple[Reason, ...] = ()


def explain(case: Any, finding: Any) -> str | None:
    """The reason of a finding, None where it has none."""
    for reason in REASONS:
        if finding.name in reason.operations and finding.kind in reason.kinds:
            if reason.when(case, finding):
                return reason.because
    return None
