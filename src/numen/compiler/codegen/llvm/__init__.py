"""The CPU target: nests become LLVM IR text. Start at `kernels.py`."""

from numen.compiler.codegen.llvm.kernels import (
    Variant,
    emit_kernel,
    emit_module,
    scratch_bytes,
)

__all__ = ["Variant", "emit_kernel", "emit_module", "scratch_bytes"]
