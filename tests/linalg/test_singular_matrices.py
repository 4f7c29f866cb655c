"""Derivatives where a matrix is singular, values are equal or a norm has a kink."""

import numpy as np
import pytest
from recorded import cotangent, matrices, slopes_of, uniform

import numen as nm
import numen.linalg as linalg
from numen.errors import GradientError
from numen.linalg import LinAlgError, norm
from tolerances import DIFFERENCES, assert_close


def of_rank(rank, n=3, is_complex=False, seed=0):
    left = uniform(n, rank, seed=seed, complex=is_complex)
    return left @ uniform(rank, n, seed=seed + 1, complex=is_complex)


def gradient(function, values):
    x = nm.array(values, requires_grad=True)
    function(x).backward()
    return x.grad.numpy()


def minors(a):
    n = len(a)
    return np.array([
        [(-1) ** (i + j) * np.linalg.det(np.delete(np.delete(a, i, 0), j, 1)) for j in range(n)]
        for i in range(n)
    ])  # fmt: skip


# det


@pytest.mark.parametrize("is_complex", [False, True], ids=["real", "complex"])
@pytest.mark.parametrize("rank", [0, 1, 2, 3])
def test_the_gradient_of_det_is_the_cofactors(rank, is_complex):
    a = of_rank(rank, is_complex=is_complex)
    found = gradient(lambda x: linalg.det(x).real, a)
    assert_close(found, minors(a).conj(), 100)
    if rank < 2:
        assert np.abs(found).max() < 1e-14


def test_det_of_one_element_and_of_none():
    assert gradient(lambda x: linalg.det(x), np.zeros((1, 1))).tolist() == [[1.0]]
    assert gradient(lambda x: linalg.det(x), np.zeros((0, 0))).shape == (0, 0)
    assert not gradient(lambda x: linalg.det(x).sum(), np.zeros((2, 3, 3))).any()


@pytest.mark.parametrize("is_complex", [False, True], ids=["real", "complex"])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("rank", [0, 1, 2])
def test_the_second_derivative_of_det_is_finite_and_right(rank, n, is_complex):
    a = of_rank(min(rank, n), n, is_complex)
    w = nm.array(cotangent(a))

    def slope(x):
        return (nm.grad(lambda y: linalg.det(y).real)(x) * nm.conj(w)).real.sum()

    expected = slopes_of(lambda v: float(slope(nm.array(v))), a, 1e-3)
    assert_close(nm.grad(slope)(nm.array(a)).numpy(), expected, table=DIFFERENCES)


# norms


@pytest.mark.parametrize("is_complex", [False, True], ids=["real", "complex"])
@pytest.mark.parametrize("ord", [None, 1, 2, 3, 0.5, -1, np.inf, -np.inf, "fro", "nuc"])
def test_every_norm_has_gradient_zero_at_zero(ord, is_complex):
    for shape in ((3,), (2, 2), (2, 3)):
        if (isinstance(ord, str), len(shape)) == (True, 1) or (ord in (3, 0.5) and shape != (3,)):
            continue
        zero = np.zeros(shape, complex if is_complex else float)
        assert not gradient(lambda x: norm(x, ord), zero).any()


@pytest.mark.parametrize("ord", [1, np.inf, 2, "nuc"])
def test_norms_of_matrices_with_ties_share(ord):
    expected = {1: np.full((2, 2), 0.5), np.inf: np.full((2, 2), 0.5)}
    if ord in expected:
        found = gradient(lambda x: norm(x, ord), np.ones((2, 2)))
        assert_close(found, expected[ord])
    else:
        found = gradient(lambda x: norm(x, ord), np.eye(2) * 3)
        assert_close(found, np.eye(2) / (2 if ord == 2 else 1))


def test_vectors_with_ties_share():
    found = gradient(lambda x: norm(x, np.inf), np.array([2.0, -2.0, 1.0]))
    assert found.tolist() == [0.5, -0.5, 0]
    assert gradient(lambda x: norm(x, 1), np.array([0.0, -2.0])).tolist() == [0, -1]


@pytest.mark.parametrize("is_complex", [False, True], ids=["real", "complex"])
def test_the_nuclear_norm_of_a_singular_matrix_has_its_least_subgradient(is_complex):
    a = of_rank(2, is_complex=is_complex)
    u, _, v = np.linalg.svd(a)
    assert_close(gradient(lambda x: norm(x, "nuc"), a), u[:, :2] @ v[:2], 100)


# Systems


def test_singular_systems_raise():
    a = nm.ones((2, 2), requires_grad=True)
    for call in (linalg.inv, lambda x: linalg.solve(x, x), lambda x: linalg.matrix_power(x, -1)):
        with pytest.raises(LinAlgError):
            call(a)
    sign, logarithm = linalg.slogdet(a)
    assert (sign.item(), logarithm.item()) == (0, -np.inf)
    with pytest.raises(LinAlgError):
        logarithm.backward()
    sign.backward()
    assert a.grad.tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize("is_complex", [False, True], ids=["real", "complex"])
def test_pinv_and_lstsq_of_lower_rank_hold_along_that_rank(is_complex):
    left, right = uniform(4, 2, complex=is_complex), uniform(2, 3, seed=1, complex=is_complex)
    b = uniform(4, seed=2, complex=is_complex)

    def loss(factor, module):
        a = factor @ right
        x = module.linalg.pinv(a, 1e-9) @ b + module.linalg.lstsq(a, b, 1e-9)[0]
        return (x * module.conj(x)).real.sum()

    right_, b_ = right, b
    expected = slopes_of(lambda v: float(loss(v, np)), left, 1e-5)
    right, b = nm.array(right_), nm.array(b_)
    assert_close(gradient(lambda x: loss(x, nm), left), expected, 10, table=DIFFERENCES)


# Vectors

WEIGHT = nm.arange(9.0).reshape(3, 3)


def test_equal_values_have_gradients_and_their_vectors_none():
    for values, vectors in (("svdvals", lambda x: linalg.svd(x).U),
                            ("eigvalsh", lambda x: linalg.eigh(x).eigenvectors),
                            ("eigvals", lambda x: linalg.eig(x).eigenvectors)):  # fmt: skip
        found = gradient(lambda x, f=values: getattr(linalg, f)(x).sum(), np.eye(3) * 2)
        np.testing.assert_allclose(found, np.eye(3), atol=1e-15)
        found = gradient(lambda x, f=vectors: (f(x) * WEIGHT).sum(), np.eye(3) * 2)
        assert np.isnan(found).any()


def test_what_does_not_depend_on_the_vectors_of_equal_values_has_gradient_zero():
    def spans(v):
        return abs(v @ v.T).sum()

    for vectors in (lambda x: linalg.svd(x).U, lambda x: linalg.eigh(x).eigenvectors):
        found = gradient(lambda x, f=vectors: spans(f(x)), np.eye(3) * 2)
        np.testing.assert_allclose(found, np.zeros((3, 3)), atol=1e-15)


def test_a_matrix_with_too_few_eigenvectors():
    jordan = np.array([[1.0, 1.0], [0.0, 1.0]])  # its eigenvalues move as the square root
    assert np.abs(gradient(lambda x: linalg.eigvals(x)[0], jordan)).max() > 1e10
    zero = nm.array(np.zeros((2, 2)), requires_grad=True)
    linalg.eigvals(zero)[0].backward()
    assert zero.grad.tolist() == [[1, 0], [0, 0]]


def test_qr_of_columns_that_depend_on_each_other():
    x = nm.array(np.outer([1.0, 2.0, 2.0], [1.0, 0.0]), requires_grad=True)
    with pytest.raises(GradientError, match="qr has no derivative where the columns"):
        linalg.qr(x).R.sum().backward()


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("qr", lambda x: linalg.qr(x, "complete").Q),
        ("svd", lambda x: linalg.svd(x).U),
        ("svd", lambda x: linalg.svd(x.T).Vh),
        ("svd", lambda x: linalg.svd(x + 1j).U),
    ],
)
def test_a_choice_of_basis_has_no_gradient(name, call):
    a = matrices(4, 2)
    x = nm.array(a, requires_grad=True)
    y = call(x)
    weight = nm.array(cotangent(y.detach().numpy()))
    with pytest.raises(GradientError, match=f"{name} has no derivative through the vectors beyond"):
        y.backward(weight)
    abs(call(x)[:2, :2]).sum().backward()  # the first vectors alone have one
    assert np.isfinite(x.grad.numpy()).all()


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("svd", lambda x: linalg.svd(x + 1j).U.real.sum()),
        ("svd", lambda x: linalg.svd(x + 1j).Vh.imag.sum()),
        ("eigh", lambda x: linalg.eigh(x * 1j + (x * 1j).T.conj()).eigenvectors.imag.sum()),
        ("eig", lambda x: linalg.eig(x + 1j).eigenvectors.real.sum()),
        ("eig", lambda x: linalg.eig(x - 9 * nm.tril(x)).eigenvectors.imag.sum()),
    ],
)
def test_a_choice_of_phases_has_no_gradient(name, call):
    x = nm.array(matrices(3, 3), requires_grad=True)
    with pytest.raises(GradientError, match=f"{name} has no derivative through the phases"):
        call(x).backward()
    with pytest.raises(GradientError, match=f"{name} has no derivative through the phases"):
        nm.grad(call)(x.detach())


def test_factors_whose_phases_are_chosen_together_have_a_gradient():
    x = nm.array(matrices(3, 3, complex=True), requires_grad=True)
    u, _, v = linalg.svd(x)
    (u[:, 0] * v[0]).real.sum().backward()
    assert np.isfinite(x.grad.numpy()).all()
    with pytest.raises(GradientError, match="svd has no derivative through the phases"):
        linalg.svd(x).U[:, 0].real.sum().backward()


def test_raw_factors_have_no_gradient():
    x = nm.array(matrices(3, 3), requires_grad=True)
    with pytest.raises(GradientError, match="qr"):
        linalg.qr(x, "raw")[0].sum().backward()


def test_a_thin_factor_of_lower_rank_says_nan():
    a = np.outer([1.0, 2.0, 2.0], [1.0, 1.0])
    values = gradient(lambda x: linalg.svdvals(x)[0], a)
    assert_close(values, np.outer([1, 2, 2], [1, 1]) / np.sqrt(18))
    assert np.isfinite(gradient(lambda x: linalg.svdvals(x).sum(), a)).all()
