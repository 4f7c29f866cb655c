"""Weights of a model in a file: safetensors, written atomically, with checksums.

`save_model` writes what `model.state_dict()` gives, `load_model` reads it into a model of the same
structure. Weights that share memory are written once. Training runs are stored by `checkpoint.py`.
"""

from __future__ import annotations

import difflib
import json
import os
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from numen.dispatch import core
from numen.dispatch.core import ArrayCore
from numen.errors import FormatError, describe
from numen.formats import safetensors
from numen.nn.module import KeyMismatch, StateDictError

VERSION = "1"
RESERVED = ("numen", "tied", "crc32")
"""Our entries in a file's free text: the version, the names that stand for others, checksums."""


def save_model(
    model: Any, path: str | os.PathLike[str], metadata: Mapping[str, str] | None = None
) -> None:
    """Write a model's parameters and buffers to a safetensors file.

    An old file stays whole until the new one is. Names and layouts are PyTorch's.

    Parameters
    ----------
    model : Module
        Or anything with `state_dict()`.
    path : str or path-like
        The file.
    metadata : mapping of str to str, optional
        Free text.

    Raises
    ------
    OSError
        The file can't be written; an old one is untouched.
    ValueError
        If metadata uses a name of ours.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numen as nm
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "net.safetensors"
    >>> net, other = nm.nn.Linear(3, 2), nm.nn.Linear(3, 2)
    >>> save_model(net, path)
    >>> load_model(other, path)
    KeyMismatch(missing_keys=[], unexpected_keys=[])
    >>> other.weight.tolist() == net.weight.tolist()
    True
    """
    taken = [name for name in RESERVED if name in (metadata or {})]
    if taken:
        raise ValueError(f"save_model: the metadata names {', '.join(taken)} are taken")
    write_arrays(path, model.state_dict(), dict(metadata or {}))


def load_model(model: Any, path: str | os.PathLike[str], strict: bool = True) -> KeyMismatch:
    """Read a model's parameters and buffers from a safetensors file, in place.

    Nothing runs that is in the file, and nothing is written into the model unless all of it fits.

    Parameters
    ----------
    model : Module
        Of the same structure; other dtypes are cast.
    path : str or path-like
        Written by `save_model` or by another safetensors writer.
    strict : bool
        Whether the names must match exactly.

    Returns
    -------
    KeyMismatch
        Missing and unexpected names; empty if strict.

    Raises
    ------
    FormatError
        The file is damaged.
    StateDictError
        If names or shapes do not fit; the text gives the nearest names.
    OSError
        The file can't be read.
    """
    state = read_arrays(path)[0]
    own = model.state_dict()
    if strict and own.keys() != state.keys():
        raise StateDictError(
            f"load_model: {os.fspath(path)} does not fit {type(model).__name__}: "
            + "; ".join(_differences(own, state))
        )
    mismatch = model.load_state_dict(state, strict=strict)
    return mismatch if isinstance(mismatch, KeyMismatch) else KeyMismatch([], [])


def _differences(own: Mapping[str, Any], state: Mapping[str, Any]) -> Iterable[str]:
    unexpected = [name for name in state if name not in own]
    for name in own:
        if name not in state:
            near = difflib.get_close_matches(name, unexpected, 1)
            yield f"missing {name!r}" + (f" (the file has {near[0]!r})" if near else "")
    for name in unexpected:
        near = difflib.get_close_matches(name, list(own), 1)
        yield f"unexpected {name!r}" + (f" (the model has {near[0]!r})" if near else "")


def write_arrays(
    path: str | os.PathLike[str], arrays: Mapping[str, Any], metadata: dict[str, str]
) -> None:
    """Write named arrays, those that share memory once, with their checksums."""
    kept: dict[str, Any] = {}
    tied: dict[str, str] = {}
    first: dict[Any, str] = {}
    for name, array in arrays.items():
        place = memory_of(array)
        if place is not None and place in first:
            tied[name] = first[place]
        else:
            kept[name] = array
            first[place] = name
    sums = {name: _checksum(array) for name, array in kept.items()}
    text = {"numen": VERSION, "crc32": json.dumps(sums, separators=(",", ":"))}
    if tied:
        text["tied"] = json.dumps(tied, separators=(",", ":"))
    safetensors.save_file(kept, path, {**metadata, **text})


def read_arrays(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, str]]:
    """Read named arrays, shared ones under each name, and the free text; checksums are compared.

    Raises
    ------
    FormatError
        If a checksum differs, or the file was written by a later version.
    """
    arrays = safetensors.load_file(path)
    text = safetensors.load_metadata(path)
    if text.get("numen", VERSION) != VERSION:
        raise FormatError(
            f"{os.fspath(path)} has version {text['numen']} of numen's layout; this numen reads "
            f"version {VERSION}"
        )
    for name, expected in _table(text, "crc32").items():
        if name not in arrays or _checksum(arrays[name]) != expected:
            raise FormatError(f"{os.fspath(path)}: the data of {name!r} is damaged (checksum)")
    state: dict[str, Any] = {name: core.ARRAY(value) for name, value in arrays.items()}
    for name, other in _table(text, "tied").items():
        if other not in state:
            raise FormatError(f"{os.fspath(path)}: {name!r} stands for {other!r}, which is missing")
        state[name] = state[other]
    return state, text


def _table(text: Mapping[str, str], entry: str) -> dict[str, Any]:
    try:
        table = json.loads(text.get(entry, "{}"))
    except (ValueError, RecursionError):
        table = None
    if not isinstance(table, dict) or not all(isinstance(v, (str, int)) for v in table.values()):
        raise FormatError(f"the metadata entry {entry!r} is damaged: {describe(text[entry])}")
    return table


def memory_of(array: Any) -> Any:
    """What two arrays have in common that are the same memory; None where there is none."""
    data = array._d if isinstance(array, ArrayCore) else array
    if not isinstance(data, np.ndarray) or not data.size:
        return None
    return data.__array_interface__["data"][0], data.shape, data.strides, data.dtype.str


def _checksum(array: Any) -> int:
    data = np.asarray(array.numpy() if hasattr(array, "numpy") else array)
    flat = np.ascontiguousarray(data).reshape(-1).view(np.uint8)
    return zlib.crc32(flat.data)
