"""What a rewritten test file imports: numen's modules and names under NumPy's names.

`Swap.module` and `Swap.name` stand for `import numpy.x` and `from numpy.x import y`. Private
modules and names stay NumPy's; public objects that a private module exports are numen's. A name
that numen lacks is a placeholder that raises when a test uses it. Next: `unwrapping.py`.
"""

from __future__ import annotations

import importlib
import types
from typing import Any, NoReturn

import numpy as np
from tests.against_numpy.numpy_suite import unwrapping


class MissingNameError(AttributeError):
    """A test uses a public name of NumPy's that numen does not have."""


class MissingBase:
    """The base of a class that a test derives from a name that numen lacks."""

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise MissingNameError(f"missing name: a base of {cls.__name__}")


class Missing:
    """Stands for a name that numen lacks while a file is loaded; raises once tests run."""

    running = False

    def __init__(self, name: str) -> None:
        self.__dict__["_name"] = name

    def _fail(self) -> NoReturn:
        raise MissingNameError(f"missing name {self._name}")

    def _used(self, *args: Any, **kwargs: Any) -> Any:
        if Missing.running:
            self._fail()
        return Missing(self._name)

    __call__ = __getitem__ = __or__ = __add__ = __radd__ = __mul__ = __rmul__ = _used

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("__", "pytest")):
            raise AttributeError(name)
        return self._used()

    def __mro_entries__(self, bases: Any) -> tuple[type]:
        return (MissingBase,)

    def __iter__(self) -> Any:
        if Missing.running:
            self._fail()
        return iter(())

    def __repr__(self) -> str:
        return f"Missing({self._name})"


class Stand(types.ModuleType):
    """A module of numen's, with NumPy's private names beside its own."""

    def __init__(self, name: str, ours: Any, theirs: types.ModuleType) -> None:
        super().__init__(name)
        self.__dict__["_pair"] = (ours, theirs)

    def __getattr__(self, name: str) -> Any:
        ours, theirs = self.__dict__["_pair"]
        dotted = f"{self.__name__}.{name}"
        if dotted == "numpy.testing":
            return unwrapping
        if name.startswith("_") and not name.startswith("__array"):
            return getattr(theirs, name)
        try:
            found = getattr(ours, name)
        except AttributeError:
            if not hasattr(theirs, name):
                raise AttributeError(
                    f"module {self.__name__!r} has no attribute {name!r}"
                ) from None
            if Missing.running:
                raise MissingNameError(f"missing name {dotted}") from None
            return Missing(dotted)
        original = getattr(theirs, name, None)
        if isinstance(found, types.ModuleType) and isinstance(original, types.ModuleType):
            return Stand(dotted, found, original)
        return found


class Swap:
    """Resolves the imports of NumPy in a test file; `library` None leaves NumPy in place."""

    def __init__(self, library: Any) -> None:
        self.library = library

    def module(self, path: str) -> Any:
        """The module that `import path` binds with `as`."""
        theirs = importlib.import_module(path)
        parts = path.split(".")[1:]
        if self.library is None or any(p.startswith("_") for p in parts) or "tests" in parts:
            return theirs
        found: Any = Stand("numpy", self.library, np)
        for part in parts:
            found = getattr(found, part)
        return found

    def name(self, path: str, name: str) -> Any:
        """The object that `from path import name` binds."""
        theirs = importlib.import_module(path)
        if not hasattr(theirs, name):
            original: Any = importlib.import_module(f"{path}.{name}")  # raises ImportError
        else:
            original = getattr(theirs, name)
        if self.library is None:
            return original
        home = self.module(path)
        if home is not theirs:
            return getattr(home, name)
        if isinstance(original, types.ModuleType):
            return original
        return self._public(name, original)

    def _public(self, name: str, original: Any) -> Any:
        """Numen's object for what a private module exports, where it is a public one of NumPy's."""
        for path in ("numpy", "numpy.testing", "numpy.linalg", "numpy.random", "numpy.lib"):
            if name.startswith("_"):
                break
            if getattr(importlib.import_module(path), name, None) is original:
                return getattr(self.module(path), name)
        return original
