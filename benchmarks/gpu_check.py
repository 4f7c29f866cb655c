"""Check the CUDA kernels on a real GPU: their bits against the Python target's.

Run `python benchmarks/gpu_check.py`. It needs a GPU, CuPy (for memory and launches) and NVRTC or
nvcc; on a machine without them it says which is missing and ends well. What it prints as PASS was
compared bit for bit.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from numen.compiler import math as expand
from numen.compiler.body import Body
from numen.compiler.codegen.cuda import emit_cuda, toolchain
from numen.compiler.codegen.python import execute, view
from numen.compiler.nest import Buffer, Nest, Store


def curve(dtype: str) -> Nest:
    """exp(tanh(x) * row), with x strided and row broadcast."""
    body = Body()
    x, row = body.load(0, dtype), body.load(1, dtype)
    result = expand.exp(body, body.multiply(expand.tanh(body, x), row))
    buffers = (Buffer(dtype, ("s", "s")), Buffer(dtype, ("0", "1")), Buffer(dtype, ("s", "1")))
    return Nest(2, False, buffers, (), body.instrs, (Store(2, result.position),))


def row_sum(dtype: str) -> Nest:
    """sum(x * row) along the last axis."""
    body = Body()
    product = body.multiply(body.load(0, dtype), body.load(1, dtype))
    result = body.reduce("sum", product)
    buffers = (Buffer(dtype, ("s", "1")), Buffer(dtype, ("0", "1")), Buffer(dtype, ("1", "0")))
    return Nest(2, True, buffers, (), body.instrs, (Store(2, result.position),))


def run(
    cupy: Any,
    nest: Nest,
    extents: tuple[int, int],
    arrays: list[Any],
    strides: list[tuple[int, ...]],
) -> Any:
    """Launch the nest on the GPU; give the last array, its output, as NumPy's."""
    kernel = emit_cuda(nest, "numen_check")
    arch = f"sm_{cupy.cuda.Device().compute_capability}"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kernel.cubin")
        path.write_bytes(toolchain.compile_to_cubin(kernel.source, arch))
        function = cupy.RawModule(path=str(path)).get_function(kernel.name)
        shape = kernel.launch(extents)
        pointers = [array.data.ptr for array in arrays]
        arguments = kernel.arguments(extents, zip(pointers, strides, strict=True))
        function(shape.grid, shape.block, tuple(arguments), shared_mem=shape.shared)
        return cupy.asnumpy(arrays[-1])


def main() -> int:
    try:
        import cupy  # type: ignore[import-not-found]
    except ImportError:
        print("skipped: CuPy is not installed")
        return 0
    if not cupy.cuda.is_available():
        print("skipped: no GPU")
        return 0
    if toolchain.describe() is None:
        print("skipped: neither NVRTC nor nvcc is installed")
        return 0
    print(f"{toolchain.describe()}, compute capability {cupy.cuda.Device().compute_capability}")
    rng = np.random.default_rng(0)
    failures = 0
    for dtype in ("float32", "float64"):
        for make, n in ((curve, 1000), (row_sum, 1000), (row_sum, 20000), (row_sum, 1000003)):
            nest, extents = make(dtype), (7, n)
            x = np.asarray(rng.standard_normal(extents) * 4, dtype)
            row = np.asarray(rng.standard_normal(n), dtype)
            out = np.zeros(7 if nest.reduced else extents, dtype)
            strides = [x.strides, (0, row.itemsize), (out.strides + (0,))[:2]]
            views = [view(a, extents, s) for a, s in zip((x, row, out), strides, strict=True)]
            execute(nest, extents, views)
            device = [cupy.asarray(x), cupy.asarray(row), cupy.zeros_like(cupy.asarray(out))]
            same = run(cupy, nest, extents, device, strides).tobytes() == out.tobytes()
            failures += not same
            print(f"{'PASS' if same else 'FAIL'} {make.__name__} {dtype} {extents}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
