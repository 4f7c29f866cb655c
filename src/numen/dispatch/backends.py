"""Backends: which module computes on an array's memory.

NumPy's arrays belong to `numpy`; another backend registers its array class and its module of
NumPy-named functions. Rows and host functions ask `module_of`, so that none of them names a module.
Next: `primitive.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_modules: dict[type, Any] = {}


def register_backend(array_class: type, module: Any) -> None:
    """Let `module` compute what has arrays of `array_class` among its operands."""
    _modules[array_class] = module


def module_of(*values: Any) -> Any:
    """The module of NumPy-named functions that takes these raw arrays and scalars.

    >>> module_of(np.ones(2), 3.0).__name__
    'numpy'
    """
    if _modules:
        for value in values:
            module = _modules.get(type(value))
            if module is not None:
                return module
    return np
