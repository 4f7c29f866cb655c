"""NVIDIA's compilers accept the generated text, where they are installed, and contract nothing."""

import pytest

from numen.compiler.body import Body
from numen.compiler.codegen.cuda import emit_cuda, toolchain
from numen.compiler.nest import Buffer, Nest, Store
from numen.errors import CompileError

installed = pytest.mark.skipif(
    toolchain.describe() is None, reason="neither NVRTC nor nvcc is installed"
)


def dot_plus_one():
    """sum(a * b + 1) along rows: three roundings that a contraction would make two."""
    body = Body()
    product = body.multiply(body.load(0, "float32"), body.load(1, "float32"))
    total = body.reduce("sum", body.add(product, body.const(1.0, "float32")))
    buffers = (
        Buffer("float32", ("s", "1")),
        Buffer("float32", ("0", "1")),
        Buffer("float32", ("1", "0")),
    )
    return Nest(2, True, buffers, (), body.instrs, (Store(2, total.position),))


@installed
def test_ptx_has_no_contraction_and_keeps_subnormals():
    ptx = toolchain.compile_to_ptx(emit_cuda(dot_plus_one(), "numen_dot").source, "sm_80")
    assert ".entry numen_dot" in ptx
    assert "mul.rn.f32" in ptx
    assert "add.rn.f32" in ptx
    assert "fma" not in ptx
    assert ".ftz" not in ptx


@installed
def test_cubin_is_an_object_file():
    cubin = toolchain.compile_to_cubin(emit_cuda(dot_plus_one(), "numen_dot").source, "sm_80")
    assert cubin[:4] == b"\x7fELF"


@installed
def test_errors_carry_the_compilers_log():
    with pytest.raises(CompileError, match="undeclared"):
        toolchain.compile_to_ptx('extern "C" __global__ void k(int* x) { *x = undeclared; }')


def test_no_compiler_says_what_to_install(monkeypatch):
    monkeypatch.setattr(toolchain, "find_nvrtc", lambda: None)
    monkeypatch.setattr(toolchain, "find_nvcc", lambda: None)
    assert toolchain.describe() is None
    with pytest.raises(CompileError, match="pip install nvidia-cuda-nvrtc"):
        toolchain.compile_to_cubin("")
