"""The arena: offsets of buffers whose lives do not overlap share memory.

`native.py` takes and gives back in the order of the steps; best fit, offsets aligned to cache
lines.
"""

from __future__ import annotations

ALIGN = 64


class Arena:
    """Hands out parts of one block of memory; `size` is how large it must be."""

    def __init__(self) -> None:
        self.size = 0
        self._taken: dict[int, int] = {}
        self._free: list[tuple[int, int]] = []  # (offset, size), in order, not adjacent

    def take(self, size: int) -> int:
        """Return the offset of `size` bytes that are free."""
        size = max(-(-size // ALIGN), 1) * ALIGN
        fits = [(length, offset) for offset, length in self._free if length >= size]
        if fits:
            length, offset = min(fits)
            self._free.remove((offset, length))
            if length > size:
                self._insert(offset + size, length - size)
        elif self._free and sum(self._free[-1]) == self.size:
            offset, _ = self._free.pop()  # the hole at the end grows
            self.size = offset + size
        else:
            offset = self.size
            self.size += size
        self._taken[offset] = size
        return offset

    def give(self, offset: int) -> None:
        """Free what `take` returned."""
        self._insert(offset, self._taken.pop(offset))

    def _insert(self, offset: int, size: int) -> None:
        self._free.append((offset, size))
        self._free.sort()
        merged: list[tuple[int, int]] = []
        for start, length in self._free:
            if merged and sum(merged[-1]) == start:
                merged[-1] = (merged[-1][0], merged[-1][1] + length)
            else:
                merged.append((start, length))
        self._free = merged
