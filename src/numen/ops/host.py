"""Host calls of compiled programs: where an op has no kernel, a program runs the row's own impl.

So a compiled program and an eager call give the same bits there. A graph's `setitem` names the
steps of its path; here they become rows again. Imported by `numen.ops` for its effect. Next:
`compiler/host.py`.
"""

from __future__ import annotations

from typing import Any

from numen.compiler.host import register_host
from numen.graph.infer import PARTS
from numen.ops.registry import table

GraphPath = tuple[tuple[str, tuple[tuple[str, Any], ...]], ...]


def _setitem(base: Any, value: Any, path: GraphPath) -> Any:
    steps = tuple([(table[name], dict(params)) for name, params in path])
    if any([name in PARTS for name, _ in path]):
        value = value.real  # the graph gave it the dtype of the complex base
    return table["setitem"].impl(base, value, path=steps)


for _name, _row in table.items():
    register_host(_name, _setitem if _name == "setitem" else _row.impl)
