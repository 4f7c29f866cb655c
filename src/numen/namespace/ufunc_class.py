"""The class `ufunc`: a function of single elements with NumPy's whole calling convention.

A ufunc pairs NumPy's own, which computes plain calls, with a row or a composition of rows, which
computes recorded ones. `ufuncs.py` makes the instances; `ufunc_calls.py` says how a call runs,
`ufunc_methods.py` how `reduce` and its like are recorded. Next: `ufunc_calls.py`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numen.dispatch import fast
from numen.dispatch.primitive import Primitive
from numen.namespace import calling, ufunc_calls
from numen.ops import table

__all__ = ["frompyfunc", "ufunc"]

Composition = Callable[..., Any]

recorded_methods: dict[tuple[str, str], Callable[..., Any]] = {}
"""(ufunc, method) -> the composition that computes a recorded call of it; `ufunc_methods.py` fills
it. A composition returns NotImplemented for the forms it does not cover."""

_of_numpy: dict[np.ufunc, ufunc] = {}


class ufunc:  # noqa: N801 - NumPy's name
    """A function that works element by element, with broadcasting, `out=`, `where=` and methods.

    Instances are made by the library (`nm.add`, `nm.sin`) and by `nm.frompyfunc`, not by calling
    the class.

    Examples
    --------
    >>> import numen as nm
    >>> nm.add
    <ufunc 'add'>
    >>> nm.add.reduce([1, 2, 3])
    np.int64(6)
    >>> nm.multiply.outer([1, 2], [3, 4])
    array([[3, 4],
           [6, 8]])
    """

    # The slot `__call__` holds a closure for this very ufunc: Python finds it on the class and
    # calls it without binding, which is the quickest way to call an object.
    __slots__ = ("__call__", "__dict__", "__weakref__")
    __call__: Callable[..., Any]

    def __init__(
        self,
        name: str,
        numpy_ufunc: np.ufunc | None,
        doc: str,
        row: Primitive | None = None,
        composition: Composition | None = None,
    ) -> None:
        self.__name__ = self.__qualname__ = name
        self.__doc__ = doc
        self.__module__ = "numen"
        self.numpy_ufunc: Any = numpy_ufunc
        self.row = row
        self.composition: Composition | None = row if composition is None else composition
        self.public = True
        if numpy_ufunc is None:
            self.nin, self.nout = 1, 1
        else:
            self.nin, self.nout = numpy_ufunc.nin, numpy_ufunc.nout

        def general(*args: Any, **kwargs: Any) -> Any:
            return ufunc_calls.call(self, args, kwargs)

        self.__call__ = general
        if row is not None and self.nin <= 2:
            make = fast.unary_function if self.nin == 1 else fast.binary_function
            self.__call__ = make(row, general)

    @classmethod
    def of(cls, numpy_ufunc: np.ufunc) -> ufunc | None:
        """numen's ufunc for NumPy's, or None.

        >>> import numen as nm, numpy as np
        >>> nm.ufunc.of(np.add)
        <ufunc 'add'>
        """
        return _of_numpy.get(numpy_ufunc)

    def __repr__(self) -> str:
        return f"<ufunc {self.__name__!r}>"

    def __reduce__(self) -> str:
        return self.__name__  # pickled by name

    def __copy__(self) -> ufunc:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> ufunc:
        return self

    # ------------------------------------------------------------ what it takes
    @property
    def nargs(self) -> int:
        """The number of arguments, outputs among them."""
        return self.nin + self.nout

    @property
    def types(self) -> list[str]:
        """The loops, as "inputs->outputs" in dtype characters."""
        if self.numpy_ufunc is None:
            return [f"{t}->{t}" for t in np.typecodes["AllInteger"] + np.typecodes["Float"]]
        return self.numpy_ufunc.types  # type: ignore[no-any-return]

    @property
    def ntypes(self) -> int:
        """The number of loops."""
        return len(self.types)

    @property
    def identity(self) -> Any:
        """What changes nothing when it is an operand, or None."""
        return None if self.numpy_ufunc is None else self.numpy_ufunc.identity

    @property
    def signature(self) -> str | None:
        """The core dimensions of a generalised ufunc, None of any other."""
        return None if self.numpy_ufunc is None else self.numpy_ufunc.signature

    @property
    def __signature__(self) -> Any:
        try:
            return inspect.signature(self.numpy_ufunc or np.negative)
        except ValueError as error:  # NumPy before 2.4 has none
            raise AttributeError(f"{self!r} has no signature") from error

    def resolve_dtypes(self, dtypes: Sequence[Any], **kwargs: Any) -> tuple[Any, ...]:
        """The dtypes that a call computes in: one an argument, None where an output is free."""
        chosen: Any = np.positive if self.numpy_ufunc is None else self.numpy_ufunc
        return chosen.resolve_dtypes(dtypes, **kwargs)  # type: ignore[no-any-return]

    # ------------------------------------------------------------ methods
    def reduce(self, *args: Any, **kwargs: Any) -> Any:
        """reduce(array, axis=0, dtype=None, out=None, keepdims=False, initial=..., where=True)

        Apply the ufunc between the elements along `axis`, an int, several or None for all.

        Raises
        ------
        ValueError
            If the ufunc is not binary, or an empty axis has no identity to give.
        numpy.exceptions.AxisError
            If an axis is out of bounds.
        """
        return self._method("reduce", args, kwargs)

    def accumulate(self, *args: Any, **kwargs: Any) -> Any:
        """accumulate(array, axis=0, dtype=None, out=None)

        All the partial results of `reduce` along an axis.
        """
        return self._method("accumulate", args, kwargs)

    def reduceat(self, *args: Any, **kwargs: Any) -> Any:
        """reduceat(array, indices, axis=0, dtype=None, out=None)

        `reduce` over the stretches that begin at `indices`.
        """
        return self._method("reduceat", args, kwargs)

    def outer(self, *args: Any, **kwargs: Any) -> Any:
        """outer(A, B, /, **kwargs)

        The ufunc of every element of A with every element of B: shape A.shape + B.shape.
        """
        return self._method("outer", args, kwargs)

    def at(self, *args: Any, **kwargs: Any) -> None:
        """at(a, indices, b=None, /)

        Write the ufunc of a[indices] (and b) into `a`, once more for every repeated index.
        """
        self._method("at", args, kwargs, writes=(0,))

    def _method(
        self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any], writes: Sequence[int] = ()
    ) -> Any:
        name = f"{self.__name__}.{method}"
        if kwargs and kwargs.get("out") is ...:
            given = {k: v for k, v in kwargs.items() if k != "out"}
            return ufunc_calls.arrays_of(self._method(method, args, given, writes))
        if any([a is ... for a in args[3:]]):
            raise TypeError(f"{name}: out=... is only allowed as a keyword argument.")
        if calling.recorded(args, kwargs) or calling.on_backend(args, kwargs):
            composition = recorded_methods.get((self.__name__, method))
            if composition is None:
                composition = recorded_methods.get(("*", method))
            if composition is not None and self.public:
                try:
                    result = composition(self, *args, **kwargs)
                except calling.REFUSALS as error:
                    if self.numpy_ufunc is None:
                        raise
                    function = getattr(self.numpy_ufunc, method)
                    refused = calling.refusal(function, name, args, kwargs)
                    if refused is not None or calling.on_backend(args, kwargs):
                        raise refused or error from None
                    result = NotImplemented
                if result is not NotImplemented:
                    return result
        if self.numpy_ufunc is None:
            if method == "at" and len(args) == 2 and not kwargs:
                args[0][args[1]] = self(args[0][args[1]])
                return None
            raise ValueError(f"{name}: {method} only supported for binary functions")
        function = getattr(self.numpy_ufunc, method)
        return ufunc_calls.on_host(function, name, args, kwargs, writes)


def define(
    numpy_ufunc: np.ufunc,
    doc: str,
    composition: Composition | None = None,
) -> ufunc:
    """Make the public ufunc for one of NumPy's; its row is the table's of that name, if any."""
    name = numpy_ufunc.__name__
    result = ufunc(name, numpy_ufunc, doc, table.get(name), composition)
    _of_numpy[numpy_ufunc] = result
    return result


def frompyfunc(func: Callable[..., Any], /, nin: int, nout: int, **kwargs: Any) -> ufunc:
    """A ufunc that calls a Python function for each element; its results have dtype object.

    Parameters
    ----------
    func : callable
        Takes `nin` objects, returns `nout` (a tuple of them where nout > 1).
    nin, nout : int
        Numbers of inputs and outputs.
    identity : object, optional
        What `reduce` gives for no elements.

    Examples
    --------
    >>> import numen as nm
    >>> octal = nm.frompyfunc(oct, 1, 1)
    >>> octal(nm.array([8, 64]))
    array(['0o10', '0o100'], dtype=object)
    """
    made = np.frompyfunc(func, nin, nout, **kwargs)
    result = ufunc(made.__name__, made, made.__doc__ or "")
    result.public = False
    return result
