"""Which transform a value belongs to, and values lifted into the running ones.

Used by the files of this folder and by `transforms/`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numen.dispatch import core, modes, views
from numen.dispatch.backward import register_of
from numen.dispatch.core import NEVER_WRITTEN, ArrayCore
from numen.dispatch.frames.frame import Frame, has_left
from numen.dispatch.frames.level import Level


def level_of(value: Any) -> int:
    """The depth of the transform that a value belongs to; 0 outside all."""
    if isinstance(value, ArrayCore) and type(value._d) is Frame:
        return value._d.level.depth
    return 0


def note_made(array: ArrayCore) -> None:
    """Remember an array that is made inside the running transform: a batched value or a tangent may
    be written into it."""
    modes.state.levels[-1].made[id(array)] = array


def detached(frame: Frame) -> Frame:
    """The same values without tangents, and without nodes of outer transforms."""
    value = frame.value
    below = core.ARRAY(detached(value._d) if type(value._d) is Frame else value._d)
    views.register_detached(below, value)
    below._t = register_of(value, below)
    return Frame(frame.level, below, frame.mapped)


def lifted(x: ArrayCore) -> Any:
    """x as a value of the innermost transform, so that nodes above it are that transform's."""
    for level in modes.state.levels[level_of(x) :]:
        x = core.ARRAY(Frame(level, x))
    return x


def top_level(arrays: Sequence[ArrayCore], op: str) -> Level:
    """The innermost level among arrays."""
    found: Level | None = None
    for a in arrays:
        if type(a._d) is Frame:
            level = a._d.level
            if not level.active or modes.state.levels[level.depth - 1 : level.depth] != (level,):
                raise has_left(a._d, op)
            if found is None or level.depth > found.depth:
                found = level
    assert found is not None
    return found


def newest_write(a: ArrayCore) -> int:
    """The stamp of the last write into an array's memory, also through the values below a Frame."""
    stamp = NEVER_WRITTEN
    while True:
        if a._v is not None and a._v.t < stamp:
            stamp = a._v.t
        if type(a._d) is not Frame:
            return stamp
        a = a._d.value


core.note_made = note_made
