"""The reader of a graph's text: `parse(str(graph)) == graph`.

Takes what `text.py` prints and builds a Graph, every type checked on the way. Used by golden tests
and by whoever keeps graphs in files. Next: `verify.py`.
"""

from __future__ import annotations

import ast
import re
from typing import Any

import numpy as np

from numen.errors import FormatError
from numen.graph.graph import Graph
from numen.graph.text import literal
from numen.graph.types import Dim, Extent, TensorType

_VALUE = re.compile(
    r"%(?P<index>\d+) = (?P<op>\w+)\((?P<args>(?:%\d+(?:, )?)*)(?:; )?(?P<params>.*)\) "
    r"(?P<dtype>\S+?)\[(?P<shape>[^\[\]]*)\]"
)
_WRITE = re.compile(r"write (\d+) <- %(\d+)")
_EXTENT = re.compile(r"(?:(-?\d+)\*)?([A-Za-z_]\w*)([+-]\d+)?")


def parse(text: str) -> Graph:
    """Read a graph from its text. Raises FormatError where a line is not understood."""
    graph = Graph()
    for line in filter(None, map(str.strip, text.splitlines())):
        try:
            _parse_line(graph, line)
        except (IndexError, ValueError, KeyError, TypeError, SyntaxError) as error:
            raise FormatError(f"graph text: line {line!r}: {error}") from error
    return graph


def _parse_line(graph: Graph, line: str) -> None:
    if line.startswith("return"):
        names = filter(None, (name.strip() for name in line[len("return") :].split(",")))
        graph.outputs = [graph.values[int(name[1:])] for name in names]
    elif match := _WRITE.fullmatch(line):
        graph.writes.append((int(match[1]), graph.values[int(match[2])]))
    elif match := _VALUE.fullmatch(line):
        _parse_value(graph, match)
    else:
        raise FormatError(f"graph text: line {line!r} is not understood")


def _parse_value(graph: Graph, match: re.Match[str]) -> None:
    op = match["op"]
    args = [graph.values[int(name)] for name in re.findall(r"%(\d+)", match["args"])]
    extents = [part.strip() for part in match["shape"].split(",") if part.strip()]
    type = TensorType(np.dtype(match["dtype"]), tuple(_parse_extent(part) for part in extents))
    params = _parse_params(match["params"])
    if op == "input":
        value = graph.input(type, params["name"], params["strides"], params["kind"])
    elif op == "const":
        value = graph.const(params["value"], type.dtype)
    else:
        value = graph.op(op, args, params, type)
    if value.index != int(match["index"]):
        raise FormatError(f"graph text: %{match['index']} stands where %{value.index} is due")


def _parse_params(text: str) -> dict[str, Any]:
    call = ast.parse(f"f({text.strip()})", mode="eval").body
    assert isinstance(call, ast.Call)
    return {keyword.arg or "": literal(keyword.value) for keyword in call.keywords}


def _parse_extent(text: str) -> Extent:
    if text.lstrip("-").isdigit():
        return int(text)
    match = _EXTENT.fullmatch(text)
    if match is None:
        raise FormatError(f"graph text: {text!r} is no extent")
    return Dim(match[2], int(match[1] or 1), int(match[3] or 0))
