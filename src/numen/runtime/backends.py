"""The array libraries that eager ops run on, by name.

A backend is a module-like `xp` with NumPy's functions; rows in `ops/` receive it as their first
argument and name no library themselves. CuPy and the strict test backend join this table when they
are written.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np

_BACKENDS: dict[str, ModuleType] = {"numpy": np}


def get_backend(name: str) -> ModuleType:
    """The backend called `name`.

    Raises
    ------
    ValueError
        If there is no such backend.
    """
    try:
        return _BACKENDS[name]
    except KeyError:
        raise ValueError(f"get_backend: no backend {name!r}; known: {sorted(_BACKENDS)}") from None
