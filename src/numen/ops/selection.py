"""where, cast and copy: rows that move values without computing.

where gives the branch not taken a gradient of exactly 0; cast is NumPy's astype. Next:
`elementwise.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numen.dispatch import slots
from numen.dispatch.core import SCALAR, ArrayCore
from numen.dispatch.derived import align, broadcast_to, linear
from numen.dispatch.primitive import Primitive
from numen.ops.common import zeros
from numen.ops.samples import DType, Errors, Inputs, Rng, draw, singles

# where


def _where_vjp(needs: Sequence[bool], g: Any, out: Any, c: Any, a: Any, b: Any) -> tuple[Any, ...]:
    # d/da = g where c, else exactly 0; d/db = 0 where c, else g
    return None, where(c, g, 0) if needs[1] else None, where(c, 0, g) if needs[2] else None


def _where_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    _, ta, tb = tangents
    if ta is None and tb is None:
        return zeros(out.shape, out.dtype, out)
    tangent = where(args[0], 0 if ta is None else ta, 0 if tb is None else tb)
    return broadcast_to(tangent, out.shape)


def _where_batch(size: int, args: Sequence[Any], axes: Sequence[bool]) -> Any:
    return where(*align(args, axes))


def _where_samples(rng: Rng, dtype: DType) -> Inputs:
    def value(*shape: int) -> Any:
        return draw(rng, shape, dtype)

    chosen = draw(rng, (3, 4), np.dtype(np.bool_))
    return [
        ((chosen, value(3, 4), value(3, 4)), {}),
        ((chosen, value(4), value(2, 3, 1)), {}),
        ((chosen[0], value(3, 1), value()), {}),
        ((chosen, 1, value(4)), {}),
    ]


def _where_errors() -> Errors:
    return [((np.ones(3, np.bool_), np.ones(4), np.ones(4)), {}, ValueError)]


class _Arrays(Primitive):
    """A row of a function of NumPy's that gives arrays, without axes too."""

    def gives_scalar(self, source: Any, params: dict[str, Any]) -> bool:
        return False


where = _Arrays(
    "where",
    np.where,
    vjp=_where_vjp,
    jvp=_where_jvp,
    batch=_where_batch,
    saves_for=((), (0,), (0,)),
    cheap=False,
    samples=_where_samples,
    errors=_where_errors,
)


class _OfScalars(Primitive):
    """A row whose result is a scalar where its argument is one, as np.float64's astype and copy."""

    def gives_scalar(self, source: Any, params: dict[str, Any]) -> bool:
        return isinstance(source, ArrayCore) and source._v is SCALAR

    def finish(self, args: tuple[Any, ...], params: dict[str, Any], data: Any) -> Any:
        if isinstance(args[0], ArrayCore) and args[0]._v is SCALAR:
            data = data[()]
        return super().finish(args, params, data)


# cast


def _cast(a: Any, dtype: np.dtype[Any]) -> Any:
    return a.astype(dtype) if hasattr(a, "astype") else np.asarray(a).astype(dtype)[()]


def _linear_cast(x: Any, dtype: np.dtype[Any]) -> Any:
    """x in a dtype; the real part of complex numbers for a real one, which NumPy warns of."""
    if x.dtype == dtype:
        return x
    if x.dtype.kind == "c" and dtype.kind != "c":
        x = slots.primitive("real")(x)
    return cast(x, dtype=dtype)


def _cast_transpose(g: Any, a: Any, dtype: np.dtype[Any]) -> Any:
    return _linear_cast(g, a.dtype)


def _cast_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any], dtype: np.dtype[Any]) -> Any:
    return _linear_cast(tangents[0], dtype)


def _cast_batch(size: int, a: Any, dtype: np.dtype[Any]) -> Any:
    return cast(a, dtype=dtype)


def _cast_samples(rng: Rng, dtype: DType) -> Inputs:
    target = np.dtype(np.float32 if dtype == np.float64 else np.float64)
    if dtype.kind == "c":
        target = np.dtype(np.complex128)
    return [(args, {"dtype": target}) for args, _ in singles(rng, dtype)]


def _cast_errors() -> Errors:
    return [((np.array(["x"]),), {"dtype": np.dtype(np.float64)}, ValueError)]


cast = linear(
    "cast",
    _cast,
    _cast_transpose,
    _cast_batch,
    kind=_OfScalars,
    samples=_cast_samples,
    errors=_cast_errors,
)
cast.jvp = _cast_jvp


# copy


def _copy(a: Any) -> Any:
    return a.copy() if hasattr(a, "copy") else np.asarray(a)[()]


def _copy_transpose(g: Any, a: Any) -> Any:
    return g


def _copy_batch(size: int, a: Any) -> Any:
    return copy(a)


copy = linear("copy", _copy, _copy_transpose, _copy_batch, kind=_OfScalars, samples=singles)

ROWS = (where, cast, copy)
