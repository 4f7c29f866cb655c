"""Stream: random arrays from Philox, keyed by (seed, stream number, element index).

Layers draw their initial weights from the default stream, which `manual_seed` restarts. Element i
of a stream is the same whatever the shapes it was drawn in. The words come from `ops/philox.py`;
NumPy's generators are in `generator.py`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from operator import index
from typing import Any

import numpy as np

from numen.dispatch import core, modes
from numen.errors import DTypeError
from numen.ops.philox import words
from numen.tracing.snapshot import follow
from numen.transforms import draws

BITS: dict[Any, int] = {np.dtype(np.uint32): 1, np.dtype(np.uint64): 2}
FLOATS: dict[Any, int] = {np.dtype(np.float32): 1, np.dtype(np.float64): 2}
"""How many 32-bit words an element takes."""

LIMIT = 1 << 64


class Stream:
    """A reproducible sequence of random numbers.

    Parameters
    ----------
    seed : int
        Names a family of streams; taken modulo 2**64.
    stream : int
        Which of the family's 2**64 independent streams.

    Attributes
    ----------
    position : int
        Words of 32 bits drawn so far; set it to go back or ahead.

    Examples
    --------
    >>> import numen as nm
    >>> whole = nm.random.Stream(7).uniform((6,))
    >>> parts = nm.random.Stream(7)
    >>> nm.concatenate([parts.uniform((2,)), parts.uniform((4,))]).tolist() == whole.tolist()
    True
    """

    def __init__(self, seed: int, stream: int = 0) -> None:
        self.seed = index(seed) % LIMIT
        self.stream = index(stream) % LIMIT
        self.position = 0
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"Stream(seed={self.seed}, stream={self.stream}, position={self.position})"

    def __reduce__(self) -> Any:
        return _restored, (self.seed, self.stream, self.position)

    def bits(self, shape: Any, dtype: Any = np.uint32) -> Any:
        """Uniform integers over the whole range of uint32 or uint64.

        Raises
        ------
        DTypeError
            If dtype is another one.
        """
        target = _checked(dtype, BITS, "bits")
        drawn = self._draw(shape, BITS[target])
        return _made(_wide(drawn) if BITS[target] == 2 else drawn[..., 0])

    def uniform(
        self, shape: Any, dtype: Any = np.float32, low: float = 0.0, high: float = 1.0
    ) -> Any:
        """Uniform numbers in [low, high): 24 random bits in float32, 53 in float64.

        Raises
        ------
        DTypeError
            If dtype is neither float32 nor float64.
        """
        target = _checked(dtype, FLOATS, "uniform")
        unit = _unit(self._draw(shape, FLOATS[target]), target)
        if (low, high) != (0.0, 1.0):
            unit *= target.type(high) - target.type(low)
            unit += target.type(low)
        return _made(unit)

    def normal(
        self, shape: Any, dtype: Any = np.float32, mean: float = 0.0, std: float = 1.0
    ) -> Any:
        """Normal numbers (Box and Muller's cosine branch, evaluated in float64).

        Raises
        ------
        DTypeError
            If dtype is neither float32 nor float64.
        """
        target = _checked(dtype, FLOATS, "normal")
        width = FLOATS[target]
        drawn = self._draw(shape, 2 * width)
        if width == 1:
            radius = (drawn[..., 0] + 1.0) * 2.0**-32  # in (0, 1]: its logarithm is finite
            angle = drawn[..., 1] * 2.0**-32
        else:
            radius = 1.0 - _unit(drawn[..., :2], np.dtype(np.float64))
            angle = _unit(drawn[..., 2:], np.dtype(np.float64))
        value = np.sqrt(-2.0 * np.log(radius)) * np.cos(2.0 * np.pi * angle)
        return _made((value * std + mean).astype(target))

    def _draw(self, shape: Any, width: int) -> Any:
        """The next elements' words: uint32 of shape (*shape, width)."""
        sizes = tuple(map(index, shape)) if isinstance(shape, (tuple, list)) else (index(shape),)
        count = width
        for n in sizes:
            count *= n
        with self._lock:
            start = self.position
            self.position = start + count
        return words(self.seed, self.stream, start, count).reshape((*sizes, width))


follow(Stream)


def _restored(seed: int, stream: int, position: int) -> Stream:
    restored = Stream(seed, stream)
    restored.position = position
    return restored


def _checked(dtype: Any, allowed: dict[Any, int], op: str) -> np.dtype[Any]:
    target: np.dtype[Any] = np.dtype(dtype)
    if target not in allowed:
        raise DTypeError(f"{op}: expected one of {[d.name for d in allowed]}, got {target}")
    return target


def _unit(drawn: Any, dtype: np.dtype[Any]) -> Any:
    """Words of shape (..., width) as floats in [0, 1)."""
    if dtype == np.float32:
        return (drawn[..., 0] >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24)
    return (_wide(drawn) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _wide(drawn: Any) -> Any:
    """Pairs of words as uint64, the first one low."""
    return drawn[..., 0] | drawn[..., 1].astype(np.uint64) << np.uint64(32)


def _made(data: Any) -> Any:
    """An Array of drawn values; a trace that sees one is not compiled, as the next call draws
    others."""
    result = core.ARRAY(np.asarray(data, order="C"))
    recorder = modes.state.recorder if modes.ACTIVE else None
    if recorder is not None:
        recorder.leave(result, "a random draw")
    return result


default_stream = Stream(int.from_bytes(os.urandom(8), "little"))
"""What layers draw their initial weights from; another in each process until `manual_seed`."""


def _state() -> tuple[int, int]:
    return default_stream.seed, default_stream.position


def _restore(state: tuple[int, int]) -> None:
    default_stream.seed, default_stream.position = state


draws.states.append(draws.RandomState(_state, _state, _restore))

restarts: list[Callable[[int], None]] = []
"""What `manual_seed` calls with the seed: streams that layers draw from when they run."""


def manual_seed(seed: int) -> Stream:
    """Restart the default stream, so that layers made from here on get the same weights in every
    run, and what dropout draws from.

    Examples
    --------
    >>> import numen as nm
    >>> _ = nm.manual_seed(0); first = nm.nn.Linear(2, 3).weight.tolist()
    >>> _ = nm.manual_seed(0); nm.nn.Linear(2, 3).weight.tolist() == first
    True
    """
    default_stream.seed = index(seed) % LIMIT
    default_stream.position = 0
    for restart in restarts:
        restart(default_stream.seed)
    return default_stream
