"""Loads the native executor and makes builtins of it, one per plan.

Takes the descriptor that `plan.py` packed; gives a builtin function whose call costs tens of
nanoseconds and carries out the whole plan. The machine code is the same for all plans
(`executor_ir.py`) and is loaded with the first one.
"""

from __future__ import annotations

import ctypes
import os
import platform
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from numen.errors import CompileError
from numen.runtime import native, threads
from numen.runtime.executor_ir import API, executor_ir

_METH_FASTCALL = 0x80

_OBJECTS: dict[str, object] = {
    "object.None": None,
    "object.TypeError": TypeError,
    "object.float": float,
    "object.ndarray": np.ndarray,
}


class _MethodDef(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


_lock = threading.Lock()
_method: _MethodDef | None = None


def bind(descriptor: bytes) -> Callable[..., None]:
    """A builtin that carries out the plan in `descriptor` and keeps the bytes alive.

    The bytes are trusted: only `plan.py`, which checks what it packs, may call this.

    Raises
    ------
    CompileError
        If this platform has no native code.
    """
    builtin: Callable[..., None] = _new_builtin(
        ctypes.addressof(_loaded_method()), descriptor, None
    )
    return builtin


def _loaded_method() -> _MethodDef:
    global _method
    if _method is None:
        with _lock:
            if _method is None:
                _method = _load()
    return _method


def _load() -> _MethodDef:
    if not native.available():
        raise CompileError("native code: not available on this platform")
    text = executor_ir(platform.machine(), object.__basicsize__, bytes.__basicsize__ - 1)
    library = native.compile_ir("executor", text)
    addresses = (ctypes.c_void_p * len(API))(*(_address(name) for name in API))
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(library.address("numen_init"))(addresses)
    threads.attach(library)
    return _MethodDef(b"run", library.address("run"), _METH_FASTCALL, b"Carry out the plan.")


def _address(name: str) -> int | None:
    """Of one of the API's functions or Python objects."""
    if name in _OBJECTS:
        return id(_OBJECTS[name])
    library = ctypes.pythonapi if name.startswith("Py") else ctypes.CDLL(None)
    return ctypes.cast(getattr(library, name), ctypes.c_void_p).value


def _builtin_maker() -> Any:
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    return make


def _after_fork_in_child() -> None:
    global _lock
    _lock = threading.Lock()


_new_builtin = _builtin_maker()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
