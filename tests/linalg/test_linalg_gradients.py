"""Derivatives of numen.linalg's functions, real and complex, first and second, against differences.

Vectors that are unique up to a sign or a phase are looked at through products that are not.
"""

import numpy as np
import pytest
from recorded import check_recorded, check_twice, matrices, uniform

import numen as nm
import numen.linalg
from numen.linalg import norm
from tolerances import assert_close

PAIRS = " + ".join(
    f"{j + 1} * U[..., :, {j}, None] * V[..., None, {j}, :]" for j in range(2)
)  # fmt: skip

FORMS = [
    ("inv(a)", [(3, 3)]), ("inv(a)", [(2, 1, 2, 2)]), ("inv(a)", [(1, 1)]), ("det(a)", [(3, 3)]),
    ("det(a)", [(2, 3, 3)]), ("det(a)", [(1, 1)]), ("slogdet(a)[1]", [(2, 3, 3)]),
    ("slogdet(-a)[0] + a[0, 0]", [(3, 3)]), ("slogdet(a)[0] + a[..., 0, 0]", [(2, 3, 3)]),
    ("cholesky(a @ a.T.conj())", [(3, 3)]), ("cholesky(a @ a.T.conj(), upper=True)", [(3, 3)]),
    ("solve(a, b)", [(3, 3), (3,)]), ("solve(a, b)", [(2, 3, 3), (3,)]),
    ("solve(a, b)", [(2, 1, 3, 3), (4, 3, 2)]), ("pinv(a)", [(4, 3)]), ("pinv(a)", [(2, 2, 3)]),
    ("pinv(a, rtol=np.array(1e-8))", [(3, 2)]), ("pinv(a, rtol=None)", [(3, 3)]),
    ("pinv(a, rtol=1e-8)", [(3, 2)]), ("pinv(a, np.array([1e-8, 1e-7]))", [(2, 3, 2)]),
    ("pinv(a, hermitian=True)", [(3, 3)]),
    ("matrix_power(a, 5)", [(2, 2)]), ("matrix_power(a, -2)", [(2, 2, 2)]),
    ("matrix_power(a, 1)", [(2, 2)]), ("matrix_power(a, 0) + 0 * a", [(2, 2)]),
    ("multi_dot([a, b])", [(2, 3), (3, 4)]), ("multi_dot([a, b, b.T, a.T])", [(2, 3), (3, 4)]),
    ("multi_dot([a, b, a])", [(3,), (3, 3)]), ("multi_dot([b, b, a])", [(3,), (3, 3)]),
    ("multi_dot([a, b, b])", [(3,), (3, 3)]),
    ("outer(a, b)", [(2,), (3,)]), ("cross(a, b)", [(2, 3), (3,)]),
    ("cross(a, b, axis=0)", [(3, 2), (3, 2)]), ("matmul(a, b)", [(2, 2, 3), (3, 2)]),
    ("matmul(a, b)", [(3,), (2, 3, 2)]), ("matmul(a, b)", [(2, 2, 3), (3,)]),
    ("vecdot(a, b)", [(2, 3), (3,)]), ("vecdot(a, b, axis=0)", [(3, 2), (3, 2)]),
    ("tensordot(a, b, axes=1)", [(2, 3), (3, 2)]), ("trace(a)", [(2, 3, 3)]),
    ("trace(a, offset=1)", [(3, 3)]), ("diagonal(a, offset=-1)", [(2, 3, 3)]),
    ("matrix_transpose(a)", [(2, 3, 4)]), ("svdvals(a)", [(4, 3)]), ("svdvals(a)", [(2, 2, 3)]),
    ("svd(a, full_matrices=False)[1]", [(4, 3)]), ("svd(a, compute_uv=False)", [(3, 4)]),
    ("svd(a, hermitian=True)[1]", [(2, 3, 3)]), ("svd(a, False, False, True)", [(3, 3)]),
    ("eigvalsh(a)", [(3, 3)]), ("eigvalsh(a, 'U')", [(2, 3, 3)]), ("eigh(a)[0]", [(3, 3)]),
    ("eigvals(a)", [(3, 3)]), ("eig(a)[0]", [(2, 3, 3)]),
    ("qr(a)[0]", [(3, 3)]), ("qr(a).R", [(2, 4, 3)]), ("qr(a)[0]", [(4, 3)]),
    ("qr(a)[0]", [(2, 4)]), ("qr(a)[1]", [(2, 2, 4)]), ("qr(a, 'r')", [(4, 2)]),
    ("qr(a, 'r')", [(2, 3)]), ("qr(a, 'complete')[0]", [(2, 3)]),
    ("qr(a, mode='complete')[1]", [(2, 3)]), ("qr(a, 'complete').R", [(4, 2)]),
    ("cond(a)", [(3, 3)]), ("cond(a, -2)", [(4, 3)]), ("cond(a, 1)", [(3, 3)]),
    ("cond(a, 'fro')", [(2, 3, 3)]), ("lstsq(a, b)[0]", [(4, 3), (4,)]),
    ("lstsq(a, b)[1]", [(4, 3), (4, 2)]), ("lstsq(a, b)[1]", [(4, 3), (4,)]),
    ("lstsq(a, b, rcond=-1)[0]", [(2, 3), (2, 2)]),
    ("lstsq(a, b)[3] + abs(b[:3])", [(4, 3), (4,)]),
    ("tensorinv(a, ind=1)", [(4, 2, 2)]), ("tensorsolve(a, b)", [(4, 2, 2), (4,)]),
    ("tensorsolve(a, b, axes=(1,))", [(2, 4, 2), (2, 2)]),
]  # fmt: skip


def inputs(text, shapes, is_complex):
    values = {}
    rng = np.random.default_rng(5)
    for i, (name, shape) in enumerate(zip("ab", shapes, strict=False)):
        values[name] = uniform(*shape, seed=i, complex=is_complex)
        if text.startswith("tensor") and len(shape) == 3:
            values[name] = rng.standard_normal(shape)
            if is_complex:
                values[name] = values[name] + 1j * rng.standard_normal(shape)
        elif len(shape) > 1 and "tensor" not in text:
            ramp = np.arange(1, min(shape[-2:]) + 1)
            values[name] = matrices(*shape, seed=i, complex=is_complex)
            values[name][..., ramp - 1, ramp - 1] += ramp
    return values


@pytest.mark.parametrize("is_complex", [False, True], ids=["real", "complex"])
@pytest.mark.parametrize(("text", "shapes"), FORMS)
def test_gradients(text, shapes, is_complex):
    check_recorded(f"np.linalg.{text}", **inputs(text, shapes, is_complex))


OF_VECTORS = [
    f"(lambda U, S, V: {PAIRS})(*np.linalg.svd(a, full_matrices=False))",
    f"(lambda U, S, V: {PAIRS})(*np.linalg.svd(a))",
    "(lambda U: abs(U) ** 2)(np.linalg.svd(a, False).U)",
    "(lambda V: abs(V) ** 2)(np.linalg.svd(a, False).Vh)",
]
OF_SQUARES = [
    f"(lambda U, S, V: {PAIRS})(*np.linalg.svd(a, hermitian=True))",
    "abs(np.linalg.eigh(a)[1]) ** 2",
    "abs(np.linalg.eigh(a, 'U').eigenvectors) ** 2",
    "(lambda w, v: (v * np.exp(w / 4)[..., None, :]) @ np.swapaxes(v, -1, -2).conj())"
    "(*np.linalg.eigh(a))",
    "abs(np.linalg.eig(a)[1]) ** 2",
    "(lambda w, v: (v * np.exp(w / 4)[..., None, :]) @ np.linalg.inv(v))(*np.linalg.eig(a))",
]
OF_BASES = [
    "(lambda N: N @ N.T.conj())(np.linalg.svd(a)[0][:, 2:])",
    "(lambda N: N @ N.T.conj())(np.linalg.qr(a, 'complete')[0][:, 2:])",
    "(lambda N: N.T.conj() @ N)(np.linalg.svd(a.T.conj())[2][2:])",
    "(lambda N: N[:, None, :] * N.conj()[None])(np.linalg.svd(a[:3])[0][:, 2:])",
]


@pytest.mark.parametrize("is_complex", [False, True], ids=["real", "complex"])
@pytest.mark.parametrize("text", [*OF_VECTORS, *OF_SQUARES, *OF_BASES])
def test_gradients_through_vectors(text, is_complex):
    if text in OF_VECTORS:
        shapes = [(3, 3), (4, 2), (2, 2, 3)]
    else:
        shapes = [(3, 3), (2, 3, 3)] if text in OF_SQUARES else [(4, 2)]
    for shape in shapes:
        check_recorded(text, **inputs(text, [shape], is_complex))


TWICE = [
    ("inv(a)", [(2, 2)]), ("det(a)", [(3, 3)]), ("slogdet(a)[1]", [(2, 2, 2)]),
    ("slogdet(a)[0] * a[0, 0]", [(2, 2)]), ("cholesky(a @ a.T.conj())", [(2, 2)]),
    ("solve(a, b)", [(2, 2), (2,)]), ("pinv(a)", [(3, 2)]), ("matrix_power(a, -2)", [(2, 2)]),
    ("multi_dot([a, b, a])", [(2, 2), (2, 2)]), ("svdvals(a)", [(3, 2)]),
    ("eigvalsh(a)", [(2, 2)]), ("eigvals(a)", [(2, 2)]), ("qr(a)[0]", [(3, 2)]),
    ("qr(a)[1]", [(2, 3)]), ("qr(a, 'complete')[1]", [(3, 2)]), ("cond(a)", [(2, 2)]),
    ("lstsq(a, b)[0]", [(3, 2), (3,)]), ("norm(a)", [(2, 2)]), ("norm(a, 'nuc')", [(2, 2)]),
    ("norm(a, 2)", [(2, 3)]), ("norm(a, 3)", [(3,)]), ("tensorinv(a, 1)", [(4, 2, 2)]),
]  # fmt: skip


@pytest.mark.parametrize("is_complex", [False, True], ids=["real", "complex"])
@pytest.mark.parametrize(("text", "shapes"), TWICE)
def test_second_derivatives(text, shapes, is_complex):
    check_twice(f"np.linalg.{text}", **inputs(text, shapes, is_complex))


@pytest.mark.parametrize("is_complex", [False, True], ids=["real", "complex"])
@pytest.mark.parametrize("text", [OF_VECTORS[0], *OF_SQUARES[1:], *OF_BASES])
def test_second_derivatives_through_vectors(text, is_complex):
    if text in OF_BASES and "a[:3]" not in text:
        shape = (4, 2)
    else:
        shape = (3, 2) if text not in OF_SQUARES else (2, 2)
    check_twice(text, **inputs(text, [shape], is_complex))


@pytest.mark.parametrize("is_complex", [False, True], ids=["real", "complex"])
@pytest.mark.parametrize("ord", ["None", "1", "2", "3", "0.5", "-1.5", "np.inf", "-np.inf"])
def test_gradients_of_vector_norms(ord, is_complex):
    x = uniform(2, 4, complex=is_complex)
    check_recorded(f"np.linalg.norm(x[0], {ord})", x=x)
    check_recorded(f"np.linalg.norm(x, {ord}, axis=-1, keepdims=True)", x=x)
    check_recorded(f"np.linalg.vector_norm(x, ord={ord}, axis=(0, 1))" if ord != "None" else
                   "np.linalg.vector_norm(x)", x=x)  # fmt: skip
    check_recorded(f"np.linalg.norm(x, {ord}, 0)", x=x)


@pytest.mark.parametrize("is_complex", [False, True], ids=["real", "complex"])
@pytest.mark.parametrize(
    "ord", ["None", "'fro'", "'nuc'", "1", "-1", "2", "-2", "np.inf", "-np.inf"]
)
def test_gradients_of_matrix_norms(ord, is_complex):
    x = matrices(2, 3, 3, complex=is_complex)
    check_recorded(f"np.linalg.norm(x[0], {ord})", x=x)
    check_recorded(f"np.linalg.norm(x, {ord}, (2, 0), True)", x=x)
    if ord != "None":
        check_recorded(f"np.linalg.matrix_norm(x, ord={ord}, keepdims=True)", x=x)


def test_a_norm_has_second_derivatives_at_zero_and_elsewhere():
    second = nm.grad(lambda v: nm.grad(norm)(v)[0])
    assert second(nm.array([3.0, 4.0])).numpy() == pytest.approx([16 / 125, -12 / 125])
    assert second(nm.zeros(2)).tolist() == [0, 0]


def test_cholesky_reads_and_moves_the_lower_triangle():
    for extra in (0, 2j):
        values = np.array([[4.0, 99.0], [1.0 + extra, 6.0]])
        check_recorded("np.linalg.cholesky(a)", a=values)
        check_recorded("np.linalg.cholesky(a, upper=True)", a=values.T.copy())
        check_recorded("np.linalg.eigvalsh(a)", a=values)
        check_recorded("np.linalg.eigvalsh(a, UPLO='U')", a=values.T.copy())


def test_eigenvalues_are_real_where_numpys_are():
    spun = nm.array([[0.0, -2.0], [2.0, 0.0]], requires_grad=True)
    values, vectors = numen.linalg.eig(spun)
    assert values.dtype == vectors.dtype == np.complex128
    stretched = nm.array([[3.0, 1.0], [0.0, 2.0]], requires_grad=True)
    values, vectors = numen.linalg.eig(stretched)
    assert values.dtype == vectors.dtype == numen.linalg.eigvals(stretched).dtype == np.float64
    assert values.base is None
    values[0].backward()
    assert_close(stretched.grad.numpy(), np.array([[1.0, 0.0], [1.0, 0.0]]))


def functions():
    """Functions of one matrix, with results that are unique."""
    linalg = numen.linalg
    return {
        "solve": lambda a: linalg.solve(a, a[0]),
        "inv": linalg.inv,
        "det": linalg.det,
        "slogdet": lambda a: sum(linalg.slogdet(a)),
        "cholesky": lambda a: linalg.cholesky(a @ a.T.conj() + nm.eye(3)),
        "pinv": lambda a: linalg.pinv(a[:, :2]),
        "svd": lambda a: linalg.svd(a).U * linalg.svd(a).U.conj(),
        "svd complete": lambda a: abs(linalg.svd(a[:, :2]).U[:, 2:]),
        "eigh": lambda a: abs(linalg.eigh(a).eigenvectors) + linalg.eigh(a).eigenvalues,
        "eig": lambda a: abs(linalg.eig(a).eigenvectors) + linalg.eig(a).eigenvalues,
        "qr": lambda a: sum(linalg.qr(a)),
        "qr complete": lambda a: linalg.qr(a[:, :2], "complete").R,
        "expm": linalg.expm,
        "power": lambda a: linalg.matrix_power(a, -3),
        "lstsq": lambda a: linalg.lstsq(a[:, :2], a[:, 2])[0],
        "norm": lambda a: linalg.norm(a, "nuc") + linalg.norm(a, 2) + linalg.norm(a),
        "cond": linalg.cond,
    }


@pytest.mark.parametrize("is_complex", [False, True], ids=["real", "complex"])
@pytest.mark.parametrize("name", functions())
def test_traced_functions_equal_eager_ones(name, is_complex):
    function = functions()[name]

    def loss(a):
        result = function(a)
        return (result * result.conj()).real.sum() + result.real.sum()

    compiled, slope = nm.jit(loss), nm.jit(nm.grad(loss))
    for seed in range(4):
        a = nm.array(inputs(name, [(3, 3)], is_complex)["a"] * (1 + seed))
        assert_close(compiled(a).numpy(), loss(a).numpy(), 100)
        assert_close(slope(a).numpy(), nm.grad(loss)(a).numpy(), 1000)
