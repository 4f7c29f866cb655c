"""Samplers: in which order a loader reads samples, and how it groups them into batches.

Random ones depend on a seed and the epoch alone. Next: `loader.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from numen.data.streams import permutation, seed_of
from numen.dispatch.convert import as_array
from numen.errors import describe
from numen.random.stream import Stream


class Sampler:
    """Gives the numbers of samples. Subclasses give `__iter__()`, and `__len__()` if they can."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__} has no __iter__")


class SequentialSampler(Sampler):
    """All samples in order."""

    def __init__(self, data_source: Any) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class _Seeded(Sampler):
    """A random sampler: epoch e has the order of stream e of its seed.

    Attributes
    ----------
    epoch : int
        The epoch that comes next.
    """

    def __init__(self, generator: Any) -> None:
        self.seed = seed_of(generator)
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch comes next."""
        self.epoch = epoch

    def _stream(self) -> Stream:
        self.epoch += 1
        return Stream(self.seed, self.epoch - 1)


class RandomSampler(_Seeded):
    """All samples in random order, or with replacement any.

    Parameters
    ----------
    data_source : sized
        The data set.
    replacement : bool
        Whether a sample may come again.
    num_samples : int, optional
        How many; as many as there are unless said.
    generator : None, int or generator
        Where the seed comes from.

    Raises
    ------
    ValueError
        If num_samples is not positive.

    Examples
    --------
    >>> import numen as nm
    >>> order = list(nm.data.RandomSampler(range(5), generator=0))
    >>> sorted(order)
    [0, 1, 2, 3, 4]
    """

    def __init__(
        self,
        data_source: Any,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Any = None,
    ) -> None:
        super().__init__(generator)
        if num_samples is not None and num_samples <= 0:
            raise ValueError(f"RandomSampler: num_samples must be positive, got {num_samples}")
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples

    @property
    def num_samples(self) -> int:
        """Samples an epoch."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __len__(self) -> int:
        return self.num_samples

    def __iter__(self) -> Iterator[int]:
        stream, n, wanted = self._stream(), len(self.data_source), self.num_samples
        if not n:
            return
        if self.replacement:
            yield from (stream.uniform((wanted,), np.float64)._d * n).astype(np.int64).tolist()
            return
        while wanted > 0:
            order = permutation(stream, n)
            yield from order[:wanted]
            wanted -= n


class SubsetRandomSampler(_Seeded):
    """Some samples in random order."""

    def __init__(self, indices: Sequence[int], generator: Any = None) -> None:
        super().__init__(generator)
        self.indices = indices

    def __iter__(self) -> Iterator[int]:
        for i in permutation(self._stream(), len(self.indices)):
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(_Seeded):
    """Samples with probabilities in proportion to weights.

    Without replacement by Efraimidis and Spirakis (2006): the largest of u ** (1 / w).

    Parameters
    ----------
    weights : array_like, shape (N,)
        Not negative.
    num_samples : int
        How many an epoch.
    replacement : bool
        Whether a sample may come again.
    generator : None, int or generator
        Where the seed comes from.

    Raises
    ------
    ValueError
        If weights or num_samples make no sense.

    Examples
    --------
    >>> import numen as nm
    >>> list(nm.data.WeightedRandomSampler([0.0, 1.0, 0.0], 3, generator=0))
    [1, 1, 1]
    """

    def __init__(
        self, weights: Any, num_samples: int, replacement: bool = True, generator: Any = None
    ) -> None:
        super().__init__(generator)
        values = np.array(as_array(weights)._d, np.float64)
        usable = values.ndim == 1 and np.isfinite(values).all() and (values >= 0).all()
        if not usable or not values.any():
            raise ValueError(
                "WeightedRandomSampler: expected a row of finite weights, none negative and not "
                f"all 0; got {describe(weights)}"
            )
        if num_samples <= 0 or (not replacement and num_samples > np.count_nonzero(values)):
            raise ValueError(
                f"WeightedRandomSampler: can't give {num_samples} samples "
                f"{'with' if replacement else 'without'} replacement from "
                f"{np.count_nonzero(values)} of positive weight"
            )
        self.weights = values
        self.num_samples = num_samples
        self.replacement = replacement

    def __iter__(self) -> Iterator[int]:
        stream = self._stream()
        if self.replacement:
            ends = np.cumsum(self.weights)
            places = stream.uniform((self.num_samples,), np.float64)._d * ends[-1]
            yield from np.searchsorted(ends, places, side="right").tolist()
            return
        u = 1.0 - stream.uniform((self.weights.size,), np.float64)._d  # in (0, 1]
        keys = np.full(u.shape, -np.inf)
        np.divide(np.log(u), self.weights, out=keys, where=self.weights > 0)
        yield from np.argsort(-keys, kind="stable")[: self.num_samples].tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler):
    """Groups a sampler's numbers into lists.

    Parameters
    ----------
    sampler : iterable of int
        The order.
    batch_size : int
        Numbers a list.
    drop_last : bool
        Whether a last, smaller list is left out.

    Raises
    ------
    ValueError
        If batch_size is not positive.

    Examples
    --------
    >>> import numen as nm
    >>> list(nm.data.BatchSampler(range(5), batch_size=2, drop_last=False))
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool) -> None:
        if not isinstance(batch_size, int) or batch_size <= 0:
            raise ValueError(f"BatchSampler: batch_size must be a positive int, got {batch_size}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def set_epoch(self, epoch: int) -> None:
        """Tell the sampler which epoch comes next."""
        if hasattr(self.sampler, "set_epoch"):
            self.sampler.set_epoch(epoch)

    def __iter__(self) -> Iterator[list[int]]:
        batch: list[int] = []
        for i in self.sampler:
            batch.append(i)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch

    def __len__(self) -> int:
        n: int = len(self.sampler)  # type: ignore[arg-type]
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)
