"""From a group to a kernel: emits the body, turns views into strides, joins axes, makes the Nest.

Takes a group of `fuse.py` and the storages of its operands; gives a `Kernel`: the Nest and, apart
from it, the extents, offsets, strides and scalars of this one use. Next: `hazards.py`, then
`nest.py` for what a Nest means.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from numen.compiler.body import Body
from numen.compiler.body import Value as Scalar
from numen.compiler.lower import lower
from numen.compiler.nest import Buffer, Nest, Store
from numen.compiler.passes.axes import join, memory_order, stride_class
from numen.compiler.passes.fuse import (
    Fusion,
    Group,
    Move,
    Moves,
    Use,
    element_moves,
    normal_moves,
    point_moves,
    spread_moves,
)
from numen.compiler.passes.layout import CopyNeeded, Layout, apply_view
from numen.compiler.passes.prepare import RewriteNeeded
from numen.compiler.passes.storage import Storage
from numen.compiler.passes.support import lowering_params
from numen.compiler.scalar import ITEMSIZE
from numen.graph.graph import Value
from numen.graph.infer import VIEWS
from numen.graph.types import plain_name

Ints = tuple[int, ...]

BAKED = ("0", "1", "0.0", "1.0", "-0.0", "True", "False")
"""Constants that a kernel contains; others are scalar arguments: one kernel serves them all."""


@dataclass(frozen=True)
class Access:
    """One operand as the body sees it: a value's elements over the points (x reduced elements)."""

    value: Value
    storage: Storage
    layout: Layout


@dataclass(frozen=True)
class ScalarArgument:
    """A run-time scalar: input `number`, or a fixed `value`."""

    dtype: str
    number: int | None = None
    value: float | int = 0


@dataclass(frozen=True)
class Kernel:
    """A Nest with the arguments of one use of it.

    loads and stores: the operands over the unjoined axes; strides: byte strides of each operand
    along the Nest's axes.
    """

    nest: Nest
    extents: Ints
    loads: tuple[Access, ...]
    stores: tuple[Access, ...]
    strides: tuple[Ints, ...]
    scalars: tuple[ScalarArgument, ...]


class _Builder:
    """Emits one group."""

    def __init__(self, fusion: Fusion, group: Group, storages: dict[int, Storage]) -> None:
        self.fusion = fusion
        self.group = group
        self.storages = storages
        self.body = Body()
        self.reduced = group.reduced
        self.loads: list[Access] = []
        self.scalars: list[ScalarArgument] = []
        self.reduction_loads: dict[Value, list[int]] = {}
        self._known: dict[tuple[int, bool, Moves], Scalar] = {}
        self._load_numbers: dict[tuple[int, Layout], int] = {}

    def value(self, value: Value, inside: bool, moves: Moves) -> Scalar:
        moves = normal_moves(value.shape, moves)
        key = (value.index, inside, moves)
        if key not in self._known:
            self._known[key] = self._emit(value, inside, moves)
        return self._known[key]

    def _emit(self, value: Value, inside: bool, moves: Moves) -> Scalar:
        if value.op == "const":
            return self._const(value)
        if value.op == "input" and value.param("kind") == "scalar":
            return self._scalar_input(value)
        if value.index in self.storages and self.fusion.owner.get(value.index) is not self.group:
            return self._load(value, inside, moves)
        if value.op in VIEWS:
            return self.value(value.args[0], inside, (Move(value.op, value.params, value), *moves))
        if value in self.group.reductions:
            return self._reduce(value)
        args = [
            self.value(arg, inside, (*spread_moves(arg.shape, value.shape), *moves))
            for arg in value.args
        ]
        if value.op in ("copy", "barrier"):
            return args[0]
        return lower(self.body, value.op, args, plain_name(value.dtype), lowering_params(value))

    def _reduce(self, value: Value) -> Scalar:
        before = len(self.loads)
        element = self.value(value.args[0], True, element_moves(value))
        self.reduction_loads[value] = list(range(before, len(self.loads)))
        return self.body.reduce(value.op, element)

    def _const(self, value: Value) -> Scalar:
        number, dtype = value.param("value"), plain_name(value.dtype)
        if repr(number) in BAKED:
            return self.body.const(number, dtype)
        if value.dtype.kind == "f":
            return self._argument(ScalarArgument("float64", value=number), dtype)
        wrapped = number - 2**64 if number >= 2**63 else number
        return self._argument(ScalarArgument("int64", value=wrapped), dtype)

    def _scalar_input(self, value: Value) -> Scalar:
        number = self.fusion.graph.inputs.index(value)
        dtype = plain_name(value.dtype)
        kind = "float64" if dtype == "float64" else "int64"
        return self._argument(ScalarArgument(kind, number), dtype)

    def _argument(self, argument: ScalarArgument, dtype: str) -> Scalar:
        texts = [repr(known) for known in self.scalars]  # repr tells 0.0 from -0.0
        if repr(argument) not in texts:
            texts.append(repr(argument))
            self.scalars.append(argument)
        scalar = self.body.scalar(texts.index(repr(argument)), argument.dtype)
        return self.body.cast(scalar, dtype)

    def _load(self, value: Value, inside: bool, moves: Moves) -> Scalar:
        storage = self.storages[value.index]
        layout = storage.layout
        for move in moves:
            try:
                layout = apply_view(layout, move.op, move.params, value.dtype.itemsize)
            except CopyNeeded:
                assert move.view is not None  # only the graph's own views are reshapes
                raise RewriteNeeded("barrier", move.view, 0) from None
        if not inside and self.reduced:
            lead = len(layout.shape)
            layout = Layout(
                layout.offset,
                layout.shape + self.reduced,
                layout.strides + (0,) * len(self.reduced),
            )
            assert lead == len(self.group.space)
        key = (value.index, layout)
        if key not in self._load_numbers:
            self._load_numbers[key] = len(self.loads)
            self.loads.append(Access(value, storage, layout))
        return self.body.load(self._load_numbers[key], plain_name(value.dtype))


Inlined = list[tuple[Value, Use]]


def inlined_values(fusion: Fusion) -> dict[Group, Inlined]:
    """For each group the pointwise values that it computes without storing them, in order."""
    result: dict[Group, Inlined] = {group: [] for group in fusion.groups}
    for value in fusion.graph.values:
        if fusion.kinds[value.index] == "pointwise" and value.index not in fusion.owner:
            for use in fusion.uses[value.index]:
                result[use.group].append((value, use))
    return result


def build(
    fusion: Fusion, group: Group, storages: dict[int, Storage], inlined: Inlined
) -> Kernel | None:
    """Make the kernel of a group; None where it has nothing to store.

    `inlined` are the group's values of `inlined_values`.

    Raises RewriteNeeded where an operand must be copied first.
    """
    builder = _Builder(fusion, group, storages)
    for value, use in inlined:  # arguments first, so that no recursion goes deep
        builder.value(value, use.inside, use.moves)
    results: list[tuple[Access, Scalar]] = []
    for root in sorted(group.roots, key=lambda value: value.index):
        storage = storages[root.index]
        if root in storage.versions[0] and storage.kind == "input":
            continue  # the copy of an input that is updated in place: it is there
        if root.op == "setitem":
            layout = _written(storage, root)
            new = root.args[1]
            moves = (*spread_moves(new.shape, layout.shape), *point_moves(layout.shape))
            scalar = builder.value(new, False, moves)
        else:
            layout = storage.layout
            scalar = builder.value(root, False, point_moves(root.shape))
        layout = layout.reshape(group.space, root.dtype.itemsize)
        if group.reduced is not None:
            layout = Layout(
                layout.offset,
                layout.shape + group.reduced,
                layout.strides + (0,) * len(group.reduced),
            )
        results.append((Access(root, storage, layout), scalar))
    if not results or 0 in group.space:
        return None
    return _finish(builder, results)


def _written(storage: Storage, root: Value) -> Layout:
    layout = storage.layout
    for name, params in root.param("path"):
        try:
            layout = apply_view(layout, name, dict(params), root.dtype.itemsize)
        except CopyNeeded:
            raise RewriteNeeded("copy", root, 0) from None
    return layout


def _finish(builder: _Builder, results: list[tuple[Access, Scalar]]) -> Kernel:
    group = builder.group
    stores = [access for access, _ in results]
    operands = [*builder.loads, *stores]
    strides = [access.layout.strides for access in operands]
    rank = len(group.space)
    kept = [axis for axis in range(rank) if group.space[axis] != 1]
    extents = tuple(group.space[axis] for axis in kept)
    parallel = [tuple(own[axis] for axis in kept) for own in strides]
    order = memory_order(extents, parallel)
    axes = join(
        tuple(extents[i] for i in order), [tuple(own[i] for i in order) for own in parallel]
    )
    all_extents, all_strides = axes.extents, axes.strides
    if group.reduced is not None:
        inner = join(group.reduced, [own[rank:] for own in strides])
        if len(inner.extents) > 1:
            raise RewriteNeeded("reduced", _to_copy(builder), 0)
        if not inner.extents:
            all_extents += (1,)
            all_strides = tuple((*own, 0) for own in all_strides)
        else:
            all_extents += inner.extents
            all_strides = tuple(a + b for a, b in zip(all_strides, inner.strides, strict=True))
    buffers = tuple(
        Buffer(
            plain_name(access.value.dtype),
            tuple(stride_class(s, ITEMSIZE[plain_name(access.value.dtype)]) for s in own),
        )
        for access, own in zip(operands, all_strides, strict=True)
    )
    first = len(builder.loads)
    nest = Nest(
        rank=len(all_extents),
        reduced=group.reduced is not None,
        buffers=buffers,
        scalars=tuple(scalar.dtype for scalar in builder.scalars),
        body=builder.body.instrs,
        stores=tuple(Store(first + i, scalar.position) for i, (_, scalar) in enumerate(results)),
    )
    return Kernel(
        nest,
        all_extents,
        tuple(builder.loads),
        tuple(stores),
        all_strides,
        tuple(builder.scalars),
    )


def _to_copy(builder: _Builder) -> Value:
    """The reduction whose operand must be copied so that the group's reduced axes join."""
    rank = len(builder.group.space)
    assert builder.reduced is not None
    for reduction, numbers in builder.reduction_loads.items():
        strides = [builder.loads[number].layout.strides[rank:] for number in numbers]
        if len(join(builder.reduced, strides).extents) > 1:
            return reduction
    return next(r for r in builder.group.reductions if r.args[0].op != "barrier")


def points(kernel: Kernel) -> int:
    """Output points of a kernel."""
    return math.prod(kernel.extents[:-1] if kernel.nest.reduced else kernel.extents)
