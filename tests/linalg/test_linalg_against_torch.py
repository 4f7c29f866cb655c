"""Values and gradients of numen.linalg against torch.linalg: shapes, dtypes, singular points."""

import numpy as np
import pytest
from recorded import cotangent, matrices, uniform

import numen as nm
import numen.linalg as linalg
from tolerances import assert_close

torch = pytest.importorskip("torch")
other = torch.linalg

DTYPES = ["float32", "float64", "complex64", "complex128"]
SQUARES = [(3, 3), (1, 1), (0, 0), (2, 5, 5), (0, 3, 3), (2, 1, 2, 2)]
TALL = [(4, 3), (3, 1), (2, 5, 2), (3, 3)]
WIDE = [(3, 4), (1, 3), (2, 2, 5)]
EMPTY = [(3, 0), (0, 3), (0, 2, 3)]


def well(shape, dtype, seed=0):
    a = matrices(*shape, seed=seed, complex=np.dtype(dtype).kind == "c")
    k = min(shape[-2:])
    a[..., np.arange(k), np.arange(k)] += np.arange(k)
    return a.astype(dtype)


def plain(t):
    return t.detach().resolve_conj().numpy()


def compare(mine, theirs, arrays, dtype, factor=50):
    """Values and gradients of functions that return one array or several."""
    leaves = [nm.array(a, requires_grad=True) for a in arrays]
    tensors = [torch.tensor(a, requires_grad=True) for a in arrays]
    results, expected = mine(*leaves), theirs(*tensors)
    if not isinstance(results, (tuple, list)):
        results, expected = [results], [expected]
    first = second = None
    for i, (r, e) in enumerate(zip(results, expected, strict=True)):
        assert_close(r.detach().numpy(), plain(e), factor)
        weight = cotangent(plain(e), i)
        part = (nm.array(weight).conj() * r).real.sum()
        other_part = (torch.tensor(weight).conj() * e).real.sum()
        first = part if first is None else first + part
        second = other_part if second is None else second + other_part
    first.backward()
    second.backward()
    for x, t in zip(leaves, tensors, strict=True):
        expected = np.zeros(x.shape, dtype) if t.grad is None else plain(t.grad)
        assert x.grad.dtype == np.dtype(dtype)
        assert_close(x.grad.numpy(), expected, 10 * factor)


def adjoint(x):
    return x.swapaxes(-1, -2).conj() if isinstance(x, nm.Array) else x.mH


def parts(u, s, v):
    """What is unique of thin factors: vectors' moduli, and each pair's product."""
    k = s.shape[-1]
    u, v = u[..., :k], v[..., :k, :]
    terms = [(i + 1) * u[..., :, i, None] * v[..., None, i, :] for i in range(k)]
    return [s, abs(u), abs(v), *terms]


OF_SQUARES = {
    "inv": (linalg.inv, other.inv),
    "det": (linalg.det, other.det),
    "slogdet": (lambda a: tuple(linalg.slogdet(a)), lambda a: tuple(other.slogdet(a))),
    "cholesky": (
        lambda a: linalg.cholesky(a @ adjoint(a)),
        lambda a: other.cholesky(a @ adjoint(a)),
    ),
    "cholesky upper": (
        lambda a: linalg.cholesky(a @ adjoint(a), upper=True),
        lambda a: other.cholesky(a @ adjoint(a), upper=True),
    ),
    "eigvalsh": (
        lambda a: linalg.eigvalsh(a + adjoint(a)),
        lambda a: other.eigvalsh(a + adjoint(a)),
    ),
    "eigvalsh upper": (
        lambda a: linalg.eigvalsh(a + adjoint(a), UPLO="U"),
        lambda a: other.eigvalsh(a + adjoint(a), UPLO="U"),
    ),
    "eigh": (
        lambda a: abs(linalg.eigh(a + adjoint(a)).eigenvectors),
        lambda a: abs(other.eigh(a + adjoint(a)).eigenvectors),
    ),
    "expm": (linalg.expm, other.matrix_exp),
    **{
        f"power {n}": (lambda a, n=n: linalg.matrix_power(a, n),
                       lambda a, n=n: other.matrix_power(a, n))
        for n in (-2, -1, 1, 2, 3)
    },
}  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", OF_SQUARES)
def test_functions_of_squares(name, dtype):
    for shape in SQUARES:
        a = well(shape, dtype)
        if name == "expm":
            a = a / 4
        compare(*OF_SQUARES[name], [a], dtype)


OF_ALL = {
    "pinv": (linalg.pinv, other.pinv),
    "svdvals": (linalg.svdvals, other.svdvals),
    "svd": (
        lambda a: parts(*linalg.svd(a, full_matrices=False)),
        lambda a: parts(*other.svd(a, full_matrices=False)),
    ),
    "svd complete": (lambda a: parts(*linalg.svd(a)), lambda a: parts(*other.svd(a))),
    "qr": (lambda a: tuple(linalg.qr(a)), lambda a: tuple(other.qr(a))),
    "fro": (lambda a: linalg.matrix_norm(a), lambda a: other.matrix_norm(a)),
    **{
        str(p): (lambda a, p=p: linalg.matrix_norm(a, ord=p, keepdims=True),
                 lambda a, p=p: other.matrix_norm(a, p, keepdim=True))
        for p in ("nuc", 1, -1, 2, -2, np.inf, -np.inf)
    },
}  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", OF_ALL)
def test_functions_of_all_matrices(name, dtype):
    for shape in (*TALL, *WIDE):
        compare(*OF_ALL[name], [well(shape, dtype)], dtype)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("name", ["svdvals", "qr", "fro"])
def test_functions_of_empty_matrices(name, dtype):
    for shape in EMPTY:
        compare(*OF_ALL[name], [np.zeros(shape, dtype)], dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_complete_qr_of_wide_matrices(dtype):
    for shape in (*WIDE, (3, 3)):
        compare(
            lambda a: tuple(linalg.qr(a, mode="complete")),
            lambda a: tuple(other.qr(a, mode="complete")),
            [well(shape, dtype)],
            dtype,
        )


@pytest.mark.parametrize("dtype", DTYPES)
def test_eig(dtype):
    for shape in ((3, 3), (1, 1), (2, 4, 4), (0, 0), (0, 3, 3)):
        a = well(shape, dtype)
        if a.size:
            a[..., 0, -1] += 3
            a[..., -1, 0] -= 4
        compare(
            lambda a: (linalg.eig(a)[0] + 0j, abs(linalg.eig(a)[1]), linalg.eigvals(a) + 0j),
            lambda a: (other.eig(a)[0], abs(other.eig(a)[1]), other.eigvals(a)),
            [a], dtype, 100,
        )  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("a", "b"),
    [((3, 3), (3,)), ((3, 3), (3, 2)), ((2, 3, 3), (2, 3, 1)), ((1, 1), (1, 4)), ((0, 0), (0, 2)),
     ((2, 1, 2, 2), (3, 2, 4)), ((0, 3, 3), (3, 2))],
)  # fmt: skip
def test_solve(a, b, dtype):
    arrays = [well(a, dtype), uniform(*b, complex=np.dtype(dtype).kind == "c").astype(dtype)]
    compare(linalg.solve, other.solve, arrays, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("a", "b"), [((5, 3), (5, 2)), ((3, 5), (3, 2)), ((3, 3), (3, 1))])
def test_lstsq(a, b, dtype):
    arrays = [well(a, dtype), uniform(*b, complex=np.dtype(dtype).kind == "c").astype(dtype)]
    compare(
        lambda a, b: linalg.lstsq(a, b)[0],
        lambda a, b: other.lstsq(a, b, driver="gelsd")[0],
        arrays, dtype,
    )  # fmt: skip


PRODUCTS = [
    ("matmul", (2, 3), (3, 4)), ("matmul", (3,), (2, 3, 4)), ("matmul", (2, 4, 3), (3,)),
    ("matmul", (3,), (3,)), ("matmul", (2, 1, 2, 3), (4, 3, 1)), ("matmul", (2, 0), (0, 3)),
    ("vecdot", (2, 3), (2, 3)), ("cross", (2, 3), (2, 3)), ("outer", (2,), (3,)),
    ("tensorsolve", (4, 2, 2), (4,)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("name", "a", "b"), PRODUCTS)
def test_products(name, a, b, dtype):
    is_complex = np.dtype(dtype).kind == "c"
    arrays = [uniform(*s, seed=i, complex=is_complex).astype(dtype) for i, s in enumerate((a, b))]
    theirs = torch.outer if name == "outer" else getattr(other, name)
    compare(getattr(linalg, name), theirs, arrays, dtype, 500 if "solve" in name else 50)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("ord", [2, 1, 3, 0.5, -1.5, np.inf, -np.inf])
def test_vector_norms(ord, dtype):
    for shape in ((4,), (1,), (2, 3, 2)):
        x = uniform(*shape, complex=np.dtype(dtype).kind == "c").astype(dtype)
        compare(
            lambda a: linalg.vector_norm(a, ord=ord, axis=-1),
            lambda a: other.vector_norm(a, ord, dim=-1),
            [x], dtype,
        )  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("p", [None, 2, -2, "nuc"])
def test_cond(p, dtype):
    compare(lambda a: linalg.cond(a, p), lambda a: other.cond(a, p), [well((3, 3), dtype)], dtype)


def test_the_inner_products_of_three():
    shapes = [(2, 3), (3, 5), (5, 2), (2, 2)]
    arrays = [uniform(*s, seed=i, complex=True) for i, s in enumerate(shapes)]
    compare(
        lambda *a: linalg.multi_dot(list(a)), lambda *a: other.multi_dot(a), arrays, "complex128"
    )


def test_second_derivatives_as_torch_has_them():
    a = well((3, 3), "complex128")
    w = cotangent(a)
    for mine, theirs in [
        (linalg.inv, other.inv), (linalg.expm, other.matrix_exp),
        (lambda x: linalg.qr(x).R, lambda x: other.qr(x).R),
        (lambda x: linalg.svdvals(x) + 0j, lambda x: other.svdvals(x) + 0j),
        (lambda x: linalg.pinv(x[:, :2]).T, lambda x: other.pinv(x[:, :2]).T),
        (lambda x: linalg.cholesky(x @ adjoint(x)), lambda x: other.cholesky(x @ adjoint(x))),
        (lambda x: linalg.eigvals(x), lambda x: other.eigvals(x)),
        (lambda x: linalg.det(x)[None], lambda x: other.det(x)[None]),
    ]:  # fmt: skip
        v = cotangent(plain(theirs(torch.tensor(a))), 3)

        def slope(x, mine=mine, v=v):
            g = nm.grad(lambda y: (nm.array(v.conj()) * mine(y)).real.sum())(x)
            return (nm.array(w.conj()) * g).real.sum()

        t = torch.tensor(a, requires_grad=True)
        (g,) = torch.autograd.grad(
            (torch.tensor(v.conj()) * theirs(t)).real.sum(), t, create_graph=True
        )
        (expected,) = torch.autograd.grad((torch.tensor(w.conj()) * g).real.sum(), t)
        assert_close(nm.grad(slope)(nm.array(a)).numpy(), plain(expected), 1000)
