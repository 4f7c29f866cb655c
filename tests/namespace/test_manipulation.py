"""Shapes, axes, diagonals, repetition and memory order against NumPy by the same source text."""

import numpy as np
import pytest
from same_layout import (
    LINEAR_SOURCES,
    SOURCES,
    check_gradient,
    compare_layout,
    expressions,
    source,
)

import numen as nm
from numen.dispatch.core import SCALAR
from numen.errors import GradientError
from numen.namespace.layout import cast_of, copy_of

SHAPES = expressions("""
np.reshape(x, -1) | np.reshape(x, (3, -1)) | np.reshape(x, -1, 'F') | np.reshape(x, -1, 'f')
np.reshape(x, (-1, 3), order='F') | np.reshape(x, (-1, 3), order='A') | np.reshape(x, -1, 'K')
np.reshape(x, -1, copy=True) | np.reshape(x, -1, copy=False) | np.reshape(x, -1, 'F', copy=False)
np.reshape(x, -1, order='F', copy=True) | np.reshape(x, (7,)) | np.reshape(x, (-1, -1))
np.reshape(x, 'a') | np.reshape(x, 2.5) | np.reshape(x, -1, 'Z') | np.reshape(x, ())
np.reshape(x, np.array([1, -1])) | np.reshape(x, [1, -1]) | x.reshape(1, -1) | x.reshape(2**70)
x.reshape((1, -1), order='F') | np.reshape(x, (2**62, 4))
np.ravel(x) | np.ravel(x, 'F') | np.ravel(x, 'A') | np.ravel(x, 'K') | np.ravel(x, 'Q')
x.ravel('K') | x.flatten() | x.flatten('F') | x.flatten('A') | x.flatten('K') | x.flatten('W')
np.squeeze(x) | np.squeeze(x, 0) | np.squeeze(x, (0, 2)) | np.squeeze(x, (0, 0)) | np.squeeze(x, 9)
x.squeeze() | np.squeeze(x, 1.0) | np.squeeze(x, ()) | np.squeeze(x, [0])
np.expand_dims(x, 0) | np.expand_dims(x, -1) | np.expand_dims(x, (0, 2)) | np.expand_dims(x, 9)
np.expand_dims(x, (0, 0)) | np.expand_dims(x, [0])
np.atleast_1d(x) | np.atleast_2d(x) | np.atleast_3d(x) | np.atleast_1d(x, x) | np.atleast_2d()
np.ndim(x) | np.shape(x) | np.size(x) | np.size(x, 0) | np.size(x, 9)
""")
AXES = expressions("""
np.transpose(x) | np.transpose(x, (1, 0)) | np.transpose(x, [-1, 0]) | np.transpose(x, (0, 0))
np.transpose(x, (0, 5)) | np.transpose(x, 0) | x.transpose(1, 0) | x.T | np.permute_dims(x, (1, 0))
np.matrix_transpose(x) | np.transpose(x, (1.0, 0)) | np.swapaxes(x, 0, 1) | np.swapaxes(x, 0, -1)
np.swapaxes(x, 0, 9) | np.swapaxes(x, 0, 1.0) | np.moveaxis(x, 0, -1) | np.moveaxis(x, 7, 0)
np.moveaxis(x, (0, 1), (1, 0)) | np.moveaxis(x, (0, 0), (1, 0)) | np.moveaxis(x, 0, (1, 0))
np.rollaxis(x, 1) | np.rollaxis(x, 0, 2) | np.rollaxis(x, 0, 1) | np.rollaxis(x, -1, 9)
np.flip(x) | np.flip(x, 0) | np.flip(x, (0, 1)) | np.flip(x, 5) | np.fliplr(x) | np.flipud(x)
np.rot90(x) | np.rot90(x, 2) | np.rot90(x, 3) | np.rot90(x, -1) | np.rot90(x, 4)
np.rot90(x, 1, (1, 0)) | np.rot90(x, 1, (0, 0)) | np.rot90(x, 1, (0, 7)) | np.rot90(x, 1, (0,))
""")
DIAGONALS = expressions("""
np.diagonal(x) | np.diagonal(x, 1) | np.diagonal(x, -1, 1, 0) | np.diagonal(x, 0, 0, 0)
np.diagonal(x, 0, 0, 9) | x.diagonal(9) | np.trace(x) | np.trace(x, 1) | x.trace(dtype='f4')
np.diag(x) | np.diag(x, 1) | np.diag(x, -2) | np.diagflat(x) | np.diagflat(x, -1)
np.tril(x) | np.triu(x, 1) | np.tril(x, -1) | np.triu(x, -1)
""")
REPEATED = expressions("""
np.tile(x, 2) | np.tile(x, (2, 2)) | np.tile(x, ()) | np.tile(x, (1, 1)) | np.tile(x, 0)
np.repeat(x, 2) | np.repeat(x, 2, 0) | np.repeat(x, [1, 2], 0) | np.repeat(x, [1, 2, 3], axis=1)
np.repeat(x, -1) | x.repeat(2, 1) | np.repeat(x, 2, 9) | np.repeat(x, 2.5)
np.resize(x, (3, 3)) | np.resize(x, 4) | np.resize(x, 0) | np.resize(x, -1)
np.roll(x, 1) | np.roll(x, (1, 2), (0, 1)) | np.roll(x, -7, 0) | np.roll(x, 1, 9)
np.roll(x, 1, (0, 0)) | np.append(x, x) | np.append(x, x, 0) | np.append(x, [1])
np.append(x, 1, 0)
np.insert(x, 1, 5) | np.insert(x, 1, 5, axis=0) | np.insert(x, [0, 1], 7, axis=0)
np.insert(x, 99, 1) | np.insert(x, slice(0, 2), 9) | np.delete(x, 0) | np.delete(x, 0, 0)
np.delete(x, [0, 1], 1) | np.delete(x, slice(None, None, 2)) | np.delete(x, 99) | np.delete(x, 0, 7)
np.delete(x, np.array([True, False]), 0)
""")
TRIMMED = expressions("np.trim_zeros(x) | np.trim_zeros(x, 'f') | np.trim_zeros(x, 'b')")
ORDERED = expressions("""
np.copy(x) | np.copy(x, 'F') | np.copy(x, 'C') | np.copy(x, order='A') | np.copy(x, 'W')
np.require(x, requirements='F') | np.require(x, requirements=['C']) | np.require(x, 'f4', 'F')
np.require(x, None, ['F', 'C']) | np.require(x, None, 'WO') | np.require(x, None, 'Z')
np.ascontiguousarray(x) | np.asfortranarray(x) | np.ascontiguousarray(x, 'f4')
np.asfortranarray(x, 'f4') | np.astype(x, 'f4') | np.astype(x, x.dtype, copy=False)
np.astype(x, 'i4', device='gpu') | np.isfortran(x) | np.shares_memory(x, x[...])
""")
ALL = SHAPES + AXES + DIAGONALS + REPEATED + TRIMMED + ORDERED


@pytest.mark.parametrize("name", SOURCES)
def test_values_errors_and_memory_are_numpys(name):
    for text in ALL:
        compare_layout(text, name)


@pytest.mark.parametrize("name", LINEAR_SOURCES)
def test_gradients(name):
    checked = 0
    for number, text in enumerate(SHAPES + AXES + DIAGONALS + REPEATED + ORDERED):
        checked += check_gradient(text, name, number)
    assert checked > 70


def test_gradient_of_trimmed_zeros():
    x = nm.array([0.0, 1.0, 0.0, 2.0, 0.0], requires_grad=True)
    whole = x * 1.0
    y = nm.trim_zeros(whole)
    assert y.base is whole
    (y * y).sum().backward()
    assert x.grad.tolist() == [0, 2, 0, 4, 0]
    assert nm.trim_zeros([0, 1, 0]) == [1]


def test_writes_through_views_reach_the_base():
    x = nm.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], requires_grad=True)
    y = nm.asfortranarray((x * 1.0).reshape(2, 3))
    flat = nm.ravel(y, "F")
    assert flat.base is y
    turned = nm.rot90(y)
    flat[1] = x[0] * 10.0
    turned[0, 0] *= 2.0
    assert y.tolist() == [[1, 2, 6], [10, 5, 6]]
    (y * nm.arange(6.0).reshape(2, 3)).sum().backward()
    # y = [[x0, x1, 2 x2], [10 x0, x4, x5]]
    assert x.grad.tolist() == [0 + 30, 1, 4, 0, 4, 5]


def test_a_write_into_the_base_reaches_the_diagonal():
    x = nm.array([1.0, 2.0], requires_grad=True)
    y = nm.zeros((2, 2))
    diagonal = nm.diagonal(y)
    with pytest.raises(ValueError, match="read-only"):
        diagonal[0] = 1.0
    y[0] = x
    assert diagonal.tolist() == [1, 0]
    diagonal.sum().backward()
    assert x.grad.tolist() == [1, 0]


def test_second_order_through_moves():
    x = nm.array([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = nm.tile(nm.tril(nm.roll(x, 1)), 2)
    (y * y * y).sum().backward(create_graph=True)
    first, x.grad = x.grad, None
    first.sum().backward()
    # the roll brings 4 to the corner, 2 and 3 below; each is there twice
    assert x.grad.tolist() == [[0, 24], [36, 48]]


def test_inserted_values_have_gradients():
    x = nm.array([1.0, 2.0], requires_grad=True)
    v = nm.array(5.0, requires_grad=True)
    nm.insert(x, 1, v).dot(nm.array([1.0, 10.0, 100.0])).backward()
    assert x.grad.tolist() == [1, 100]
    assert v.grad.item() == 10


@pytest.mark.parametrize("order", ["K", "C", "F", "A"])
def test_copies_and_casts_have_numpys_order_and_a_gradient(order):
    for name in ("matrix", "fortran", "reversed", "permuted", "broadcast"):
        given = source(name, np).astype(np.float64)
        x = nm.asarray(given).requires_grad_()
        for y, expected in [
            (copy_of(x, order), given.copy(order)),
            (cast_of(x, nm.float64, order), given.astype(np.float64, order)),
            (cast_of(x, nm.float64, order, copy=False), given.astype("f8", order, copy=False)),
            (cast_of(x, nm.float32, order), given.astype(np.float32, order)),
        ]:
            assert y.strides == expected.strides
            assert y.dtype == expected.dtype
            assert (y is x) == (expected is given)
            if y is not x:
                y.sum().backward()
        assert x.grad.numpy().min() == x.grad.numpy().max() >= 3


def test_scalars_stay_scalars():
    scalar = nm.ones(3).sum()
    for y in (nm.squeeze(scalar), nm.transpose(scalar), nm.reshape(scalar, ())):
        assert y._v is SCALAR
    copied = nm.copy(scalar)
    copied[...] = 5
    assert scalar.item() == 3


def test_repeats_may_be_arrays():
    x = nm.array([1.0, 2.0], requires_grad=True)
    y = nm.repeat(x, nm.array([1, 2]))
    assert y.tolist() == [1, 2, 2]
    y.sum().backward()
    assert x.grad.tolist() == [1, 2]


@pytest.mark.parametrize(
    "text",
    [
        *("np.reshape(x, -1, 'F')", "np.ravel(x, 'K')", "np.diagonal(x, 1)", "np.tril(x)"),
        *("np.tile(x, (2, 1))", "np.repeat(x, 2, 1)", "np.roll(x, 1, 1)", "np.copy(x, 'F')"),
        *("np.insert(x, 1, 5., axis=0)", "np.delete(x, 0, 1)", "np.rot90(x)", "np.trace(x) * x"),
    ],
)
def test_jit_computes_the_same(text):
    def f(x):
        return eval(text, {"np": nm, "x": x})

    compiled = nm.jit(f)
    slope = nm.jit(nm.grad(lambda x: (f(x) * f(x)).sum()))
    for k in range(3):
        x = nm.arange(12.0).reshape(3, 4) + k
        y, expected = compiled(x), f(x)
        np.testing.assert_array_equal(y.numpy(), expected.numpy())
        assert y.strides == expected.strides
        wanted = nm.grad(lambda x: (f(x) * f(x)).sum())(x)
        np.testing.assert_array_equal(slope(x).numpy(), wanted.numpy())


def test_views_of_bits():
    x = nm.array([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    y = x * 1.0
    pairs = y.view(nm.complex128)
    assert pairs.base is y
    (pairs.view(nm.float64) * nm.arange(4.0)).sum().backward()
    assert x.grad.tolist() == [0, 1, 2, 3]
    bits = x.view(nm.int64)
    assert not bits.requires_grad
    with pytest.raises(ValueError, match="read-only"):
        bits[0] = 0
    with pytest.raises(GradientError, match="no derivative"):
        x.view(nm.float32).sum().backward()


def test_writes_through_a_view_of_parts():
    x = nm.array([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    y = x * 1.0
    pairs = y.view(nm.complex128)
    pairs *= 2.0
    assert y.tolist() == [2, 4, 6, 8]
    (y * y).sum().backward()
    assert x.grad.tolist() == [8, 16, 24, 32]


@pytest.mark.parametrize("name", ["matrix", "scalar", "reversed", "fortran", "permuted"])
def test_compositions_have_numpys_values_and_memory(name):
    with nm.config(engine="kernels"):  # every function runs its rows, none NumPy's own
        for text in SHAPES + AXES + DIAGONALS + REPEATED + TRIMMED:
            compare_layout(text, name, strides=False)
