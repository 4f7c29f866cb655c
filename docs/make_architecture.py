"""Print the boxes of docs/architecture.md by running the expression that the page follows.

`make docs` writes them between the page's marks; `render()` gives the whole page as it should be,
which `tests/test_docs.py` compares with the file. What depends on the machine (times, addresses) is
not printed.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import numen as nm
from numen.compiler import pipeline
from numen.compiler.codegen.cuda import emit_cuda
from numen.compiler.codegen.llvm import emit_kernel
from numen.compiler.codegen.python import execute
from numen.compiler.nest import Nest
from numen.compiler.nest_text import format_nest
from numen.compiler.passes.schedule import NestStep
from numen.graph.graph import Graph
from numen.ops import table

PAGE = Path(__file__).parent / "architecture.md"
BOX = re.compile(r"(<!-- printed: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
ROWS, COLUMNS = 3, 4


def f(x: Any, w: Any) -> Any:
    return nm.sqrt(x * w + 0.5).mean(axis=1)


def arguments() -> tuple[Any, Any]:
    x = nm.array(np.arange(ROWS * COLUMNS, dtype=np.float32).reshape(ROWS, COLUMNS))
    w = nm.array(np.full(COLUMNS, 2, np.float32), requires_grad=True)
    return x, w


# ------------------------------------------------------------ the boxes


def call() -> Iterator[str]:
    x, w = arguments()
    yield ">>> x, w"
    yield f"({x!r},\n {w!r})"
    yield ">>> f(x, w)"
    yield repr(f(x, w))


def row() -> Iterator[str]:
    sqrt = table["sqrt"]
    yield ">>> numen.ops.table['sqrt']"
    for name in ("name", "impl", "exact", "view", "saves_for", "saves_out"):
        yield f"{name:<10} {getattr(sqrt, name)!r}"
    (slope,) = sqrt.vjp((True,), np.float32(1), np.float32(3), None)
    yield f"{'vjp':<10} of 1, where o is 3: {slope!r}"


def nodes() -> Iterator[str]:
    x, w = arguments()
    y = f(x, w)
    node, depth = y._n, 0
    while node is not None:
        primitive = getattr(node, "prim", None)
        name = "leaf w" if primitive is None else primitive.name
        yield f"{'  ' * depth}{name} {node.dtype} {tuple(node.shape)}"
        parents = [parent for parent in getattr(node, "parents", ()) if parent is not None]
        node, depth = (parents[0] if parents else None), depth + 1
    y.backward(nm.ones(ROWS, dtype=np.float32))
    yield f">>> y.backward(nm.ones({ROWS}, dtype=np.float32)); w.grad"
    yield repr(w.grad)


def traced() -> tuple[Any, Graph]:
    """The jitted function after three calls without gradients, and the graph of its one segment."""
    compiled = nm.jit(f)
    x, w = arguments()
    with nm.no_grad():
        for _ in range(3):
            compiled(x, w)
    (entries,) = compiled._entries.values()
    tree = entries[0].tree
    return compiled, tree.program(tree.root)[1].graph


def explain() -> Iterator[str]:
    compiled, _ = traced()
    yield re.sub(r" at 0x[0-9a-f]+", "", str(nm.explain(compiled)))


def graph() -> Iterator[str]:
    yield str(traced()[1])


def passes() -> Iterator[str]:
    before = traced()[1]
    unchanged = []
    for name, after in pipeline.stages(before):
        if str(after) == str(before):
            unchanged.append(name)
        else:
            yield f"after {name}:\n{after}"
        before = after
    yield f"changed nothing: {', '.join(unchanged)}"


def nest_of() -> tuple[Nest, Any]:
    schedule = pipeline.compile_steps(traced()[1])
    (step,) = (step for step in schedule.steps if isinstance(step, NestStep))
    return step.kernel.nest, step.kernel


def nest() -> Iterator[str]:
    text, kernel = nest_of()
    yield format_nest(text)
    yield f"this call: extents {kernel.extents}, byte strides {kernel.strides}"


def python() -> Iterator[str]:
    loop, kernel = nest_of()
    x, w = (array.detach().numpy() for array in arguments())
    flat = x.reshape(kernel.extents), np.broadcast_to(w, x.shape).reshape(kernel.extents)
    out = np.zeros((*kernel.extents[:-1], 1), np.float32)
    scalars = [scalar.value for scalar in kernel.scalars]
    operands = {"x": flat[0], "w": flat[1]}
    order = [operands["w"] if 0 in strides else operands["x"] for strides in kernel.strides[:2]]
    execute(loop, kernel.extents, [*order, out], scalars)
    yield ">>> execute(nest, extents, [x, w, out], scalars); out"
    yield repr(out)


def llvm() -> Iterator[str]:
    text = emit_kernel(nest_of()[0], "kernel")
    blocks = re.split(r"\n(?=\w+:\n)", text.split("\n}")[0])
    loop = next(block for block in blocks if "@llvm.sqrt.v16f32" in block)
    fold = next(block for block in blocks if "= extractelement <2 x float>" in block)
    yield f"; the loop and the fold, 2 of {len(blocks)} blocks"
    yield loop
    yield fold


def cuda() -> Iterator[str]:
    yield emit_cuda(nest_of()[0], "kernel").source


def run() -> Iterator[str]:
    x, w = arguments()
    compiled = nm.jit(f)
    with nm.no_grad():
        compiled(x, w), compiled(x, w), compiled(x, w)
        before = nm.profile.counters()
        compiled(nm.zeros((50, COLUMNS), dtype=np.float32), w)
        compiled(nm.zeros((50, COLUMNS), dtype=np.float32), w)
        after = nm.profile.counters()
    built = sum(
        after.get(name, 0) - before.get(name, 0) for name in ("kernels_compiled", "kernels_loaded")
    )
    yield f"kernels built for the batch of 50 after that of {ROWS}: {built}"


BOXES: tuple[Callable[[], Iterator[str]], ...] = (
    *(call, row, nodes, explain, graph, passes),
    *(nest, python, llvm, cuda, run),
)


def render() -> str:
    """The page with every box printed anew."""
    made = {box.__name__: "\n".join(part.rstrip(" ") for part in box()) for box in BOXES}

    def fill(match: re.Match[str]) -> str:
        return f"{match[1]}```\n{made[match[2]].rstrip()}\n```\n{match[3]}"

    return BOX.sub(fill, PAGE.read_text())


if __name__ == "__main__":
    page = render()
    if "--check" in sys.argv:
        sys.exit(page != PAGE.read_text() and "docs/architecture.md is out of date: make docs")
    PAGE.write_text(page)
