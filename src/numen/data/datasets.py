"""Data sets: samples by number, or one after another; and parts, joins and splits of them.

A data set by number has `__getitem__` and `__len__`; any sequence is one. Next: `samplers.py`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from math import floor
from operator import index
from typing import Any

import numpy as np

from numen.data.streams import permutation, seed_of
from numen.dispatch.convert import as_array
from numen.errors import IndexRangeError, ShapeError, describe
from numen.random.stream import Stream


class Dataset:
    """Samples by number. Subclasses give `__getitem__(i)` and `__len__()`.

    Examples
    --------
    >>> import numen as nm
    >>> class Squares(nm.data.Dataset):
    ...     def __len__(self):
    ...         return 4
    ...     def __getitem__(self, i):
    ...         return i * i
    >>> [batch.tolist() for batch in nm.data.DataLoader(Squares(), batch_size=3)]
    [[0, 1, 4], [9]]
    """

    def __getitem__(self, i: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no __getitem__")

    def __add__(self, other: Any) -> ConcatDataset:
        return ConcatDataset([self, other])


class IterableDataset(Dataset):
    """Samples one after another. Subclasses give `__iter__()`.

    Each worker of a loader iterates over a copy: `get_worker_info()` tells which part is its own.
    """

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__} has no __iter__")

    def __add__(self, other: Any) -> Any:
        return ChainDataset([self, other])


class ArrayDataset(Dataset):
    """Rows of arrays: sample i is the tuple of their i-th elements.

    Parameters
    ----------
    *arrays : array_like
        Of one length.

    Raises
    ------
    ShapeError
        If lengths differ, or there is nothing to count.

    Examples
    --------
    >>> import numen as nm
    >>> data = nm.data.ArrayDataset(nm.arange(6).reshape(3, 2), nm.arange(3))
    >>> len(data), data[1]
    (3, (array([2, 3]), np.int64(1)))
    """

    def __init__(self, *arrays: Any) -> None:
        self.arrays = tuple([as_array(a) for a in arrays])
        if not self.arrays or any([not a.ndim for a in self.arrays]):
            raise ShapeError(
                "ArrayDataset: expected arrays with at least one axis, got "
                f"{describe(*self.arrays) or 'none'}"
            )
        if len({a.shape[0] for a in self.arrays}) > 1:
            raise ShapeError(
                f"ArrayDataset: expected arrays of one length, got {describe(*self.arrays)}"
            )

    def __getitem__(self, i: Any) -> Any:
        return tuple([a[i] for a in self.arrays])

    def __len__(self) -> int:
        return int(self.arrays[0].shape[0])

    def take(self, rows: Any) -> Any:
        """The samples of some rows as one batch."""
        return tuple([a[rows] for a in self.arrays])


TensorDataset = ArrayDataset
"""PyTorch's name."""


class Subset(Dataset):
    """Some samples of a data set.

    Parameters
    ----------
    dataset : Dataset
        By number.
    indices : sequence of int
        Which ones, in order.
    """

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, i: Any) -> Any:
        return self.dataset[self.indices[i]]

    def __len__(self) -> int:
        return len(self.indices)


class ConcatDataset(Dataset):
    """Data sets by number, one after another.

    Raises
    ------
    ValueError
        If there is none.
    TypeError
        If one is iterable only.
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise ValueError("ConcatDataset: expected at least one data set, got none")
        for d in self.datasets:
            if isinstance(d, IterableDataset):
                raise TypeError(f"ConcatDataset: {type(d).__name__} has no numbers to join by")
        self.cumulative_sizes = list(accumulate([len(d) for d in self.datasets]))

    def __getitem__(self, i: Any) -> Any:
        size, i = len(self), index(i)
        if not -size <= i < size:
            raise IndexRangeError(f"ConcatDataset: index {i} is out of bounds for {size} samples")
        i %= size
        part = bisect_right(self.cumulative_sizes, i)
        before = self.cumulative_sizes[part - 1] if part else 0
        return self.datasets[part][i - before]

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]


class ChainDataset(IterableDataset):
    """Iterable data sets, one after another."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)

    def __iter__(self) -> Iterator[Any]:
        for dataset in self.datasets:
            yield from dataset


def random_split(dataset: Any, lengths: Sequence[float], generator: Any = None) -> list[Subset]:
    """Split a data set at random.

    Parameters
    ----------
    dataset : Dataset
        By number.
    lengths : sequence of int, or of float
        Sizes that add up to the data set's, or shares that add up to 1: each is rounded down, and
        what is left goes to the first parts, one each.
    generator : None, int or generator
        Where the order comes from.

    Raises
    ------
    ValueError
        If the lengths do not add up.

    Examples
    --------
    >>> import numen as nm
    >>> [len(part) for part in nm.data.random_split(range(10), [0.75, 0.25], generator=0)]
    [8, 2]
    """
    total = len(dataset)
    sizes = [int(n) for n in lengths]
    if abs(sum(lengths) - 1.0) < 1e-9 and total != 1:
        sizes = [floor(total * share) for share in lengths]
        for i in range(total - sum(sizes)):
            sizes[i % len(sizes)] += 1
    if sum(sizes) != total or any([n < 0 for n in sizes]):
        raise ValueError(
            f"random_split: expected sizes that add up to {total}, or shares that add up to 1; got "
            f"{list(lengths)}"
        )
    order = permutation(Stream(seed_of(generator)), total)
    ends = list(accumulate(sizes))
    return [Subset(dataset, order[end - n : end]) for n, end in zip(sizes, ends, strict=True)]


def taker(dataset: Any) -> Callable[[Any], Any] | None:
    """How to read a whole batch at once, where a data set can: from rows of arrays."""
    if isinstance(dataset, ArrayDataset):
        plain = type(dataset).__getitem__ is ArrayDataset.__getitem__
        return (lambda rows: dataset.take(np.asarray(rows))) if plain else None
    if type(dataset) is Subset:
        inner = taker(dataset.dataset)
        if inner is not None:
            return lambda rows: inner([dataset.indices[i] for i in rows])
    return None
