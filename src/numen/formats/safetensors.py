"""The safetensors format: named arrays in one file, a JSON header and raw data, no code.

`save_file` and `load_file` work on files, `save` and `load` on bytes; all see NumPy arrays. Users
call them with a model's state dict. What a file must look like is checked by `header.py`, the next
file to read. Format: 8 bytes of header length, little endian; JSON; data without gaps
(https://huggingface.co/docs/safetensors).
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, cast

import numpy as np
import numpy.typing as npt

from numen.errors import DTypeError, describe
from numen.formats.atomic import write_atomically
from numen.formats.header import (
    LENGTH_BYTES,
    MAX_HEADER_BYTES,
    Entry,
    Header,
    encode,
    fail,
    is_unicode,
    known_dtypes,
    parse,
    tag_of,
)

AnyArray = npt.NDArray[Any]


def save_file(
    arrays: Mapping[str, Any],
    path: str | os.PathLike[str],
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Write named arrays to a safetensors file; an old file stays whole until the new one is.

    Parameters
    ----------
    arrays : mapping of str to array
        NumPy arrays, or objects whose `.numpy()` gives one. Any shape; bool, integer, float,
        complex64, bfloat16 and float8 dtypes.
    path : str or path-like
        The file.
    metadata : mapping of str to str, optional
        Free text, read back by `load_metadata`.

    Raises
    ------
    DTypeError
        A dtype that the format does not have (object, str, complex128 ...).
    TypeError
        A name or a metadata entry is not a str.
    ValueError
        A name is "__metadata__", which the format keeps for itself, or is not valid Unicode.
    OSError
        The file can't be written; an old one is untouched.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "weights.safetensors"
    >>> save_file({"bias": np.zeros(3, np.float32)}, path, {"epoch": "5"})
    >>> load_file(path)["bias"]
    array([0., 0., 0.], dtype=float32)
    >>> load_metadata(path)
    {'epoch': '5'}
    """
    write_atomically(path, _pieces(arrays, metadata))


def save(arrays: Mapping[str, Any], metadata: Mapping[str, str] | None = None) -> bytes:
    """Give the bytes that `save_file` would write; the same parameters and errors.

    Examples
    --------
    >>> sorted(load(save({"a": np.arange(3), "b": np.ones(2)})))
    ['a', 'b']
    """
    return b"".join(_pieces(arrays, metadata))


def load_file(path: str | os.PathLike[str]) -> dict[str, AnyArray]:
    """Read a safetensors file.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    dict of str to numpy.ndarray
        Fresh writable arrays in native byte order, in the order of their data. Each is read
        straight into its own memory; what is allocated is never more than the file holds.

    Raises
    ------
    FormatError
        The file is damaged or is no safetensors file; the text names the fault.
    OSError
        The file can't be read.
    """
    with open(path, "rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        return _read_arrays(cast(BinaryIO, file), size)


def load(data: bytes | bytearray | memoryview) -> dict[str, AnyArray]:
    """Read the bytes of a safetensors file; like `load_file`.

    Raises
    ------
    FormatError
        The bytes are damaged or are no safetensors file.
    """
    return _read_arrays(io.BytesIO(data), memoryview(data).nbytes)


def load_metadata(path: str | os.PathLike[str]) -> dict[str, str]:
    """Read only the free text of a safetensors file; empty where it has none.

    Raises
    ------
    FormatError
        The header is damaged.
    OSError
        The file can't be read.
    """
    with open(path, "rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        return _read_header(cast(BinaryIO, file), size).metadata


def _pieces(
    arrays: Mapping[str, Any], metadata: Mapping[str, str] | None
) -> Iterator[bytes | memoryview]:
    """Give the file's content in order: the header, then the data of each array."""
    text = _checked_text(metadata)
    # Wide items first: as data begins at a multiple of 8, every array is aligned to its items.
    ordered = sorted(
        ((name, _checked_array(name, value)) for name, value in arrays.items()),
        key=lambda item: (-item[1].dtype.itemsize, item[0]),
    )
    entries: list[Entry] = []
    at = 0
    for name, array in ordered:
        entries.append(
            Entry(name, array.dtype.newbyteorder("="), array.shape, at, at + array.nbytes)
        )
        at += array.nbytes
    yield encode(entries, text)
    for _, array in ordered:
        yield _little_endian_bytes(array).data


def _checked_text(metadata: Mapping[str, str] | None) -> dict[str, str]:
    text = dict(metadata or {})
    for key, value in text.items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise TypeError(
                f"safetensors: metadata must map str to str, got {describe(key)}: {describe(value)}"
            )
        if not (is_unicode(key) and is_unicode(value)):
            raise ValueError(f"safetensors: metadata {key!r} is not valid Unicode")
    return text


def _checked_array(name: str, value: Any) -> AnyArray:
    if not isinstance(name, str):
        raise TypeError(f"safetensors: names must be str, got {describe(name)}")
    if name == "__metadata__" or not is_unicode(name):
        raise ValueError(f"safetensors: {name!r} can't be the name of an array")
    array = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    if tag_of(array.dtype) is None:
        raise DTypeError(
            f"safetensors: array {name!r} has a dtype that the format lacks: "
            f"expected one of {', '.join(known_dtypes())}, got {describe(array)}"
        )
    return array


def _little_endian_bytes(array: AnyArray) -> npt.NDArray[np.uint8]:
    """See an array as flat bytes in C order, little endian; copied only where it is not so."""
    flat = np.ascontiguousarray(array).reshape(-1)
    if flat.dtype.newbyteorder("<") != flat.dtype:
        flat = flat.astype(flat.dtype.newbyteorder("<"))
    return flat.view(np.uint8)


def _read_header(file: BinaryIO, size: int) -> Header:
    """Read and check the header; the file then stands at the first byte of data."""
    if size < LENGTH_BYTES:
        fail(f"the file has {size} bytes, too few to hold a header's length")
    length = int.from_bytes(_read_exactly(file, LENGTH_BYTES), "little")
    if length > MAX_HEADER_BYTES or length > size - LENGTH_BYTES:
        fail(
            f"the header claims {length} bytes; the file holds {size - LENGTH_BYTES} behind its "
            f"length and at most {MAX_HEADER_BYTES} are allowed"
        )
    return parse(_read_exactly(file, length), size - LENGTH_BYTES - length)


def _read_arrays(file: BinaryIO, size: int) -> dict[str, AnyArray]:
    header = _read_header(file, size)
    # The header is checked: the arrays need exactly the bytes that follow.
    return {entry.name: _read_array(file, entry) for entry in header.entries}


def _read_array(file: BinaryIO, entry: Entry) -> AnyArray:
    array: AnyArray = np.empty(entry.shape, entry.dtype)
    raw = array.reshape(-1).view(np.uint8)
    _read_into(file, raw.data)
    if entry.dtype == np.bool_ and raw.size and raw.max() > 1:
        fail(f"array {entry.name!r} of bool holds bytes other than 0 and 1")
    if sys.byteorder == "big":
        array.byteswap(inplace=True)
    return array


def _read_exactly(file: BinaryIO, count: int) -> bytes:
    buffer = bytearray(count)
    _read_into(file, memoryview(buffer))
    return bytes(buffer)


def _read_into(file: BinaryIO, view: memoryview) -> None:
    while view.nbytes:
        got = file.readinto(view)  # type: ignore[attr-defined]  # BinaryIO lacks it, every binary file has it
        if not got:
            fail(f"the file ended {view.nbytes} bytes early")
        view = view[got:]
