"""Machine code of nests and matrix products, each compiled once per process.

Takes the nests that a program needs; gives addresses. What is missing goes to the runtime in one
module. The key of a kernel is its text, so structure-equal kernels are shared by all programs.
Called by `native.py`. Next: `runtime/native.py`.
"""

from __future__ import annotations

import functools
import hashlib
import threading
from collections.abc import Iterable

from numen.compiler.codegen.llvm import Variant, emit_module
from numen.compiler.codegen.llvm.gemm import emit_gemm
from numen.compiler.codegen.llvm.gemm_layout import select_isa
from numen.compiler.nest import Nest
from numen.compiler.nest_text import format_nest
from numen.errors import CompileError
from numen.runtime import native

KernelKey = tuple[Nest, Variant]

_addresses: dict[tuple[str, Variant], int] = {}
_lock = threading.Lock()


def kernel_addresses(wanted: Iterable[KernelKey]) -> list[int]:
    """Return the addresses of kernels, compiling those that are missing in one module."""
    keys = [(format_nest(nest), variant, nest) for nest, variant in wanted]
    if any((text, variant) not in _addresses for text, variant, _ in keys):
        with _lock:
            _compile({(t, v): nest for t, v, nest in keys if (t, v) not in _addresses})
    return [_addresses[text, variant] for text, variant, _ in keys]


def _compile(missing: dict[tuple[str, Variant], Nest]) -> None:
    if not missing:
        return  # another thread was faster
    names = {key: _name(*key) for key in missing}
    ir = emit_module((nest, names[key], key[1]) for key, nest in missing.items())
    library = native.compile_ir(f"nests {hashlib.sha256(ir.encode()).hexdigest()[:16]}", ir)
    _addresses.update({key: library.address(name) for key, name in names.items()})


def _name(text: str, variant: Variant) -> str:
    return f"nest_{hashlib.sha256(text.encode()).hexdigest()[:16]}_{variant}"


def gemm_address(dtype: str, function: str) -> int:
    """Return the address of an exported function of the matrix product."""
    return _gemm_library(dtype, isa()).address(function)


@functools.cache
def _gemm_library(dtype: str, isa: str) -> native.Library:
    return native.compile_ir(f"gemm {dtype} {isa}", emit_gemm(dtype, isa))


@functools.cache
def isa() -> str:
    """Return the instruction set that the matrix product uses on this machine.

    Raises
    ------
    CompileError
        If the machine has no fused multiply-add.
    """
    triple, features = native.host()
    name = select_isa(triple, features)
    if name is None:
        raise CompileError(f"the matrix product needs fused multiply-add; {triple} here has none")
    return name
