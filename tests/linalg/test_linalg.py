"""numen.linalg: NumPy's values, dtypes, stacks and errors.

Derivatives: test_linalg_gradients.py and the files beside it.
"""

import numpy as np
import pytest
from recorded import matrices, uniform
from same_source import compare

import numen as nm
import numen.linalg
from numen.linalg import LinAlgError, norm

DTYPES = ["int8", "int64", "float16", "float32", "float64", "complex64", "complex128"]
SQUARES = {
    "2x2": "np.array([[4, 1], [1, 3]])", "1x1": "np.array([[2]])", "stack": "np.eye(3)[None] * 2",
    "more": "np.array([[[2, 1, 0], [1, 3, 1], [0, 1, 4]]] * 2)", "empty": "np.ones((0, 0))",
    "no matrix": "np.ones((0, 3, 3))", "vector": "np.ones(3)", "wide": "np.ones((2, 3))",
    "singular": "np.ones((2, 2))", "scalar": "np.array(2)",
}  # fmt: skip
ONE = [
    "inv", "det", "slogdet", "cholesky", "eig", "eigh", "eigvals", "eigvalsh", "svd", "svdvals",
    "qr", "pinv", "matrix_rank", "cond", "norm", "matrix_norm", "vector_norm", "trace", "diagonal",
    "matrix_transpose",
]  # fmt: skip


def test_every_name_of_numpys():
    public = {n for n in dir(np.linalg) if n[0] != "_" and n not in ("linalg", "test")}
    assert set(numen.linalg.__all__) == public | {"expm"}
    assert LinAlgError is np.linalg.LinAlgError
    assert numen.linalg.norm is norm


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ONE)
def test_functions_of_one_matrix(name, dtype):
    for matrix in SQUARES.values():
        compare(f"a = {matrix}.astype(np.{dtype})\nr = np.linalg.{name}(a)")


@pytest.mark.parametrize(
    "text",
    [
        *[f"np.linalg.cholesky(A, upper={u})" for u in (True, False)],
        *[f"np.linalg.{f}(A, UPLO={u!r})" for f in ("eigh", "eigvalsh") for u in "LUux"],
        *[f"np.linalg.qr(B, mode={m!r})" for m in ("reduced", "complete", "r", "raw", "odd")],
        *[f"np.linalg.svd(B, full_matrices={f})" for f in (True, False)],
        "np.linalg.svd(B, compute_uv=False)", "np.linalg.svd(A, hermitian=True)",
        "np.linalg.pinv(B, 0.5)", "np.linalg.pinv(B, rtol=0.5)",
        "np.linalg.pinv(A, hermitian=True)",
        "np.linalg.pinv(B, 0.5, rtol=0.5)", "np.linalg.pinv(np.ones((2, 0)))",
        "np.linalg.matrix_rank(B, 10.)", "np.linalg.matrix_rank(np.ones(3))",
        "np.linalg.matrix_rank(B, rtol=0.9)",
        *[f"np.linalg.cond(A, {p})" for p in ("2", "-2", "1", "np.inf", "'fro'", "'nuc'")],
        "np.linalg.cond(B)", "np.linalg.cond(B, 1)", "np.linalg.cond(np.ones((2, 2)), 1)",
        "np.linalg.trace(B, offset=1)", "np.linalg.trace(S, dtype=np.float32)",
        "np.linalg.diagonal(B, offset=-1)", "np.linalg.diagonal(S)",
        "np.linalg.diagonal(S, offset=9)",
    ],
)  # fmt: skip
def test_options(text):
    start = (
        "A = np.array([[4., 1, 0.5], [1, 3, 1], [0.5, 1, 2]])\n"
        "B = np.arange(8.).reshape(4, 2) + np.eye(4, 2)\nS = np.arange(18).reshape(2, 3, 3)\n"
    )
    compare(f"{start}r = {text}")


@pytest.mark.parametrize("dtype", ["int64", "float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((3, 3), (3,)), ((3, 3), (3, 2)), ((2, 3, 3), (3,)), ((2, 3, 3), (3, 1)),
        ((2, 3, 3), (2, 3, 2)), ((0, 0), (0,)), ((0, 3, 3), (3,)), ((3, 3), (2,)), ((2, 3), (2,)),
        ((3,), (3,)), ((3, 3), ()), ((2, 3, 3), (2, 3)),
    ],
)  # fmt: skip
def test_solve(a, b, dtype):
    size, count = int(np.prod(a)), int(np.prod(b))
    compare(
        f"a = (np.arange({size}) % 5).reshape({a}) + 4 * np.eye({a[-1]})\n"
        f"b = np.arange({count}).reshape({b}).astype(np.{dtype})\n"
        f"r = np.linalg.solve(a.astype(np.{dtype}), b)"
    )


@pytest.mark.parametrize(
    "text",
    [
        "np.linalg.solve(np.ones((2, 2)), np.ones(2))",
        "np.linalg.lstsq(np.arange(6.).reshape(3, 2), np.arange(3.))",
        "np.linalg.lstsq(np.arange(6.).reshape(3, 2), np.ones((3, 2)), rcond=0.1)",
        "np.linalg.lstsq(np.arange(6.).reshape(2, 3), np.ones(2), -1)",
        "np.linalg.lstsq(np.ones((2, 3, 1)), np.ones(2))",
        "np.linalg.lstsq(np.ones((2, 3)), np.ones(4))",
        "np.linalg.tensorinv(np.eye(24).reshape(4, 6, 8, 3))",
        "np.linalg.tensorinv(np.eye(24).reshape(24, 8, 3), ind=1)",
        "np.linalg.tensorinv(np.eye(4), ind=0)", "np.linalg.tensorinv(np.ones((2, 3)), 1)",
        "np.linalg.tensorsolve(np.eye(24).reshape(6, 4, 2, 3, 4), np.ones((6, 4)))",
        "np.linalg.tensorsolve(np.eye(6).reshape(3, 6, 2), np.ones((3, 2)), axes=(1,))",
        "np.linalg.tensorsolve(np.ones((2, 3)), np.ones(2))",
        *[f"np.linalg.matrix_power(np.array([[1, 2], [3, 5]]), {n})" for n in (-3, -1, 0, 1, 2, 3)],
        "np.linalg.matrix_power(np.array([[1, 2], [3, 5]]), 7)",
        "np.linalg.matrix_power(np.ones((2, 3)), 2)", "np.linalg.matrix_power(np.eye(2), 1.5)",
        "np.linalg.matrix_power(np.stack([np.eye(2, dtype=int)] * 3) * 2, 5)",
        "np.linalg.matrix_power(np.ones((2, 2)), -1)",
        "np.linalg.multi_dot([np.ones((2, 3)), np.ones((3, 4))])",
        "np.linalg.multi_dot([np.ones((2, 3)), np.ones((3, 4)), np.ones((4, 2))])",
        "np.linalg.multi_dot([np.ones(3), np.ones((3, 4)), np.ones((4, 2)), np.ones(2)])",
        "np.linalg.multi_dot([np.ones((2, 3)), np.ones((3, 4)), np.ones(4)])",
        "np.linalg.multi_dot([np.ones((2, 2))])", "np.linalg.multi_dot([np.ones((2, 2, 2))] * 3)",
        "np.linalg.multi_dot([np.ones((2, 2))] * 3, out=np.zeros((2, 2)))",
        "np.linalg.outer([1, 2], [3, 4])", "np.linalg.outer([[1]], [3, 4])",
        "np.linalg.cross([1, 2, 3], [4, 5, 6])", "np.linalg.cross([1, 2], [3, 4])",
        "np.linalg.cross(np.ones((3, 2)), np.arange(6).reshape(3, 2), axis=0)",
        "np.linalg.matmul(np.ones((2, 3)), np.ones((3, 1)))", "np.linalg.matmul(2, [1])",
        "np.linalg.vecdot([1, 2j], [1j, 2])", "np.linalg.vecdot(np.ones((2, 3)), [1, 2, 3])",
        "np.linalg.vecdot(np.ones((2, 3)), np.ones((2, 1)), axis=0)",
        "np.linalg.vecdot([1, 2], [1, 2, 3])",
        "np.linalg.tensordot(np.ones((2, 3)), np.ones((3, 4)), axes=1)",
    ],
)  # fmt: skip
def test_systems_and_products(text):
    compare(text)


ORDERS = ["None", "0", "1", "-1", "2", "-2", "3", "0.5", "-1.5", "np.inf", "-np.inf", "'fro'"]
ORDERS += ["'nuc'", "'odd'"]


@pytest.mark.parametrize("dtype", ["int32", "float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("ord", ORDERS)
def test_norms(ord, dtype):
    start = f"x = (np.arange(24) % 7 - 3).astype(np.{dtype}).reshape(2, 3, 4)\n"
    for a in ("x", "x[0]", "x[0, 0]", "x[:0]", "x[0, :0]", "x[0, 0, 0]"):
        compare(f"{start}r = np.linalg.norm({a}, {ord})")
        compare(f"{start}r = np.linalg.vector_norm({a}, ord={ord}, axis=-1, keepdims=True)")
        compare(f"{start}r = np.linalg.vector_norm({a}, ord={ord})")
        compare(f"{start}r = np.linalg.matrix_norm({a}, ord={ord}, keepdims=True)")
    for more in ("0", "-1", "(0, 1)", "(2, 0)", "(1,)", "(1, 1)", "(0, 1, 2)", "5", "'x'"):
        compare(f"{start}r = np.linalg.norm(x, {ord}, axis={more})")
        compare(f"{start}r = np.linalg.norm(x, {ord}, axis={more}, keepdims=True)")
    compare(f"{start}r = np.linalg.vector_norm(x, ord={ord}, axis=(2, 0), keepdims=True)")


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda x: numen.linalg.inv(x), LinAlgError),
        (lambda x: numen.linalg.solve(x, nm.ones(2)), LinAlgError),
        (lambda x: numen.linalg.cholesky(x), LinAlgError),
        (lambda x: numen.linalg.det(x[:1]), LinAlgError),
        (lambda x: numen.linalg.cholesky(x[0], upper=True), LinAlgError),
        (lambda x: numen.linalg.matrix_power(x[:1], 2), LinAlgError),
        (lambda x: numen.linalg.matrix_power(x, 0.5), TypeError),
        (lambda x: numen.linalg.multi_dot([x]), ValueError),
        (lambda x: numen.linalg.multi_dot([x, x[None], x]), LinAlgError),
        (lambda x: numen.linalg.tensorinv(x, 0), ValueError),
        (lambda x: numen.linalg.tensorsolve(x[:1], nm.ones(1)), LinAlgError),
        (lambda x: numen.linalg.eigh(x, "x"), ValueError),
        (lambda x: norm(x, "odd"), ValueError),
        (lambda x: norm(x[0], "fro"), ValueError),
        (lambda x: norm(x, axis=(0, 0)), ValueError),
        (lambda x: norm(x, axis="x"), TypeError),
        (lambda x: norm(x, axis=7), np.exceptions.AxisError),
        (lambda x: numen.linalg.outer(x, x), ValueError),
        (lambda x: numen.linalg.cross(x, x), ValueError),
        (lambda x: numen.linalg.matrix_transpose(x[0]), ValueError),
        (lambda x: numen.linalg.lstsq(x, nm.ones(3)), LinAlgError),
    ],
)
def test_recorded_calls_raise_numpys_classes(call, error):
    x = nm.array([[1.0, 1.0], [1.0, 1.0]], requires_grad=True)
    with pytest.raises(error):
        call(x)


def test_views_are_views():
    x = nm.arange(6.0).reshape(2, 3)
    assert numen.linalg.matrix_transpose(x).base is x.base
    assert numen.linalg.diagonal(x).base is x.base
    assert not numen.linalg.diagonal(x).flags.writeable


def test_a_traced_system_equals_the_eager_one():
    def f(a, b):
        return norm(numen.linalg.solve(a @ a.T, b)) + numen.linalg.slogdet(a)[1]

    a, b = nm.array(matrices(3, 3)), nm.array(uniform(3))
    compiled = nm.jit(f)
    for _ in range(3):
        assert compiled(a, b).item() == pytest.approx(f(a, b).item(), rel=1e-13)
    slope = nm.jit(nm.grad(f))
    for _ in range(3):
        np.testing.assert_allclose(slope(a, b).numpy(), nm.grad(f)(a, b).numpy(), rtol=1e-10)
