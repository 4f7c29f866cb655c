"""From which size on an eager op should run a compiled kernel: NumPy against kernels, op by op.

Run `python benchmarks/threshold.py [seconds per cell]`. Prints kernel time / NumPy time, the least
of many interleaved calls; below 1 the kernel is faster. `KERNEL_THRESHOLD` and `CHEAP_THRESHOLD` in
`dispatch/modes.py` come from this table.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import numen as nm
from numen.dispatch import modes

SIZES = tuple(1 << bits for bits in range(10, 25, 2))
"""Elements of the larger operand."""

ROW = 256
"""Columns of the two-dimensional operands."""

Op = Callable[[Any, Any], Any]

OPS: dict[str, Op] = {
    "add": lambda x, y: x + y,
    "multiply": lambda x, y: x * y,
    "x * 2": lambda x, y: x * 2.0,
    "divide": lambda x, y: x / y,
    "less": lambda x, y: x < y,
    "where": lambda x, y: nm.where(x > 0, x, y),
    "sqrt": lambda x, y: nm.sqrt(y),
    "exp": lambda x, y: nm.exp(x),
    "log": lambda x, y: nm.log(y),
    "tanh": lambda x, y: nm.tanh(x),
    "sum": lambda x, y: x.sum(),
    "sum axis 0": lambda x, y: x.reshape(-1, ROW).sum(axis=0),
    "sum axis 1": lambda x, y: x.reshape(-1, ROW).sum(axis=1),
    "max": lambda x, y: x.max(),
    "argmax axis 1": lambda x, y: x.reshape(-1, ROW).argmax(axis=1),
    "matmul 256x256": lambda x, y: x.reshape(-1, ROW) @ WEIGHTS,
}

WEIGHTS = nm.array(np.random.default_rng(1).standard_normal((ROW, ROW), dtype=np.float32))


@contextmanager
def threshold(elements: int) -> Iterator[None]:
    """Run kernels from so many elements on."""
    before = modes.LIMIT, modes.CHEAP_LIMIT, modes.KERNEL_THRESHOLD, modes.CHEAP_THRESHOLD
    modes.LIMIT = modes.CHEAP_LIMIT = elements
    modes.KERNEL_THRESHOLD = modes.CHEAP_THRESHOLD = elements
    try:
        yield
    finally:
        modes.LIMIT, modes.CHEAP_LIMIT, modes.KERNEL_THRESHOLD, modes.CHEAP_THRESHOLD = before


def least(call: Callable[[], Any], loop: int) -> float:
    begin = time.perf_counter()
    for _ in range(loop):
        call()
    return (time.perf_counter() - begin) / loop


def ratio(op: Op, x: Any, y: Any, seconds: float) -> tuple[float, float]:
    """Least times of one call: NumPy, kernel."""
    engines = (modes.NEVER, 1)
    loops, best = [1, 1], [float("inf")] * 2
    for number, elements in enumerate(engines):
        with threshold(elements):
            op(x, y)
            loops[number] = max(1, int(2e-4 / least(lambda: op(x, y), 3)))
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for number, elements in enumerate(engines):
            with threshold(elements):
                best[number] = min(best[number], least(lambda: op(x, y), loops[number]))
    return best[0], best[1]


def main(seconds: float) -> None:
    rng = np.random.default_rng(0)
    print("kernel / NumPy (NumPy in us)")
    print(" " * 16 + "".join(f"{size:>16,}" for size in SIZES))
    for name, op in OPS.items():
        cells = []
        for size in SIZES:
            x = nm.array(rng.standard_normal(size, dtype=np.float32))
            y = nm.array(rng.random(size, dtype=np.float32) + 0.5)
            plain, kernel = ratio(op, x, y, seconds)
            cells.append(f"{kernel / plain:>7.2f} ({plain * 1e6:>6.0f})")
        print(f"{name:<16}" + "".join(cells), flush=True)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 0.3)
