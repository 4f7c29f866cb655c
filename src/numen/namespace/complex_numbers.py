"""The parts of complex numbers, their angles and conjugates, and what is real among them.

`real` and `imag` are views, as NumPy's. Called by Array's methods too. Next: `special.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch.convert import as_array
from numen.dispatch.core import ArrayCore, is_differentiable
from numen.errors import describe
from numen.namespace.calling import composes, raw, wrap_results
from numen.namespace.reducing import somewhere
from numen.namespace.ufuncs import arctan2
from numen.ops import table

__all__ = ["real", "imag", "angle", "real_if_close", "iscomplex", "isreal"]
__all__ += ["iscomplexobj", "isrealobj"]


def complex_of(across: Any, up: Any) -> Any:
    """The complex numbers with these real and imaginary parts, whatever infinities are there."""
    shape, dtype = across._d.shape, np.result_type(across._d.dtype, np.complex64)
    pairs = table["concatenate"](
        *[part.reshape((*shape, 1)) for part in (across, up)], axis=len(shape)
    )
    return table["view_dtype"](pairs, dtype=dtype).reshape(shape)


def real(val: Any) -> Any:
    """The real part, as a view of a complex array; a real array itself.

    Examples
    --------
    >>> import numen as nm
    >>> nm.real(nm.array([1 + 2j, 3]))
    array([1., 3.])
    """
    return _own_part(val, "real")


def imag(val: Any) -> Any:
    """The imaginary part, as a view of a complex array; zeros of a real one.

    Examples
    --------
    >>> import numen as nm
    >>> nm.imag(nm.array([1 + 2j, 3]))
    array([2., 0.])
    """
    return _own_part(val, "imag")


def _own_part(value: Any, name: str) -> Any:
    """An object's own attribute where it has one, as NumPy takes it, else its array's."""
    if isinstance(value, np.generic):
        return wrap_results(getattr(value, name), name)
    if not isinstance(value, np.ndarray) and hasattr(value, name):
        return getattr(value, name)
    return getattr(as_array(value), name)


@composes(np.angle)
def angle(z: Any, deg: bool = False) -> Any:
    """The angle of complex numbers in (-pi, pi], in radians or, with `deg`, in degrees.

    Examples
    --------
    >>> import numen as nm
    >>> nm.angle([1j, -1], deg=True)
    array([ 90., 180.])
    """
    x = as_array(z)
    if x._d.dtype.kind == "c":
        result = arctan2(table["imag"](x), table["real"](x))
    else:
        result = arctan2(0, x)
    return result * (180 / np.pi) if deg else result


@composes(np.real_if_close)
def real_if_close(a: Any, tol: float = 100) -> Any:
    """The real part where all imaginary parts are within `tol` machine epsilons of 0, else the
    array itself."""
    x = as_array(a)
    if x._d.dtype.kind != "c":
        return x
    if tol > 1:
        tol = tol * np.finfo(x._d.dtype).eps
    return x if somewhere(abs(x.imag) >= tol) else x.real


def iscomplexobj(x: Any) -> bool:
    """Whether the dtype is complex, whatever the values.

    >>> iscomplexobj([1.0, 2j]), iscomplexobj(3.0)
    (True, False)
    """
    return x._d.dtype.kind == "c" if isinstance(x, ArrayCore) else bool(np.iscomplexobj(raw(x)))


def isrealobj(x: Any) -> bool:
    """Whether the dtype is not complex, whatever the values."""
    return not iscomplexobj(x)


@composes(np.iscomplex)
def iscomplex(x: Any) -> Any:
    """Whether each element has an imaginary part other than 0."""
    a = as_array(x)
    if a._d.dtype.kind == "c":
        return table["not_equal"](table["imag"](a), 0)
    return table["broadcast_to"](as_array(np.zeros((), np.bool_)), shape=a._d.shape) + False


@composes(np.isreal)
def isreal(x: Any) -> Any:
    """Whether each element has no imaginary part."""
    return table["logical_not"](iscomplex(x)) if isinstance(x, ArrayCore) else NotImplemented


def conj_of(x: Any) -> Any:
    """The complex conjugate; a real array itself.

    Raises
    ------
    TypeError
        If the elements are no numbers and no objects.
    """
    dtype = x._d.dtype
    if dtype.kind in "biuf" or is_differentiable(dtype):
        if dtype.kind != "c":
            return x
    elif dtype.kind != "O":
        raise TypeError(f"cannot conjugate non-numeric dtype, got {describe(x)}")
    from_ufunc = table["conjugate"]
    return from_ufunc(x) if x._d.dtype.kind == "c" else _conjugate(x)


@composes(np.conjugate)  # objects conjugate themselves
def _conjugate(x: Any) -> Any:
    """The complex conjugate of each element."""
    return NotImplemented
