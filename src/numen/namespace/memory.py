"""Memory: the methods of an Array that see bytes: views of another dtype, fields, flags, resize.

`array.py` inherits this class. What shares memory is a view without gradient where no row describes
it. Next: `dispatch/views.py`.
"""

from __future__ import annotations

import math
import pickle
import sys
from operator import index
from typing import Any

import numpy as np

from numen.dispatch import core, frames, modes, views
from numen.dispatch.backends import module_of
from numen.dispatch.convert import operand
from numen.dispatch.core import SCALAR, ArrayCore, Cell, View
from numen.errors import GradientError, TransformError, describe
from numen.namespace.attributes import Attributes
from numen.namespace.calling import run_host, wrap_results
from numen.namespace.devices import moved
from numen.ops import table


class Memory(Attributes):
    """NumPy's methods on an array's bytes."""

    __slots__ = ()

    def view(self, /, dtype: Any = None, type: Any = None) -> Any:
        """The same memory, seen as another dtype.

        Parameters
        ----------
        dtype : dtype or class, optional
            Item type of the view; an ndarray class gives NumPy's own object of that class.
        type : class, optional
            A subclass of numpy.ndarray: the result is a NumPy array on the same memory.

        Raises
        ------
        ValueError
            If the last axis does not divide into items of the dtype.
        """
        if isinstance(dtype, _CLASS) and issubclass(dtype, (np.ndarray, ArrayCore)):
            dtype, type = None, dtype
        if type is not None and not issubclass(type, ArrayCore):
            if self._n is not None:
                raise GradientError("view: this array requires a gradient. Hint: detach() it")
            self._leaves("view()")
            self._escape()
            raw = self._d if dtype is None else self._d.view(dtype)
            return raw.view(type)
        if dtype is None:
            full = tuple([slice(0, n, 1) for n in self._d.shape])
            return table["getitem"](self, index=full)
        target = np.dtype(dtype)
        if target == self._d.dtype and target.names is None:
            return self.view()
        if "view_dtype" in table and not target.hasobject and target.names is None:
            return table["view_dtype"](self, dtype=target)
        return run_host(_class_of(self).view, "view", (self, target), {})

    def byteswap(self, /, inplace: bool = False) -> Any:
        """Items with their bytes in the opposite order, in place if asked."""
        if inplace:
            run_host(lambda d: d.byteswap(True), "byteswap", (self,), {}, writes=(0,))
            return self
        return run_host(_class_of(self).byteswap, "byteswap", (self,), {})

    def getfield(self, /, dtype: Any, offset: int = 0) -> Any:
        """A view of the part of each item that starts `offset` bytes in."""
        return run_host(_class_of(self).getfield, "getfield", (self, dtype, offset), {})

    def setfield(self, /, val: Any, dtype: Any, offset: int = 0) -> None:
        """Write into the part of each item that starts `offset` bytes in."""
        run_host(np.ndarray.setfield, "setfield", (self, val, dtype, offset), {}, writes=(0,))

    def setflags(self, /, write: Any = None, align: Any = None, uic: Any = None) -> None:
        """Set the WRITEABLE and ALIGNED flags."""
        if self._v is SCALAR and write:
            raise ValueError("cannot set WRITEABLE flag to True of this array: it is a scalar")
        self._d.setflags(write, align, uic)

    def tobytes(self, /, order: Any = "C") -> bytes:
        """The items' bytes in C (or Fortran) order."""
        self._leaves("tobytes()")
        return self._d.tobytes(order)  # type: ignore[no-any-return]

    def tofile(self, /, fid: Any, sep: str = "", format: str = "%s") -> None:
        """Write the items to a file, as bytes or (with `sep`) text."""
        self._leaves("tofile()")
        self._d.tofile(fid, sep, format)

    def dump(self, /, file: Any) -> None:
        """Pickle the array to a file (a path or an open binary file)."""
        if hasattr(file, "write"):
            pickle.dump(self, file, protocol=2)
            return
        with open(file, "wb") as f:
            pickle.dump(self, f, protocol=2)

    def dumps(self, /) -> bytes:
        """The array pickled to bytes."""
        return pickle.dumps(self, protocol=2)

    def to_device(self, device: Any, /, *, stream: Any = None) -> Any:
        """This array on a device: itself where it is there already, else a copy.

        Raises
        ------
        ValueError
            If there is no such device, or a stream is given.
        """
        if stream is not None:
            raise ValueError("to_device: the stream argument is not supported")
        return moved(self, device)

    def resize(self, /, *new_shape: Any, refcheck: bool = True) -> None:
        """Change shape and size in place, new elements being zero.

        Raises
        ------
        ValueError
            If the array does not own its memory, or (with `refcheck`) others share it.
        GradientError
            If the array carries a gradient.
        """
        refcheck = bool(index(refcheck))
        self._keeps_its_form("resize")
        shape = new_shape[0] if len(new_shape) == 1 else new_shape
        if shape is None or not new_shape:
            return
        shape = tuple(map(index, shape if hasattr(shape, "__iter__") else (shape,)))
        if any([n < 0 for n in shape]):
            raise ValueError("resize: all elements of new_shape must be non-negative")
        if math.prod(shape) == self._d.size and self._v is not SCALAR and self._n is None:
            self._reinterpreted("shape", shape)
            return
        if self._v is SCALAR or type(self._v) is View or not self._d.flags.owndata:
            raise ValueError("cannot resize this array: it does not own its data")
        if self._n is not None:
            raise GradientError("resize: this array requires a gradient. Hint: nm.resize copies")
        if refcheck and isinstance(self._v, Cell):
            if self._v.escaped or any([ref() is not None for ref in self._v.views]):
                raise ValueError(
                    "cannot resize an array that references or is referenced by another array in "
                    "this way. Hint: use the np.resize function or refcheck=False"
                )
        self._leaves("resize()")
        old = self._d
        new = module_of(old).zeros(shape, old.dtype)
        count = min(new.size, old.size)
        new.reshape(-1)[:count] = old.ravel(order="K")[:count]
        core.exchange(self, new)
        self._v = None

    def __sizeof__(self, /) -> int:
        return object.__sizeof__(self) + sys.getsizeof(self._d)

    def __setstate__(self, state: Any, /) -> None:
        data = np.empty(0)
        data.__setstate__(state)
        core.exchange(self, data)

    # ------------------------------------------------------------ attributes
    @property
    def data(self) -> memoryview:
        """NumPy's buffer over the memory."""
        self._exported("data")
        return self._d.data  # type: ignore[no-any-return]

    @property
    def ctypes(self) -> Any:
        """NumPy's object for passing the memory to ctypes."""
        self._exported("ctypes")
        return self._d.ctypes

    @property
    def shape(self) -> tuple[int, ...]:
        """The extent of each axis; assigning it reshapes this array in place."""
        return self._d.shape  # type: ignore[no-any-return]

    @shape.setter
    def shape(self, value: Any) -> None:
        self._reinterpreted("shape", value)

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one element to the next along each axis; assignable."""
        return self._d.strides  # type: ignore[no-any-return]

    @strides.setter
    def strides(self, value: Any) -> None:
        self._reinterpreted("strides", value)

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's dtype of the elements; assigning one reads the memory anew."""
        return self._d.dtype  # type: ignore[no-any-return]

    @dtype.setter
    def dtype(self, value: Any) -> None:
        self._reinterpreted("dtype", value)

    def _keeps_its_form(self, name: str) -> None:
        """Refuse to change the memory's form inside vmap and jvp.

        Raises
        ------
        TransformError
            If the array is a value of such a transform.
        """
        if type(self._d) is frames.Frame:
            raise TransformError(
                f"{name}: the form of a value of {self._d.level.kind} can't be changed in place; "
                f"got {describe(self)}. Hint: reshape(), view() and np.resize() give new arrays"
            )

    def _reinterpreted(self, name: str, value: Any) -> None:
        """Set an attribute of the memory itself, as NumPy lets programs do."""
        if self._v is SCALAR:
            raise AttributeError(f"attribute '{name}' of a scalar is not writable")
        self._keeps_its_form(name)
        if self._n is not None:
            raise GradientError(
                f"{name}: an array that requires a gradient can't be reinterpreted in place; got "
                f"{describe(self)}. Hint: reshape() or view() it"
            )
        self._leaves(f"{name} = ...")
        data = self._d if self._d.flags.owndata else self._d.view()
        setattr(data, name, value)
        core.exchange(self, data)

    # ------------------------------------------------------------ real and imag
    @property
    def real(self) -> Any:
        """The real parts, as a view of a complex array; a real array itself."""
        return self._part("real")

    @real.setter
    def real(self, value: Any) -> None:
        views.write(self.real, operand(value), "real", casting="unsafe")

    @property
    def imag(self) -> Any:
        """The imaginary parts, as a view of a complex array; read-only zeros of a real one."""
        return self._part("imag")

    @imag.setter
    def imag(self, value: Any) -> None:
        if self._d.dtype.kind != "c":
            raise TypeError("imag: array does not have imaginary part to set")
        views.write(self.imag, operand(value), "imag", casting="unsafe")

    def _part(self, name: str) -> Any:
        if self._v is SCALAR:
            if name not in table or (self._n is None and not modes.ACTIVE):
                return wrap_results(getattr(self._d[()], name), name, (), _parents(self))
            return table[name](self)[()]
        if name in table:
            return table[name](self)
        if self._d.dtype.kind != "c" and name == "real":
            return self
        return run_host(lambda d: getattr(d, name), name, (self,), {})


_CLASS = type


def _class_of(x: ArrayCore) -> Any:
    """NumPy's class of what an Array stands for, whose method computes."""
    return np.generic if x._v is SCALAR else np.ndarray


def _parents(x: ArrayCore) -> tuple[ArrayCore, ...]:
    if x._n is None or (modes.NO_GRAD and not modes.state.grad):
        return ()
    return (x,)
