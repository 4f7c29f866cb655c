"""Data sets, samplers and joining samples."""

import collections

import numpy as np
import pytest

import numen as nm
from numen import data
from numen.errors import DTypeError, IndexRangeError, ShapeError


def test_rows_of_arrays():
    rows = data.ArrayDataset(np.arange(12).reshape(4, 3), [0.5, 1.5, 2.5, 3.5])
    x, y = rows[2]
    assert len(rows) == 4
    assert (x.tolist(), y) == ([6, 7, 8], 2.5)
    assert isinstance(x, nm.ndarray)
    assert data.TensorDataset is data.ArrayDataset
    for bad in ([], [np.zeros(3), np.zeros(4)], [3.0]):
        with pytest.raises(ShapeError, match="ArrayDataset"):
            data.ArrayDataset(*bad)


def test_parts_and_joins():
    a, b = data.ArrayDataset(nm.arange(3)), data.ArrayDataset(nm.arange(10, 14))
    both = a + b
    assert [int(both[i][0]) for i in range(7)] == [0, 1, 2, 10, 11, 12, 13]
    assert int(both[-1][0]) == 13
    for i in (7, -8):
        with pytest.raises(IndexRangeError, match="7 samples"):
            both[i]
    part = data.Subset(both, [5, 0])
    assert [int(part[i][0]) for i in range(len(part))] == [12, 0]
    with pytest.raises(ValueError, match="none"):
        data.ConcatDataset([])
    with pytest.raises(TypeError, match="Iterable"):
        data.ConcatDataset([data.IterableDataset()])


def test_splits():
    parts = data.random_split(range(10), [3, 7], generator=1)
    assert sorted(i for part in parts for i in part) == list(range(10))
    assert [list(p) for p in data.random_split(range(10), [3, 7], generator=1)] == [
        list(p) for p in parts
    ]
    assert [len(p) for p in data.random_split(range(11), [0.5, 0.3, 0.2])] == [6, 3, 2]
    for bad in ([3, 6], [11, -1], [0.5, 0.4]):
        with pytest.raises(ValueError, match="add up"):
            data.random_split(range(10), bad)


def test_a_data_set_without_its_methods_says_so():
    with pytest.raises(NotImplementedError, match="Dataset has no __getitem__"):
        data.Dataset()[0]
    with pytest.raises(NotImplementedError, match="__iter__"):
        iter(data.IterableDataset())


# ------------------------------------------------------------ samplers


def test_random_orders_depend_on_seed_and_epoch():
    a, b = data.RandomSampler(range(50), generator=3), data.RandomSampler(range(50), generator=3)
    first, second = list(a), list(a)
    assert sorted(first) == list(range(50))
    assert first != second
    assert [list(b), list(b)] == [first, second]
    b.set_epoch(0)
    assert list(b) == first
    assert list(data.RandomSampler(range(50), generator=4)) != first
    nm.manual_seed(0)
    fresh = list(data.RandomSampler(range(50)))
    nm.manual_seed(0)
    assert list(data.RandomSampler(range(50))) == fresh
    assert list(data.RandomSampler([])) == []
    long = list(data.RandomSampler(range(4), num_samples=10, generator=0))
    assert len(long) == 10
    assert sorted(long[:4]) == sorted(long[4:8]) == [0, 1, 2, 3]


def test_generators_of_all_kinds_give_a_seed():
    for make in (nm.random.default_rng, np.random.default_rng, nm.random.Stream):
        orders = [list(data.RandomSampler(range(30), generator=make(5))) for _ in range(2)]
        assert orders[0] == orders[1]
    with pytest.raises(TypeError, match="generator"):
        data.RandomSampler(range(3), generator="no")


def test_replacement_and_weights():
    counts = collections.Counter(data.RandomSampler(range(4), True, 4000, generator=0))
    assert all(abs(counts[i] - 1000) < 120 for i in range(4))
    counts = collections.Counter(data.WeightedRandomSampler([1, 0, 3], 4000, generator=0))
    assert counts[1] == 0
    assert abs(counts[2] - 3000) < 120
    firsts = collections.Counter()
    sampler = data.WeightedRandomSampler([1, 0, 3], 2, replacement=False, generator=0)
    for _ in range(2000):
        picks = list(sampler)
        assert sorted(picks) == [0, 2]
        firsts[picks[0]] += 1
    assert abs(firsts[2] - 1500) < 90
    for bad in ([], [-1, 2], [0, 0], [np.nan, 1], [[1]]):
        with pytest.raises(ValueError, match="weights"):
            data.WeightedRandomSampler(bad, 2)
    with pytest.raises(ValueError, match="without replacement"):
        data.WeightedRandomSampler([1, 0, 3], 3, replacement=False)


def test_subsets_and_batches():
    assert sorted(data.SubsetRandomSampler([5, 7, 9], generator=0)) == [5, 7, 9]
    batches = data.BatchSampler(data.SequentialSampler(range(7)), 3, False)
    assert list(batches) == [[0, 1, 2], [3, 4, 5], [6]]
    assert len(batches) == 3
    whole = data.BatchSampler(range(7), 3, drop_last=True)
    assert list(whole) == [[0, 1, 2], [3, 4, 5]]
    assert len(whole) == 2
    with pytest.raises(ValueError, match="batch_size"):
        data.BatchSampler(range(3), 0, False)


# ------------------------------------------------------------ joining


def test_joining_keeps_structure():
    Point = collections.namedtuple("Point", "x y")
    samples = [
        {"a": nm.array([i, 2.0]), "b": [i, "t"], "p": Point(np.float32(i), True)} for i in range(2)
    ]
    joined = data.default_collate(samples)
    assert joined["a"].tolist() == [[0, 2], [1, 2]]
    assert joined["b"][0].tolist() == [0, 1]
    assert joined["b"][1] == ["t", "t"]
    assert joined["p"].x.dtype == np.float32
    assert joined["p"].y.dtype == np.bool_
    assert data.default_collate([1.5, 2.5]).dtype == np.float64
    assert data.default_collate([b"x"]) == [b"x"]


def test_what_cannot_be_joined_is_named():
    with pytest.raises(ShapeError, match=r"sample 1 is a float64 array of shape \(3,\)"):
        data.default_collate([np.zeros(2), np.zeros(3)])
    with pytest.raises(ShapeError, match="parts"):
        data.default_collate([(1, 2), (1,)])
    with pytest.raises(DTypeError, match="collate_fn"):
        data.default_collate([object()])
    with pytest.raises(ShapeError, match="none"):
        data.default_collate([])
