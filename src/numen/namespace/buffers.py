"""Functions that make arrays from memory, text, files and iterators; the constructor `ndarray`.

NumPy reads them. Next: `index_tricks.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from numen.dispatch import modes
from numen.dispatch.core import ArrayCore
from numen.errors import GradientError, describe
from numen.namespace.calling import host, run_host
from numen.namespace.creation import known, made
from numen.namespace.likes import from_like

__all__ = ["from_dlpack", "frombuffer", "fromfile", "fromiter", "fromstring"]

frombuffer = host(
    np.frombuffer,
    """One-dimensional Array over the memory of a buffer: frombuffer(buffer, dtype, count, offset).

    Examples
    --------
    >>> import numen as nm
    >>> nm.frombuffer(b"\\x01\\x02", dtype=nm.uint8)
    array([1, 2], dtype=uint8)
    """,
)
fromstring = host(
    np.fromstring,
    """One-dimensional Array of the numbers in a text: fromstring(string, dtype, count, *, sep).

    Examples
    --------
    >>> import numen as nm
    >>> nm.fromstring("1, 2", dtype=int, sep=",")
    array([1, 2])
    """,
)
fromfile = host(
    np.fromfile,
    "One-dimensional Array of what a file holds: fromfile(file, dtype, count, sep, offset).",
)


def fromiter(iter: Iterable[Any], dtype: Any, count: int = -1, *, like: Any = None) -> Any:
    """One-dimensional Array of an iterable's items.

    Raises
    ------
    ValueError
        If there are fewer than `count`.
    GradientError
        If an item carries a gradient: `array(list(...))` keeps it.

    Examples
    --------
    >>> import numen as nm
    >>> nm.fromiter((n * n for n in range(4)), int)
    array([0, 1, 4, 9])
    """
    if like is not None and (other := from_like(fromiter, locals())) is not NotImplemented:
        return other
    return made(np.fromiter(map(_item, iter), dtype, known(count, "fromiter")))


def _item(value: Any) -> Any:
    if isinstance(value, ArrayCore) and value._n is not None and modes.grad_enabled():
        raise GradientError(
            "fromiter: an item requires a gradient. Hint: array(list(...)) keeps gradients"
        )
    return known(value, "fromiter")


def from_dlpack(x: Any, /, *, device: str | None = None, copy: bool | None = None) -> Any:
    """An Array over the memory of another library's array.

    Parameters
    ----------
    x : object
        An array with `__dlpack__` and `__dlpack_device__`.
    device : {None, 'cpu'}
        Where the result shall be.
    copy : bool or None
        Whether to copy; None where needed only.

    Raises
    ------
    GradientError
        If x is an Array that requires a gradient.

    Examples
    --------
    >>> import numpy, numen as nm
    >>> nm.from_dlpack(numpy.arange(3))
    array([0, 1, 2])
    """
    if isinstance(x, ArrayCore) and x._n is not None and modes.grad_enabled():
        raise GradientError(
            f"from_dlpack: expected an array without gradient, got {describe(x)}. Hint: detach() it"
        )
    return run_host(np.from_dlpack, "from_dlpack", (x,), {"device": device, "copy": copy})


def ndarray_new(
    shape: Any,
    dtype: Any = float,
    buffer: Any = None,
    offset: int = 0,
    strides: Any = None,
    order: str | None = None,
) -> Any:
    """What NumPy's constructor `ndarray(shape, ...)` makes: an Array over a buffer, or with
    unspecified values.

    Raises
    ------
    TypeError
        If the buffer is too small for the shape and strides.
    ValueError
        If the strides leave the buffer.
    """
    arguments = (shape, dtype, buffer, offset, strides, order)
    return run_host(np.ndarray, "ndarray", arguments, {})
