"""The hook that checks text files finds each of its faults, and none in this tree."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SUFFIXES = {".md", ".py", ".toml", ".yaml"}


def check(*paths: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / ".ci/check_text.py"), *map(str, paths)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("a.md", "one \ntwo\n", "a.md:1: blanks"),
        ("b.py", "x = 1", "one newline"),
        ("c.py", "x = 1\n\n", "one newline"),
        ("d.toml", "a = [1\n", "d.toml: "),
    ],
)
def test_a_fault_is_named(tmp_path: Path, name: str, text: str, fault: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    done = check(path)
    assert done.returncode == 1 and fault in done.stdout


def test_this_tree_has_none() -> None:
    folders = [ROOT / name for name in ("src", "tests", "docs", "benchmarks", "examples")]
    files = [p for folder in folders for p in folder.rglob("*") if p.suffix in SUFFIXES]
    files += [ROOT / "README.md", ROOT / "pyproject.toml", ROOT / ".pre-commit-config.yaml"]
    done = check(*files)
    assert done.returncode == 0, done.stdout
