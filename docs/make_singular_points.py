"""Write docs/singular_points.md from the points in `singular_list.py`.

`make docs` runs this; `tests/gradients/test_singular_points.py` evaluates the points on every path
and says when the page is out of date.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from singular_list import SECTIONS, Point, Section

PAGE = Path(__file__).parent / "singular_points.md"

HEAD = """# Singular points

What value and what gradient an op has where its derivative is infinite, jumps or does not exist.
The gradient is that of the sum of the results. The tests evaluate every line eagerly, with NumPy
and with kernels, as a recorded gradient, in forward mode and under `nm.jit`, in float32 and
float64: it is the same everywhere (`tests/gradients/test_singular_points.py`). `F` is
`nm.nn.functional`; the last column says what PyTorch gives where that differs.
"""


def shown(value: Any) -> str:
    """A number or nested list, as short as it can be read."""
    if isinstance(value, list):
        return f"[{', '.join([shown(v) for v in value])}]"
    return f"{value:.5g}"


def line(point: Point) -> str:
    at = ", ".join([f"{name} = {shown(value)}" for name, value in point.at.items()])
    gradients = "; ".join([shown(g) for g in point.gradients])
    text = point.text.replace("|", "\\|")
    cells = [f"`{text}`", at, shown(point.value), gradients, point.note, point.torch]
    return f"| {' | '.join(cells)} |"


def table(section: Section) -> str:
    rows = "\n".join([line(point) for point in section.points])
    head = "| op | at | value | gradient | | PyTorch |\n|---|---|---|---|---|---|"
    return f"## {section.title}\n\n{section.rule}\n\n{head}\n{rows}\n"


def render() -> str:
    """The page as it should be."""
    return "\n".join([HEAD, *[table(section) for section in SECTIONS]])


if __name__ == "__main__":
    if "--check" not in sys.argv:
        PAGE.write_text(render())
    else:
        sys.exit(
            render() != PAGE.read_text() and "docs/singular_points.md is out of date: make docs"
        )
