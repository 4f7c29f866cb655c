"""Rebuilding a graph while rewriting it: the frame that every Graph -> Graph pass uses.

Takes a graph and a table of rewrites (data, each with its reason); gives a new graph with the same
inputs. Called by `simplify.py`, `cse.py`, `dce.py`, `decompose.py`. Next: `simplify.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numen.graph.graph import Graph, Params, Value
from numen.graph.types import TensorType


class Rebuilder:
    """A new graph under construction; `old` values are looked up with `new()`."""

    def __init__(self, source: Graph, rules: Sequence[Rewrite] = ()) -> None:
        self.source = source
        self.graph = Graph()
        self._map: dict[int, Value] = {}
        self._rules: dict[str, list[Rewrite]] = {}
        for rule in rules:
            for op in rule.ops:
                self._rules.setdefault(op, []).append(rule)

    def new(self, old: Value) -> Value:
        return self._map[old.index]

    def set(self, old: Value, new: Value) -> None:
        self._map[old.index] = new

    def copy(self, old: Value) -> Value:
        """Bring one value over, its arguments being there, rewritten where a rule applies."""
        if old.op == "input":
            new = self.graph.input(
                old.type, old.param("name"), old.param("strides"), old.param("kind")
            )
        elif old.op == "const":
            new = self.graph.const(old.param("value"), old.dtype)
        else:
            new = self.typed(old.op, [self.new(arg) for arg in old.args], old.params, old.type)
        self.set(old, new)
        return new

    def op(
        self, name: str, args: Iterable[Value], params: Params | Mapping[str, Any] = ()
    ) -> Value:
        """Add an op to the new graph, rewritten where a rule applies."""
        return self._rewritten(self.graph.op(name, args, params))

    def typed(self, name: str, args: Iterable[Value], params: Params, type: TensorType) -> Value:
        """The same for an op whose type is known to be right."""
        return self._rewritten(self.graph.append(name, tuple(args), params, type))

    def _rewritten(self, value: Value) -> Value:
        for rule in self._rules.get(value.op, ()):
            better = rule.apply(self, value)
            if better is not None:
                return better
        return value

    def finish(self) -> Graph:
        """Set the outputs and writes, and return the new graph."""
        self.graph.outputs = [self.new(value) for value in self.source.outputs]
        self.graph.writes = [(number, self.new(value)) for number, value in self.source.writes]
        return self.graph


@dataclass(frozen=True)
class Rewrite:
    """`apply(rebuilder, value)` gives an equal value to use instead, or None."""

    name: str
    ops: tuple[str, ...]
    reason: str
    apply: Callable[[Rebuilder, Value], Value | None]


def rewrite(graph: Graph, rules: Sequence[Rewrite]) -> Graph:
    """Apply the rules to every value, arguments first; useless values stay (see `dce.py`)."""
    rebuilder = Rebuilder(graph, rules)
    for value in graph.values:
        rebuilder.copy(value)
    return rebuilder.finish()
