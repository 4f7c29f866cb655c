"""The loader of NumPy's test files: a small file passes, and broken statements cost only
themselves."""

from __future__ import annotations

import ast
import types
from collections import Counter

import numpy as np
import pytest
from tests.against_numpy.numpy_suite.load import SWAP, execute, replace_imports
from tests.against_numpy.numpy_suite.reasons import reason, symptom
from tests.against_numpy.numpy_suite.runner import PACKAGE, run_file
from tests.against_numpy.numpy_suite.swap import Missing, MissingNameError, Swap

import numen as nm

SMOKE, FLOOR = "lib/tests/test_twodim_base.py", 34


@pytest.mark.skipif(not (PACKAGE / SMOKE).exists(), reason="this NumPy comes without its tests")
def test_a_file_of_numpys_tests() -> None:
    results = run_file(SMOKE, seconds=120)
    counts = Counter(r["outcome"] for r in results)
    failed = [f"{r['id']}: {r['text'][:200]}" for r in results if "kind" in r]
    assert counts["passed"] >= FLOOR, f"{counts}\n" + "\n".join(failed)


SOURCE = """
import numpy as np
from numpy import arange as make, no_such_name_anywhere_else as odd
from numpy._core.umath import pi
from numpy.testing import assert_equal, assert_raises

class TestIt:
    shared = make(3)
    broken = np.zeros(3, nonsense=1)

    def check(self):
        assert_equal(self.shared, [0, 1, 2])
        return self.shared

worse = 1 / 0
after = np.ones(2)
"""


def loaded(source: str, library: object) -> tuple[types.ModuleType, list[str]]:
    module = types.ModuleType("sample")
    module.__dict__[SWAP] = Swap(library)
    skipped = execute(replace_imports(ast.parse(source)), module, "sample.py")
    return module, [s.what for s in skipped]


def test_imports_become_numens_and_what_fails_is_left_out() -> None:
    module, skipped = loaded(SOURCE.replace(", no_such_name_anywhere_else as odd", ""), nm)
    assert skipped == ["TestIt::Assign", "Assign"]
    assert isinstance(module.after, nm.Array)
    assert isinstance(module.TestIt().check(), nm.Array)
    assert module.pi == np.pi and module.assert_raises is np.testing.assert_raises


def test_numpy_in_place_loads_the_same_text() -> None:
    module, _ = loaded(SOURCE.replace(", no_such_name_anywhere_else as odd", ""), None)
    assert type(module.after) is np.ndarray


def test_a_missing_name_fails_when_a_test_uses_it(monkeypatch: pytest.MonkeyPatch) -> None:
    library = types.SimpleNamespace(arange=nm.arange, zeros=nm.zeros, ones=nm.ones)
    monkeypatch.setattr(Missing, "running", False)
    module, _ = loaded("from numpy import sin\nimport numpy as np\nx = np.cos(1)", library)
    monkeypatch.setattr(Missing, "running", True)
    with pytest.raises(MissingNameError, match=r"numpy\.sin"):
        module.sin(1)
    with pytest.raises(MissingNameError, match=r"numpy\.tan"):
        module.np.tan
    assert module.np._core.multiarray._reconstruct is np._core.multiarray._reconstruct


def test_reasons() -> None:
    missing = {"kind": "MissingNameError", "text": "missing name numpy.sin"}
    assert (reason(missing), symptom(missing)) == ("missing name", "sin")
    wrong = {"kind": "AssertionError", "text": "Arrays are not equal\nMismatched elements: 1 / 3"}
    assert reason(wrong) == "other values"
