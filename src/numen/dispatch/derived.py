"""Derived rules: `elementwise` makes a row from partial derivatives, `linear` from a transpose.

What the rules share is here too: products that keep an exact zero, conjugates, zeros, broadcasting,
batched operands of equal rank. Called by the files of `ops/`. Next: `ops/elementwise.py`.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numen.dispatch import backends, core, slots
from numen.dispatch.core import ArrayCore
from numen.dispatch.primitive import Primitive, Rule
from numen.errors import GradientError, describe

try:  # the function below np.count_nonzero's Python, four times as quick on small arrays
    from numpy._core.multiarray import count_nonzero as _counted
except ImportError:  # pragma: no cover
    _counted = np.count_nonzero

count_nonzero: Callable[[Any], int] = _counted
ndarray = np.ndarray
FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)
MANY = 2048
"""Elements from which comparing with 0 and counting bools is quicker than counting floats."""


def elementwise(name: str, impl: Rule, *partials: Rule | bool | None, **fields: Any) -> Primitive:
    """Make the row of an elementwise op from its partial derivatives.

    partials[i] is d out / d argument i: None where it is zero (or the argument has no gradient),
    True where it is one, else a function whose parameter names say what it needs: `o` the result,
    `a`, `b`, `c` the arguments. Of complex numbers it is the derivative of an analytic function:
    a cotangent is multiplied by its conjugate.

    >>> from numen.ops.elementwise import exp
    >>> exp.saves_out, exp.saves_for
    (True, ((),))
    """
    names = "abc"[: len(partials)]
    wants: list[tuple[str, ...]] = []
    for partial in partials:
        wants.append(tuple(inspect.signature(partial).parameters) if callable(partial) else ())
    saves_for = tuple(tuple(sorted(names.index(w) for w in want if w != "o")) for want in wants)
    saves_out = any("o" in want for want in wants)

    def evaluate(i: int, out: Any, args: Sequence[Any]) -> Any:
        partial = partials[i]
        assert callable(partial)
        return partial(*[out if w == "o" else args[names.index(w)] for w in wants[i]])

    def vjp(needs: Sequence[bool], g: Any, out: Any, *args: Any) -> tuple[Any, ...]:
        cotangents: list[Any] = []
        for i, partial in enumerate(partials):
            if partial is None or not needs[i]:
                cotangents.append(None)
            elif partial is True:
                cotangents.append(g)
            else:
                slope = evaluate(i, out, args)
                cotangents.append(times(g, slope if g.dtype.kind != "c" else conj(slope)))
        return tuple(cotangents)

    def jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
        total = None
        for i, (partial, t) in enumerate(zip(partials, tangents, strict=True)):
            if partial is None or t is None:
                continue
            term = t if partial is True else times(t, evaluate(i, out, args))
            total = term if total is None else total + term
        return zeros_like(out) if total is None else broadcast_to(total, out.shape)

    def batch(size: int, args: Sequence[Any], axes: Sequence[bool]) -> Any:
        return row(*align(args, axes))

    def vjp_of_sum(needs: Sequence[bool], g: Any, out: Any, a: Any, b: Any) -> tuple[Any, ...]:
        return g if needs[0] else None, g if needs[1] else None

    differentiable = any(p is not None for p in partials)
    rule: Rule = vjp_of_sum if partials == (True, True) else vjp
    if len(partials) == 1 and callable(partials[0]):
        rule = _vjp_of_one(partials[0], wants[0])
    fields.setdefault("vjp", rule if differentiable else None)
    row = Primitive(
        name, impl, jvp=jvp, batch=batch, saves_for=saves_for, saves_out=saves_out, **fields
    )
    return row


def _vjp_of_one(partial: Rule, want: tuple[str, ...]) -> Rule:
    """The vjp rule of an op of one argument: small backward passes spend their time here."""
    slope_of: Rule
    if want == ("o",):
        slope_of = lambda out, a: partial(out)  # noqa: E731
    elif want == ("a",):
        slope_of = lambda out, a: partial(a)  # noqa: E731
    else:
        slope_of = lambda out, a: partial(*[out if w == "o" else a for w in want])  # noqa: E731

    def vjp(needs: Sequence[bool], g: Any, out: Any, a: Any) -> tuple[Any, ...]:
        slope = slope_of(out, a)
        dtype = g.dtype
        if (dtype is FLOAT32 or dtype is FLOAT64) and type(g) is ndarray and no_zeros(g):
            return (g * slope,)
        return (times(g, slope if dtype.kind != "c" else conj(slope)),)

    return vjp


def linear(
    name: str,
    impl: Rule,
    transpose: Rule,
    batch: Rule,
    *,
    kind: type[Primitive] = Primitive,
    **fields: Any,
) -> Primitive:
    """Make the row of an op that is linear in its first argument.

    transpose(g, a, **params) -> cotangent of `a`, of which only shape and dtype are known;
    batch(size, a, **params) -> the batched op, batch axis first.
    """

    def vjp(needs: Sequence[bool], g: Any, out: Any, a: Any, **params: Any) -> tuple[Any, ...]:
        return (transpose(g, a, **params),)

    def jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
        return row(tangents[0], **params)

    def batched(size: int, args: Sequence[Any], axes: Sequence[bool], /, **params: Any) -> Any:
        return batch(size, args[0], **params)

    row = kind(name, impl, vjp=vjp, jvp=jvp, batch=batched, **fields)
    return row


def align(args: Sequence[Any], axes: Sequence[bool]) -> list[Any]:
    """Give batched arguments the same rank behind their batch axis, so that broadcasting pairs the
    right axes."""
    ranks = [
        a._d.ndim - t if isinstance(a, ArrayCore) else np.ndim(a) - t
        for a, t in zip(args, axes, strict=True)
    ]
    rank = max(ranks)
    if min(ranks) == rank:
        return list(args)
    out: list[Any] = []
    for a, batched in zip(args, axes, strict=True):
        if batched and len(a.shape) - 1 < rank:
            a = a.reshape((a.shape[0],) + (1,) * (rank - len(a.shape) + 1) + tuple(a.shape[1:]))
        out.append(a)
    return out


def zeros_like(x: Any) -> Any:
    """Zeros of x's shape and dtype, raw or Array as x is."""
    if not isinstance(x, ArrayCore):
        return np.zeros(x.shape, x.dtype)
    return core.new_constant(backends.module_of(x._d).zeros(x._d.shape, x._d.dtype))


def broadcast_to(x: Any, shape: tuple[int, ...]) -> Any:
    """x broadcast to shape, raw or Array as x is."""
    if tuple(x.shape) == tuple(shape):
        return x
    return slots.primitive("broadcast_to")(x, shape=tuple(shape))


def no_zeros(g: Any) -> bool:
    """Whether a raw array of NumPy's has no exact zero."""
    if type(g) is ndarray:
        size: int = g.size
        return size == count_nonzero(g if size < MANY else g != 0)
    return isinstance(g, np.generic) and bool(g)


def times(g: Any, slope: Any) -> Any:
    """A cotangent or tangent g times a slope; exactly 0 where g is, however steep the slope.

    So nothing comes back to an element that `where`, an index or a maximum left out, and a zero of
    a one-hot vector stays one. The product is the row `masked_product` where there are zeros.
    """
    kind = type(slope)  # a number that a trace follows is not asked for its value
    if kind is float or kind is int:
        if math.isfinite(slope):
            return g * slope
    elif kind is complex or (
        not isinstance(g, ArrayCore) and not isinstance(slope, ArrayCore) and no_zeros(g)
    ):
        return g * slope
    return slots.primitive("masked_product")(g, slope)


def conj(x: Any) -> Any:
    """The conjugate of a factor (a number, raw or Array): what a cotangent is multiplied by."""
    if isinstance(x, complex):
        return x.conjugate()
    if isinstance(x, (int, float)) or x.dtype.kind != "c":
        return x
    return slots.primitive("conjugate")(x)


def no_gradient(name: str, *args: Any) -> GradientError:
    """The error for an op whose gradient is asked for and does not exist."""
    return GradientError(f"{name}: has no derivative; got {describe(*args)}")
