"""Protocols: how other libraries use an Array: NumPy's functions and ufuncs, buffers, DLPack, the
array API.

NumPy's functions called on Arrays run numen's of the same name, so they differentiate; one that
numen lacks runs on the host memory. `array.py` inherits this class. Next: `calling.py`.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from numen.dispatch import frames, modes
from numen.dispatch.convert import as_array
from numen.dispatch.core import SCALAR, ArrayCore
from numen.errors import BackendError, GradientError, describe
from numen.namespace import calling
from numen.namespace.attributes import Attributes

API_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")
"""Versions of the array API standard that the namespace follows."""

_OPERANDS = (np.ndarray, np.generic, ArrayCore)
_counterparts: dict[Callable[..., Any], Callable[..., Any]] = {}


class Protocols(Attributes):
    """What NumPy and other libraries ask of an array."""

    __slots__ = ()
    __array_priority__ = 1000.0
    __array_finalize__ = None

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, /, *inputs: Any, **kwargs: Any) -> Any:
        """A NumPy ufunc met an Array: numen's ufunc of that name computes."""
        for value in (*inputs, *_outs(kwargs)):
            if not isinstance(value, _OPERANDS) and _overrides(value, "__array_ufunc__"):
                return NotImplemented
        ours = _counterpart(ufunc)
        if ours is None:
            function = ufunc if method == "__call__" else getattr(ufunc, method)
            writes = (0,) if method == "at" else ()
            return calling.run_host(function, ufunc.__name__, inputs, kwargs, writes)
        out = kwargs.get("out")
        if type(out) is tuple and len(out) == 1:
            kwargs["out"] = out[0]
        return (ours if method == "__call__" else getattr(ours, method))(*inputs, **kwargs)

    def __array_function__(
        self,
        /,
        func: Callable[..., Any],
        types: Iterable[type],
        args: Sequence[Any],
        kwargs: dict[str, Any],
    ) -> Any:
        """A NumPy function met an Array: numen's function of that name computes.

        Raises
        ------
        GradientError
            If numen has none and an argument carries a gradient that the call would lose.
        """
        if not isinstance(args, tuple):
            raise TypeError("args must be a tuple.")
        if not isinstance(kwargs, dict):
            raise TypeError("kwargs must be a dict.")
        for kind in types:
            if not issubclass(kind, _OPERANDS):
                return NotImplemented
        ours = _counterpart(func)
        if ours is not None:
            if isinstance(kwargs.get("out"), np.ndarray):
                return _into_ndarray(ours, args, kwargs)
            return ours(*args, **kwargs)
        name = getattr(func, "__name__", str(func))
        _refuse_gradients(name, "numen has no form with a derivative, and NumPy's", args, kwargs)
        return calling.run_host(func, name, args, kwargs)

    def __array__(self, /, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """NumPy's array of this memory, shared unless a copy is needed or asked for.

        Raises
        ------
        GradientError
            If the array requires a gradient; `detach()` it first.
        BackendError
            If the array is on another device than the host.
        ValueError
            If `copy=False` and the dtype differs.
        """
        self._leaves("__array__")
        if self._n is not None and modes.grad_enabled():
            raise GradientError("__array__: this array requires a gradient. Hint: detach() it")
        data = self._d
        if type(data) is frames.Frame:
            data = frames.exported(data, "np.asarray()")
        if not isinstance(data, np.ndarray):
            raise BackendError(
                f"__array__: implicit copy of a {describe(self)} from device {self.device!r}. "
                "Hint: numpy() copies"
            )
        if dtype is not None and np.dtype(dtype) != data.dtype:
            if copy is False:
                raise ValueError(
                    "Unable to avoid copy while creating an array as requested: "
                    f"{describe(self)} as {np.dtype(dtype)}"
                )
            return data.astype(dtype)
        if copy or (self._v is SCALAR and copy is None):
            return data.copy()
        self._escape()
        return data

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """The Array of what NumPy computed from this one's memory."""
        return calling.wrap_results(array[()] if return_scalar else np.asarray(array), "array_wrap")

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """NumPy's description of the memory; what it can't say goes through `__array__`."""
        # NumPy looks here before it calls __array__, which refuses gradients by name.
        if self._n is not None and modes.grad_enabled():
            raise AttributeError("__array_interface__: this array requires a gradient")
        traced = modes.ACTIVE and modes.state.recorder is not None
        if traced or self._v is SCALAR or self._d.dtype.kind in "VT":
            raise AttributeError("__array_interface__: scalars, records and StringDType have none")
        if not isinstance(self._d, np.ndarray):
            raise AttributeError(f"__array_interface__: the memory is on device {self.device!r}")
        self._exported("__array_interface__")
        return self._d.__array_interface__

    def __buffer__(self, flags: int) -> memoryview:
        """The memory as a buffer (Python 3.12 and newer call this); a scalar's is a copy.

        Raises
        ------
        BufferError
            If the array requires a gradient; NumPy then asks `__array__`.
        """
        if self._n is not None and modes.grad_enabled():
            raise BufferError("memoryview: this array requires a gradient. Hint: detach() it")
        self._exported("memoryview")
        return memoryview(self._d.copy() if self._v is SCALAR else self._d)

    def __array_namespace__(self, /, *, api_version: str | None = None) -> Any:
        """The module of array API functions: numen itself.

        Raises
        ------
        ValueError
            If the version of the standard is not among API_VERSIONS.
        """
        if api_version is not None and api_version not in API_VERSIONS:
            raise ValueError(
                f"__array_namespace__: expected a version of {API_VERSIONS}, got {api_version!r}"
            )
        return sys.modules["numen"]

    def __dlpack__(
        self,
        /,
        *,
        stream: Any = None,
        max_version: Any = None,
        dl_device: Any = None,
        copy: bool | None = None,
    ) -> Any:
        """A DLPack capsule of the memory.

        Raises
        ------
        BufferError
            If the array requires a gradient, or is read-only and the consumer can't say so.
        """
        if self._n is not None and modes.grad_enabled():
            raise BufferError("__dlpack__: this array requires a gradient. Hint: detach() it")
        self._exported("__dlpack__")
        return self._d.__dlpack__(
            stream=stream, max_version=max_version, dl_device=dl_device, copy=copy
        )

    def __dlpack_device__(self, /) -> tuple[int, int]:
        """DLPack's (device type, id) of the memory."""
        return self._d.__dlpack_device__()  # type: ignore[no-any-return]

    @classmethod
    def __class_getitem__(cls, item: Any) -> Any:
        return types.GenericAlias(cls, item)


def _into_ndarray(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Call a function whose `out=` is NumPy's array: it is written and returned as such."""
    _refuse_gradients(function.__name__, "an ndarray as output", args, kwargs)
    out = kwargs["out"]
    shared = as_array(out)
    result = function(*args, **{**kwargs, "out": shared})
    return out if result is shared else result


def _refuse_gradients(name: str, what: str, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
    carrying = [a for a in calling.arrays_in(args, kwargs) if a._n is not None]
    if carrying and modes.grad_enabled():
        raise GradientError(
            f"{name}: {what} would lose the gradient of {describe(*carrying)}. Hint: detach() it"
        )


def _outs(kwargs: dict[str, Any]) -> Sequence[Any]:
    out = kwargs.get("out", ())
    return out if isinstance(out, tuple) else (out,)


def _overrides(value: Any, protocol: str) -> bool:
    return getattr(type(value), protocol, None) is not None


def _counterpart(function: Any) -> Callable[..., Any] | None:
    """numen's function (or ufunc) of a NumPy function; None where numen has none."""
    if not _counterparts:
        _fill_counterparts()
    return _counterparts.get(function)


def _fill_counterparts() -> None:
    """Pair the public functions of both modules by name, once numen is imported whole."""
    ours = sys.modules["numen"]
    pairs = [(np, ours)]
    for name in ("linalg", "fft"):
        if hasattr(ours, name):
            pairs.append((getattr(np, name), getattr(ours, name)))
    if hasattr(ours, "lib"):
        pairs.append((np.lib.stride_tricks, ours.lib.stride_tricks))
    for theirs, mine in pairs:
        ours_by_name = vars(mine)  # what loads on demand stays unloaded
        for name, f in list(vars(theirs).items()):
            g = ours_by_name.get(name)
            if callable(f) and callable(g) and f is not g and not isinstance(f, type):
                _counterparts[f] = g
