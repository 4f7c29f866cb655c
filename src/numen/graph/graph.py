"""The graph: values in SSA order, the outputs, and the final content of mutated inputs.

Built op by op by the recorder or a caller of the compiler; types come from `infer.py`. A graph only
grows; passes make new ones. Values are immutable handles that belong to one graph. Next:
`infer.py`, then `text.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from numen.errors import InternalError
from numen.graph.infer import infer, normalize_params
from numen.graph.text import format_graph
from numen.graph.types import Kind, Shape, TensorType, concrete, contiguous_strides

Params = tuple[tuple[str, Any], ...]


class Value:
    """One result in a graph.

    `op` is an op's name, "input" or "const"; `args` are earlier values of the graph.
    """

    __slots__ = ("args", "index", "op", "params", "type")

    def __init__(
        self, index: int, op: str, args: tuple[Value, ...], params: Params, type: TensorType
    ) -> None:
        self.index = index
        self.op = op
        self.args = args
        self.params = params
        self.type = type

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape as ints; a symbolic extent raises."""
        return concrete(self.type.shape)

    @property
    def dtype(self) -> np.dtype:
        return self.type.dtype

    def param(self, name: str) -> Any:
        """Return one parameter; KeyError when there is none of that name."""
        for key, value in self.params:
            if key == name:
                return value
        raise KeyError(name)

    def __repr__(self) -> str:
        return f"%{self.index}: {self.op} {self.type}"


class Graph:
    """A functional program.

    outputs: the returned values. writes: (input index, value) pairs, the content that mutated
    inputs have at the end; an input index counts the inputs in their order of creation.
    """

    def __init__(self) -> None:
        self.values: list[Value] = []
        self.inputs: list[Value] = []
        self.outputs: list[Value] = []
        self.writes: list[tuple[int, Value]] = []

    def input(
        self,
        type: TensorType,
        name: str | None = None,
        strides: tuple[int, ...] | None = None,
        kind: Kind = "array",
    ) -> Value:
        """Add an input. `strides` are in bytes; None means C-contiguous (and is the one form of
        that).

        A "scalar" input is a Python number at run time, of type float64, int64 or bool and 0-d.
        """
        if strides is not None and strides == default_strides(type):
            strides = None
        params = (("kind", kind), ("name", name), ("strides", strides))
        value = self.append("input", (), params, type)
        self.inputs.append(value)
        return value

    def const(self, value: complex, dtype: Any) -> Value:
        """Add a 0-d constant: `value` rounded to `dtype`."""
        dtype = np.dtype(dtype)
        item = np.array(value).astype(dtype)
        if dtype.kind == "V":  # an extension float: kept as the float it equals
            item = item.astype(np.float64)
        return self.append("const", (), (("value", item.item()),), TensorType(dtype, ()))

    def op(
        self,
        name: str,
        args: Iterable[Value],
        params: Params | Mapping[str, Any] = (),
        type: TensorType | None = None,
    ) -> Value:
        """Add an op.

        The type is inferred. One that is given is checked, or believed for an op without a rule.
        """
        args = tuple(args)
        pairs = params.items() if isinstance(params, Mapping) else params
        arg_types = [arg.type for arg in args]
        fixed = normalize_params(name, arg_types, tuple(sorted(pairs)))
        inferred = infer(name, arg_types, dict(fixed), type)
        if type is not None and type != inferred:
            raise InternalError(f"{name} gives {inferred}, not {type}")
        return self.append(name, args, fixed, inferred)

    def append(self, op: str, args: tuple[Value, ...], params: Params, type: TensorType) -> Value:
        """Add a value whose params and type are known to be right, as a pass does."""
        value = Value(len(self.values), op, args, params, type)
        self.values.append(value)
        return value

    def __str__(self) -> str:
        return format_graph(self)

    def __eq__(self, other: object) -> bool:
        """Structural equality: the same text."""
        if not isinstance(other, Graph):
            return NotImplemented
        return str(self) == str(other)

    __hash__ = None  # type: ignore[assignment]


def default_strides(type: TensorType) -> tuple[int, ...] | None:
    """Return the byte strides of a C-contiguous array; None when an extent is symbolic."""
    shape: Shape = type.shape
    if all(isinstance(extent, int) for extent in shape):
        return contiguous_strides(concrete(shape), type.dtype.itemsize)
    return None


def input_strides(value: Value) -> tuple[int, ...]:
    """Return the byte strides of an input."""
    strides: tuple[int, ...] | None = value.param("strides")
    if strides is None:
        return contiguous_strides(value.shape, value.dtype.itemsize)
    return strides
