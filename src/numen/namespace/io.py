"""Files: NumPy's npy, npz and text formats, and arrays that live in a file.

NumPy reads and writes; what comes back is an Array. Pickled objects are refused unless asked for,
so that a file can't run code. Safer and faster for models: `formats/safetensors.py`.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from numen.dispatch.core import ArrayCore
from numen.errors import describe
from numen.namespace.calling import host, raw, wrap_results

__all__ = ["save", "load", "savez", "savez_compressed", "loadtxt", "savetxt", "genfromtxt"]
__all__ += ["fromregex", "memmap"]

save = host(
    np.save,
    """Write an array into a file in NumPy's npy format.

    Parameters
    ----------
    file : str, path or binary file
        `.npy` is added to a name that lacks it.
    arr : array_like
        Gradients are not stored.
    allow_pickle : bool
        Whether object arrays may be pickled.

    Examples
    --------
    >>> import io, numen as nm
    >>> file = io.BytesIO()
    >>> nm.save(file, nm.arange(3)); _ = file.seek(0)
    >>> nm.load(file)
    array([0, 1, 2])
    """,
)
savez = host(
    np.savez,
    """Write several arrays into one uncompressed npz file; keywords name them.

    Examples
    --------
    >>> import io, numen as nm
    >>> file = io.BytesIO()
    >>> nm.savez(file, x=nm.ones(2), n=3); _ = file.seek(0)
    >>> with nm.load(file) as stored:
    ...     print(stored.files, stored["x"])
    ['x', 'n'] [1. 1.]
    """,
)
savez_compressed = host(np.savez_compressed)
loadtxt = host(
    np.loadtxt,
    """Read numbers from text, a row a line.

    See `numpy.loadtxt` for its many parameters.

    Examples
    --------
    >>> import numen as nm
    >>> nm.loadtxt(["1 2", "3 4"])
    array([[1., 2.],
           [3., 4.]])
    """,
)
savetxt = host(np.savetxt)
genfromtxt = host(np.genfromtxt)
fromregex = host(np.fromregex)


def load(
    file: Any,
    mmap_mode: Any = None,
    allow_pickle: bool = False,
    fix_imports: bool = True,
    encoding: Any = "ASCII",
    **options: Any,
) -> Any:
    """Read what `save` or `savez` wrote.

    Parameters
    ----------
    file : str, path or seekable binary file
    mmap_mode : {None, 'r+', 'r', 'w+', 'c'}
        Map an npy file into memory instead of reading it.
    allow_pickle : bool
        Whether to load object arrays; unpickling runs code that the file contains.

    Returns
    -------
    Array, or a mapping of names to Arrays for an npz file, to be closed.

    Raises
    ------
    ValueError
        If the file holds objects and `allow_pickle` is false.
    """
    loaded = np.load(file, mmap_mode, allow_pickle, fix_imports, encoding, **options)
    if isinstance(loaded, np.lib.npyio.NpzFile):
        return NpzFile(loaded)
    return wrap_results(loaded, "load")


class NpzFile(Mapping[str, Any]):
    """The arrays of an npz file by name, read when asked for; a context manager that closes it."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.f = _Fields(weakref.ref(self))

    def __getitem__(self, name: str) -> Any:
        return wrap_results(self._file[name], "load")

    def __iter__(self) -> Iterator[str]:
        return iter(self._file)

    def __len__(self) -> int:
        return len(self._file)

    def __contains__(self, name: object) -> bool:
        return name in self._file

    def __repr__(self) -> str:
        return repr(self._file)

    def __enter__(self) -> NpzFile:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        if name == "_file":  # while a copy is being made
            raise AttributeError(name)
        return getattr(self._file, name)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class _Fields:
    """Arrays as attributes: `stored.f.x` for `stored["x"]`."""

    def __init__(self, file: weakref.ref[NpzFile]) -> None:
        self._file = file

    def __getattr__(self, name: str) -> Any:
        file = self._file()
        if file is None:
            raise ReferenceError(f"the file that held {name!r} is gone")
        try:
            return file[name]
        except KeyError:
            raise AttributeError(name) from None

    def __dir__(self) -> list[str]:
        return list(self._file() or ())


class memmap:  # noqa: N801
    """Map a file of numbers into memory: makes an Array whose memory is the file.

    Unlike NumPy's, the result is a plain Array: `memmap.flush(x)` writes its changes to disk (they
    are also written when the memory goes), `memmap.owner(x)` is NumPy's `memmap`, with `filename`,
    `offset` and `mode`.

    Parameters
    ----------
    filename, dtype, mode, offset, shape, order
        As `numpy.memmap`'s.

    Examples
    --------
    >>> import numen as nm, tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     x = nm.memmap(file.name, nm.float32, "w+", shape=3)
    ...     x[1] = 5
    ...     nm.memmap.flush(x)
    ...     print(nm.fromfile(file.name, nm.float32))
    [0. 5. 0.]
    """

    def __new__(
        cls,
        filename: Any,
        dtype: Any = np.uint8,
        mode: Any = "r+",
        offset: int = 0,
        shape: Any = None,
        order: Any = "C",
    ) -> Any:
        return wrap_results(np.memmap(filename, dtype, mode, offset, raw(shape), order), "memmap")

    @staticmethod
    def owner(x: Any) -> np.memmap[Any, Any]:
        """NumPy's `memmap` that an Array's memory belongs to.

        Raises
        ------
        TypeError
            If it belongs to none.
        """
        memory = x._d if isinstance(x, ArrayCore) else x
        while memory is not None and not isinstance(memory, np.memmap):
            memory = getattr(memory, "base", None)
        if memory is None:
            raise TypeError(f"memmap: expected an array mapped from a file, got {describe(x)}")
        return memory

    @staticmethod
    def flush(x: Any) -> None:
        """Write an Array's changes to its file."""
        memmap.owner(x).flush()
