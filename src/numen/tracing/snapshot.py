"""The Python state that a traced function can reach: slots, their guards, and what changed during a trace.

Walks closure cells, the globals that the code names, attributes, list and dict items, through Python functions and
objects of user classes and of numen's own layers and optimisers; never into modules, classes or library objects.
`recorder.py` takes a Snapshot before a trace and compares after it; `guards.py` checks the slots on each call.
"""

from __future__ import annotations

import builtins
import dis
import sys
import sysconfig
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from numen.dispatch.core import ArrayCore
from numen.errors import TraceError
from numen.tracing.host import HostScalar

MAX_SLOTS = 4096
MISSING = type("Missing", (), {"__repr__": lambda self: "<missing>"})()
SCALARS = (bool, int, float, complex, str, bytes, type(None))

_LIBRARY_PATHS = tuple({sysconfig.get_path(k) for k in ("purelib", "platlib", "stdlib")})


class Slot:
    """A place that holds a Python object: a dict entry, a list item, a cell or an object's attribute.

    kind: "item" (container[key], a list), "entry" (dict.get), "cell", "length" (of a list), "keys" (of a dict).
    """

    __slots__ = ("container", "key", "kind", "name", "value")

    def __init__(self, kind: str, container: Any, key: Any, name: str) -> None:
        self.kind = kind
        self.container = container
        self.key = key
        self.name = name
        self.value = self.get()

    def get(self) -> Any:
        """The object that is there now, MISSING if none."""
        kind = self.kind
        if kind == "entry":
            return self.container.get(self.key, MISSING)
        if kind == "item":
            return self.container[self.key] if self.key < len(self.container) else MISSING
        if kind == "cell":
            try:
                return self.container.cell_contents
            except ValueError:
                return MISSING
        if kind == "length":
            return len(self.container)
        return tuple(self.container)

    def set(self, value: Any) -> None:
        """Put an object there."""
        if self.kind == "cell":
            self.container.cell_contents = value
        elif self.kind in ("entry", "item"):
            self.container[self.key] = value
        else:
            raise TraceError(f"{self.name} can't be stored to")

    @property
    def place(self) -> tuple[str, int, Any]:
        """What identifies the slot."""
        return (self.kind, id(self.container), self.key)

    def __repr__(self) -> str:
        return f"<slot {self.name}>"


def is_library_module(name: str | None) -> bool:
    """Whether a module is the standard library's, an installed package's, or numen's own."""
    if name is None:
        return True
    top = name.partition(".")[0]
    if top == "numen":
        return True
    if top == "__main__":
        return False
    if top in sys.stdlib_module_names:
        return True
    module = sys.modules.get(name) or sys.modules.get(top)
    path = getattr(module, "__file__", None)
    return path is not None and path.startswith(_LIBRARY_PATHS)


_followed_numen: list[type] = []


def follow(cls: type) -> None:
    """Let snapshots walk into instances of one of numen's own classes (layers, optimisers)."""
    _followed_numen.append(cls)


def is_followed(value: Any) -> bool:
    """Whether a snapshot walks into this object's attributes."""
    cls = type(value)
    if isinstance(value, tuple(_followed_numen)):
        return True
    if isinstance(value, (type, types.ModuleType, ArrayCore, np.ndarray, np.generic, np.dtype)):
        return False
    return hasattr(value, "__dict__") and not is_library_module(cls.__module__)


class Snapshot:
    """All slots that a function (and the objects among its arguments) can reach, with what they hold now."""

    def __init__(self, function: Callable[..., Any], arguments: list[Any]) -> None:
        self.slots: list[Slot] = []
        self.arrays: dict[int, Slot] = {}
        self.lists: list[tuple[list[Any], list[Any], str]] = []
        self._seen: set[int] = set()
        self._work: list[tuple[Any, str]] = []
        self._function(function, getattr(function, "__name__", "f"))
        for i, value in enumerate(arguments):
            self._later(value, f"argument {i}")
        while self._work:
            value, name = self._work.pop()
            self._walk(value, name)

    def _add(self, kind: str, container: Any, key: Any, name: str) -> None:
        slot = Slot(kind, container, key, name)
        if len(self.slots) >= MAX_SLOTS:
            raise TraceError(
                f"more than {MAX_SLOTS} places of Python state are reachable; the last was {name}"
            )
        self.slots.append(slot)
        if kind in ("length", "keys"):
            return
        if isinstance(slot.value, ArrayCore):
            self.arrays.setdefault(id(slot.value), slot)
        self._later(slot.value, name)

    def _later(self, value: Any, name: str) -> None:
        if (
            type(value) in SCALARS
            or value is MISSING
            or type(value) is HostScalar
            or isinstance(value, ArrayCore)
        ):
            return
        if id(value) not in self._seen:
            self._seen.add(id(value))
            self._work.append((value, name))

    def _walk(self, value: Any, name: str) -> None:
        if isinstance(value, types.FunctionType):
            if not is_library_module(value.__module__):
                self._function(value, name)
        elif isinstance(value, types.MethodType):
            self._later(value.__self__, name)
            self._later(value.__func__, name)
        elif type(value) in (list, tuple):
            if type(value) is list:
                self._add("length", value, None, f"len({name})")
                self.lists.append((value, list(value), name))
            for i in range(len(value)):
                self._add("item", value, i, f"{name}[{i}]") if type(
                    value
                ) is list else self._tuple_item(value, i, name)
        elif type(value) is dict or isinstance(value, dict):
            self._add("keys", value, None, f"keys of {name}")
            for key in list(value):
                self._add("entry", value, key, f"{name}[{key!r}]")
        elif isinstance(value, (set, frozenset)):
            self._add("keys", value, None, f"items of {name}")
        elif hasattr(value, "__wrapped_by_jit__"):
            self._later(value.__wrapped_by_jit__, name)
        elif is_followed(value):
            attributes = vars(value)
            self._add("keys", attributes, None, f"attributes of {name}")
            for key in list(attributes):
                self._add("entry", attributes, key, f"{name}.{key}")
            for cls in type(value).__mro__:
                if is_library_module(cls.__module__):
                    continue
                for attribute in vars(cls).values():
                    if isinstance(
                        attribute, (types.FunctionType, classmethod, staticmethod, property)
                    ):
                        for f in _functions_of(attribute):
                            self._later(f, f"{cls.__name__}.{f.__name__}")

    def _tuple_item(self, value: tuple[Any, ...], i: int, name: str) -> None:
        item = value[i]
        if isinstance(item, ArrayCore):
            self.arrays.setdefault(id(item), Slot("item", value, i, f"{name}[{i}]"))
        self._later(item, f"{name}[{i}]")

    def _function(self, function: Any, name: str) -> None:
        function = getattr(function, "__wrapped_by_jit__", function)
        if isinstance(function, types.MethodType):
            self._later(function.__self__, f"{name}.__self__")
            function = function.__func__
        if not isinstance(function, types.FunctionType):
            if hasattr(type(function), "__call__") and is_followed(function):
                self._later(function, name)
            return
        self._seen.add(id(function))
        for cell, variable in zip(
            function.__closure__ or (), function.__code__.co_freevars, strict=True
        ):
            self._add("cell", cell, None, variable)
        for value in function.__defaults__ or ():
            self._later(value, f"default of {name}")
        for value in (function.__kwdefaults__ or {}).values():
            self._later(value, f"default of {name}")
        scope = function.__globals__
        for variable in sorted(_global_names(function.__code__)):
            if variable in scope or not hasattr(builtins, variable):
                self._add("entry", scope, variable, variable)


def _functions_of(attribute: Any) -> Iterator[types.FunctionType]:
    if isinstance(attribute, types.FunctionType):
        yield attribute
    elif isinstance(attribute, (classmethod, staticmethod)):
        if isinstance(attribute.__func__, types.FunctionType):
            yield attribute.__func__
    else:
        for f in (attribute.fget, attribute.fset):
            if isinstance(f, types.FunctionType):
                yield f


_names_of_code: dict[types.CodeType, frozenset[str]] = {}


def _global_names(code: types.CodeType) -> frozenset[str]:
    """Global variables that code reads or writes, nested functions included."""
    names = _names_of_code.get(code)
    if names is None:
        found = set()
        for instruction in dis.get_instructions(code):
            if instruction.opname in ("LOAD_GLOBAL", "STORE_GLOBAL", "LOAD_NAME", "DELETE_GLOBAL"):
                found.add(instruction.argval)
        for inner in code.co_consts:
            if isinstance(inner, types.CodeType):
                found |= _global_names(inner)
        names = _names_of_code[code] = frozenset(found)
    return names


def same_scalar(a: Any, b: Any) -> bool:
    """Whether two Python scalars are the same value of the same type (0.0 and -0.0 differ, NaN equals itself)."""
    if type(a) is not type(b):
        return False
    if type(a) in (float, complex):
        return repr(a) == repr(b)
    return bool(a == b)
