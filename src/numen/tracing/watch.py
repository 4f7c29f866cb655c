"""Objects of libraries that change unseen: random generators, iterators, queues, ndarrays.

`snapshot.py` asks which objects a trace must watch: small ndarrays are compared on each call,
random generators after the trace, the rest is refused where the traced code names it. Next:
`snapshot.py`.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any

import numpy as np

from numen.dispatch.core import unwrap

LARGE = 4096
"""Bytes up to which a captured ndarray is compared on each call."""

CONTAINERS = {
    "array": ("array",),
    "builtins": ("bytearray", "memoryview"),
    "collections": ("ChainMap", "UserDict", "UserList", "deque"),
    "queue": ("LifoQueue", "PriorityQueue", "Queue"),
    "_queue": ("SimpleQueue",),
}
"""Mutable containers of the standard library that no guard reads."""


def contents_of(data: np.ndarray[Any, Any]) -> Any:
    """What a small ndarray holds, comparable."""
    return data.dtype.str, data.shape, data.tobytes()


@functools.cache
def _random() -> Any:
    """Python's module `random`, loaded with the first trace."""
    return importlib.import_module("random")


def is_random(value: Any) -> bool:
    """Whether an object is a random generator: Python's, NumPy's or numen's copy of NumPy's."""
    if isinstance(value, (_random().Random, np.random.Generator, np.random.RandomState)):
        return True
    return isinstance((dict_of(value) or {}).get("_numpy"), np.random.Generator)


def dict_of(value: Any) -> Any:
    """An object's __dict__, or None; a user's __getattr__ is not asked."""
    try:
        return object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None


def random_state(generator: Any) -> Any:
    """The state of a random generator, comparable."""
    if isinstance(generator, _random().Random):
        return generator.getstate()
    if isinstance(generator, np.random.RandomState):
        return comparable(generator.get_state(legacy=False))
    return comparable(generator.bit_generator.state)


def global_random_state() -> Any:
    """The state of Python's and NumPy's global generators, comparable."""
    return _random().getstate(), comparable(np.random.get_state(legacy=False))


def comparable(state: Any) -> Any:
    """Nested dicts of a NumPy generator's state as tuples and bytes."""
    if isinstance(state, dict):
        return tuple([(k, comparable(v)) for k, v in state.items()])
    state = unwrap(state)
    return state.tobytes() if isinstance(state, np.ndarray) else state


def why_unseen(value: Any) -> str | None:
    """Why changes of a library object can't be noticed, or None where it needs no watching."""
    cls = type(value)
    if isinstance(value, np.ndarray):
        large = value.nbytes > LARGE or value.dtype.hasobject
        return (
            f"an ndarray of {value.nbytes} bytes, which may change unseen; make it an Array"
            if large
            else None
        )
    if hasattr(cls, "__next__"):
        return "an iterator, whose position a replay does not move"
    if cls.__name__ in CONTAINERS.get(cls.__module__, ()):
        return f"a {cls.__name__}, which may change unseen"
    return None
