"""The strict backend: CuPy's narrower interface over NumPy's memory, to prove that numen needs no
more.

A StrictArray refuses NumPy's functions, implicit copies to the host, operands of other memory and
keywords that CuPy lacks; its reductions give 0-d arrays, as CuPy's. What passes on it can run on a
GPU through CuPy. Device "strict"; next: `surface.py` for what is refused.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from numen.backends.surface import (
    ABSENT,
    METHODS,
    REFUSED_BY_UFUNCS,
    REFUSED_KEYWORDS,
    UFUNC_METHODS,
)
from numen.dispatch.backends import Backend
from numen.errors import BackendError, describe

KINDS = "biufc"
"""Kinds of dtypes that CuPy has."""


class StrictArray:
    """An array whose memory only the strict module's functions may touch."""

    __slots__ = ("__weakref__", "_host", "base")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, host: Any, base: Any = None) -> None:
        dtype = host.dtype
        if dtype.kind not in KINDS or dtype.char in "gG" or not dtype.isnative:
            if not dtype.name.startswith(("bfloat16", "float8")):
                raise BackendError(f"strict: CuPy has no arrays of dtype {dtype}")
        self._host: Any = host
        self.base = base

    # ------------------------------------------------------------ refusals
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise BackendError(
            f"strict: implicit copy of a {describe(self)} to the host. Hint: get() copies"
        )

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> NoReturn:
        raise BackendError(f"strict: NumPy's {ufunc.__name__} called on a {describe(self)}")

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> NoReturn:
        raise BackendError(f"strict: NumPy's {func.__name__} called on a {describe(self)}")

    def __dlpack__(self, **options: Any) -> NoReturn:
        raise BackendError(f"strict: only numen reads the memory of a {describe(self)}")

    def __dlpack_device__(self) -> NoReturn:
        raise BackendError(f"strict: only numen reads the memory of a {describe(self)}")

    # ------------------------------------------------------------ attributes
    @property
    def shape(self) -> Any:
        return self._host.shape

    @property
    def ndim(self) -> Any:
        return self._host.ndim

    @property
    def dtype(self) -> Any:
        return self._host.dtype

    @property
    def size(self) -> Any:
        return self._host.size

    @property
    def itemsize(self) -> Any:
        return self._host.itemsize

    @property
    def nbytes(self) -> Any:
        return self._host.nbytes

    @property
    def strides(self) -> Any:
        return self._host.strides

    @property
    def flags(self) -> StrictFlags:
        return StrictFlags(self._host)

    @property
    def T(self) -> Any:
        return _wrapped(self._host.T, (self,))

    @property
    def real(self) -> Any:
        return _wrapped(self._host.real, (self,))

    @property
    def imag(self) -> Any:
        return _wrapped(self._host.imag, (self,))

    @property
    def device(self) -> str:
        return "strict"

    # ------------------------------------------------------------ values out, asked for
    def get(self) -> Any:
        """A copy on the host."""
        return self._host.copy()

    def __bool__(self) -> bool:
        return bool(self._host)

    def __int__(self) -> int:
        return int(self._host)

    def __float__(self) -> float:
        return float(self._host)

    def __complex__(self) -> complex:
        return complex(self._host)

    def __index__(self) -> int:
        return operator.index(self._host)

    def __len__(self) -> int:
        return len(self._host)

    def __iter__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(len(self._host))])

    def __repr__(self) -> str:
        return repr(self._host)

    def __str__(self) -> str:
        return str(self._host)

    def __format__(self, spec: str) -> str:
        return format(self._host, spec)

    # ------------------------------------------------------------ elements
    def __getitem__(self, key: Any) -> Any:
        return _wrapped(self._host[_unwrapped(key, "getitem")], (self,))

    def __setitem__(self, key: Any, value: Any) -> None:
        _refuse_sequences((value,), "setitem")
        self._host[_unwrapped(key, "setitem")] = _unwrapped(value, "setitem")

    def __getattr__(self, name: str) -> Any:
        if name not in METHODS:
            raise AttributeError(f"strict: CuPy's arrays have no attribute {name!r}")
        return _calling(getattr(self._host, name), name, (self,))


class StrictFlags:
    """CuPy's flags: NumPy's less those on alignment and writing."""

    __slots__ = ("c_contiguous", "f_contiguous", "owndata")

    def __init__(self, host: np.ndarray[Any, Any]) -> None:
        self.c_contiguous = host.flags.c_contiguous
        self.f_contiguous = host.flags.f_contiguous
        self.owndata = host.flags.owndata


class StrictModule:
    """NumPy's functions under CuPy's signatures; `linalg` and `fft` hang below."""

    def __init__(self, module: Any, prefix: str = "") -> None:
        self.__name__ = "strict"
        self._module = module
        self._prefix = prefix
        if not prefix:
            self.linalg = StrictModule(np.linalg, "linalg.")
            self.fft = StrictModule(np.fft, "fft.")
            self.lib = StrictLib()

    def __getattr__(self, name: str) -> Any:
        if self._prefix + name in ABSENT or name.startswith("_"):
            raise AttributeError(f"strict: CuPy has no {self._prefix}{name}")
        function = getattr(self._module, name)
        if inspect.ismodule(function):
            raise AttributeError(f"strict: NumPy's module {name} is of the host")
        if isinstance(function, type) or not callable(function):
            return function
        called = _calling(function, self._prefix + name, ())
        setattr(self, name, called)
        return called


class StrictLib:
    """`lib.stride_tricks`, of which CuPy has as_strided."""

    def __init__(self) -> None:
        self.stride_tricks = self

    def as_strided(self, x: StrictArray, shape: Any = None, strides: Any = None) -> Any:
        """A view of other shape and strides."""
        result = np.lib.stride_tricks.as_strided(x._host, shape, strides)
        return StrictArray(result, x if x.base is None else x.base)


def _calling(function: Callable[..., Any], name: str, owners: tuple[Any, ...]) -> Any:
    is_ufunc = isinstance(function, np.ufunc)
    refused = REFUSED_BY_UFUNCS if is_ufunc else REFUSED_KEYWORDS.get(name, ())
    names = _parameters(type(function), name, function) if refused else ()

    def call(*args: Any, **kwargs: Any) -> Any:
        for keyword in (*names[: len(args)], *kwargs):
            if keyword in refused:
                raise BackendError(f"strict: CuPy's {name} does not take {keyword!r}")
        if is_ufunc:
            _refuse_sequences(args, name)
        raw = [_unwrapped(a, name) for a in args]
        result = function(*raw, **{k: _unwrapped(v, name) for k, v in kwargs.items()})
        return _wrapped(result, (*owners, *args, *kwargs.values()))

    call.__name__ = name
    if isinstance(function, np.ufunc):
        for method in ("reduce", "accumulate", "reduceat", "outer", "at"):
            if name in UFUNC_METHODS.get(method, (name,)):
                setattr(call, method, _calling(getattr(function, method), f"{name}.{method}", ()))
    return call


_names: dict[tuple[type, str], tuple[str, ...]] = {}


def _parameters(kind: type, name: str, function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of a function's positional parameters; none where NumPy does not say them."""
    if (kind, name) not in _names:
        try:
            found = tuple(inspect.signature(function).parameters)
        except ValueError:
            found = ()
        _names[kind, name] = found
    return _names[kind, name]


def _refuse_sequences(values: Sequence[Any], name: str) -> None:
    for value in values:
        if type(value) in (list, tuple):
            raise BackendError(f"strict: CuPy's {name} does not take a {type(value).__name__}")


def _unwrapped(value: Any, name: str) -> Any:
    if isinstance(value, StrictArray):
        return value._host
    if isinstance(value, np.ndarray):
        raise BackendError(f"strict: {name} got a NumPy {describe(value)} among device operands")
    if type(value) in (list, tuple):
        return type(value)([_unwrapped(v, name) for v in value])
    return value


def _wrapped(value: Any, operands: tuple[Any, ...]) -> Any:
    if isinstance(value, np.generic):
        return StrictArray(np.asarray(value))
    if isinstance(value, np.ndarray):
        for a in operands:
            if isinstance(a, StrictArray):
                if a._host is value:
                    return a
                if value.base is not None and (value.base is a._host or value.base is a._host.base):
                    return StrictArray(value, a if a.base is None else a.base)
        return StrictArray(value)
    if type(value) in (list, tuple):
        return type(value)([_wrapped(v, operands) for v in value])
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[_wrapped(v, operands) for v in value])
    return value


def _operator(function: Callable[..., Any], reflected: bool = False) -> Any:
    def method(self: StrictArray, *others: Any) -> Any:
        raw = [_unwrapped(o, function.__name__) for o in others]
        operands = (*raw, self._host) if reflected else (self._host, *raw)
        return _wrapped(function(*operands), (self, *others))

    return method


def _in_place(function: Callable[..., Any]) -> Any:
    def method(self: StrictArray, other: Any) -> StrictArray:
        function(self._host, _unwrapped(other, function.__name__))
        return self

    return method


_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
_BITS = ("and_", "or_", "xor", "lshift", "rshift")
_REST = ("neg", "pos", "abs", "invert", "eq", "ne", "lt", "le", "gt", "ge")

for _name in (*_BINARY, *_BITS):
    _stem = _name.rstrip("_")
    setattr(StrictArray, f"__{_stem}__", _operator(getattr(operator, _name)))
    setattr(StrictArray, f"__r{_stem}__", _operator(getattr(operator, _name), True))
    setattr(StrictArray, f"__i{_stem}__", _in_place(getattr(operator, "i" + _stem)))
for _name in _REST:
    setattr(StrictArray, f"__{_name}__", _operator(getattr(operator, _name)))

module = StrictModule(np)


def from_host(data: np.ndarray[Any, Any]) -> StrictArray:
    """A copy of host memory on the device."""
    return StrictArray(data.copy())


def to_host(array: StrictArray) -> Any:
    """A copy of device memory on the host."""
    return array.get()


BACKEND = Backend("strict", StrictArray, module, from_host, to_host)
