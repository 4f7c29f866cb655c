"""The same source text means the same with numen as with NumPy, with and without gradients."""

from __future__ import annotations

import pytest
from tests.against_numpy.__main__ import NAMED, TEXTS
from tests.against_numpy.exceptions import GRADIENT, PLAIN
from tests.against_numpy.judge import judge

ALL = {**TEXTS, **NAMED}


def test_the_measure_keeps_its_size() -> None:
    assert (len(TEXTS), len(NAMED)) == (425, 74)
    assert set(PLAIN) <= set(ALL) and set(GRADIENT) <= set(ALL)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ALL)
def test_plain(name: str) -> None:
    verdict = judge(ALL[name])
    if name in PLAIN:
        assert not verdict.exact, f"{name} agrees now: take it off the list"
    else:
        assert verdict.bits, f"{ALL[name]}: {verdict.why}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ALL)
def test_with_gradients(name: str) -> None:
    verdict = judge(ALL[name], gradients=True)
    if name in GRADIENT:
        assert not verdict.exact, f"{name} agrees now: take it off the list"
    else:
        assert verdict.exact, f"{ALL[name]}: {verdict.why}"
