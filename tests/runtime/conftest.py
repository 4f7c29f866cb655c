"""Hand-written kernels for the runtime's tests, and a way to run a script in a fresh process."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import numen
from numen.runtime import native, threads
from numen.runtime.native import Library
from numen.runtime.plan import Plan

KERNELS = """
declare i64 @llvm.smin.i64(i64, i64)

; args: n, grain, a, b, c: c = a + b for the elements of a chunk, float32
define void @add(ptr %args, i64 %chunk) {
entry:
  %n = load i64, ptr %args
  %grain.at = getelementptr i64, ptr %args, i64 1
  %grain = load i64, ptr %grain.at
  %a.at = getelementptr ptr, ptr %args, i64 2
  %a = load ptr, ptr %a.at
  %b.at = getelementptr ptr, ptr %args, i64 3
  %b = load ptr, ptr %b.at
  %c.at = getelementptr ptr, ptr %args, i64 4
  %c = load ptr, ptr %c.at
  %first = mul i64 %chunk, %grain
  %end = add i64 %first, %grain
  %last = call i64 @llvm.smin.i64(i64 %end, i64 %n)
  br label %loop
loop:
  %i = phi i64 [%first, %entry], [%i.next, %work]
  %more = icmp slt i64 %i, %last
  br i1 %more, label %work, label %done
work:
  %pa = getelementptr float, ptr %a, i64 %i
  %pb = getelementptr float, ptr %b, i64 %i
  %pc = getelementptr float, ptr %c, i64 %i
  %x = load float, ptr %pa
  %y = load float, ptr %pb
  %z = fadd float %x, %y
  store float %z, ptr %pc
  %i.next = add i64 %i, 1
  br label %loop
done:
  ret void
}

; args: p: p[chunk] += 1
define void @tick(ptr %args, i64 %chunk) {
  %p = load ptr, ptr %args
  %at = getelementptr i64, ptr %p, i64 %chunk
  %old = load i64, ptr %at
  %new = add i64 %old, 1
  store i64 %new, ptr %at
  ret void
}

; args: p, q: q[chunk] = p[chunk]
define void @copy(ptr %args, i64 %chunk) {
  %p = load ptr, ptr %args
  %q.at = getelementptr ptr, ptr %args, i64 1
  %q = load ptr, ptr %q.at
  %from = getelementptr i64, ptr %p, i64 %chunk
  %to = getelementptr i64, ptr %q, i64 %chunk
  %word = load i64, ptr %from
  store i64 %word, ptr %to
  ret void
}

; args: p: p[chunk] = 3 * chunk + 1
define void @fill(ptr %args, i64 %chunk) {
  %p = load ptr, ptr %args
  %at = getelementptr i64, ptr %p, i64 %chunk
  %triple = mul i64 %chunk, 3
  %value = add i64 %triple, 1
  store i64 %value, ptr %at
  ret void
}

; args: p, word: p[chunk] = word
define void @put(ptr %args, i64 %chunk) {
  %p = load ptr, ptr %args
  %at = getelementptr i64, ptr %p, i64 %chunk
  %word.at = getelementptr i64, ptr %args, i64 1
  %word = load i64, ptr %word.at
  store i64 %word, ptr %at
  ret void
}

; args: p: p[0] += 1, then wait until p[0] >= p[1] or patience ends; p[2 + chunk] = p[0] then seen
define void @meet(ptr %args, i64 %chunk) {
entry:
  %p = load ptr, ptr %args
  %old = atomicrmw add ptr %p, i64 1 seq_cst
  %wanted.at = getelementptr i64, ptr %p, i64 1
  %wanted = load i64, ptr %wanted.at
  br label %wait
wait:
  %i = phi i64 [0, %entry], [%i.next, %again]
  %seen = load atomic i64, ptr %p seq_cst, align 8
  %met = icmp sge i64 %seen, %wanted
  %tired = icmp uge i64 %i, 20000000000
  %leave = or i1 %met, %tired
  br i1 %leave, label %done, label %again
again:
  %i.next = add i64 %i, 1
  br label %wait
done:
  %slot = add i64 %chunk, 2
  %out = getelementptr i64, ptr %p, i64 %slot
  store i64 %seen, ptr %out
  ret void
}
"""


@pytest.fixture(scope="session")
def kernels() -> Library:
    return native.compile_ir("test kernels", KERNELS)


@pytest.fixture
def one_array(kernels: Library) -> Callable[..., Plan]:
    """Plans with one array argument, whose address is the kernel's first argument."""

    def make(name: str, chunks: int, **options: bool) -> Plan:
        launch = (kernels.address(name), 0, chunks)
        return Plan(("array",), bytes(16), [(0, 0, 0)], [launch], **options)

    return make


@pytest.fixture
def add_plan(kernels: Library) -> Callable[..., Plan]:
    """Plans for c = a + b over n float32 elements in chunks of `grain`."""

    def make(n: int, grain: int, **options: bool) -> Plan:
        frame = struct.pack("=5q", n, grain, 0, 0, 0)
        patches = [(16, 0, 0), (24, 1, 0), (32, 2, 0)]
        launch = (kernels.address("add"), 0, -(-n // grain))
        return Plan(("array",) * 3, frame, patches, [launch], **options)

    return make


@pytest.fixture
def two_threads() -> Iterator[None]:
    before = threads.num_threads()
    threads.set_num_threads(2)
    yield
    threads.set_num_threads(before)


@pytest.fixture
def run_script(tmp_path: Path) -> Callable[..., str]:
    """Run Python text in a new process with a cache directory of its own; gives its output."""

    def run(text: str, **environment: str) -> str:
        source = str(Path(numen.__file__).parents[1])
        variables = {name: v for name, v in os.environ.items() if not name.startswith("NUMEN_")}
        variables |= {"PYTHONPATH": source, "NUMEN_CACHE_DIR": str(tmp_path / "cache")}
        done = subprocess.run(
            [sys.executable, "-c", f"KERNELS = '''{KERNELS}'''\n{text}"],
            env=variables | environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    return run
