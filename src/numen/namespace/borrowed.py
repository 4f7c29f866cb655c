"""Modules of NumPy's on Arrays: each of their functions as a host function, made when asked for.

`borrow` makes the `__getattr__` and `__dir__` of numen's module of the same name (`numen.char`,
`numen.ma` ...), so that importing numen imports none of NumPy's. Next: `calling.py`.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

from numen.namespace.calling import raw, run_host, wrap_results

NO_CONSTANT = object()
_made: dict[Any, Borrowed] = {}


class Borrowed:
    """One of NumPy's functions: Arrays go in as ndarrays, ndarrays come out as Arrays.

    Other attributes (a masked ufunc's `reduce`) are borrowed too.
    """

    def __init__(
        self, function: Callable[..., Any], name: str, constant: Any = NO_CONSTANT
    ) -> None:
        self._function = function
        self._constant = constant
        self.__name__ = self.__qualname__ = name
        self.__doc__ = getattr(function, "__doc__", None)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._constant is NO_CONSTANT:
            return run_host(self._function, self.__name__, args, kwargs)
        constant: list[Any] = []

        def noting(*args: Any, **kwargs: Any) -> Any:
            result = self._function(*args, **kwargs)
            if result is self._constant:
                constant.append(result)
            return result

        result = run_host(noting, self.__name__, args, kwargs)
        return constant[0] if constant else result

    @property
    def __signature__(self) -> inspect.Signature:
        try:
            return inspect.signature(self._function)
        except (TypeError, ValueError) as error:
            raise AttributeError("__signature__") from error

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
    constants: dict[str, str] | None = None,
    unlisted: bool = False,
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
    constants : dict of str to str, optional
        Functions that may return a constant of the module, to be known by `is`.
    unlisted : bool
        Whether names outside `__all__` can be had, too.
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
        source = importlib.import_module(module)
        had = hasattr(source, name) if unlisted else name in public()
        if name.startswith("_") or not had:
            raise AttributeError(f"module {scope['__name__']!r} has no attribute {name!r}")
        value = getattr(source, name)
        if isinstance(value, type) or not callable(value) or name in as_they_are:
            pass
        elif name in results_as_they_are:
            value = _unwrapping(value)
        else:
            key = (id(value), name)  # the module's functions live as long as it
            if key not in _made:
                constant = (constants or {}).get(name)
                known = NO_CONSTANT if constant is None else getattr(source, constant)
                _made[key] = Borrowed(value, name, known)
            value = _made[key]
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
