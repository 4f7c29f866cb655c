"""Native steps to a Plan: argument blocks, arena, launches.

Takes a run of steps between two host calls; gives a `Plan` of the runtime and the list of what it
is called with. Called by `program.py`. Next: `cost.py` for chunks, `kernels.py` for addresses,
`runtime/plan.py` for what a Plan is.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from numen.compiler.codegen.llvm import scratch_bytes
from numen.compiler.codegen.llvm.gemm_plan import plan_gemm
from numen.compiler.cost import (
    RELEASE_GIL,
    LaunchShape,
    launch_shapes,
    total_cost,
)
from numen.compiler.kernels import KernelKey, gemm_address, isa, kernel_addresses
from numen.compiler.nest import (
    BLOCK,
    slot_count,
    slot_extent,
    slot_grain,
    slot_pointer,
    slot_scalar,
    slot_scratch,
    slot_stride,
    slot_units,
)
from numen.compiler.passes.arena import Arena
from numen.compiler.passes.build import Kernel
from numen.compiler.passes.schedule import GemmStep, NestStep
from numen.compiler.passes.storage import Storage
from numen.runtime.plan import Plan
from numen.runtime.threads import num_threads

NativeStep = NestStep | GemmStep
Argument = Storage | int
"""What a plan is called with: the array of a storage, or the scalar input of that number."""

WORD = 8


@dataclass
class NativeRun:
    """A plan and its arguments, in order."""

    plan: Plan
    arguments: tuple[Argument, ...]


def plan_run(
    steps: Sequence[NativeStep], scalar_dtypes: Mapping[int, str], arena: frozenset[Storage]
) -> NativeRun:
    """Make the plan of a run; storages in `arena` live in the plan's own memory."""
    return _Planner(steps, scalar_dtypes, arena).finish()


@dataclass
class _Launch:
    """A kernel's launch before addresses are known."""

    frame_offset: int
    chunks: int
    kernel: KernelKey | None = None
    gemm: tuple[str, str] | None = None


@dataclass
class _Planner:
    steps: Sequence[NativeStep]
    scalar_dtypes: Mapping[int, str]
    arena: frozenset[Storage]
    words: list[int | float] = field(default_factory=list)
    patches: list[tuple[int, Argument | Literal["arena"], int]] = field(default_factory=list)
    launches: list[_Launch] = field(default_factory=list)
    cost: float = 0.0

    def __post_init__(self) -> None:
        self.memory = Arena()
        last_use: dict[Storage, int] = {}
        for number, step in enumerate(self.steps):
            for storage in storages_of(step):
                last_use[storage] = number
        offsets: dict[Storage, int] = {}
        self.offsets = offsets
        for number, step in enumerate(self.steps):
            for storage in storages_of(step):
                if storage in self.arena and storage not in offsets:
                    offsets[storage] = self.memory.take(storage.nbytes)
            if isinstance(step, NestStep):
                self._nest(step.kernel)
            else:
                self._gemm(step)
            for storage in storages_of(step):
                if storage in offsets and last_use[storage] == number:
                    self.memory.give(offsets[storage])

    # Argument blocks

    def _pointer(self, slot: int, storage: Storage, offset: int) -> None:
        if storage in self.offsets:
            self.patches.append((WORD * slot, "arena", self.offsets[storage] + offset))
        else:
            self.patches.append((WORD * slot, storage, offset))

    def _nest(self, kernel: Kernel) -> None:
        nest, extents = kernel.nest, kernel.extents
        shapes = launch_shapes(nest, extents)
        self.cost += total_cost(nest, extents)
        scratch = None
        if len(shapes) > 1:
            points, blocks = math.prod(extents[:-1]), -(-extents[-1] // BLOCK)
            scratch = self.memory.take(scratch_bytes(nest, points, blocks))
        for shape in shapes:
            self._nest_launch(kernel, shape, scratch)
        if scratch is not None:
            self.memory.give(scratch)

    def _nest_launch(self, kernel: Kernel, shape: LaunchShape, scratch: int | None) -> None:
        nest = kernel.nest
        start = len(self.words)
        block: list[int | float] = [0] * slot_count(nest)
        block[slot_units()] = shape.units
        block[slot_grain()] = shape.grain
        if scratch is not None:
            self.patches.append((WORD * (start + slot_scratch()), "arena", scratch))
        for axis, extent in enumerate(kernel.extents):
            block[slot_extent(axis)] = extent
        operands = zip((*kernel.loads, *kernel.stores), kernel.strides, strict=True)
        for number, (access, strides) in enumerate(operands):
            self._pointer(start + slot_pointer(nest, number), access.storage, access.layout.offset)
            for axis, stride in enumerate(strides):
                block[slot_stride(nest, number, axis)] = stride
        for number, scalar in enumerate(kernel.scalars):
            slot = slot_scalar(nest, number)
            if scalar.number is None:
                block[slot] = float(scalar.value) if scalar.dtype == "float64" else scalar.value
            else:
                self.patches.append((WORD * (start + slot), scalar.number, 0))
        self.words += block
        key = (nest, shape.variant)
        self.launches.append(_Launch(WORD * start, shape.chunks, kernel=key))

    def _gemm(self, step: GemmStep) -> None:
        operands = {"A": step.a, "B": step.b, "C": step.c}
        if step.transposed:
            operands = {"A": step.b, "B": step.a, "C": step.c}
        layouts = {
            name: layout.swapped() if step.transposed else layout
            for name, (_, layout) in operands.items()
        }
        m, k = layouts["A"].shape[-2:]
        *batch, _, n = layouts["C"].shape
        a, b, c = (layouts[name].strides for name in "ABC")
        plan = plan_gemm(m, n, k, batch, a, b, c, step.dtype, isa(), num_threads())
        self.cost += 2.0 * m * n * k * math.prod(batch) / 40.0
        scratch = self.memory.take(plan.scratch) if plan.scratch else None
        for launch in plan.launches:
            start = len(self.words)
            for slot, argument in enumerate(launch.args):
                if isinstance(argument, int):
                    self.words.append(argument)
                    continue
                self.words.append(0)
                name, offset = argument
                if name == "scratch":
                    assert scratch is not None
                    self.patches.append((WORD * (start + slot), "arena", scratch + offset))
                else:
                    storage, _ = operands[name]
                    self._pointer(start + slot, storage, layouts[name].offset + offset)
            function = (step.dtype, launch.function)
            self.launches.append(_Launch(WORD * start, launch.chunks, gemm=function))
        if scratch is not None:
            self.memory.give(scratch)

    # The plan

    def finish(self) -> NativeRun:
        kernels = [launch.kernel for launch in self.launches if launch.kernel is not None]
        found = iter(kernel_addresses(kernels))
        addresses = [
            gemm_address(*launch.gemm) if launch.gemm else next(found) for launch in self.launches
        ]
        arguments: list[Argument] = []
        for _, argument, _ in self.patches:
            if argument != "arena" and argument not in arguments:
                arguments.append(argument)
        numbers: dict[Argument | str, int] = {a: i for i, a in enumerate(arguments)}
        numbers["arena"] = len(arguments)
        plan = Plan(
            slots=[
                "array" if isinstance(argument, Storage) else self._scalar_slot(argument)
                for argument in arguments
            ],
            frame=b"".join(
                struct.pack("=d" if isinstance(w, float) else "=q", w) for w in self.words
            ),
            patches=[(offset, numbers[argument], add) for offset, argument, add in self.patches],
            launches=[
                (address, launch.frame_offset, launch.chunks)
                for address, launch in zip(addresses, self.launches, strict=True)
            ],
            arena_bytes=self.memory.size,
            release_gil=self.cost > RELEASE_GIL,
            serial=all(launch.chunks <= 1 for launch in self.launches),
        )
        return NativeRun(plan, tuple(arguments))

    def _scalar_slot(self, number: int) -> Literal["float", "int"]:
        return "float" if self.scalar_dtypes[number] == "float64" else "int"


def storages_of(step: NativeStep) -> list[Storage]:
    """The storages that a step touches, each once."""
    if isinstance(step, GemmStep):
        found = [step.a[0], step.b[0], step.c[0]]
    else:
        kernel = step.kernel
        found = [access.storage for access in (*kernel.loads, *kernel.stores)]
    return list(dict.fromkeys(found))
