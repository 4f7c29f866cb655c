"""The CUDA target: CUDA C++ text from the loop IR, its compilers, and a shim to run it on a CPU.

Next: `emit.py` (nest → text), `toolchain.py` (text → PTX or cubin), `shim/shim.py` (text → a kernel
for the CPU).
"""

from numen.compiler.codegen.cuda.emit import CudaKernel, Launch, emit_cuda

__all__ = ["CudaKernel", "Launch", "emit_cuda"]
