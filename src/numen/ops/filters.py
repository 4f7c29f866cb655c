"""convolve: the discrete convolution of two vectors, of full length.

Called by `nm.convolve` and `nm.correlate`, whose other modes are slices of it. Shapes in comments:
N and M of the arguments. Next: `linear_algebra.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numen.dispatch.backends import module_of
from numen.dispatch.derived import conj
from numen.dispatch.primitive import Primitive
from numen.ops.common import add_tangents, constant, ndim, zeros
from numen.ops.gathering import gather
from numen.ops.indexing import getitem
from numen.ops.joining import concatenate
from numen.ops.linear_algebra import column, matmul
from numen.ops.samples import DType, Errors, Inputs, Rng, draw

BACKWARD = slice(None, None, -1)


def _convolve(a: Any, v: Any) -> Any:
    return module_of(a, v).convolve(a, v)


def _valid(g: Any, v: Any) -> Any:
    """The products of v with every stretch of g that it fits into: (N + M - 1,), (M,) -> (N,)."""
    full, m = convolve(g, getitem(v, index=(BACKWARD,))), v.shape[0]
    return getitem(full, index=(slice(m - 1, g.shape[0], 1),))


def _vjp(needs: Sequence[bool], g: Any, out: Any, a: Any, v: Any) -> tuple[Any, ...]:
    # d/da_n = sum_m g_(n+m) v_m, and the same for v
    return (
        _valid(g, conj(v)) if needs[0] else None,
        _valid(g, conj(a)) if needs[1] else None,
    )


def _jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    (a, v), (ta, tv) = args, tangents
    return add_tangents(
        None if ta is None else convolve(ta, v), None if tv is None else convolve(a, tv)
    )


def _batch(size: int, args: Sequence[Any], axes: Sequence[bool]) -> Any:
    """Every stretch of the padded `a` times the reversed `v`."""
    a, v = args
    if any([ndim(x) - t != 1 or not x.shape[-1] for x, t in zip(args, axes, strict=True)]):
        shapes = [x.shape[1:] if t else x.shape for x, t in zip(args, axes, strict=True)]
        _convolve(*[np.zeros(shape) for shape in shapes])  # raises what an example raises
    n, m = a.shape[-1], v.shape[-1]
    edge = zeros((*a.shape[:-1], m - 1), a.dtype, a)
    padded = concatenate(edge, a, edge, axis=ndim(a) - 1)
    stretches = constant(np.arange(n + m - 1)[:, None] + np.arange(m), a)  # (N + M - 1, M)
    spec = (("b", slice(0, size, 1)), 0) if axes[0] else (0,)
    windows = gather(padded, stretches, spec=spec)
    reverse = getitem(v, index=(slice(None), BACKWARD) if axes[1] else (BACKWARD,))
    if not axes[1]:
        return matmul(windows, reverse)
    out = matmul(windows, column(reverse))
    return out.reshape(tuple(out.shape[:-1]))


def _samples(rng: Rng, dtype: DType) -> Inputs:
    sizes = ((5, 3), (2, 4), (1, 1), (3, 3))
    return [((draw(rng, (n,), dtype), draw(rng, (m,), dtype)), {}) for n, m in sizes]


def _errors() -> Errors:
    return [
        ((np.ones(0), np.ones(2)), {}, ValueError),
        ((np.ones((2, 2)), np.ones(2)), {}, ValueError),
    ]


convolve = Primitive(
    "convolve",
    _convolve,
    vjp=_vjp,
    jvp=_jvp,
    batch=_batch,
    saves_for=((1,), (0,)),
    samples=_samples,
    errors=_errors,
)

ROWS = (convolve,)
