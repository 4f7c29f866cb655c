"""Devices: arrays moved to one, made on one, and shaped like what lies on one.

A device is "cpu" or a backend's name. `creation.py` and `filled.py` take their `device=` from here,
`memory.py` its to_device. Next: `dispatch/backends.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numen.dispatch import backends, core, modes
from numen.dispatch.backends import backend_named, backend_of, device_backend_of
from numen.dispatch.convert import as_array
from numen.dispatch.core import SCALAR, ArrayCore
from numen.dispatch.frames import innermost
from numen.errors import GradientError, TransformError, describe


def moved(x: Any, device: str) -> Any:
    """x on a device; gradients do not flow through the move.

    Raises
    ------
    ValueError
        If there is no such device.
    GradientError
        If a move would lose a gradient.
    """
    target = backend_named(device)
    if x.device == device:
        return x
    if x._n is not None and (not modes.NO_GRAD or modes.state.grad):
        raise GradientError(
            f"to_device: no gradient flows between devices; got {describe(x)}. Hint: detach() it"
        )
    x._leaves("to_device()")
    if modes.state.level:
        raise TransformError(f"to_device: no array moves inside vmap or jvp; got {describe(x)}")
    source = backend_of((x._d,))
    data = x._d if source is None else source.to_host(x._d)
    if target is not None:
        data = target.from_host(data)
    return core.ARRAY(data, None, SCALAR if x._v is SCALAR else None)


def placed(x: Any, device: str | None) -> Any:
    """x where a `device=` argument wants it: itself without one."""
    return x if device is None else moved(x, device)


def beside(value: Any, *others: Any, dtype: Any = None) -> Any:
    """`value` as an Array; numbers and lists become one on the device of the others."""
    result = as_array(value, dtype)
    return result if isinstance(value, (ArrayCore, np.ndarray)) else alongside(result, *others)


def together(given: Sequence[Any], taken: Sequence[Any]) -> tuple[Any, ...]:
    """The operands `taken` of arguments `given`, lists among those moved to the arrays' device."""
    return tuple(
        [
            alongside(t, *given) if type(g) in (list, tuple) else t
            for g, t in zip(given, taken, strict=True)
        ]
    )


def alongside(x: Any, *others: Any) -> Any:
    """An Array that was made on the host, on the device of the Arrays among the others."""
    if backend_among(*others) is None or not isinstance(x._d, np.ndarray):
        return x
    backend = _device_among(others)
    return x if backend is None else core.ARRAY(backend.from_host(x._d), None, x._v)


def _device_among(values: Sequence[Any]) -> Any:
    """The backend of the first Array whose memory is not NumPy's, also below `vmap` and `jvp`."""
    for value in values:
        if isinstance(value, ArrayCore):
            found = device_backend_of(value._d)
        else:
            found = _device_among(value) if type(value) in (list, tuple) else None
        if found is not None:
            return found
    return None


def backend_among(*values: Any) -> Any:
    """The backend of the first Array, also in nested lists and tuples, that is not NumPy's."""
    if not backends.in_use():
        return None
    for value in values:
        if isinstance(value, ArrayCore):
            found = backend_of((value._d,))
        else:
            found = backend_among(*value) if type(value) in (list, tuple) else None
        if found is not None:
            return found
    return None


def on_host(x: Any) -> Any:
    """The ndarray of an Array's values: its memory, or a copy of another device's."""
    if isinstance(x._d, np.ndarray):
        return x._d
    backend = backend_of((x._d,))
    assert backend is not None
    return backend.to_host(x._d)


def every_value(x: Any) -> Any:
    """The ndarray of an Array's values, to check them: inside `vmap` of all examples, their axes in
    front."""
    raw = innermost(x._d)
    backend = backend_of((raw,))
    return raw if backend is None else backend.to_host(raw)


def host_model(data: Any) -> Any:
    """An ndarray with the shape, dtype and memory order of a raw array, its values of no
    meaning."""
    if isinstance(data, np.ndarray):
        return np.empty_like(data)
    flags = data.flags
    return np.empty(
        data.shape, data.dtype, "F" if flags.f_contiguous and not flags.c_contiguous else "C"
    )
