"""What a recorded call consists of: bindings, instructions, queries and the end.

Plain data, compared for equality: a trace is trusted when a second recording gives the same.
`recorder.py` makes it, `tree.py` merges traces into a tree of segments, `build.py` turns a segment
into a compiler graph.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from numen.tracing.host import HostExpr

Reg = int


@dataclass(frozen=True)
class Meta:
    """What a register's array looks like: dtype name, shape, byte strides, and whether it is a
    NumPy scalar.
    """

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    scalar: bool


@dataclass(frozen=True)
class Const:
    """A Python scalar operand that is the same on every call (weak, NEP 50)."""

    kind: str
    text: str
    value: Any = field(compare=False)


@dataclass(frozen=True)
class Host:
    """A Python scalar operand computed on every call (weak, NEP 50); kind: its Python type."""

    expr: HostExpr
    kind: str


@dataclass(frozen=True)
class External:
    """An array that exists before the call; it gets register `reg` where it is first used.

    kind: "arg" (key: position among the flattened arguments), "slot" (key: the slot's place),
    "object" (key: id), "grad" (key: the register of the leaf's array), "constant" (key: bytes of
    the value made during the trace).
    """

    reg: Reg
    kind: str
    key: Any
    meta: Meta


@dataclass(frozen=True)
class Instr:
    """One op: out = name(args, params)."""

    name: str
    args: tuple[Reg | Const | Host, ...]
    params: tuple[tuple[str, Any], ...]
    out: Reg
    meta: Meta


@dataclass(frozen=True)
class Query:
    """A place where a segment ends: Python asked for the value of a register or of a HostExpr.

    kind: "bool", "int", "float", "index" or "item" of a register, "host" of a HostExpr; "value"
    ends a segment without asking, because the HostExpr reads an array and feeds an op.
    """

    kind: str
    subject: Any


@dataclass(frozen=True)
class Result:
    """How to make one returned or stored array.

    kind: "external" (the object itself: reg), "value" (a fresh array of reg's value), "view" (of
    the group's array, by path). freed tells that the array carries an already freed graph, pull
    which recorded backward pass is its own, serial which views are one object; read_only that a
    fresh array, or the one under a view, can't be written, as one broadcast from a scalar.
    """

    kind: str
    reg: Reg
    path: tuple[Any, ...] = ()
    scalar: bool = False
    freed: bool = False
    group: int = -1
    pull: int = -1
    detached: bool = False
    serial: int = -1
    read_only: bool = False


@dataclass(frozen=True)
class Pull:
    """The backward pass of a returned array: from its cotangent to the cotangents of outside
    leaves.

    path: the keys that lead to the array in the output; seed: the register of its cotangent; items:
    instructions, over the registers of the call; pairs: (register of a leaf's array, register of
    its cotangent).
    """

    path: tuple[Any, ...]
    seed: Reg
    items: tuple[Instr | External, ...]
    pairs: tuple[tuple[Reg, Reg], ...]

    def used(self) -> set[Reg]:
        """Registers of the call that the pass reads."""
        made = {i.out if isinstance(i, Instr) else i.reg for i in self.items}
        read = {
            ref
            for i in self.items
            if isinstance(i, Instr)
            for ref in i.args
            if isinstance(ref, int)
        }
        return (read | {cotangent for _, cotangent in self.pairs}) - made


@dataclass
class End:
    """The end of a path: what is returned, written and stored."""

    output: Any
    writes: tuple[tuple[Reg, Reg], ...]
    grads: tuple[tuple[Reg, Any], ...]
    stores: tuple[Any, ...]
    pulls: tuple[Pull, ...] = ()

    def same(self, other: End) -> bool:
        """Whether two ends do the same."""
        return (self.output, self.writes, self.grads, self.stores, self.pulls) == (
            other.output,
            other.writes,
            other.grads,
            other.stores,
            other.pulls,
        )
