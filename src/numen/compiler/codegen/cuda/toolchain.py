"""NVIDIA's compilers, where installed: CUDA C++ text in, PTX or a cubin out, without a GPU.

NVRTC is a shared library (of pip's nvidia-cuda-nvrtc or a CUDA toolkit) called through its C API;
nvcc is the toolkit's command. Whoever launches on a GPU takes the cubin; tests compile each kernel.
Next: `emit.py`, which writes the text.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from numen.errors import CompileError

DEFAULT_ARCHITECTURE = "sm_80"

# Contraction would fuse a multiply and an add into one rounding; the others are the defaults.
_FLAGS = ("--std=c++17", "--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true")
_NVRTC_VERSIONS = (13, 12)


def compile_to_ptx(source: str, arch: str = DEFAULT_ARCHITECTURE) -> str:
    """Compile to PTX, the portable assembly, for an architecture like "sm_80" and newer ones.

    A driver refuses PTX of a newer toolkit than its own; ship cubins to known GPUs.

    Raises
    ------
    CompileError
        Neither NVRTC nor nvcc is installed, or it refuses the text; its log follows.
    """
    compiled = _compiler()(source, arch.replace("sm_", "compute_"), "ptx")
    return compiled.rstrip(b"\0").decode()


def compile_to_cubin(source: str, arch: str = DEFAULT_ARCHITECTURE) -> bytes:
    """Compile to the machine code of one architecture. Raises what `compile_to_ptx` raises."""
    return _compiler()(source, arch, "cubin")


def find_nvcc() -> str | None:
    """Give the path of an nvcc that runs: on PATH, else under $CUDA_HOME or $CUDA_PATH."""
    candidates = [shutil.which("nvcc")]
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if root := os.environ.get(variable):
            candidates.append(shutil.which("nvcc", path=os.path.join(root, "bin")))
    return next((path for path in candidates if path and _nvcc_version(path)), None)


def find_nvrtc() -> str | None:
    """Give the path or name of an NVRTC library that loads."""
    return next((path for path in _nvrtc_candidates() if _open(path) is not None), None)


def describe() -> str | None:
    """Name the compiler that will be used and its version; None without one."""
    if path := find_nvrtc():
        major, minor = ctypes.c_int(), ctypes.c_int()
        _Nvrtc(path).call("nvrtcVersion", ctypes.byref(major), ctypes.byref(minor))
        return f"NVRTC {major.value}.{minor.value}"
    if nvcc := find_nvcc():
        return f"nvcc {_nvcc_version(nvcc)}"
    return None


def _compiler() -> Callable[[str, str, str], bytes]:
    if path := find_nvrtc():
        return _Nvrtc(path).compile
    if nvcc := find_nvcc():
        return functools.partial(_run_nvcc, nvcc)
    raise CompileError(
        "compiling CUDA needs NVRTC or nvcc: pip install nvidia-cuda-nvrtc, or put nvcc on PATH"
    )


# ---- nvcc


@functools.cache
def _nvcc_version(path: str) -> str | None:
    try:
        run = _run([path, "--version"])
    except OSError:
        return None
    found = re.search(r"release (\d+\.\d+)", run.stdout)
    return found[1] if found and run.returncode == 0 else None


def _run_nvcc(nvcc: str, source: str, arch: str, kind: str) -> bytes:
    with tempfile.TemporaryDirectory(prefix="numen-nvcc-") as folder:
        text, output = Path(folder, "kernel.cu"), Path(folder, f"kernel.{kind}")
        text.write_text(source)
        flags = [f"--{kind}", f"--gpu-architecture={arch}", *_FLAGS]
        run = _run([nvcc, *flags, os.fspath(text), "-o", os.fspath(output)])
        if run.returncode:
            raise CompileError(f"nvcc refuses the kernel for {arch}:\n{run.stderr or run.stdout}")
        return output.read_bytes()


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)


# ---- NVRTC


def _nvrtc_candidates() -> Iterator[str]:
    """Places of the library: pip's packages, a toolkit, the system's search path."""
    spec = importlib.util.find_spec("nvidia")
    for root in (spec.submodule_search_locations or ()) if spec else ():
        for version in _NVRTC_VERSIONS:
            for folder in (f"cu{version}", "cuda_nvrtc"):
                path = Path(root, folder, "lib", f"libnvrtc.so.{version}")
                if path.exists():
                    yield os.fspath(path)
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if home := os.environ.get(variable):
            yield from map(os.fspath, sorted(Path(home, "lib64").glob("libnvrtc.so.[0-9]*")))
    yield from (f"libnvrtc.so.{version}" for version in _NVRTC_VERSIONS)
    if found := ctypes.util.find_library("nvrtc"):
        yield found


@functools.cache
def _open(path: str) -> ctypes.CDLL | None:
    try:
        # NVRTC opens its builtins by name alone; outside the search path it finds only loaded ones.
        if os.path.isabs(path):
            for builtins in Path(path).parent.glob("libnvrtc-builtins.so.*"):
                ctypes.CDLL(os.fspath(builtins))
        return ctypes.CDLL(path)
    except OSError:
        return None


class _Nvrtc:
    """The few functions of NVRTC that a compilation takes."""

    def __init__(self, path: str) -> None:
        library = _open(path)
        if library is None:
            raise CompileError(f"NVRTC does not load from {path}")
        self.library = library

    def call(self, function: str, *args: Any) -> None:
        code = self.library[function](*args)
        if code:
            text = self.library["nvrtcGetErrorString"]
            text.restype = ctypes.c_char_p
            raise CompileError(f"{function}: {text(code).decode()}")

    def compile(self, source: str, arch: str, kind: str) -> bytes:
        program = ctypes.c_void_p()
        created = ctypes.byref(program)
        self.call("nvrtcCreateProgram", created, source.encode(), b"kernel.cu", 0, None, None)
        try:
            flags = [flag.encode() for flag in (f"--gpu-architecture={arch}", *_FLAGS)]
            options = (ctypes.c_char_p * len(flags))(*flags)
            try:
                self.call("nvrtcCompileProgram", program, len(flags), options)
            except CompileError as error:
                log = self._text(program, "ProgramLog").rstrip(b"\0\n ").decode(errors="replace")
                raise CompileError(f"NVRTC refuses the kernel for {arch}:\n{log}") from error
            return self._text(program, kind.upper())
        finally:
            self.call("nvrtcDestroyProgram", created)

    def _text(self, program: ctypes.c_void_p, what: str) -> bytes:
        size = ctypes.c_size_t()
        self.call(f"nvrtcGet{what}Size", program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value)
        self.call(f"nvrtcGet{what}", program, text)
        return text.raw
