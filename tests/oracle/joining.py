"""Operations that join, split and make arrays: torch's name to numen's function. Next:
`selection.py`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from tests.oracle.counterparts import Counterpart, integers, refuses, sizes

import numen as nm


def cat(arrays: Any, dim: int = 0) -> Any:
    refuses(
        any(a.shape == (0,) for a in arrays) and any(a.ndim > 1 for a in arrays),
        "an empty vector among tensors of more axes",
    )
    return nm.concatenate(arrays, dim)


def stack(arrays: Any, dim: int = 0) -> Any:
    return nm.stack(arrays, dim)


def joined(function: Any) -> Any:
    def call(*arrays: Any) -> Any:
        if len(arrays) == 1 and isinstance(arrays[0], (tuple, list)):
            arrays = tuple(arrays[0])
        return function(arrays)

    return call


def each(function: Any) -> Any:
    """atleast_1d and the like of one array, or of a list of them."""

    def call(*arrays: Any) -> Any:
        if len(arrays) == 1 and isinstance(arrays[0], (tuple, list)):
            arrays = tuple(arrays[0])
        return function(*arrays)

    return call


def chunk(x: Any, chunks: int, dim: int = 0) -> Any:
    size = max(1, math.ceil(x.shape[dim] / chunks))
    return split(x, size, dim)


def split(x: Any, size: Any, dim: int = 0) -> Any:
    length = x.shape[dim]
    if isinstance(size, int):
        return nm.split(x, list(range(size, length, size)) if size else [], dim)
    return nm.split(x, np.cumsum(size)[:-1].tolist(), dim)


def tensor_split(x: Any, parts: Any, dim: int = 0) -> Any:
    if isinstance(parts, nm.Array):
        parts = integers(parts).tolist()
    return nm.array_split(x, list(parts) if isinstance(parts, tuple) else parts, dim)


def sectioned(function: Any) -> Any:
    def call(x: Any, parts: Any) -> Any:
        return function(x, list(parts) if isinstance(parts, tuple) else parts)

    return call


def unbind(x: Any, dim: int = 0) -> Any:
    return nm.unstack(x, axis=dim)


def cartesian_prod(*arrays: Any) -> Any:
    if len(arrays) == 1:
        return arrays[0][...]
    grids = nm.meshgrid(*arrays, indexing="ij")
    return nm.stack([g.ravel() for g in grids], -1)


def block_diag(*arrays: Any) -> Any:
    arrays = tuple(nm.atleast_2d(a) for a in arrays)
    rows = sum(a.shape[0] for a in arrays)
    columns = sum(a.shape[1] for a in arrays)
    made = nm.zeros((rows, columns), nm.result_type(*arrays))
    i = j = 0
    for a in arrays:
        made[i : i + a.shape[0], j : j + a.shape[1]] = a
        i, j = i + a.shape[0], j + a.shape[1]
    return made


# ------------------------------------------------------------ making


def like(function: Any) -> Any:
    def call(x: Any, *args: Any, dtype: Any = None) -> Any:
        return function(x, *args, dtype=dtype)

    return call


def new(function: Any) -> Any:
    def call(x: Any, shape: Any, *args: Any, dtype: Any = None, **strides: Any) -> Any:
        return function(shape, *args, dtype=dtype or x.dtype)

    return call


def made(function: Any) -> Any:
    def call(*shape: Any, dtype: Any = None) -> Any:
        return function(sizes(shape), dtype=dtype)

    return call


def full(shape: Any, value: Any, *, dtype: Any = None) -> Any:
    return nm.full(sizes((shape,)), value, dtype=dtype)


def arange(*args: Any, end: Any = None, dtype: Any = None) -> Any:
    return nm.arange(*args, *([] if end is None else [end]), dtype=dtype)


def spaced(function: Any) -> Any:
    def call(start: Any, end: Any, steps: int, base: float = 10.0, *, dtype: Any = None) -> Any:
        more = {"base": base} if function is nm.logspace else {}
        return function(start, end, steps, dtype=dtype, **more)

    return call


def eye(n: int, m: Any = None, *, dtype: Any = None) -> Any:
    return nm.eye(n, m, dtype=dtype or np.float32)


def indices(function: Any) -> Any:
    def call(row: int, col: int, offset: int = 0, *, dtype: Any = None) -> Any:
        found = nm.stack(function(row, offset, col))
        return found if dtype is None else found.astype(dtype)

    return call


def scalar_tensor(value: Any, dtype: Any = None) -> Any:
    return nm.asarray(value, dtype=dtype)


JOINING: dict[str, Any] = {
    "atleast_1d": each(nm.atleast_1d),
    "atleast_2d": each(nm.atleast_2d),
    "atleast_3d": each(nm.atleast_3d),
    "cat": cat,
    "stack": stack,
    "hstack": joined(nm.hstack),
    "vstack": joined(nm.vstack),
    "dstack": joined(nm.dstack),
    "column_stack": joined(nm.column_stack),
    "chunk": chunk,
    "unsafe_chunk": chunk,
    "split": split,
    "split.list_args": split,
    "split_with_sizes": split,
    "split_with_sizes_copy": split,
    "unsafe_split": split,
    "tensor_split": tensor_split,
    "hsplit": sectioned(nm.hsplit),
    "vsplit": sectioned(nm.vsplit),
    "dsplit": sectioned(nm.dsplit),
    "unbind": unbind,
    "unbind_copy": unbind,
    "cartesian_prod": cartesian_prod,
    "block_diag": block_diag,
    "empty_like": Counterpart(like(nm.empty_like), shapes_only=True),
    "zeros_like": like(nm.zeros_like),
    "ones_like": like(nm.ones_like),
    "full_like": like(nm.full_like),
    "new_empty": Counterpart(new(nm.empty), shapes_only=True),
    "new_zeros": new(nm.zeros),
    "new_ones": new(nm.ones),
    "new_full": new(nm.full),
    "empty": Counterpart(made(nm.empty), shapes_only=True),
    "zeros": made(nm.zeros),
    "ones": made(nm.ones),
    "full": full,
    "scalar_tensor": scalar_tensor,
    "eye": eye,
    "arange": arange,
    "linspace": spaced(nm.linspace),
    "linspace.tensor_overload": spaced(nm.linspace),
    "logspace": spaced(nm.logspace),
    "logspace.tensor_overload": spaced(nm.logspace),
    "tril_indices": indices(lambda n, k, m: nm.tril_indices(n, k, m)),
    "triu_indices": indices(lambda n, k, m: nm.triu_indices(n, k, m)),
}
