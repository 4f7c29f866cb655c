"""Set functions against NumPy; recorded forms give gradients to where the values came from."""

import numpy as np
import pytest
from recorded_forms import check
from same_source import compare

import numen as nm

A = np.array([3.5, 1.0, 3.5, -2.0, 0.5])
B = np.array([1.0, 7.0, 0.5, 7.0])
GRID = np.array([[1.0, 2.0], [0.0, 5.0], [1.0, 2.0]])

PLAIN = [
    "np.unique([3, 1, 3])",
    "np.unique([3, 1, 3], return_index=True, return_inverse=True, return_counts=True)",
    "np.unique([3, 1, 3], return_counts=True)", "np.unique(np.array([np.nan, 1, np.nan]))",
    "np.unique(np.array([np.nan, np.nan]), equal_nan=False)",
    "np.unique(np.array([[1, 2], [1, 2]]), axis=0)",
    "np.unique(np.array([[1, 2], [1, 2]]), axis=1, return_inverse=True)", "np.unique([], axis=3)",
    "np.unique(np.array(['b', 'a', 'b'])).tolist()", "np.unique(np.array([2, 1, 2], object))",
    "np.unique(np.array([1j, 1]))", "np.unique(np.array([[3, 1], [3, 2]]), return_inverse=True)[1]",
    "np.unique_all([3, 1, 3]).counts", "np.unique_counts([3, 1, 3]).values",
    "np.unique_inverse([3, 1, 3]).inverse_indices", "np.sort(np.unique_values([3, 1, 3]))",
    "np.isin([1, 2, 3], [3, 1])", "np.isin(np.arange(4).reshape(2, 2), [1], invert=True)",
    "np.isin([1, 2], [2], kind='sort')", "np.isin([1, 2], [2], kind='no such')",
    "np.intersect1d([1, 3, 4], [3, 1, 7])",
    "np.intersect1d([1, 3, 3], [3, 1, 7], return_indices=True)",
    "np.intersect1d([1, 3], [3, 1], assume_unique=True)", "np.union1d([1, 3], [3, 2.5])",
    "np.setdiff1d([1, 3, 4, 1], [3, 7])", "np.setdiff1d([4, 3, 1], [3], assume_unique=True)",
    "np.setxor1d([1, 3, 4], [3, 7])", "np.setxor1d([], [])",
    "np.setxor1d([1, 3], [3, 7], assume_unique=True)", "np.union1d(['b'], ['a']).tolist()",
]  # fmt: skip


@pytest.mark.parametrize("text", PLAIN)
@pytest.mark.parametrize("engine", ["auto", "kernels"])
def test_values_and_errors_are_numpys(text, engine):
    with nm.config(engine=engine):
        compare(text)


@pytest.mark.parametrize(
    "options",
    [{}, {"return_index": True, "return_counts": True}, {"return_inverse": True}],
    ids=str,
)
def test_unique(options):
    check(lambda np, a: np.unique(a, **options), B[:3])
    check(lambda np, a: np.unique(a, **options), A, gradient=False)
    check(lambda np, a: np.unique(a, axis=0, **options), GRID, gradient=False)


def test_the_first_of_equal_values_has_the_gradient():
    x = nm.array(A, requires_grad=True)
    (nm.unique(x) * nm.array([1.0, 2.0, 3.0, 4.0])).sum().backward()
    assert x.grad.tolist() == [4.0, 3.0, 0.0, 1.0, 2.0]
    y = nm.array(GRID, requires_grad=True)
    nm.unique(y, axis=0)[1, 1].backward()
    assert y.grad.tolist() == [[0.0, 1.0], [0.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize("name", ["unique_all", "unique_counts", "unique_inverse"])
def test_named_results(name):
    expected = getattr(np, name)(A)
    found = getattr(nm, name)(nm.array(A, requires_grad=True))
    assert type(found) is type(expected)
    for f, e in zip(found, expected, strict=True):
        np.testing.assert_array_equal(f.detach().numpy(), e)
    assert found.values.requires_grad
    values = nm.unique_values(nm.array(A, requires_grad=True))
    assert sorted(values.tolist()) == sorted(np.unique_values(A).tolist())


@pytest.mark.parametrize("name", ["intersect1d", "union1d", "setdiff1d", "setxor1d"])
def test_operations(name):
    check(lambda np, a, b: getattr(np, name)(a, b), A, B, gradient=False)
    x, y = nm.array(A, requires_grad=True), nm.array(B, requires_grad=True)
    found = getattr(nm, name)(x, y)
    found.sum().backward()
    from_first = {"intersect1d": 2, "union1d": 4, "setdiff1d": 2, "setxor1d": 2}[name]
    assert float(x.grad.sum()) == from_first
    assert found.size == from_first + (0 if y.grad is None else float(y.grad.sum()))


def test_operations_on_unique_arrays():
    a, b = np.array([4.0, 1.0, 3.0]), np.array([3.0, 7.0])
    check(lambda np, a, b: np.setdiff1d(a, b, assume_unique=True), a, b, gradient=False)
    check(lambda np, a, b: np.setxor1d(a, b, assume_unique=True), a, b, gradient=False)
    check(lambda np, a, b: np.intersect1d(a, b, True, True), a, b, gradient=False)


def test_traced_sets_run_eagerly_and_are_right():
    def f(x):
        return nm.unique(x * 2).sum() + nm.union1d(x, x + 1).sum()

    x = nm.array(A)
    compiled = nm.jit(f)
    for _ in range(2):
        assert compiled(x).item() == f(x).item()
