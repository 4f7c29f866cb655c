"""The class Array: NumPy's methods and attributes over the rows, and PyTorch's where the name is
free.

Operators are fast paths from `dispatch/fast.py`; the rest call primitives or the functions beside
this file. Next: `dispatch/core.py` for the slots, `ops/` for what the operators compute.
"""

from __future__ import annotations

import copy as _copy
from typing import Any

import numpy as np

from numen.dispatch import backends, core, frames, hooks, modes, views
from numen.dispatch import backward as _backward
from numen.dispatch.backends import is_backend_array
from numen.dispatch.convert import as_array
from numen.dispatch.core import SCALAR, ArrayCore, Leaf, is_differentiable
from numen.errors import DTypeError, GradientError, describe, name_error
from numen.namespace import layout, operators, signatures
from numen.namespace.access import Access
from numen.namespace.buffers import ndarray_new
from numen.namespace.devices import backend_among, on_host
from numen.namespace.gradient_state import GradientState
from numen.namespace.memory import Memory
from numen.namespace.methods import Methods
from numen.namespace.protocols import Protocols
from numen.namespace.scalars import Scalars

_ndarray = np.ndarray


class Array(Protocols, Access, Memory, Methods, GradientState, Scalars):
    """An n-dimensional array: NumPy's ndarray with gradients.

    Made by `nm.array`, `nm.zeros` and the other functions, not by calling the class. Indexing and
    views follow NumPy; what NumPy returns as a scalar is a read-only 0-d Array that prints, hashes
    and converts like that scalar.

    Examples
    --------
    >>> import numen as nm
    >>> x = nm.array([1.0, 2.0, 3.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> x.grad
    array([2., 4., 6.])
    """

    __slots__ = ()

    def __init__(
        self,
        shape: Any,
        dtype: Any = None,
        buffer: Any = None,
        offset: int = 0,
        strides: Any = None,
        order: Any = None,
    ) -> None:
        if type(shape) is not _ndarray and not is_backend_array(shape):
            made = ndarray_new(shape, dtype or float, buffer, offset, strides, order)
            shape, dtype, buffer = made._d, made._n, made._v
        # else numen itself calls, with (data, node, memory); one by one is quicker than a tuple
        self._d = shape
        self._n = dtype
        self._v = buffer
        self._t = None

    # ------------------------------------------------------------ gradients
    @property
    def requires_grad(self) -> bool:
        """Whether operations on this array are recorded."""
        return self._n is not None

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    def requires_grad_(self, value: bool = True) -> Array:
        """Ask for (or stop) gradients of this array; returns it.

        Raises
        ------
        DTypeError
            If the dtype is neither floating nor complex.
        GradientError
            If gradients are switched off on an array that an op computed.
        """
        if value:
            if not is_differentiable(self._d.dtype):
                raise DTypeError(
                    "requires_grad: only floating and complex dtypes carry gradients, got "
                    f"{describe(self)}"
                )
            if self._n is None:
                self._n = Leaf(self._d.shape, self._d.dtype)
        elif self._n is not None:
            if type(self._n) is not Leaf:
                raise GradientError(
                    "requires_grad: only leaves can stop requiring a gradient. Hint: detach()"
                )
            self._n = None
        return self

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded operation made this array; only leaves hold a `grad`."""
        return self._n is None or type(self._n) is Leaf

    @property
    def grad(self) -> Any:
        """The gradient that `backward` accumulated, or None; after `retain_grad` not only of
        leaves."""
        node = self._n
        if type(node) is not Leaf:
            return None if node is None else hooks.retained(self)
        if modes.ACTIVE and modes.state.recorder is not None:
            return modes.state.recorder.read_grad(node)
        return node.grad

    @grad.setter
    def grad(self, value: Any) -> None:
        node = self._n
        if type(node) is not Leaf:
            if value is None:
                if node is not None and hooks.hooks_of(node) is not None:
                    hooks.forget(self)
                return
            raise GradientError(
                f"grad: only leaves that require a gradient hold one, got {describe(self)}"
            )
        if value is not None:
            value = as_array(value)
            if value._d.shape != self._d.shape or value._d.dtype != self._d.dtype:
                raise GradientError(
                    f"grad: expected {self._d.dtype} of shape {self._d.shape}, got "
                    f"{describe(value)}"
                )
        if modes.ACTIVE and modes.state.recorder is not None:
            modes.state.recorder.write_grad(node, value)
        node.grad = value

    def backward(
        self, gradient: Any = None, retain_graph: bool = False, create_graph: bool = False
    ) -> None:
        """Add the gradient of this array with respect to every leaf into the leaves' `.grad`.

        Raises
        ------
        GradientError
            If nothing was recorded, the array has more than one element and no cotangent is given,
            or the graph was freed or a saved value overwritten.
        """
        if self._n is None:
            raise GradientError(
                f"backward: nothing was recorded for this {describe(self)}. Hint: some input "
                f"needs requires_grad"
            )
        seed = None if gradient is None else as_array(gradient)
        _backward.backward([self], [seed], create_graph=create_graph, retain_graph=retain_graph)

    def detach(self) -> Array:
        """A view of the same memory that takes no part in gradients."""
        framed = type(self._d) is backends.FRAME
        result = Array(frames.detached(self._d) if framed else self._d)
        views.register_detached(result, self)
        result._t = _backward.register_of(self, result)
        return result

    def zero_grad(self) -> None:
        """Forget the accumulated gradient."""
        self.grad = None

    # ------------------------------------------------------------ values out
    def numpy(self) -> np.ndarray[Any, Any]:
        """The ndarray that holds this array's data, shared (a copy from another device).

        Raises
        ------
        GradientError
            If the array requires a gradient; `detach()` it first.
        """
        if self._n is not None:
            raise GradientError("numpy: this array requires a gradient. Hint: detach().numpy()")
        self._leaves("numpy()")
        framed = type(self._d) is backends.FRAME
        data = frames.exported(self._d, "numpy()") if framed else on_host(self)
        if data is not self._d:
            return data  # type: ignore[no-any-return]
        self._escape()
        return self._d  # type: ignore[no-any-return]

    def item(self, /, *args: Any) -> Any:
        """The element as a Python scalar: the only one, that at a flat index, or that at an index.

        Raises
        ------
        ValueError
            If no index is given and the array does not have exactly one element.
        IndexError
            If the index is out of bounds.
        """
        recorder = modes.state.recorder if modes.ACTIVE else None
        if recorder is None:
            return self._item(args)
        if not args:
            if self._d.size == 1:
                return recorder.query(self, "item")
            return self._item(args)  # raises
        self._item(args)  # raises where the index is wrong
        if len(args) == 1 and not isinstance(args[0], tuple):
            return self[np.unravel_index(args[0] % self._d.size, self._d.shape)].item()
        return self[args[0] if len(args) == 1 else args].item()

    def _item(self, args: tuple[Any, ...]) -> Any:
        if args and backend_among(self) is not None:
            return self._item_on_device(args)
        try:
            return self._d.item(*args)
        except (ValueError, IndexError) as error:
            name_error("item", error, (self,))
            raise

    def _item_on_device(self, args: tuple[Any, ...]) -> Any:
        """An element by index; backends give the only one alone."""
        if len(args) == 1 and not isinstance(args[0], tuple):
            size = self._d.size
            if not -size <= args[0] < size:
                raise IndexError(f"index {args[0]} is out of bounds for size {size}")
            return self._flat()[args[0]].item()
        return self[args[0] if len(args) == 1 else args].item()

    def __bytes__(self) -> bytes:
        return self.tobytes()

    def tolist(self, /) -> Any:
        """The elements as nested lists of Python objects; of a 0-d array the object itself."""
        self._leaves("tolist()")
        return self._d.tolist()

    def __bool__(self) -> bool:
        if modes.ACTIVE and modes.state.recorder is not None:
            return bool(modes.state.recorder.query(self, "bool"))
        return bool(self._d)

    def __int__(self) -> int:
        if modes.ACTIVE and modes.state.recorder is not None:
            return int(modes.state.recorder.query(self, "int"))
        return int(self._d)

    def __float__(self) -> float:
        if modes.ACTIVE and modes.state.recorder is not None:
            return float(modes.state.recorder.query(self, "float"))
        return float(self._d)

    def __complex__(self, /) -> complex:
        self._leaves("complex()")
        return complex(self._d)

    def __index__(self) -> int:
        if self._d.dtype.kind not in "iu" or self._d.ndim:
            raise TypeError(
                f"only integer scalar arrays can be converted to a scalar index; got "
                f"{describe(self)}"
            )
        if modes.ACTIVE and modes.state.recorder is not None:
            return int(modes.state.recorder.query(self, "index"))
        return int(self._d)

    def __round__(self, ndigits: int | None = None) -> Any:
        """Python's round of what NumPy has as a scalar: an int, or with `ndigits` a scalar
        Array."""
        if self._v is not SCALAR:
            raise TypeError(f"round: expected a scalar, got {describe(self)}")
        self._leaves("round()")
        value = round(on_host(self)[()], ndigits)
        return core.wrap(value) if isinstance(value, np.generic) else value

    def __len__(self) -> int:
        if not self._d.ndim:
            raise TypeError("len() of unsized object: a 0-d array has no length")
        return self._d.shape[0]  # type: ignore[no-any-return]

    def __hash__(self) -> int:
        if self._v is SCALAR:
            self._leaves("hash()")
            return hash(on_host(self)[()])
        raise TypeError(f"unhashable type: 'Array' ({describe(self)})")

    # ------------------------------------------------------------ text
    def __repr__(self) -> str:
        if type(self._d) is backends.FRAME:
            return repr(self._d)
        self._leaves("repr()")
        data = on_host(self)
        if self._v is SCALAR:
            return repr(data[()])
        text = repr(data)
        if self._n is not None:
            text = text[:-1] + ", requires_grad=True)"
        return text

    def __str__(self) -> str:
        if type(self._d) is backends.FRAME:
            return repr(self._d)
        self._leaves("str()")
        return str(on_host(self)[()] if self._v is SCALAR else on_host(self))

    def __format__(self, spec: str, /) -> str:
        self._leaves("format()")
        data = on_host(self)
        if self._v is SCALAR or (not data.ndim and spec):
            return format(data[()], spec)
        return format(data, spec)

    # ------------------------------------------------------------ copies
    def copy(self, /, order: str = "C") -> Array:
        """A copy that shares no memory; gradients flow through it."""
        return layout.copy_of(self, order)  # type: ignore[no-any-return]

    def __copy__(self, /) -> Array:
        return self.copy("K")

    def __deepcopy__(self, memo: dict[int, Any], /) -> Array:
        if self._n is not None and type(self._n) is not Leaf:
            raise GradientError(
                "deepcopy: only leaves can be copied with their gradient state. Hint: detach()"
            )
        data = _copy.deepcopy(self._d, memo)
        result = memo[id(self)] = _rebuild(type(self), data, self._n is not None, self._v is SCALAR)
        return result

    def __reduce__(self, /) -> Any:
        if self._n is not None and type(self._n) is not Leaf:
            raise GradientError("pickle: only leaves can be stored. Hint: detach()")
        return _rebuild, (type(self), self._d, self._n is not None, self._v is SCALAR)

    def astype(
        self,
        /,
        dtype: Any,
        order: str = "K",
        casting: str = "unsafe",
        subok: bool = True,
        copy: bool = True,
    ) -> Array:
        """This array cast to `dtype`; a copy unless `copy=False` and nothing changes."""
        return layout.cast_of(  # type: ignore[no-any-return]
            self, dtype, order, casting, subok, copy
        )

    # ------------------------------------------------------------ operators
    __add__ = operators.operator("add")
    __radd__ = operators.reflected("add")
    __iadd__ = operators.in_place("add")
    __sub__ = operators.operator("subtract")
    __rsub__ = operators.reflected("subtract")
    __isub__ = operators.in_place("subtract")
    __mul__ = operators.operator("multiply")
    __rmul__ = operators.reflected("multiply")
    __imul__ = operators.in_place("multiply")
    __truediv__ = operators.operator("divide")
    __rtruediv__ = operators.reflected("divide")
    __itruediv__ = operators.in_place("divide")
    __floordiv__ = operators.operator("floor_divide")
    __rfloordiv__ = operators.reflected("floor_divide")
    __ifloordiv__ = operators.in_place("floor_divide")
    __mod__ = operators.operator("remainder")
    __rmod__ = operators.reflected("remainder")
    __imod__ = operators.in_place("remainder")
    __divmod__ = operators.division()
    __rdivmod__ = operators.division(swapped=True)
    __pow__ = operators.power()
    __rpow__ = operators.reflected("power")
    __ipow__ = operators.in_place("power")
    __matmul__ = operators.matmul()
    __rmatmul__ = operators.reflected("matmul")
    __imatmul__ = operators.in_place("matmul")
    __lshift__ = operators.operator("left_shift")
    __rlshift__ = operators.reflected("left_shift")
    __ilshift__ = operators.in_place("left_shift")
    __rshift__ = operators.operator("right_shift")
    __rrshift__ = operators.reflected("right_shift")
    __irshift__ = operators.in_place("right_shift")
    __and__ = operators.operator("bitwise_and")
    __rand__ = operators.reflected("bitwise_and")
    __iand__ = operators.in_place("bitwise_and")
    __or__ = operators.operator("bitwise_or")
    __ror__ = operators.reflected("bitwise_or")
    __ior__ = operators.in_place("bitwise_or")
    __xor__ = operators.operator("bitwise_xor")
    __rxor__ = operators.reflected("bitwise_xor")
    __ixor__ = operators.in_place("bitwise_xor")
    __eq__ = operators.equality("equal")
    __ne__ = operators.equality("not_equal")
    __lt__ = operators.operator("less")
    __le__ = operators.operator("less_equal")
    __gt__ = operators.operator("greater")
    __ge__ = operators.operator("greater_equal")
    __neg__ = operators.unary("negative")
    __pos__ = operators.unary("positive")
    __abs__ = operators.unary("absolute")
    __invert__ = operators.unary("invert")


def _rebuild(cls: type[Array], data: Any, requires_grad: bool, scalar: bool) -> Array:
    array = cls.__new__(cls)
    frozen = scalar and isinstance(data, (np.ndarray, np.generic))
    ArrayCore.__init__(
        array, core.freeze_scalar(data) if frozen else data, None, SCALAR if scalar else None
    )
    return array.requires_grad_() if requires_grad else array


signatures.show_as_numpy(Array)
core.fill_array_class(Array)

ndarray = Array
