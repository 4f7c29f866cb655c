"""Products under `numpy.linalg`'s names and signatures, powers and chains of matrices.

Next: `namespace/products.py` for the general ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from numen.dispatch.convert import as_array
from numen.errors import describe
from numen.linalg.systems import LinAlgError
from numen.namespace import diagonals, products, ufuncs
from numen.namespace.axes import matrix_transpose
from numen.namespace.calling import composes
from numen.namespace.devices import beside
from numen.ops import table

__all__ = ["matmul", "outer", "tensordot", "cross", "vecdot", "trace", "diagonal"]
__all__ += ["matrix_transpose", "matrix_power", "multi_dot"]


@composes(np.linalg.matmul)
def matmul(x1: Any, x2: Any, /) -> Any:
    """Matrix product of vectors, matrices and batches.

    Raises
    ------
    ValueError
        If the inner extents differ or an operand is 0-d.
    """
    return ufuncs.matmul(x1, x2)


@composes(np.linalg.outer)
def outer(x1: Any, x2: Any, /) -> Any:
    """Every element of one vector times every element of another.

    Raises
    ------
    ValueError
        If an operand is no vector.
    """
    a, b = beside(x1, x2), beside(x2, x1)
    if a.ndim != 1 or b.ndim != 1:
        raise ValueError(f"outer: expected vectors, got {describe(a, b)}")
    return products.outer(a, b)


@composes(np.linalg.tensordot)
def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """Sums of products over pairs of axes; see `numen.tensordot`."""
    return products.tensordot(x1, x2, axes)


@composes(np.linalg.cross)
def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Cross product of vectors of three elements.

    Raises
    ------
    ValueError
        If the axis does not have three elements.
    """
    a, b = beside(x1, x2), beside(x2, x1)
    if not a.ndim or not b.ndim or a.shape[axis] != 3 or b.shape[axis] != 3:
        return NotImplemented  # NumPy says what is wrong
    return products.cross(a, b, axis=axis)


@composes(np.linalg.vecdot)
def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """The sum of conj(x1) * x2 along an axis.

    Raises
    ------
    ValueError
        If the axes' extents differ.
    """
    return ufuncs.vecdot(x1, x2, axis=axis)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """The sum of the diagonal of a matrix, or of each of a stack.

    Raises
    ------
    ValueError
        If `x` has fewer than two axes.
    """
    return diagonals.trace(x, offset, -2, -1, dtype)


def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """The diagonal of a matrix, or of each of a stack, as a read-only view.

    Raises
    ------
    ValueError
        If `x` has fewer than two axes.
    """
    return diagonals.diagonal(x, offset, -2, -1)


@composes(np.linalg.matrix_power)
def matrix_power(a: Any, n: int) -> Any:
    """A square matrix, or each of a stack, multiplied n times; a negative n inverts it first.

    Raises
    ------
    LinAlgError
        If the matrix is not square, or n is negative and it is singular.
    TypeError
        If n is no integer.

    Examples
    --------
    >>> import numen as nm
    >>> from numen.linalg import matrix_power
    >>> matrix_power(nm.array([[0, 1], [1, 1]]), 10)
    array([[34, 55],
           [55, 89]])
    """
    x = as_array(a)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise LinAlgError(f"matrix_power: expected square matrices, got {describe(x)}")
    try:
        power = index(n)
    except TypeError as error:
        raise TypeError("matrix_power: exponent must be an integer") from error
    if power == 0:
        one = as_array(np.eye(x.shape[-1], dtype=x._d.dtype))
        return table["where"](as_array(np.zeros(x.shape, np.bool_)), x, one)  # gradient 0
    if power < 0:
        x, power = table["inv"](x), -power
    result = None
    while True:
        power, bit = divmod(power, 2)
        if bit:
            result = x if result is None else table["matmul"](result, x)
        if not power:
            return result
        x = table["matmul"](x, x)


@composes(np.linalg.multi_dot)
def multi_dot(arrays: Sequence[Any], *, out: Any = None) -> Any:
    """The product of a chain of matrices, in the cheapest order; the ends may be vectors.

    Raises
    ------
    ValueError
        If there are fewer than two, or the extents do not fit.
    LinAlgError
        If one within is no matrix.

    Examples
    --------
    >>> import numen as nm
    >>> from numen.linalg import multi_dot
    >>> multi_dot([nm.ones((2, 3)), nm.ones((3, 4)), nm.ones(4)])
    array([12., 12.])
    """
    chain = [as_array(a) for a in arrays]
    if len(chain) < 2:
        raise ValueError("multi_dot: expected at least two arrays")
    if len(chain) == 2:
        return products.dot(*chain, out=out)
    first, last = chain[0].ndim == 1, chain[-1].ndim == 1
    if first:
        chain[0] = chain[0].reshape((1, -1))
    if last:
        chain[-1] = chain[-1].reshape((-1, 1))
    for a in chain:
        if a.ndim != 2:
            raise LinAlgError(f"multi_dot: expected matrices, got {describe(a)}")
    result = _multiply_chain(chain, _splits(chain), 0, len(chain) - 1)
    if first or last:
        result = result[0, 0] if first and last else result.ravel()
    return products.into_exact(out, result, "multi_dot")


def _splits(chain: Sequence[Any]) -> dict[tuple[int, int], int]:
    """Where to part each stretch of the chain for the fewest multiplications (dynamic programming;
    Cormen et al., Introduction to Algorithms, 15.2)."""
    sizes = [a.shape[0] for a in chain] + [chain[-1].shape[1]]
    cost = {(i, i): 0 for i in range(len(chain))}
    best: dict[tuple[int, int], int] = {}
    for length in range(1, len(chain)):
        for i in range(len(chain) - length):
            j = i + length

            def price(k: int, i: int = i, j: int = j) -> int:
                work: int = sizes[i] * sizes[k + 1] * sizes[j + 1]
                return cost[i, k] + cost[k + 1, j] + work

            best[i, j] = min(range(i, j), key=price)
            cost[i, j] = price(best[i, j])
    return best


def _multiply_chain(chain: Sequence[Any], best: dict[tuple[int, int], int], i: int, j: int) -> Any:
    if i == j:
        return chain[i]
    k = best[i, j]
    left, right = _multiply_chain(chain, best, i, k), _multiply_chain(chain, best, k + 1, j)
    return table["matmul"](left, right)
