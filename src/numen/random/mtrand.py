"""`numpy.random.mtrand`: RandomState and the functions over one global state, of `legacy.py`."""

from typing import Any

from numen.random import OLDER, legacy

__all__ = list(OLDER)


def __getattr__(name: str) -> Any:
    if name == "RandomState":
        return legacy.RandomState
    if name == "_rand":
        return legacy.shared
    if name in OLDER:
        return legacy.FUNCTIONS[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
