"""Functions that a class may hold: NumPy's built-in functions do not become methods there.

`class Test: array = nm.array` and `self.array([1])` work as with NumPy. Decorates the makers of
arrays in `creation.py`, `filled.py` and `ranges.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


class _Unbound(staticmethod):  # type: ignore[type-arg]
    """A function that is called without an instance; pickled and copied by its name."""

    def __reduce__(self) -> str:
        return str(self.__name__)

    def __repr__(self) -> str:
        return repr(self.__func__)


def unbound(function: Function) -> Function:
    """Decorate a function that does not become a method.

    >>> class Holder:
    ...     double = unbound(lambda x: 2 * x)
    >>> Holder().double(3)
    6
    """
    return _Unbound(function)  # type: ignore[return-value]
