"""Segments: memory that a worker fills and the main process reads, one for each batch under way.

A segment is an anonymous file in memory: it has no name that could be left behind, and the kernel
frees it with the last process that holds it. Batches go through it as pickles whose arrays lie
beside them, so they are copied once on each side. Used by `workers.py`.
"""

from __future__ import annotations

import mmap
import os
import pickle
import tempfile
from multiprocessing import reduction
from typing import Any

import numpy as np

ALIGNMENT = 64
LEAST = 1 << 16


class Segment:
    """A piece of shared memory that grows as needed.

    Made before the worker starts: a forked one inherits it, for others it is passed on.
    """

    def __init__(self, descriptor: int | None = None) -> None:
        self._descriptor = _new_file() if descriptor is None else descriptor
        self._map: mmap.mmap | None = None

    def __reduce__(self) -> Any:
        return _from_duplicate, (reduction.DupFd(self._descriptor),)

    def write(self, value: Any) -> list[int]:
        """Put an object in; the sizes of its parts, which `read` needs."""
        buffers: list[pickle.PickleBuffer] = []
        text = pickle.dumps(value, 5, buffer_callback=buffers.append)
        parts = [memoryview(text), *[b.raw() for b in buffers]]
        sizes = [part.nbytes for part in parts]
        memory = self._mapped(sum(map(_padded, sizes)), grow=True)
        at = 0
        for part, size in zip(parts, sizes, strict=True):
            memory[at : at + size] = part
            at += _padded(size)
        return sizes

    def read(self, sizes: list[int]) -> Any:
        """Take the object out; its arrays have memory of their own."""
        memory = memoryview(self._mapped(sum(map(_padded, sizes)), grow=False))
        try:
            buffers: list[Any] = []
            at = _padded(sizes[0])
            for size in sizes[1:]:
                own = np.empty(size, np.uint8)
                own.data[:] = memory[at : at + size]
                buffers.append(own)
                at += _padded(size)
            return pickle.loads(memory[: sizes[0]], buffers=buffers)
        finally:
            memory.release()

    def _mapped(self, size: int, grow: bool) -> mmap.mmap:
        if self._map is None or len(self._map) < size:
            if self._map is not None:
                self._map.close()
                self._map = None
            room = max(LEAST, 1 << (size - 1).bit_length())
            if grow and os.fstat(self._descriptor).st_size < room:
                os.ftruncate(self._descriptor, room)
            self._map = mmap.mmap(self._descriptor, room)
        return self._map

    def close(self) -> None:
        """Let go of the memory."""
        if self._map is not None:
            self._map.close()
            self._map = None
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _padded(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def _new_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("numen-batch")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def _from_duplicate(duplicate: Any) -> Segment:
    return Segment(duplicate.detach())
