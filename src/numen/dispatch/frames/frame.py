"""Frame: what an Array holds inside `vmap` and `jvp` in place of memory.

A Frame shows the shape and dtype that the user's function sees; its value is the Array one level
below. Rules and functions that compute on raw values use its methods and operators, which are
Array's. Next: `ops.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numen.dispatch import backends, core, slots
from numen.dispatch.frames.level import VMAP, Level
from numen.errors import GradientError, TransformError, describe


class Frame:
    """The raw value of an Array inside a transform.

    Attributes
    ----------
    level : Level
    value : Array
        The value one level below: with the examples' axis in front where `mapped`.
    mapped : bool
        Whether the examples of a vmap differ here.
    tangent : Array or None
        The tangent in a jvp, of the value's shape and dtype; None stands for zeros.
    owned : bool
        Whether a write may go into the tangent: nothing else uses its memory.
    """

    __slots__ = ("__weakref__", "level", "mapped", "owned", "tangent", "value")
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        level: Level,
        value: Any,
        mapped: bool = False,
        tangent: Any = None,
        owned: bool = False,
    ) -> None:
        self.level = level
        self.value = value
        self.mapped = mapped
        self.tangent = tangent
        self.owned = owned

    # ------------------------------------------------------------ what the user's function sees
    @property
    def shape(self) -> tuple[int, ...]:
        shape = self.value._d.shape
        return tuple(shape[1:]) if self.mapped else tuple(shape)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def dtype(self) -> Any:
        return self.value._d.dtype

    @property
    def size(self) -> int:
        size = 1
        for n in self.shape:
            size *= n
        return size

    @property
    def itemsize(self) -> int:
        return int(self.dtype.itemsize)

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        strides = self.value._d.strides
        return tuple(strides[1:]) if self.mapped else tuple(strides)

    @property
    def base(self) -> Any:
        memory = self.value._v
        return memory.base if type(memory) is core.View else None

    @property
    def flags(self) -> Any:
        data = self.value._d
        if self.mapped and isinstance(data, np.ndarray) and data.shape[0]:
            return data[0:1].reshape(data.shape[1:]).flags if data.ndim == 1 else data[0].flags
        return data.flags

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    # ------------------------------------------------------------ values
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(exported(self, "NumPy's use of the values"), dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if not self.level.active:
            raise has_left(self, ufunc.__name__)
        if method != "__call__":
            return NotImplemented
        return raw_calling(getattr(slots.functions(), ufunc.__name__))(*inputs, **kwargs)

    def __bool__(self) -> bool:
        return bool(below(self, "bool()"))

    def __int__(self) -> int:
        return int(below(self, "int()"))

    def __float__(self) -> float:
        return float(below(self, "float()"))

    def __complex__(self) -> complex:
        return complex(below(self, "complex()"))

    def __index__(self) -> int:
        return int(below(self, "index()").__index__())

    def item(self, *args: Any) -> Any:
        return below(self, "item()").item(*args)

    def tolist(self) -> Any:
        return below(self, "tolist()").tolist()

    def __iter__(self) -> Any:
        return iter([self[i] for i in range(len(self))])

    def __repr__(self) -> str:
        if self.level.kind == VMAP:
            what = f"vmap, {self.level.size} examples" if self.mapped else "vmap, the same"
        else:
            what = "jvp" if self.tangent is not None else "jvp, no tangent"
        return f"<{what}: {self.dtype} of shape {self.shape}: {self.value!r}>"

    def __format__(self, spec: str) -> str:
        return format(below(self, "format()"), spec)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self.copy()

    def __reduce__(self) -> Any:
        return below(self, "pickling").__reduce__()

    # ------------------------------------------------------------ methods of raw arrays
    def _shaped(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The reshape row for a method of ndarray; NumPy checks it on a model of the shape."""
        model = np.empty(self.shape, np.bool_)
        shape = getattr(model, method)(*args, **kwargs).shape
        return slots.primitive("reshape")(core.ARRAY(self), shape=shape)._d

    def reshape(self, *args: Any, **kwargs: Any) -> Any:
        return self._shaped("reshape", args, kwargs)

    def ravel(self, *args: Any) -> Any:
        return self._shaped("ravel", args, {})

    def squeeze(self, *args: Any) -> Any:
        return self._shaped("squeeze", args, {})

    def transpose(self, *axes: Any) -> Any:
        if len(axes) == 1 and not isinstance(axes[0], int):
            axes = () if axes[0] is None else tuple(axes[0])
        np.empty(self.shape, np.bool_).transpose(axes or None)  # raises where NumPy does
        order = tuple([a % self.ndim for a in axes]) if axes else tuple(range(self.ndim))[::-1]
        return slots.primitive("transpose")(core.ARRAY(self), axes=order)._d

    def swapaxes(self, axis1: int, axis2: int) -> Any:
        np.empty(self.shape, np.bool_).swapaxes(axis1, axis2)  # raises where NumPy does
        order = list(range(self.ndim))
        order[axis1], order[axis2] = order[axis2], order[axis1]
        return slots.primitive("transpose")(core.ARRAY(self), axes=tuple(order))._d

    @property
    def T(self) -> Any:
        return self.transpose()

    def copy(self, order: str = "C") -> Any:
        return slots.primitive("copy")(core.ARRAY(self))._d

    def astype(self, dtype: Any, *args: Any, **kwargs: Any) -> Any:
        return slots.primitive("cast")(core.ARRAY(self), dtype=np.dtype(dtype))._d

    # ------------------------------------------------------------ rules that compute on raw values
    def __getitem__(self, key: Any) -> Any:
        return core.ARRAY(self)[key]._d

    def __getattr__(self, name: str) -> Any:
        """Array's method or attribute of that name, raw values in and out."""
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(core.ARRAY(self), name)
        return raw_calling(found) if callable(found) else core.unwrap(found)


def _operator(name: str) -> Callable[..., Any]:
    def method(self: Frame, *others: Any) -> Any:
        array = core.ARRAY(self)
        return core.unwrap(getattr(array, name)(*[_wrapped(o) for o in others]))

    return method


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or"):
    setattr(Frame, f"__{_name}__", _operator(f"__{_name}__"))
    setattr(Frame, f"__r{_name}__", _operator(f"__r{_name}__"))
for _name in ("lt", "le", "gt", "ge", "eq", "ne", "neg", "pos", "abs", "invert", "xor"):
    setattr(Frame, f"__{_name}__", _operator(f"__{_name}__"))


def _wrapped(value: Any) -> Any:
    """Frames as Arrays, also in lists and tuples."""
    if type(value) is Frame:
        return core.ARRAY(value)
    if type(value) in (list, tuple):
        return type(value)([_wrapped(v) for v in value])
    return value


def _unwrapped(value: Any) -> Any:
    if type(value) in (list, tuple):
        return type(value)([_unwrapped(v) for v in value])
    return core.unwrap(value)


def raw_calling(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        more = {k: _wrapped(v) for k, v in kwargs.items()}
        return _unwrapped(function(*[_wrapped(a) for a in args], **more))

    return call


def innermost(raw: Any) -> Any:
    """The raw array below all Frames."""
    while type(raw) is Frame:
        raw = raw.value._d
    return raw


def exported(frame: Frame, what: str) -> Any:
    """The ndarray of a Frame's values, for code that knows no transforms.

    Raises
    ------
    TransformError
        If the examples of a vmap differ in it.
    GradientError
        If a tangent would be lost.
    """
    raw: Any = frame
    while type(raw) is Frame:
        if raw.tangent is not None:
            raise GradientError(
                f"jvp: {what} would lose the tangent of a {describe(raw)}. Hint: detach() it"
            )
        raw = below(raw, what)._d
    return concrete(raw, what)


def has_left(frame: Frame, op: str) -> TransformError:
    """The error for a value that is used after its transform has ended, or in another thread."""
    return TransformError(
        f"{op}: a {describe(frame)} has left its {frame.level.kind}. Hint: return values from the "
        "function instead of storing them outside"
    )


def below(frame: Frame, what: str) -> Any:
    """The Array below, where Python asks for the value itself.

    Raises
    ------
    TransformError
        If the examples of a vmap differ in it.
    """
    if frame.mapped:
        raise TransformError(
            f"vmap: {what} of an array that differs between the {frame.level.size} examples; got "
            f"{describe(frame)}. Hint: where() chooses by element, jit() or a loop by value"
        )
    return frame.value


def concrete(raw: Any, what: str) -> Any:
    """The ndarray of a raw value's elements; of a jvp the primal's.

    Raises
    ------
    TransformError
        If the examples of a vmap differ in it.
    """
    while type(raw) is Frame:
        raw = below(raw, what)._d
    backend = backends.backend_of((raw,))
    return raw if backend is None else backend.to_host(raw)
