"""CUDA C++ on a CPU: `cuda_cpu.h` gives the words a meaning, `shim.py` compiles and launches."""

from numen.compiler.codegen.cuda.shim.shim import SimKernel, launch, load

__all__ = ["SimKernel", "launch", "load"]
