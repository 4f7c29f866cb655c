"""The pytest plugin that loads NumPy's test files with numen in NumPy's place.

Options: `--suite-results` (a file that gets one JSON line per test, flushed, so that a crash loses
nothing), `--suite-library` (numen or numpy), `--suite-done` (ids that an earlier process of the
same file has run). Started by `runner.py`. Next: `load.py`.
"""

from __future__ import annotations

import ast
import importlib
import json
import signal
import sys
import traceback
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest
from _pytest.assertion.rewrite import rewrite_asserts
from tests.against_numpy.numpy_suite.load import SWAP, execute, replace_imports
from tests.against_numpy.numpy_suite.swap import Missing, Swap

ROOT = Path(np.__file__).parent.parent
SECONDS = 30
"""What a test may take, of processor time."""

MARKERS = "slow slow_pypy leaks_references thread_unsafe valgrind_error parallel_threads iterations"
"""Marks of NumPy's own settings."""


class SlowTestError(BaseException):
    """A test ran out of its time; no `except Exception` in it catches this."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--suite-results")
    parser.addoption("--suite-library", default="numen")
    parser.addoption("--suite-done")


def pytest_configure(config: pytest.Config) -> None:
    for marker in MARKERS.split():
        config.addinivalue_line("markers", f"{marker}: one of NumPy's own")
    hypothesis.settings.register_profile(
        "numpy",
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    hypothesis.settings.load_profile("numpy")
    if config.getoption("--suite-results"):
        config.pluginmanager.register(Recorder(config), "numpy-suite-recorder")


def pytest_pycollect_makemodule(module_path: Path, parent: Any) -> pytest.Module:
    return SwappedModule.from_parent(parent, path=module_path)


class SwappedModule(pytest.Module):
    """A test file loaded by `load.execute`."""

    def _getobj(self) -> types.ModuleType:
        library = self.config.getoption("--suite-library")
        swap = Swap(None if library == "numpy" else importlib.import_module(library))
        source = self.path.read_bytes()
        tree = replace_imports(ast.parse(source, str(self.path)))
        rewrite_asserts(tree, source, str(self.path), self.config)
        dotted = ".".join(self.path.relative_to(ROOT).with_suffix("").parts)
        module = types.ModuleType(dotted)
        module.__file__ = str(self.path)
        module.__package__ = dotted.rpartition(".")[0]
        module.__dict__[SWAP] = swap
        sys.modules[dotted] = module
        Missing.running = False
        skipped = execute(tree, module, str(self.path))
        recorder = self.config.pluginmanager.get_plugin("numpy-suite-recorder")
        if recorder is not None:
            for s in skipped:
                recorder.skipped(s)
        return module


class Recorder:
    """Writes what happens to each test."""

    def __init__(self, config: pytest.Config) -> None:
        self.file = open(config.getoption("--suite-results"), "a")  # noqa: SIM115
        done = config.getoption("--suite-done")
        self.done = set(Path(done).read_text().splitlines()) if done else set()
        self.failures: dict[str, dict[str, Any]] = {}
        self.outcome = ""

    def write(self, **fields: Any) -> None:
        self.file.write(json.dumps(fields) + "\n")
        self.file.flush()

    def skipped(self, s: Any) -> None:
        if not self.done:
            self.write(id=f"{s.what} (line {s.line})", outcome="error", **describe(s.error))

    def pytest_exception_interact(self, node: Any, call: Any) -> None:
        if isinstance(node, pytest.Collector) and not self.done:
            self.write(
                id=f"{node.nodeid} (collecting)", outcome="error", **describe(call.excinfo.value)
            )

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [i for i in items if i.nodeid not in self.done]
        Missing.running = True

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.write(id=item.nodeid, outcome="started")
        self.outcome = "passed"
        signal.signal(signal.SIGPROF, _too_slow)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        yield
        signal.setitimer(signal.ITIMER_PROF, 0)
        self.write(id=item.nodeid, outcome=self.outcome, **self.failures.pop(item.nodeid, {}))

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: Any) -> Iterator[None]:
        outcome = yield
        report = outcome.get_result()  # type: ignore[attr-defined]
        if report.failed:
            self.outcome = "failed" if report.when == "call" else "error"
            if call.excinfo is not None:
                self.failures[item.nodeid] = describe(call.excinfo.value)
        elif report.skipped and self.outcome == "passed":
            self.outcome = "xfailed" if hasattr(report, "wasxfail") else "skipped"
        elif report.passed and hasattr(report, "wasxfail") and self.outcome == "passed":
            self.outcome = "passed"


def _too_slow(*args: Any) -> None:
    raise SlowTestError(f"took more than {SECONDS} s of processor time")


def describe(error: BaseException) -> dict[str, Any]:
    """The class and text of an exception, the test's line that led to it and where it arose.

    `pytest.warns` complains about missing warnings before the exception that prevented them; that
    one is described.
    """
    if isinstance(error, pytest.fail.Exception) and isinstance(error.__context__, Exception):
        error = error.__context__
    frames = traceback.extract_tb(error.__traceback__)
    test = [f for f in frames if "/tests/test_" in f.filename and "site-packages" in f.filename]
    fields: dict[str, Any] = {"kind": type(error).__name__, "text": str(error)[:600]}
    if test:
        fields["line"] = f"{test[-1].lineno}: {test[-1].line}"
    ours = [f for f in frames if "/numen/" in f.filename]
    if ours:
        fields["numen"] = f"{Path(ours[-1].filename).name}:{ours[-1].lineno} {ours[-1].name}"
    if frames:
        fields["where"] = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}"
    return fields
