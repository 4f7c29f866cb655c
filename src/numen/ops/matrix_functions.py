"""expm: the exponential of a square matrix, or of each of a stack, by scaling and squaring.

Higham 2005, "The scaling and squaring method for the matrix exponential revisited": the Pade
approximant of degree 13 of a / 2^s, squared s times. Called by `numen.linalg.expm`. Next:
`spectra.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numen.dispatch import modes
from numen.dispatch.backends import module_of
from numen.dispatch.primitive import Primitive
from numen.errors import describe
from numen.ops.common import zeros
from numen.ops.comparisons import equal
from numen.ops.indexing import getitem
from numen.ops.joining import concatenate
from numen.ops.kinks import absolute
from numen.ops.linear_algebra import adjoint
from numen.ops.matrices import no_squares, same_batch
from numen.ops.reductions import sum
from numen.ops.samples import DType, Errors, Inputs, Rng, draw
from numen.ops.selection import where

THETA = 5.371920351148152
"""The 1-norm up to which the approximant of degree 13 has float64's precision."""

COEFFICIENTS = (
    *(64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000),
    *(10559470521600, 670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1),
)
"""Of the approximant's numerator, by rising powers."""


def _floating(a: Any) -> Any:
    """The matrices in LAPACK's dtypes.

    Raises
    ------
    LinAlgError
        If they are not square.
    TypeError
        If LAPACK has no routine for the dtype.
    """
    if len(a.shape) < 2 or a.shape[-1] != a.shape[-2]:
        raise np.linalg.LinAlgError(f"expm: expected square matrices, got {describe(a)}")
    if a.dtype.kind in "biu":
        return a.astype(np.float64)
    if a.dtype.char not in "fdFD":
        raise TypeError(f"expm: array type {a.dtype} is unsupported in linalg; got {describe(a)}")
    return a


def _expm(a: Any) -> Any:
    a = _floating(a)
    xp, n = module_of(a), a.shape[-1]
    if not a.size:
        return xp.zeros(a.shape, a.dtype)
    norms = xp.absolute(a).sum(axis=-2).max(axis=-1)  # (...)
    norms = xp.where(xp.isfinite(norms), norms, xp.ones((), norms.dtype))
    halvings = xp.maximum(xp.ceil(xp.log2(xp.maximum(norms, THETA) / THETA)), 0).astype(np.int64)
    scaled = a / xp.exp2(halvings.astype(norms.dtype))[..., None, None]
    result = _approximant(xp, scaled, xp.eye(n, dtype=a.dtype))
    for i in range(int(halvings.max())):
        more = (halvings > i)[..., None, None]
        part = xp.where(more, result, xp.zeros((), a.dtype))  # no overflow of what stays
        result = xp.where(more, xp.matmul(part, part), result)
    return result


def _approximant(xp: Any, a: Any, one: Any) -> Any:
    """Degree 13 of exp(a): (v - u)^-1 (v + u) with odd powers in u."""
    b = [c / COEFFICIENTS[0] for c in COEFFICIENTS]
    a2 = xp.matmul(a, a)
    a4 = xp.matmul(a2, a2)
    a6 = xp.matmul(a4, a2)
    high = b[13] * a6 + b[11] * a4 + b[9] * a2
    u = xp.matmul(a, xp.matmul(a6, high) + b[7] * a6 + b[5] * a4 + b[3] * a2 + b[1] * one)
    high = b[12] * a6 + b[10] * a4 + b[8] * a2
    v = xp.matmul(a6, high) + b[6] * a6 + b[4] * a4 + b[2] * a2 + b[0] * one
    return xp.linalg.solve(v - u, v + u)


def _slope(a: Any, t: Any) -> Any:
    """The derivative in direction t: the upper right block of expm([[a, t], [0, a]]).

    t is divided by its size before and multiplied after, so that it asks for no more halvings than
    a does.
    """
    n = a.shape[-1]
    if a.dtype != t.dtype:  # a real matrix in a complex direction
        a = a.astype(t.dtype) if t.dtype.kind == "c" else a
    with modes.no_grad():
        axes = (len(t.shape) - 2, len(t.shape) - 1)
        size = sum(absolute(t), axis=axes, keepdims=True)
        size = where(equal(size, 0), 1, size)
    upper = concatenate(a, t / size, axis=len(a.shape) - 1)
    lower = concatenate(zeros(tuple(a.shape), a.dtype, a), a, axis=len(a.shape) - 1)
    whole = expm(concatenate(upper, lower, axis=len(a.shape) - 2))
    rest = (slice(None),) * (len(a.shape) - 2)
    return getitem(whole, index=(*rest, slice(0, n, 1), slice(n, 2 * n, 1))) * size


def _expm_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any) -> tuple[Any, ...]:
    return (_slope(adjoint(a), g),)


def _expm_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    return _slope(args[0], tangents[0])


def _samples(rng: Rng, dtype: DType) -> Inputs:
    shapes = ((3, 3), (2, 2, 2), (1, 1), (0, 2, 2))
    return [((draw(rng, shape, dtype),), {}) for shape in shapes]


def _errors() -> Errors:
    return no_squares()


expm: Primitive = Primitive(
    "expm",
    _expm,
    vjp=_expm_vjp,
    jvp=_expm_jvp,
    batch=same_batch(lambda: expm),
    saves=(0,),
    samples=_samples,
    errors=_errors,
)

ROWS = (expm,)
