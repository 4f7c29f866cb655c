"""One sample of an entry, one disagreement about it, and the tally of an entry.

Next: `disagreements.py`.
"""

from __future__ import annotations

import random
import warnings
import zlib
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from tests.oracle import convert
from tests.oracle.disagreements import explain


@dataclass
class Case:
    """One sample of one operation, for the predicates of `disagreements.py`."""

    part: str
    name: str
    dtype: str
    index: int
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    about: str = ""
    theirs: list[np.ndarray] = field(default_factory=list)
    ours: list[np.ndarray] = field(default_factory=list)
    their_gradients: list[np.ndarray] = field(default_factory=list)
    our_gradients: list[np.ndarray] = field(default_factory=list)

    def tensors(self) -> list[torch.Tensor]:
        found: list[torch.Tensor] = []
        convert.mapped((self.args, self.kwargs), lambda t: found.append(t) or t)
        return found


@dataclass
class Finding:
    """One disagreement: what kind, in which sample, in words."""

    part: str
    name: str
    dtype: str
    index: int
    kind: str
    text: str
    sample: str
    explained: str | None = None


class Tally:
    """Counts and findings of one entry."""

    def __init__(self, part: str, name: str) -> None:
        self.part, self.name = part, name
        self.counts: Counter[str] = Counter()
        self.left_out: Counter[str] = Counter()
        self.findings: list[Finding] = []
        self.absent: str | None = None

    def disagree(self, case: Case, kind: str, text: str) -> None:
        sample = f"{case.about} {convert.summary(case.args)} {convert.summary(case.kwargs)}".strip()
        finding = Finding(self.part, self.name, case.dtype, case.index, kind, text, sample)
        finding.explained = explain(case, finding)
        self.findings.append(finding)


def seed(name: str) -> None:
    number = zlib.crc32(name.encode())
    torch.manual_seed(number)
    np.random.seed(number)  # some of torch's generators draw from it
    random.seed(number)


class quiet:
    """Neither library's warnings."""

    def __enter__(self) -> None:
        self.caught = warnings.catch_warnings()
        self.caught.__enter__()
        warnings.simplefilter("ignore")

    def __exit__(self, *what: Any) -> None:
        self.caught.__exit__(*what)
