"""A compiled graph as a callable: `compile_graph(graph)` gives a `Program`.

Takes a graph; the pipeline's steps become one Python function that allocates the outputs, calls one
plan per run of native steps and the host functions between them. Called by the tracer and by eager
kernels (`eager.py`). Next: `pipeline.py`, then `native.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from numen.compiler.host import VIEW_FUNCTIONS, host_function
from numen.compiler.interpret import run_steps
from numen.compiler.native import NativeStep, plan_run, storages_of
from numen.compiler.nest_text import format_nest
from numen.compiler.passes.layout import contiguous, dense_order, fortran
from numen.compiler.passes.schedule import (
    GemmStep,
    HostArgument,
    HostStep,
    HostWrite,
    NestStep,
    Schedule,
    Step,
)
from numen.compiler.passes.storage import Order, Storage
from numen.compiler.pipeline import compile_steps
from numen.errors import InternalError
from numen.graph.graph import Graph, Value
from numen.graph.types import plain_name
from numen.graph.verify import verify

Array = NDArray[Any]
Target = Literal["native", "python"]


class Program:
    """A compiled graph. Call it with the graph's inputs; it returns the outputs, fresh arrays.

    Arrays must have exactly the dtype, shape and strides of the graph's inputs and be plain,
    aligned `np.ndarray`s (nothing is checked), scalars are Python numbers. Inputs that the graph
    writes to are updated in place; they must not overlap other inputs. Any number of threads may
    call one program. Exceptions of host calls are NumPy's.

    Attributes
    ----------
    graph : Graph
        What was compiled.
    schedule : Schedule
        The optimised graph and the steps.
    """

    __slots__ = ("_call", "graph", "orders", "schedule", "source", "target")

    def __init__(
        self, graph: Graph, schedule: Schedule, orders: Sequence[Order], target: Target
    ) -> None:
        self.graph = graph
        self.schedule = schedule
        self.orders = tuple(orders)
        self.target = target
        writer = _Writer(self)
        self.source = writer.source
        self._call = writer.function

    def __call__(self, *inputs: Any) -> list[Array]:
        return self._call(*inputs)

    @property
    def call(self) -> Callable[..., list[Array]]:
        """The generated function itself: the fastest way to call the program."""
        return self._call

    def text(self) -> str:
        """The graph, its optimised form, the steps with their nests, and the calling function."""
        parts = ["graph:", str(self.graph), "optimised:", str(self.schedule.graph), "steps:"]
        names = _storage_names(self.schedule)
        for number, step in enumerate(self.schedule.steps):
            parts.append(f"step {number}: {_step_text(step, names)}")
        return "\n".join([*parts, "", "call:", self.source])


def compile_graph(
    graph: Graph, target: Target = "native", orders: Sequence[Order] | None = None
) -> Program:
    """Compile a graph.

    Parameters
    ----------
    graph : Graph
        With concrete shapes.
    target : {"native", "python"}
        Machine code, or the Python target, which gives the same bits.
    orders : sequence of {"C", "F"} or tuple, optional
        Memory order of each output: "C", "F", or its axes from the outermost in memory to the
        innermost.

    Raises
    ------
    InternalError
        If the graph is not well formed, or an op has neither a kernel nor a host function.
    CompileError
        If this platform has no native code.
    """
    verify(graph)
    orders = ["C"] * len(graph.outputs) if orders is None else list(orders)
    if len(orders) != len(graph.outputs):
        raise InternalError(f"{len(orders)} orders for {len(graph.outputs)} outputs\n{graph}")
    return Program(graph, compile_steps(graph, orders), orders, target)


# What a call looks like


class _Writer:
    """Writes the Python function of a program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.schedule = program.schedule
        self.graph = program.schedule.graph
        self.inputs = [f"a{number}" for number in range(len(self.graph.inputs))]
        self.names: dict[Storage, str] = {}
        self.globals: dict[str, Any] = {"empty": np.empty}
        self.lines: list[str] = []
        for name, value in zip(self.inputs, self.graph.inputs, strict=True):
            if value.index in self.schedule.storages:
                self.names[self.schedule.storages[value.index]] = name
        self.runs = _split(self.schedule.steps)
        self.arena = self._arena_storages()
        for number, value in enumerate(self.graph.outputs):
            storage = self.schedule.storages[value.index]
            if storage.kind == "output":
                self._allocate(storage, f"o{number}")
        self._write_steps()
        outputs = ", ".join(self._output(n, v) for n, v in enumerate(self.graph.outputs))
        self.lines.append(f"return [{outputs}]")
        self.source = self._source()
        exec(compile(self.source, "<numen program>", "exec"), self.globals)
        self.function: Callable[..., list[Array]] = self.globals["call"]

    def _source(self) -> str:
        has_host = any(isinstance(step, HostStep) for step in self.schedule.steps)
        lines = self.lines
        if has_host:  # kernels never warn, so host calls of a program do not either
            self.globals["errstate"] = np.errstate
            lines = ["with errstate(all='ignore'):", *("    " + line for line in lines)]
        body = "\n".join("    " + line for line in lines)
        return f"def call({', '.join(self.inputs)}):\n{body}\n"

    def _constant(self, prefix: str, value: Any) -> str:
        name = f"{prefix}{len(self.globals)}"
        self.globals[name] = value
        return name

    def _arena_storages(self) -> frozenset[Storage]:
        """Local storages that one native run alone touches."""
        users: dict[Storage, set[int]] = {}
        for number, run in enumerate(self.runs):
            for step in run:
                for storage in _touched(step):
                    users.setdefault(storage, set()).add(
                        number if isinstance(step, NestStep | GemmStep) else -1
                    )
        return frozenset(
            storage
            for storage, runs in users.items()
            if storage.kind == "local" and len(runs) == 1 and -1 not in runs
        )

    def _allocate(self, storage: Storage, name: str) -> None:
        dtype = self._constant("dtype", storage.dtype)
        layout = storage.layout
        shape, itemsize = layout.shape, storage.dtype.itemsize
        if layout == contiguous(shape, itemsize):
            text = f"empty({shape}, {dtype})"
        elif layout == fortran(shape, itemsize):
            text = f"empty({shape}, {dtype}, 'F')"
        else:
            order = dense_order(layout.strides)
            inverse = tuple(order.index(axis) for axis in range(len(order)))
            text = f"empty({tuple(shape[a] for a in order)}, {dtype}).transpose({inverse})"
        self.lines.append(f"{name} = {text}")
        self.names[storage] = name

    def _write_steps(self) -> None:
        for run in self.runs:
            first = run[0]
            if isinstance(first, HostStep):
                self._write_host(first)
            elif isinstance(first, HostWrite):
                copyto = self._constant("copyto", np.copyto)
                self.lines.append(
                    f"{copyto}({self.inputs[first.number]}, {self.names[first.storage]})"
                )
            else:
                self._write_native([s for s in run if isinstance(s, NestStep | GemmStep)])

    def _write_native(self, steps: list[NativeStep]) -> None:
        python = self.program.target == "python"
        for step in steps:
            for storage in storages_of(step):
                local = storage.kind == "local" and (python or storage not in self.arena)
                if local and storage not in self.names:
                    self._allocate(storage, f"t{len(self.names)}")
        if python:
            self._write_python(steps)
            return
        dtypes = {n: plain_name(v.dtype) for n, v in enumerate(self.graph.inputs)}
        run = plan_run(steps, dtypes, self.arena)
        arguments = [self.inputs[a] if isinstance(a, int) else self.names[a] for a in run.arguments]
        self.globals[f"plan{len(self.globals)}"] = run.plan
        name = self._constant("run", run.plan.run)
        self.lines.append(f"{name}({', '.join(arguments)})")

    def _write_python(self, steps: list[NativeStep]) -> None:
        used = list(dict.fromkeys(s for step in steps for s in storages_of(step)))
        keys = [self._constant("storage", storage) for storage in used]
        arrays = ", ".join(f"{k}: {self.names[s]}" for k, s in zip(keys, used, strict=True))
        scalars = ", ".join(
            f"{number}: {name}"
            for number, (name, value) in enumerate(zip(self.inputs, self.graph.inputs, strict=True))
            if value.param("kind") == "scalar"
        )
        run = self._constant("run", run_steps)
        listed = self._constant("steps", tuple(steps))
        self.lines.append(f"{run}({listed}, {{{arrays}}}, {{{scalars}}})")

    def _write_host(self, step: HostStep) -> None:
        args = [self._host_argument(argument) for argument in step.args]
        function = self._constant("host", host_function(step.name))
        keywords = [f"{key}={self._constant('param', item)}" for key, item in step.params]
        expected = self._constant("expected", (step.name, step.result.dtype, step.result.shape))
        owned = self._constant("owned", _owned)
        name = f"h{len(self.names)}"
        call = f"{function}({', '.join([*args, *keywords])})"
        self.lines.append(
            f"{name} = {owned}({call}, {expected}, ({''.join(a + ', ' for a in args)}))"
        )
        self.names[step.storage] = name

    def _host_argument(self, argument: HostArgument) -> str:
        value = argument.value
        if value.op == "const":
            text = self._constant("const", np.array(value.param("value"), value.dtype)[()])
        elif argument.storage is None:
            text = self.inputs[self.graph.inputs.index(value)]
        else:
            if argument.storage not in self.names:  # no step writes an empty array
                self._allocate(argument.storage, f"t{len(self.names)}")
            text = self.names[argument.storage]
        for move in argument.moves:
            view = self._constant("view", VIEW_FUNCTIONS[move.op])
            keywords = [f"{k}={self._constant('param', item)}" for k, item in move.params.items()]
            text = f"{view}({', '.join([text, *keywords])})"
        return text

    def _output(self, number: int, value: Value) -> str:
        name = self.names[self.schedule.storages[value.index]]
        order = self.program.orders[number]
        if self.schedule.storages[value.index].kind != "host" or order == "C":
            return name
        return f"{self._constant('ordered', _ordered)}({name}, {order!r})"


def _split(steps: Sequence[Step]) -> list[list[Step]]:
    """Native steps that follow each other form one run; every other step stands alone."""
    runs: list[list[Step]] = []
    for step in steps:
        native = isinstance(step, NestStep | GemmStep)
        if native and runs and isinstance(runs[-1][0], NestStep | GemmStep):
            runs[-1].append(step)
        else:
            runs.append([step])
    return runs


def _touched(step: Step) -> list[Storage]:
    if isinstance(step, HostStep):
        return [step.storage, *(a.storage for a in step.args if a.storage is not None)]
    if isinstance(step, HostWrite):
        return [step.storage]
    return storages_of(step)


def _owned(
    result: Any, expected: tuple[str, np.dtype, tuple[int, ...]], args: tuple[Any, ...]
) -> Array:
    """A host call's result, C-contiguous, that shares memory with none of its arguments."""
    name, dtype, shape = expected
    array: Array = np.asarray(result, order="C")
    if array.dtype != dtype or array.shape != shape:
        raise InternalError(
            f"host call {name}: expected {dtype} of shape {shape}, "
            f"got {array.dtype} of shape {array.shape}"
        )
    if array.base is None and array.flags.owndata and not any(array is arg for arg in args):
        return array
    shared = any(isinstance(arg, np.ndarray) and np.may_share_memory(array, arg) for arg in args)
    return array.copy() if shared or not array.flags.writeable else array


def _ordered(array: Array, order: Order) -> Array:
    if order == "F":
        return np.asarray(array, order="F")
    assert isinstance(order, tuple)
    inverse = tuple(order.index(axis) for axis in range(len(order)))
    return np.array(array.transpose(order), order="C").transpose(inverse)


# Text


def _storage_names(schedule: Schedule) -> Mapping[Storage, str]:
    names: dict[Storage, str] = {}
    for storage in dict.fromkeys(schedule.storages.values()):
        number = storage.number if storage.number >= 0 else len(names)
        names[storage] = f"{storage.kind}{number}"
    return names


def _step_text(step: Step, names: Mapping[Storage, str]) -> str:
    if isinstance(step, HostStep):
        args = ", ".join(
            names[a.storage] if a.storage is not None else f"%{a.value.index}" for a in step.args
        )
        return f"{names[step.storage]} = host {step.name}({args})"
    if isinstance(step, HostWrite):
        return f"input{step.number} = {names[step.storage]}"
    if isinstance(step, GemmStep):
        a, b, c = (f"{names[s]}{layout.shape}" for s, layout in (step.a, step.b, step.c))
        return f"{c} = {a} @ {b}"
    kernel = step.kernel
    lines = [f"nest over {kernel.extents}"]
    for number, access in enumerate((*kernel.loads, *kernel.stores)):
        strides = kernel.strides[number]
        lines.append(
            f"  buffer {number}: {names[access.storage]} + {access.layout.offset} by {strides}"
        )
    for number, scalar in enumerate(kernel.scalars):
        source = repr(scalar.value) if scalar.number is None else f"input {scalar.number}"
        lines.append(f"  scalar {number}: {source}")
    return "\n".join([*lines, format_nest(kernel.nest)])
