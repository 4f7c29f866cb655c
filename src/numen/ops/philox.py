"""Philox4x32-10: a counter-based random function, bit-exact on every target.

`philox` maps a 128-bit counter and a 64-bit key to 128 random bits (Salmon, Moraes, Dror, Shaw:
"Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011). `words` is the stream of 32-bit words that
one (seed, stream) pair names. Called by `stream.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

ROUNDS = 10
MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
WEYL = (0x9E3779B9, 0xBB67AE85)
MASK = 0xFFFFFFFF
CHUNK = 1 << 14
"""Blocks computed at once: their temporaries stay in the cache."""

Words = np.ndarray[Any, np.dtype[np.uint64]]


def philox(counter: tuple[Words, Words, Words, Words], key: tuple[int, int]) -> Words:
    """Encrypt counters.

    Parameters
    ----------
    counter : four arrays of uint64, shape (n,)
        32-bit words, least significant first.
    key : two ints
        32-bit words.

    Returns
    -------
    array of uint64, shape (n, 4)
        Four 32-bit words a counter.

    Examples
    --------
    >>> zero = np.zeros(1, np.uint64)
    >>> [hex(w) for w in philox((zero, zero, zero, zero), (0, 0))[0].tolist()]
    ['0x6627e8d5', '0xe169c58d', '0xbc57ac4c', '0x9b00dbd8']
    """
    mask, half = np.uint64(MASK), np.uint64(32)
    m0, m1 = np.uint64(MULTIPLIERS[0]), np.uint64(MULTIPLIERS[1])
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(ROUNDS):
        p0, p1 = c0 * m0, c2 * m1
        c0 = (p1 >> half) ^ c1 ^ np.uint64(k0)
        c2 = (p0 >> half) ^ c3 ^ np.uint64(k1)
        c1, c3 = p1 & mask, p0 & mask
        k0, k1 = (k0 + WEYL[0]) & MASK, (k1 + WEYL[1]) & MASK
    return np.stack([c0, c1, c2, c3], axis=1)


def words(seed: int, stream: int, start: int, count: int) -> np.ndarray[Any, np.dtype[np.uint32]]:
    """Words start .. start + count - 1 of the stream.

    Word i is word i % 4 of the block whose counter is (i // 4, stream) and whose key is the seed.
    """
    first, last = start // 4, -(-(start + count) // 4)
    out = np.empty(((last - first) * 4,), np.uint32)
    key = (seed & MASK, seed >> 32 & MASK)
    for at in range(first, last, CHUNK):
        block = np.arange(at, min(at + CHUNK, last), dtype=np.uint64)
        high = np.full_like(block, stream >> 32 & MASK)
        low = np.full_like(block, stream & MASK)
        counter = (block & np.uint64(MASK), block >> np.uint64(32), low, high)
        offset = (at - first) * 4
        out[offset : offset + 4 * block.size] = philox(counter, key).reshape(-1)
    skip = start - 4 * first
    return out[skip : skip + count]
