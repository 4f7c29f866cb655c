"""Run a nest in NumPy: what a nest means.

`execute` takes the nest, the extents and arrays strided to its axes (made by `view`) and writes the
outputs. Tests compare the llvm and cuda targets with it bit for bit; `numen.compiler` can run whole
programs on it. Next: `scalars.py` for the scalar ops, `reduce.py` for the reduction scheme.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from numen.compiler.codegen.python.reduce import reduce_last
from numen.compiler.codegen.python.scalars import APPLY
from numen.compiler.nest import Instr, Nest
from numen.errors import InternalError

Array = NDArray[Any]


def view(base: Array, extents: Sequence[int], strides: Sequence[int]) -> Array:
    """The operand that starts at base's first item and moves by `strides` bytes along each axis.

    An axis of stride 0 gets extent 1: its items are one.
    """
    shape = [1 if stride == 0 else n for n, stride in zip(extents, strides, strict=True)]
    return as_strided(base, shape, strides)


def execute(
    nest: Nest,
    extents: Sequence[int],
    arrays: Sequence[Array],
    scalars: Sequence[float | int] = (),
) -> None:
    """Run `nest` over `extents` (the reduced axis last) on `arrays`, one for each buffer.

    An array has the nest's rank, and along each axis either that extent or 1. Raises InternalError
    where extents, arrays or scalars do not fit the nest.
    """
    operands = _operands(nest, extents, arrays, scalars)
    values: list[Array] = []
    with np.errstate(all="ignore"):
        for instr in nest.body:
            args = [values[arg] for arg in instr.args]
            values.append(_value(nest, instr, args, extents, operands, scalars))
    for store in nest.stores:
        # Values have the extent 1 along the reduced axis here, as the output has.
        operands[store.buffer][...] = values[store.value]


def _operands(
    nest: Nest, extents: Sequence[int], arrays: Sequence[Array], scalars: Sequence[float | int]
) -> list[Array]:
    """Check the arguments; arrays come back with extent 1 along their axes of class "0"."""
    counts = (len(extents), len(arrays), len(scalars))
    if counts != (nest.rank, len(nest.buffers), len(nest.scalars)):
        raise InternalError(f"extents, arrays, scalars do not fit the nest: {counts}")
    result = []
    for i, (buffer, array) in enumerate(zip(nest.buffers, arrays, strict=True)):
        classes = buffer.strides
        first = tuple(slice(0, 1) if c == "0" else slice(None) for c in classes)
        array = array[(*first, ...)] if array.ndim == nest.rank else array
        wanted = tuple(1 if c == "0" else n for c, n in zip(classes, extents, strict=True))
        fits = array.ndim == nest.rank and all(
            have in (1, want) for have, want in zip(array.shape, wanted, strict=True)
        )
        if not fits or array.dtype.name != buffer.dtype:
            raise InternalError(
                f"buffer {i} is {buffer.dtype} {wanted}, got {array.dtype} of shape {array.shape}"
            )
        result.append(array)
    return result


def _value(
    nest: Nest,
    instr: Instr,
    args: Sequence[Array],
    extents: Sequence[int],
    operands: Sequence[Array],
    scalars: Sequence[float | int],
) -> Array:
    """One instruction over the whole space: along each axis the array has the extent or 1."""
    rank, dtype, attr = nest.rank, instr.dtype, instr.attr
    if instr.op == "const":
        return np.full((1,) * rank, attr, dtype)
    if instr.op == "load":
        return _load(operands[cast(int, attr)])
    if instr.op == "scalar":
        return np.full((1,) * rank, scalars[cast(int, attr)], dtype)
    if instr.op == "index":
        axis = cast(int, attr)
        shape = [extents[axis] if a == axis else 1 for a in range(rank)]
        return np.arange(extents[axis], dtype=np.int64).reshape(shape)
    if instr.op == "reduce":
        x = args[0]
        x = np.broadcast_to(x, (*x.shape[:-1], extents[-1]))  # a value that does not vary, n times
        return reduce_last(str(attr), x)[..., None]
    result = np.asarray(APPLY[instr.op](args, dtype))
    if result.dtype.name != dtype:
        raise InternalError(f"{instr.op} gave {result.dtype}, not {dtype}")
    return result


def _load(array: Array) -> Array:
    """A copy, as a later store may write the same memory. Any byte but 0 is true."""
    return array.view(np.uint8) != 0 if array.dtype == np.bool_ else array.copy()
