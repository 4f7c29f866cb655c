"""The end of a replay: makes the returned arrays, puts gradients and stored Python state where
eager would.

Comes from `jit.py` with the registers of the path that ran; mirrors `Recorder.finish`, which
described the End.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from numen.dispatch import core, places
from numen.dispatch.core import SCALAR, ArrayCore, Cell, Node
from numen.dispatch.primitive import Primitive
from numen.errors import InternalError
from numen.ops import table
from numen.tracing.pull import Context
from numen.tracing.snapshot import set_attribute
from numen.tracing.trace import Const, End, Reg, Result

FREED = Primitive("a jitted function", lambda a: a)
"""Stands for the graph behind a result whose backward pass already ran inside the traced function.
"""


def freed_node(data: Any) -> Node:
    """The node of an array whose graph was walked and freed."""
    node = Node(FREED, (), (), {}, None, data)
    node.args = None  # type: ignore[assignment]
    return node


class Finisher:
    """Builds one call's results."""

    def __init__(
        self,
        registers: Mapping[Reg, Any],
        objects: Mapping[Reg, ArrayCore],
        scalars: Sequence[Any],
        arguments: Sequence[Any],
        containers: Mapping[int, Any],
        context: Context | None = None,
    ) -> None:
        self.registers = registers
        self.objects = objects
        self.scalars = scalars
        self.arguments = arguments
        self.containers = containers
        self._groups: dict[int, ArrayCore] = {}
        self._views: dict[int, Any] = {}
        self._context = context

    def commit(self, end: End) -> Any:
        """Apply gradients and stores; return the call's output."""
        output = self.make(end.output)
        for reg, described in end.grads:
            leaf = self.objects[reg]._n
            leaf.grad = None if described is None else self.make(described)
        for kind, place, _, described in end.stores:
            if kind == "append":
                self.containers[place].extend([self.make(d) for d in described])
                continue
            slot_kind, container, key = place
            target = self.containers[container]
            if slot_kind == "cell":
                target.cell_contents = self.make(described)
            elif slot_kind == "attribute":
                set_attribute(target, key, self.make(described))
            else:
                target[key] = self.make(described)
        for reg, _ in end.writes:
            written = self.objects[reg]
            if written._v is None:
                written._v = Cell()
            cell = written._v.cell
            cell.t = core.next_stamp()
            cell.place = places.here()
        return output

    def make(self, described: Any) -> Any:
        """The object that a description stands for."""
        if type(described) is Result:
            return self._array(described)
        if type(described) is Const:
            return described.value
        kind = described[0]
        if kind == "host":
            return described[1].evaluate(self.scalars, self.registers)
        if kind == "sequence":
            cls, parts = described[1], [self.make(d) for d in described[2]]
            if cls in (list, tuple):
                return cls(parts)
            return cls(*parts)
        if kind == "dict":
            return {k: self.make(d) for k, d in described[1]}
        if kind == "argument":
            return self.arguments[described[1]]
        if kind == "same":
            return getattr(described[1], "value", described[1])
        raise InternalError(f"finish: unknown description {kind!r}")

    def _array(self, result: Result) -> Any:
        if result.kind == "external":
            return self.objects[result.reg]
        if result.serial >= 0:
            made = self._views.get(result.serial)
            if made is None:
                made = self._views[result.serial] = self._made(result)
            return made
        return self._made(result)

    def _made(self, result: Result) -> Any:
        if result.group < 0:
            base: Any = self.objects[result.reg]
        else:
            found = self._groups.get(result.group)
            if found is None:
                found = self._groups[result.group] = self._fresh(self.registers[result.reg], result)
            base = found
        if result.detached:
            base = core.ARRAY.detach(base)
        if result.path:
            for name, params in result.path:
                base = table[name](base, **dict(params))
            base._n = None
        if result.freed and base._n is None:
            base._n = freed_node(base._d)
        elif result.pull >= 0:
            assert self._context is not None
            base._n = self._context.node(result.pull, base._d)
        return base

    def _fresh(self, data: Any, result: Result) -> ArrayCore:
        if result.reg in self.objects:  # a constant stays with the trace
            data = np.array(data)
        if result.scalar and result.kind == "value":
            frozen = np.asarray(data)
            frozen.flags.writeable = False
            return core.ARRAY(frozen, None, SCALAR)  # type: ignore[no-any-return]
        if result.read_only:
            data.flags.writeable = False
        return core.ARRAY(data)  # type: ignore[no-any-return]
