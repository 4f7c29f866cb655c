"""Reverse mode as functions of functions.

The arrays to differentiate, also those inside tuples, lists and dicts, are aliased with fresh nodes
above them, so inner and outer derivatives do not mix; the backward pass stops at those nodes.
`create_graph` is always on: transforms nest. Next: `forward.py`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numen.dispatch import backward as _backward
from numen.dispatch import core, frames, modes, slots, views
from numen.dispatch.convert import as_array
from numen.dispatch.core import ArrayCore, Leaf, Node
from numen.errors import DTypeError, GradientError, ShapeError, describe
from numen.transforms.trees import Structure, flatten


class _Scope:
    """Whether the function of a `grad` or `vjp`, or a pull of it, still runs: only then can what it
    recorded matter to others."""

    __slots__ = ("entered",)

    def __init__(self) -> None:
        self.entered: list[None] = []  # threads may pull at once: append and pop are atomic

    @property
    def running(self) -> bool:
        return bool(self.entered)

    def __enter__(self) -> _Scope:
        self.entered.append(None)
        return self

    def __exit__(self, *error: object) -> None:
        self.entered.pop()


def _alias(x: Any, op: str, position: int, scope: _Scope) -> Any:
    """An Array with x's values and a node of its own above x's."""
    a = as_array(x)
    if not core.is_differentiable(a._d.dtype):
        raise DTypeError(
            f"{op}: argument {position} must be of a floating or complex dtype, got {describe(a)}"
        )
    if modes.state.level:
        a = frames.lifted(a)
    alias = core.ARRAY(a._d)
    if type(a._d) is np.ndarray:
        views.register_twin(alias, a)
    alias._t = _backward.register_of(a, alias)
    if a._n is None:
        alias._n = Leaf(a._d.shape, a._d.dtype, scope)
        alias._n.stamp = core.next_stamp()  # a leaf of this transform, not of the user's
    else:
        alias._n = Node(slots.primitive("copy"), (a._n,), (None,), {}, None, a._d)
    return alias


def _aliased(tree: Any, op: str, position: int, scope: _Scope) -> tuple[Any, list[Any], Structure]:
    """A container with aliases for its arrays, the aliases, and its structure."""
    leaves, structure = flatten(tree)
    aliases = [_alias(x, op, position, scope) for x in leaves]
    return structure.unflatten(aliases), aliases, structure


def positions_of(argnums: int | Sequence[int], count: int, op: str) -> tuple[int, ...]:
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    for i in numbers:
        if not -count <= i < count:
            raise TypeError(
                f"{op}: argnums {argnums} needs more positional arguments than the {count} given"
            )
    return tuple([i % count for i in numbers])


def _cotangents(outs: Sequence[Any], seeds: Sequence[Any], aliases: Sequence[Any]) -> list[Any]:
    """The cotangents of the aliases, zeros where nothing leads to them."""
    found = _backward.backward(outs, seeds, wrt=[a._n for a in aliases], create_graph=True)
    results = []
    for a, g in zip(aliases, found, strict=True):
        if g is None:
            g = slots.primitive("broadcast_to")(
                core.new_constant(np.zeros((), a._d.dtype)), shape=tuple(a._d.shape)
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
        Which positional arguments: arrays, or tuples, lists and dicts of arrays. One gradient, of
        the argument's form, for an int; a tuple of them for a sequence.

    Raises
    ------
    GradientError
        If f's result does not have exactly one element, or is complex.
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
        positions = positions_of(argnums, len(args), "grad")
        inputs = list(args)
        with modes.set_grad_enabled(True), _Scope() as scope:
            aliases, forms = [], []
            for i in positions:
                inputs[i], leaves, structure = _aliased(args[i], "grad", i, scope)
                aliases += leaves
                forms.append(structure)
            result = f(*inputs, **kwargs)
            out, aux = result if has_aux else (result, None)
            if not isinstance(out, ArrayCore) or out._d.size != 1:
                raise GradientError(
                    f"grad: f must return an array of one element, got {describe(out)}"
                )
            if out._d.dtype.kind == "c":
                raise GradientError(
                    f"grad: f must return a real array of one element, got {describe(out)}. Hint: "
                    "take real(), imag() or abs() of it; vjp takes complex cotangents"
                )
            grads = _cotangents([out], [None], aliases)
        value = _outside(out, aliases)
        found = iter([_outside(g, aliases) for g in grads])
        trees = [form.unflatten([next(found) for _ in range(form.count)]) for form in forms]
        gradient = trees[0] if isinstance(argnums, int) else tuple(trees)
        return ((value, aux) if has_aux else value), gradient

    return wrapped


def _outside(x: Any, aliases: Sequence[Any]) -> Any:
    """A result without what only this transform recorded: its graph, where no outer one exists."""
    if isinstance(x, ArrayCore) and type(x._d) is frames.Frame:
        x = _below_outside(x, aliases)
    if isinstance(x, ArrayCore) and x._n is not None and all(type(a._n) is Leaf for a in aliases):
        if not _reaches_outer(x._n, {a._n for a in aliases}):
            detached = core.ARRAY(x._d, None, x._v)
            detached._t = _backward.register_of(x, detached)
            return detached
    return x


def _below_outside(x: Any, aliases: Sequence[Any]) -> Any:
    """The same for the values below those of `vmap` and `jvp`: what was recorded before them."""
    frame = x._d
    value, tangent = _outside(frame.value, aliases), _outside(frame.tangent, aliases)
    if value is frame.value and tangent is frame.tangent:
        return x
    result = core.ARRAY(frames.Frame(frame.level, value, frame.mapped, tangent), x._n, x._v)
    result._t = x._t
    return result


def _reaches_outer(node: Any, inner: set[Any]) -> bool:
    """Whether a graph leads to a leaf that is not one of ours: a captured parameter, or an argument
    of a transform around this one."""
    seen: set[int] = set()
    stack = [node]
    while stack:
        n = stack.pop()
        if n is None or id(n) in seen:
            continue
        seen.add(id(n))
        if type(n) is Leaf:
            if n not in inner and (n.scope is None or n.scope.running):
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


def vjp(f: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Evaluate f and return (result, pull): pull(cotangent) gives one cotangent per primal.

    Primals, result and cotangents may be tuples, lists and dicts of arrays; the cotangent has the
    result's form. With `has_aux` f returns a pair, whose second part comes back as a third.

    Raises
    ------
    GradientError
        If f returns something else than floating arrays.
    ShapeError
        If pull gets a cotangent of another shape or form than the result.

    Examples
    --------
    >>> import numen as nm
    >>> y, pull = nm.vjp(lambda x: x * x, nm.array([1.0, 2.0]))
    >>> pull(nm.array([1.0, 10.0]))
    (array([ 2., 40.]),)
    """
    with modes.set_grad_enabled(True), _Scope() as scope:
        inputs, aliases, form = _aliased(primals, "vjp", 0, scope)
        out = f(*inputs)
    out, aux = out if has_aux else (out, None)
    leaves, structure = flatten(out)
    for leaf in leaves:
        if not isinstance(leaf, ArrayCore):
            raise GradientError(f"vjp: f must return an array, got {describe(leaf)}")

    def pull(cotangent: Any) -> tuple[Any, ...]:
        seeds, given = flatten(cotangent)
        if structure.count == 1 and not isinstance(out, (tuple, list, dict)):
            seeds = [as_array(cotangent)]
        elif given != structure:
            raise ShapeError(f"vjp: a cotangent of the form {given!r} for a result {structure!r}")
        with modes.set_grad_enabled(True), scope:
            grads = _cotangents(leaves, [as_array(s) for s in seeds], aliases)
            return form.unflatten([_outside(g, aliases) for g in grads])  # type: ignore[no-any-return]

    result = structure.unflatten([_outside(x, aliases) for x in leaves])
    return (result, pull, aux) if has_aux else (result, pull)
