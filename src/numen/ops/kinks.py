"""Elementwise rows with a kink: absolute, relu, maximum, minimum.

At the kink the gradient is 0 (absolute, relu) or shared evenly between equal operands (maximum,
minimum). The side that does not count gets exactly 0, whatever the cotangent. Next:
`reductions.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numen.dispatch.primitive import Primitive, broadcast_to, no_gradient
from numen.errors import DTypeError, describe
from numen.ops.common import add_tangents, aligned_batch
from numen.ops.comparisons import equal, greater, less
from numen.ops.samples import (
    DType,
    Errors,
    Inputs,
    Rng,
    away_from_zero,
    distinct,
    text_operand,
    unequal_shapes,
)
from numen.ops.selection import where


def _signed(x: Any, a: Any) -> Any:
    """x times the sign of a: exactly 0 where a is 0."""
    if a.dtype.kind == "c":
        raise no_gradient("absolute", a)
    return where(greater(a, 0), x, where(less(a, 0), -x, 0))


def _absolute_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any) -> tuple[Any, ...]:
    return (_signed(g, a),)


def _absolute_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    return _signed(tangents[0], args[0])


def _off_zero(rng: Rng, dtype: DType) -> Inputs:
    return [((away_from_zero(rng, shape, dtype),), {}) for shape in ((3, 4), (7,), (), (0, 2))]


absolute: Primitive = Primitive(
    "absolute",
    np.absolute,
    vjp=_absolute_vjp,
    jvp=_absolute_jvp,
    batch=aligned_batch(lambda: absolute),
    saves=(0,),
    ufunc=np.absolute,
    samples=_off_zero,
    errors=text_operand,
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
    return np.maximum(a, zero)


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
    samples=_off_zero,
    errors=_relu_errors,
)


def _shared(x: Any, a: Any, b: Any) -> Any:
    """Half of x where a and b are equal, else exactly 0."""
    return where(equal(a, b), 0.5 * x, 0)


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

    def samples(rng: Rng, dtype: DType) -> Inputs:
        both = distinct(rng, (24,), dtype)
        return [
            ((both[:12].reshape(3, 4), both[12:].reshape(3, 4)), {}),
            ((both[:3].reshape(3, 1), both[12:20].reshape(2, 1, 4)), {}),
            ((both[:5], both[5]), {}),
            ((both[:5], 1), {}),
            ((0, both[:5]), {}),
        ]

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
        samples=samples,
        errors=unequal_shapes,
    )
    return row


maximum = _extremum("maximum", np.maximum, greater)
minimum = _extremum("minimum", np.minimum, less)

ROWS = (absolute, relu, maximum, minimum)
