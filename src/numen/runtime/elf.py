"""The symbols of a 64-bit ELF object: functions it defines, names it expects from outside.

Takes the bytes that code generation or the disk cache gave `native.py`; gives names. Compiled
kernels may need nothing from outside, so a hidden library call (memcpy, fmaf, a division helper) is
found here, before it is run.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from numen.errors import CompileError

_SHT_SYMTAB = 2
_SHN_UNDEF = 0
_STB_GLOBAL = 1
_STT_FUNC = 2

_FILE_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")


class _Symbol(NamedTuple):
    name: str
    defined: bool
    is_function: bool
    is_global: bool


def undefined_symbols(obj: bytes) -> list[str]:
    """Names that the object expects some other code to define, sorted.

    Raises
    ------
    CompileError
        If `obj` is no little-endian 64-bit ELF object.
    """
    return sorted({s.name for s in _symbols(obj) if s.name and not s.defined})


def defined_functions(obj: bytes) -> list[str]:
    """Names of the global functions that the object defines, sorted.

    Raises
    ------
    CompileError
        If `obj` is no little-endian 64-bit ELF object.
    """
    return sorted(s.name for s in _symbols(obj) if s.defined and s.is_function and s.is_global)


def _symbols(obj: bytes) -> list[_Symbol]:
    if obj[:6] != b"\x7fELF\x02\x01":
        raise CompileError("object code: expected a little-endian 64-bit ELF object")
    try:
        return list(_read_symbols(obj))
    except (struct.error, ValueError, LookupError, OverflowError) as error:
        raise CompileError(f"object code: damaged ELF object ({error})") from error


def _read_symbols(obj: bytes) -> Iterator[_Symbol]:
    header = _FILE_HEADER.unpack_from(obj)
    table, entry_size, entries = header[6], header[11], header[12]
    sections = [_SECTION.unpack_from(obj, table + i * entry_size) for i in range(entries)]
    for _, kind, _, _, offset, size, link, *_ in sections:
        if kind != _SHT_SYMTAB:
            continue
        names = sections[link][4]
        for at in range(offset, offset + size, _SYMBOL.size):
            name, info, _, section, _, _ = _SYMBOL.unpack_from(obj, at)
            start = names + name
            yield _Symbol(
                obj[start : obj.index(b"\0", start)].decode(),
                section != _SHN_UNDEF,
                info & 15 == _STT_FUNC,
                info >> 4 == _STB_GLOBAL,
            )
