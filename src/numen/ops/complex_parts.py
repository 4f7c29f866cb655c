"""conjugate, and the views `real` and `imag` of complex arrays.

Of a real array, `real` is the array itself and `imag` is read-only zeros, as NumPy's. Called by the
attributes of Array. Next: `kinks.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numen.dispatch.core import ArrayCore
from numen.dispatch.derived import elementwise
from numen.dispatch.primitive import Primitive
from numen.ops.samples import DType, Inputs, Rng, draw, singles, text_operand


def _conjugate_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any) -> tuple[Any, ...]:
    return (g if g.dtype.kind != "c" else conjugate(g),)


def _conjugate_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    t = tangents[0]
    return t if t.dtype.kind != "c" else conjugate(t)


conjugate = elementwise(
    "conjugate",
    np.conjugate,
    True,
    vjp=_conjugate_vjp,
    ufunc=np.conjugate,
    samples=singles,
    errors=text_operand,
)
conjugate.jvp = _conjugate_jvp


class _Part(Primitive):
    """A view row that gives back its very argument where that is what NumPy does."""

    def finish(self, args: tuple[Any, ...], params: dict[str, Any], data: Any) -> Any:
        if isinstance(args[0], ArrayCore) and data is args[0]._d:
            return args[0]
        return super().finish(args, params, data)


def _real(a: Any) -> Any:
    return a.real


def _imag(a: Any) -> Any:
    return a.imag


def _real_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any) -> tuple[Any, ...]:
    return (g + 0j if a.dtype.kind == "c" else g,)


def _real_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    return real(tangents[0])


def _imag_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any) -> tuple[Any, ...]:
    return (g * 1j if a.dtype.kind == "c" else imag(g),)


def _imag_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    return imag(tangents[0])


def _real_batch(size: int, args: Sequence[Any], axes: Sequence[bool]) -> Any:
    return real(args[0])


def _imag_batch(size: int, args: Sequence[Any], axes: Sequence[bool]) -> Any:
    return imag(args[0])


def _samples(rng: Rng, dtype: DType) -> Inputs:
    a = draw(rng, (3, 4), dtype)
    return [((a,), {}), ((a.T[1:],), {}), ((draw(rng, (), dtype),), {}), ((a[:0],), {})]


real: Primitive = _Part(
    "real", _real, vjp=_real_vjp, jvp=_real_jvp, batch=_real_batch, view=True, samples=_samples
)

imag: Primitive = _Part(
    "imag", _imag, vjp=_imag_vjp, jvp=_imag_jvp, batch=_imag_batch, view=True, samples=_samples
)

ROWS = (conjugate, real, imag)
