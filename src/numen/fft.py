"""NumPy's discrete Fourier transforms on Arrays: `numpy.fft` under the same names.

The transforms run NumPy's own, in single precision for float32. They have no gradient yet: a
backward pass through one raises and names it. fftshift and ifftshift move elements, so gradients
pass. Next: `namespace/calling.py`.
"""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from numen.dispatch.convert import as_array
from numen.namespace.calling import composes, host
from numen.namespace.devices import placed
from numen.namespace.repeating import roll
from numen.namespace.types import isdtype

__all__ = ["fft", "ifft", "fft2", "ifft2", "fftn", "ifftn", "rfft", "irfft", "rfft2", "irfft2"]
__all__ += ["rfftn", "irfftn", "hfft", "ihfft", "fftfreq", "rfftfreq", "fftshift", "ifftshift"]


def _transform(name: str, summary: str) -> Any:
    doc = f"""{summary}

    Parameters and result are those of `numpy.fft.{name}`; no gradient flows through it.

    Raises
    ------
    ValueError
        If a length is not positive, or `norm` is no normalisation.
    IndexError
        If an axis is out of bounds.
    """
    return host(getattr(np.fft, name), doc)


fft = _transform("fft", "The discrete Fourier transform along an axis.")
ifft = _transform("ifft", "The inverse of `fft`.")
fft2 = _transform("fft2", "The discrete Fourier transform over two axes.")
ifft2 = _transform("ifft2", "The inverse of `fft2`.")
fftn = _transform("fftn", "The discrete Fourier transform over several axes.")
ifftn = _transform("ifftn", "The inverse of `fftn`.")
rfft = _transform("rfft", "The half of `fft` that says all about a real argument.")
irfft = _transform("irfft", "The inverse of `rfft`, with a real result of even length by default.")
rfft2 = _transform("rfft2", "`fft2` of a real argument, the last axis halved.")
irfft2 = _transform("irfft2", "The inverse of `rfft2`.")
rfftn = _transform("rfftn", "`fftn` of a real argument, the last axis halved.")
irfftn = _transform("irfftn", "The inverse of `rfftn`.")
hfft = _transform("hfft", "The transform of a Hermitian argument, of which a half is given.")
ihfft = _transform("ihfft", "The inverse of `hfft`.")

_fftfreq, _rfftfreq = host(np.fft.fftfreq), host(np.fft.rfftfreq)


def fftfreq(n: int, d: Any = 1.0, device: Any = None, *, dtype: Any = None) -> Any:
    """The frequencies of `fft`'s results, in cycles per unit of the sample spacing `d`.

    Parameters
    ----------
    n : int
        Length of the transform.
    d : float
        Sample spacing.
    device : str, optional
        Where to put the result.
    dtype : dtype, optional
        float64 if absent (the array API standard's argument; NumPy lacks it).

    Raises
    ------
    ValueError
        If `n` is no integer, or the dtype not real floating.

    Examples
    --------
    >>> from numen.fft import fftfreq
    >>> fftfreq(4, d=0.5)
    array([ 0. ,  0.5, -1. , -0.5])
    """
    return placed(_as_floating(_fftfreq(n, d), dtype, "fftfreq"), device)


def rfftfreq(n: int, d: Any = 1.0, device: Any = None, *, dtype: Any = None) -> Any:
    """The frequencies of `rfft`'s results; parameters as `fftfreq`'s.

    Examples
    --------
    >>> from numen.fft import rfftfreq
    >>> rfftfreq(4, d=0.5)
    array([0. , 0.5, 1. ])
    """
    return placed(_as_floating(_rfftfreq(n, d), dtype, "rfftfreq"), device)


def _as_floating(values: Any, dtype: Any, op: str) -> Any:
    if dtype is None:
        return values
    if not isdtype(np.dtype(dtype), "real floating"):
        raise ValueError(f"{op}: expected a real floating dtype, got {np.dtype(dtype)}")
    return values.astype(dtype)


@composes(np.fft.fftshift)
def fftshift(x: Any, axes: Any = None) -> Any:
    """Move the zero frequency to the middle of all axes, or of some.

    Examples
    --------
    >>> from numen.fft import fftfreq, fftshift
    >>> fftshift(fftfreq(4, d=0.25))
    array([-2., -1.,  0.,  1.])
    """
    return _rolled(x, axes, 1)


@composes(np.fft.ifftshift)
def ifftshift(x: Any, axes: Any = None) -> Any:
    """The inverse of `fftshift`, which differs from it for odd lengths."""
    return _rolled(x, axes, -1)


def _rolled(x: Any, axes: Any, sign: int) -> Any:
    """The axes moved on by half their lengths, or back."""
    a = as_array(x)
    if axes is None:
        axes = range(a.ndim)
    along = tuple([index(axis) for axis in (axes if hasattr(axes, "__iter__") else (axes,))])
    return roll(a, [sign * (a.shape[axis] // 2) for axis in along], along)
