"""Memory: large freed blocks stay in the process, and requests that can't be met are refused.

The page faults of a fresh large block cost as much as the arithmetic done in it. `native.py` calls
`keep_freed_blocks` once, when it first loads native code (a no-op where the C library is not
glibc); functions that make arrays call `check_room`.
"""

from __future__ import annotations

import ctypes
import os
import sys

_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_M_MMAP_MAX = -4
_TRIM_BYTES = 2**31 - 1
_MMAP_BYTES = 2**30

_applied: bool | None = None


def keep_freed_blocks() -> bool:
    """Let malloc keep freed blocks up to 1 GiB each and 2 GiB at the heap's end.

    Returns whether that took effect. `NUMEN_KEEP_MEMORY=0` leaves the allocator as it is. Calls
    after the first change nothing.
    """
    global _applied
    if _applied is None:
        _applied = os.environ.get("NUMEN_KEEP_MEMORY") != "0" and _apply()
    return _applied


def _apply() -> bool:
    if not sys.platform.startswith("linux"):
        return False
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "gnu_get_libc_version"):
        return False
    mallopt = libc.mallopt
    mallopt.argtypes, mallopt.restype = [ctypes.c_int, ctypes.c_int], ctypes.c_int
    if not mallopt(_M_MMAP_THRESHOLD, _MMAP_BYTES):
        # Older glibc refuses thresholds above 32 MiB; without mmap all blocks come from the heap.
        mallopt(_M_MMAP_MAX, 0)
    return bool(mallopt(_M_TRIM_THRESHOLD, _TRIM_BYTES))


# ------------------------------------------------------------ room for large arrays

LARGE = 1 << 28
"""Bytes from which a request is checked: reading the limits costs some 50 microseconds."""

_LARGEST_SIZE = (1 << 63) - 1
_NO_LIMIT = 1 << 60
"""Control groups without a limit report a number near 2**63."""


def check_room(nbytes: int, what: str = "") -> None:
    """Refuse a request for more memory than there is, before the system kills the process.

    Requests under 256 MiB pass unseen, and so do sizes that no array can have: NumPy has its own
    errors for those.

    Parameters
    ----------
    nbytes : int
        Size of the array to be made.
    what : str
        Shape and dtype, for the error's text.

    Raises
    ------
    MemoryError
        If the machine, or the control group that the process runs in, has not as much left.
    """
    if nbytes < LARGE or nbytes > _LARGEST_SIZE:
        return
    room = available()
    if room is not None and nbytes > room:
        raise MemoryError(
            f"Unable to allocate {_readable(nbytes)}{what and ' for ' + what}: "
            f"{_readable(room)} are available"
        )


def available() -> int | None:
    """Bytes that the process may still take; None where the system does not say (not Linux)."""
    rooms = [_machine_room(), *_group_rooms()]
    known = [room for room in rooms if room is not None]
    return max(min(known), 0) if known else None


def _machine_room() -> int | None:
    found = {}
    for line in _lines("/proc/meminfo"):
        name, _, rest = line.partition(":")
        if name in ("MemAvailable", "SwapFree"):
            found[name] = int(rest.split()[0]) * 1024
    return sum(found.values()) if "MemAvailable" in found else None


def _group_rooms() -> list[int | None]:
    """What each control group around the process leaves, innermost first (versions 2 and 1)."""
    rooms = []
    for line in _lines("/proc/self/cgroup"):
        _, controllers, path = line.split(":", 2)
        if not controllers:
            root, names = "/sys/fs/cgroup", ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            root = "/sys/fs/cgroup/memory"
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue
        parts = [part for part in path.split("/") if part]
        for depth in range(len(parts), -1, -1):
            rooms.append(_group_room("/".join([root, *parts[:depth]]), *names))
    return rooms


def _group_room(folder: str, limit_file: str, usage_file: str, cache: str) -> int | None:
    limit, usage = _number(f"{folder}/{limit_file}"), _number(f"{folder}/{usage_file}")
    if limit is None or usage is None or limit >= _NO_LIMIT:
        return None
    for line in _lines(f"{folder}/memory.stat"):
        name, _, value = line.partition(" ")
        if name == cache:  # file pages that the kernel drops before it kills
            usage -= int(value)
    return limit - usage


def _number(path: str) -> int | None:
    lines = _lines(path)
    return int(lines[0]) if lines and lines[0].isdigit() else None


def _lines(path: str) -> list[str]:
    try:
        with open(path) as file:
            return file.read().splitlines()
    except OSError:
        return []


def _readable(nbytes: int) -> str:
    size, units = float(nbytes), ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
    while size >= 1024 and len(units) > 1:
        size /= 1024
        del units[0]
    return f"{size:.3g} {units[0]}"
