"""NumPy's discrete Fourier transforms on Arrays: `numpy.fft` under the same names.

Plain calls run NumPy's own, in single precision for float32; recorded ones run the rows of
`ops/fourier.py` on arguments cut or padded to length, so they differentiate. fftshift and ifftshift
move elements. Next: `namespace/calling.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from numen.dispatch.convert import as_array
from numen.namespace.calling import composes, host
from numen.namespace.devices import placed
from numen.namespace.repeating import roll
from numen.namespace.types import isdtype
from numen.ops import table
from numen.ops.common import zeros
from numen.ops.fourier import OPPOSITE

__all__ = ["fft", "ifft", "fft2", "ifft2", "fftn", "ifftn", "rfft", "irfft", "rfft2", "irfft2"]
__all__ += ["rfftn", "irfftn", "hfft", "ihfft", "fftfreq", "rfftfreq", "fftshift", "ifftshift"]

# Compositions: a None for what NumPy is to compute, or to complain about


def _resized(a: Any, n: int, axis: int) -> Any:
    """a cut to length n along an axis, or padded with zeros at the end."""
    have = a.shape[axis]
    if n == have:
        return a
    if n < have:
        return table["getitem"](a, index=(*(slice(None),) * axis, slice(0, n, 1)))
    rest = zeros((*a.shape[:axis], n - have, *a.shape[axis + 1 :]), a.dtype, a)
    return table["concatenate"](a, rest, axis=axis)


def _over(
    a: Any, lengths: Sequence[int], axes: Sequence[int], forward: bool, norm: Any, out: Any
) -> Any:
    """Complex transforms over axes, the last one first."""
    if norm not in (None, *OPPOSITE) or min(lengths) < 1 or out is not None:
        return NotImplemented
    if len(set(axes)) < len(axes):
        for n, axis in reversed(list(zip(lengths, axes, strict=True))):
            a = _over(a, (n,), (axis,), forward, norm, None)
        return a
    for n, axis in zip(lengths, axes, strict=True):
        a = _resized(a, n, axis)
    return table["fft_c2c"](a, axes=tuple(axes), forward=forward, norm=norm or "backward")


def _from_real(a: Any, n: int, axis: int, norm: Any, out: Any) -> Any:
    """The half of the transform of a real argument."""
    if norm not in (None, *OPPOSITE) or n < 1 or out is not None or a._d.dtype.kind == "c":
        return NotImplemented
    return table["fft_r2c"](_resized(a, n, axis), axis=axis, norm=norm or "backward")


def _to_real(a: Any, n: int, axis: int, norm: Any, out: Any) -> Any:
    """The real inverse of length n of a half."""
    if norm not in (None, *OPPOSITE) or n < 1 or out is not None:
        return NotImplemented
    half = _resized(a, n // 2 + 1, axis)
    return table["fft_c2r"](half, axis=axis, n=n, norm=norm or "backward")


def _one(a: Any, axis: Any) -> tuple[Any, int]:
    """The argument as an Array, and an axis of it counted from the front.

    Raises
    ------
    IndexError
        If there is no such axis.
    """
    x = as_array(a)
    return x, range(x.ndim)[index(axis)]


def _several(a: Any, s: Any, axes: Any) -> tuple[Any, list[int], list[int]] | None:
    """The argument as an Array, lengths and axes; None for forms that NumPy warns about."""
    x = as_array(a)
    if axes is None and s is not None:
        return None
    along = [range(x.ndim)[index(i)] for i in (range(x.ndim) if axes is None else axes)]
    given = [-1] * len(along) if s is None else list(s)
    if None in given or not along or len(given) != len(along):
        return None
    lengths = [index(n) for n in given]
    return x, [x.shape[i] if n == -1 else n for n, i in zip(lengths, along, strict=True)], along


def _complex_over(a: Any, s: Any, axes: Any, forward: bool, norm: Any, out: Any) -> Any:
    found = _several(a, s, axes)
    return NotImplemented if found is None else _over(*found, forward, norm, out)


def _real_over(a: Any, s: Any, axes: Any, norm: Any, out: Any) -> Any:
    found = _several(a, s, axes)
    if found is None:
        return NotImplemented
    x, lengths, along = found
    x = _from_real(x, lengths[-1], along[-1], norm, out)
    if x is NotImplemented or len(along) == 1:
        return x
    return _over(x, lengths[:-1], along[:-1], True, norm, None)


def _to_real_over(a: Any, s: Any, axes: Any, norm: Any, out: Any) -> Any:
    found = _several(a, s, axes)
    if found is None or out is not None:
        return NotImplemented
    x, lengths, along = found
    if s is None:
        lengths[-1] = 2 * (x.shape[along[-1]] - 1)
    if len(along) > 1:  # NumPy takes the first axis first here
        x = _over(x, lengths[-2::-1], along[-2::-1], False, norm, None)
    return x if x is NotImplemented else _to_real(x, lengths[-1], along[-1], norm, None)


# Along one axis


@composes(np.fft.fft)
def fft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None) -> Any:
    """The discrete Fourier transform along an axis.

    Parameters
    ----------
    a : array_like
    n : int, optional
        Length of the transform: the argument is cut, or padded with zeros.
    axis : int
    norm : {"backward", "ortho", "forward"}, optional
        Which direction is scaled: the inverse by 1/n (the default), both by 1/sqrt(n), or this one.
    out : Array, optional
        Where to write the result.

    Raises
    ------
    ValueError
        If the length is not positive, or `norm` is no normalisation.
    IndexError
        If the axis is out of bounds.

    Examples
    --------
    >>> import numen as nm
    >>> from numen.fft import fft
    >>> fft(nm.array([1.0, 2.0, 3.0, 4.0]))
    array([10.+0.j, -2.+2.j, -2.+0.j, -2.-2.j])
    >>> nm.grad(lambda x: (abs(fft(x)) ** 2).sum())(nm.array([1.0, 2.0]))
    array([4., 8.])
    """
    x, axis = _one(a, axis)
    return _over(x, (x.shape[axis] if n is None else index(n),), (axis,), True, norm, out)


@composes(np.fft.ifft)
def ifft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None) -> Any:
    """The inverse of `fft`, with its parameters and errors."""
    x, axis = _one(a, axis)
    return _over(x, (x.shape[axis] if n is None else index(n),), (axis,), False, norm, out)


@composes(np.fft.rfft)
def rfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None) -> Any:
    """The half of `fft` that says all about a real argument.

    Parameters and errors are those of `fft`.

    Raises
    ------
    TypeError
        If `a` is complex.

    Examples
    --------
    >>> import numen as nm
    >>> from numen.fft import rfft
    >>> rfft(nm.array([1.0, 2.0, 3.0, 4.0]))
    array([10.+0.j, -2.+2.j, -2.+0.j])
    """
    x, axis = _one(a, axis)
    return _from_real(x, x.shape[axis] if n is None else index(n), axis, norm, out)


@composes(np.fft.irfft)
def irfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None) -> Any:
    """The inverse of `rfft`, with a real result of length n, by default the even one.

    The imaginary parts at frequency 0 and, for an even n, at the highest are not read, so their
    gradient is 0. Parameters and errors are those of `fft`.
    """
    x, axis = _one(a, axis)
    return _to_real(x, 2 * (x.shape[axis] - 1) if n is None else index(n), axis, norm, out)


@composes(np.fft.hfft)
def hfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None) -> Any:
    """The transform of a Hermitian argument, of which a half is given: a real result.

    Parameters and errors are those of `fft`.
    """
    x, axis = _one(a, axis)
    n = 2 * (x.shape[axis] - 1) if n is None else index(n)
    return _to_real(table["conjugate"](x), n, axis, OPPOSITE.get(norm or "backward", norm), out)


@composes(np.fft.ihfft)
def ihfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None) -> Any:
    """The inverse of `hfft`: the half of a Hermitian result.

    Parameters and errors are those of `fft`.
    """
    x, axis = _one(a, axis)
    n = x.shape[axis] if n is None else index(n)
    half = _from_real(x, n, axis, OPPOSITE.get(norm or "backward", norm), out)
    return half if half is NotImplemented else table["conjugate"](half)


# Over several axes


@composes(np.fft.fftn)
def fftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Any:
    """The discrete Fourier transform over several axes, by default all.

    Parameters
    ----------
    a : array_like
    s : sequence of int, optional
        Lengths along `axes`; -1 keeps the argument's.
    axes : sequence of int, optional
    norm : {"backward", "ortho", "forward"}, optional
        As in `fft`.
    out : Array, optional
        Where to write the result.

    Raises
    ------
    ValueError
        If a length is not positive, the numbers of lengths and axes differ, or `norm` is no
        normalisation.
    IndexError
        If an axis is out of bounds.
    """
    return _complex_over(a, s, axes, True, norm, out)


@composes(np.fft.ifftn)
def ifftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Any:
    """The inverse of `fftn`, with its parameters and errors."""
    return _complex_over(a, s, axes, False, norm, out)


@composes(np.fft.fft2)
def fft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = None) -> Any:
    """`fftn` over two axes, by default the last."""
    return _complex_over(a, s, axes, True, norm, out)


@composes(np.fft.ifft2)
def ifft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = None) -> Any:
    """The inverse of `fft2`."""
    return _complex_over(a, s, axes, False, norm, out)


@composes(np.fft.rfftn)
def rfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Any:
    """`fftn` of a real argument, the last axis halved; parameters and errors are those of
    `fftn`."""
    return _real_over(a, s, axes, norm, out)


@composes(np.fft.irfftn)
def irfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = None) -> Any:
    """The inverse of `rfftn`, with a real result; parameters and errors are those of `fftn`."""
    return _to_real_over(a, s, axes, norm, out)


@composes(np.fft.rfft2)
def rfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = None) -> Any:
    """`fft2` of a real argument, the last axis halved."""
    return _real_over(a, s, axes, norm, out)


@composes(np.fft.irfft2)
def irfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = None) -> Any:
    """The inverse of `rfft2`, with a real result."""
    return _to_real_over(a, s, axes, norm, out)


# Frequencies and shifts

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
