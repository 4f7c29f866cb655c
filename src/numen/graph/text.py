"""The stable text of a graph: what `str(graph)` returns, and the text form of params.

Printed by `explain`, golden tests and error texts. One value a line, as in
`%2 = sum(%0; axis=(0,), keepdims=False) float32[3]`. Params are Python literals, `slice(...)`,
`dtype('...')` and `Dim('B', 1, 0)`; floats are written by repr, which is exact. Next: `parser.py`.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import numpy as np

from numen.errors import FormatError
from numen.graph.types import Dim, dtype_name

if TYPE_CHECKING:
    from numen.graph.graph import Graph, Value


def format_graph(graph: Graph) -> str:
    """Return the text, one line per value, write and output list."""
    lines = [format_value(value) for value in graph.values]
    lines += [f"write {number} <- %{value.index}" for number, value in graph.writes]
    lines.append("return " + ", ".join(f"%{value.index}" for value in graph.outputs))
    return "\n".join(line.rstrip() for line in lines) + "\n"


def format_value(value: Value) -> str:
    args = ", ".join(f"%{arg.index}" for arg in value.args)
    params = ", ".join(f"{key}={format_param(item)}" for key, item in value.params)
    inside = f"{args}; {params}" if args and params else args or params
    return f"%{value.index} = {value.op}({inside}) {value.type}"


def format_param(item: Any) -> str:
    """Return a param as text that `parse_param` reads back."""
    if isinstance(item, tuple):
        inside = ", ".join(map(format_param, item))
        return f"({inside},)" if len(item) == 1 else f"({inside})"
    if isinstance(item, slice):
        return f"slice({', '.join(format_param(v) for v in (item.start, item.stop, item.step))})"
    if isinstance(item, np.dtype):
        return f"dtype({dtype_name(item)!r})"
    if isinstance(item, Dim):
        return f"Dim({item.name!r}, {item.scale}, {item.offset})"
    if isinstance(item, complex):
        return f"complex({item.real!r}, {item.imag!r})"
    if isinstance(item, np.generic):
        return format_param(item.item())
    return repr(item)


def parse_param(text: str) -> Any:
    """Read one param back."""
    try:
        return literal(ast.parse(text.strip(), mode="eval").body)
    except SyntaxError as error:
        raise FormatError(f"graph text: {text!r} is no param") from error


def literal(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Tuple(elts=items):
            return tuple(literal(item) for item in items)
        case ast.Name(id="nan"):
            return float("nan")
        case ast.Name(id="inf"):
            return float("inf")
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -literal(operand)
        case ast.Call(func=ast.Name(id=name), args=args) if name in _CALLS:
            return _CALLS[name](*(literal(arg) for arg in args))
    raise FormatError(f"graph text: {ast.unparse(node)!r} is no param")


_CALLS: dict[str, Any] = {"slice": slice, "dtype": np.dtype, "Dim": Dim, "complex": complex}
