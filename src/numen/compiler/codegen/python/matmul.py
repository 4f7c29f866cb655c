"""The matrix product of the numerics contract: the reference for every target's matmul kernels.

Takes NumPy's operands (1-D ones and batches included) of one float dtype. K is cut into blocks;
inside a block a chain of fused multiply-adds runs from 0, blocks are added in order. A single
column is a plain reduction of products.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from numen.compiler.codegen.python.fma import fma
from numen.compiler.codegen.python.reduce import reduce_last
from numen.compiler.nest import LANES

Array = NDArray[Any]

MOST = 256
"""The most elements of K in a block."""


def k_block(k: int) -> int:
    """Elements of K in a block, the last one aside: K in equal parts, rounded up to full lanes."""
    blocks = max(1, -(-k // MOST))
    part = max(1, -(-k // blocks))
    return -(-part // LANES) * LANES


def matmul(a: Array, b: Array) -> Array:
    """a @ b by the contract. float32 or float64; shapes by NumPy's rules.

    Raises ValueError as NumPy does where the shapes do not fit.
    """
    left = a[None, :] if a.ndim == 1 else a
    right = b[:, None] if b.ndim == 1 else b
    if a.ndim == 0 or b.ndim == 0 or left.shape[-1] != right.shape[-2]:
        raise ValueError(f"matmul: shapes {a.shape} and {b.shape} do not fit")
    with np.errstate(all="ignore"):
        result = _column(left, right) if right.shape[-1] == 1 else _product(left, right)
    if b.ndim == 1:
        result = result[..., 0]
    if a.ndim == 1:
        result = result[0] if b.ndim == 1 else result[..., 0, :]
    return result


def _column(a: Array, b: Array) -> Array:
    """(..., M, K) @ (..., K, 1): each product is rounded, then they are summed as any other sum."""
    products = a * np.swapaxes(b, -1, -2)  # (..., M, K)
    return reduce_last("sum", products)[..., None]


def _product(a: Array, b: Array) -> Array:
    """(..., M, K) @ (..., K, N)"""
    k, block = a.shape[-1], k_block(a.shape[-1])
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    shape = (*batch, a.shape[-2], b.shape[-1])
    result = np.zeros(shape, a.dtype)
    for start in range(0, k, block):
        partial = np.zeros(shape, a.dtype)
        for i in range(start, min(start + block, k)):
            partial = fma(a[..., :, i : i + 1], b[..., i : i + 1, :], partial)
        result = partial if start == 0 else result + partial
    return result
