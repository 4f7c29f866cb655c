"""NumPy's ufuncs, made from the rows.

Next: `ops/elementwise.py` for what they compute.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numen.dispatch import core, fast
from numen.dispatch.convert import as_array, operands
from numen.namespace.output import elementwise_into
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
    "negative",
    "exp",
    "log",
    "tanh",
    "sqrt",
    "absolute",
    "abs",
    "relu",
    "equal",
    "not_equal",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
]


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
