"""numen.linalg and numen.fft under vmap, jvp, jacobians and hessians, against loops and
differences."""

from operator import attrgetter

import numpy as np
import pytest
from recorded import matrices, uniform

import numen as nm
import numen.fft as fft
import numen.linalg as linalg
from tolerances import DIFFERENCES, assert_close

FUNCTIONS = {
    "solve": lambda a: linalg.solve(a, a[0]),
    "inv": linalg.inv,
    "det": linalg.det,
    "slogdet": lambda a: sum(linalg.slogdet(a)),
    "cholesky": lambda a: linalg.cholesky(a @ a.T.conj() + nm.eye(3)),
    "cholesky upper": lambda a: linalg.cholesky(a @ a.T.conj() + nm.eye(3), upper=True),
    "pinv": lambda a: linalg.pinv(a[:, :2]),
    "svd": lambda a: abs(linalg.svd(a).U) + abs(linalg.svd(a).Vh) + linalg.svd(a).S,
    "svd complete": lambda a: abs(linalg.svd(a[:, :2]).U[:, 2:]),
    "svd hermitian": lambda a: linalg.svd(a, hermitian=True).S,
    "eigh": lambda a: abs(linalg.eigh(a).eigenvectors) + linalg.eigh(a).eigenvalues,
    "eig": lambda a: abs(linalg.eig(a).eigenvectors) + abs(linalg.eig(a).eigenvalues),
    "qr": lambda a: sum(linalg.qr(a)),
    "qr complete": lambda a: linalg.qr(a[:, :2], "complete").R,
    "qr wide": lambda a: linalg.qr(a[:2]).R,
    "expm": lambda a: linalg.expm(a / 4),
    "matrix_power": lambda a: linalg.matrix_power(a, -3),
    "lstsq": lambda a: linalg.lstsq(a[:, :2], a[:, 2])[0],
    "residuals": lambda a: linalg.lstsq(a[:, :2], a[:, 2])[1],
    "norms": lambda a: linalg.norm(a, "nuc") + linalg.norm(a, 2) + linalg.norm(a),
    "cond": linalg.cond,
    "multi_dot": lambda a: linalg.multi_dot([a, a, a[0]]),
    "tensorinv": lambda a: linalg.tensorinv(a[:, :, None], 1),
    "fft": lambda a: fft.fft(a, 5),
    "rfft": lambda a: fft.rfft(a.real, norm="ortho"),
    "irfft": fft.irfft,
    "ifft2": fft.ifft2,
    "irfftn": fft.irfftn,
    "hfft": fft.hfft,
    "ihfft": lambda a: fft.ihfft(a.real, axis=0),
    "fftshift": fft.fftshift,
}
KINDS = pytest.mark.parametrize("is_complex", [False, True], ids=["real", "complex"])
NAMES = pytest.mark.parametrize("name", FUNCTIONS)


def stack(is_complex):
    a = matrices(3, 3, 3, complex=is_complex)
    a[..., np.arange(3), np.arange(3)] += np.arange(3)
    return a


def loss_of(function):
    def loss(a):
        result = function(a)
        return (result * result.conj()).real.sum()

    return loss


@KINDS
@NAMES
def test_vmap_equals_a_loop(name, is_complex):
    a, function = stack(is_complex), FUNCTIONS[name]
    for f in (function, nm.grad(loss_of(function))):
        found = nm.vmap(f)(nm.array(a)).numpy()
        expected = np.stack([f(nm.array(one)).numpy() for one in a])
        assert found.dtype == expected.dtype
        assert_close(found, expected, 1000)


@KINDS
@NAMES
def test_jvp_is_the_derivative(name, is_complex):
    a, function = stack(is_complex)[0], FUNCTIONS[name]
    t, step = uniform(3, 3, seed=1, complex=is_complex), 1e-6
    value, tangent = nm.jvp(function, (nm.array(a),), (nm.array(t),))
    sides = [function(nm.array(a + s * t)).numpy() for s in (step, -step)]
    assert_close(value.numpy(), function(nm.array(a)).numpy(), 100)
    assert_close(tangent.numpy(), (sides[0] - sides[1]) / (2 * step), table=DIFFERENCES)


@NAMES
def test_hessians_forward_and_reverse_agree(name):
    a, loss = nm.array(stack(False)[0]), loss_of(FUNCTIONS[name])
    forward, reverse = nm.hessian(loss)(a), nm.jacrev(nm.grad(loss))(a)
    assert_close(forward.numpy(), reverse.numpy(), 10_000)


@pytest.mark.parametrize("name", ["roots", "polynomial.polynomial.polyroots"])
@pytest.mark.parametrize("coefficients", [[2.0, -3.0, 1.5, 4.0], [1.0, -3.0, 2.0], [2.0, 1.0]])
def test_roots(coefficients, name):
    p, step = np.array(coefficients), 1e-6
    mine, numpys = attrgetter(name)(nm), attrgetter(name)(np)

    def sizes(p):
        return abs(mine(p))

    expected = np.stack(
        [
            (np.abs(numpys(p + step * e)) - np.abs(numpys(p - step * e))) / (2 * step)
            for e in np.eye(len(p))
        ],
        1,
    )
    assert_close(nm.jacrev(sizes)(nm.array(p)).numpy(), expected, table=DIFFERENCES)
    assert_close(nm.jacfwd(sizes)(nm.array(p)).numpy(), expected, table=DIFFERENCES)
    found = mine(nm.array(p, requires_grad=True)).detach().numpy()
    assert found.dtype == numpys(p).dtype
    assert_close(found, numpys(p), 10)


def test_roots_with_zeros_at_the_ends_have_no_gradient():
    x = nm.array([0.0, 1.0, -3.0, 2.0], requires_grad=True)
    assert nm.roots(x).detach().tolist() == [2, 1]
    with pytest.raises(nm.GradientError, match="roots"):
        nm.roots(x).sum().backward()


def test_series_at_points_under_transforms():
    polyval = nm.polynomial.polynomial.polyval
    x, t = nm.array([0.5, 2.0]), nm.array([1.0, -1.0])
    value, tangent = nm.jvp(lambda v: polyval(v, [1.0, 2.0, 3.0]), (x,), (t,))
    assert value.tolist() == [2.75, 17]
    assert tangent.tolist() == [5, -14]
    assert nm.vmap(lambda v: polyval(v, [1.0, 2.0, 3.0]))(x).tolist() == [2.75, 17]
