"""Functions over arrays: elementwise, reductions, shapes and products, in NumPy's spelling.

Each takes Arrays, ndarrays, Python scalars or nested sequences, and calls one primitive of `ops`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import index
from typing import Any

import numpy as np

from numen.dispatch import core, fast
from numen.dispatch.convert import as_array, normalize_axes, operand, operands
from numen.dispatch.core import ArrayCore
from numen.errors import describe
from numen.namespace.array import _reduce
from numen.namespace.output import elementwise_into, into
from numen.ops import table

__all__ = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "true_divide",
    "power",
    "pow",
    "maximum",
    "minimum",
]
__all__ += ["negative", "exp", "log", "tanh", "sqrt", "absolute", "abs", "relu", "where"]
__all__ += ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]
__all__ += ["sum", "mean", "max", "min", "amax", "amin", "argmax", "array_equal", "result_type"]
__all__ += ["matmul", "dot", "reshape", "transpose", "swapaxes", "ravel", "squeeze", "expand_dims"]
__all__ += ["broadcast_to", "concatenate", "stack", "take", "scatter_add"]


def _unary(name: str, doc: str) -> Callable[..., Any]:
    prim = table[name]
    quick = fast.unary(prim)

    def function(x: Any, /, out: Any = None, *, where: Any = True, dtype: Any = None) -> Any:
        if type(x) is core.ARRAY and out is None and where is True and dtype is None:
            return quick(x)
        (a,) = operands(x)
        if dtype is not None:
            a = a.astype(dtype)
        return elementwise_into(prim, (a,), out, where)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""{doc}

    Parameters
    ----------
    x : array_like
        Operand of any shape.
    out : Array, optional
        Where the result is written.
    where : array_like of bool
        Elements to compute; others keep `out`, or are 0 (gradient 0) without it.
    dtype : dtype, optional
        The operand is cast to it first.

    Raises
    ------
    TypeError
        If the op has no loop for the dtype, or `out` can't take the result.
    """
    return function


def _binary(name: str, doc: str) -> Callable[..., Any]:
    prim = table[name]
    quick = fast.binary(prim)

    def function(
        x1: Any, x2: Any, /, out: Any = None, *, where: Any = True, dtype: Any = None
    ) -> Any:
        if (
            type(x1) is core.ARRAY
            and type(x2) is core.ARRAY
            and out is None
            and where is True
            and dtype is None
        ):
            return quick(x1, x2)
        a, b = operands(x1, x2)
        if dtype is not None:
            a, b = as_array(a, dtype), as_array(b, dtype)
        return elementwise_into(prim, (a, b), out, where)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""{doc}

    Parameters
    ----------
    x1, x2 : array_like
        Operands that broadcast together; Python scalars take the other's dtype (NEP 50).
    out : Array, optional
        Where the result is written.
    where : array_like of bool
        Elements to compute; others keep `out`, or are 0 (gradient 0) without it.
    dtype : dtype, optional
        The operands are cast to it first.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.
    TypeError
        If the op has no loop for the dtypes, or `out` can't take the result.
    """
    return function


add = _binary("add", "Add, element by element.")
subtract = _binary("subtract", "Subtract x2 from x1, element by element.")
multiply = _binary("multiply", "Multiply, element by element.")
divide = _binary("divide", "Divide x1 by x2 in floating point.")
power = _binary(
    "power", "x1 to the power of x2; the gradient at base 0 is finite where the power's is."
)
maximum = _binary(
    "maximum", "The larger of two elements; NaN wins; ties share the gradient evenly."
)
minimum = _binary(
    "minimum", "The smaller of two elements; NaN wins; ties share the gradient evenly."
)
equal = _binary("equal", "Whether elements are equal.")
not_equal = _binary("not_equal", "Whether elements differ.")
less = _binary("less", "Whether x1 < x2.")
less_equal = _binary("less_equal", "Whether x1 <= x2.")
greater = _binary("greater", "Whether x1 > x2.")
greater_equal = _binary("greater_equal", "Whether x1 >= x2.")
negative = _unary("negative", "The elements with the opposite sign.")
exp = _unary("exp", "The exponential of each element.")
log = _unary("log", "The natural logarithm of each element.")
tanh = _unary("tanh", "The hyperbolic tangent of each element.")
sqrt = _unary("sqrt", "The non-negative square root of each element.")
absolute = _unary("absolute", "The absolute value of each element; gradient 0 at 0.")
relu = _unary("relu", "max(x, 0) of each element; NaN stays; gradient 0 at 0.")
true_divide = divide
pow = power
abs = absolute


def where(condition: Any, x: Any, y: Any) -> Any:
    """Choose x where the condition holds, else y; the branch not taken gets gradient 0.

    Examples
    --------
    >>> import numen as nm
    >>> nm.where(nm.array([True, False]), 1.0, nm.array([5.0, 6.0]))
    array([1., 6.])
    """
    c = as_array(condition)
    if c._d.dtype != np.bool_:
        c = table["not_equal"](c, 0)
    return table["where"](c, operand(x), operand(y))


def sum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
) -> Any:
    """Sum over axes (all by default).

    Raises
    ------
    numpy.exceptions.AxisError
        If an axis is out of bounds.

    Examples
    --------
    >>> import numen as nm
    >>> nm.sum(nm.array([[1, 2], [3, 4]]), axis=0)
    array([4, 6])
    """
    return _reduce("sum", as_array(a), axis, keepdims, dtype, out)


def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
) -> Any:
    """Arithmetic mean over axes (all by default)."""
    return _reduce("mean", as_array(a), axis, keepdims, dtype, out)


def max(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """Largest element along axes; NaN wins; ties share the gradient evenly.

    Raises
    ------
    ValueError
        If a reduced axis has no elements.
    """
    return _reduce("max", as_array(a), axis, keepdims, None, out)


def min(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """Smallest element along axes; NaN wins; ties share the gradient evenly."""
    return _reduce("min", as_array(a), axis, keepdims, None, out)


amax = max
amin = min


def argmax(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """Index of the first largest element, flattened or along an axis."""
    return as_array(a).argmax(axis, out, keepdims)


def matmul(x1: Any, x2: Any, /, out: Any = None) -> Any:
    """Matrix product with NumPy's rules: vectors, matrices, batches.

    Raises
    ------
    ValueError
        If the inner extents differ or an operand is 0-d.
    """
    a, b = as_array(x1), as_array(x2)
    return into(out, table["matmul"](a, b), "matmul")


def dot(a: Any, b: Any, out: Any = None) -> Any:
    """NumPy's dot for operands of up to two dimensions."""
    return into(out, as_array(a).dot(b), "dot")


def reshape(a: Any, shape: Any, order: str = "C") -> Any:
    """The same elements in another shape, as a view where possible."""
    return as_array(a).reshape(shape, order=order)


def transpose(a: Any, axes: Any = None) -> Any:
    """Axes permuted (reversed by default), as a view."""
    return as_array(a).transpose(axes)


def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    """Two axes interchanged, as a view."""
    return as_array(a).swapaxes(axis1, axis2)


def ravel(a: Any, order: str = "C") -> Any:
    """Flattened, as a view where possible."""
    return as_array(a).ravel(order)


def squeeze(a: Any, axis: Any = None) -> Any:
    """Without axes of length one."""
    return as_array(a).squeeze(axis)


def expand_dims(a: Any, axis: Any) -> Any:
    """With new axes of length one at the given positions of the result."""
    x = as_array(a)
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    axes = normalize_axes(axis, x.ndim + count, "expand_dims")
    shape = iter(x.shape)
    return x.reshape(tuple([1 if i in axes else next(shape) for i in range(x.ndim + count)]))


def broadcast_to(array: Any, shape: Any) -> Any:
    """A read-only view of `array` in a larger shape.

    Raises
    ------
    ValueError
        If the array does not broadcast to the shape.
    """
    target = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    return table["broadcast_to"](as_array(array), shape=tuple([index(n) for n in target]))


def concatenate(
    arrays: Sequence[Any], axis: int | None = 0, out: Any = None, dtype: Any = None
) -> Any:
    """Arrays joined along an existing axis.

    Raises
    ------
    ValueError
        If there are none, or their other extents differ.
    """
    parts = [as_array(a) for a in arrays]
    if not parts:
        raise ValueError("need at least one array to concatenate")
    if axis is None:
        parts, axis = [p.ravel() for p in parts], 0
    if not parts[0].ndim:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    (ax,) = normalize_axes(axis, parts[0].ndim, "concatenate")
    if dtype is not None:
        parts = [as_array(p, dtype) for p in parts]
    return into(out, table["concatenate"](*parts, axis=ax), "concatenate")


def stack(arrays: Sequence[Any], axis: int = 0) -> Any:
    """Arrays of equal shape joined along a new axis.

    Raises
    ------
    ValueError
        If there are none, or their shapes differ.
    """
    parts = [as_array(a) for a in arrays]
    if not parts:
        raise ValueError("need at least one array to stack")
    if len({p.shape for p in parts}) > 1:
        raise ValueError(
            f"stack: all input arrays must have the same shape; got {[p.shape for p in parts]}"
        )
    return concatenate([expand_dims(p, axis) for p in parts], axis)


def take(a: Any, indices: Any, axis: int | None = None) -> Any:
    """Elements at `indices` along an axis (flattened by default).

    Raises
    ------
    IndexError
        If an index is out of bounds.
    """
    x = as_array(a)
    if axis is None:
        x, axis = x.ravel(), 0
    (ax,) = normalize_axes(axis, x.ndim, "take")
    picks = as_array(indices)
    if picks._d.dtype.kind not in "iu":
        if isinstance(indices, (ArrayCore, np.ndarray, np.generic)):
            raise TypeError(f"take: indices must be integers, got {describe(picks)}")
        picks = picks.astype(np.intp)
    spec = (*[("b", slice(0, n, 1)) for n in x.shape[:ax]], 0)
    return table["gather"](x, picks, spec=spec)


def scatter_add(a: Any, index: Any, value: Any) -> Any:
    """A copy of `a` with `value` added at `a[index]`; repeated positions add up (`numpy.add.at`,
    functional).

    Examples
    --------
    >>> import numen as nm
    >>> nm.scatter_add(nm.zeros(3), nm.array([0, 0, 2]), 1.0)
    array([2., 0., 1.])
    """
    x = as_array(a)
    arrays = index if isinstance(index, tuple) else (index,)
    given = [as_array(i) for i in arrays]
    return table["scatter_add"](x, operand(value), *given, spec=tuple(range(len(given))))


def array_equal(a1: Any, a2: Any) -> bool:
    """Whether two arrays have the same shape and elements."""
    x, y = as_array(a1), as_array(a2)
    if x.shape != y.shape:
        return False
    different = table["not_equal"](x, y)
    return (
        not bool(table["max"](different, axis=tuple(range(x.ndim)), keepdims=False))
        if x.size
        else True
    )


def result_type(*args: Any) -> Any:
    """The dtype NumPy's promotion rules (NEP 50) give."""
    return np.result_type(*[core.unwrap(a) for a in args])
