"""Joining and splitting against NumPy by the same source text, with gradients."""

import warnings

import numpy as np
import pytest
from same_layout import LINEAR_SOURCES, SOURCES, check_gradient, compare_layout, expressions
from same_source import compare

import numen as nm

JOINED = expressions("""
np.concatenate([x, x]) | np.concatenate([x, x], 1) | np.concatenate((x, x), None)
np.concatenate(x) | np.concatenate([x, x], 9) | np.concatenate([]) | np.concatenate(5)
np.concatenate([x, x], dtype='f4') | np.concatenate([x, x], dtype='i4', casting='unsafe')
np.concatenate([x, x], dtype='i4') | np.concatenate([x, x], axis=-1) | np.concat([x, x])
np.concatenate([x, x], out=np.zeros(2)) | np.stack([x, x]) | np.stack([x, x], 1)
np.concatenate([x, x], out=np.zeros(2), dtype='f4') | np.stack([x, x], -1) | np.stack([x, x], 9)
np.stack([]) | np.stack([x, x], dtype='f4') | np.vstack([x, x]) | np.hstack([x, x])
np.dstack([x, x]) | np.column_stack([x, x]) | np.block([x, x]) | np.block([[x, x], [x, x]])
np.block(x) | np.block([[x], x]) | np.block([]) | np.block((x,)) | np.vstack([x, x], dtype='f4')
np.hstack([x, x], casting='no') | np.stack([x, x[:1]]) | np.concatenate([x, [1]])
""")
CUT = expressions("""
np.split(x, 2) | np.split(x, 2, 1) | np.split(x, [1]) | np.split(x, [1, 3], axis=-1)
np.array_split(x, 3) | np.array_split(x, 0) | np.array_split(x, 4, 1) | np.hsplit(x, 3)
np.vsplit(x, 2) | np.dsplit(x, 2) | np.split(x, 7) | np.split(x, 2, 9) | np.array_split(x, 2.5)
np.split(x, np.array([1, 2])) | np.unstack(x) | np.unstack(x, axis=1) | np.unstack(x, axis=5)
""")


@pytest.mark.parametrize("name", SOURCES)
def test_values_errors_and_memory_are_numpys(name):
    for text in JOINED + CUT:
        compare_layout(text, name)


@pytest.mark.parametrize("name", LINEAR_SOURCES)
def test_gradients(name):
    checked = sum(
        check_gradient(text, name, number)
        for number, text in enumerate(JOINED + CUT)
        if "i4" not in text
    )
    assert checked > 15


@pytest.mark.parametrize(
    "text",
    [
        "np.concatenate([np.ones(2, 'f4'), np.ones(2, 'i8')])",
        "np.concatenate([np.ones(2, 'i1'), [1.5]])",
        "np.concatenate([np.ones(2), np.ones((2, 2))])",
        "np.concatenate([np.array('a'), np.array('b')])",
        "np.concatenate([np.array(['a']), np.array(['bcd'])])",
        "o = np.zeros(4, 'f4')\nr = np.concatenate([np.ones(2)] * 2, out=o)\nr = (o, r is o)",
        "o = np.zeros(4, 'i4')\nr = np.concatenate([np.ones(2), np.ones(2)], out=o)",
        "o = np.zeros(4, 'i4')\nr = np.concatenate([np.ones(2)] * 2, out=o, casting='unsafe')",
        "np.stack((np.ones(2), 2 * np.ones(2)), out=np.zeros((2, 2)))",
        "np.stack(np.ones((3, 2)), axis=1)",
        "np.block([[np.eye(2), np.zeros((2, 1))], [np.ones((1, 3))]])",
        "np.block([[1, 2], [3, 4]])",
        "np.column_stack((np.array([1, 2]), np.array([[3], [4]])))",
        "np.hstack((1, 2.5))",
        "np.row_stack([[1, 2], [3, 4]])",
        "np.unstack(np.arange(3))",
    ],
)
def test_forms(text):
    compare(text)


def test_bmat_is_numpys_matrix():
    a, b = nm.ones((1, 2)), nm.zeros((1, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for made in (nm.bmat([[a, b]]), nm.bmat("a, b"), nm.bmat("a, b", {"a": a, "b": b}, {})):
            assert isinstance(made, np.matrix)
            assert made.tolist() == [[1, 1, 0, 0]]


def test_a_recorded_result_goes_into_out():
    x = nm.array([1.0, 2.0], requires_grad=True)
    out = nm.zeros(4)
    assert nm.concatenate([x, x * x], out=out) is out
    assert out.tolist() == [1, 2, 1, 4]
    out.sum().backward()
    assert x.grad.tolist() == [3, 5]
    with pytest.raises(ValueError, match="shape"):
        nm.concatenate([x, x], out=nm.zeros(5))
    with pytest.raises(TypeError, match="cast"):
        nm.concatenate([x, x], out=nm.zeros(4, nm.int64))
    with pytest.raises(TypeError, match="both"):
        nm.concatenate([x, x], out=nm.zeros(4), dtype=nm.float32)


def test_recorded_errors_are_numpys_classes():
    x = nm.ones((2, 3), requires_grad=True)
    with pytest.raises(ValueError, match="same shape"):
        nm.stack([x, x[:1]])
    with pytest.raises(ValueError, match="zero-dimensional"):
        nm.concatenate([x.sum(), x])
    with pytest.raises(np.exceptions.AxisError):
        nm.stack([x, x], 5)
    with pytest.raises(TypeError, match="cast"):
        nm.concatenate([x, x], dtype=nm.int8)
    with pytest.raises(ValueError, match="depth"):
        nm.block([[x], x])


def test_parts_are_views_that_can_be_written():
    x = nm.array([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    y = x * 1.0
    first, second = nm.split(y, 2)
    assert first.base is y
    second *= 3.0
    first[1] = second[0]
    assert y.tolist() == [1, 9, 9, 12]
    y.sum().backward()
    assert x.grad.tolist() == [1, 0, 6, 3]


def test_unstacked_slices_are_views():
    y = nm.zeros((2, 3))
    columns = nm.unstack(y, axis=1)
    columns[2][...] = 7.0
    assert y.tolist() == [[0, 0, 7], [0, 0, 7]]


def test_jit_joins_and_splits():
    def f(x):
        a, b = nm.split(x, 2, axis=1)
        return nm.block([[a, b], [b, a * 2.0]]) + nm.stack([b, a]).sum()

    compiled = nm.jit(f)
    for k in range(3):
        x = nm.arange(8.0).reshape(2, 4) + k
        np.testing.assert_array_equal(compiled(x).numpy(), f(x).numpy())
