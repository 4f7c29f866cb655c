"""nditer: NumPy's iterator over the elements of several arrays.

It yields 0-d (or chunked) Arrays that are views of the operands' memory, so `x[...] = 2 * x` writes
into the operand. No gradient goes through it. Next: `functional.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from numen.dispatch import modes, views
from numen.dispatch.core import ArrayCore
from numen.errors import BackendError, GradientError, describe
from numen.namespace.calling import arrays_in, raw, wrap_results
from numen.namespace.devices import backend_among

__all__ = ["nditer", "nested_iters"]

WRITES = ("readwrite", "writeonly")
ARRAY_VALUES = ("itviews", "operands", "value")
SETTABLE = ("index", "iterindex", "iterrange", "multi_index")


class nditer:  # noqa: N801
    """Iterate over the elements of arrays that broadcast together.

    Parameters
    ----------
    op, flags, op_flags, op_dtypes, order, casting, op_axes, itershape, buffersize
        As `numpy.nditer`'s.

    Raises
    ------
    GradientError
        If an operand that is written carries a gradient.
    BackendError
        If an operand is on another device than the host.

    Examples
    --------
    >>> import numen as nm
    >>> a = nm.arange(4)
    >>> with nm.nditer(a, op_flags=["readwrite"]) as it:
    ...     for x in it:
    ...         x[...] = 2 * x
    >>> a
    array([0, 2, 4, 6])
    """

    _it: Any
    _arrays: list[ArrayCore]
    _written: list[ArrayCore]

    def __init__(
        self,
        op: Any,
        flags: Any = None,
        op_flags: Any = None,
        op_dtypes: Any = None,
        order: Any = "K",
        casting: Any = "safe",
        op_axes: Any = None,
        itershape: Any = None,
        buffersize: Any = 0,
    ) -> None:
        self._own(op, op_flags)
        options = raw((op_dtypes, order, casting, op_axes, itershape, buffersize))
        self._it = np.nditer(raw(op), flags, op_flags, *options)

    def _own(self, op: Any, op_flags: Any) -> None:
        """Note the operands, and which of them the loop may write."""
        operands = list(op) if isinstance(op, (list, tuple)) else [op]
        self._arrays = arrays_in(operands, {})
        recorder = modes.state.recorder if modes.ACTIVE else None
        if recorder is not None:
            recorder.refuse("nditer inside the traced function")
        if backend_among(*self._arrays) is not None:
            raise BackendError(
                f"nditer: iterates over memory of the host; got {describe(*self._arrays)} on "
                f"device {self._arrays[0].device!r}"  # type: ignore[attr-defined]
            )
        flags = op_flags or []
        if flags and isinstance(flags[0], str):
            flags = [flags] * len(operands)
        self._written = [
            operand
            for operand, marks in zip(operands, flags, strict=False)
            if isinstance(operand, ArrayCore) and any(mark in WRITES for mark in marks)
        ]
        for x in self._written:
            if x._n is not None:
                raise GradientError(
                    f"nditer: writing through an iterator has no derivative; got {describe(x)}. "
                    "Hint: detach() it, or use an operator"
                )
            views.check_writable(x, "nditer")
            x._escape()  # type: ignore[attr-defined]

    def _stamp(self) -> None:
        for x in self._written:
            views.wrote(x, None)

    def _out(self, value: Any) -> Any:
        parents = [a for a in self._arrays if a._n is not None]
        return wrap_results(value, "nditer", self._arrays, parents)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            return self._out(next(self._it))
        finally:
            self._stamp()

    def __len__(self) -> int:
        return len(self._it)

    def __getitem__(self, i: Any) -> Any:
        return self._out(self._it[i])

    def __delitem__(self, i: Any) -> None:
        raise TypeError("cannot delete iterator elements")

    def __setitem__(self, i: Any, value: Any) -> None:
        self._it[i] = raw(value)
        self._stamp()

    def __enter__(self) -> nditer:
        self._it.__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def __copy__(self) -> nditer:
        return self.copy()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        value = getattr(self._it, name)
        return self._out(value) if name in ARRAY_VALUES else value

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            object.__setattr__(self, name, value)
        else:
            setattr(self._it, name, value)

    def close(self, /) -> None:
        """Write buffers back and let the operands go."""
        self._it.close()
        self._stamp()

    def copy(self, /) -> nditer:
        """A second iterator at the same place."""
        return _around(self._it.copy(), self)

    def iternext(self, /) -> bool:
        """Go on by one; False at the end."""
        try:
            return self._it.iternext()  # type: ignore[no-any-return]
        finally:
            self._stamp()


def _around(it: Any, like: nditer) -> nditer:
    made = nditer.__new__(nditer)
    made._it, made._arrays, made._written = it, like._arrays, like._written
    return made


def nested_iters(
    op: Any, axes: Any, flags: Any = None, op_flags: Any = None, *args: Any, **options: Any
) -> tuple[nditer, ...]:
    """Iterators for nested loops over groups of axes, the outer ones moving the inner ones.

    Examples
    --------
    >>> import numen as nm
    >>> rows, columns = nm.nested_iters(nm.arange(4).reshape(2, 2), [[0], [1]])
    >>> [[int(x) for x in columns] for _ in rows]
    [[0, 1], [2, 3]]
    """
    like = nditer.__new__(nditer)
    like._own(op, op_flags)
    made = np.nested_iters(raw(op), axes, flags, op_flags, *raw(args), **options)
    return tuple([_around(it, like) for it in made])
