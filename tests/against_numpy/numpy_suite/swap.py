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

    def __init__(self, name: str, ours: Any, theirs: types.ModuleType, swap: Swap) -> None:
        super().__init__(name)
        self.__dict__["_pair"] = (ours, theirs)
        self.__dict__["_swap"] = swap

    def __getattr__(self, name: str) -> Any:
        ours, theirs = self.__dict__["_pair"]
        dotted = f"{self.__name__}.{name}"
        if dotted == "numpy.testing":
            return unwrapping
        if name.startswith("_") and not name.startswith("__array"):
            private = getattr(theirs, name)
            swap = self.__dict__["_swap"]
            return swap.private(private) if isinstance(private, types.ModuleType) else private
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
            return Stand(dotted, found, original, self.__dict__["_swap"])
        return found


class Private(types.ModuleType):
    """A private module of NumPy's in which public functions and ufuncs are numen's."""

    def __init__(self, module: types.ModuleType, swap: Swap) -> None:
        super().__init__(module.__name__)
        self.__dict__.update(_module=module, _swap=swap)
        for name, value in vars(module).items():
            if name.startswith("__"):
                continue
            if isinstance(value, types.ModuleType):
                if not value.__name__.startswith("numpy"):
                    self.__dict__[name] = value
            else:
                self.__dict__[name] = swap.public(name, value)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.__dict__["_module"], name)
        swap = self.__dict__["_swap"]
        return swap.private(value) if isinstance(value, types.ModuleType) else value


class Swap:
    """Resolves the imports of NumPy in a test file; `library` None leaves NumPy in place."""

    def __init__(self, library: Any) -> None:
        self.library = library
        self._private: dict[str, types.ModuleType] = {}
        self._names: dict[int, tuple[str, str]] = {}
        if library is not None:
            for path in reversed(PUBLIC):
                for name, value in vars(importlib.import_module(path)).items():
                    if callable(value) and not name.startswith("_"):
                        self._names[id(value)] = (path, name)

    def module(self, path: str) -> Any:
        """The module that `import path` binds with `as`."""
        theirs = importlib.import_module(path)
        parts = path.split(".")[1:]
        if self.library is None:
            return theirs
        if any(p.startswith("_") for p in parts) or "tests" in parts:
            return self.private(theirs)
        found: Any = Stand("numpy", self.library, np, self)
        for part in parts:
            found = getattr(found, part)
        return found

    def name(self, path: str, name: str) -> Any:
        """The object that `from path import name` binds."""
        theirs = importlib.import_module(path)
        if not hasattr(theirs, name):
            importlib.import_module(f"{path}.{name}")  # raises ImportError
        return getattr(theirs if self.library is None else self.module(path), name)

    def private(self, module: types.ModuleType) -> types.ModuleType:
        """A private module, with numen's objects for the public ones that it exports."""
        name = module.__name__
        if "tests" in name.split(".")[-1] or ".tests" in name or not name.startswith("numpy"):
            return module
        if name not in self._private:
            self._private[name] = Private(module, self)
        return self._private[name]

    def public(self, name: str, original: Any) -> Any:
        """Numen's object for a public function, ufunc or class of NumPy's; others unchanged."""
        home = self._names.get(id(original))
        if home is None or isinstance(original, type):
            return original
        try:
            found = getattr(self.module(home[0]), home[1])
        except MissingNameError:
            return original
        return original if isinstance(found, Missing) else found


PUBLIC = ("numpy", "numpy.testing", "numpy.linalg", "numpy.random", "numpy.lib")
"""Modules whose functions private ones export, too."""
