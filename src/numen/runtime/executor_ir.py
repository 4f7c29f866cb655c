"""The native side of `Plan.run` as LLVM IR text: one METH_FASTCALL function for all plans.

`plan.py` packs a plan into a descriptor of 64-bit words, a bytes object that is the builtin's
`self`; the text here reads it front to back. Object code has no external symbols, so CPython's and
the C library's functions come in through a table that `executor.py` hands to `@numen_init`. Next:
`pool_ir.py` for `@par` and `@serial`.

The descriptor: HEADER words in the order of the names below, then
    per scalar   slot, 1 for a float or 0 for an int
    per array    slot
    the frame's template, `frame_bytes` of it
    per patch    byte offset in the frame, byte offset in the values (8 * slot), number to add
    per launch   function address, byte offset of its arguments in the frame, chunks
"""

from __future__ import annotations

from numen.runtime.pool_ir import POOL_API, pool_ir

HEADER = (
    "arguments",  # how many objects a call takes
    "values_bytes",  # room for one word per slot and the arena's base; a multiple of ALIGN
    "frame_bytes",  # a multiple of ALIGN
    "arena_bytes",
    "flags",
    "scalars",  # counts
    "arrays",
    "patches",
    "launches",
)
RELEASE_GIL = 1
SERIAL = 2
ALIGN = 64
STACK_BYTES = 4096
"""Plans without an arena whose values and frame fit in this many bytes run without malloc."""

API = (
    *("malloc", "free", *POOL_API),
    *("PyErr_Occurred", "PyErr_Format", "PyErr_NoMemory", "PyFloat_AsDouble", "PyLong_AsLongLong"),
    *("PyEval_SaveThread", "PyEval_RestoreThread", "Py_IncRef"),
    *("object.None", "object.TypeError", "object.float", "object.ndarray"),
)
"""The addresses in the table given to `@numen_init`, in order; the last ones are Python objects."""


def executor_ir(machine: str, object_bytes: int, bytes_header: int) -> str:
    """The module for a `platform.machine()` name.

    object_bytes: size of PyObject's head; its last word is the type, and what a float or an ndarray
    holds first (the value, the data pointer) follows it. bytes_header: where a bytes object's
    content starts.
    """
    text = _RUN
    for placeholder, value in (
        ("TYPE_OFFSET", object_bytes - 8),
        ("FIRST_FIELD", object_bytes),
        ("BYTES_HEADER", bytes_header),
        ("HEADER_WORDS", len(HEADER)),
        ("STACK_BYTES", STACK_BYTES),
        ("ALIGN_MASK", -ALIGN),
        ("ALIGN", ALIGN),
        ("RELEASE_GIL", RELEASE_GIL),
        ("SERIAL", SERIAL),
    ):
        text = text.replace(placeholder, str(value))
    return "\n".join([_api(), _messages(), _header_reads(text), pool_ir(machine)])


def _api() -> str:
    """One global per entry of API, and the function that fills them."""
    cells = [f"@api.{name} = internal global ptr null" for name in API]
    fills = [
        f"  %p{i} = getelementptr ptr, ptr %table, i64 {i}\n"
        f"  %v{i} = load ptr, ptr %p{i}\n"
        f"  store ptr %v{i}, ptr @api.{name}"
        for i, name in enumerate(API)
    ]
    return "\n".join(
        [*cells, "define void @numen_init(ptr %table) nounwind {", *fills, "  ret void\n}"]
    )


def _messages() -> str:
    """The error texts, as C strings for PyErr_Format."""
    return "\n".join(
        f'@text.{name} = internal constant [{len(text) + 1} x i8] c"{text}\\00"'
        for name, text in _MESSAGES.items()
    )


def _header_reads(text: str) -> str:
    """Replace the line READ_HEADER by a load of every header word into a register of its name."""
    reads = [
        f"  %at.{name} = getelementptr i64, ptr %plan, i64 {i}\n"
        f"  %{name} = load i64, ptr %at.{name}"
        for i, name in enumerate(HEADER)
    ]
    return text.replace("READ_HEADER", "\n".join(reads))


_MESSAGES = {
    "count": "plan.run: expected %zd arguments, got %zd objects",
    "array": "plan.run: argument %zd: expected exactly a numpy.ndarray, got a %R",
}

_RUN = """
; PyObject *run(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
define ptr @run(ptr %self, ptr %objects, i64 %given) nounwind {
entry:
  %stack = alloca [STACK_BYTES x i8], align ALIGN
  %plan = getelementptr i8, ptr %self, i64 BYTES_HEADER
READ_HEADER
  %occurred = load ptr, ptr @api.PyErr_Occurred
  %pending = call ptr %occurred()
  %clean = icmp eq ptr %pending, null
  br i1 %clean, label %count, label %refuse
refuse:
  ret ptr null
count:
  %fits = icmp eq i64 %given, %arguments
  br i1 %fits, label %memory, label %wrong.count
wrong.count:
  %format = load ptr, ptr @api.PyErr_Format
  %type.error = load ptr, ptr @api.object.TypeError
  %e0 = call ptr (ptr, ptr, ...) %format(
      ptr %type.error, ptr @text.count, i64 %arguments, i64 %given)
  ret ptr null

memory:
  %local.bytes = add i64 %values_bytes, %frame_bytes
  %small = icmp ule i64 %local.bytes, STACK_BYTES
  %no.arena = icmp eq i64 %arena_bytes, 0
  %on.stack = and i1 %small, %no.arena
  br i1 %on.stack, label %have, label %allocate
allocate:
  %with.arena = add i64 %local.bytes, %arena_bytes
  %heap.bytes = add i64 %with.arena, ALIGN
  %malloc = load ptr, ptr @api.malloc
  %heap.new = call ptr %malloc(i64 %heap.bytes)
  %failed = icmp eq ptr %heap.new, null
  br i1 %failed, label %no.memory, label %align
no.memory:
  %raise.memory = load ptr, ptr @api.PyErr_NoMemory
  %e1 = call ptr %raise.memory()
  ret ptr null
align:
  %raw = ptrtoint ptr %heap.new to i64
  %raw.up = add i64 %raw, 63
  %aligned = and i64 %raw.up, ALIGN_MASK
  %heap.aligned = inttoptr i64 %aligned to ptr
  br label %have
have:
  %heap = phi ptr [null, %memory], [%heap.new, %align]
  %values = phi ptr [%stack, %memory], [%heap.aligned, %align]
  %frame = getelementptr i8, ptr %values, i64 %values_bytes
  %arena = getelementptr i8, ptr %frame, i64 %frame_bytes
  %arena.cell = getelementptr ptr, ptr %values, i64 %arguments
  store ptr %arena, ptr %arena.cell
  %scalar.first = getelementptr i64, ptr %plan, i64 HEADER_WORDS
  %float.type = load ptr, ptr @api.object.float
  br label %scalar

; Scalars before arrays: a scalar's own Python code may run here and move an array's data.
scalar:
  %scalar.left = phi i64 [%scalars, %have], [%scalar.fewer, %scalar.store]
  %scalar.at = phi ptr [%scalar.first, %have], [%scalar.next, %scalar.store]
  %scalar.more = icmp ne i64 %scalar.left, 0
  br i1 %scalar.more, label %scalar.load, label %array.begin
scalar.load:
  %scalar.slot = load i64, ptr %scalar.at
  %scalar.kind.at = getelementptr i64, ptr %scalar.at, i64 1
  %scalar.kind = load i64, ptr %scalar.kind.at
  %scalar.object.at = getelementptr ptr, ptr %objects, i64 %scalar.slot
  %scalar.object = load ptr, ptr %scalar.object.at
  %is.int = icmp eq i64 %scalar.kind, 0
  br i1 %is.int, label %int, label %float
int:
  %as.int = load ptr, ptr @api.PyLong_AsLongLong
  %int.value = call i64 %as.int(ptr %scalar.object)
  %int.suspect = icmp eq i64 %int.value, -1
  br i1 %int.suspect, label %scalar.check, label %scalar.store
float:
  %scalar.type.at = getelementptr i8, ptr %scalar.object, i64 TYPE_OFFSET
  %scalar.type = load ptr, ptr %scalar.type.at
  %is.float = icmp eq ptr %scalar.type, %float.type
  br i1 %is.float, label %float.exact, label %float.convert
float.exact:
  %float.at = getelementptr i8, ptr %scalar.object, i64 FIRST_FIELD
  %float.bits = load i64, ptr %float.at
  br label %scalar.store
float.convert:
  %as.double = load ptr, ptr @api.PyFloat_AsDouble
  %double = call double %as.double(ptr %scalar.object)
  %double.bits = bitcast double %double to i64
  %double.suspect = fcmp oeq double %double, -1.0
  br i1 %double.suspect, label %scalar.check, label %scalar.store
scalar.check:
  %checked = phi i64 [%int.value, %int], [%double.bits, %float.convert]
  %scalar.error = call ptr %occurred()
  %scalar.bad = icmp ne ptr %scalar.error, null
  br i1 %scalar.bad, label %fail, label %scalar.store
scalar.store:
  %scalar.value = phi i64 [%int.value, %int], [%float.bits, %float.exact],
                          [%double.bits, %float.convert], [%checked, %scalar.check]
  %scalar.cell = getelementptr i64, ptr %values, i64 %scalar.slot
  store i64 %scalar.value, ptr %scalar.cell
  %scalar.fewer = sub i64 %scalar.left, 1
  %scalar.next = getelementptr i64, ptr %scalar.at, i64 2
  br label %scalar

array.begin:
  %ndarray = load ptr, ptr @api.object.ndarray
  br label %array
array:
  %array.left = phi i64 [%arrays, %array.begin], [%array.fewer, %array.store]
  %array.at = phi ptr [%scalar.at, %array.begin], [%array.next, %array.store]
  %array.more = icmp ne i64 %array.left, 0
  br i1 %array.more, label %array.load, label %copy.begin
array.load:
  %array.slot = load i64, ptr %array.at
  %array.object.at = getelementptr ptr, ptr %objects, i64 %array.slot
  %array.object = load ptr, ptr %array.object.at
  %array.type.at = getelementptr i8, ptr %array.object, i64 TYPE_OFFSET
  %array.type = load ptr, ptr %array.type.at
  %is.array = icmp eq ptr %array.type, %ndarray
  br i1 %is.array, label %array.store, label %wrong.array
array.store:
  %data.at = getelementptr i8, ptr %array.object, i64 FIRST_FIELD
  %data = load ptr, ptr %data.at
  %array.cell = getelementptr ptr, ptr %values, i64 %array.slot
  store ptr %data, ptr %array.cell
  %array.fewer = sub i64 %array.left, 1
  %array.next = getelementptr i64, ptr %array.at, i64 1
  br label %array
wrong.array:
  %format2 = load ptr, ptr @api.PyErr_Format
  %type.error2 = load ptr, ptr @api.object.TypeError
  %e2 = call ptr (ptr, ptr, ...) %format2(
      ptr %type.error2, ptr @text.array, i64 %array.slot, ptr %array.type)
  br label %fail
fail:
  %fail.heap = icmp ne ptr %heap, null
  br i1 %fail.heap, label %fail.free, label %fail.return
fail.free:
  %free1 = load ptr, ptr @api.free
  call void %free1(ptr %heap)
  br label %fail.return
fail.return:
  ret ptr null

copy.begin:
  %patch.first = getelementptr i8, ptr %array.at, i64 %frame_bytes
  br label %copy
copy:
  %copied = phi i64 [0, %copy.begin], [%copied.next, %copy.step]
  %copy.more = icmp ult i64 %copied, %frame_bytes
  br i1 %copy.more, label %copy.step, label %patch
copy.step:
  %copy.from = getelementptr i8, ptr %array.at, i64 %copied
  %copy.to = getelementptr i8, ptr %frame, i64 %copied
  %line = load <8 x i64>, ptr %copy.from, align 8
  store <8 x i64> %line, ptr %copy.to, align 8
  %copied.next = add i64 %copied, ALIGN
  br label %copy

patch:
  %patch.left = phi i64 [%patches, %copy], [%patch.fewer, %patch.step]
  %patch.at = phi ptr [%patch.first, %copy], [%patch.next, %patch.step]
  %patch.more = icmp ne i64 %patch.left, 0
  br i1 %patch.more, label %patch.step, label %launch.begin
patch.step:
  %patch.where = load i64, ptr %patch.at
  %patch.slot.at = getelementptr i64, ptr %patch.at, i64 1
  %patch.slot = load i64, ptr %patch.slot.at
  %patch.add.at = getelementptr i64, ptr %patch.at, i64 2
  %patch.add = load i64, ptr %patch.add.at
  %patch.from = getelementptr i8, ptr %values, i64 %patch.slot
  %patch.base = load i64, ptr %patch.from
  %patch.value = add i64 %patch.base, %patch.add
  %patch.to = getelementptr i8, ptr %frame, i64 %patch.where
  store i64 %patch.value, ptr %patch.to
  %patch.fewer = sub i64 %patch.left, 1
  %patch.next = getelementptr i64, ptr %patch.at, i64 3
  br label %patch

launch.begin:
  %gil.flag = and i64 %flags, RELEASE_GIL
  %gil.free = icmp ne i64 %gil.flag, 0
  %serial.flag = and i64 %flags, SERIAL
  %in.caller = icmp ne i64 %serial.flag, 0
  br i1 %gil.free, label %gil.release, label %launch
gil.release:
  %save = load ptr, ptr @api.PyEval_SaveThread
  %thread.new = call ptr %save()
  br label %launch
launch:
  %thread = phi ptr [null, %launch.begin], [%thread.new, %gil.release], [%thread, %launch.done]
  %launch.left = phi i64 [%launches, %launch.begin], [%launches, %gil.release],
                         [%launch.fewer, %launch.done]
  %launch.at = phi ptr [%patch.at, %launch.begin], [%patch.at, %gil.release],
                       [%launch.next, %launch.done]
  %launch.more = icmp ne i64 %launch.left, 0
  br i1 %launch.more, label %launch.step, label %finish
launch.step:
  %kernel = load ptr, ptr %launch.at
  %args.at = getelementptr i64, ptr %launch.at, i64 1
  %args.offset = load i64, ptr %args.at
  %args = getelementptr i8, ptr %frame, i64 %args.offset
  %chunks.at = getelementptr i64, ptr %launch.at, i64 2
  %chunks = load i64, ptr %chunks.at
  %single = icmp eq i64 %chunks, 1
  br i1 %single, label %run.one, label %several
run.one:
  call void %kernel(ptr %args, i64 0)
  br label %launch.done
several:
  %none = icmp eq i64 %chunks, 0
  %here = or i1 %none, %in.caller
  br i1 %here, label %run.serial, label %run.par
run.serial:
  call void @serial(ptr %kernel, ptr %args, i64 %chunks)
  br label %launch.done
run.par:
  call void @par(ptr %kernel, ptr %args, i64 %chunks)
  br label %launch.done
launch.done:
  %launch.fewer = sub i64 %launch.left, 1
  %launch.next = getelementptr i64, ptr %launch.at, i64 3
  br label %launch

finish:
  br i1 %gil.free, label %gil.take, label %release
gil.take:
  %restore = load ptr, ptr @api.PyEval_RestoreThread
  call void %restore(ptr %thread)
  br label %release
release:
  %done.heap = icmp ne ptr %heap, null
  br i1 %done.heap, label %done.free, label %done
done.free:
  %free2 = load ptr, ptr @api.free
  call void %free2(ptr %heap)
  br label %done
done:
  %incref = load ptr, ptr @api.Py_IncRef
  %none.object = load ptr, ptr @api.object.None
  call void %incref(ptr %none.object)
  ret ptr %none.object
}
"""
