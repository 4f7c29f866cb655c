"""docs/coverage.md says what the code does, and names that numen lacks have a reason."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from numen.namespace.absences import ABSENT

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/coverage.md"
LINE = re.compile(
    r"^\| `([\w.]+)` \| ([\w' ]+) \| ([\w-]+) \| ([\w-]+) \| ([\w -]+) \| ([\w, -]+) \| (.*) \|$",
    re.MULTILINE,
)
VERSION = re.search(r"public name of NumPy (\d+\.\d+)\.", PAGE.read_text())
SAME_NUMPY = VERSION is not None and np.__version__.startswith(VERSION[1] + ".")


def lines() -> dict[str, tuple[str, ...]]:
    found = LINE.findall(PAGE.read_text())
    assert len({name for name, *_ in found}) == len(found)
    return {name: tuple(rest) for name, *rest in found}


@pytest.mark.skipif(not SAME_NUMPY, reason="the page lists another NumPy's names")
def test_the_page_is_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs/make_coverage.py"), "--check"],
        capture_output=True,
        text=True,
        timeout=240,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    )
    assert done.returncode == 0, done.stderr


def test_what_is_absent_has_a_reason() -> None:
    absent = {name: cells[5] for name, cells in lines().items() if cells[0] == "absent"}
    assert absent == {name: ABSENT.get(name) for name in absent}


def test_no_sample_call_fails() -> None:
    assert [name for name, cells in lines().items() if "error" in cells[1:5]] == []


def test_the_page_tells_differentiable_from_refused() -> None:
    """Names whose answer is known: the probes measure what they say."""
    found = lines()
    assert found["exp"][:5] == ("row", "yes", "yes", "at once", "compiled")
    assert found["sin"][1] == "yes"
    assert found["polyfit"][:5] == ("host", "refused", "refused", "loop", "eager")
    assert found["argmax"][1:4] == ("-", "-", "at once")
    assert found["ndarray.sum"][1:5] == ("yes", "yes", "at once", "compiled")


@pytest.mark.skipif(not SAME_NUMPY, reason="the page lists another NumPy's names")
def test_every_public_name_of_numpy_has_a_line() -> None:
    found = set(lines())
    modules = {"fft", "linalg", "random"}  # their functions have lines of their own
    assert {n for n in dir(np) if not n.startswith("_")} - modules <= found
    assert {f"linalg.{n}" for n in np.linalg.__all__} <= found
    assert {f"random.{n}" for n in np.random.__all__} <= found
    assert {f"ndarray.{n}" for n in dir(np.ndarray) if not n.startswith("_")} <= found
