"""Polynomials as vectors of coefficients, the highest power first: NumPy's older functions.

What is a sum of products differentiates, and so do roots; fits and divisions have NumPy's values
and no gradient. `numen.polynomial` is the newer package. Next: `filtering.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch.convert import as_array
from numen.errors import describe
from numen.namespace.calling import composes, host
from numen.namespace.creation import known
from numen.namespace.devices import alongside, beside
from numen.ops import table
from numen.ops.common import constant
from numen.ops.eigen import are_real, beneath
from numen.ops.spectra import split_eigen

__all__ = ["poly1d", "poly", "roots", "polyfit", "polydiv", "polyval", "polyadd", "polysub"]
__all__ += ["polymul", "polyder", "polyint"]

poly1d = np.poly1d
"""NumPy's class; its coefficients are an ndarray on the host, and it evaluates Arrays to Arrays."""


@composes(np.poly)
def poly(seq_of_zeros: Any) -> Any:
    """The coefficients of the polynomial with these roots, or of a matrix's characteristic one.

    Gradients flow to roots, not to a matrix.

    Examples
    --------
    >>> import numen as nm
    >>> nm.poly([1, 2])
    array([ 1., -3.,  2.])
    """
    zeros = _at_least_1d(seq_of_zeros)
    if zeros.ndim != 1 or not zeros.shape[0] or zeros._d.dtype.kind not in "biufc":
        return NotImplemented
    zeros = zeros.astype(np.dtype(np.mintypecode(zeros._d.dtype.char)), copy=False)
    one = alongside(as_array(np.ones(1, zeros._d.dtype)), zeros)
    coefficients = one
    for i in range(zeros.shape[0]):
        factor = table["concatenate"](one, -zeros[i : i + 1], axis=0)
        coefficients = table["convolve"](coefficients, factor)
    if zeros._d.dtype.kind == "c":
        values = known(zeros, "poly")
        if (np.sort(values) == np.sort(values.conj())).all():
            return table["copy"](coefficients.real)  # conjugate pairs
    return coefficients


@composes(np.roots)
def roots(p: Any) -> Any:
    """The roots of a polynomial: the eigenvalues of its companion matrix.

    Gradients flow where neither the first nor the last coefficient is 0 and no root is double.

    >>> import numen as nm
    >>> nm.roots([1, -3, 2])
    array([2., 1.])
    """
    a = as_array(p)
    if a.ndim != 1 or a.dtype.kind not in "fc" or a.shape[0] < 2:
        return NotImplemented
    n = a.shape[0] - 1
    ends = table["not_equal"](beneath(a)[..., ::n], 0)
    if not bool(table["all"](ends, axis=tuple(range(ends.ndim)), keepdims=False)):
        return NotImplemented  # NumPy takes them off
    first = (-a[1:] / a[0]).reshape((1, n))
    below = constant(np.eye(n - 1, n, dtype=a.dtype), a)
    companion = table["concatenate"](first, below, axis=0)
    _, values = split_eigen(table["eig_parts"](companion))
    return table["copy"](values.real if are_real(companion, values) else values)


polyfit = host(
    np.polyfit,
    """The polynomial of a degree that fits points best in the least squares.

    >>> import numen as nm
    >>> nm.polyfit([0, 1, 2], [1, 3, 5], 1).round(6)
    array([2., 1.])
    """,
)


@composes(np.polydiv)
def polydiv(u: Any, v: Any) -> Any:
    """Quotient and remainder of two polynomials.

    Examples
    --------
    >>> import numen as nm
    >>> nm.polydiv([1.0, 3.0, 2.0], [1.0, 1.0])
    (array([1., 2.]), array([0.]))
    """
    if isinstance(u, np.poly1d) or isinstance(v, np.poly1d):
        return NotImplemented
    a, b = _at_least_1d(u) + 0.0, _at_least_1d(v) + 0.0
    if a.ndim > 1 or b.ndim > 1 or not a.shape[0] or not b.shape[0]:
        return NotImplemented
    dtype = np.result_type(a._d.dtype, b._d.dtype)
    n, scale, rest = b.shape[0], 1.0 / b[0], a.astype(dtype)
    quotient: list[Any] = []
    for k in range(a.shape[0] - n + 1):
        d = scale * rest[k : k + 1]
        quotient.append(d)
        parts = (rest[:k], rest[k : k + n] - d * b, rest[k + n :])
        rest = table["concatenate"](*parts, axis=0)
    if not quotient:
        quotient = [alongside(as_array(np.zeros(1, dtype)), rest)]
    first = known(rest, "polydiv")
    start = 0
    while start < first.shape[0] - 1 and np.allclose(first[start], 0, rtol=1e-14):
        start += 1
    return table["concatenate"](*quotient, axis=0).astype(dtype, copy=False), rest[start:]


@composes(np.polyval)
def polyval(p: Any, x: Any) -> Any:
    """The values of a polynomial at points, by Horner's rule.

    Examples
    --------
    >>> import numen as nm
    >>> x = nm.array([1.0, 2.0], requires_grad=True)
    >>> y = nm.polyval([1, 0, 3], x)
    >>> y
    array([4., 7.], requires_grad=True)
    >>> y.sum().backward()
    >>> x.grad
    array([2., 4.])
    """
    if isinstance(x, np.poly1d):
        return NotImplemented
    c, points = as_array(p), as_array(x)
    if not c.ndim:
        return NotImplemented  # NumPy says what is wrong
    value: Any = alongside(as_array(np.zeros(points.shape, points._d.dtype)), points)
    for i in range(c.shape[0]):
        value = value * points + c[i]
    return value


@composes(np.polyadd)
def polyadd(a1: Any, a2: Any) -> Any:
    """The sum of two polynomials."""
    return _combined("add", a1, a2)


@composes(np.polysub)
def polysub(a1: Any, a2: Any) -> Any:
    """The difference of two polynomials."""
    return _combined("subtract", a1, a2)


def _combined(op: str, a1: Any, a2: Any) -> Any:
    """A sum of coefficients, the shorter vector filled with zeros in front."""
    if isinstance(a1, np.poly1d) or isinstance(a2, np.poly1d):
        return NotImplemented
    a, b = _at_least_1d(a1), _at_least_1d(a2)
    if a.ndim > 1 or b.ndim > 1:
        return NotImplemented
    missing = b.shape[0] - a.shape[0]
    if missing > 0:
        a = _filled(a, missing)
    elif missing < 0:
        b = _filled(b, -missing)
    return table[op](a, b)


def _at_least_1d(x: Any) -> Any:
    a = as_array(x)
    return a if a.ndim else a.reshape((1,))


def _filled(a: Any, missing: int) -> Any:
    zeros = alongside(as_array(np.zeros(missing, a._d.dtype)), a)
    return table["concatenate"](zeros, a, axis=0)


@composes(np.polymul)
def polymul(a1: Any, a2: Any) -> Any:
    """The product of two polynomials, without the zeros in front of their coefficients.

    Raises
    ------
    ValueError
        If one is no vector.
    """
    if isinstance(a1, np.poly1d) or isinstance(a2, np.poly1d):
        return NotImplemented
    return table["convolve"](_trimmed(a1), _trimmed(a2))


def _trimmed(x: Any) -> Any:
    a = _at_least_1d(x)
    if a.ndim > 1:
        raise ValueError(f"polymul: polynomial must be 1d only, got {describe(a)}")
    (found,) = known(a, "polymul").nonzero()
    start = int(found[0]) if found.size else max(a.shape[0] - 1, 0)
    return a[start:] if a.shape[0] else alongside(as_array(np.zeros(1, a._d.dtype)), a)


@composes(np.polyder)
def polyder(p: Any, m: int = 1) -> Any:
    """The m-th derivative of a polynomial.

    Raises
    ------
    ValueError
        If m is negative.
    """
    if isinstance(p, np.poly1d):
        return NotImplemented
    m = int(m)
    if m < 0:
        raise ValueError("polyder: order of derivative must be positive (see polyint)")
    c = as_array(p)
    if c.ndim != 1:
        return NotImplemented
    for _ in range(m):
        c = c[:-1] * as_array(np.arange(c.shape[0] - 1, 0, -1))
    return c


@composes(np.polyint)
def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    """The m-th antiderivative of a polynomial, with integration constants `k` (0 by default).

    Raises
    ------
    ValueError
        If m is negative, or there are fewer constants than integrations.
    """
    if isinstance(p, np.poly1d):
        return NotImplemented
    m = int(m)
    if m < 0:
        raise ValueError("polyint: order of integral must be positive (see polyder)")
    constants = beside([0.0] * m if k is None else k, p)
    if not constants.ndim:
        constants = constants.reshape((1,))
    count = constants.shape[0]
    if count < m and count != 1:
        raise ValueError(f"polyint: expected a constant or {m} of them, got {describe(constants)}")
    c = as_array(p)
    if c.ndim != 1:
        return NotImplemented
    for i in range(m):
        divided = c / as_array(np.arange(c.shape[0], 0, -1))
        j = 0 if count == 1 else i
        constant = constants[j : j + 1]
        c = table["concatenate"](divided, constant, axis=0)
    return c
