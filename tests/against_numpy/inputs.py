"""The arrays that the expressions and programs name, for NumPy or for numen.

Used by `judge.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def ndarrays() -> dict[str, np.ndarray[Any, Any]]:
    """Fresh ndarrays by name; the same values each time."""
    rng = np.random.default_rng(0)
    return {
        "a": rng.normal(size=(3, 4)),
        "b": rng.normal(size=4),
        "f": rng.normal(size=(3, 4)).astype("f4"),
        "i": rng.integers(-5, 9, size=(3, 4)),
        "u": rng.integers(0, 200, size=6).astype("u1"),
        "m": rng.random((3, 4)) > 0.5,
        "c": rng.normal(size=(2, 3)) + 1j * rng.normal(size=(2, 3)),
        "S": rng.normal(size=(3, 3)),
        "P": np.eye(3) * 4 + 0.5,
        "idx": np.array([2, 0, 1]),
        "t": rng.normal(size=(2, 3, 4)),
        "v": np.array([1.0, 2, 4, 7]),
        "nanv": np.array([1.0, np.nan, 3]),
    }


def scope(module: Any, gradients: bool = False) -> dict[str, Any]:
    """What a text sees: `np` and the arrays; `gradients` makes the floating ones require them."""
    names: dict[str, Any] = {"np": module}
    for name, data in ndarrays().items():
        if module is np:
            names[name] = data
        else:
            wanted = gradients and data.dtype.kind == "f"
            names[name] = module.array(data, requires_grad=True) if wanted else module.array(data)
    return names
