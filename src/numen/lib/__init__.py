"""numen.lib: NumPy's module of that name.

`stride_tricks` makes Arrays; every other name (`format`, `NumpyVersion`, `mixins`,
`add_docstring` ...) is NumPy's own, looked up when it is asked for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.lib import stride_tricks

__all__ = ["stride_tricks"]


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module 'numen.lib' has no attribute {name!r}")
    try:
        return getattr(np.lib, name)
    except AttributeError:
        raise AttributeError(f"module 'numen.lib' has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return sorted({*globals(), *[name for name in dir(np.lib) if not name.startswith("_")]})
