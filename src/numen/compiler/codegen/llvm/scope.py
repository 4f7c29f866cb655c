"""Which instruction is computed in which loop, and the values computed so far.

`Shape` analyses a nest: the axes that each instruction varies along, and whether it stands after
the reduction. `Scope` computes instructions level by level: what does not vary in a loop is
computed before it, once, as a scalar, and is spread over the lanes there too. Called by the loops.
Next: `streams.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from numen.compiler.codegen.llvm import scalar
from numen.compiler.codegen.llvm.frame import Frame
from numen.compiler.codegen.llvm.ir import Function, Value, constant, iota
from numen.compiler.nest import Nest
from numen.compiler.scalar import ITEMSIZE

_FREE = ("const", "load", "scalar", "index", "reduce", "bitcast")

HEAVY = 16
"""From this many computing instructions on, a loop body is written once: partial vectors run the
same code.
"""


class Shape:
    """Facts about a nest's body."""

    def __init__(self, nest: Nest) -> None:
        self.nest = nest
        self.last = nest.rank - 1
        self.axes: list[frozenset[int]] = []
        self.after: list[bool] = []
        for instr in nest.body:
            axes = frozenset[int]().union(*(self.axes[a] for a in instr.args))
            if instr.op == "load":
                strides = nest.buffers[_number(instr.attr)].strides
                axes = frozenset(a for a, stride in enumerate(strides) if stride != "0")
            elif instr.op == "index":
                axes = frozenset((_number(instr.attr),))
            elif instr.op == "reduce":
                axes -= {self.last}
            self.axes.append(axes)
            self.after.append(instr.op == "reduce" or any(self.after[a] for a in instr.args))
        self.stored = self.behind((store.value for store in nest.stores), through_reduce=True)
        self.reduces = [i for i in self.stored if nest.body[i].op == "reduce"]
        reduced = (nest.body[i].args[0] for i in self.reduces)
        self.inside = self.behind(reduced, through_reduce=False)
        """Instructions that the reduced loop needs."""
        self.epilogue = self.behind((store.value for store in nest.stores), through_reduce=False)
        """Instructions that the stores need, down to the reductions."""

    def behind(self, roots: Iterable[int], through_reduce: bool) -> list[int]:
        """All that `roots` need, in body order; reductions end the search unless told otherwise."""
        wanted: set[int] = set()
        pending = list(roots)
        while pending:
            position = pending.pop()
            if position in wanted:
                continue
            wanted.add(position)
            instr = self.nest.body[position]
            if instr.op != "reduce" or through_reduce:
                pending.extend(instr.args)
        return sorted(wanted)

    def within(self, needed: Iterable[int], axes: Iterable[int]) -> list[int]:
        """Those of `needed` that vary along no other axes and need no reduction."""
        allowed = frozenset(axes)
        return [i for i in needed if self.axes[i] <= allowed and not self.after[i]]

    def beyond(self, needed: Iterable[int], axes: Iterable[int]) -> list[int]:
        """The rest of `needed`, but for the reductions themselves."""
        known = set(self.within(needed, axes))
        return [i for i in needed if i not in known and self.nest.body[i].op != "reduce"]

    def loaded(self, positions: Iterable[int]) -> list[int]:
        """The buffers that these instructions load."""
        body = self.nest.body
        return sorted({_number(body[i].attr) for i in positions if body[i].op == "load"})

    def heavy(self, positions: Iterable[int]) -> bool:
        """Whether a loop body of these instructions is worth having only once."""
        return sum(self.nest.body[i].op not in _FREE for i in positions) >= HEAVY

    def width(self, positions: Iterable[int], others: Iterable[str] = ()) -> int:
        """Lanes of the vectors that compute these instructions: 8 with an 8-byte item, 32 with
        only short ones.
        """
        body = self.nest.body
        dtypes = {*others, *(body[i].dtype for i in positions)}
        dtypes.update(body[a].dtype for i in positions for a in body[i].args)
        largest = max((ITEMSIZE[dtype] for dtype in dtypes), default=4)
        return 8 if largest == 8 else 16 if largest == 4 else 32


class Scope:
    """Values by (instruction, width). A child sees its parent's values, not the other way round."""

    def __init__(
        self,
        shape: Shape,
        frame: Frame,
        point: Mapping[int, Value],
        values: Mapping[tuple[int, int], Value] | None = None,
    ) -> None:
        self.shape = shape
        self.frame = frame
        self.function: Function = frame.function
        self.point = dict(point)
        self.values = dict(values or {})

    def inner(self, point: Mapping[int, Value]) -> Scope:
        """A scope in which the indices of more axes are known."""
        return Scope(self.shape, self.frame, {**self.point, **point}, self.values)

    def define(self, position: int, value: Value) -> None:
        self.values[position, value.width] = value

    def get(self, position: int, width: int) -> Value:
        """The value of an instruction in so many lanes; constants come from nowhere, scalars are
        spread.
        """
        instr = self.shape.nest.body[position]
        if instr.op == "const":
            return constant(_literal(instr.attr), instr.dtype, width)
        if (position, width) not in self.values:
            spread = self.function.splat(self.values[position, 1], width)
            self.values[position, width] = spread
        return self.values[position, width]

    def spread(self, users: Iterable[int], roots: Iterable[int], width: int) -> None:
        """Put every scalar that `users` will read, and the known ones of `roots`, into all lanes,
        here.
        """
        body = self.shape.nest.body
        for position in [*(a for i in users for a in body[i].args), *roots]:
            if (position, 1) in self.values:
                self.get(position, width)

    def compute(
        self, positions: Sequence[int], width: int = 1, loaded: Mapping[int, Value] | None = None
    ) -> None:
        """Append the code of these instructions. Loads come from `loaded`, else from memory at
        `point`.
        """
        for position in positions:
            instr = self.shape.nest.body[position]
            if instr.op == "const" or (position, width) in self.values:
                continue
            if instr.op == "load":
                buffer = _number(instr.attr)
                value = self._load(buffer) if loaded is None else loaded[buffer]
            elif instr.op == "scalar":
                value = self.frame.scalars[_number(instr.attr)]
            elif instr.op == "index":
                value = self._index(_number(instr.attr), width)
            else:
                operands = [self.get(argument, width) for argument in instr.args]
                value = scalar.write(self.function, instr.op, instr.dtype, operands)
            self.values[position, width] = value

    def _load(self, buffer: int) -> Value:
        address = self.frame.address(buffer, self.point)
        return self.function.load(address, self.shape.nest.buffers[buffer].dtype)

    def _index(self, axis: int, width: int) -> Value:
        first = self.function.splat(self.point[axis], width)
        if width == 1:
            return first
        return self.function.binary("add", first, iota("int64", width))


def _number(attr: float | int | bool | str | None) -> int:
    assert isinstance(attr, int)
    return attr


def _literal(attr: float | int | bool | str | None) -> float | int | bool:
    assert isinstance(attr, float | int)
    return attr
