"""Which platforms run native code. Imports little: `jit` asks on the way in.

Next: `native.py`, which compiles there.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import sys

MACHINES = ("x86_64", "aarch64")


@functools.cache
def available() -> bool:
    """Whether native code runs here: CPython, 64-bit Linux, x86-64 or aarch64, llvmlite."""
    return (
        sys.platform.startswith("linux")
        and sys.implementation.name == "cpython"
        and sys.maxsize > 2**32
        and os.uname().machine in MACHINES
        and importlib.util.find_spec("llvmlite") is not None
    )
