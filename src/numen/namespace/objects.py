"""What NumPy can't read by itself: Arrays that stay whole in arrays of objects, and objects whose
`__array__` gives an Array.

`readable` replaces both by ndarrays before NumPy sees them, `restored` puts the very objects back
where an array of objects holds them. Called by `creation.py`, `access.py` and `calling.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from numen.dispatch.core import SCALAR, ArrayCore

Originals = dict[int, tuple[Any, Any]]
"""By the id of what NumPy reads: that itself, and what it stands for."""

DEEPEST = 64
"""As deep as NumPy looks into nested sequences, some of which contain themselves."""


def readable(value: Any, originals: Originals, depth: int = 0) -> Any:
    """A value as NumPy can read it; what it stands for is noted in `originals`."""
    kind = type(value)
    result: Any
    if isinstance(value, ArrayCore):
        if value._v is SCALAR:
            return value._d[()]
        result = value._d
    elif kind is list or kind is tuple:
        if depth > DEEPEST:
            return value
        parts = [readable(v, originals, depth + 1) for v in value]
        if all([p is v for p, v in zip(parts, value, strict=True)]):
            return value
        result = kind(parts)
    elif hasattr(kind, "__array__") and not isinstance(value, (np.ndarray, np.generic, type)):
        result = value.__array__()
        if not isinstance(result, ArrayCore):
            return value
        result = result._d
    else:
        return value
    originals[id(result)] = (result, value)
    return result


def restored(data: np.ndarray[Any, Any], originals: Originals) -> None:
    """Put the noted objects back into an array of objects."""
    if data.dtype != object or not data.ndim:
        return
    for i in np.ndindex(data.shape):
        found = originals.get(id(data[i]))
        if found is not None and found[0] is data[i]:
            data[i] = found[1]


def of_objects(dtype: Any) -> bool:
    """Whether a dtype argument says object."""
    return dtype is object or dtype == "O" or (isinstance(dtype, np.dtype) and dtype.kind == "O")


def array_of_objects(
    value: Any, copy: bool | None, order: str, ndmin: int, ndmax: int | None
) -> np.ndarray[Any, Any]:
    """np.array of objects, among them whole Arrays."""
    originals: Originals = {}
    read = readable(value, originals)
    more: Any = {} if ndmax is None else {"ndmax": ndmax}
    data: np.ndarray[Any, Any] = np.array(
        read, object, copy=copy, order=cast(Any, order), ndmin=ndmin, **more
    )
    restored(data, originals)
    return data


def given_by(value: Any, dtype: Any, copy: bool | None) -> tuple[Any, Any, bool | None]:
    """The Array that an object's `__array__` gives, the dtype still wanted and whether to copy."""
    wanted = {} if dtype is None else {"dtype": dtype}
    mode = getattr(copy, "value", copy)  # of NumPy's enumeration
    copy = None if mode == 2 else mode
    try:
        return value.__array__(**wanted, copy=copy), dtype, None if copy else copy
    except TypeError:
        return value.__array__(**wanted), dtype, copy


def without_arrays(value: Any) -> Any:
    """Arrays of objects, also in nested sequences, with the Arrays that they hold as ndarrays,
    which NumPy can turn into text."""
    if type(value) in (list, tuple):
        return [without_arrays(v) for v in value]
    if not isinstance(value, np.ndarray) or value.dtype != object or not value.ndim:
        return value
    if not any([isinstance(v, ArrayCore) for v in value.flat]):
        return value
    plain = value.copy()
    for i in np.ndindex(value.shape):
        held: Any = value[i]
        if isinstance(held, ArrayCore):
            plain[i] = held._d
    return plain


def gives_arrays(error: Exception) -> bool:
    """Whether NumPy refused an object because its `__array__` gave an Array."""
    return type(error) is ValueError and "__array__ method not producing" in str(error)


def again(
    function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], error: Exception
) -> Any:
    """A call of NumPy's that failed, once more with readable arguments if they were the reason.

    Raises
    ------
    Exception
        The first call's, if they were not.
    """
    if not gives_arrays(error):
        raise error
    read: Originals = {}
    return function(
        *[readable(a, read) for a in args], **{k: readable(v, read) for k, v in kwargs.items()}
    )
