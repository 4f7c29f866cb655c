"""The module of functions that take Frames, for code that asks `module_of` a raw value.

Frames count as a backend of their own while a transform runs, so that no fast path takes them for
NumPy's memory. Next: `ops.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch import backends, slots
from numen.dispatch.frames import level
from numen.dispatch.frames.frame import Frame, concrete, innermost, raw_calling


def _holds_frame(value: Any) -> bool:
    if type(value) in (list, tuple):
        return any([_holds_frame(v) for v in value])
    return type(value) is Frame


class FrameModule:
    """The functions that take Frames: numen's own; without one among the operands, the module's of
    the values below."""

    def __init__(self, module: Any, functions: Any = None) -> None:
        self.__name__ = "frames"
        self._module = module
        self._functions = functions

    def __getattr__(self, name: str) -> Any:
        plain = getattr(self._module, name, None)
        ours = slots.functions() if self._functions is None else self._functions
        if not callable(plain) or isinstance(plain, type):
            return FrameModule(plain, getattr(ours, name)) if hasattr(plain, "__path__") else plain
        if name.endswith("_like"):
            return lambda like, *args, **kwargs: plain(_model(like), *args, **kwargs)
        framed = raw_calling(getattr(ours, name))

        def call(*args: Any, **kwargs: Any) -> Any:
            if any([_holds_frame(a) for a in (*args, *kwargs.values())]):
                return framed(*args, **kwargs)
            return plain(*args, **kwargs)

        return call


def _model(value: Any) -> Any:
    """An ndarray of a Frame's shape and dtype, its values of no meaning."""
    return np.empty(value.shape, value.dtype) if type(value) is Frame else value


level.BACKEND = backends.Backend(
    "transform",
    Frame,
    FrameModule(np),
    lambda data: data,
    lambda frame: concrete(frame, "the values"),
)
backends.fill_frame(Frame, innermost, FrameModule)
