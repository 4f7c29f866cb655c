"""`python -m tests.against_numpy`: how many expressions and programs are NumPy's, plain and with
gradients."""

from __future__ import annotations

import sys

from tests.against_numpy.exceptions import GRADIENT, PLAIN
from tests.against_numpy.expressions import EXPRESSIONS
from tests.against_numpy.judge import Verdict, judge
from tests.against_numpy.programs import PROGRAMS

TEXTS = {text: text for family in EXPRESSIONS.values() for text in family}
"""Expressions, named by their text."""

NAMED = {name: text for family in PROGRAMS.values() for name, text in family.items()}
"""Programs by name."""


def main() -> int:
    """Print the counts and every difference; the exit status counts unexplained ones."""
    unexplained = 0
    for mode, gradients, explained in (("plain", False, PLAIN), ("gradients", True, GRADIENT)):
        for kind, texts in (("expressions", TEXTS), ("programs", NAMED)):
            verdicts = {name: judge(text, gradients) for name, text in texts.items()}
            print(f"{mode}, {kind}: {counts(verdicts)}")
            for name, verdict in verdicts.items():
                if not verdict.exact:
                    reason = explained.get(name)
                    unexplained += reason is None
                    print(f"    {name}: {reason or verdict.why.splitlines()[0][:150]}")
    return 1 if unexplained else 0


def counts(verdicts: dict[str, Verdict]) -> str:
    """How many agree in value, also in dtype and kind, and also in every bit."""
    n = len(verdicts)
    value = sum(v.value for v in verdicts.values())
    exact = sum(v.exact for v in verdicts.values())
    bits = sum(v.bits for v in verdicts.values())
    return f"{value}/{n} values, {exact}/{n} exact (dtype, scalar or array), {bits}/{n} every bit"


if __name__ == "__main__":
    sys.exit(main())
