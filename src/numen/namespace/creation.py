"""Functions that make arrays from values: NumPy computes them, gradients start here.

`array` copies, `asarray` shares memory; `requires_grad=True` makes a leaf. Arrays inside nested
sequences keep their gradients: they are stacked. The first functions serve all files of creation:
`filled.py`, `ranges.py`, `grids.py`, `buffers.py`, `index_tricks.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch import backends, convert, core, modes
from numen.dispatch.core import SCALAR, ArrayCore, is_differentiable
from numen.errors import GradientError
from numen.namespace.calling import wrap_results
from numen.namespace.devices import backend_among, host_model, on_host, placed
from numen.namespace.likes import from_like
from numen.namespace.objects import (
    array_of_objects,
    given_by,
    gives_arrays,
    of_objects,
    readable,
    without_arrays,
)
from numen.namespace.unbound import unbound
from numen.ops import table

__all__ = ["array", "asanyarray", "asarray", "asarray_chkfinite"]


# ------------------------------------------------------------ what the files of creation share


def made(data: Any, requires_grad: bool = False) -> Any:
    """An Array of values that NumPy made; a constant to a recorder."""
    if type(data) is not np.ndarray and (
        isinstance(data, np.ndarray) or not backends.is_backend_array(data)
    ):
        data = np.asarray(data)
    result = core.ARRAY(data)
    if modes.ACTIVE:
        core.note_new(result)
    return result.requires_grad_() if requires_grad else result


def known(value: Any, op: str) -> Any:
    """An argument as NumPy reads it, Arrays inside it replaced; a recorder notes that the function
    depends on the value."""
    if isinstance(value, ArrayCore):
        recorder = modes.state.recorder if modes.ACTIVE else None
        if recorder is not None:
            query = {"i": "index", "u": "index", "f": "float", "b": "bool"}.get(value._d.dtype.kind)
            if value._d.ndim or query is None:
                recorder.leave(value, f"{op}()")
            else:
                recorder.query(value, query)
        data = on_host(value)
        return data[()] if value._v is SCALAR else data
    kind: Any = type(value)
    if kind in (list, tuple):
        return kind([known(v, op) for v in value])
    if kind is slice:
        return slice(known(value.start, op), known(value.stop, op), known(value.step, op))
    if getattr(kind, "_is_host_scalar", False):
        return value.known()
    return value


def followed(*values: Any) -> bool:
    """Whether rows must compute what comes of these values: one carries a gradient, is an Array in
    a trace, or lives on another device."""
    if modes.ACTIVE:
        if modes.state.recorder is not None:
            return any([contains_array(v) for v in values])
        if backend_among(*values) is not None:
            return True
    if modes.NO_GRAD and not modes.state.grad:
        return False
    return any([contains_array(v, gradient=True) for v in values])


def contains_array(value: Any, gradient: bool = False, seen: set[int] | None = None) -> bool:
    """Whether there is an Array (with a gradient) in nested lists and tuples, which may contain
    themselves (`seen`: those that are being looked at)."""
    if isinstance(value, ArrayCore):
        return not gradient or value._n is not None
    if type(value) not in (list, tuple):
        return False
    for kind in set(map(type, value)):  # long lists of numbers are passed over quickly
        if kind in (list, tuple) or issubclass(kind, ArrayCore):
            if seen is None:
                seen = set()
            elif id(value) in seen:
                return False
            seen.add(id(value))
            return any([contains_array(v, gradient, seen) for v in value])
    return False


def unwrapped(value: Any) -> Any:
    """Nested lists and tuples with Arrays inside, as NumPy can read them."""
    if isinstance(value, ArrayCore):
        return value._d[()] if value._v is SCALAR else value._d
    if contains_array(value):
        return type(value)([unwrapped(v) for v in value])
    return value


# ------------------------------------------------------------ from values


@unbound
def array(
    object: Any,
    dtype: Any = None,
    *,
    copy: bool | None = True,
    order: str | None = "K",
    subok: bool = False,
    ndmin: int = 0,
    ndmax: int | None = None,
    like: Any = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Any:
    """Make an Array, copying the values.

    Parameters
    ----------
    object : array_like
        Numbers, nested sequences, ndarrays or Arrays. Gradients flow to Arrays, also to those
        inside sequences.
    dtype : dtype, optional
        Item type; by default NumPy's choice for the values.
    copy : bool or None
        False or None share memory where possible (False raises ValueError where it is not).
    order : {'K', 'A', 'C', 'F'}
        Memory layout.
    subok : bool
        No meaning: there are no subclasses that results could have.
    ndmin : int
        Least number of dimensions; ones are prepended.
    ndmax : int
        Most dimensions that nested sequences give (NumPy 2.4 and newer).
    like : array_like, optional
        No meaning: the result is always an Array.
    device : str, optional
        Where to put it; by default where the values are.
    requires_grad : bool
        Make a leaf: record what happens to the array and accumulate its gradient in `.grad`.
        The values' own gradients end here.

    Raises
    ------
    ValueError
        If nested sequences are ragged, or `copy=False` needs a copy.
    DTypeError
        If `requires_grad` is asked for a dtype without gradients.

    Examples
    --------
    >>> import numen as nm
    >>> nm.array([[1, 2], [3, 4]])
    array([[1, 2],
           [3, 4]])
    >>> x = nm.array([1.0, 2.0], requires_grad=True)
    >>> nm.array([x[1], 3 * x[0]]).sum().backward()
    >>> x.grad
    array([3., 1.])
    """
    if like is not None and (other := from_like(array, locals())) is not NotImplemented:
        return other
    if not requires_grad:
        result = _from_value(object, dtype, copy, order or "K", ndmin, ndmax)
        return result if device is None else placed(result, device)
    with modes.no_grad():
        result = placed(_from_value(object, dtype, copy, order or "K", ndmin, ndmax), device)
    return result.requires_grad_()


@unbound
def asarray(
    a: Any,
    dtype: Any = None,
    order: str | None = None,
    *,
    device: str | None = None,
    copy: bool | None = None,
    like: Any = None,
) -> Any:
    """Make an Array of `a` without copying where possible; an Array of the right dtype is
    returned itself.

    Raises
    ------
    ValueError
        If nested sequences are ragged, or `copy=False` needs a copy.

    Examples
    --------
    >>> import numpy, numen as nm
    >>> a = numpy.zeros(2); nm.asarray(a)[0] = 5; a
    array([5., 0.])
    """
    if like is not None and (other := from_like(asarray, locals())) is not NotImplemented:
        return other
    result = _from_value(a, dtype, copy, order or "K", 0)
    return result if device is None else placed(result, device)


@unbound
def asanyarray(
    a: Any,
    dtype: Any = None,
    order: str | None = None,
    *,
    device: str | None = None,
    copy: bool | None = None,
    like: Any = None,
) -> Any:
    """`asarray`: there are no subclasses to pass through."""
    if like is not None and (other := from_like(asanyarray, locals())) is not NotImplemented:
        return other
    return asarray(a, dtype, order, device=device, copy=copy, like=like)


def asarray_chkfinite(a: Any, dtype: Any = None, order: str | None = None) -> Any:
    """`asarray` that refuses infinities and NaN.

    Raises
    ------
    ValueError
        If an element is not finite.
    """
    x = asarray(a, dtype, order)
    if is_differentiable(x._d.dtype) and not bool(table["isfinite"](x).all()):
        raise ValueError("array must not contain infs or NaNs")
    return x


def _from_value(
    value: Any, dtype: Any, copy: bool | None, order: str, ndmin: int, ndmax: int | None = None
) -> Any:
    """np.array, with gradients and traces."""
    if isinstance(value, ArrayCore):
        return _from_array(value, dtype, copy, order, ndmin)
    if type(value) in (list, tuple) and contains_array(value):
        if followed(value):
            result = _stacked(value, dtype)
            if result is not None:
                if copy is False:
                    np.array(_models(value), dtype, copy=False)  # raises
                return _with_axes(result, ndmin)
        if of_objects(dtype):
            return made(array_of_objects(value, copy, order, ndmin, ndmax))
        value = known(value, "array")
    more: Any = {} if ndmax is None else {"ndmax": ndmax}
    try:
        data = np.array(value, dtype, copy=copy, order=order, ndmin=ndmin, **more)  # type: ignore[call-overload]
    except ValueError as error:
        if gives_arrays(error):
            if type(value) not in (list, tuple):
                given, *wanted = given_by(value, dtype, copy)
                if not isinstance(given, ArrayCore):
                    raise
                return _from_array(given, wanted[0], wanted[1], order, ndmin)
            if of_objects(dtype):
                return made(array_of_objects(value, copy, order, ndmin, ndmax))
            value = without_arrays(readable(value, {}))
        elif "with a sequence" in str(error):
            value = without_arrays(value)
        else:
            raise
        data = np.array(value, dtype, copy=copy, order=order, ndmin=ndmin, **more)  # type: ignore[call-overload]
    result = core.ARRAY(data if type(data) is np.ndarray else data.view(np.ndarray))
    if modes.ACTIVE:
        # memory that is shared with an ndarray may change without the trace's knowledge
        core.note_new(result, not copy and isinstance(value, np.ndarray))
    return result


def _from_array(x: Any, dtype: Any, copy: bool | None, order: str, ndmin: int) -> Any:
    """np.array of an Array: itself, a view of it, or a copy through which gradients flow."""
    if not followed(x):
        source = x._d[()] if x._v is SCALAR else x._d
        data = np.array(source, dtype, copy=copy, order=order, ndmin=ndmin)  # type: ignore[call-overload]
        return wrap_results(data, "array", [x])
    # NumPy says which dtype and layout it makes of one like this, and whether it copies.
    model = host_model(x._d)
    data = np.array(model, dtype, copy=copy, order=order)  # type: ignore[call-overload]
    if data is model and x._v is not SCALAR:
        return _with_axes(x, ndmin)
    result = x if data.dtype == x._d.dtype else table["cast"](x, dtype=data.dtype)
    if result._v is SCALAR:
        result = table["reshape"](result, shape=())
    elif data.flags.f_contiguous and not data.flags.c_contiguous:
        axes = tuple(range(data.ndim))[::-1]
        turned = table["transpose"](result, axes=axes)
        result = table["transpose"](table["copy"](turned), axes=axes)
    elif result is x:
        result = table["copy"](x)
    return _with_axes(result, ndmin)


def _with_axes(x: Any, ndmin: int) -> Any:
    missing = ndmin - x._d.ndim
    return table["reshape"](x, shape=(*(1,) * missing, *x._d.shape)) if missing > 0 else x


def _stacked(value: Any, dtype: Any) -> Any:
    """Nested sequences with Arrays inside, joined by rows; None where NumPy makes no number of
    them."""
    whole = np.array(_models(value), dtype)  # raises where the sequences are ragged
    if whole.dtype.kind not in "biufc" and not is_differentiable(whole.dtype):
        if modes.grad_enabled() and contains_array(value, gradient=True):
            raise GradientError(
                f"array: no gradient flows into {whole.dtype} elements. Hint: detach() the values"
            )
        return None

    backend = backend_among(value)

    def join(part: Any) -> Any:
        if not contains_array(part):
            data = np.array(part, whole.dtype)
            return made(data if backend is None else backend.from_host(data))
        if isinstance(part, ArrayCore):
            return part if part._d.dtype == whole.dtype else table["cast"](part, dtype=whole.dtype)
        rows = [join(p) for p in part]
        rows = [table["reshape"](r, shape=(1, *r._d.shape)) for r in rows]
        return table["concatenate"](*rows, axis=0)

    return join(value)


def _models(value: Any) -> Any:
    """Nested sequences as NumPy can read them; arrays of other devices by their shape and dtype."""
    if backend_among(value) is None:
        return unwrapped(value)
    if isinstance(value, ArrayCore):
        model = np.zeros(value._d.shape, value._d.dtype)
        return model[()] if value._v is SCALAR else model
    return [_models(v) for v in value] if type(value) in (list, tuple) else value


def _from_nested(value: Any, dtype: Any) -> Any:
    return _from_value(value, dtype, None, "K", 0)


convert.from_nested = _from_nested
