"""Sorting, partitions and searching against NumPy; recorded forms with gradient; in place."""

import numpy as np
import pytest
from recorded_forms import check
from same_source import compare

import numen as nm
from numen.errors import LeafWriteError

RNG = np.random.default_rng(5)
A = RNG.permutation(np.arange(24) * 0.25 - 2.1).reshape(2, 3, 4)

PLAIN = [
    "np.sort([3, 1, 2])", "np.sort(np.array([3, np.nan, -np.inf, 1]))",
    "np.sort(np.array([[3, 1], [2, 5]]), axis=None)",
    "np.sort(np.array([[3, 1], [2, 5]]), axis=0, kind='stable')", "np.sort(np.ones(2), axis=1)",
    "np.sort(5)", "np.sort([2, 1], kind='no such')",
    "np.sort([2, 1], kind='heapsort', stable=True)",
    "np.sort(np.array([2, 1], np.int8), stable=True)", "np.sort([True, False])",
    "np.sort(np.array([1+2j, 1+1j, 0]))", "np.sort(np.array(['b', 'a']))",
    "np.sort(np.array([2, 1, 3], object))", "np.sort([])", "np.argsort([3, 1, 2])",
    "np.argsort(np.array([1, 0, 1, 0]), stable=True)",
    "np.argsort(np.array([np.nan, 1]), kind='stable')",
    "np.argsort(np.array([[3, 1], [2, 5]]), axis=None)", "np.sort_complex([2, 1j, 1])",
    "np.lexsort(([1, 1, 0], [0, 1, 0]))", "np.lexsort(np.array([[3, 1, 2]]))",
    "np.partition([7, 1, 5, 3], 1)",
    "np.partition(np.array([[7, 1, 5], [3, 9, 2]]), [0, 1], axis=1)", "np.partition([1, 2], 2)",
    "np.partition(np.arange(6)[::-1], -1, axis=None)", "np.partition([3, 2, 1], 1.5)",
    "np.argpartition([7, 1, 5, 3], 0)[0]",
    "np.argpartition(np.array([[7, 1, 5], [3, 9, 2]]), 1, axis=0)", "np.searchsorted([1, 3, 5], 3)",
    "np.searchsorted([1, 3, 5], [0, 3, 9], side='right')",
    "np.searchsorted([5, 1, 3], 2, sorter=[1, 2, 0])", "np.searchsorted([1, 2], 1, side='middle')",
    "np.searchsorted(np.ones((2, 2)), 1)", "np.digitize([0.2, 6.4], [0, 1, 2.5])",
    "np.digitize([0.2, 1.0], [2.5, 1, 0], right=True)", "np.digitize([1], [1, 0, 2])",
    "np.array([1, 3, 5]).searchsorted([2, 6])", "np.array([3, 1, 2]).argsort()",
    "np.array([3, 1, 2]).argpartition(1)[1]", "x = np.array([3, 1, 2]); x.sort(); r = x",
    "x = np.array([[3, 1], [2, 5]]); x.sort(axis=0); r = x",
    "x = np.arange(6)[::-1][::2]; x.sort(); r = x",
    "x = np.arange(12).reshape(3, 4)[:, ::-1].T; y = x[1:, ::2]; y.sort(0); r = x",
    "x = np.array(['b', 'a']); x.sort(); r = x.tolist()",
    "x = np.array([7, 1, 5, 3]); x.partition(1); r = x", "x = np.ones(2); x.partition(3)",
    "x = np.array([2, 1]); x.flags.writeable = False; x.sort()",
    "x = np.array([2., 1]); x.sort(kind='stable'); r = x",
    "x = np.array([2., 1]); x.sort(stable=True); r = x", "x = np.array(1.); x.sort()",
    "x = np.array([3., 1, 2]); y = x[1:]; y.sort(); x[0] = 9; r = x, y",
]  # fmt: skip


@pytest.mark.parametrize("text", PLAIN)
@pytest.mark.parametrize("engine", ["auto", "kernels"])
def test_values_errors_and_writes_are_numpys(text, engine):
    with nm.config(engine=engine):
        compare(text)


def test_records_are_ordered_by_their_fields():
    a = np.array([(2, 1.0), (1, 3.0), (2, 0.5)], [("a", int), ("b", float)])
    for order in ("a", "b", ["a", "b"], ["b", "a"]):
        assert np.array_equal(nm.sort(nm.asarray(a), order=order).numpy(), np.sort(a, order=order))
        assert np.array_equal(
            nm.argsort(nm.asarray(a), order=order).numpy(), np.argsort(a, order=order)
        )
        x, y = nm.asarray(a.copy()), a.copy()
        x.sort(order=order)
        y.sort(order=order)
        assert np.array_equal(x.numpy(), y)
        x.partition(1, order=order)
        assert x.numpy()[1] == np.sort(a, order=order)[1]


@pytest.mark.parametrize("axis", [0, 1, -1, None])
@pytest.mark.parametrize("kind", [None, "stable", "heapsort"])
def test_sort(axis, kind):
    check(lambda np, a: np.sort(a, axis, kind), A)
    check(lambda np, a: np.argsort(a, axis, kind), A, gradient=False)


@pytest.mark.parametrize("axis", [0, 1, -1, None])
@pytest.mark.parametrize("kth", [0, 1, -1, (0, 1)])
def test_partition(axis, kth):
    check(lambda np, a: np.partition(a, kth, axis), A)
    check(lambda np, a: np.argpartition(a, kth, axis), A, gradient=False)


def test_second_derivatives_pass_through_an_order():
    def f(x):
        return (nm.sort(x) ** 2 * nm.array([1.0, 2.0, 3.0])).sum() + (nm.partition(x, 1)[1] ** 3)

    x = nm.array([3.0, 1.0, 2.0])
    second = nm.grad(lambda v: nm.grad(f)(v).sum())(x)
    assert second.tolist() == [6.0, 2.0, 4.0 + 12.0]


def test_equal_elements_keep_their_own_gradient():
    x = nm.array([1.0, 1.0, 0.0], requires_grad=True)
    (nm.sort(x) * nm.array([1.0, 2.0, 3.0])).sum().backward()
    assert x.grad.tolist() == [2.0, 3.0, 1.0]


def test_nan_comes_last_and_keeps_its_gradient():
    x = nm.array([np.nan, 2.0, 1.0], requires_grad=True)
    y = nm.sort(x)
    np.testing.assert_array_equal(y.detach().numpy(), [1.0, 2.0, np.nan])
    (y[:2] * nm.array([5.0, 7.0])).sum().backward()
    assert x.grad.tolist() == [0.0, 7.0, 5.0]


@pytest.mark.parametrize("method", ["sort", "partition"])
def test_in_place_orders_carry_gradients(method):
    x = nm.array([3.0, 1.0, 2.0], requires_grad=True)
    y = x * 2
    part = y[:2]
    part.sort() if method == "sort" else part.partition(1)
    assert y.tolist() == [2.0, 6.0, 4.0]
    (y * nm.array([1.0, 10.0, 100.0])).sum().backward()
    assert x.grad.tolist() == [20.0, 2.0, 200.0]
    with pytest.raises(LeafWriteError):
        getattr(x, method)(*[1] * (method == "partition"))
    with nm.no_grad():
        getattr(x, method)(*[1] * (method == "partition"))
    assert x.tolist()[1] == 2.0


def test_an_array_saved_for_the_gradient_is_not_sorted_unnoticed():
    x = nm.array([3.0, 1.0], requires_grad=True)
    y = nm.array([1.0, 0.0])
    z = (x * y).sum()
    y.sort()
    with pytest.raises(nm.GradientError, match="written in place"):
        z.backward()


def test_places_carry_no_gradient():
    x = nm.array([3.0, 1.0, 2.0], requires_grad=True)
    for found in (x.argsort(), nm.searchsorted(nm.sort(x), x), nm.digitize(x, [1.5, 2.5])):
        assert not found.requires_grad
    compare("np.searchsorted(np.array([1., 2, 3]), np.array([2.5]))")


def test_traced_orders_are_the_eager_ones():
    def f(x):
        low = nm.partition(x, 2, axis=1)[:, 2]
        return (nm.sort(x, axis=0) * x).sum() + low.sum() + x.ravel()[nm.argsort(x, axis=None)[1]]

    x = nm.array(A[0])
    compiled, slope = nm.jit(f), nm.jit(nm.grad(f))
    for _ in range(2):
        assert compiled(x).item() == pytest.approx(f(x).item(), rel=1e-12)
        np.testing.assert_allclose(slope(x).numpy(), nm.grad(f)(x).numpy(), rtol=1e-12)


def test_a_traced_sort_in_place():
    def f(x):
        y = x * 1.0
        y.sort()
        return y

    x = nm.array([3.0, 1.0, 2.0])
    compiled = nm.jit(f)
    for _ in range(2):
        assert compiled(x).tolist() == [1.0, 2.0, 3.0]
    assert x.tolist() == [3.0, 1.0, 2.0]
