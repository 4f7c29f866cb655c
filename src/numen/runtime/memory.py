"""glibc's allocator settings: large freed blocks stay in the process.

The page faults of a fresh large block cost as much as the arithmetic done in it.
`native.py` calls `keep_freed_blocks` once, when it first loads native code. A no-op where the C
library is not glibc.
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
