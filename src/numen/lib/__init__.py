"""numen.lib: NumPy's module of that name.

Its modules of functions take and make Arrays; every other name (`NumpyVersion`, `mixins`,
`add_docstring` ...) is NumPy's own, looked up when it is asked for.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from numen.lib import stride_tricks

__all__ = ["stride_tricks"]

MODULES = ("array_utils", "format", "npyio", "recfunctions", "scimath")
"""Loaded when they are asked for."""


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module 'numen.lib' has no attribute {name!r}")
    if name in MODULES:
        return importlib.import_module(f"numen.lib.{name}")
    try:
        return getattr(np.lib, name)
    except AttributeError:
        raise AttributeError(f"module 'numen.lib' has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return sorted({*globals(), *[name for name in dir(np.lib) if not name.startswith("_")]})
