"""Native steps executed by the Python target: the same steps, the same bits, slow and clear.

Takes steps and the memory of their storages; `program.py` calls it for target="python". Next:
`codegen/python/execute.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from numen.compiler.codegen.python import execute, matmul
from numen.compiler.passes.layout import Layout
from numen.compiler.passes.schedule import GemmStep, NestStep
from numen.compiler.passes.storage import Storage

Array = NDArray[Any]


class _Memory:
    """Memory at an address, for `np.asarray`; whoever makes one keeps the memory alive."""

    def __init__(
        self, address: int, dtype: np.dtype, shape: Sequence[int], strides: Sequence[int]
    ) -> None:
        self.__array_interface__ = {
            "version": 3,
            "data": (address, False),
            "typestr": dtype.str,
            "shape": tuple(shape),
            "strides": tuple(strides),
        }


def array_at(
    base: Array, offset: int, dtype: np.dtype, shape: Sequence[int], strides: Sequence[int]
) -> Array:
    """The array `offset` bytes after the first element of `base`."""
    if 0 in shape:
        return np.empty(shape, dtype)
    address = base.__array_interface__["data"][0] + offset
    return np.asarray(_Memory(address, dtype, shape, strides))


def run_steps(
    steps: Sequence[NestStep | GemmStep],
    arrays: Mapping[Storage, Array],
    scalars: Mapping[int, float | int],
) -> None:
    """Execute steps in order. `arrays` has the memory of every storage that they touch."""
    for step in steps:
        if isinstance(step, NestStep):
            _run_nest(step, arrays, scalars)
        else:
            a, b, c = (_operand(arrays, *operand) for operand in (step.a, step.b, step.c))
            c[...] = matmul(a, b)


def _operand(arrays: Mapping[Storage, Array], storage: Storage, layout: Layout) -> Array:
    return array_at(arrays[storage], layout.offset, storage.dtype, layout.shape, layout.strides)


def _run_nest(
    step: NestStep, arrays: Mapping[Storage, Array], scalars: Mapping[int, float | int]
) -> None:
    kernel = step.kernel
    operands = []
    for access, strides in zip((*kernel.loads, *kernel.stores), kernel.strides, strict=True):
        shape = [
            1 if stride == 0 else extent
            for stride, extent in zip(strides, kernel.extents, strict=True)
        ]
        base, offset = arrays[access.storage], access.layout.offset
        operands.append(array_at(base, offset, access.storage.dtype, shape, strides))
    numbers = [
        scalar.value if scalar.number is None else scalars[scalar.number]
        for scalar in kernel.scalars
    ]
    execute(kernel.nest, kernel.extents, operands, numbers)
