"""The thread pool as LLVM IR text, and all that differs between processor architectures.

`threads.py` explains the protocol and steers the pool from Python; `executor.py` joins this text
with `executor_ir.py` into one module. C library functions are reached through the `@api.*` globals
which that text declares and fills.
"""

from __future__ import annotations

from typing import NamedTuple


class Architecture(NamedTuple):
    """What the text needs to know of a processor under Linux."""

    pause: str  # an intrinsic for spinning
    pause_argument: str
    futex: int  # system call numbers
    sched_yield: int


ARCHITECTURES = {
    "x86_64": Architecture("@llvm.x86.sse2.pause", "", futex=202, sched_yield=24),
    # `yield` does nothing on most arm cores; `isb` waits about as long as x86's pause.
    "aarch64": Architecture("@llvm.aarch64.isb", "i32 15", futex=98, sched_yield=124),
}

MAX_THREADS = 1024
"""The pool's state counts helpers in 16 bits; this is far below and more than anybody needs."""

POOL_API = ("pthread_create", "pthread_sigmask", "syscall")
"""The C library functions that the text calls through `@api.*`."""


def pool_ir(machine: str) -> str:
    """The pool for a `platform.machine()` name.

    Defines `@par(kernel, args, chunks)` for the same module, and for Python
    `@pool_set_threads(i32)`, `@pool_reset()` and `@pool_started() -> i32`.
    """
    arch = ARCHITECTURES[machine]
    text = _POOL
    for placeholder, value in (
        ("PAUSE_TYPE", arch.pause_argument.split(" ")[0]),
        ("PAUSE_ARGUMENT", arch.pause_argument),
        ("PAUSE", arch.pause),
        ("SYS_FUTEX", str(arch.futex)),
        ("SYS_SCHED_YIELD", str(arch.sched_yield)),
    ):
        text = text.replace(placeholder, value)
    return text


_POOL = """
declare void PAUSE(PAUSE_TYPE)

; Words that several threads write have cache lines of their own (two: prefetchers fetch pairs).
@pool.lock = internal global i32 0, align 128         ; 1 while a caller owns the pool
@pool.state = internal global i64 0, align 128        ; generation << 32 | tickets << 16 | helpers
@pool.sleepers = internal global i32 0, align 128     ; workers in futex_wait or about to enter it
@pool.kernel = internal global ptr null, align 128    ; the open job
@pool.args = internal global ptr null
@pool.chunks = internal global i64 0
@pool.counter = internal global ptr null
@pool.threads = internal global i32 1                 ; wanted, the caller included
@pool.started = internal global i32 0                 ; workers

define void @pool_set_threads(i32 %threads) nounwind {
  store atomic i32 %threads, ptr @pool.threads monotonic, align 4
  ret void
}

define i32 @pool_started() nounwind {
  %started = load i32, ptr @pool.started
  ret i32 %started
}

define void @pool_reset() nounwind {
  store i32 0, ptr @pool.lock
  store i64 0, ptr @pool.state
  store i32 0, ptr @pool.sleepers
  store i32 0, ptr @pool.started
  ret void
}

; Take chunks until none is left.
define internal void @pool.drain(ptr %kernel, ptr %args, i64 %chunks, ptr %counter) nounwind {
entry:
  br label %take
take:
  %chunk = atomicrmw add ptr %counter, i64 1 monotonic
  %left = icmp ult i64 %chunk, %chunks
  br i1 %left, label %work, label %done
work:
  call void %kernel(ptr %args, i64 %chunk)
  br label %take
done:
  ret void
}

; Turn a ticket of the job seen in `seen` into a helper and help, unless that job is closed or full.
define internal void @pool.help(i64 %seen) nounwind {
entry:
  %generation = lshr i64 %seen, 32
  br label %try
try:
  %state = phi i64 [%seen, %entry], [%now, %claim]
  %generation.now = lshr i64 %state, 32
  %tickets = and i64 %state, u0xffff0000
  %same = icmp eq i64 %generation.now, %generation
  %open = icmp ne i64 %tickets, 0
  %may = and i1 %same, %open
  br i1 %may, label %claim, label %done
claim:
  %joined = sub i64 %state, 65535
  %swap = cmpxchg ptr @pool.state, i64 %state, i64 %joined acq_rel acquire
  %now = extractvalue { i64, i1 } %swap, 0
  %won = extractvalue { i64, i1 } %swap, 1
  br i1 %won, label %work, label %try
work:
  %kernel = load ptr, ptr @pool.kernel
  %args = load ptr, ptr @pool.args
  %chunks = load i64, ptr @pool.chunks
  %counter = load ptr, ptr @pool.counter
  call void @pool.drain(ptr %kernel, ptr %args, i64 %chunks, ptr %counter)
  %left = atomicrmw sub ptr @pool.state, i64 1 acq_rel
  br label %done
done:
  ret void
}

define internal ptr @pool.worker(ptr %unused) nounwind {
entry:
  %syscall = load ptr, ptr @api.syscall
  %generation.word = getelementptr i8, ptr @pool.state, i64 4   ; the upper half, little-endian
  br label %look
look:
  %last = phi i64 [0, %entry], [%last, %spin], [%last, %sleep], [%generation, %help]
  %spins = phi i32 [0, %entry], [%spins.next, %spin], [0, %sleep], [0, %help]
  %state = load atomic i64, ptr @pool.state acquire, align 8
  %generation = lshr i64 %state, 32
  %new = icmp ne i64 %generation, %last
  br i1 %new, label %help, label %idle
help:
  call void @pool.help(i64 %state)
  br label %look
idle:
  %tired = icmp uge i32 %spins, 2000
  br i1 %tired, label %sleep, label %spin
spin:
  call void PAUSE(PAUSE_ARGUMENT)
  %spins.next = add i32 %spins, 1
  br label %look
sleep:                                                ; FUTEX_WAIT_PRIVATE for a new generation
  %last.word = trunc i64 %last to i32
  %s0 = atomicrmw add ptr @pool.sleepers, i32 1 seq_cst
  %s1 = call i64 (i64, ...) %syscall(
      i64 SYS_FUTEX, ptr %generation.word, i64 128, i32 %last.word, i64 0, i64 0, i64 0)
  %s2 = atomicrmw sub ptr @pool.sleepers, i32 1 seq_cst
  br label %look
}

; Start workers until there are `wanted`. They block all signals but those for their own faults.
define internal void @pool.grow(i32 %wanted) nounwind {
entry:
  %thread = alloca i64
  %mask = alloca [16 x i64], align 16                 ; sigset_t
  %old = alloca [16 x i64], align 16
  store <16 x i64> splat (i64 -1), ptr %mask, align 16
  store i64 -1241, ptr %mask                          ; not SIGILL, TRAP, BUS, FPE, SEGV
  %create = load ptr, ptr @api.pthread_create
  %sigmask = load ptr, ptr @api.pthread_sigmask
  %m0 = call i32 %sigmask(i32 2, ptr %mask, ptr %old) ; SIG_SETMASK
  br label %more
more:
  %started = load i32, ptr @pool.started
  %missing = icmp slt i32 %started, %wanted
  br i1 %missing, label %start, label %done
start:
  %error = call i32 %create(ptr %thread, ptr null, ptr @pool.worker, ptr null)
  %started.now = add i32 %started, 1
  %ok = icmp eq i32 %error, 0
  br i1 %ok, label %count, label %refused
count:
  store i32 %started.now, ptr @pool.started
  br label %more
refused:                                              ; make do with those there are
  store atomic i32 %started.now, ptr @pool.threads monotonic, align 4
  br label %done
done:
  %m1 = call i32 %sigmask(i32 2, ptr %old, ptr null)
  ret void
}

; Run every chunk in the caller.
define internal void @serial(ptr %kernel, ptr %args, i64 %chunks) nounwind {
entry:
  br label %next
next:
  %chunk = phi i64 [0, %entry], [%chunk.next, %work]
  %left = icmp ult i64 %chunk, %chunks
  br i1 %left, label %work, label %done
work:
  call void %kernel(ptr %args, i64 %chunk)
  %chunk.next = add i64 %chunk, 1
  br label %next
done:
  ret void
}

; Run every chunk, with the workers' help where the pool is free. Returns when all chunks are done
; and no worker can touch `args` any more.
define internal void @par(ptr %kernel, ptr %args, i64 %chunks) nounwind {
entry:
  %line = alloca [128 x i8], align 128
  %counter = getelementptr i8, ptr %line, i64 0
  %threads = load atomic i32, ptr @pool.threads monotonic, align 4
  %useful = icmp sgt i32 %threads, 1
  br i1 %useful, label %lock, label %alone
lock:
  %swap = cmpxchg ptr @pool.lock, i32 0, i32 1 acquire monotonic
  %locked = extractvalue { i32, i1 } %swap, 1
  br i1 %locked, label %own, label %alone
alone:
  call void @serial(ptr %kernel, ptr %args, i64 %chunks)
  ret void
own:
  %wanted = sub i32 %threads, 1
  %started.before = load i32, ptr @pool.started
  %few = icmp slt i32 %started.before, %wanted
  br i1 %few, label %grow, label %grown
grow:
  call void @pool.grow(i32 %wanted)
  br label %grown
grown:
  %started = load i32, ptr @pool.started
  %workers = call i32 @llvm.smin.i32(i32 %started, i32 %wanted)
  %workers64 = sext i32 %workers to i64
  %others = sub i64 %chunks, 1
  %helpers = call i64 @llvm.smin.i64(i64 %workers64, i64 %others)
  %any = icmp sgt i64 %helpers, 0
  br i1 %any, label %open, label %unlock.alone
unlock.alone:
  store atomic i32 0, ptr @pool.lock release, align 4
  br label %alone
open:
  store i64 0, ptr %counter
  store ptr %kernel, ptr @pool.kernel
  store ptr %args, ptr @pool.args
  store i64 %chunks, ptr @pool.chunks
  store ptr %counter, ptr @pool.counter
  %state = load atomic i64, ptr @pool.state monotonic, align 8
  %generation = lshr i64 %state, 32
  %generation.next = add i64 %generation, 1
  %high = shl i64 %generation.next, 32
  %tickets = shl i64 %helpers, 16
  %opened = or i64 %high, %tickets
  %was = atomicrmw xchg ptr @pool.state, i64 %opened seq_cst
  %sleepers = load atomic i32, ptr @pool.sleepers seq_cst, align 4
  %asleep = icmp ne i32 %sleepers, 0
  br i1 %asleep, label %wake, label %work
wake:                                                 ; FUTEX_WAKE_PRIVATE
  %syscall = load ptr, ptr @api.syscall
  %generation.word = getelementptr i8, ptr @pool.state, i64 4
  %woken = call i64 (i64, ...) %syscall(
      i64 SYS_FUTEX, ptr %generation.word, i64 129, i64 %helpers, i64 0, i64 0, i64 0)
  br label %work
work:
  call void @pool.drain(ptr %kernel, ptr %args, i64 %chunks, ptr %counter)
  %closed = atomicrmw and ptr @pool.state, i64 u0xffffffff0000ffff acq_rel
  br label %wait
wait:
  %now = phi i64 [%closed, %work], [%now.next, %pause], [%now.next2, %yield]
  %spins = phi i32 [0, %work], [%spins.next, %pause], [%spins, %yield]
  %active = and i64 %now, 65535
  %busy = icmp ne i64 %active, 0
  br i1 %busy, label %patience, label %finished
patience:
  %tired = icmp uge i32 %spins, 2000
  br i1 %tired, label %yield, label %pause
pause:
  call void PAUSE(PAUSE_ARGUMENT)
  %spins.next = add i32 %spins, 1
  %now.next = load atomic i64, ptr @pool.state acquire, align 8
  br label %wait
yield:                                                ; let a helper have its core back
  %syscall2 = load ptr, ptr @api.syscall
  %y = call i64 (i64, ...) %syscall2(i64 SYS_SCHED_YIELD)
  %now.next2 = load atomic i64, ptr @pool.state acquire, align 8
  br label %wait
finished:
  store atomic i32 0, ptr @pool.lock release, align 4
  ret void
}

declare i32 @llvm.smin.i32(i32, i32)
declare i64 @llvm.smin.i64(i64, i64)
"""
