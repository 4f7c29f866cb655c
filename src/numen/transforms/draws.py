"""Random states: what a second run of a function has to start from to draw the same numbers.

Modules that draw from a state of their own (`nn/functional_dropout.py`, `random/stream.py`) add it
to `states`. `checkpointing.py` takes a snapshot before the first run and replays it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple


class RandomState(NamedTuple):
    """One state: version() differs once it was drawn from, save() gives what restore() takes."""

    version: Callable[[], Any]
    save: Callable[[], Any]
    restore: Callable[[Any], None]


states: list[RandomState] = []
"""The states of the modules that are loaded."""

Snapshot = list[tuple[RandomState, Any, Any]]


def snapshot() -> Snapshot:
    """All states as they are."""
    return [(state, state.version(), state.save()) for state in states]


def used(before: Snapshot) -> Snapshot:
    """The part of a snapshot that was drawn from since."""
    return [entry for entry in before if entry[0].version() != entry[1]]


@contextmanager
def replayed(before: Snapshot) -> Iterator[None]:
    """Draw from the states of a snapshot, and go on from the present ones afterwards."""
    present = [(state, state.save()) for state, _, _ in before]
    for state, _, value in before:
        state.restore(value)
    try:
        yield
    finally:
        for state, value in present:
            state.restore(value)
