"""Requests for more memory than there is are refused before the system kills the process."""

import pytest

import numen as nm
from numen.runtime import memory


def test_more_than_any_machine_has():
    for make in (nm.zeros, nm.ones, nm.empty):
        with pytest.raises(MemoryError, match="PiB"):
            make(10**15)


@pytest.mark.parametrize("op", [nm.add, nm.multiply, nm.less, nm.arctan2])
def test_broadcasting_is_checked_against_what_is_left(op, monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 1 << 30)
    column, row = nm.ones((20_000, 1)), nm.ones(20_000)
    with pytest.raises(MemoryError, match=r"\(20000, 20000\)"):
        op(column, row)
    assert op(column[:100], row).shape == (100, 20_000)
