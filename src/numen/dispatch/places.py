"""Places: the lines of the user's program that recorded an op and that wrote an array in place.

A place is a code object with the offset of its last instruction; it keeps no variable of the frame
alive, and its line is looked up when an error names it. The first frame outside this package and
NumPy counts. Called by `primitive.py` and `fast.py` (ops that save an array), by `views.py` and
the other ways to write; read by `backward.py` and anomaly mode. Next: `hooks.py`.
"""

from __future__ import annotations

import linecache
import os
from itertools import islice
from sys import _getframe, getrefcount
from types import CodeType, FrameType
from typing import Any

import numpy as np

Place = tuple[CodeType, int]

ON = False
"""Whether an array asked for gradients yet: before that no write can spoil one."""

LONGEST_LINE = 100


class _Probe:
    """Counts the references to an object that one variable holds, where its method runs."""

    count = 0

    def __setitem__(self, key: int, value: int) -> None:
        _Probe.count = getrefcount(self)


def _references() -> int:
    probe = _Probe()
    probe[0] = 0
    return probe.count


ALONE = _references()
"""`sys.getrefcount(self)` in `x[i] = y` and `x += y` where nothing but one name holds x: no op has
saved it, so the place of such a write is of no use to anybody."""

_OURS = tuple(
    [os.path.join(os.path.dirname(path), "") for path in (os.path.dirname(__file__), np.__file__)]
)


class _Inside(dict[str, bool]):
    """File name -> whether it belongs to this package or to NumPy, found out once for each."""

    def __missing__(self, name: str) -> bool:
        answer = self[name] = name.startswith(_OURS)
        return answer


inside = _Inside()


def outside(frame: FrameType | None) -> Place | None:
    """The place of the first frame outside the package, from `frame` on outwards."""
    while frame is not None:
        code = frame.f_code
        if not inside[code.co_filename]:
            return code, frame.f_lasti
        frame = frame.f_back
    return None


def mark(node: Any, depth: int) -> None:
    """Give a node the place of the first frame outside the package, from the caller's caller number
    `depth` on."""
    place = here(depth + 1)
    if place is not None:
        node.code, node.offset = place


def place_of(node: Any) -> Place | None:
    """The place where a node was recorded, if it has one."""
    try:
        return node.code, node.offset
    except AttributeError:
        return None


def here(depth: int = 0) -> Place | None:
    """The place in the user's program that the caller works for; its own frame and those up to
    `depth` need not be looked at."""
    try:
        return outside(_getframe(depth + 1))
    except ValueError:
        return None  # no Python called


def line_of(place: Place) -> int:
    """The number of a place's line."""
    code, offset = place
    position = next(islice(code.co_positions(), offset // 2, None), (None,))
    return position[0] or code.co_firstlineno


def describe_place(place: Place | None) -> str:
    """`File "train.py", line 12, in step: y = x * w`; the source where it can be read."""
    if place is None:
        return "an unknown place"
    code, line = place[0], line_of(place)
    text = f'File "{code.co_filename}", line {line}, in {code.co_name}'
    source = linecache.getline(code.co_filename, line).strip()
    if len(source) > LONGEST_LINE:
        source = source[: LONGEST_LINE - 3] + "..."
    return f"{text}: {source}" if source else text
