"""The parts of floating-point numbers: signs, neighbours, fractions, exponents, NaN and infinity.

A part that jumps has gradient 0 or, where it is an integer or a bool, none. modf and frexp give two
results, so each of them is two rows. Next: `complex_parts.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numen.dispatch.backends import module_of
from numen.dispatch.derived import broadcast_to, elementwise
from numen.dispatch.primitive import Primitive
from numen.ops.common import aligned_batch, flat, zeros
from numen.ops.comparisons import equal
from numen.ops.samples import (
    DType,
    Errors,
    Inputs,
    Rng,
    away_from_zero,
    draw,
    nonzero_pairs,
    singles,
    steps,
    text_operand,
    unequal_shapes,
)
from numen.ops.selection import where


def _special(rng: Rng, dtype: DType) -> Inputs:
    """Numbers with NaN and infinities among them, where the dtype has such."""
    a = draw(rng, (7,), dtype)
    if dtype.kind in "fc":
        a[1:5] = [np.nan, np.inf, -np.inf, -0.0]
    return [*singles(rng, dtype), ((a,), {})]


def _question(ufunc: np.ufunc) -> Primitive:
    return elementwise(
        ufunc.__name__, ufunc, None, ufunc=ufunc, samples=_special, errors=text_operand
    )


isnan = _question(np.isnan)
isinf = _question(np.isinf)
isfinite = _question(np.isfinite)
signbit = _question(np.signbit)


def _dates(rng: Rng, dtype: DType) -> Inputs:
    days = rng.integers(0, 9, (2, 3)).astype("M8[D]")
    days[0, 1] = np.datetime64("NaT")
    return [((days,), {}), ((days - days[1, 1],), {})]


def _isnat_errors() -> Errors:
    return [((np.ones(3),), {}, TypeError)]


isnat = elementwise("isnat", np.isnat, None, ufunc=np.isnat, samples=_dates, errors=_isnat_errors)

# Signs and neighbours


def _with_sign(x: Any, out: Any, a: Any) -> Any:
    """x times the ratio of copysign's result to `a`: exactly 0 where a is 0."""
    return where(equal(a, 0), 0, where(equal(a, out), x, -x))


def _copysign_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any, b: Any) -> tuple[Any, ...]:
    return (
        _with_sign(g, out, a) if needs[0] else None,
        zeros(g.shape, g.dtype, g) if needs[1] else None,
    )


def _copysign_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    if tangents[0] is None:
        return zeros(out.shape, out.dtype, out)
    return broadcast_to(_with_sign(tangents[0], out, args[0]), out.shape)


copysign: Primitive = Primitive(
    "copysign",
    np.copysign,
    vjp=_copysign_vjp,
    jvp=_copysign_jvp,
    batch=aligned_batch(lambda: copysign),
    saves_for=((0,), ()),
    saves_out=True,
    ufunc=np.copysign,
    samples=nonzero_pairs,
    errors=unequal_shapes,
)


def _nextafter_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any, b: Any) -> tuple[Any, ...]:
    return g if needs[0] else None, zeros(g.shape, g.dtype, g) if needs[1] else None


def _nextafter_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    if tangents[0] is None:
        return zeros(out.shape, out.dtype, out)
    return broadcast_to(tangents[0], out.shape)


nextafter: Primitive = Primitive(
    "nextafter",
    np.nextafter,
    vjp=_nextafter_vjp,
    jvp=_nextafter_jvp,
    batch=aligned_batch(lambda: nextafter),
    saves_for=((), ()),
    ufunc=np.nextafter,
    samples=nonzero_pairs,
    errors=unequal_shapes,
)


def _spacing(a: Any) -> Any:
    """The distance to the next float away from zero, for backends without such a function."""
    xp = module_of(a)
    return xp.nextafter(a, xp.where(a < 0, -np.inf, np.inf)) - a


spacing = flat(
    "spacing",
    np.spacing,
    ufunc=np.spacing,
    substitute=_spacing,
    samples=steps,
    errors=text_operand,
)

# Powers of two: a = mantissa 2**exponent


def _ldexp_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any, b: Any) -> tuple[Any, ...]:
    return ldexp(g, b) if needs[0] else None, None


def _ldexp_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    return broadcast_to(ldexp(tangents[0], args[1]), out.shape)


def _ldexp_samples(rng: Rng, dtype: DType) -> Inputs:
    exponents = rng.integers(-3, 4, (2, 3)).astype(np.int32)
    return [
        ((draw(rng, (2, 3), dtype), exponents), {}),
        ((draw(rng, (4, 1, 3), dtype), exponents), {}),
        ((draw(rng, (5,), dtype), 2), {}),
        ((draw(rng, (), dtype), exponents[0]), {}),
    ]


def _ldexp_errors() -> Errors:
    return [*unequal_shapes_with_exponents(), ((np.ones(3), np.ones(3)), {}, TypeError)]


def unequal_shapes_with_exponents() -> Errors:
    return [((np.ones((2, 3)), np.ones(4, np.int32)), {}, ValueError)]


ldexp: Primitive = Primitive(
    "ldexp",
    np.ldexp,
    vjp=_ldexp_vjp,
    jvp=_ldexp_jvp,
    batch=aligned_batch(lambda: ldexp),
    saves_for=((1,), ()),
    ufunc=np.ldexp,
    samples=_ldexp_samples,
    errors=_ldexp_errors,
)


def _part(function: str, position: int) -> Callable[[Any], Any]:
    """The NumPy meaning of one of a function's results."""

    def impl(a: Any) -> Any:
        return getattr(module_of(a), function)(a)[position]

    return impl


def _frexp_samples(rng: Rng, dtype: DType) -> Inputs:
    """Values away from powers of two, where the mantissa jumps."""
    cases: Inputs = []
    for shape in ((3, 4), (7,), (), (0, 2)):
        a = away_from_zero(rng, shape, dtype)
        if dtype.kind == "f":
            a = np.ldexp(np.copysign(0.55 + 0.2 * np.abs(a), a), rng.integers(-2, 3, shape))
            a = np.asarray(a).astype(dtype)
        cases.append(((a,), {}))
    return cases


def _mantissa_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any) -> tuple[Any, ...]:
    return (ldexp(g, -frexp_exponent(a)),)


def _mantissa_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    return ldexp(tangents[0], -frexp_exponent(args[0]))


frexp_mantissa: Primitive = Primitive(
    "frexp_mantissa",
    _part("frexp", 0),
    vjp=_mantissa_vjp,
    jvp=_mantissa_jvp,
    batch=aligned_batch(lambda: frexp_mantissa),
    saves=(0,),
    samples=_frexp_samples,
    errors=text_operand,
)

frexp_exponent = elementwise(
    "frexp_exponent", _part("frexp", 1), None, samples=_frexp_samples, errors=text_operand
)

# Whole and fraction

modf_fraction = elementwise(
    "modf_fraction", _part("modf", 0), True, samples=steps, errors=text_operand
)
modf_integer = flat("modf_integer", _part("modf", 1), samples=steps, errors=text_operand)

ROWS = (
    *(isnan, isinf, isfinite, signbit, isnat, copysign, nextafter, spacing),
    *(ldexp, frexp_mantissa, frexp_exponent, modf_fraction, modf_integer),
)
