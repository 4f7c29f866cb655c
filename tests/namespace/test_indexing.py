"""Indexing of every kind by the same source text, at random, and with gradients."""

import random

import numpy as np
import pytest
from exact_source import check

import numen as nm
from numen.dispatch.core import SCALAR

TEXTS = r"""
np.arange(10)[2]
np.arange(10)[-11]
np.arange(10)[np.int8(2)]
np.arange(10)[np.array(2)]
np.arange(6).reshape(2, 3)[np.array(1)]
np.arange(6).reshape(2, 3)[np.arange(3)[1]]
np.arange(10)[np.arange(5)[2]:np.array(7)]
np.arange(10)[np.int64(2):]
np.arange(10)[1:2.5]
np.arange(10)[::0]
np.arange(10)[1.0]
np.arange(10)["a"]
np.arange(10)[None, ..., None]
np.arange(10)[..., ...]
np.arange(10)[1, 2]
np.arange(10)[[1, 2], [3, 4]]
np.arange(10)[[]]
np.arange(10)[[[]]]
np.arange(10)[()]
np.arange(10)[...]
np.arange(10)[..., 3]
np.arange(10)[True]
np.arange(10)[np.True_]
np.arange(10)[np.array(False)]
np.arange(10)[[True] * 10]
np.arange(3)[[True] * 4]
np.arange(12).reshape(3, 4)[np.array([True, False, True, True])]
np.arange(12).reshape(3, 4)[:, np.array([True, False, True, True])]
np.arange(12).reshape(3, 4)[np.array([[True] * 4] * 3)]
np.arange(12).reshape(3, 4)[np.array([True, False, True]), 1]
np.arange(12).reshape(3, 4)[np.array([True, False, True]), [1, 2, 3]]
np.arange(12).reshape(3, 4)[[0, 1], [0, 1, 2]]
np.arange(12).reshape(3, 4)[5, 0]
np.arange(12).reshape(3, 4)[:, 7]
np.arange(12).reshape(3, 4)[[5]]
np.arange(12).reshape(3, 4)[1, 2, 3]
np.arange(24).reshape(2, 3, 4)[[0, 1], :, [1, 2]]
np.arange(24).reshape(2, 3, 4)[:, [0, 1], [1, 2]]
np.arange(24).reshape(2, 3, 4)[0, :, [1, 2]]
np.arange(24).reshape(2, 3, 4)[0, ..., [1, 2], None]
np.arange(24).reshape(2, 3, 4)[[[0], [1]], [[0, 1]], 1:3]
np.arange(24).reshape(2, 3, 4)[..., ::-1][0, 0]
np.arange(3)[(1,)]
np.arange(3)[(np.array([1]),)]
np.arange(9).reshape(3, 3)[((0, 1), (1, 2))]
np.arange(5)[range(2)]
np.arange(5)[np.array([1.0])]
np.arange(5)[np.array([1], dtype=object)]
np.arange(5)[np.array([1], np.uint64)]
np.arange(5)[[np.arange(5)[1], np.arange(5)[2]]]
np.zeros((0, 3))[0]
np.zeros((0, 3))[[]]
np.zeros((0, 3))[:, 1]
np.zeros(0)[np.zeros(0, bool)]
np.arange(3.0)[1][()]
np.arange(3.0)[1][...]
np.arange(3.0)[1][None]
np.arange(3.0)[1][0]
np.array(3.0)[()]
np.array(3.0)[...]
np.array(3.0)[0]
np.array(["a", "b"])[1]
np.array(["a", "b"])[[1, 0]]
np.array([None, [1], 3], dtype=object)[1]
np.array([None, [1], 3], dtype=object)[1:]
np.array([None, [1], 3], dtype=object)[[2, 0]]
np.array(["2020-01-01"], dtype="M8[D]")[0]
np.array(["2020-01-01", "2021-01-01"], dtype="M8[D]")[::-1]
np.array([(1, 2.0), (3, 4.0)], dtype=[("a", int), ("b", float)])["a"]
np.array([(1, 2.0), (3, 4.0)], dtype=[("a", int), ("b", float)])["b"][1]
np.array([(1, 2.0), (3, 4.0)], dtype=[("a", int), ("b", float)])[["b", "a"]].dtype.names
np.array([(1, 2.0), (3, 4.0)], dtype=[("a", int), ("b", float)])[1].tolist()
np.array([(1, 2.0), (3, 4.0)], dtype=[("a", int), ("b", float)])["c"]
np.array([(1, 2.0), (3, 4.0)], dtype=[("a", int), ("b", float)])[1:]["a"]
x = np.zeros(2, [("a", int), ("b", float)]); x["a"] = [5, 6]; r = x["a"]
x = np.zeros(2, [("a", int), ("b", float)]); x["a"][1] = 6; r = x["a"]
x = np.zeros(2, [("a", int), ("b", float)]); x["b"] += 1.5; r = x["b"]
x = np.zeros(2, [("a", int), ("b", float)]); x[0] = (3, 4.5); r = x["b"]
x = np.zeros(2, [("a", int), ("b", float)]); x[:] = [(1, 2), (3, 4)]; r = x["a"]
x = np.zeros(2, [("a", int), ("b", float)]); x[0]["a"] = 9; r = x["a"]
x = np.zeros(2, [("a", int), ("b", float)]); y = x["a"]; x[1] = (7, 1); r = y
x = np.zeros(2, [("a", int), ("b", float)]); x[["a", "b"]] = x[["a", "b"]]; r = x["a"]
x = np.empty(3, object); x[0] = [1, 2]; x[1] = "s"; x[2] = np.arange(2); r = [x[0], x[1]]
x = np.empty(3, object); x[:] = [[1], [2], [3]]; r = list(x)
x = np.empty(2, object); x[:] = [1, 2, 3]; r = x
x = np.zeros(3, "U2"); x[1] = "abc"; r = x
x = np.zeros(2, "M8[D]"); x[0] = "2020-02-02"; r = x
x = np.zeros(2, "M8[D]"); x[0] = 1.5; r = x
x = np.arange(5); x[1] = 9; r = x
x = np.arange(5); x[1:3] = [7, 8]; r = x
x = np.arange(5); x[1:3] = [7, 8, 9]; r = x
x = np.arange(5); x[::-2] = 0; r = x
x = np.arange(5); x[::-1] = x; r = x
x = np.arange(5); x[1:] = x[:-1]; r = x
x = np.arange(5); x[[0, 1, 1]] = [5, 6, 7]; r = x
x = np.arange(5); x[[0, 1]] += 10; r = x
x = np.arange(5); x[[0, 0]] += 10; r = x
x = np.arange(5); x[x > 2] = 0; r = x
x = np.arange(5); x[x > 2] = [8, 9]; r = x
x = np.arange(5); x[x > 2] = [8, 9, 10]; r = x
x = np.arange(5); x[x > 2] *= 2; r = x
x = np.arange(5); x[np.array([True, False])] = 1; r = x
x = np.arange(5); x[...] = 3; r = x
x = np.arange(5); x[()] = 3; r = x
x = np.arange(5); x[..., 1] = 3; r = x
x = np.arange(5); x[7] = 3; r = x
x = np.arange(5); x[[7]] = 3; r = x
x = np.arange(5); x[0] = [1, 2]; r = x
x = np.arange(5); x[0] = "7"; r = x
x = np.arange(5); x[0] = "a"; r = x
x = np.arange(5); x[0] = 2.9; r = x
x = np.arange(5); x[0] = 1j; r = x
x = np.arange(5); x[0] = None; r = x
x = np.arange(5.0); x[0] = None; r = x
x = np.arange(5, dtype=np.int8); x[0] = 300; r = x
x = np.arange(5, dtype=np.uint8); x[0] = np.int64(300); r = x
x = np.arange(5.0); x[0] = np.array([2.5]); r = x
x = np.arange(6).reshape(2, 3); x[0] = [[1, 2, 3]]; r = x
x = np.arange(6).reshape(2, 3); x[:, 1] = [7, 8]; r = x
x = np.arange(6).reshape(2, 3); x[:, [0, 2]] = [[7], [8]]; r = x
x = np.arange(6).reshape(2, 3); x[[True, False]] = 5; r = x
x = np.arange(6).reshape(2, 3); x[[0, 1], [1, 2]] = [7, 8]; r = x
x = np.arange(6).reshape(2, 3); x[1, np.array([True, False, True])] = [7, 8]; r = x
x = np.arange(6).reshape(2, 3); x[None] = 1; r = x
x = np.arange(6).reshape(2, 3); x[0, 0] += 5; r = x
x = np.arange(6).reshape(2, 3); x[0] += 5; r = x
x = np.arange(6).reshape(2, 3); x[0][1] = 50; r = x
x = np.arange(6).reshape(2, 3); x[[0]][0] = 50; r = x
x = np.arange(6).reshape(2, 3); x.T[0] = 50; r = x
x = np.zeros(3); x[np.arange(3)[1]] = 4; r = x
x = np.zeros(3); x[0] = np.arange(3.0)[2]; r = x
x = np.zeros(3); x[:] = [np.arange(3.0)[2], 1, np.array(5)]; r = x
x = np.arange(3.0)[1]; x[()] = 3; r = x
x = np.array(1.0); x[...] = 3; r = x
x = np.array(1.0); x[()] = 3; r = x
x = np.arange(3); del x[0]
x = np.broadcast_to(np.arange(3), (2, 3)); x[0] = 1
x = np.zeros((0, 3)); x[:] = 5; r = x
x = np.zeros((0, 3)); x[[]] = 5; r = x
x = np.zeros((2, 3)); x[:] = np.ones((1, 1, 2, 3)); r = x
x = np.zeros((2, 3)); x[:] = np.ones((2, 2, 3)); r = x
2 in np.arange(3)
5 in np.arange(3)
[1] in np.arange(3)
np.nan in np.array([np.nan])
"a" in np.array(["a", "b"])
list(np.arange(3))
list(np.array(["a", "b"]))
list(np.arange(6).reshape(2, 3))
list(np.array(1))
list(np.array([None, 1], dtype=object))
a, b = np.arange(2); r = (a, b)
""".strip().splitlines()


@pytest.mark.parametrize("text", TEXTS)
def test_numpy_does_the_same(text):
    check(text, words=True)


# ------------------------------------------------------------ random indices

SHAPES = [(3,), (0,), (3, 4), (2, 2), (2, 3, 4), (4, 1, 3)]


def position(rng, n):
    return rng.randint(-max(n, 1), max(n - 1, 0))


def random_slice(rng, n):
    ends = [rng.choice([None, rng.randint(-n - 2, n + 2)]) for _ in range(2)]
    return slice(*ends, rng.choice([None, 1, 2, -1, -2]))


def random_array(rng, n):
    shape = rng.choice([(2,), (3,), (2, 1), (0,), (1,), ()])
    return np.array([position(rng, n) for _ in range(int(np.prod(shape)))], int).reshape(shape)


def random_mask(rng, n):
    return np.array([rng.random() < 0.5 for _ in range(n)], bool)


def random_entry(rng, n):
    make = rng.choice(
        [
            position,
            random_slice,
            random_slice,
            random_array,
            random_array,
            random_mask,
            lambda rng, n: None,
            lambda rng, n: Ellipsis,
            lambda rng, n: rng.choice([True, False, np.True_]),
            lambda rng, n: np.int64(position(rng, n)),
            lambda rng, n: [position(rng, n), position(rng, n)],
        ]
    )
    return make(rng, n)


def random_key(rng, shape):
    """An index; it fits the shape more often than not."""
    count = rng.randint(0, len(shape) + 1)
    extents = [
        rng.choice(shape) if rng.random() < 0.15 else shape[min(i, len(shape) - 1)]
        for i in range(count)
    ]
    key = tuple(random_entry(rng, n) for n in extents)
    return key[0] if len(key) == 1 and rng.random() < 0.7 else key


def with_arrays(rng, key):
    """The key as it is, or with Arrays in it."""
    if rng.random() < 0.5:
        return key
    entries = key if isinstance(key, tuple) else (key,)
    changed = tuple(nm.array(e) if isinstance(e, np.ndarray) else e for e in entries)
    return changed if isinstance(key, tuple) else changed[0]


def attempt(function):
    try:
        return function()
    except Exception as error:
        return error


def same_error(found, expected, key):
    assert isinstance(found, type(expected)), f"{key}: {found!r} for {expected!r}"
    assert str(expected) in str(found), f"{key}: {found!r} for {expected!r}"


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_random_indices(seed, grad):
    rng = random.Random(seed)
    for _ in range(150):
        shape = rng.choice(SHAPES)
        a = np.arange(float(np.prod(shape))).reshape(shape)
        leaf = nm.array(a, requires_grad=grad)
        x = leaf * 1.0 if grad else leaf
        key = random_key(rng, shape)
        expected = attempt(lambda a=a, key=key: a[key])
        found = attempt(lambda x=x, key=key: x[with_arrays(rng, key)])
        if isinstance(expected, Exception):
            same_error(found, expected, key)
            continue
        assert isinstance(found, nm.Array), f"{key}: {found!r}"
        assert (found._v is SCALAR) == isinstance(expected, np.generic), key
        np.testing.assert_array_equal(found._d, expected, strict=True, err_msg=repr(key))
        if isinstance(expected, np.ndarray) and expected.size:
            assert (found.base is x) == np.shares_memory(expected, a), key
        if grad:
            weights = np.arange(1.0, found.size + 1).reshape(found.shape)
            want = np.zeros(shape)
            np.add.at(want, key, weights)
            (found * nm.array(weights)).sum().backward()
            assert leaf.grad.tolist() == want.tolist(), key


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_random_assignments(seed, grad):
    rng = random.Random(seed)
    for _ in range(150):
        shape = rng.choice(SHAPES)
        a = np.arange(float(np.prod(shape))).reshape(shape)
        key = random_key(rng, shape)
        picked = attempt(lambda a=a, key=key: np.shape(a[key]))
        if isinstance(picked, Exception):
            picked = (2,)
        size = rng.choice([picked, picked[-1:], (), (7,)])
        value = np.arange(100.0, 100.0 + np.prod(size)).reshape(size)
        theirs = a.copy()
        expected = attempt(lambda t=theirs, key=key, value=value: t.__setitem__(key, value))
        leaf, given = nm.array(a, requires_grad=grad), nm.array(value, requires_grad=grad)
        x = leaf * 1.0 if grad else leaf
        found = attempt(lambda x=x, key=key, g=given: x.__setitem__(with_arrays(rng, key), g))
        if isinstance(expected, Exception):
            same_error(found, expected, key)
            continue
        assert found is None, f"{key}: {found!r}"
        np.testing.assert_array_equal(x._d, theirs, err_msg=repr(key))
        if grad:
            overwritten(key, shape, size, leaf, given, x)


def overwritten(key, shape, size, leaf, given, x):
    """Overwritten elements have gradient 0, the values that of the elements they went to."""
    weights = np.arange(1.0, x.size + 1).reshape(shape)
    (x * nm.array(weights)).sum().backward()
    source = np.full(shape, -1)
    source[key] = np.arange(np.prod(size, dtype=int)).reshape(size)
    assert leaf.grad.tolist() == np.where(source < 0, weights, 0.0).tolist(), key
    want = np.zeros(np.prod(size, dtype=int))
    np.add.at(want, source[source >= 0], weights[source >= 0])
    found = np.zeros(size) if given.grad is None else given.grad.numpy()
    assert found.tolist() == want.reshape(size).tolist(), key


# ------------------------------------------------------------ what texts can't say


def test_views_know_their_base_and_writes_reach_it():
    x = nm.arange(12.0).reshape(3, 4)
    for view in (x[1], x[1:, ::2], x[..., 0], x[None], x[1, ..., 2], x[nm.arange(3)[1]]):
        assert view.base is x.base and np.shares_memory(view._d, x._d)
    records = nm.zeros(2, [("a", int), ("b", float)])
    assert records["a"].base is records
    records["b"][1] = 4
    assert records.tolist() == [(0, 0.0), (0, 4.0)]


def test_a_write_through_numpy_indexing_is_noticed_by_the_backward_pass():
    x = nm.array([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 1.0
    z = (y * y).sum()
    with nm.no_grad():
        y[[0, 1]] = 5.0
    with pytest.raises(RuntimeError, match="backward"):
        z.backward()


def test_object_elements_are_returned_as_they_are():
    inner = np.arange(3)
    x = nm.empty(2, object)
    x[0], x[1] = inner, {"k": 1}
    assert x[0] is inner and x[1] == {"k": 1}
    assert isinstance(x[:1], nm.Array) and isinstance(x[[0]], nm.Array)


def test_scalars_index_as_ints_also_with_gradients():
    x = nm.array([[1.0, 2.0], [3.0, 4.0]], requires_grad=True) * 1.0
    row = x[nm.arange(2)[1]]
    row += 1
    assert x.tolist() == [[1.0, 2.0], [4.0, 5.0]]


def test_a_traced_scalar_picks_rows_and_elements():
    def f(x, i):
        y = x[i]
        y += 1
        x[i, 0] = 7.0
        return x * 1.0, x[i, i]

    g = nm.jit(f)
    for i in (0, 1, 1, 0):
        position = nm.arange(2)[i]
        x, z = nm.array([[1.0, 2.0], [3.0, 4.0]]), nm.array([[1.0, 2.0], [3.0, 4.0]])
        got, want = g(x, position), f(z, position)
        assert [r.tolist() for r in got] == [r.tolist() for r in want]
        assert x.tolist() == z.tolist()


def test_lists_of_traced_positions_are_followed():
    f = nm.jit(lambda x, i: x[[i[0], i[1]]])
    x = nm.arange(5.0)
    for i in range(3):
        assert f(x, nm.array([i, i + 1])).tolist() == [i, i + 1]
