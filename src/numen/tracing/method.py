"""Jitted methods: each instance has a compiled function of its own, which does not keep the
instance alive.

`Jit.__get__` makes a `WeakMethod` for the instance's Jit and hands out a `BoundJit`, which holds
the instance for as long as the caller holds it. Next: `jit.py`.
"""

from __future__ import annotations

import types
import weakref
from collections.abc import Callable
from typing import Any


class WeakMethod:
    """A function with the instance it is called on, weakly held."""

    def __init__(self, function: Callable[..., Any], instance: Any) -> None:
        self.function = function
        self.instance = weakref.ref(instance)
        self.__name__ = getattr(function, "__name__", "method")
        self.__qualname__ = getattr(function, "__qualname__", self.__name__)
        self.__doc__ = function.__doc__

    def method(self) -> Any:
        """The bound method.

        Raises
        ------
        ReferenceError
            If the instance is gone.
        """
        instance = self.instance()
        if instance is None:
            raise ReferenceError(f"{self.__qualname__}: the instance is gone")
        return types.MethodType(self.function, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.method()(*args, **kwargs)


class BoundJit:
    """What `instance.method` gives for a jitted method."""

    def __init__(self, jitted: Any, method: Any) -> None:
        self._jit = jitted
        self.__wrapped_by_jit__ = method

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._jit(*args, **kwargs)

    @property
    def __wrapped__(self) -> Any:
        return self.__wrapped_by_jit__

    @property
    def __self__(self) -> Any:
        return self.__wrapped_by_jit__.__self__

    def __repr__(self) -> str:
        return repr(self._jit)
