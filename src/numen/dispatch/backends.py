"""Backends: which module computes on an array's memory.

NumPy's arrays belong to `numpy` on device "cpu"; another backend registers its array class, its
module of NumPy-named functions and its copies from and to the host. Rows ask `module_of`, so that
none of them names a module. Once a backend is in use, every op takes the general path, which looks
for its arrays. Next: `primitive.py`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from numen.dispatch import modes
from numen.errors import BackendError


class Backend(NamedTuple):
    """One backend: the name of its device, its array class and module, copies from and to the
    host."""

    name: str
    array_class: type
    module: Any
    from_host: Callable[[Any], Any]
    to_host: Callable[[Any], Any]


LAZY = {"strict": "numen.backends.strict"}
"""Backends that are registered when they are first named: device to module."""

FRAME: Any = None
"""The class of the values inside `vmap` and `jvp`; filled by `frames/`."""


def _same(value: Any) -> Any:
    return value


_innermost: Callable[[Any], Any] = _same
_frame_module: Callable[[Any], Any] = _same


def fill_frame(frame: type, innermost: Callable[[Any], Any], module: Callable[[Any], Any]) -> None:
    """Set what `frames/` has. Called once."""
    global FRAME, _innermost, _frame_module
    FRAME, _innermost, _frame_module = frame, innermost, module


_by_name: dict[str, Backend] = {}
_by_class: dict[type, Backend] = {}


def register_backend(backend: Backend) -> None:
    """Let `backend` compute what has arrays of its class among the operands."""
    if backend.name not in _by_name:
        modes.hint()  # fast paths know NumPy's memory alone
    _by_name[backend.name] = backend
    _by_class[backend.array_class] = backend


def unregister_backend(name: str) -> None:
    """Forget a backend, none of whose arrays is used any more: fast paths come back."""
    backend = _by_name.pop(name)
    del _by_class[backend.array_class]
    modes.hint(-1)


def backend_named(name: str) -> Backend | None:
    """The backend of a device; None for "cpu", which is NumPy's.

    Raises
    ------
    ValueError
        If there is no such device.
    """
    if name == "cpu":
        return None
    if name not in _by_name and name in LAZY:
        register_backend(importlib.import_module(LAZY[name]).BACKEND)
    if name not in _by_name:
        known = sorted({*LAZY, *_by_name})
        raise ValueError(  # NumPy's words first
            f'Device not understood. Only "cpu" is allowed, but received: {name}. Hint: numen also '
            f"knows the devices {known}"
        )
    return _by_name[name]


def backend_of(values: Iterable[Any]) -> Backend | None:
    """The backend whose arrays are among raw values; None for NumPy's."""
    if _by_class:
        for value in values:
            found = _by_class.get(type(value))
            if found is not None:
                return found
    return None


def device_backend_of(value: Any) -> Backend | None:
    """The backend on whose device a raw value lives, also below `vmap` and `jvp`; None for
    NumPy's."""
    return backend_of((_innermost(value),))


def in_use() -> bool:
    """Whether any backend beside NumPy's is loaded."""
    return bool(_by_class)


def is_backend_array(value: Any) -> bool:
    """Whether a raw value is an array: an ndarray or another backend's."""
    return isinstance(value, np.ndarray) or type(value) in _by_class


def module_of(*values: Any) -> Any:
    """The module of NumPy-named functions that takes these raw arrays and scalars.

    >>> module_of(np.ones(2), 3.0).__name__
    'numpy'
    """
    backend = backend_of(values)
    if backend is None:
        return np
    if backend.array_class is FRAME:
        return _frame_module(module_of(*[_innermost(value) for value in values]))
    return backend.module


def placed_like(data: Any, like: Any) -> Any:
    """An ndarray on the device of the raw array `like`."""
    backend = device_backend_of(like)
    return data if backend is None or not isinstance(data, np.ndarray) else backend.from_host(data)


def adopted(backend: Backend, value: Any, op: str) -> Any:
    """An operand as the backend takes it: 0-d and index arrays of the host are copied over.

    Raises
    ------
    BackendError
        If a larger array lives on another device.
    """
    if isinstance(value, np.ndarray) and backend.array_class is not FRAME:
        if value.ndim and value.dtype.kind not in "iub":
            raise BackendError(
                f"{op}: operands on devices 'cpu' and {backend.name!r}. Hint: to_device() moves "
                "one of them"
            )
        return backend.from_host(value)
    return value
