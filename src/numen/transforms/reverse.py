"""Reverse mode as functions of functions.

The argument to differentiate is aliased with a fresh node above it, so inner and outer derivatives
do not mix; the backward pass stops at that node. `create_graph` is always on: transforms nest.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numen.dispatch import backward as _backward
from numen.dispatch import core, modes, slots
from numen.dispatch.convert import as_array
from numen.dispatch.core import ArrayCore, Leaf, Node
from numen.errors import DTypeError, GradientError, describe


def _alias(x: Any, op: str, position: int) -> Any:
    """An Array with x's values and a node of its own above x's."""
    a = as_array(x)
    if (
        a._d.dtype.kind != "f" and not core.is_differentiable(a._d.dtype)
    ) or a._d.dtype.kind == "c":
        raise DTypeError(
            f"{op}: argument {position} must be of a real floating dtype, got {describe(a)}"
        )
    alias = core.ARRAY(a._d)
    alias._t = _backward.register_of(a)
    if a._n is None:
        alias._n = Leaf(a._d.shape, a._d.dtype)
    else:
        alias._n = Node(slots.primitive("copy"), (a._n,), (None,), {}, None, a._d)
    return alias


def _positions(argnums: int | Sequence[int], count: int, op: str) -> tuple[int, ...]:
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    for i in numbers:
        if not -count <= i < count:
            raise TypeError(
                f"{op}: argnums {argnums} needs more positional arguments than the {count} given"
            )
    return tuple([i % count for i in numbers])


def _cotangents(out: Any, seed: Any, aliases: Sequence[Any]) -> list[Any]:
    found = _backward.backward([out], [seed], wrt=[a._n for a in aliases], create_graph=True)
    results = []
    for a, g in zip(aliases, found, strict=True):
        if g is None:
            g = slots.primitive("broadcast_to")(
                core.new_constant(np.zeros((), a._d.dtype)), shape=a._d.shape
            )
            g = slots.primitive("copy")(g)
        results.append(g)
    return results


def value_and_grad(
    f: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Make a function that returns (f(*args), gradient with respect to the arguments `argnums`).

    Parameters
    ----------
    f : callable
        Returns a real array of one element (with `has_aux`, a pair of that and anything).
    argnums : int or sequence of int
        Which positional arguments; one gradient for an int, a tuple for a sequence.

    Raises
    ------
    GradientError
        If f's result does not have exactly one element.
    DTypeError
        If an argument's dtype carries no gradient.

    Examples
    --------
    >>> import numen as nm
    >>> nm.value_and_grad(lambda x: (x * x).sum())(nm.array([1.0, 2.0]))
    (np.float64(5.0), array([2., 4.]))
    """

    @functools.wraps(f)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        positions = _positions(argnums, len(args), "grad")
        inputs = list(args)
        with modes.set_grad_enabled(True):
            aliases = [_alias(args[i], "grad", i) for i in positions]
            for i, a in zip(positions, aliases, strict=True):
                inputs[i] = a
            result = f(*inputs, **kwargs)
            out, aux = result if has_aux else (result, None)
            if not isinstance(out, ArrayCore) or out._d.size != 1:
                raise GradientError(
                    f"grad: f must return an array of one element, got {describe(out)}"
                )
            grads = _cotangents(out, None, aliases)
        value = _outside(out, aliases)
        grads = [_outside(g, aliases) for g in grads]
        gradient = grads[0] if isinstance(argnums, int) else tuple(grads)
        return ((value, aux) if has_aux else value), gradient

    return wrapped


def _outside(x: Any, aliases: Sequence[Any]) -> Any:
    """A result without what only this transform recorded: its graph, where no outer one exists."""
    if isinstance(x, ArrayCore) and x._n is not None and all(type(a._n) is Leaf for a in aliases):
        if not _reaches_outer(x._n, {a._n for a in aliases}):
            detached = core.ARRAY(x._d, None, x._v)
            detached._t = _backward.register_of(x, detached)
            return detached
    return x


def _reaches_outer(node: Any, inner: set[Any]) -> bool:
    """Whether a graph leads to a leaf that is not one of ours (a captured parameter)."""
    seen: set[int] = set()
    stack = [node]
    while stack:
        n = stack.pop()
        if n is None or id(n) in seen:
            continue
        seen.add(id(n))
        if type(n) is Leaf:
            if n not in inner:
                return True
            continue
        stack.extend(n.parents)
    return False


def grad(
    f: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Make the gradient function of f; see `value_and_grad`.

    Examples
    --------
    >>> import numen as nm
    >>> float(nm.grad(nm.grad(lambda x: x ** 3))(nm.array(2.0)))
    12.0
    """
    both = value_and_grad(f, argnums, has_aux)

    @functools.wraps(f)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        value, gradient = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return wrapped


def vjp(f: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """Evaluate f and return (result, pull): pull(cotangent) gives one cotangent per primal.

    Raises
    ------
    ShapeError
        If pull gets a cotangent of another shape than the result.

    Examples
    --------
    >>> import numen as nm
    >>> y, pull = nm.vjp(lambda x: x * x, nm.array([1.0, 2.0]))
    >>> pull(nm.array([1.0, 10.0]))
    (array([ 2., 40.]),)
    """
    with modes.set_grad_enabled(True):
        aliases = [_alias(x, "vjp", i) for i, x in enumerate(primals)]
        out = f(*aliases)
    if not isinstance(out, ArrayCore):
        raise GradientError(f"vjp: f must return an array, got {describe(out)}")

    def pull(cotangent: Any) -> tuple[Any, ...]:
        with modes.set_grad_enabled(True):
            return tuple(
                [_outside(g, aliases) for g in _cotangents(out, as_array(cotangent), aliases)]
            )

    return _outside(out, aliases), pull
