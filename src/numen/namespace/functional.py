"""Functions that apply a Python function along arrays: vectorize, apply_along_axis,
apply_over_axes.

NumPy loops where no gradient is concerned, and the function then gets what NumPy gives it. Where an
argument or a result carries a gradient, the calls' results are stacked, so that it flows. Next:
`iterating.py`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numen.dispatch import core, modes, slots
from numen.dispatch.convert import as_array, normalize_axes
from numen.dispatch.core import SCALAR, ArrayCore
from numen.namespace.calling import arrays_in, on_backend, run_host, wrap_results
from numen.namespace.devices import beside

__all__ = ["vectorize", "apply_along_axis", "apply_over_axes"]

Function = Callable[..., Any]
NO_VALUE: Any = np._NoValue
SETTINGS = ("otypes", "excluded", "cache", "signature")
"""Attributes of a `vectorize`, kept by NumPy's, which may be set later."""


class _GradientAppeared(Exception):  # noqa: N818
    """A function's result carries a gradient that NumPy's loop would drop."""


def _by_calls(args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    """Whether numen, not NumPy, must loop: for a gradient, or on another device."""
    if on_backend(args, kwargs):
        return True
    if modes.NO_GRAD and not modes.state.grad:
        return False
    return any([a._n is not None for a in arrays_in(args, kwargs)])


def _plain(value: Any, objects: Sequence[bool] = ()) -> Any:
    """A result as NumPy's loop takes it; what goes into an object array stays what it is."""
    if True in objects:
        if len(objects) == 1:
            return value
        if type(value) is tuple and len(value) == len(objects):
            return tuple([v if o else _plain(v) for v, o in zip(value, objects, strict=True)])
    if isinstance(value, ArrayCore):
        if value._n is not None:
            raise _GradientAppeared
        return value._d[()] if value._v is SCALAR else value._d
    if type(value) in (list, tuple):
        return type(value)([_plain(v) for v in value])
    return value


def _stack(results: Sequence[Any], shape: tuple[int, ...], given: Any, dtype: Any = None) -> Any:
    """The results of all calls as one array: shape (*shape, *shape of a result), on the device of
    the arrays that were given."""
    parts = [beside(r, *given) for r in results]
    dtype = dtype or parts[0]._d.dtype
    lifted = [p.astype(dtype, copy=False).reshape((1, *p._d.shape)) for p in parts]
    stacked = slots.primitive("concatenate")(*lifted, axis=0)
    return stacked.reshape((*shape, *parts[0]._d.shape))


class vectorize:  # noqa: N801
    """A function of numbers as a function of arrays, called element by element.

    Parameters
    ----------
    pyfunc : callable, optional
        Left out, the object decorates one: `@nm.vectorize(otypes=[float])`.
    otypes, doc, excluded, cache, signature
        As `numpy.vectorize`'s.

    Raises
    ------
    ValueError
        If the inputs are empty and `otypes` is not given.

    Examples
    --------
    >>> import numen as nm
    >>> @nm.vectorize
    ... def clipped(x, top):
    ...     return x if x < top else top
    >>> clipped(nm.array([1.0, 5.0]), 3)
    array([1., 3.])
    """

    def __init__(
        self,
        pyfunc: Any = NO_VALUE,
        otypes: Any = None,
        doc: Any = None,
        excluded: Any = None,
        cache: bool = False,
        signature: Any = None,
    ) -> None:
        self._options = (otypes, doc, excluded, cache, signature)
        self._objects: Sequence[bool] = ()
        self._numpy: Any = None
        self.pyfunc = pyfunc
        if pyfunc is NO_VALUE:
            np.vectorize(pyfunc, *self._options)  # checks the options
        else:
            self._take(pyfunc)

    def _take(self, pyfunc: Function) -> None:
        np.vectorize(pyfunc, *self._options)  # checks them
        self.pyfunc = pyfunc

        @functools.wraps(pyfunc, updated=())
        def plain(*args: Any, **kwargs: Any) -> Any:
            return _plain(pyfunc(*args, **kwargs), self._objects)

        self._numpy = np.vectorize(plain, *self._options)
        self.__name__ = getattr(self._numpy, "__name__", type(self).__name__)
        self.__doc__ = self._numpy.__doc__

    def __getattr__(self, name: str) -> Any:
        if name in SETTINGS and self.__dict__.get("_numpy") is not None:
            return getattr(self._numpy, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in SETTINGS:
            setattr(self._numpy, name, value)
        else:
            object.__setattr__(self, name, value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._numpy is None:
            self._take(args[0])
            return self
        self._objects = [np.dtype(t).hasobject for t in self.otypes or ()]
        if not _by_calls(args, kwargs):
            try:
                return run_host(self._numpy, self.__name__, args, kwargs)
            except _GradientAppeared:
                pass
        return self._stacked(args, kwargs)

    def _stacked(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """The call with gradients: each element's result is recorded, then all are stacked."""
        given: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
        looped = {k: as_array(v) for k, v in given.items() if k not in self.excluded}
        cores = dict.fromkeys(looped, 0)
        outputs = None
        if self.signature is not None:
            inputs, _, results = self.signature.replace(" ", "").partition("->")
            counts = [len([n for n in dims.split(",") if n]) for dims in _DIMS.findall(inputs)]
            cores = dict(zip(looped, counts, strict=True))
            outputs = len(_DIMS.findall(results))
        loops = {k: v._d.shape[: v._d.ndim - cores[k]] for k, v in looped.items()}
        shape = np.broadcast_shapes(*loops.values())
        broadcast_to = slots.primitive("broadcast_to")
        spread = {
            k: broadcast_to(v, shape=(*shape, *v._d.shape[len(loops[k]) :]))
            for k, v in looped.items()
        }
        results = []
        for index in np.ndindex(shape):
            values = {k: spread[k][index] if k in spread else v for k, v in given.items()}
            positional = [values[i] for i in range(len(args))]
            results.append(self.pyfunc(*positional, **{k: values[k] for k in kwargs}))
        if not results:
            raise ValueError(f"{self.__name__}: expected inputs with elements, got none")
        if not isinstance(results[0], tuple) or outputs == 1:
            return _stack(results, shape, args, self.otypes[0] if self.otypes else None)
        columns = list(zip(*results, strict=True))
        types = self.otypes or [None] * len(columns)
        return tuple([_stack(c, shape, args, t) for c, t in zip(columns, types, strict=True)])


_DIMS = re.compile(r"\(([^)]*)\)")


def apply_along_axis(func1d: Function, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """Apply a function of vectors to the slices of an array along an axis.

    Parameters
    ----------
    func1d : callable
        func1d(vector, *args, **kwargs), the vector an Array; its result of any shape takes the
        axis' place.
    axis : int
    arr : array_like

    Raises
    ------
    ValueError
        If there is no slice to apply it to.

    Examples
    --------
    >>> import numen as nm
    >>> nm.apply_along_axis(lambda v: v.max() - v.min(), 1, nm.array([[1, 5], [2, 9]]))
    array([4, 7])
    """
    x = as_array(arr)
    if not _by_calls((x, args), kwargs):

        def plain(vector: Any) -> Any:
            return _plain(func1d(wrap_results(vector, "apply_along_axis"), *args, **kwargs))

        try:
            return run_host(
                lambda data: np.apply_along_axis(plain, axis, data), "apply_along_axis", (x,), {}
            )
        except _GradientAppeared:
            pass
    rank = x._d.ndim
    (at,) = normalize_axes(axis, rank, "apply_along_axis")
    moved = slots.primitive("transpose")(x, axes=(*range(at), *range(at + 1, rank), at))
    shape = moved._d.shape[:-1]
    results = [func1d(moved[index], *args, **kwargs) for index in np.ndindex(shape)]
    if not results:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    stacked = _stack(results, shape, (x,))
    extra = stacked._d.ndim - (rank - 1)
    order = (*range(at), *range(rank - 1, rank - 1 + extra), *range(at, rank - 1))
    return slots.primitive("transpose")(stacked, axes=order)


def apply_over_axes(func: Function, a: Any, axes: Any) -> Any:
    """Apply `func(a, axis)` over axes one after the other; reduced axes stay as ones.

    Raises
    ------
    ValueError
        If a result has neither the rank of its argument nor one axis less.

    Examples
    --------
    >>> import numen as nm
    >>> nm.apply_over_axes(nm.sum, nm.ones((2, 3, 4)), [0, 2])
    array([[[8.],
            [8.],
            [8.]]])
    """
    value = as_array(a)
    rank = value._d.ndim
    for axis in np.atleast_1d(np.asarray(core.unwrap(axes))).tolist():
        at = axis + rank if axis < 0 else axis
        result = as_array(func(value, at))
        if result._d.ndim == value._d.ndim - 1:
            shape = result._d.shape
            result = result.reshape((*shape[:at], 1, *shape[at:]))
        if result._d.ndim != value._d.ndim:
            raise ValueError(
                f"apply_over_axes: function is not returning an array of the correct shape: "
                f"expected {value._d.ndim} axes or one less, got {result._d.ndim}"
            )
        value = result
    return value
