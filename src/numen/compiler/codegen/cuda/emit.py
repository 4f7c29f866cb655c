"""A loop nest as CUDA C++ text, with the launch shape that fits given extents.

Comes from `compiler/passes/schedule.py`; the text goes to NVRTC or nvcc (`toolchain.py`) or, on a
machine without a GPU, to the shim (`shim/`), which runs the very same text. The results have the
bits of `codegen/python`. Next: `spelling.py` for single instructions.

A kernel's parameters are the argument block of `nest.py` from slot 3 on, 8 bytes each: extents,
then per buffer its pointer and byte strides, then scalars. Maps walk their elements in a
grid-stride loop. In a reduction 16 threads are the 16 lanes of the numerics contract, and a CUDA
block has 16 such groups. Up to one block of elements a group reduces an output point by itself.
Beyond, the CUDA block shares a point: group g takes the blocks g, g + 16, ..., which are just the
partials that lane g of the contract's second round folds, in this order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from numen.compiler.codegen.cuda.spelling import MEMORY_TYPES, TYPES, constant, expression
from numen.compiler.nest import BLOCK, LANES, Instr, Nest
from numen.compiler.scalar import FLOATS, ITEMSIZE
from numen.errors import InternalError

THREADS = 256
"""Threads of a CUDA block."""

GROUPS = THREADS // LANES
"""Groups of a reduction's CUDA block. As many as LANES: a group's share of partials is a lane's."""

MAX_GRID = 65535
"""CUDA blocks of a launch at most; a grid-stride loop does the rest."""

_INDENT = "  "


class Launch(NamedTuple):
    """Blocks, threads of a block, bytes of dynamic shared memory. No blocks: nothing to do."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int


@dataclass(frozen=True)
class CudaKernel:
    """CUDA C++ `source` that defines the kernel `name` (extern "C") for `nest`."""

    source: str
    name: str
    nest: Nest

    def launch(self, extents: Sequence[int]) -> Launch:
        """Give the launch shape for these extents, one per axis."""
        if not self.nest.reduced:
            blocks = -(-math.prod(extents) // THREADS)
        else:
            points = math.prod(extents[:-1])
            blocks = points if extents[-1] > BLOCK else -(-points // GROUPS)
        return Launch((min(blocks, MAX_GRID), 1, 1), (THREADS, 1, 1), 0)

    def arguments(
        self,
        extents: Sequence[int],
        buffers: Iterable[tuple[int, Sequence[int]]],
        scalars: Iterable[float | int] = (),
    ) -> list[np.int64 | np.float64]:
        """Lay out the parameters: extents, (pointer, byte strides) of each buffer, scalars."""
        values: list[np.int64 | np.float64] = [np.int64(extent) for extent in extents]
        for pointer, strides in buffers:
            values += [np.int64(pointer), *(np.int64(stride) for stride in strides)]
        for value, dtype in zip(scalars, self.nest.scalars, strict=True):
            values.append(np.float64(value) if dtype == "float64" else np.int64(value))
        expected = self.nest.rank + len(self.nest.buffers) * (1 + self.nest.rank)
        if len(values) != expected + len(self.nest.scalars):
            raise InternalError(
                f"cuda: {self.name} got a wrong number of extents, buffers or strides"
            )
        return values


def emit_cuda(nest: Nest, name: str) -> CudaKernel:
    """Emit the kernel of a verified nest as `name`, a C identifier unique in the program."""
    writer = _Writer(nest, name)
    lines = writer.reduction() if nest.reduced else writer.map()
    return CudaKernel("\n".join(lines) + "\n", name, nest)


def _indented(lines: Iterable[str], levels: int = 1) -> Iterator[str]:
    return (_INDENT * levels + line if line else line for line in lines)


class _Writer:
    """Writes one nest. Instruction 3 is variable v3, axis 0 index i0, buffer 1 pointer b1."""

    def __init__(self, nest: Nest, name: str) -> None:
        self.nest = nest
        self.name = name
        self.reduces = [k for k, instr in enumerate(nest.body) if instr.op == "reduce"]

    # ---- parts that maps and reductions share

    def signature(self) -> list[str]:
        nest = self.nest
        rows = [[f"long long n{axis}" for axis in range(nest.rank)]]
        for b in range(len(nest.buffers)):
            strides = [f"long long b{b}s{axis}" for axis in range(nest.rank)]
            rows.append([f"unsigned char* b{b}", *strides])
        types = {"float64": "double", "int64": "long long"}
        rows.append([f"{types[dtype]} s{k}" for k, dtype in enumerate(nest.scalars)])
        body = ",\n    ".join(", ".join(row) for row in rows if row)
        bounds = f"__launch_bounds__({THREADS})"
        return [f'extern "C" __global__ void {bounds} {self.name}(', f"    {body}) {{"]

    def decode(self, flat: str, axes: range) -> list[str]:
        """Split a flat, row-major index into the indices of `axes`."""
        if not axes:
            return []
        lines = [f"long long rest = {flat};"] if len(axes) > 1 else []
        for axis in reversed(axes[1:]):
            lines += [f"const long long i{axis} = rest % n{axis};", f"rest /= n{axis};"]
        return [*lines, f"const long long i{axes[0]} = {'rest' if lines else flat};"]

    def address(self, b: int) -> str:
        buffer = self.nest.buffers[b]
        terms = [f"b{b}"]
        for axis, stride in enumerate(buffer.strides):
            if stride == "1":
                terms.append(f"i{axis} * {ITEMSIZE[buffer.dtype]}")
            elif stride == "s":
                terms.append(f"i{axis} * b{b}s{axis}")
        return " + ".join(terms)

    def value(self, instr: Instr) -> str:
        if instr.op == "load":
            assert isinstance(instr.attr, int)
            item = f"*(const {MEMORY_TYPES[instr.dtype]}*)({self.address(instr.attr)})"
            return f"{item} != 0" if instr.dtype == "bool" else item
        if instr.op in ("scalar", "index"):
            return f"{'s' if instr.op == 'scalar' else 'i'}{instr.attr}"
        names = [f"v{k}" for k in instr.args]
        return expression(instr, names, [self.nest.body[k].dtype for k in instr.args])

    def compute(
        self, wanted: Iterable[int], reduced: Callable[[int], str] | None = None
    ) -> list[str]:
        """Declare what `wanted` needs, in order; `reduced` spells the value of a reduce."""
        body = self.nest.body
        needed: dict[int, str] = {}
        pending = list(wanted)
        while pending:
            k = pending.pop()
            if k in needed:
                continue
            if reduced is not None and body[k].op == "reduce":
                needed[k] = reduced(k)
            else:
                needed[k] = self.value(body[k])
                pending += body[k].args
        return [f"const {TYPES[body[k].dtype]} v{k} = {needed[k]};" for k in sorted(needed)]

    def stores(self) -> list[str]:
        lines = []
        for store in self.nest.stores:
            kind = MEMORY_TYPES[self.nest.buffers[store.buffer].dtype]
            lines.append(f"*({kind}*)({self.address(store.buffer)}) = v{store.value};")
        return lines

    def outputs(self) -> list[int]:
        return [store.value for store in self.nest.stores]

    # ---- maps

    def map(self) -> list[str]:
        axes = range(self.nest.rank)
        total = " * ".join(f"n{axis}" for axis in axes) or "1"
        return [
            *self.signature(),
            f"  const long long total = {total};",
            "  const long long step = (long long)gridDim.x * blockDim.x;",
            "  long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;",
            "  for (; at < total; at += step) {",
            *_indented(self.decode("at", axes), 2),
            *_indented(self.compute(self.outputs()), 2),
            *_indented(self.stores(), 2),
            "  }",
            "}",
        ]

    # ---- reductions

    def reduction(self) -> list[str]:
        extent = f"n{self.nest.rank - 1}"
        outer = range(self.nest.rank - 1)
        points = " * ".join(f"n{axis}" for axis in outer) or "1"
        folds = [_Fold(self.name, k, self.nest) for k in self.reduces]
        return [
            *(line for fold in folds for line in fold.function()),
            *self.signature(),
            *(f"  __shared__ {fold.kind} partial{fold.k}[{GROUPS}];" for fold in folds),
            *(f"  __shared__ long long where{f.k}[{GROUPS}];" for f in folds if f.indexed),
            f"  const int lane = threadIdx.x % {LANES}, group = threadIdx.x / {LANES};",
            "  const unsigned lanes = 0xffffu << (threadIdx.x & 16);  // this half of a warp",
            f"  const bool together = {extent} > {BLOCK};  // the groups share a point",
            f"  const long long points = {points};",
            f"  const long long step = gridDim.x * (together ? 1LL : {GROUPS}LL);",
            f"  long long point = together ? blockIdx.x : blockIdx.x * {GROUPS}LL + group;",
            "  for (; point < points; point += step) {",
            *_indented(self.decode("point", outer), 2),
            *_indented(self.blocks(folds, extent), 2),
            "    if (together) {",
            *_indented(self.share(folds), 3),
            "    }",
            "    if (lane == 0 && (!together || group == 0)) {",
            *_indented(self.compute(self.outputs(), lambda k: self.reduced(k, extent)), 3),
            *_indented(self.stores(), 3),
            "    }",
            "  }",
            "}",
        ]

    def blocks(self, folds: list[_Fold], extent: str) -> list[str]:
        """Fold this group's blocks into total*: the lanes of a block, then the blocks in order."""
        index = f"i{self.nest.rank - 1}"
        values = [self.nest.body[k].args[0] for k in self.reduces]
        return [
            *(fold.declare("total") for fold in folds),
            f"long long begin = together ? group * {BLOCK}LL : 0;",
            f"for (; begin < {extent}; begin += {GROUPS * BLOCK}) {{",
            f"  const long long end = begin + {BLOCK} < {extent} ? begin + {BLOCK} : {extent};",
            *(f"  {fold.declare('part')}" for fold in folds),
            f"  for (long long {index} = begin + lane; {index} < end; {index} += {LANES}) {{",
            *_indented(self.compute(values), 2),
            *(f"    {f.add('part', f'v{v}', index)}" for f, v in zip(folds, values, strict=True)),
            "  }",
            *_indented(self.halve(folds, "part")),
            *(f"  {fold.add('total', f'part{fold.k}', f'part_at{fold.k}')}" for fold in folds),
            "}",
        ]

    def share(self, folds: list[_Fold]) -> list[str]:
        """Fold the groups' totals, by the lanes of the first group."""
        publish = [f"partial{fold.k}[group] = total{fold.k};" for fold in folds]
        publish += [f"where{fold.k}[group] = total_at{fold.k};" for fold in folds if fold.indexed]
        fetch = [f"total{fold.k} = partial{fold.k}[lane];" for fold in folds]
        fetch += [f"total_at{fold.k} = where{fold.k}[lane];" for fold in folds if fold.indexed]
        return [
            "if (lane == 0) {",
            *_indented(publish),
            "}",
            "__syncthreads();",
            "if (group == 0) {",
            *_indented(fetch),
            *_indented(self.halve(folds, "total")),
            "}",
            "__syncthreads();  // before the next point's totals",
        ]

    def halve(self, folds: list[_Fold], prefix: str) -> list[str]:
        """Fold lanes 8-15 into 0-7, 4-7 into 0-3 and so on; the result is in lane 0."""
        return [
            f"for (int half = {LANES // 2}; half > 0; half /= 2) {{",
            *(f"  {line}" for fold in folds for line in fold.halve(prefix)),
            "}",
        ]

    def reduced(self, k: int, extent: str) -> str:
        instr = self.nest.body[k]
        if instr.attr == "sum" and instr.dtype in FLOATS:
            zero = constant(0.0, instr.dtype)  # of no elements; the identity is -0.0
            return f"{extent} == 0 ? {zero} : total{k}"
        return f"total_at{k}" if instr.attr == "argmax" else f"total{k}"


class _Fold:
    """How one reduce instruction combines values. "argmax" carries an index beside the value."""

    def __init__(self, kernel: str, k: int, nest: Nest) -> None:
        instr = nest.body[k]
        self.k = k
        self.reduction = str(instr.attr)
        self.dtype = nest.body[instr.args[0]].dtype
        self.kind = TYPES[self.dtype]
        self.indexed = instr.attr == "argmax"
        self.called = f"{kernel}_{self.reduction}{k}"

    def function(self) -> list[str]:
        """Define the fold as a device function."""
        if self.indexed:
            return [
                "// The larger value, the first of equal ones; a NaN is larger than any number.",
                f"static __device__ __forceinline__ void {self.called}(",
                f"    {self.kind}& best, long long& at, {self.kind} value, long long index) {{",
                "  const bool larger = value > best || (value != value && best == best);",
                "  const bool same = value == best || (value != value && best != best);",
                "  if (larger || (same && index < at)) {",
                "    best = value;",
                "    at = index;",
                "  }",
                "}",
                "",
            ]
        if self.reduction == "sum":
            instr = Instr("add", (0, 1), self.dtype)
            result = expression(instr, ("a", "b"), (self.dtype, self.dtype))
        else:
            result = f"a {'>' if self.reduction == 'max' else '<'} b || a != a ? a : b"
        return [
            f"static __device__ __forceinline__ {self.kind} {self.called}(",
            f"    {self.kind} a, {self.kind} b) {{",
            f"  return {result};",
            "}",
            "",
        ]

    def declare(self, prefix: str) -> str:
        text = f"{self.kind} {prefix}{self.k} = {identity(self.reduction, self.dtype)};"
        return f"{text} long long {prefix}_at{self.k} = {2**63 - 1}LL;" if self.indexed else text

    def add(self, prefix: str, value: str, index: str) -> str:
        if self.indexed:
            return f"{self.called}({prefix}{self.k}, {prefix}_at{self.k}, {value}, {index});"
        return f"{prefix}{self.k} = {self.called}({prefix}{self.k}, {value});"

    def halve(self, prefix: str) -> list[str]:
        name = f"{prefix}{self.k}"
        if ITEMSIZE[self.dtype] < 4:  # shuffles move 4 or 8 bytes
            other = f"({self.kind}){_from_above(f'(int){name}')}"
        else:
            other = _from_above(name)
        if not self.indexed:
            return [f"{name} = {self.called}({name}, {other});"]
        return [
            f"const {self.kind} value{self.k} = {other};",
            f"const long long index{self.k} = {_from_above(f'{prefix}_at{self.k}')};",
            self.add(prefix, f"value{self.k}", f"index{self.k}"),
        ]


def _from_above(value: str) -> str:
    """Spell what lane + half holds."""
    return f"__shfl_down_sync(lanes, {value}, half, {LANES})"


def identity(reduction: str, dtype: str) -> str:
    """Spell the value that a lane starts with: it changes nothing that is folded into it."""
    if reduction == "sum":
        return constant(-0.0 if dtype in FLOATS else 0, dtype)
    sign = 1 if reduction == "min" else -1
    if dtype in FLOATS:
        return constant(sign * math.inf, dtype)
    if dtype == "bool":
        return constant(sign > 0, dtype)
    limits = np.iinfo(dtype)
    return constant(int(limits.max if sign > 0 else limits.min), dtype)
