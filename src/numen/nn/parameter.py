"""Parameter: an Array that a Module trains.

Requires a gradient from the start and is hashed by identity, so that sets and dicts hold it. Found
by `module.py` among a module's attributes, updated in place by `optim`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch.convert import as_array
from numen.dispatch.core import ArrayCore
from numen.namespace.array import Array


class Parameter(Array):
    """An Array that belongs to a Module.

    Parameters
    ----------
    data : array_like
        Initial values, copied.
    requires_grad : bool
        False freezes it.

    Raises
    ------
    DTypeError
        If the dtype carries no gradient and one is asked for.

    Examples
    --------
    >>> import numen as nm
    >>> nm.nn.Parameter(nm.zeros(2))
    Parameter([0., 0.], requires_grad=True)
    """

    __slots__ = ()

    def __init__(self, data: Any, requires_grad: bool = True) -> None:
        ArrayCore.__init__(self, np.array(as_array(data)._d))
        if requires_grad:
            self.requires_grad_()

    def __hash__(self) -> int:
        return object.__hash__(self)

    def __repr__(self) -> str:
        self._leaves("repr()")
        text = np.array2string(self._d, separator=", ", prefix="Parameter(")
        kind = "" if self._d.dtype == np.float64 else f", dtype={self._d.dtype}"
        return f"Parameter({text}{kind}, requires_grad={self.requires_grad})"
