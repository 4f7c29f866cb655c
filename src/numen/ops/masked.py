"""Products and quotients in which an exact 0 in front wins, over infinity and NaN too.

What flows back into an element that `where`, an index or a maximum left out is exactly 0, and stays
so however steep the op before it is: 0 times the infinite slope of sqrt at 0 would be NaN. Rules
multiply by `times` (which is `dispatch.derived.times`) and divide by `over`. Matrix products,
convolutions and sums of products compute as IEEE 754 says. Next: `elementwise.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numen.dispatch import core
from numen.dispatch.backends import module_of
from numen.dispatch.derived import broadcast_to, conj, no_zeros, times
from numen.dispatch.primitive import Primitive
from numen.ops.common import add_tangents, aligned_batch
from numen.ops.samples import DType, Inputs, Rng, away_from_zero, draw, unequal_shapes


def over(g: Any, d: Any) -> Any:
    """g / d, exactly 0 where g is, whatever d is there."""
    kind = type(d)
    if kind is float or kind is int:
        if d and d == d:
            return g / d
    elif not isinstance(g, core.ArrayCore) and not isinstance(d, core.ArrayCore) and no_zeros(g):
        return g / d
    return masked_quotient(g, d)


def _chosen(g: Any, x: Any, number: int) -> Any:
    """x, and `number` in its place where g is 0."""
    xp = module_of(g, x)
    if not hasattr(x, "dtype"):
        x = xp.asarray(x, g.dtype)
    return xp.where(g == 0, xp.full((), number, x.dtype), x)


# masked_product: g p


def _product_samples(rng: Rng, dtype: DType) -> Inputs:
    def value(*shape: int) -> Any:
        return draw(rng, shape, dtype)

    return [
        ((value(3, 4), value(3, 4)), {}),
        ((value(3, 1), value(2, 1, 4)), {}),
        ((value(3), value()), {}),
        ((value(), value()), {}),
        ((value(0, 3), value(3)), {}),
    ]


def _masked_product(g: Any, p: Any) -> Any:
    return module_of(g, p).multiply(g, _chosen(g, p, 0))


def _product_vjp(needs: Sequence[bool], h: Any, out: Any, g: Any, p: Any) -> tuple[Any, ...]:
    return (
        times(h, conj(p)) if needs[0] else None,
        times(conj(g), h) if needs[1] else None,  # nor does what comes back to a slope where g is 0
    )


def _product_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    (g, p), (tg, tp) = args, tangents
    total = add_tangents(
        None if tg is None else times(tg, p),
        None if tp is None else times(g, tp),  # a slope's change does not count where g is 0
    )
    return broadcast_to(total, out.shape)


masked_product: Primitive = Primitive(
    "masked_product",
    _masked_product,
    vjp=_product_vjp,
    jvp=_product_jvp,
    batch=aligned_batch(lambda: masked_product),
    saves_for=((1,), (0,)),
    samples=_product_samples,
    errors=unequal_shapes,
)

# masked_quotient: g / d


def _masked_quotient(g: Any, d: Any) -> Any:
    return module_of(g, d).divide(g, _chosen(g, d, 1))


def _quotient_vjp(needs: Sequence[bool], h: Any, out: Any, g: Any, d: Any) -> tuple[Any, ...]:
    d = conj(d)
    return (
        over(h, d) if needs[0] else None,
        over(-times(conj(out), h), d) if needs[1] else None,
    )


def _quotient_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    d, (tg, td) = args[1], tangents
    total = add_tangents(tg, None if td is None else -times(out, td))
    return broadcast_to(over(total, d), out.shape)


def _quotient_samples(rng: Rng, dtype: DType) -> Inputs:
    def value(*shape: int) -> Any:
        return away_from_zero(rng, shape, dtype)

    return [
        ((draw(rng, (3, 4), dtype), value(3, 4)), {}),
        ((value(3, 1), value(2, 1, 4)), {}),
        ((value(3), value()), {}),
        ((value(0, 3), value(3)), {}),
    ]


masked_quotient: Primitive = Primitive(
    "masked_quotient",
    _masked_quotient,
    vjp=_quotient_vjp,
    jvp=_quotient_jvp,
    batch=aligned_batch(lambda: masked_quotient),
    saves_for=((1,), (1,)),
    saves_out=True,
    samples=_quotient_samples,
    errors=unequal_shapes,
)

ROWS = (masked_product, masked_quotient)
