"""The matrix exponential: values, dtypes, stacks, errors, derivatives."""

import numpy as np
import pytest
from recorded import cotangent, inner, matrices, slopes_of, uniform

import numen as nm
from numen.linalg import LinAlgError, expm
from tolerances import DIFFERENCES, RELATIVE, assert_close


def draw(*shape, dtype="float64", seed=0):
    rng = np.random.default_rng(seed)
    a = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        a = a + 1j * rng.standard_normal(shape)
    return a.astype(dtype)


def test_closed_forms():
    assert_close(expm(nm.zeros((3, 3))).numpy(), np.eye(3))
    assert_close(expm(nm.diag(nm.array([1.0, -2.0, 0.5]))).numpy(), np.diag(np.exp([1, -2, 0.5])))
    nilpotent = np.array([[0.0, 2.0, 3.0], [0.0, 0.0, 4.0], [0.0, 0.0, 0.0]])
    assert_close(
        expm(nm.array(nilpotent)).numpy(), np.eye(3) + nilpotent + nilpotent @ nilpotent / 2
    )
    for angle in (0.1, 1.0, 30.0):
        spun = expm(nm.array([[0.0, -angle], [angle, 0.0]])).numpy()
        c, s = np.cos(angle), np.sin(angle)
        assert_close(spun, np.array([[c, -s], [s, c]]), 10)
    assert expm([[1, 2], [0, 1]]).dtype == np.float64
    assert_close(expm([[0, 1], [0, 0]]).numpy(), np.array([[1.0, 1.0], [0.0, 1.0]]))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_laws(dtype):
    a = draw(2, 4, 4, dtype=dtype)
    result = expm(nm.array(a))
    assert result.dtype == a.dtype
    assert_close(
        result.numpy() @ expm(nm.array(-a)).numpy(), np.broadcast_to(np.eye(4), a.shape), 500
    )
    trace = np.trace(a, axis1=1, axis2=2)
    assert_close(np.linalg.det(result.numpy()), np.exp(trace), 500)


def test_each_matrix_of_a_stack_has_its_own_scale():
    sizes = np.array([1e-9, 0.3, 1.0, 20.0, 300.0]).reshape(5, 1, 1)
    a = draw(5, 3, 3) * sizes
    a[-1] -= 400 * np.eye(3)
    whole = expm(nm.array(a)).numpy()
    for one, alone in zip(whole, a, strict=True):
        np.testing.assert_array_equal(one, expm(nm.array(alone)).numpy())


@pytest.mark.parametrize("shape", [(0, 0), (0, 2, 2), (1, 1), (2, 0, 0)])
def test_small_and_empty(shape):
    x = nm.zeros(shape, requires_grad=True)
    out = expm(x)
    assert out.shape == shape
    out.sum().backward()
    assert x.grad.tolist() == np.ones(shape).tolist()


def test_numbers_that_are_not_finite_stay_so():
    a = np.array(
        [[[np.inf, 0.0], [0.0, 1.0]], [[np.nan, 1.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]]
    )
    with np.errstate(all="ignore"):
        result = expm(nm.array(a)).numpy()
    assert not np.isfinite(result[:2]).all(axis=(1, 2)).any()
    assert_close(result[2], np.eye(2))


@pytest.mark.parametrize(
    ("a", "error"),
    [
        (np.ones((2, 3)), LinAlgError), (np.ones(3), LinAlgError), (1.0, LinAlgError),
        (np.eye(2, dtype=np.float16), TypeError), (np.eye(2, dtype=np.longdouble), TypeError),
        (np.array([["a"]]), TypeError),
    ],
)  # fmt: skip
def test_errors(a, error):
    with pytest.raises(error, match="expm"):
        expm(a)


@pytest.mark.parametrize("size", [0.0, 1e-3, 1.0, 8.0])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_gradients(dtype, size):
    a = draw(3, 3, dtype=dtype) * size
    x = nm.array(a, requires_grad=True)
    out = expm(x)
    weight = cotangent(a)
    out.backward(nm.array(weight))

    def moved(v):
        return inner(weight, expm(nm.array(v)).numpy())

    expected = slopes_of(moved, a, 1e-5)
    np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-5, atol=1e-5 * abs(expected).max())


def test_the_slope_at_zero_is_the_direction():
    t = draw(3, 3)
    _, tangent = nm.jvp(expm, (nm.zeros((3, 3)),), (nm.array(t),))
    assert_close(tangent.numpy(), t)


@pytest.mark.parametrize("scale", [1e-200, 1e-12, 1e12, 1e200])
def test_the_gradient_is_linear_in_its_cotangent(scale):
    a, g = draw(3, 3), draw(3, 3, seed=1)
    found = []
    for factor in (1.0, scale):
        x = nm.array(a, requires_grad=True)
        expm(x).backward(nm.array(g * factor))
        found.append(x.grad.numpy() / factor)
    assert_close(found[1], found[0], 10)


def test_second_derivatives():
    a, t = draw(2, 2) / 2, draw(2, 2, seed=1)

    def slope(x):
        return (nm.grad(lambda y: (expm(y) ** 2).sum())(x) * nm.array(t)).sum()

    expected = slopes_of(lambda v: float(slope(nm.array(v))), a, 1e-4)
    assert_close(nm.grad(slope)(nm.array(a)).numpy(), expected, 10, table=DIFFERENCES)


def test_a_traced_exponential_equals_the_eager_one():
    def loss(a):
        return (expm(a) ** 2).sum()

    compiled, slope = nm.jit(loss), nm.jit(nm.grad(loss))
    for size in (0.1, 1.0, 3.0, 1.0):
        a = nm.array(draw(3, 3) * size)
        assert_close(compiled(a).numpy(), loss(a).numpy(), 10)
        assert_close(slope(a).numpy(), nm.grad(loss)(a).numpy(), 10)


def test_fitting_a_rotation():
    goal = nm.array([[np.cos(0.7), -np.sin(0.7)], [np.sin(0.7), np.cos(0.7)]])
    angle = nm.array(0.1)
    turn = nm.array([[0.0, -1.0], [1.0, 0.0]])
    for _ in range(60):
        angle = angle - 0.2 * nm.grad(lambda s: ((expm(s * turn) - goal) ** 2).sum())(angle)
    assert angle.item() == pytest.approx(0.7, abs=1e-9)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("size", [0, 1e-8, 0.1, 1, 5, 20])
def test_values_against_scipy(size, dtype):
    scipy_linalg = pytest.importorskip("scipy.linalg")
    a = (draw(3, 5, 5, dtype=dtype) * size).astype(dtype)
    wide = a.astype(np.result_type(a.dtype, np.float64))
    found = expm(nm.array(a)).numpy()
    for one, expected in zip(found, scipy_linalg.expm(wide), strict=True):
        assert np.abs(one - expected).max() <= 1000 * RELATIVE[dtype] * np.abs(expected).max()


def test_slopes_against_scipy():
    scipy_linalg = pytest.importorskip("scipy.linalg")
    for size in (0.1, 1.0, 10.0):
        a, t = matrices(4, 4) * size, uniform(4, 4)
        value, tangent = nm.jvp(expm, (nm.array(a),), (nm.array(t),))
        expected = scipy_linalg.expm_frechet(a, t)
        for mine, theirs in zip((value, tangent), expected, strict=True):
            assert np.abs(mine.numpy() - theirs).max() <= 1e-12 * np.abs(theirs).max()
