"""Products of vectors, matrices and tensors: dot and its kin, over the row matmul.

Plain calls are NumPy's; recorded ones are transposes, reshapes and one matrix product, so they
differentiate. Called by Array's methods and by `numen.linalg`. Next: `contractions.py` for einsum,
`ops/linear_algebra.py` for the row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from numen.dispatch.convert import normalize_axes, operand
from numen.errors import describe
from numen.namespace.axes import transpose
from numen.namespace.calling import composes
from numen.namespace.complex_numbers import conj_of
from numen.namespace.devices import beside
from numen.namespace.output import into, target_of
from numen.ops import table

__all__ = ["dot", "vdot", "inner", "outer", "tensordot", "kron", "cross"]


@composes(np.dot)
def dot(a: Any, b: Any, out: Any = None) -> Any:
    """NumPy's dot: the last axis of `a` with the last but one of `b`; a scalar operand multiplies.

    Parameters
    ----------
    a, b : array_like
        Scalars, vectors, matrices or stacks; the result has a's other axes, then b's.
    out : Array, optional
        Where the result is written; it has the result's shape and dtype.

    Raises
    ------
    ValueError
        If the extents differ, or `out` is of another dtype.

    Examples
    --------
    >>> import numen as nm
    >>> nm.dot(nm.array([[1, 2], [3, 4]]), nm.array([1, 10]))
    array([21, 43])
    """
    x, y = beside(a, b), beside(b, a)
    if not x.ndim or not y.ndim:
        result = table["multiply"](operand(a) if y.ndim else x, operand(b) if x.ndim else y)
    elif x.ndim == 1 or y.ndim <= 2:
        result = table["matmul"](x, y) if y.ndim <= 2 else contract(x, y, (0,), (y.ndim - 2,))
    else:
        result = contract(x, y, (x.ndim - 1,), (y.ndim - 2,))
    return into_exact(out, result, "dot")


@composes(np.vdot)
def vdot(a: Any, b: Any, /) -> Any:
    """The sum of conj(a) * b over all elements.

    Raises
    ------
    ValueError
        If the sizes differ.
    """
    x, y = beside(a, b), beside(b, a)
    if x._d.size != y._d.size:
        raise ValueError(f"vdot: expected equal sizes, got {describe(x, y)}")
    return table["matmul"](conj_of(x.ravel()), y.ravel())


@composes(np.inner)
def inner(a: Any, b: Any, /) -> Any:
    """Sums of products over the last axes; a scalar operand multiplies.

    Raises
    ------
    ValueError
        If the last extents differ.
    """
    x, y = beside(a, b), beside(b, a)
    if not x.ndim or not y.ndim:
        return table["multiply"](operand(a) if y.ndim else x, operand(b) if x.ndim else y)
    if x.ndim == 1 == y.ndim:
        return table["matmul"](x, y)
    return contract(x, y, (x.ndim - 1,), (y.ndim - 1,))


@composes(np.outer)
def outer(a: Any, b: Any, out: Any = None) -> Any:
    """Every element of `a` times every element of `b`, both flattened.

    Examples
    --------
    >>> import numen as nm
    >>> nm.outer([1, 2], [3, 4])
    array([[3, 4],
           [6, 8]])
    """
    x, y = beside(a, b), beside(b, a)
    return into(out, table["multiply"](x.reshape((-1, 1)), y.reshape((1, -1))), "outer")


@composes(np.tensordot)
def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """Sums of products over pairs of axes.

    Parameters
    ----------
    a, b : array_like
        Operands; the result has a's axes that are left, then b's.
    axes : int or pair of ints or sequences
        The last `axes` of `a` with the first of `b`, or the axes of each.

    Raises
    ------
    ValueError
        If the extents or the numbers of axes differ.

    Examples
    --------
    >>> import numen as nm
    >>> nm.tensordot(nm.ones((2, 3, 4)), nm.ones((4, 3, 5)), axes=([1, 2], [1, 0])).shape
    (2, 5)
    """
    x, y = beside(a, b), beside(b, a)
    try:
        left, right = axes
    except TypeError:
        n = index(axes)
        left, right = range(-n, 0), range(n)
    left, right = _axes_of(left, x.ndim), _axes_of(right, y.ndim)
    if len(left) != len(right):
        raise ValueError(f"tensordot: shape-mismatch for sum: {len(left)} and {len(right)} axes")
    return contract(x, y, left, right, "tensordot")


def _axes_of(axes: Any, ndim: int) -> tuple[int, ...]:
    """Axes in the order given, counted from the front."""
    given = tuple(axes) if hasattr(axes, "__iter__") else (axes,)
    return tuple([normalize_axes(i, ndim, "tensordot")[0] for i in given])


def contract(x: Any, y: Any, left: Sequence[int], right: Sequence[int], op: str = "dot") -> Any:
    """The sum of products over pairs of axes, as one matrix product."""
    shape_x, shape_y = x._d.shape, y._d.shape
    if any([shape_x[i] != shape_y[j] for i, j in zip(left, right, strict=True)]):
        raise ValueError(
            f"{op}: shape-mismatch for sum over axes {left}, {right}: {describe(x, y)}"
        )
    kept_x = [i for i in range(len(shape_x)) if i not in left]
    kept_y = [i for i in range(len(shape_y)) if i not in right]
    k = math.prod([shape_x[i] for i in left])
    rows = [shape_x[i] for i in kept_x]
    columns = [shape_y[i] for i in kept_y]
    a = transpose(x, (*kept_x, *left)).reshape((math.prod(rows), k))
    b = transpose(y, (*right, *kept_y)).reshape((k, math.prod(columns)))
    product = table["matmul"](a, b)
    return product.reshape((*rows, *columns))


@composes(np.kron)
def kron(a: Any, b: Any) -> Any:
    """Kronecker product: blocks of `b`, scaled by the elements of `a`.

    Examples
    --------
    >>> import numen as nm
    >>> nm.kron([1, 10], [1, 2])
    array([ 1,  2, 10, 20])
    """
    x, y = beside(a, b), beside(b, a)
    if not x.ndim or not y.ndim:
        return table["multiply"](x, y)
    ndim = max(x.ndim, y.ndim)
    shape_x = (1,) * (ndim - x.ndim) + x._d.shape
    shape_y = (1,) * (ndim - y.ndim) + y._d.shape
    pairs = list(zip(shape_x, shape_y, strict=True))
    blocks = x.reshape(tuple([n for m, _ in pairs for n in (m, 1)]))
    block = y.reshape(tuple([n for _, m in pairs for n in (1, m)]))
    product = table["multiply"](blocks, block)
    return product.reshape(tuple([m * n for m, n in pairs]))


@composes(np.cross)
def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Any:
    """Cross product of vectors of three elements, along an axis of each operand.

    Raises
    ------
    ValueError
        If an axis does not have two or three elements.

    Examples
    --------
    >>> import numen as nm
    >>> nm.cross([1, 0, 0], [0, 1, 0])
    array([0, 0, 1])
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = beside(a, b), beside(b, a)
    if not x.ndim or not y.ndim:
        return NotImplemented  # NumPy says what is wrong
    x, y = _last(x, axisa), _last(y, axisb)
    if x.shape[-1] != 3 or y.shape[-1] != 3:
        return NotImplemented  # vectors of two elements, which NumPy gives up
    a0, a1, a2 = [x[..., i] for i in range(3)]
    b0, b1, b2 = [y[..., i] for i in range(3)]
    parts = [a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0]
    columns = [p.reshape((*p.shape, 1)) for p in parts]
    product = table["concatenate"](*columns, axis=columns[0].ndim - 1)
    (to,) = normalize_axes(axisc, product.ndim, "cross")
    order = list(range(product.ndim - 1))
    order.insert(to, product.ndim - 1)
    return transpose(product, order)


def _last(x: Any, axis: int) -> Any:
    """x with an axis moved to the end."""
    (i,) = normalize_axes(axis, x.ndim, "cross")
    return transpose(x, [k for k in range(x.ndim) if k != i] + [i])


def into_exact(out: Any, result: Any, op: str) -> Any:
    """Write a result into `out` where that has the very dtype of the result.

    Raises
    ------
    ValueError
        If it has another.
    """
    if out is not None and target_of(out, op)._d.dtype != result._d.dtype:
        raise ValueError(f"{op}: output array is not acceptable: got {describe(out, result)}")
    return into(out, result, op)
