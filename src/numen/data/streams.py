"""Random numbers of the data pipeline: seeds, permutations, and a stream of its own for each
batch.

All are keyed by the loader's seed, the epoch and the place in it, so they are the same with any
number of workers; orders come from Philox. Used by `samplers.py`, `datasets.py` and `fetching.py`.
"""

from __future__ import annotations

import contextlib
import hashlib
import random
import struct
from collections.abc import Iterator
from operator import index
from typing import Any

import numpy as np

from numen.errors import describe
from numen.random import default_stream
from numen.random.stream import Stream


def seed_of(generator: Any) -> int:
    """A seed of 64 bits from what users pass as generator: None, an int, or a generator of NumPy's
    or ours, from which it is drawn. None draws from the default stream, which `manual_seed`
    restarts.

    Raises
    ------
    TypeError
        For anything else.
    """
    if generator is None:
        generator = default_stream
    if isinstance(generator, Stream):
        return int(generator.bits((1,), np.uint64)._d[0])
    if hasattr(generator, "integers"):
        return int(generator.integers(1 << 63))
    try:
        return index(generator) % (1 << 64)
    except TypeError:
        raise TypeError(
            f"expected None, an int or a random generator, got {describe(generator)}"
        ) from None


def permutation(stream: Stream, n: int) -> list[int]:
    """The numbers below n in random order."""
    order: list[int] = np.argsort(stream.bits((n,), np.uint64)._d, kind="stable").tolist()
    return order


def batch_seed(seed: int, epoch: int, lane: int, batch: int) -> bytes:
    """What seeds the samples of a batch: 16 bytes that name its place among all of the loader's.

    Parameters
    ----------
    seed, epoch : int
        The loader's.
    lane : int
        Which of several rows of batches: the worker's number for iterable data sets, else 0.
    batch : int
        Number of the batch.
    """
    place = struct.pack("<QQQQ", seed, epoch, lane, batch)
    return hashlib.blake2b(place, digest_size=16).digest()


def seed_everything(drawn: bytes) -> None:
    """Seed the global generators of Python, NumPy and numen for a batch."""
    low, high = struct.unpack("<QQ", drawn)
    random.seed(low)
    np.random.seed(np.frombuffer(drawn, np.uint32))
    default_stream.seed, default_stream.stream, default_stream.position = low, high, 0


@contextlib.contextmanager
def untouched() -> Iterator[None]:
    """Put the global generators back to where they were before the block."""
    theirs = random.getstate(), np.random.get_state()
    ours = default_stream.seed, default_stream.stream, default_stream.position
    try:
        yield
    finally:
        random.setstate(theirs[0])
        np.random.set_state(theirs[1])
        default_stream.seed, default_stream.stream, default_stream.position = ours
