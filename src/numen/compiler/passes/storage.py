"""Storage: which memory holds each stored value, and which values are versions of the same memory.

A setitem's result lives in its base's memory; the new content of a mutated input lives in the input
where nothing stands against it. Takes the groups of `fuse.py`; `hazards.py` checks the choice.
Next: `build.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from numen.compiler.passes.fuse import Fusion, Group, Use
from numen.compiler.passes.layout import (
    CopyNeeded,
    Layout,
    apply_view,
    contiguous,
    fortran,
    permuted,
)
from numen.compiler.passes.prepare import RewriteNeeded, Target
from numen.compiler.passes.support import base_layout
from numen.graph.graph import Value, input_strides

Order = str | tuple[int, ...]
"""Memory order of an output: "C", "F", or its axes from the outermost to the innermost."""


@dataclass(eq=False)
class Storage:
    """Memory of one or more versions of a value, oldest first.

    kind: "input" and "output" belong to the caller (number: which one); "host" is an array that a
    host call returns; "local" is the program's own: arena or a temporary array.
    """

    kind: Literal["input", "output", "host", "local"]
    dtype: np.dtype
    layout: Layout
    number: int = -1
    versions: list[list[Value]] = field(default_factory=list)

    @property
    def nbytes(self) -> int:
        size = self.dtype.itemsize
        for extent in self.layout.shape:
            size *= extent
        return size


def assign(fusion: Fusion, orders: Sequence[Order]) -> dict[int, Storage]:
    """Give every input and stored value its storage, by value index.

    Raises RewriteNeeded where a value can't live where it must.
    """
    graph = fusion.graph
    storages: dict[int, Storage] = {}
    for number, value in enumerate(graph.inputs):
        if value.param("kind") == "scalar":
            continue
        layout = Layout(0, value.shape, input_strides(value))
        storages[value.index] = Storage("input", value.dtype, layout, number, [[value]])
    for number, value in graph.writes:
        if fusion.kinds[value.index] != "host":
            _assign_write(fusion, storages, number, value)
    for number, value in enumerate(graph.outputs):
        if fusion.kinds[value.index] != "host":
            layout = _ordered(value, orders[number])
            _assign_chain(fusion, storages, Storage("output", value.dtype, layout, number), value)
    for value in reversed(graph.values):
        if value.index in fusion.owner and value.index not in storages:
            host = fusion.kinds[value.index] == "host"
            layout = contiguous(value.shape, value.dtype.itemsize)
            if fusion.kinds[value.index] == "write":
                layout = base_layout(value)
            elif fusion.kinds[value.index] == "gemm":
                layout = _for_readers(fusion, storages, value, layout)
            storage = Storage("host" if host else "local", value.dtype, layout)
            _assign_chain(fusion, storages, storage, value)
    return storages


def _assign_write(fusion: Fusion, storages: dict[int, Storage], number: int, value: Value) -> None:
    target = fusion.graph.inputs[number]
    chain = _chain(fusion, value)
    if fusion.kinds[chain[0].index] not in ("pointwise", "reduction"):
        raise RewriteNeeded("copy", ("write", number))
    storage = storages[target.index]
    if chain[0].op == "copy" and chain[0].args[0] is target:
        storage.versions[0].append(chain[0])  # the copy is what is there already
        storages[chain[0].index] = storage
        chain = chain[1:]
    for version in chain:
        storage.versions.append([version])
        storages[version.index] = storage


def _assign_chain(
    fusion: Fusion, storages: dict[int, Storage], storage: Storage, value: Value
) -> None:
    chain = _chain(fusion, value)
    if len(chain) > 1 and fusion.kinds[chain[0].index] == "host":
        raise RewriteNeeded("copy", chain[1], 0)
    columns = storage.dtype.itemsize in storage.layout.strides[-2:]
    if fusion.kinds[chain[0].index] == "gemm" and not columns:
        target: Target = chain[1] if len(chain) > 1 else ("output", storage.number)
        raise RewriteNeeded("copy", target)
    for version in chain:
        storage.versions.append([version])
        storages[version.index] = storage


def _chain(fusion: Fusion, value: Value) -> list[Value]:
    """The value and the bases that its setitems update, oldest first."""
    chain = [value]
    while fusion.kinds[chain[-1].index] == "write":
        chain.append(chain[-1].args[0])
    return chain[::-1]


def _for_readers(
    fusion: Fusion, storages: Mapping[int, Storage], value: Value, plain: Layout
) -> Layout:
    """The layout of a matrix product that its readers walk along: rows or columns contiguous.

    The product can write either, with equal bits, and a gradient is often read transposed.
    """
    turned = contiguous(plain.swapped().shape, value.dtype.itemsize).swapped()
    votes = 0
    for use in fusion.uses[value.index]:
        if use.group.kind == "nest" and not use.inside:
            axis = _innermost(use.group, storages)
            votes += _neighbours(turned, use, axis, value) - _neighbours(plain, use, axis, value)
    return turned if votes > 0 else plain


def _innermost(group: Group, storages: Mapping[int, Storage]) -> int | None:
    """The axis of a group's points along which its results lie side by side."""
    shape = group.space
    root = max(group.roots, key=lambda value: value.index)
    storage = storages.get(root.index)
    if root.op == "setitem" or storage is None or storage.layout.shape != shape:
        strides = contiguous(shape, 1).strides
    else:
        strides = storage.layout.strides
    axes = [axis for axis, extent in enumerate(shape) if extent > 1]
    return min(axes, key=lambda axis: (abs(strides[axis]), -axis), default=None)


def _neighbours(layout: Layout, use: Use, axis: int | None, value: Value) -> bool:
    """Whether a use of a value in this layout reads neighbours along an axis."""
    try:
        for move in use.moves:
            layout = apply_view(layout, move.op, move.params, value.dtype.itemsize)
    except CopyNeeded:
        return False
    return axis is not None and layout.strides[axis] == value.dtype.itemsize


def _ordered(value: Value, order: Order) -> Layout:
    shape, itemsize = value.shape, value.dtype.itemsize
    if order == "C":
        return permuted(shape, tuple(range(len(shape))), itemsize)
    if order == "F":
        return fortran(shape, itemsize)
    assert isinstance(order, tuple)
    return permuted(shape, order, itemsize)
