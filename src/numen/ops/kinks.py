"""Elementwise rows with a kink: absolute, sign, relu, maximum, fmax and their like.

At the kink the gradient is 0 (absolute, relu) or shared evenly between equal operands (maximum,
minimum). The side that does not count gets exactly 0, whatever the cotangent. Next:
`reductions.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numen.dispatch.backends import module_of
from numen.dispatch.derived import broadcast_to, conj
from numen.dispatch.primitive import Primitive
from numen.errors import DTypeError, describe
from numen.ops.common import add_tangents, aligned_batch, zeros
from numen.ops.comparisons import equal, greater, less
from numen.ops.complex_parts import real
from numen.ops.samples import (
    DType,
    Errors,
    Inputs,
    Rng,
    distinct,
    nonzero,
    nonzero_pairs,
    text_operand,
    unequal_shapes,
)
from numen.ops.selection import where


def _signed(x: Any, a: Any) -> Any:
    """x times the sign of a: exactly 0 where a is 0."""
    return where(greater(a, 0), x, where(less(a, 0), -x, 0))


def _absolute_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any) -> tuple[Any, ...]:
    return (g * sign(a) if a.dtype.kind == "c" else _signed(g, a),)


def _absolute_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    (a,), (t,) = args, tangents
    return real(conj(sign(a)) * t) if a.dtype.kind == "c" else _signed(t, a)


absolute: Primitive = Primitive(
    "absolute",
    np.absolute,
    vjp=_absolute_vjp,
    jvp=_absolute_jvp,
    batch=aligned_batch(lambda: absolute),
    saves=(0,),
    ufunc=np.absolute,
    samples=nonzero,
    errors=text_operand,
)

fabs: Primitive = Primitive(
    "fabs",
    np.fabs,
    vjp=_absolute_vjp,
    jvp=_absolute_jvp,
    batch=aligned_batch(lambda: fabs),
    saves=(0,),
    ufunc=np.fabs,
    samples=nonzero,
    errors=text_operand,
)

# sign: piecewise constant among real numbers, z / |z| of complex ones


def _turned(x: Any, out: Any, a: Any) -> Any:
    """The derivative of z / |z|, a symmetric map: what of x is across z, over |z|; 0 at 0."""
    if a.dtype.kind != "c":
        return zeros(x.shape, x.dtype, x)
    size = absolute(a)
    across = x - out * real(conj(out) * x)
    return where(equal(a, 0), 0, across / where(equal(a, 0), 1, size))


def _sign_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any) -> tuple[Any, ...]:
    return (_turned(g, out, a),)


def _sign_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    return _turned(tangents[0], out, args[0])


sign: Primitive = Primitive(
    "sign",
    np.sign,
    vjp=_sign_vjp,
    jvp=_sign_jvp,
    batch=aligned_batch(lambda: sign),
    saves=(0,),
    saves_out=True,
    ufunc=np.sign,
    samples=nonzero,
    errors=text_operand,
)


def _heaviside_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any, b: Any) -> tuple[Any, ...]:
    # a step of a; b is the value on it
    return (
        zeros(g.shape, g.dtype, g) if needs[0] else None,
        where(equal(a, 0), g, 0) if needs[1] else None,
    )


def _heaviside_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    t = tangents[1]
    if t is None:
        return zeros(out.shape, out.dtype, out)
    return broadcast_to(where(equal(args[0], 0), t, 0), out.shape)


heaviside: Primitive = Primitive(
    "heaviside",
    np.heaviside,
    vjp=_heaviside_vjp,
    jvp=_heaviside_jvp,
    batch=aligned_batch(lambda: heaviside),
    saves_for=((), (0,)),
    ufunc=np.heaviside,
    samples=nonzero_pairs,
    errors=unequal_shapes,
)

_zeros: dict[np.dtype[Any], Any] = {}


def _relu(a: Any) -> Any:
    """max(a, 0) in a's own dtype; NaN stays NaN."""
    if not hasattr(a, "dtype"):
        a = np.asarray(a)
    zero = _zeros.get(a.dtype)
    if zero is None:
        if a.dtype.kind not in "biufV":
            raise DTypeError(f"relu: expected a real array, got {describe(a)}")
        # A 0-d array of the dtype is twice as quick an operand as a Python scalar.
        zero = _zeros[a.dtype] = np.zeros((), a.dtype)
    if type(a) is np.ndarray:
        return np.maximum(a, zero)
    return module_of(a).maximum(a, zero[()])


def _relu_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any) -> tuple[Any, ...]:
    return (where(greater(out, 0), g, 0),)


def _relu_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    return where(greater(out, 0), tangents[0], 0)


def _relu_errors() -> Errors:
    return [((np.ones(3, np.complex128),), {}, TypeError), *text_operand()]


relu: Primitive = Primitive(
    "relu",
    _relu,
    vjp=_relu_vjp,
    jvp=_relu_jvp,
    batch=aligned_batch(lambda: relu),
    saves_out=True,
    exact=False,  # the sign of a zero result is the kernels' own
    cheap=True,
    samples=nonzero,
    errors=_relu_errors,
)


def _shared(x: Any, a: Any, b: Any) -> Any:
    """Half of x where a and b are equal, else exactly 0."""
    return where(equal(a, b), 0.5 * x, 0)


def _untied(rng: Rng, dtype: DType) -> Inputs:
    both = distinct(rng, (24,), dtype)
    return [
        ((both[:12].reshape(3, 4), both[12:].reshape(3, 4)), {}),
        ((both[:3].reshape(3, 1), both[12:20].reshape(2, 1, 4)), {}),
        ((both[:5], both[5]), {}),
        ((both[:5], 1), {}),
        ((0, both[:5]), {}),
    ]


def _extremum(name: str, ufunc: np.ufunc, wins: Primitive) -> Primitive:
    def vjp(needs: Sequence[bool], g: Any, out: Any, a: Any, b: Any) -> tuple[Any, ...]:
        # an operand has the gradient where it wins, half of it where both are equal
        half = _shared(g, a, b)
        return (
            where(wins(a, b), g, half) if needs[0] else None,
            where(wins(b, a), g, half) if needs[1] else None,
        )

    def jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
        a, b = args
        ta, tb = tangents
        total = add_tangents(
            None if ta is None else where(wins(a, b), ta, _shared(ta, a, b)),
            None if tb is None else where(wins(b, a), tb, _shared(tb, a, b)),
        )
        return broadcast_to(total, out.shape)

    row = Primitive(
        name,
        ufunc,
        vjp=vjp,
        jvp=jvp,
        batch=aligned_batch(lambda: row),
        saves=(0, 1),
        exact=False,  # which of two zeros or two NaNs comes out is the kernels' own
        cheap=True,
        ufunc=ufunc,
        samples=_untied,
        errors=unequal_shapes,
    )
    return row


maximum = _extremum("maximum", np.maximum, greater)
minimum = _extremum("minimum", np.minimum, less)


def _without_nan(name: str, ufunc: np.ufunc) -> Primitive:
    """fmax or fmin: where one operand is NaN the result, and so the gradient, is the other's."""

    def chosen(x: Any, out: Any, a: Any, b: Any) -> Any:
        """x where `a` is the result, half of it where `b` is too."""
        return where(equal(a, out), where(equal(a, b), 0.5 * x, x), 0)

    def vjp(needs: Sequence[bool], g: Any, out: Any, a: Any, b: Any) -> tuple[Any, ...]:
        return (
            chosen(g, out, a, b) if needs[0] else None,
            chosen(g, out, b, a) if needs[1] else None,
        )

    def jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
        a, b = args
        ta, tb = tangents
        total = add_tangents(
            None if ta is None else chosen(ta, out, a, b),
            None if tb is None else chosen(tb, out, b, a),
        )
        return broadcast_to(total, out.shape)

    row = Primitive(
        name,
        ufunc,
        vjp=vjp,
        jvp=jvp,
        batch=aligned_batch(lambda: row),
        saves=(0, 1),
        saves_out=True,
        exact=False,  # which of two zeros or two NaNs comes out is the kernels' own
        cheap=True,
        ufunc=ufunc,
        samples=_untied,
        errors=unequal_shapes,
    )
    return row


fmax = _without_nan("fmax", np.fmax)
fmin = _without_nan("fmin", np.fmin)

ROWS = (absolute, fabs, sign, heaviside, relu, maximum, minimum, fmax, fmin)
