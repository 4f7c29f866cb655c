"""The Python state that a traced function can reach: slots, and what changed during a trace.

Walks closure cells, the globals that the code names, attributes, list and dict items, through
Python functions and objects of user classes and of numen's own layers and optimisers. Of the
user's own modules and classes it takes the attributes that the code names; library objects are
left alone (`watch.py`). `recorder.py` takes a Snapshot before a trace and compares after it;
`guards.py` checks the slots on each call.
"""

from __future__ import annotations

import builtins
import dis
import functools
import importlib
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from numen.dispatch.core import ArrayCore
from numen.errors import TraceError
from numen.tracing.host import HostScalar
from numen.tracing.method import WeakMethod
from numen.tracing.watch import contents_of, dict_of, is_random, random_state, why_unseen

MAX_SLOTS = 4096
MISSING = type("Missing", (), {"__repr__": lambda self: "<missing>"})()
SCALARS = (bool, int, float, complex, str, bytes, type(None))


class Slot:
    """A place that holds a Python object: a dict entry, a list item, a cell or an attribute.

    kind: "item" (container[key], a list), "entry" (dict.get), "cell", "attribute" (of a class, or
    in __slots__), "length" (of a list), "keys" (of a dict), "contents" (of a small ndarray).
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
        if kind == "attribute":
            if isinstance(self.container, type):
                return vars(self.container).get(self.key, MISSING)
            return getattr(self.container, self.key, MISSING)
        if kind == "contents":
            return contents_of(self.container)
        return tuple(self.container)

    def set(self, value: Any) -> None:
        """Put an object there."""
        if self.kind == "cell":
            self.container.cell_contents = value
        elif self.kind in ("entry", "item"):
            self.container[self.key] = value
        elif self.kind == "attribute":
            set_attribute(self.container, self.key, value)
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
    return path is not None and path.startswith(_library_paths())


@functools.cache
def _library_paths() -> tuple[str, ...]:
    """The folders of installed libraries; `sysconfig` is loaded with the first trace."""
    config = importlib.import_module("sysconfig")
    return tuple({config.get_path(k) for k in ("purelib", "platlib", "stdlib")})


def set_attribute(owner: Any, name: str, value: Any) -> None:
    """Set an attribute of a class or of an object with __slots__, not by a user's __setattr__."""
    setter: Any = type.__setattr__ if isinstance(owner, type) else object.__setattr__
    setter(owner, name, value)


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
    if cls.__name__ in ("SimpleNamespace", "Namespace") and cls.__module__ in ("types", "argparse"):
        return True
    if is_library_module(cls.__module__):
        return False
    return dict_of(value) is not None or bool(slot_names(cls))


def slot_names(cls: type) -> list[str]:
    """Attributes that a class and its bases keep in __slots__."""
    return [
        name
        for base in cls.__mro__
        for name, member in vars(base).items()
        if isinstance(member, types.MemberDescriptorType) and not is_library_module(base.__module__)
    ]


class Snapshot:
    """All slots that a function (and the objects among its arguments) can reach, with what they
    hold now.
    """

    def __init__(self, function: Callable[..., Any], arguments: list[Any]) -> None:
        self.slots: list[Slot] = []
        self.arrays: dict[int, Slot] = {}
        self.places: dict[int, list[Any]] = {}
        self.nodes: list[tuple[ArrayCore, Any, str]] = []
        self.lists: list[tuple[list[Any], list[Any], str]] = []
        self.names: set[str] = set()
        self.globals: set[str] = set()
        self.codes: list[types.CodeType] = []
        self._seen: set[int] = set()
        self._keep: list[Any] = []
        self._work: list[tuple[Any, str]] = []
        self._owners: list[Any] = []
        self._named: set[tuple[int, str]] = set()
        self._unseen: list[tuple[str, str]] = []
        self._random: list[tuple[Any, Any, str]] = []
        self._function(function, getattr(function, "__name__", "f"))
        for i, value in enumerate(arguments):
            if isinstance(value, np.ndarray):
                raise TraceError(
                    f"argument {i} is an ndarray, which may change unseen; pass an Array"
                )
            self._later(value, f"argument {i}")
        done = -1
        while done != len(self.slots):
            done = len(self.slots)
            while self._work:
                value, name = self._work.pop()
                self._walk(value, name)
            self._named_attributes()
        for name, why in self._unseen:
            last = name.rpartition(".")[2]
            if last in self.names or not last.isidentifier():
                raise TraceError(f"{name} is {why}")

    def _named_attributes(self) -> None:
        """Take those attributes of the modules and classes reached that the code names."""
        for owner in list(self._owners):
            scope = vars(owner)
            module = isinstance(owner, types.ModuleType)
            for key in sorted(self.names & scope.keys()):
                if (id(owner), key) in self._named or (not module and _is_descriptor(scope[key])):
                    continue
                self._named.add((id(owner), key))
                name = f"{owner.__name__}.{key}"
                if module:
                    self._add("entry", scope, key, name)
                else:
                    self._add("attribute", owner, key, name)

    @property
    def prints(self) -> bool:
        """Whether text of traced values is there to be printed, as far as the code's names tell."""
        return "print" in self.globals or not self.names.isdisjoint(("logging", "logger"))

    def check_random(self) -> None:
        """Refuse a trace during which a captured random generator moved.

        Raises
        ------
        TraceError
            Naming the generator.
        """
        for generator, before, name in self._random:
            if random_state(generator) != before:
                raise TraceError(f"the random generator {name} was used")

    def _add(self, kind: str, container: Any, key: Any, name: str) -> None:
        slot = Slot(kind, container, key, name)
        if len(self.slots) >= MAX_SLOTS:
            raise TraceError(
                f"more than {MAX_SLOTS} places of Python state are reachable; the last was {name}"
            )
        self.slots.append(slot)
        if kind in ("length", "keys", "contents"):
            return
        if isinstance(slot.value, ArrayCore):
            self._array(slot)
        self._later(slot.value, name)

    def _array(self, slot: Slot) -> None:
        self.arrays.setdefault(id(slot.value), slot)
        self.places.setdefault(id(slot.value), []).append(slot.place)
        self.nodes.append((slot.value, slot.value._n, slot.name))

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
            self._keep.append(value)
            self._work.append((value, name))

    def check_nodes(self) -> None:
        """Refuse a trace that switched an array's gradient on or off, or wrote a graph into it.

        Raises
        ------
        TraceError
            Naming the array.
        """
        for array, node, name in self.nodes:
            if array._n is not node:
                raise TraceError(f"what {name} requires for gradients changed")

    def appended_only(self, items: list[Any]) -> bool:
        """Whether the code does nothing with a list but append to it, as far as its text tells."""
        keys = [s.key for s in self.slots if s.value is items]
        keys += [c for s in self.slots if s.value is items and s.kind == "cell" for c in (s.name,)]
        names = {k for k in keys if isinstance(k, str)}
        plain = all(
            s.kind in ("entry", "cell", "attribute") for s in self.slots if s.value is items
        )
        return plain and bool(names) and all(_only_appends(code, names) for code in self.codes)

    def known(self, value: Any) -> bool:
        """Whether an object that is no array was there before the trace."""
        return id(value) in self._seen

    def _walk(self, value: Any, name: str) -> None:
        if isinstance(value, types.FunctionType):
            if not is_library_module(value.__module__):
                self._function(value, name)
        elif isinstance(value, staticmethod):
            self._later(value.__func__, name)
        elif isinstance(value, types.MethodType):
            self._later(value.__self__, name)
            self._later(value.__func__, name)
        elif isinstance(value, functools.partial):
            self._later(value.func, name)
            self._later(value.args, f"arguments of {name}")
            self._later(value.keywords, f"keywords of {name}")
        elif isinstance(value, list):
            self._add("length", value, None, f"len({name})")
            self.lists.append((value, list(value), name))
            for i in range(len(value)):
                self._add("item", value, i, f"{name}[{i}]")
            self._attributes(value, name)
        elif isinstance(value, tuple):
            for i in range(len(value)):
                self._tuple_item(value, i, name)
            self._attributes(value, name)
        elif isinstance(value, dict):
            self._add("keys", value, None, f"keys of {name}")
            for key in list(value):
                self._add("entry", value, key, f"{name}[{key!r}]")
            self._attributes(value, name)
        elif isinstance(value, (set, frozenset)):
            self._add("keys", value, None, f"items of {name}")
        elif "__wrapped_by_jit__" in (dict_of(value) or ()):
            self._later(value.__wrapped_by_jit__, name)
            for key in [k for k in vars(value) if k[0] != "_"]:
                self._add("entry", vars(value), key, f"{name}.{key}")
        elif is_random(value):
            self._random.append((value, random_state(value), name))
        elif isinstance(value, types.ModuleType):
            if not is_library_module(value.__name__):
                self._owners.append(value)
        elif isinstance(value, type):
            self._class(value)
        elif type(value) is functools._lru_cache_wrapper:
            self._later(value.__wrapped__, name)
        else:
            self._object(value, name)

    def _object(self, value: Any, name: str) -> None:
        """Take an object that is none of Python's containers."""
        why = why_unseen(value)
        if why is not None:
            self._unseen.append((name, why))
        elif isinstance(value, np.ndarray):
            self._add("contents", value, None, f"contents of {name}")
        else:
            self._attributes(value, name)

    def _attributes(self, value: Any, name: str) -> None:
        """Take the attributes of an object of a user's class, and the class."""
        if not is_followed(value):
            return
        attributes = dict_of(value)
        if attributes is not None:
            self._add("keys", attributes, None, f"attributes of {name}")
            for key in list(attributes):
                self._add("entry", attributes, key, f"{name}.{key}")
        for key in slot_names(type(value)):
            self._add("attribute", value, key, f"{name}.{key}")
        self._class(type(value))

    def _class(self, owner: type) -> None:
        """Take a class's functions; its other attributes follow where the code names them."""
        for cls in owner.__mro__:
            if cls in self._owners or is_library_module(cls.__module__):
                continue
            self._owners.append(cls)
            for attribute in list(vars(cls).values()):
                if isinstance(attribute, (types.FunctionType, classmethod, staticmethod, property)):
                    for f in _functions_of(attribute):
                        self._later(f, f"{cls.__name__}.{f.__name__}")

    def _tuple_item(self, value: tuple[Any, ...], i: int, name: str) -> None:
        item = value[i]
        if isinstance(item, ArrayCore):
            self._array(Slot("item", value, i, f"{name}[{i}]"))
        self._later(item, f"{name}[{i}]")

    def _function(self, function: Any, name: str) -> None:
        function = getattr(function, "__wrapped_by_jit__", function)
        if isinstance(function, WeakMethod):
            function = function.method()
        if isinstance(function, types.MethodType):
            self._later(function.__self__, f"{name}.__self__")
            function = function.__func__
        if not isinstance(function, types.FunctionType):
            self._later(function, name)
            return
        self._seen.add(id(function))
        self._keep.append(function)
        self.codes.append(function.__code__)
        self.names |= _names_in(function.__code__)
        if vars(function) or _sets_attributes(function.__code__):
            self._add("keys", vars(function), None, f"attributes of {name}")
            for key in list(vars(function)):
                self._add("entry", vars(function), key, f"{name}.{key}")
        for cell, variable in zip(
            function.__closure__ or (), function.__code__.co_freevars, strict=True
        ):
            self._add("cell", cell, None, variable)
        self._later(function.__defaults__, f"defaults of {name}")
        for value in (function.__kwdefaults__ or {}).values():
            self._later(value, f"default of {name}")
        scope = function.__globals__
        self.globals |= _global_names(function.__code__)
        for variable in sorted(_global_names(function.__code__)):
            if variable in scope or not hasattr(builtins, variable):
                self._add("entry", scope, variable, variable)


def _is_descriptor(value: Any) -> bool:
    """Whether a class attribute is a slot, a property or the like, which holds no state itself."""
    kinds = (
        property,
        classmethod,
        staticmethod,
        types.MemberDescriptorType,
        types.GetSetDescriptorType,
    )
    return isinstance(value, kinds)


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


_LOADS = ("LOAD_ATTR", "LOAD_METHOD", "LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF")


def _only_appends(code: types.CodeType, names: set[str]) -> bool:
    """Whether each mention of these names starts `name.append` (or `["name"].append`)."""
    steps = [
        i
        for i in dis.get_instructions(code)
        if i.opname not in ("CACHE", "PRECALL", "COPY_FREE_VARS")
    ]
    for at, step in enumerate(steps):
        follows = at + 1
        if step.opname == "LOAD_CONST" and isinstance(step.argval, str) and step.argval in names:
            if steps[follows].opname not in ("BINARY_SUBSCR", "BINARY_OP"):
                return False
            follows += 1
        elif step.opname not in _LOADS or step.argval not in names:
            continue
        then = steps[follows]
        if then.opname not in ("LOAD_METHOD", "LOAD_ATTR") or then.argval != "append":
            return False
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return all(_only_appends(c, names) for c in inner)


_sets: dict[types.CodeType, bool] = {}


def _sets_attributes(code: types.CodeType) -> bool:
    """Whether code sets an attribute of something, nested functions aside."""
    known = _sets.get(code)
    if known is None:
        known = _sets[code] = any(i.opname == "STORE_ATTR" for i in dis.get_instructions(code))
    return known


_mentioned: dict[types.CodeType, frozenset[str]] = {}


def _names_in(code: types.CodeType) -> frozenset[str]:
    """Names and text that code mentions, nested functions included."""
    names = _mentioned.get(code)
    if names is None:
        found = {*code.co_names, *code.co_freevars, *code.co_cellvars}
        for constant in code.co_consts:
            if isinstance(constant, str):
                found.add(constant)
            elif isinstance(constant, types.CodeType):
                found |= _names_in(constant)
        names = _mentioned[code] = frozenset(found)
    return names


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
    """Whether two Python scalars are the same value of the same type (0.0 and -0.0 differ, NaN
    equals itself).
    """
    if type(a) is not type(b):
        return False
    if type(a) in (float, complex):
        return repr(a) == repr(b)
    return bool(a == b)
