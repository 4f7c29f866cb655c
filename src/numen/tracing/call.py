"""The arguments of one call: flattened for the key, and passed on with proxies for the numbers that
change.

Containers are passed as they are, so what the function does to them is seen by the caller; a call
that changed one can't be compiled. Made and used by `jit.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numen.dispatch.core import ArrayCore
from numen.tracing.host import HostScalar
from numen.tracing.notes import new_scalar_input
from numen.tracing.recorder import Recorder

PROBING = frozenset(("type", "pow"))
"""Builtins that tell a proxy from a number: `type(x)`, `pow(2, x, 5)`."""


@dataclass
class Call:
    """What a function is called with.

    leaves: the arguments that are no tuple, list or dict, in order; structure: how they nest;
    numbers: positions of the Python scalars that change from call to call, scalars: their values.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    structure: Any
    leaves: list[Any]
    key: Any
    scalars: list[Any]
    numbers: list[int]

    @property
    def objects(self) -> list[Any]:
        """The leaves that are no Arrays."""
        return [x for x in self.leaves if not isinstance(x, ArrayCore)]

    def place(self, recorder: Recorder) -> Passed:
        """The arguments with proxies for the changing numbers."""
        proxies: dict[int, HostScalar] = {}
        for i in self.numbers:
            proxies[i] = new_scalar_input(recorder, self.leaves[i], ("argument", i))
        return Passed(self, recorder, proxies)


class Passed:
    """The arguments as the function gets them; `restore` takes proxies out of containers."""

    def __init__(self, call: Call, recorder: Recorder, proxies: Mapping[int, HostScalar]) -> None:
        self._call = call
        self._recorder = recorder
        self._proxies = proxies
        self._undo: list[tuple[Any, Any, Any, HostScalar]] = []
        self._position = 0
        self.args: tuple[Any, ...] = tuple([self._placed(x) for x in call.args])
        self.kwargs = {k: self._placed(x) for k, x in call.kwargs.items()}

    def _placed(self, value: Any) -> Any:
        kind = type(value)
        if is_tuple(kind):
            self._recorder.given.add(id(value))
            parts = [self._placed(v) for v in value]
            if all(a is b for a, b in zip(parts, value, strict=True)):
                return value
            return tuple(parts) if kind is tuple else kind._make(parts)
        if kind is list or kind is dict:
            self._recorder.given.add(id(value))
            for k, v in enumerate(value) if kind is list else list(value.items()):
                placed = self._placed(v)
                if placed is not v:
                    self._undo.append((value, k, v, placed))
                    value[k] = placed
            return value
        self._position += 1
        return self._proxies.get(self._position - 1, value)

    def restore(self) -> bool:
        """Put the numbers back; whether the function changed a container."""
        for container, key, before, placed in reversed(self._undo):
            held = container.get(key) if type(container) is dict else None
            if type(container) is list and key < len(container):
                held = container[key]
            if held is placed:
                container[key] = before
        leaves: list[Any] = []
        structure = flatten((self._call.args, self._call.kwargs), leaves)
        same = structure == self._call.structure and all(
            a is b for a, b in zip(leaves, self._call.leaves, strict=True)
        )
        self._undo.clear()
        self._proxies = {}
        self.args, self.kwargs = (), {}
        return not same


def is_tuple(kind: type) -> bool:
    """Whether a class is tuple, or a namedtuple without state of its own."""
    return kind is tuple or (
        issubclass(kind, tuple) and hasattr(kind, "_fields") and hasattr(kind, "_make")
    )


def flatten(value: Any, leaves: list[Any]) -> Any:
    """Structure of nested tuples, lists and dicts; leaves are appended."""
    kind = type(value)
    if kind is list or kind is tuple or is_tuple(kind):
        return (kind, tuple([flatten(v, leaves) for v in value]))
    if kind is dict:
        return (dict, tuple([(k, flatten(v, leaves)) for k, v in value.items()]))
    leaves.append(value)
    return None
