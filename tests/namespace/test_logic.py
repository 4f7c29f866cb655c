"""Comparisons of whole arrays against NumPy, on plain and on recorded arrays."""

import numpy as np
import pytest
from same_source import compare

import numen as nm

CASES = [
    "np.isclose([1.0, 2.0], [1.0, 2.1])", "np.isclose(1.0, 1.0 + 1e-9)",
    "np.isclose([np.inf, -np.inf, np.inf], [np.inf, np.inf, 1.0])", "np.isclose(np.nan, np.nan)",
    "np.isclose([np.nan, 1.0], [np.nan, np.nan], equal_nan=True)",
    "np.isclose([100, 1], [101, 1], rtol=0.01, atol=0)",
    "np.isclose(np.ones((2, 1)), np.array([1, 1.1]))",
    "np.isclose(np.array([1, -128], np.int8), np.array([1, -128], np.int8))",
    "np.isclose([1j, 2], [1j, 2.5])", "np.isclose([1.0], [1.0], rtol=[0.1], atol=[0.0])",
    "np.isclose([1.0], ['a'])", "np.isclose([1.0, np.inf], np.inf)",
    "np.allclose([1.0, 2.0], [1.0, 2.0 + 1e-9])", "np.allclose([1.0, np.nan], [1.0, np.nan])",
    "np.allclose([1.0, np.nan], [1.0, np.nan], equal_nan=True)", "np.allclose([], [])",
    "np.allclose(np.ones(3), np.ones(2))", "np.array_equal([1, 2], [1, 2])",
    "np.array_equal([1, 2], [1, 2, 3])", "np.array_equal([1, 2], [[1, 2]])",
    "np.array_equal([np.nan], [np.nan])", "np.array_equal([np.nan], [np.nan], equal_nan=True)",
    "np.array_equal(['a'], ['a'])", "np.array_equal(np.array([None]), np.array([None]))",
    "np.array_equal([], [])", "np.array_equal([1, [2, 3]], [1])", "np.array_equal(1, 1.0)",
    "np.array_equal([1, 2], ['a', 'b'])", "np.array_equiv([1, 2], [[1, 2], [1, 2]])",
    "np.array_equiv([1, 2], [[1, 2], [1, 3]])", "np.array_equiv([1, 2], [1, 2, 3])",
    "np.array_equiv([1], [1, [2]])",
]  # fmt: skip


@pytest.mark.parametrize("text", CASES)
@pytest.mark.parametrize("engine", ["auto", "kernels"])
def test_results_are_numpys(text, engine):
    with nm.config(engine=engine):
        compare(text)


def test_close_durations():
    a, b = np.array([1, 2], "m8[s]"), np.array([1, 9], "m8[s]")
    assert nm.isclose(nm.asarray(a), b, atol=np.timedelta64(1, "s")).tolist() == [True, False]


def test_recorded_arrays_compare_and_carry_no_gradient():
    x = nm.array([1.0, np.nan, np.inf], requires_grad=True)
    close = nm.isclose(x, [1.0, np.nan, np.inf], equal_nan=True)
    assert close.tolist() == [True, True, True]
    assert not close.requires_grad
    assert nm.allclose(x[:1], [1.0]) is True
    assert nm.allclose(x, x) is False
    assert nm.array_equal(x, x) is False
    assert nm.array_equal(x, x, equal_nan=True) is True
    assert nm.array_equiv(x[:1], [1.0, 1.0]) is True
    assert nm.any(x) and not nm.all(nm.array([0.0, 1.0], requires_grad=True))


def test_comparisons_inside_a_traced_function():
    def f(x):
        return x * 2 if nm.allclose(x, 1.0) else x + nm.isclose(x, 0.0).sum()

    compiled = nm.jit(f)
    for values in ([1.0, 1.0], [0.0, 2.0], [1.0, 1.0], [0.0, 0.0]):
        x = nm.array(values)
        assert compiled(x).tolist() == f(x).tolist()
