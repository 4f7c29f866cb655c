"""Runs test files, each in processes of its own, and collects what became of every test.

A process that dies or overruns its time leaves its results so far; the test it was in counts as
crashed and a new process does the rest. Called by `__main__.py`. Next: `plugin.py`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

PACKAGE = Path(np.__file__).parent
HERE = Path(__file__).resolve()
TREE = HERE.parents[3]
RESTARTS = 20
WARNINGS = (
    "error",
    "ignore:the matrix subclass is not",
    "ignore:Importing from numpy.matlib is",
    "ignore::pytest.PytestDeprecationWarning",
)
"""Those of NumPy's own settings, and pytest's about NumPy's test files."""

Result = dict[str, Any]


def run_file(file: str, library: str = "numen", seconds: float = 600) -> list[Result]:
    """The results of one of NumPy's test files: dicts with id, outcome (passed, failed, error,
    crashed, skipped, xfailed) and, of what failed, kind, text, line, where.
    """
    with tempfile.TemporaryDirectory(prefix="numpy-suite-") as folder:
        lines, done = Path(folder, "results"), Path(folder, "done")
        lines.touch()
        results: dict[str, Result] = {}
        for _ in range(RESTARTS):
            done.write_text("\n".join(results))
            code, output = _process(file, library, seconds, lines, done if results else None)
            before = len(results)
            running = _read(lines, results)
            if running is None and code in (0, 1, 5):
                break
            if running is not None:
                text = "ran out of the file's time" if code is None else f"exit status {code}"
                results[running] = {
                    "id": running,
                    "outcome": "crashed",
                    "kind": "Crash",
                    "text": f"{text}\n{output[-1500:]}",
                }
                with lines.open("a") as f:
                    f.write(json.dumps(results[running]) + "\n")
            elif len(results) == before:
                results[file] = {
                    "id": file,
                    "outcome": "error",
                    "kind": "Process",
                    "text": output[-3000:],
                }
                break
        return list(results.values())


def _read(lines: Path, results: dict[str, Result]) -> str | None:
    """Read new results; the test that was started and never finished, or None."""
    running = None
    for line in lines.read_text().splitlines():
        result = json.loads(line)
        if result["outcome"] == "started":
            running = result["id"]
        else:
            results[result["id"]] = result
            if result["id"] == running:
                running = None
    return running


def _process(
    file: str, library: str, seconds: float, lines: Path, done: Path | None
) -> tuple[int | None, str]:
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", "--tb=no"]
    command += ["--continue-on-collection-errors"]
    command += ["-p", "tests.against_numpy.numpy_suite.plugin", "--noconftest", "-c", os.devnull]
    command += ["-p", "no:cacheprovider", "-p", "no:xdist", "--import-mode=importlib"]
    command += ["-o", "filterwarnings=" + "\n".join(WARNINGS), f"--rootdir={PACKAGE}"]
    command += [f"--suite-results={lines}", f"--suite-library={library}"]
    if done is not None:
        command += [f"--suite-done={done}"]
    command += [str(PACKAGE / file)]
    given = os.environ.get("PYTHONPATH") or str(TREE / "src")
    paths = [str(TREE), *map(os.path.abspath, given.split(os.pathsep))]  # run in another folder
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "NPY_AVAILABLE_MEM": "1 GB",
        "NUMPY_EXPERIMENTAL_DTYPE_API": "1",
    }
    try:
        ran = subprocess.run(
            command,
            cwd=lines.parent,
            env=environment,
            timeout=seconds,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        output = error.stdout or b""
        return None, output.decode(errors="replace") if isinstance(output, bytes) else output
    return ran.returncode, ran.stdout
