"""The class Array: NumPy's methods and attributes over the rows, and PyTorch's where the name is
free.

Operators are fast paths from `dispatch/fast.py`; the rest call primitives or the functions beside
this file. Next: `dispatch/core.py` for the slots, `ops/` for what the operators compute.
"""

from __future__ import annotations

import copy as _copy
import operator
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from numen.dispatch import backward as _backward
from numen.dispatch import core, fast, modes, views
from numen.dispatch.convert import as_array, normalize_axes, operand
from numen.dispatch.core import SCALAR, ArrayCore, Leaf, View, is_differentiable
from numen.errors import DTypeError, GradientError, describe
from numen.namespace import indexing, operators
from numen.namespace.output import into, target_of
from numen.ops import table


class Array(ArrayCore):
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
    __array_ufunc__ = None
    __array_priority__ = 1000

    # ------------------------------------------------------------ attributes
    @property
    def shape(self) -> tuple[int, ...]:
        return self._d.shape  # type: ignore[no-any-return]

    @property
    def ndim(self) -> int:
        return self._d.ndim  # type: ignore[no-any-return]

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._d.dtype  # type: ignore[no-any-return]

    @property
    def size(self) -> int:
        return self._d.size  # type: ignore[no-any-return]

    @property
    def itemsize(self) -> int:
        return self._d.itemsize  # type: ignore[no-any-return]

    @property
    def nbytes(self) -> int:
        return self._d.nbytes  # type: ignore[no-any-return]

    @property
    def strides(self) -> tuple[int, ...]:
        return self._d.strides  # type: ignore[no-any-return]

    @property
    def flags(self) -> Any:
        return self._d.flags

    @property
    def device(self) -> str:
        return "cpu"

    @property
    def base(self) -> Any:
        """The Array whose memory this one views, or None."""
        memory = self._v
        if type(memory) is View:
            return memory.base
        return None if self._d.base is None else self._d.base

    @property
    def T(self) -> Array:
        return self.transpose()

    @property
    def mT(self) -> Array:
        if self.ndim < 2:
            raise ValueError(f"mT: expected at least 2 dimensions, got {describe(self)}")
        return self.swapaxes(-1, -2)

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
            If the dtype can't carry a real gradient.
        GradientError
            If gradients are switched off on an array that an op computed.
        """
        if value:
            if self._d.dtype.kind == "c":
                raise DTypeError(
                    f"requires_grad: complex gradients are not supported yet, got {describe(self)}"
                )
            if not is_differentiable(self._d.dtype):
                raise DTypeError(
                    f"requires_grad: only floating dtypes carry gradients, got {describe(self)}"
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
        return self._n is None or type(self._n) is Leaf

    @property
    def grad(self) -> Any:
        """The gradient that `backward` accumulated, or None."""
        node = self._n
        if type(node) is not Leaf:
            return None
        if modes.ACTIVE and modes.state.recorder is not None:
            return modes.state.recorder.read_grad(node)
        return node.grad

    @grad.setter
    def grad(self, value: Any) -> None:
        node = self._n
        if type(node) is not Leaf:
            if value is None:
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
        result = Array(self._d)
        views.register_detached(result, self)
        result._t = _backward.register_of(self, result)
        return result

    def zero_grad(self) -> None:
        """Forget the accumulated gradient."""
        self.grad = None

    # ------------------------------------------------------------ values out
    def numpy(self) -> np.ndarray[Any, Any]:
        """The ndarray that holds this array's data, shared, without gradient.

        Raises
        ------
        GradientError
            If the array requires a gradient; `detach()` it first.
        """
        if self._n is not None:
            raise GradientError("numpy: this array requires a gradient. Hint: detach().numpy()")
        self._leaves("numpy()")
        self._escape()
        return self._d  # type: ignore[no-any-return]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        self._leaves("__array__")
        if self._n is not None and (not modes.NO_GRAD or modes.state.grad):
            raise GradientError("__array__: this array requires a gradient. Hint: detach() it")
        data = self._d
        if dtype is not None and np.dtype(dtype) != data.dtype:
            return data.astype(dtype)  # type: ignore[no-any-return]
        if copy:
            return data.copy()  # type: ignore[no-any-return]
        self._escape()
        return data  # type: ignore[no-any-return]

    def _escape(self) -> None:
        if self._v is None:
            self._v = core.Cell()
        if self._v is not SCALAR:
            self._v.cell.escaped = True

    def _leaves(self, what: str) -> None:
        """Tell a recorder that values leave numen here."""
        if modes.ACTIVE and modes.state.recorder is not None:
            modes.state.recorder.leave(self, what)

    def item(self, *args: Any) -> Any:
        """The element as a Python scalar.

        Raises
        ------
        ValueError
            If no index is given and the array does not have exactly one element.
        """
        if args:
            return self[args if len(args) > 1 else args[0]].item()
        if self._d.size != 1:
            raise ValueError(
                f"item: can only convert an array of size 1 to a Python scalar; got "
                f"{describe(self)}"
            )
        if modes.ACTIVE and modes.state.recorder is not None:
            return modes.state.recorder.query(self, "item")
        return self._d.item()

    def tolist(self) -> Any:
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

    def __complex__(self) -> complex:
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
        value = round(self._d[()], ndigits)
        return core.wrap(value) if isinstance(value, np.generic) else value

    def __len__(self) -> int:
        if not self._d.ndim:
            raise TypeError("len() of unsized object: a 0-d array has no length")
        return self._d.shape[0]  # type: ignore[no-any-return]

    def __hash__(self) -> int:
        if self._v is SCALAR:
            self._leaves("hash()")
            return hash(self._d[()])
        raise TypeError(f"unhashable type: 'Array' ({describe(self)})")

    def __iter__(self) -> Iterator[Array]:
        if not self._d.ndim:
            raise TypeError("iteration over a 0-d array")
        return iter([self[i] for i in range(self._d.shape[0])])

    def __contains__(self, value: Any) -> bool:
        self._leaves("in")
        return operand(value) is not None and bool((self._d == core.unwrap(operand(value))).any())

    # ------------------------------------------------------------ text
    def __repr__(self) -> str:
        self._leaves("repr()")
        data = self._d
        if self._v is SCALAR:
            return repr(data[()])
        text = repr(data)
        if self._n is not None:
            text = text[:-1] + ", requires_grad=True)"
        return text

    def __str__(self) -> str:
        self._leaves("str()")
        return str(self._d[()] if self._v is SCALAR else self._d)

    def __format__(self, spec: str) -> str:
        self._leaves("format()")
        if self._v is SCALAR or (not self._d.ndim and spec):
            return format(self._d[()], spec)
        return format(self._d, spec)

    # ------------------------------------------------------------ copies
    def copy(self, order: str = "C") -> Array:
        """A copy that shares no memory; gradients flow through it."""
        return table["copy"](self)  # type: ignore[no-any-return]

    def __copy__(self) -> Array:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Array:
        if self._n is not None and type(self._n) is not Leaf:
            raise GradientError(
                "deepcopy: only leaves can be copied with their gradient state. Hint: detach()"
            )
        data = _copy.deepcopy(self._d, memo)
        result = memo[id(self)] = _rebuild(type(self), data, self._n is not None, self._v is SCALAR)
        return result

    def __reduce__(self) -> Any:
        if self._n is not None and type(self._n) is not Leaf:
            raise GradientError("pickle: only leaves can be stored. Hint: detach()")
        return _rebuild, (type(self), self._d, self._n is not None, self._v is SCALAR)

    def astype(
        self,
        dtype: Any,
        order: str = "K",
        casting: str = "unsafe",
        subok: bool = True,
        copy: bool = True,
    ) -> Array:
        """This array cast to `dtype`; a copy unless `copy=False` and nothing changes."""
        target = np.dtype(dtype)
        if target == self._d.dtype:
            return self.copy() if copy else self
        if not np.can_cast(self._d.dtype, target, casting):  # type: ignore[arg-type]
            raise TypeError(
                f"astype: cannot cast {describe(self)} to {target} according to the rule "
                f"{casting!r}"
            )
        return table["cast"](self, dtype=target)  # type: ignore[no-any-return]

    # ------------------------------------------------------------ indexing
    def __getitem__(self, key: Any) -> Any:
        parsed = indexing.parse(key, self._d.shape)
        if isinstance(parsed, indexing.Basic):
            result = table["getitem"](self, index=parsed.entries)
            if parsed.ellipsis and not result._d.ndim and result._v is SCALAR:
                return _element_view(self, parsed.entries)
            return result
        if isinstance(parsed, indexing.Advanced):
            return table["gather"](self, *[as_array(a) for a in parsed.arrays], spec=parsed.spec)
        return self._masked(parsed.key)

    def _masked(self, key: Any) -> Any:
        """Elements that an index with boolean masks picks: the masks become index arrays."""
        self._leaves("boolean mask")
        positions: list[Any] = []
        axis = 0
        for e in key if type(key) is tuple else (key,):
            entry = (
                np.asarray(core.unwrap(e))
                if isinstance(e, (*indexing.ARRAY_LIKE, bool, np.bool_))
                else e
            )
            if not isinstance(entry, np.ndarray) or entry.dtype != np.bool_:
                positions.append(e)
                axis = -1 if e is Ellipsis or axis < 0 else axis + (e is not None)
                continue
            if not entry.ndim:  # adds an axis instead of picking along one
                return self.reshape(-1)[core.ARRAY(self._positions(key))]
            have = self._d.shape[axis : axis + entry.ndim]
            if axis >= 0 and have != entry.shape:
                raise IndexError(
                    f"boolean index did not match indexed array: mask of shape {entry.shape} "
                    f"against axes of sizes {have}"
                )
            axis = axis + entry.ndim if axis >= 0 else axis
            positions.extend(entry.nonzero())
        return self[tuple(positions)]

    def _positions(self, key: Any) -> Any:
        """Positions in the flattened array of the elements that an index picks."""
        return np.arange(self._d.size).reshape(self._d.shape)[_raw_key(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        if self._v is SCALAR:
            raise TypeError(
                f"'{self._d.dtype}' object does not support item assignment: NumPy scalars are "
                f"immutable"
            )
        parsed = indexing.parse(key, self._d.shape)
        if isinstance(parsed, indexing.Basic):
            params = {"index": parsed.entries}
            if views.same_view(self, value, table["getitem"], params):
                return
            source = operand(value)
            if _is_element(self, parsed.entries):
                if isinstance(source, ArrayCore) and source._d.ndim:
                    np.empty(1, self._d.dtype)[0] = source._d  # raises where NumPy does
                target = _element_view(self, parsed.entries)
            else:
                target = self[key]
            views.write(target, source, "setitem", casting="unsafe")
            return
        if isinstance(parsed, indexing.Masked):
            self._leaves("boolean mask")
            if self._n is None and not (isinstance(value, ArrayCore) and value._n is not None):
                views.check_writable(self, "setitem")
                views.keep_saved_result(self)
                self._d[_raw_key(parsed.key)] = core.unwrap(operand(value))
                views.wrote(self, None)
                return
            rows = np.unravel_index(self._positions(parsed.key), self._d.shape)
            arrays, spec = tuple(rows), tuple(range(len(rows)))
        else:
            arrays, spec = parsed.arrays, parsed.spec
        views.check_writable(self, "setitem")
        new = table["scatter_set"](
            _current(self), operand(value), *[as_array(a) for a in arrays], spec=spec
        )
        views.write(self, new, "setitem", casting="unsafe")

    def __delitem__(self, key: Any) -> None:
        raise ValueError("cannot delete array elements")

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
    __pow__ = operators.operator("power")
    __rpow__ = operators.reflected("power")
    __ipow__ = operators.in_place("power")
    __matmul__ = operators.operator("matmul")
    __rmatmul__ = operators.reflected("matmul")
    __eq__ = operators.equality("equal", operator.eq)
    __ne__ = operators.equality("not_equal", operator.ne)
    __lt__ = operators.operator("less")
    __le__ = operators.operator("less_equal")
    __gt__ = operators.operator("greater")
    __ge__ = operators.operator("greater_equal")
    __neg__ = fast.unary(table["negative"])
    __abs__ = fast.unary(table["absolute"])

    def __pos__(self) -> Array:
        if self._d.dtype == np.bool_:
            raise TypeError(f"positive: not defined for booleans, got {describe(self)}")
        return self.copy()

    # ------------------------------------------------------------ reductions
    def sum(
        self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
    ) -> Any:
        """Sum over axes. Small ints are widened as NumPy's."""
        return _reduce("sum", self, axis, keepdims, dtype, out)

    def mean(
        self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
    ) -> Any:
        """Arithmetic mean over axes."""
        return _reduce("mean", self, axis, keepdims, dtype, out)

    def max(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """Largest element along axes; NaN wins; the gradient of ties is shared evenly."""
        return _reduce("max", self, axis, keepdims, None, out)

    def min(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """Smallest element along axes; NaN wins; the gradient of ties is shared evenly."""
        return _reduce("min", self, axis, keepdims, None, out)

    def argmax(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """Index of the first largest element along an axis, or in the flattened array."""
        source = self
        if axis is None:
            ndim = self.ndim
            source = self.reshape(-1)
            result = table["argmax"](source, axis=0, keepdims=False)
            if keepdims:
                result = result.reshape((1,) * ndim)
        else:
            (ax,) = normalize_axes(axis, self.ndim, "argmax")
            result = table["argmax"](source, axis=ax, keepdims=bool(keepdims))
        return into(out, result, "argmax")

    # ------------------------------------------------------------ shapes
    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> Array:
        """This array with another shape, as a view where strides permit.

        Raises
        ------
        ValueError
            If the number of elements differs.
        """
        if order not in ("C", "A", "K"):
            raise ValueError(f"reshape: order {order!r} is not supported yet; expected 'C'")
        target = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        sizes = [
            -1 if n < 0 else n for n in map(operator.index, target)
        ]  # NumPy takes any negative extent as unknown
        if sizes.count(-1) > 1:
            raise ValueError("reshape: can only specify one unknown dimension")
        size = self._d.size
        known = 1
        for s in sizes:
            known *= s if s != -1 else 1
        if -1 in sizes and known > 0 and size % known == 0:
            sizes[sizes.index(-1)] = size // known
        elif (-1 in sizes and known == 0) or known != size:
            raise ValueError(
                f"reshape: cannot reshape {describe(self)} (size {size}) into shape {tuple(target)}"
            )
        result = table["reshape"](self, shape=tuple(sizes))
        return result.copy() if copy else result  # type: ignore[no-any-return]

    def transpose(self, *axes: Any) -> Array:
        """Axes permuted (reversed without arguments), as a view."""
        ndim = self._d.ndim
        order = (
            axes[0]
            if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list)))
            else axes
        )
        if order is None or len(order) == 0:
            permutation = tuple(range(ndim))[::-1]
        else:
            permutation = tuple([_one_axis(a, ndim, "transpose") for a in order])
            if sorted(permutation) != list(range(ndim)):
                raise ValueError(
                    f"transpose: axes {tuple(order)} don't match array of shape {self.shape}"
                )
        return table["transpose"](self, axes=permutation)  # type: ignore[no-any-return]

    def swapaxes(self, axis1: int, axis2: int) -> Array:
        """Two axes interchanged, as a view."""
        axes = list(range(self._d.ndim))
        i, j = _one_axis(axis1, len(axes), "swapaxes"), _one_axis(axis2, len(axes), "swapaxes")
        axes[i], axes[j] = axes[j], axes[i]
        return table["transpose"](self, axes=tuple(axes))  # type: ignore[no-any-return]

    def ravel(self, order: str = "C") -> Array:
        """Flattened, as a view where possible."""
        return self.reshape(-1, order=order)

    def flatten(self, order: str = "C") -> Array:
        """Flattened copy."""
        return self.reshape(-1, order=order).copy()

    def squeeze(self, axis: Any = None) -> Array:
        """Without axes of length one.

        Raises
        ------
        ValueError
            If a named axis has another length.
        """
        if axis is None:
            axes: Sequence[int] = [i for i, n in enumerate(self._d.shape) if n == 1]
        else:
            axes = normalize_axes(axis, self._d.ndim, "squeeze")
            if any(self._d.shape[i] != 1 for i in axes):
                raise ValueError(
                    f"squeeze: cannot select an axis whose size is not one: axis {axis}, got "
                    f"{describe(self)}"
                )
        return self.reshape(tuple([n for i, n in enumerate(self._d.shape) if i not in axes]))

    def dot(self, other: Any) -> Any:
        """NumPy's dot: product of matrices and vectors; a scalar operand multiplies."""
        b = as_array(other)
        if not self.ndim or not b.ndim:
            return self * b
        if b.ndim > 2:
            raise ValueError(
                f"dot: operands of more than 2 dimensions are not supported yet; got "
                f"{describe(self, b)}"
            )
        return table["matmul"](self, b)

    def fill(self, value: Any) -> None:
        """Write one value into every element."""
        views.write(self, operand(value), "fill", casting="unsafe")

    def clip(self, min: Any = None, max: Any = None) -> Any:
        """Elements limited to [min, max]; NaN stays."""
        result: Any = self
        if min is not None:
            result = table["maximum"](result, operand(min))
        if max is not None:
            result = table["minimum"](result, operand(max))
        return result


def _rebuild(cls: type[Array], data: Any, requires_grad: bool, scalar: bool) -> Array:
    array = cls.__new__(cls)
    ArrayCore.__init__(
        array, core.freeze_scalar(data) if scalar else data, None, SCALAR if scalar else None
    )
    return array.requires_grad_() if requires_grad else array


def _one_axis(axis: Any, ndim: int, op: str) -> int:
    return normalize_axes(axis, ndim, op)[0]


def _reduce(name: str, x: Array, axis: Any, keepdims: bool, dtype: Any, out: Any) -> Any:
    data = x._d
    axes = tuple(range(data.ndim)) if axis is None else normalize_axes(axis, data.ndim, name)
    if not data.size and name in ("max", "min") and any(data.shape[a] == 0 for a in axes):
        raise ValueError(
            f"{name}: zero-size array to a reduction which has no identity; got {describe(x)}, "
            f"axis {axis}"
        )
    if dtype is None and out is not None and name in ("sum", "mean"):
        wanted = target_of(out, name)._d.dtype
        if np.can_cast(data.dtype, wanted, "same_kind"):
            dtype = wanted  # NumPy adds up in out's dtype
    if dtype is None:
        result = table[name](x, axis=axes, keepdims=bool(keepdims))
    else:
        result = table[name](x.astype(dtype, copy=False), axis=axes, keepdims=bool(keepdims))
        result = result.astype(dtype, copy=False)
    return result if out is None else into(out, result, name)


def _is_element(x: Array, index: tuple[Any, ...]) -> bool:
    return len(index) == x._d.ndim and all(type(i) is int for i in index)


def _element_view(x: Array, index: tuple[Any, ...]) -> Any:
    """One element as a writable 0-d view: `x[..., 0]`."""
    picked = tuple([slice(i, i + 1, 1) if type(i) is int else i for i in index])
    part = table["getitem"](x, index=picked) if picked else x
    return table["reshape"](part, shape=())


def _raw_key(key: Any) -> Any:
    if type(key) is tuple:
        return tuple([core.unwrap(k) for k in key])
    return core.unwrap(key)


def _current(x: Array) -> Array:
    """x as the operand of a functional update of itself: its node and register, memory copied only
    if saved."""
    fresh = Array(x._d, x._n)
    fresh._t = _backward.register_of(x)
    return fresh


core.fill_array_class(Array)
