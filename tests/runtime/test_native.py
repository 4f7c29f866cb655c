"""From IR text to addresses: errors, one compilation per text, disk cache, fork."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from numen.errors import CompileError
from numen.runtime import native, profile
from numen.runtime.elf import defined_functions
from numen.runtime.native import Library, undefined_symbols

HEADER_BYTES = 48


def answer(number: int) -> str:
    own = "define internal void @own() {\n  ret void\n}"
    return f"define i64 @answer() {{\n  ret i64 {number}\n}}\n{own}"


def call(library: Library) -> int:
    return ctypes.CFUNCTYPE(ctypes.c_int64)(library.address("answer"))()


def compiled() -> int:
    counters = profile.counters()
    return counters.get("kernels_compiled", 0) + counters.get("kernels_loaded", 0)


def test_compiled_code_runs() -> None:
    library = native.compile_ir("answer", answer(42))
    assert call(library) == 42
    assert native.compile_ir("answer", answer(42)) is library


def test_libraries_with_equal_names_stay_apart() -> None:
    one, two = native.compile_many([("answer", answer(1)), ("answer", answer(2))])
    assert (call(one), call(two)) == (1, 2)


def test_an_unknown_or_internal_function_is_an_error() -> None:
    library = native.compile_ir("answer", answer(42))
    for name in ("question", "own"):
        with pytest.raises(CompileError, match=r"defines no function.*'answer'"):
            library.address(name)


def test_bad_text_is_an_error_and_the_compiler_lives_on() -> None:
    for text in ("define void @f( {", "define i64 @f() {\n  ret void\n}", "no IR at all"):
        with pytest.raises(CompileError, match="bad"):
            native.compile_ir("bad", text)
    assert call(native.compile_ir("answer", answer(43))) == 43


@pytest.mark.parametrize(
    ("symbol", "text"),
    [
        (
            "sinf",
            "declare float @sinf(float)\n"
            "define float @f(float %x) {\n  %y = call float @sinf(float %x)\n  ret float %y\n}",
        ),
        (
            "memset",
            "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n"
            "define void @f(ptr %p, i64 %n) {\n"
            "  call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 %n, i1 false)\n  ret void\n}",
        ),
        (
            "__divti3",
            "define i128 @f(i128 %a, i128 %b) {\n  %c = sdiv i128 %a, %b\n  ret i128 %c\n}",
        ),
        (
            "environ",
            "@environ = external global ptr\n"
            "define ptr @f() {\n  %p = load ptr, ptr @environ\n  ret ptr %p\n}",
        ),
    ],
)
def test_external_symbols_are_refused(symbol: str, text: str) -> None:
    with pytest.raises(CompileError, match=symbol):
        native.compile_ir("needs something", text)


def test_many_threads_compile_one_text_once() -> None:
    before = compiled()
    found: list[Library] = []
    workers = [
        threading.Thread(target=lambda: found.append(native.compile_ir("shared", answer(44))))
        for _ in range(8)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(found) == 8
    assert len(set(map(id, found))) == 1
    assert compiled() == before + 1


@pytest.mark.parametrize("obj", [b"", b"\x7fELF", b"MZ" * 100, b"\x7fELF\x02\x01" + b"\xff" * 200])
def test_symbols_of_something_else_are_an_error(obj: bytes) -> None:
    with pytest.raises(CompileError):
        undefined_symbols(obj)


COUNT_AFTER_COMPILING = """
from numen.runtime import native, profile
native.compile_ir("kernels", KERNELS).address("add")
from numen.runtime.plan import Plan
Plan((), b"", [], []).run()
counters = profile.counters()
print(*(counters.get(n, 0) for n in ("kernels_compiled", "kernels_loaded", "cache_rejected")))
"""


def test_a_new_process_loads_from_the_disk_cache(
    run_script: Callable[..., str], tmp_path: Path
) -> None:
    assert run_script(COUNT_AFTER_COMPILING).split() == ["2", "0", "0"]
    assert run_script(COUNT_AFTER_COMPILING).split() == ["0", "2", "0"]
    first, second = sorted((tmp_path / "cache").iterdir())
    first.write_bytes(first.read_bytes()[:-1])
    assert run_script(COUNT_AFTER_COMPILING).split() == ["1", "1", "1"]
    assert run_script(COUNT_AFTER_COMPILING).split() == ["0", "2", "0"]

    objects = [path.read_bytes()[HEADER_BYTES:] for path in (first, second)]
    assert all(undefined_symbols(obj) == [] for obj in objects)
    assert {"add", "tick"} <= {name for obj in objects for name in defined_functions(obj)}
    for obj in objects:  # cut anywhere: an error of ours or an answer, nothing else
        for size in range(0, len(obj), 61):
            with suppress(CompileError):
                undefined_symbols(obj[:size])


def test_the_cache_can_be_switched_off(run_script: Callable[..., str], tmp_path: Path) -> None:
    assert run_script(COUNT_AFTER_COMPILING, NUMEN_CACHE="0").split() == ["2", "0", "0"]
    assert not (tmp_path / "cache").exists()


def test_a_sound_entry_with_useless_code_is_rebuilt(run_script: Callable[..., str]) -> None:
    counters = run_script("""
from numen.runtime import cache, native, profile
load = cache.ObjectCache.load
cache.ObjectCache.load = lambda self, key: b"no object code"
native.compile_ir("kernels", KERNELS).address("add")
counters = profile.counters()
print(counters["kernels_compiled"], counters["cache_rejected"])
""")
    assert counters.split() == ["1", "1"]


def test_llvm_is_loaded_late_and_in_one_thread(run_script: Callable[..., str]) -> None:
    run_script("""
import sys, threading
from numen.runtime import cache, executor, memory, native, plan, profile, threads
assert not any(name.startswith("llvmlite") for name in sys.modules)
assert threading.active_count() == 1
native.compile_ir("kernels", KERNELS)
assert sorted(t.name for t in threading.enumerate()) == ["MainThread", "numen-compiler"]
""")


def test_a_forked_child_compiles_on_its_own(run_script: Callable[..., str]) -> None:
    run_script(
        """
import ctypes, os, threading
from numen.runtime import native
def check(n):
    ir = f"define i64 @f() {{ ret i64 {n} }}"
    address = native.compile_ir("f", ir).address("f")
    assert ctypes.CFUNCTYPE(ctypes.c_int64)(address)() == n
check(1)
stop = False
def busy():
    n = 100
    while not stop:
        check(n)
        n += 1
worker = threading.Thread(target=busy)
worker.start()
for i in range(10):
    pid = os.fork()
    if pid == 0:
        check(1)
        check(50 + i)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
stop = True
worker.join()
""",
        NUMEN_CACHE="0",
        PYTHONWARNINGS="ignore::DeprecationWarning",
    )


def test_the_executor_needs_no_symbols_on_any_architecture(run_script: Callable[..., str]) -> None:
    output = run_script("""
import llvmlite.binding as llvm
from numen.runtime.elf import undefined_symbols
from numen.runtime.executor_ir import executor_ir
from numen.runtime.pool_ir import ARCHITECTURES
llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
for machine in ARCHITECTURES:
    target = llvm.Target.from_triple(f"{machine}-unknown-linux-gnu")
    machine_code = target.create_target_machine(reloc="pic", codemodel="small")
    module = llvm.parse_assembly(executor_ir(machine, 16, 32))
    module.verify()
    print(machine, undefined_symbols(machine_code.emit_object(module)))
""")
    assert output.splitlines() == ["x86_64 []", "aarch64 []"]
