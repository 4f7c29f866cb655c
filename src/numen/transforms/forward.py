"""Forward mode: `jvp` carries tangents along with values, `linearize` keeps the linear map.

Arguments become Frames with tangents (`dispatch/frames.py`); every op of the function then computes
its result's tangent by its row's jvp rule. Next: `jacobians.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numen.dispatch import core, slots
from numen.dispatch.convert import as_array
from numen.dispatch.core import ArrayCore, is_differentiable
from numen.dispatch.frames import JVP, Frame, Level
from numen.errors import DTypeError, ShapeError, TransformError, describe
from numen.transforms.reverse import vjp
from numen.transforms.trees import Structure, flatten


def jvp(
    f: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    has_aux: bool = False,
) -> Any:
    """Evaluate f and its directional derivative.

    Parameters
    ----------
    f : callable
        Takes and returns arrays, or tuples, lists and dicts of them.
    primals : tuple or list
        The arguments, one entry each.
    tangents : tuple or list
        The direction: the same containers, shapes and dtypes as the primals.
    has_aux : bool
        f returns a pair, whose second part is passed on as it is.

    Returns
    -------
    result, tangent
        f(*primals) and its derivative along `tangents`, of equal shapes and dtypes; with `has_aux`
        the aux as a third.

    Raises
    ------
    ShapeError, DTypeError, TypeError
        If tangents don't fit the primals, or a primal's dtype carries no derivative.
    GradientError
        If a function without derivative meets a tangent.

    Examples
    --------
    >>> import numen as nm
    >>> nm.jvp(lambda x: x**3, (nm.array([1.0, 2.0]),), (nm.array([1.0, 10.0]),))
    (array([1., 8.]), array([  3., 120.]))
    """
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise TypeError(
            f"jvp: primals and tangents must be tuples or lists, got {describe(primals, tangents)}"
        )
    values, structure = flatten(tuple(primals))
    directions, other = flatten(tuple(tangents))
    if structure != other:
        raise TypeError(f"jvp: the tangents {other!r} don't have the form of the primals")
    with Level(JVP) as level:
        inner = [
            _dual(level, x, t, i) for i, (x, t) in enumerate(zip(values, directions, strict=True))
        ]
        result = f(*structure.unflatten(inner))
        result, aux = result if has_aux else (result, None)
        leaves, out_structure = flatten(result)
        pairs = [_parts(x, level) for x in leaves]
        if has_aux:
            more, aux_structure = flatten(aux)
            aux = aux_structure.unflatten([_below(x, level) for x in more])
    outputs = out_structure.unflatten([value for value, _ in pairs])
    derivative = out_structure.unflatten([tangent for _, tangent in pairs])
    return (outputs, derivative, aux) if has_aux else (outputs, derivative)


def _dual(level: Level, x: Any, t: Any, position: int) -> Any:
    """An argument with its tangent."""
    x, t = as_array(x), as_array(t)
    if not is_differentiable(x._d.dtype):
        if not (t._d.dtype.kind == "V" or not is_differentiable(t._d.dtype)) or _any(t):
            raise DTypeError(f"jvp: primal {position} carries no derivative, got {describe(x)}")
        return x
    if tuple(t._d.shape) != tuple(x._d.shape):
        raise ShapeError(
            f"jvp: tangent {position} has shape {tuple(t._d.shape)}, its primal {tuple(x._d.shape)}"
        )
    if t._d.dtype != x._d.dtype:
        if t._d.dtype.kind == "c" and x._d.dtype.kind != "c":
            raise DTypeError(f"jvp: tangent {position} is complex for a {describe(x)}")
        t = slots.primitive("cast")(t, dtype=x._d.dtype)
    return core.ARRAY(Frame(level, x, False, t), None, x._v if x._v is core.SCALAR else None)


def _any(t: Any) -> bool:
    return bool((t != 0).any())


def _below(x: Any, level: Level) -> Any:
    """A value without its tangent, as one from outside the transform."""
    inside = isinstance(x, ArrayCore) and type(x._d) is Frame and x._d.level is level
    return x._d.value if inside else x


def _parts(x: Any, level: Level) -> tuple[Any, Any]:
    """A result and its tangent."""
    if not isinstance(x, ArrayCore):
        if not isinstance(x, (bool, int, float, complex)):
            raise TransformError(
                f"jvp: f must return arrays, or containers of them, got {describe(x)}. Hint: "
                "has_aux passes a second result on"
            )
        x = as_array(x)
    if type(x._d) is Frame and x._d.level is level:
        value, tangent = x._d.value, x._d.tangent
    else:
        value, tangent = x, None
    if tangent is None:
        tangent = zeros_of(value)
    return value, tangent


def zeros_of(x: Any) -> Any:
    """Zeros of an array's shape and dtype, on its device."""
    zero = slots.primitive("broadcast_to")(
        core.new_constant(np.zeros((), x._d.dtype)), shape=tuple(x._d.shape)
    )
    return slots.primitive("copy")(zero)


def linearize(f: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """Evaluate f and return (result, linear): linear(*tangents) is f's derivative at the primals.

    f runs once; `linear` can be called for many directions. It is the transpose of the pull of
    `vjp`.

    Examples
    --------
    >>> import numen as nm
    >>> y, linear = nm.linearize(lambda x: x**2, nm.array([1.0, 3.0]))
    >>> y, linear(nm.array([1.0, 1.0]))
    (array([1., 9.]), array([2., 6.]))
    """
    out, pull = vjp(f, *primals)
    structure = flatten(tuple(primals))[1]
    leaves, out_structure = flatten(out)

    def linear(*tangents: Any) -> Any:
        given, other = flatten(tuple(tangents))
        if other != structure:
            raise TypeError("linearize: the tangents don't have the form of the primals")
        seeds = [zeros_of(x) for x in leaves]
        _, transpose = vjp(_flat(pull, out_structure), *seeds)
        columns = transpose(structure.unflatten([as_array(t) for t in given]))
        return out_structure.unflatten(columns)

    return out, linear


def _flat(pull: Callable[[Any], Any], structure: Structure) -> Callable[..., Any]:
    """A pull that takes its cotangents' leaves as arguments."""

    def of_leaves(*leaves: Any) -> Any:
        return pull(structure.unflatten(leaves))

    return of_leaves
