"""The number of threads: default, environment, limits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from numen.runtime import threads

PRINT = "from numen.runtime import threads; print(threads.num_threads())"


@pytest.mark.parametrize("n", [0, -1, 1025, 10**30])
def test_numbers_out_of_range_are_refused(n: int) -> None:
    before = threads.num_threads()
    with pytest.raises(ValueError, match="set_num_threads"):
        threads.set_num_threads(n)
    assert threads.num_threads() == before


@pytest.mark.parametrize("n", [1.0, "2", None])
def test_only_integers_are_numbers_of_threads(n: object) -> None:
    with pytest.raises(TypeError):
        threads.set_num_threads(n)  # type: ignore[arg-type]


def test_the_number_comes_back(two_threads: None) -> None:
    threads.set_num_threads(np.int64(3))
    assert threads.num_threads() == 3


def test_the_default_is_the_cpus_this_process_may_use(run_script: Callable[..., str]) -> None:
    pin = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
    assert run_script(pin + PRINT).split() == ["1"]
    assert run_script(pin + PRINT, NUMEN_NUM_THREADS="5").split() == ["5"]


@pytest.mark.parametrize("text", ["0", "-3", "many", "1.5", ""])
def test_a_wrong_environment_variable_is_named(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("NUMEN_NUM_THREADS", text)
    monkeypatch.setattr(threads, "_threads", None)
    with pytest.raises(ValueError, match="NUMEN_NUM_THREADS"):
        threads.num_threads()
