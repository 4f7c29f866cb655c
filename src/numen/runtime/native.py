"""LLVM IR text in, callable addresses out: `compile_ir(key, ir).address("kernel")`.

All of LLVM runs in one daemon thread, started and llvmlite imported at the first request; callers
wait for it. Object code comes from memory, then from the disk cache (`cache.py`), else from the
code generator, and is refused when it needs any external symbol (`elf.py`). Called by `executor.py`
and by the compiler. Libraries are never unloaded.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any

from numen.errors import CompileError
from numen.runtime import cache, memory, profile
from numen.runtime.elf import defined_functions, undefined_symbols
from numen.runtime.platforms import available

__all__ = ["Library", "available", "compile_ir", "compile_many", "host", "undefined_symbols"]


class Library:
    """Loaded object code. It stays loaded, and its addresses valid, until the process ends."""

    __slots__ = ("_addresses", "key")

    def __init__(self, key: str, addresses: dict[str, int]) -> None:
        self.key = key
        self._addresses = addresses

    def address(self, name: str) -> int:
        """The address of the function `name`.

        Raises
        ------
        CompileError
            If the library defines no global function of that name.
        """
        try:
            return self._addresses[name]
        except KeyError:
            raise CompileError(
                f"library {self.key!r} defines no function {name!r}; "
                f"it defines {sorted(self._addresses)}"
            ) from None


def compile_ir(key: str, ir: str) -> Library:
    """The library made of the LLVM IR text `ir`, for the host CPU.

    Parameters
    ----------
    key : str
        A readable name; code for the same key and text is compiled once.
    ir : str
        A module without triple; all it needs from outside must come in through arguments.

    Raises
    ------
    CompileError
        If the text is not valid, the code needs external symbols, or this platform has no native
        code.
    """
    found = _libraries.get(_identity(key, ir))
    return found if found is not None else _request(key, ir).result()


def compile_many(modules: Iterable[tuple[str, str]]) -> list[Library]:
    """`compile_ir` for several (key, ir) pairs, waiting once for all; raises the first error."""
    return [pending.result() for pending in [_request(key, ir) for key, ir in modules]]


def host() -> tuple[str, str]:
    """The target triple and CPU features that code is generated for.

    Raises
    ------
    CompileError
        If this platform has no native code.
    """
    if _toolchain is None:
        compile_ir("host", "define void @host() {\n  ret void\n}\n")
    assert _toolchain is not None
    return _toolchain.triple, _toolchain.features


# The worker thread.

_Job = tuple["Future[Library]", Callable[[], Library]]

_libraries: dict[tuple[str, bytes], Library] = {}
_jobs: SimpleQueue[_Job] = SimpleQueue()
_worker: threading.Thread | None = None
_start_lock = threading.Lock()
_busy_lock = threading.RLock()
"""Held while LLVM runs, and by fork(): no child inherits LLVM's own locks in a locked state."""


def _identity(key: str, ir: str) -> tuple[str, bytes]:
    return key, hashlib.sha256(ir.encode()).digest()


def _request(key: str, ir: str) -> Future[Library]:
    """Have the worker build the library; the worker itself (a finalizer there) does it at once."""
    job: _Job = (Future(), lambda: _build(key, ir))
    if threading.current_thread() is _worker:
        _run_job(job)
    else:
        _start_worker()
        _jobs.put(job)
    return job[0]


def _start_worker() -> None:
    global _worker
    with _start_lock:
        if _worker is None:
            if not available():
                raise CompileError(
                    "native code: needs CPython on 64-bit Linux (x86-64, aarch64) and llvmlite"
                )
            worker = threading.Thread(target=_serve, args=(_jobs,), name="numen-compiler")
            worker.daemon = True
            worker.start()
            _worker = worker


def _serve(jobs: SimpleQueue[_Job]) -> None:
    while True:
        job = jobs.get()
        with _busy_lock:
            _run_job(job)
        del job  # a waiting thread keeps nothing of the last request alive


def _run_job(job: _Job) -> None:
    future, build = job
    try:
        future.set_result(build())
    except BaseException as error:  # whatever happened belongs to the caller, the worker goes on
        future.set_exception(error)


def _after_fork_in_child() -> None:
    """Forget the worker and what was queued for it: the threads that asked do not exist here."""
    global _jobs, _worker, _start_lock
    _jobs, _worker, _start_lock = SimpleQueue(), None, threading.Lock()
    _busy_lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_busy_lock.acquire,
        after_in_parent=_busy_lock.release,
        after_in_child=_after_fork_in_child,
    )


# LLVM; everything below runs in the worker.

_toolchain: _Toolchain | None = None


def _build(key: str, ir: str) -> Library:
    global _toolchain
    identity = _identity(key, ir)
    library = _libraries.get(identity)  # two threads may have asked for it
    if library is None:
        if _toolchain is None:
            _toolchain = _Toolchain()
        library = _libraries[identity] = _toolchain.build(key, ir)
    return library


class _Toolchain:
    """llvmlite set up for the host, and the disk cache."""

    def __init__(self) -> None:
        import llvmlite
        import llvmlite.binding as llvm

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        self._llvm: Any = llvm
        self.triple: str = llvm.get_process_triple()
        self._cpu: str = llvm.get_host_cpu_name()
        self.features: str = llvm.get_host_cpu_features().flatten()
        self._version: str = llvmlite.__version__
        self._target: Any = llvm.Target.from_triple(self.triple)
        self._machine = self._host_machine()
        self._layout = str(self._machine.target_data)
        self._cache = cache.ObjectCache(cache.default_directory())
        memory.keep_freed_blocks()

    def build(self, key: str, ir: str) -> Library:
        entry = cache.cache_key(key, ir, self._cpu, self.features, self._version)
        stored = self._cache.load(entry)
        if stored is not None:
            try:
                library = self._load(key, stored)
            except CompileError:
                self._cache.reject(entry)
            else:
                profile.count("kernels_loaded")
                return library
        obj = self._compile(key, ir)
        library = self._load(key, obj)
        profile.count("kernels_compiled")
        self._cache.store(entry, obj)
        return library

    def _host_machine(self) -> Any:
        return self._target.create_target_machine(
            cpu=self._cpu, features=self.features, opt=2, reloc="pic", codemodel="small", jit=True
        )

    def _loader_machine(self) -> Any:
        """For an engine that only loads objects; it owns its machine, so each needs a new one."""
        return self._target.create_target_machine(opt=0, reloc="pic", codemodel="small", jit=True)

    def _compile(self, key: str, ir: str) -> bytes:
        # The layout must be known when the text is parsed: it gives loads without `align` theirs.
        header = f'target triple = "{self.triple}"\ntarget datalayout = "{self._layout}"\n'
        try:
            with self._llvm.parse_assembly(header + ir) as module:
                module.verify()
                return bytes(self._machine.emit_object(module))
        except RuntimeError as error:
            raise CompileError(f"kernel {key!r}: LLVM refused the module: {error}") from error

    def _load(self, key: str, obj: bytes) -> Library:
        names = defined_functions(obj)
        if undefined := undefined_symbols(obj):
            raise CompileError(
                f"kernel {key!r}: the code needs external symbols {undefined}; none are allowed"
            )
        # An engine wants a module; taken out again, it isn't compiled, most of the loading's cost.
        module = self._llvm.parse_assembly(f'target triple = "{self.triple}"')
        # llvmlite's memory manager keeps the sections of one object within reach of small-model
        # relocations.
        engine = self._llvm.create_mcjit_compiler(module, self._loader_machine(), use_lmm=True)
        engine.remove_module(module)
        try:
            code = self._llvm.object_file.ObjectFileRef.from_data(obj)
            engine.add_object_file(code)
            engine.finalize_object()
            addresses = {name: int(engine.get_function_address(name)) for name in names}
        except (RuntimeError, ValueError) as error:
            raise CompileError(f"kernel {key!r}: can't load the code: {error}") from error
        code.detach()  # never unloaded: plans and pool threads run in it until the process ends
        engine.detach()
        return Library(key, addresses)
