"""Discrete Fourier transforms: fft_c2c over axes, fft_r2c and fft_c2r along one.

All are linear (fft_r2c and fft_c2r over the reals); the transpose of each is another one of them,
scaled. Lengths are those of the argument: `numen.fft` cuts and pads before. `norm` is NumPy's.
Called by `numen.fft`. Next: `shape.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch.backends import module_of
from numen.dispatch.derived import linear
from numen.dispatch.primitive import Primitive
from numen.ops.common import constant
from numen.ops.samples import DType, Errors, Inputs, Rng, draw

OPPOSITE = {"backward": "forward", "ortho": "ortho", "forward": "backward"}
"""The norm that scales the transform of the other direction by the same factor."""


# Complex to complex


def _c2c(a: Any, axes: tuple[int, ...], forward: bool, norm: str) -> Any:
    fft = module_of(a).fft
    return (fft.fftn if forward else fft.ifftn)(a, axes=axes, norm=norm)


def _c2c_transpose(g: Any, a: Any, axes: tuple[int, ...], forward: bool, norm: str) -> Any:
    return fft_c2c(g, axes=axes, forward=not forward, norm=OPPOSITE[norm])


def _c2c_batch(size: int, a: Any, axes: tuple[int, ...], forward: bool, norm: str) -> Any:
    return fft_c2c(a, axes=tuple([i + 1 for i in axes]), forward=forward, norm=norm)


def _c2c_samples(rng: Rng, dtype: DType) -> Inputs:
    a = draw(rng, (2, 3, 4), dtype)
    return [
        ((a,), {"axes": (2,), "forward": True, "norm": "backward"}),
        ((a,), {"axes": (1, 0), "forward": False, "norm": "backward"}),
        ((a,), {"axes": (1,), "forward": True, "norm": "ortho"}),
        ((a[0],), {"axes": (0, 1), "forward": False, "norm": "forward"}),
        ((a[:0],), {"axes": (1,), "forward": True, "norm": "forward"}),
    ]


def _c2c_errors() -> Errors:
    return [
        ((np.ones((2, 0)),), {"axes": (1,), "forward": True, "norm": "backward"}, ValueError),
        ((np.ones(2),), {"axes": (1,), "forward": True, "norm": "backward"}, IndexError),
    ]


fft_c2c: Primitive = linear(
    "fft_c2c", _c2c, _c2c_transpose, _c2c_batch, samples=_c2c_samples, errors=_c2c_errors
)

# Real to the half of a Hermitian result that says all, and back


def _weights(n: int, axis: int, g: Any) -> Any:
    """How often each element of a half counts in the whole of length n: 1 at frequency 0 and, of
    even lengths, at the highest; else 2."""
    half = n // 2 + 1
    weights = np.full(half, 2.0, g.dtype.char.lower())
    weights[0] = 1
    if n % 2 == 0:
        weights[-1] = 1
    shape = (1,) * axis + (half,) + (1,) * (len(g.shape) - axis - 1)
    return constant(weights.reshape(shape), g)


def _r2c(a: Any, axis: int, norm: str) -> Any:
    return module_of(a).fft.rfft(a, axis=axis, norm=norm)


def _r2c_transpose(g: Any, a: Any, axis: int, norm: str) -> Any:
    n = a.shape[axis]
    return fft_c2r(g / _weights(n, axis, g), axis=axis, n=n, norm=OPPOSITE[norm])


def _r2c_batch(size: int, a: Any, axis: int, norm: str) -> Any:
    return fft_r2c(a, axis=axis + 1, norm=norm)


def _r2c_samples(rng: Rng, dtype: DType) -> Inputs:
    a = draw(rng, (2, 3, 4), dtype)
    return [
        ((a,), {"axis": 2, "norm": "backward"}),
        ((a,), {"axis": 1, "norm": "ortho"}),
        ((a[0],), {"axis": 0, "norm": "forward"}),
        ((a[0, 0, :1],), {"axis": 0, "norm": "backward"}),
        ((a[:0],), {"axis": 1, "norm": "backward"}),
    ]


def _r2c_errors() -> Errors:
    return [
        ((np.ones((2, 0)),), {"axis": 1, "norm": "backward"}, ValueError),
        ((np.ones(2, np.complex128),), {"axis": 0, "norm": "backward"}, TypeError),
    ]


fft_r2c: Primitive = linear(
    "fft_r2c", _r2c, _r2c_transpose, _r2c_batch, samples=_r2c_samples, errors=_r2c_errors
)


def _c2r(a: Any, axis: int, n: int, norm: str) -> Any:
    return module_of(a).fft.irfft(a, n=n, axis=axis, norm=norm)


def _c2r_transpose(g: Any, a: Any, axis: int, n: int, norm: str) -> Any:
    # The imaginary parts at frequency 0 and the highest of even lengths, which are not read, are 0
    # in the transform of a real g
    half = fft_r2c(g, axis=axis, norm=OPPOSITE[norm])
    return half * _weights(n, axis, half)


def _c2r_batch(size: int, a: Any, axis: int, n: int, norm: str) -> Any:
    return fft_c2r(a, axis=axis + 1, n=n, norm=norm)


def _c2r_samples(rng: Rng, dtype: DType) -> Inputs:
    a = draw(rng, (2, 3, 3), dtype)
    return [
        ((a,), {"axis": 2, "n": 4, "norm": "backward"}),
        ((a,), {"axis": 1, "n": 5, "norm": "ortho"}),
        ((a[0, :1],), {"axis": 0, "n": 1, "norm": "forward"}),
        ((a[:0],), {"axis": 1, "n": 4, "norm": "backward"}),
    ]


def _c2r_errors() -> Errors:
    return [
        ((np.ones(1),), {"axis": 0, "n": 0, "norm": "backward"}, ValueError),
        ((np.ones(2),), {"axis": 1, "n": 2, "norm": "backward"}, IndexError),
    ]


fft_c2r: Primitive = linear(
    "fft_c2r", _c2r, _c2r_transpose, _c2r_batch, samples=_c2r_samples, errors=_c2r_errors
)

ROWS = (fft_c2c, fft_r2c, fft_c2r)
