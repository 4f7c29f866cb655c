"""Questions about dtypes: promotion, casts, limits.

Next: `dtypes.py` for the names.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch import core

__all__ = ["result_type"]


def result_type(*args: Any) -> Any:
    """The dtype NumPy's promotion rules (NEP 50) give."""
    return np.result_type(*[core.unwrap(a) for a in args])
