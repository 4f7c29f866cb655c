"""The header of a safetensors file: encode it, and check every word of one that was read.

`parse` takes the JSON text and the number of data bytes behind it, and gives entries whose spans
are known to tile those bytes; `encode` is its inverse. Called by `safetensors.py`, which moves
the data.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import ml_dtypes
import numpy as np

from numen.errors import FormatError

LENGTH_BYTES = 8
"""The file begins with the header's length, an unsigned little-endian integer of so many bytes."""

MAX_HEADER_BYTES = 100_000_000
"""The bound that the format's own library sets."""

MAX_RANK = 64
"""NumPy's bound on the number of axes."""

_METADATA = "__metadata__"

_DTYPES: dict[str, np.dtype[Any]] = {
    "BOOL": np.dtype(np.bool_),
    "U8": np.dtype(np.uint8),
    "I8": np.dtype(np.int8),
    "U16": np.dtype(np.uint16),
    "I16": np.dtype(np.int16),
    "U32": np.dtype(np.uint32),
    "I32": np.dtype(np.int32),
    "U64": np.dtype(np.uint64),
    "I64": np.dtype(np.int64),
    "F16": np.dtype(np.float16),
    "F32": np.dtype(np.float32),
    "F64": np.dtype(np.float64),
    "C64": np.dtype(np.complex64),
    "BF16": np.dtype(ml_dtypes.bfloat16),
    "F8_E4M3": np.dtype(ml_dtypes.float8_e4m3fn),
    "F8_E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "F8_E4M3FNUZ": np.dtype(ml_dtypes.float8_e4m3fnuz),
    "F8_E5M2FNUZ": np.dtype(ml_dtypes.float8_e5m2fnuz),
}
# Files with the format's packed types of 4 and 6 bits or its 8-bit scales are refused by name.

_TAGS = {dtype: tag for tag, dtype in _DTYPES.items()}


@dataclass(frozen=True)
class Entry:
    """One array: its name, dtype (native order), shape, and span [begin, end) in the data."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    begin: int
    end: int


@dataclass(frozen=True)
class Header:
    """Entries in the order of their data, and the free text."""

    entries: tuple[Entry, ...]
    metadata: dict[str, str]


def tag_of(dtype: np.dtype[Any]) -> str | None:
    """Name a dtype as the format does; None where the format has none."""
    return _TAGS.get(dtype.newbyteorder("="))


def known_dtypes() -> tuple[str, ...]:
    """NumPy names of the dtypes that can be written."""
    return tuple(dtype.name for dtype in _DTYPES.values())


def encode(entries: Iterable[Entry], metadata: Mapping[str, str]) -> bytes:
    """Give length and JSON text, filled with spaces so that data begins at a multiple of 8."""
    table: dict[str, Any] = {_METADATA: dict(metadata)} if metadata else {}
    for entry in entries:
        table[entry.name] = {
            "dtype": _TAGS[entry.dtype],
            "shape": entry.shape,
            "data_offsets": (entry.begin, entry.end),
        }
    text = json.dumps(table, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > MAX_HEADER_BYTES:
        raise ValueError(
            f"safetensors: names and metadata need a header of {len(text)} bytes; "
            f"at most {MAX_HEADER_BYTES} are allowed"
        )
    return len(text).to_bytes(LENGTH_BYTES, "little") + text


def parse(text: bytes, data_bytes: int) -> Header:
    """Read the JSON text of a header that stands before `data_bytes` bytes of data.

    Raises
    ------
    FormatError
        Anything but one JSON object of well-formed entries whose spans tile the data in order.
    """
    table = _parse_json(text)
    metadata = _checked_metadata(table.pop(_METADATA, {}))
    entries = sorted(
        (_checked_entry(name, fields) for name, fields in table.items()),
        key=lambda entry: (entry.begin, entry.end),
    )
    _check_tiling(entries, data_bytes)
    return Header(tuple(entries), metadata)


def fail(reason: str) -> NoReturn:
    """Raise the FormatError of this format."""
    raise FormatError(f"safetensors: {reason}")


def _parse_json(text: bytes) -> dict[str, Any]:
    if not text.startswith(b"{"):
        fail(f"the header must begin with '{{', found {text[:1]!r}")
    try:
        table = json.loads(
            text.decode("utf-8"),
            object_pairs_hook=_object_without_duplicates,
            parse_float=_refuse_number,
            parse_constant=_refuse_number,
        )
    except FormatError:
        raise
    except RecursionError:
        raise FormatError("safetensors: the header is nested too deeply") from None
    except ValueError as error:  # bad UTF-8, bad JSON, an integer of too many digits
        raise FormatError(f"safetensors: the header is not valid JSON: {error}") from error
    if not isinstance(table, dict):
        fail("the header is not a JSON object")
    return table


def _object_without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in table if names.count(name) > 1)
        fail(f"{twice!r} stands twice in one object of the header")
    return table


def _refuse_number(text: str) -> NoReturn:
    fail(f"the header holds {text[:40]}, where only whole numbers can stand")


def _checked_metadata(value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        fail(f"{_METADATA} must map strings to strings")
    for key, text in value.items():
        if not (is_unicode(key) and is_unicode(text)):
            fail(f"{_METADATA} is not valid Unicode")
    return dict(value)


def is_unicode(text: str) -> bool:
    """Tell whether a str can be written as UTF-8: JSON can spell lone surrogates, which can't."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _checked_entry(name: str, fields: Any) -> Entry:
    if not is_unicode(name):
        fail("an array's name is not valid Unicode")
    if not isinstance(fields, dict) or set(fields) != {"dtype", "shape", "data_offsets"}:
        fail(f"array {name!r} must have exactly dtype, shape and data_offsets")
    tag, shape, offsets = fields["dtype"], fields["shape"], fields["data_offsets"]
    if not isinstance(tag, str) or tag not in _DTYPES:
        fail(f"array {name!r} has the dtype {tag!r}; known: {', '.join(_DTYPES)}")
    if not _are_sizes(shape) or len(shape) > MAX_RANK:
        fail(f"array {name!r} has no valid shape: expected at most {MAX_RANK} extents >= 0")
    if not _are_sizes(offsets) or len(offsets) != 2:
        fail(f"array {name!r} has no valid data_offsets: expected [begin, end]")
    dtype = _DTYPES[tag]
    # Zeros aside, so that (0, 2**70) is refused too: NumPy can't make it.
    if dtype.itemsize * math.prod(extent for extent in shape if extent) >= 2**63:
        fail(f"array {name!r} is too large: shape {tuple(shape)}")
    begin, end = offsets
    needed = dtype.itemsize * math.prod(shape)
    if end - begin != needed:
        fail(
            f"array {name!r} of {dtype.name} and shape {tuple(shape)} needs {needed} bytes; "
            f"its data_offsets {begin}, {end} span {end - begin}"
        )
    return Entry(name, dtype, tuple(shape), begin, end)


def _are_sizes(values: Any) -> bool:
    # `type is int`: JSON's true is an int to isinstance.
    return isinstance(values, list) and all(type(value) is int and value >= 0 for value in values)


def _check_tiling(entries: list[Entry], data_bytes: int) -> None:
    at = 0
    for entry in entries:
        if entry.begin != at:
            what = "overlaps the array before it" if entry.begin < at else "leaves a gap before it"
            fail(f"array {entry.name!r} {what}: it begins at byte {entry.begin}, expected {at}")
        at = entry.end
    if at != data_bytes:
        fail(f"the arrays need {at} bytes of data, the file holds {data_bytes}")
