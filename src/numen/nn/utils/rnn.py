"""Sequences of different lengths in one array: padded, or packed without padding.

A packed batch holds, time after time, the elements of the sequences that are so long. Recurrent
layers take it; what stood in the padding has no part in anything. Used by `nn/recurrent.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from numen.dispatch import core, modes
from numen.dispatch.convert import as_array
from numen.dispatch.core import ArrayCore
from numen.errors import ShapeError, describe
from numen.namespace import concatenate, full, stack
from numen.namespace.devices import on_host

__all__ = ["PackedSequence", "pack_padded_sequence", "pad_packed_sequence", "pad_sequence"]
__all__ += ["pack_sequence", "unpack_sequence", "unpad_sequence"]


class PackedSequence(NamedTuple):
    """A batch of sequences, longest first, without padding.

    Attributes
    ----------
    data : Array, shape (sum of lengths, ...)
        All elements of the first time, then of the second ...
    batch_sizes : tuple of int
        How many sequences have an element at each time. Python numbers, so that a trace knows them.
    sorted_indices, unsorted_indices : tuple of int or None
        Which sequence of the user's order comes in each place, and back.
    """

    data: Any
    batch_sizes: tuple[int, ...]
    sorted_indices: tuple[int, ...] | None = None
    unsorted_indices: tuple[int, ...] | None = None

    def lengths(self) -> list[int]:
        """The sequences' lengths, longest first."""
        sizes = np.asarray(self.batch_sizes)
        count = self.batch_sizes[0] if self.batch_sizes else 0
        return [int((sizes > i).sum()) for i in range(count)]

    def places(self) -> tuple[Any, Any]:
        """Time and sequence of each element of `data`."""
        times = [np.full(n, t, np.int64) for t, n in enumerate(self.batch_sizes)]
        places = [np.arange(n, dtype=np.int64) for n in self.batch_sizes]
        return np.concatenate(times), np.concatenate(places)


def _lengths(lengths: Any, op: str) -> list[int]:
    """Lengths as Python numbers; a trace that computes them is not compiled."""
    if isinstance(lengths, ArrayCore):
        if modes.ACTIVE and modes.state.recorder is not None:
            modes.state.recorder.refuse(f"{op}, whose lengths are an Array's values. Hint: a list")
        lengths = on_host(lengths)
    data = np.asarray(lengths)
    if data.ndim != 1 or (data.dtype.kind not in "iu" and data.size):
        raise ShapeError(f"{op}: expected a length for each sequence, got {describe(lengths)}")
    return [int(n) for n in data.tolist()]


def pack_padded_sequence(
    input: Any, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Pack a padded batch.

    Parameters
    ----------
    input : array_like, shape (T, B, ...), with `batch_first` (B, T, ...)
        Anything may stand behind the end of a sequence.
    lengths : sequence of int
        Of the B sequences, each at least 1.
    enforce_sorted : bool
        Whether they come longest first; if not, they are sorted here and the layers' results come
        back in this order.

    Raises
    ------
    ShapeError
        If there is not a length for each sequence.
    ValueError
        If a length is out of range, or they are not in order.

    Examples
    --------
    >>> import numen as nm
    >>> from numen.nn.utils.rnn import pack_padded_sequence
    >>> pack_padded_sequence(nm.array([[1, 4], [2, 0], [3, 0]]), [3, 1]).data.tolist()
    [1, 4, 2, 3]
    """
    x = as_array(input)
    x = x.swapaxes(0, 1) if batch_first else x
    sizes = _lengths(lengths, "pack_padded_sequence")
    if x.ndim < 2 or len(sizes) != x.shape[1]:
        raise ShapeError(
            f"pack_padded_sequence: expected a length for each sequence of a batch, got "
            f"{len(sizes)} for {describe(x)}"
        )
    for i, n in enumerate(sizes):
        if not 1 <= n <= x.shape[0]:
            raise ValueError(
                f"pack_padded_sequence: expected 1 <= length <= {x.shape[0]}, got {n} for "
                f"sequence {i}"
            )
    order = sorted(range(len(sizes)), key=lambda i: -sizes[i])
    if enforce_sorted:
        if sizes != sorted(sizes, reverse=True):
            raise ValueError(
                f"pack_padded_sequence: expected the longest sequence first, got lengths {sizes}. "
                "Hint: enforce_sorted=False"
            )
        order = list(range(len(sizes)))
    ranks = np.array([sizes[i] for i in order])
    batch_sizes = tuple([int((ranks > t).sum()) for t in range(max(sizes, default=0))])
    packed = PackedSequence(None, batch_sizes)
    times, places = packed.places()
    data = x[constant(times), constant(np.asarray(order)[places])]
    if enforce_sorted:
        return PackedSequence(data, batch_sizes)
    back = np.argsort(order).tolist()
    return PackedSequence(data, batch_sizes, tuple(order), tuple(back))


def constant(data: Any) -> Any:
    """An index array that a trace takes as it is."""
    return core.new_constant(np.asarray(data))


def unpacked(packed: PackedSequence, fill: float = 0.0, steps: int | None = None) -> Any:
    """The batch (T, B, ...) in packed order, `fill` where the sequences have ended."""
    data = packed.data
    steps = len(packed.batch_sizes) if steps is None else steps
    index = np.full((steps, packed.batch_sizes[0]), data.shape[0], np.int64)
    index[packed.places()] = np.arange(data.shape[0])
    filling = full((1, *data.shape[1:]), fill, dtype=data.dtype)
    return concatenate([data, filling], axis=0)[constant(index)]


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Any, Any]:
    """The padded batch and the lengths of a packed one, in the user's order.

    Returns
    -------
    padded : Array, shape (T, B, ...), with `batch_first` (B, T, ...)
        T is `total_length`, or the longest sequence's.
    lengths : Array of int64, shape (B,)

    Raises
    ------
    ValueError
        If `total_length` is less than the longest sequence.
    """
    steps = len(sequence.batch_sizes)
    if total_length is not None and total_length < steps:
        raise ValueError(
            f"pad_packed_sequence: total_length {total_length} is less than the longest sequence, "
            f"{steps}"
        )
    padded = unpacked(sequence, padding_value, total_length)
    lengths = np.asarray(sequence.lengths(), np.int64)
    if sequence.unsorted_indices is not None:
        order = np.asarray(sequence.unsorted_indices)
        padded, lengths = padded[:, constant(order)], lengths[order]
    return padded.swapaxes(0, 1) if batch_first else padded, constant(lengths)


def pad_sequence(
    sequences: Sequence[Any],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Any:
    """Arrays of different lengths as one padded batch.

    Parameters
    ----------
    sequences : sequence of array_like, shapes (L, ...)
        The same but for the first axis.
    padding_side : {"right", "left"}

    Returns
    -------
    Array, shape (T, B, ...), with `batch_first` (B, T, ...)

    Raises
    ------
    ShapeError
        If the shapes do not fit.

    Examples
    --------
    >>> import numen as nm
    >>> from numen.nn.utils.rnn import pad_sequence
    >>> pad_sequence([nm.array([1, 2]), nm.array([3])], batch_first=True).tolist()
    [[1, 2], [3, 0]]
    """
    arrays = [as_array(s) for s in sequences]
    if padding_side not in ("right", "left"):
        raise ValueError(f"pad_sequence: expected 'right' or 'left', got {padding_side!r}")
    if not arrays or any([a.ndim < 1 or a.shape[1:] != arrays[0].shape[1:] for a in arrays]):
        raise ShapeError(
            f"pad_sequence: expected sequences of shape (L, ...), got {describe(*arrays)}"
        )
    steps = max(len(a) for a in arrays)
    padded = []
    for a in arrays:
        if len(a) < steps:
            missing = (steps - len(a), *a.shape[1:])
            filling = full(missing, padding_value, dtype=a.dtype)
            ends = [a, filling] if padding_side == "right" else [filling, a]
            a = concatenate(ends, axis=0)
        padded.append(a)
    return stack(padded, axis=0 if batch_first else 1)


def unpad_sequence(padded: Any, lengths: Any, batch_first: bool = False) -> list[Any]:
    """The sequences of a padded batch, each of its length."""
    x = as_array(padded)
    x = x if batch_first else x.swapaxes(0, 1)
    sizes = _lengths(lengths, "unpad_sequence")
    if len(sizes) != len(x):
        raise ShapeError(
            f"unpad_sequence: expected a length for each sequence, got {len(sizes)} for "
            f"{describe(x)}"
        )
    return [x[i, :n] for i, n in enumerate(sizes)]


def pack_sequence(sequences: Sequence[Any], enforce_sorted: bool = True) -> PackedSequence:
    """Pack arrays of different lengths.

    Raises
    ------
    ValueError
        If they do not come longest first, with `enforce_sorted`.
    """
    lengths = [len(s) for s in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Any]:
    """The sequences of a packed batch, in the user's order."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, on_host(lengths).tolist(), batch_first=True)
