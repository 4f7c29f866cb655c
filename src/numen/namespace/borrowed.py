"""Modules of NumPy's on Arrays: each of their functions as a host function, made when asked for.

`borrow` makes the `__getattr__` and `__dir__` of numen's module of the same name (`numen.char`,
`numen.ma` ...), so that importing numen imports none of NumPy's. Next: `calling.py`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from numen.namespace.calling import raw, run_host, wrap_results


class Borrowed:
    """One of NumPy's functions: Arrays go in as ndarrays, ndarrays come out as Arrays.

    Other attributes (a masked ufunc's `reduce`) are borrowed too.
    """

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self._function = function
        self.__name__ = self.__qualname__ = name
        self.__doc__ = getattr(function, "__doc__", None)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return run_host(self._function, self.__name__, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        value = getattr(self._function, name)
        return Borrowed(value, f"{self.__name__}.{name}") if callable(value) else value

    def __repr__(self) -> str:
        return f"<function {self.__name__} of NumPy's on Arrays>"


def borrow(
    module: str,
    scope: dict[str, Any],
    *,
    names: tuple[str, ...] = (),
    as_they_are: tuple[str, ...] = (),
    results_as_they_are: tuple[str, ...] = (),
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a module that has NumPy's functions.

    Parameters
    ----------
    module : str
        NumPy's module.
    scope : dict
        The module's own `globals()`, where what was asked for is kept.
    names : tuple of str
        Its public names; by default the module's `__all__`.
    as_they_are : tuple of str
        Functions to hand over unchanged; classes and constants always are.
    results_as_they_are : tuple of str
        Functions that make arrays of NumPy's own classes.
    """

    def public() -> list[str]:
        source = importlib.import_module(module)
        listed = names or getattr(source, "__all__", None)
        if listed is None:
            listed = [n for n in dir(source) if not n.startswith("_")]
        return [n for n in listed if hasattr(source, n)]

    def get(name: str) -> Any:
        if name == "__all__":
            return public()
        if name.startswith("_") or name not in public():
            raise AttributeError(f"module {scope['__name__']!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(module), name)
        if isinstance(value, type) or not callable(value) or name in as_they_are:
            pass
        elif name in results_as_they_are:
            value = _unwrapping(value)
        else:
            value = Borrowed(value, name)
        scope[name] = value
        return value

    return get, public


def _unwrapping(function: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy's function taking Arrays; what it returns stays NumPy's."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*[raw(a) for a in args], **{k: raw(v) for k, v in kwargs.items()})

    call.__name__ = call.__qualname__ = function.__name__
    call.__doc__ = function.__doc__
    return call


__all__ = ["borrow", "raw", "wrap_results"]
