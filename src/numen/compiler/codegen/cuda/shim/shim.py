"""Compile CUDA C++ text with a C++ compiler and launch it on the CPU.

`load(source, names)` takes the text that NVRTC would get and gives SimKernels; `launch` runs one.
Shared objects are kept in memory and in the object cache's folder "cuda-sim", so a source is
compiled once (about a second).
Next: `cuda_cpu.h`, which says what each word of CUDA means here.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from numen.errors import CompileError
from numen.runtime.cache import ObjectCache, cache_key, default_directory

Argument = np.ndarray[Any, Any] | np.generic | int | float

_HEADER = Path(__file__).with_name("cuda_cpu.h")
_FOLDER = "cuda-sim"
_MESSAGE_BYTES = 512
_FLAGS = (
    "-std=c++17",
    "-O2",
    "-ffp-contract=off",  # one rounding per operation, as on the GPU
    "-fno-math-errno",
    "-fno-exceptions",
    "-fno-rtti",
    "-fvisibility=hidden",
    "-fPIC",
    "-shared",
    "-w",
)

# extern __shared__ float tile[];  is memory whose size the launch gives
_DYNAMIC_SHARED = re.compile(
    r"\bextern\s+__shared__\s+(?:__align__\s*\([^)]*\)\s*)?([\w:\s]+?)\s+(\w+)\s*\[\s*\]\s*;"
)


@dataclass(frozen=True)
class SimKernel:
    """A kernel compiled for this CPU. Give it to `launch`."""

    name: str
    function: Any = field(repr=False)


_loaded: dict[str, tuple[SimKernel, ...]] = {}
_lock = threading.Lock()


def load(source: str, names: Sequence[str]) -> tuple[SimKernel, ...]:
    """Compile CUDA C++ for the CPU, or find it compiled.

    Parameters
    ----------
    source : str
        CUDA C++ text.
    names : sequence of str
        The kernels wanted from it: extern "C" __global__ functions.

    Returns
    -------
    tuple of SimKernel
        One per name.

    Raises
    ------
    CompileError
        There is no C++ compiler, or it refuses the text; its messages follow, with the lines of
        `source`.
    """
    program = _program(source, names)
    compiler = find_compiler()
    if compiler is None:
        raise CompileError(
            "CUDA kernels on the CPU need a C++ compiler: install g++ or pip install ziglang"
        )
    key = cache_key("cuda-sim", program, _header(), *compiler, *_flags(), _version(compiler))
    with _lock:
        if key not in _loaded:
            library = _library(key, program, compiler)
            _loaded[key] = tuple(SimKernel(name, _launcher(library, name)) for name in names)
        return _loaded[key]


def launch(
    kernel: SimKernel,
    grid: Sequence[int],
    block: Sequence[int],
    args: Sequence[Argument],
    shared: int = 0,
    strict: bool = False,
) -> None:
    """Run a kernel and wait for it.

    Parameters
    ----------
    kernel : SimKernel
        What `load` gave.
    grid, block : sequence of 1 to 3 ints
        Blocks of the launch and threads of a block. With an empty grid nothing runs.
    args : sequence
        One per kernel parameter: an ndarray for a pointer to its data, an int for a `long long`,
        a float for a `double`, a NumPy scalar for a parameter of its own type. Sizes are not
        checked, as on the GPU.
    shared : int
        Bytes of dynamic shared memory.
    strict : bool
        Treat a barrier that some threads of the block never reach, because they exited before, as
        an error. GPUs allow that.

    Raises
    ------
    RuntimeError
        The kernel did what would hang a GPU or have no meaning there: barrier divergence, a shuffle
        from a lane that takes no part. The message names block, threads and source lines. What the
        kernel wrote before stays written.
    """
    dims = [(ctypes.c_uint * 3)(*(*shape, 1, 1)[:3]) for shape in (grid, block)]
    values = [_c_value(arg) for arg in args]
    pointers = (ctypes.c_void_p * max(len(values), 1))(*(ctypes.addressof(v) for v in values))
    message = ctypes.create_string_buffer(_MESSAGE_BYTES)
    failed = kernel.function(*dims, ctypes.c_size_t(shared), pointers, int(strict), message)
    if failed:
        raise RuntimeError(f"cuda kernel {kernel.name}: {message.value.decode(errors='replace')}")


def find_compiler() -> tuple[str, ...] | None:
    """Give the command of a C++17 compiler: g++ or clang++ on PATH, else ziglang's, else None."""
    for name in ("g++", "clang++"):
        if path := shutil.which(name):
            return (path,)
    if importlib.util.find_spec("ziglang") is not None:
        return sys.executable, "-m", "ziglang", "c++", "-nostdlib++"
    return None


def _program(source: str, names: Sequence[str]) -> str:
    """The C++ file: header, source with its own line numbers, launch functions."""
    source = _DYNAMIC_SHARED.sub(r"\1* \2 = (\1*)sim::dynamic_shared();", source)
    launchers = "".join(f"NUMEN_LAUNCHER({name})\n" for name in names)
    return f'#include "cuda_cpu.h"\n#line 1 "kernel.cu"\n{source}\n{launchers}'


@functools.cache
def _header() -> str:
    return _HEADER.read_text()


@functools.cache
def _version(compiler: tuple[str, ...]) -> str:
    run = subprocess.run([*compiler, "--version"], capture_output=True, text=True, check=False)
    return run.stdout + run.stderr


def _flags() -> tuple[str, ...]:
    if platform.machine() in ("x86_64", "AMD64"):
        return (*_FLAGS, "-fcf-protection=none")  # a shadow stack does not follow fibers
    return _FLAGS


@functools.cache
def _cache(directory: Path | None) -> ObjectCache:
    return ObjectCache(directory)


def _library(key: str, program: str, compiler: tuple[str, ...]) -> ctypes.CDLL:
    """Load the shared object of `program`, from the cache or after compiling it."""
    directory = default_directory()
    cache = _cache(directory / _FOLDER if directory is not None else None)
    with tempfile.TemporaryDirectory(prefix="numen-cuda-sim-") as folder:
        # The loader knows libraries by path: one that was used before would give the old one.
        path = Path(folder) / f"{key}.so"
        content = cache.load(key)
        if content is None:
            _compile(program, path, compiler)
            cache.store(key, path.read_bytes())
        else:
            path.write_bytes(content)
        return ctypes.CDLL(os.fspath(path))


def _launcher(library: ctypes.CDLL, name: str) -> Any:
    function = library[f"numen_launch_{name}"]
    function.restype = ctypes.c_int
    return function


def _compile(program: str, library: Path, compiler: tuple[str, ...]) -> None:
    text = library.with_suffix(".cpp")
    text.write_text(program)
    paths = [f"-I{_HEADER.parent}", os.fspath(text), "-o", os.fspath(library)]
    run = subprocess.run(
        [*compiler, *_flags(), *paths], capture_output=True, text=True, check=False
    )
    if run.returncode:
        log = (run.stderr or run.stdout)[:8000]
        raise CompileError(f"{compiler[0]} refuses CUDA source for the CPU:\n{log}")


def _c_value(arg: Argument) -> Any:
    """A ctypes object that holds what the kernel's parameter takes."""
    if isinstance(arg, np.ndarray):
        return ctypes.c_void_p(arg.ctypes.data)
    if isinstance(arg, np.generic):
        return ctypes.create_string_buffer(arg.tobytes(), arg.nbytes)
    if isinstance(arg, float):
        return ctypes.c_double(arg)
    return ctypes.c_longlong(arg)
