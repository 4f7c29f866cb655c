"""A `Plan`: a list of kernel launches with their argument blocks, carried out by one native call.

The compiler builds plans once per key and calls `plan.run(*objects)` per run; arguments are plain
ndarrays, floats and ints. A plan is data only: checked and packed here into the words that
`executor_ir.py` describes and reads.
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable, Sequence
from typing import Literal

from numen.runtime import executor
from numen.runtime.executor_ir import ALIGN, HEADER, RELEASE_GIL, SERIAL

Slot = Literal["array", "float", "int"]
"""What an argument is: an ndarray (its data pointer), a float (its bits) or an int."""

_WORD = 8
_INT64 = range(-(2**63), 2**63)
_MAX_BYTES = 2**46
"""Of an arena: more than any machine holds, and sums of sizes stay far from overflow."""


class Plan:
    """Launches to be run in order on the objects of one call.

    Parameters
    ----------
    slots : sequence of {"array", "float", "int"}
        What each object of a call is. Slot number `len(slots)` stands for the arena's base.
    frame : bytes
        Template of the argument blocks, copied anew for every call; a multiple of 8 bytes.
    patches : sequence of (frame_offset, slot, byte_offset)
        The words of the frame that depend on the call: frame[frame_offset] = value of slot +
        byte_offset. The value is an array's data pointer, the arena's base, a float's bits or an
        int; byte_offset is 0 for scalars.
    launches : sequence of (function_address, frame_offset, chunks)
        Each runs `function(frame + frame_offset, chunk)` for the chunks 0 .. chunks - 1, in the
        thread pool if there are several and the pool is free.
    arena_bytes : int
        Memory that one call's launches share, 64-byte aligned, uninitialised, freed when the call
        ends.
    release_gil : bool
        Whether other Python threads run during the launches; pays above some 5 us of work.
    serial : bool
        Whether all chunks run in the calling thread.

    Attributes
    ----------
    run : builtin function
        `run(*objects)` carries out the plan and returns None. Any number of threads may call it. It
        raises TypeError if the number or a type of the objects is wrong (an array must be exactly a
        numpy.ndarray), OverflowError if an int has more than 64 bits, MemoryError; nothing is
        launched then. Dtypes, shapes and strides are the caller's affair: they are not looked at.

    Raises
    ------
    ValueError
        If an offset, slot, size or chunk count is out of range.
    CompileError
        If this platform has no native code.
    """

    __slots__ = (
        *("slots", "frame", "patches", "launches", "arena_bytes", "release_gil", "serial"),
        *("run", "__weakref__"),
    )

    def __init__(
        self,
        slots: Sequence[Slot],
        frame: bytes,
        patches: Sequence[tuple[int, int, int]],
        launches: Sequence[tuple[int, int, int]],
        arena_bytes: int = 0,
        release_gil: bool = False,
        serial: bool = False,
    ) -> None:
        self.slots = tuple(slots)
        self.frame = bytes(frame)
        self.patches = tuple(_ints(patch, "patch") for patch in patches)
        self.launches = tuple(_ints(launch, "launch") for launch in launches)
        self.arena_bytes = operator.index(arena_bytes)
        self.release_gil = bool(release_gil)
        self.serial = bool(serial)
        _check(self)
        self.run: Callable[..., None] = executor.bind(_pack(self))

    def __repr__(self) -> str:
        return (
            f"Plan(slots={self.slots}, frame of {len(self.frame)} bytes, "
            f"{len(self.patches)} patches, {len(self.launches)} launches, "
            f"arena of {self.arena_bytes} bytes)"
        )


def execute(plan: Plan, *objects: object) -> None:
    """Carry out `plan`; the same as `plan.run(*objects)`, which is the faster way to say it."""
    plan.run(*objects)


def _ints(entry: Sequence[int], what: str) -> tuple[int, int, int]:
    if len(entry) != 3:
        raise ValueError(f"Plan: a {what} is three integers, got {entry!r}")
    first, second, third = (operator.index(number) for number in entry)
    return first, second, third


def _check(plan: Plan) -> None:
    """Refuse whatever could make the native code touch memory outside the call's own."""
    unknown = set(plan.slots) - {"array", "float", "int"}
    if unknown:
        raise ValueError(f"Plan: slots are 'array', 'float' or 'int', not {unknown}")
    if len(plan.frame) % _WORD:
        raise ValueError(f"Plan: a frame of {len(plan.frame)} bytes is no multiple of {_WORD}")
    if not 0 <= plan.arena_bytes <= _MAX_BYTES:
        raise ValueError(f"Plan: arena_bytes is {plan.arena_bytes}, expected 0 to {_MAX_BYTES}")
    for patch in plan.patches:
        _check_patch(plan, *patch)
    for address, offset, chunks in plan.launches:
        # A kernel without arguments may stand at the frame's end.
        inside = 0 <= offset <= len(plan.frame) and offset % _WORD == 0
        if not (0 < address < 2**63 and inside and 0 <= chunks < 2**62):
            raise ValueError(
                f"Plan: launch {(address, offset, chunks)} has no address, lies outside the frame "
                f"of {len(plan.frame)} bytes, or has a chunk count out of range"
            )


def _check_patch(plan: Plan, offset: int, slot: int, byte_offset: int) -> None:
    words = range(0, len(plan.frame), _WORD)
    if offset not in words or not 0 <= slot <= len(plan.slots) or byte_offset not in _INT64:
        raise ValueError(
            f"Plan: patch {(offset, slot, byte_offset)} does not fit a frame of "
            f"{len(plan.frame)} bytes and {len(plan.slots)} slots"
        )
    if slot < len(plan.slots) and plan.slots[slot] != "array" and byte_offset:
        raise ValueError(f"Plan: patch {(offset, slot, byte_offset)} adds bytes to a scalar")


def _pack(plan: Plan) -> bytes:
    """The descriptor, laid out as `executor_ir.py` says."""
    count = len(plan.slots)
    scalars = [(i, int(kind == "float")) for i, kind in enumerate(plan.slots) if kind != "array"]
    arrays = [i for i, kind in enumerate(plan.slots) if kind == "array"]
    frame = plan.frame + bytes(-len(plan.frame) % ALIGN)
    values_bytes = _WORD * (count + 1)
    header = {
        "arguments": count,
        "values_bytes": values_bytes + -values_bytes % ALIGN,
        "frame_bytes": len(frame),
        "arena_bytes": plan.arena_bytes,
        "flags": RELEASE_GIL * plan.release_gil + SERIAL * plan.serial,
        "scalars": len(scalars),
        "arrays": len(arrays),
        "patches": len(plan.patches),
        "launches": len(plan.launches),
    }
    before = [header[name] for name in HEADER]
    before += [word for scalar in scalars for word in scalar]
    before += arrays
    after = [word for offset, slot, add in plan.patches for word in (offset, _WORD * slot, add)]
    after += [word for launch in plan.launches for word in launch]
    return _words(before) + frame + _words(after)


def _words(numbers: Sequence[int]) -> bytes:
    return struct.pack(f"={len(numbers)}q", *numbers)
