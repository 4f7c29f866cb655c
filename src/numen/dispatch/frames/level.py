"""Level: one running transform of a thread.

`transforms/` enters levels; the Frames of a level are of use as long as it is active. Next:
`frame.py`.
"""

from __future__ import annotations

import threading
import weakref
from types import TracebackType
from typing import Any

from numen.dispatch import backends, modes
from numen.dispatch.core import ArrayCore

VMAP, JVP = "vmap", "jvp"

BACKEND: Any = None
"""The backend whose arrays are Frames; filled by `module.py`."""

_lock = threading.Lock()
_entered = 0


class Level:
    """One running transform.

    Attributes
    ----------
    kind : str
        VMAP or JVP.
    size : int
        Number of examples of a vmap.
    randomness : str
        What a vmap's random draws are: "different" for each example, the "same", or an "error".
    depth : int
        1 for the outermost transform of the thread.
    active : bool
        Whether it still runs; Frames of a level that has ended are of no use.
    """

    __slots__ = ("active", "depth", "kind", "made", "randomness", "size")

    def __init__(self, kind: str, size: int = 0, randomness: str = "different") -> None:
        self.kind = kind
        self.size = size
        self.randomness = randomness
        self.depth = 0
        self.active = False
        self.made: weakref.WeakValueDictionary[int, ArrayCore] = weakref.WeakValueDictionary()

    def __enter__(self) -> Level:
        global _entered
        with _lock:
            _entered += 1
            if _entered == 1:
                backends.register_backend(BACKEND)
        modes.enter_special()
        modes.state.levels = (*modes.state.levels, self)
        modes.state.level = self.depth = len(modes.state.levels)
        self.active = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        global _entered
        self.active = False
        self.made.clear()
        modes.state.levels = modes.state.levels[:-1]
        modes.state.level = len(modes.state.levels)
        modes.leave_special()
        with _lock:
            _entered -= 1
            if not _entered:
                backends.unregister_backend(BACKEND.name)
