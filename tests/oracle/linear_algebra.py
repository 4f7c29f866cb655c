"""Products, norms and systems of equations: torch's name to numen's function. Next:
`decompositions.py`."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.oracle.counterparts import Counterpart, axis_of, refuses

import numen as nm

L = nm.linalg


# ------------------------------------------------------------ products


def scaled(value: Any, factor: Any) -> Any:
    return value if factor == 1 else value * factor


def weighted(product: Any) -> Any:
    """beta * x + alpha * product, as addmm and its family."""

    def call(x: Any, a: Any, b: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
        right = scaled(product(a, b), alpha)
        if beta == 0:  # torch ignores x then
            return right + nm.zeros(x.shape, x.dtype)
        return scaled(x, beta) + right

    return call


def summed_matmul(a: Any, b: Any) -> Any:
    return nm.sum(nm.matmul(a, b), axis=0)


def tensordot(a: Any, b: Any, dims: Any = 2) -> Any:
    return nm.tensordot(a, b, dims)


def einsum(equation: str, *operands: Any) -> Any:
    if len(operands) == 1 and isinstance(operands[0], (tuple, list)):
        operands = tuple(operands[0])
    return nm.einsum(equation, *operands)


def einsum_of(operands: Any, equation: str) -> Any:
    return nm.einsum(equation, *operands)


def cross(a: Any, b: Any, dim: Any = None) -> Any:
    if dim is None:
        dim = next(i for i, n in enumerate(a.shape) if n == 3)
    return nm.cross(a, b, axis=dim)


def vecdot(a: Any, b: Any, dim: int = -1) -> Any:
    a, b = nm.broadcast_arrays(a, b)
    return L.vecdot(a, b, axis=dim)


def multi_dot(arrays: Any) -> Any:
    return L.multi_dot(arrays)


def chain(*arrays: Any) -> Any:
    return L.multi_dot(arrays)


# ------------------------------------------------------------ norms


def vector_norm(
    x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Any:
    if dtype is not None:
        x = x.astype(dtype)
    if x.ndim == 0:
        x, dim, keepdim = nm.reshape(x, (1,)), None, False
    return L.vector_norm(x, axis=axis_of(dim), keepdims=keepdim, ord=ord)


def matrix_norm(
    x: Any, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None
) -> Any:
    if dtype is not None:
        x = x.astype(dtype)
    return L.norm(x, ord, axis=tuple(dim), keepdims=keepdim)


def norm(
    x: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Any:
    if dtype is not None:
        x = x.astype(dtype)
    if ord is None:
        return vector_norm(x, 2, dim, keepdim)
    if dim is None:
        refuses(x.ndim > 2, "a matrix norm of more axes")
        return L.norm(x, ord, keepdims=keepdim) if x.ndim else vector_norm(x, ord)
    if isinstance(dim, int) or len(dim) == 1:
        return vector_norm(x, ord, dim, keepdim)
    return L.norm(x, ord, axis=tuple(dim), keepdims=keepdim)


def old_norm(
    x: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> Any:
    """torch.norm: a number means the vector norm over any axes."""
    if p == "nuc":
        return matrix_norm(x, "nuc", (-2, -1) if dim is None else dim, keepdim)
    return vector_norm(x, 2 if p in ("fro", None) else p, dim, keepdim, dtype=dtype)


def cond(x: Any, p: Any = None) -> Any:
    return L.cond(x, p)


# ------------------------------------------------------------ systems


def cholesky(x: Any, upper: bool = False) -> Any:
    return L.cholesky(x, upper=upper)


def cholesky_ex(x: Any, *, upper: bool = False, check_errors: bool = False) -> Any:
    return L.cholesky(x, upper=upper)


def first(result: Any) -> Any:
    """Without the last result, torch's status codes."""
    return result[0] if isinstance(result, tuple) else result


def transposed(x: Any) -> Any:
    return nm.conj(L.matrix_transpose(x))


def whole(factor: Any, upper: bool) -> Any:
    """The matrix of a Cholesky factor, from its own triangle."""
    if upper:
        factor = nm.triu(factor)
        return nm.matmul(transposed(factor), factor)
    factor = nm.tril(factor)
    return nm.matmul(factor, transposed(factor))


def cholesky_inverse(factor: Any, upper: bool = False) -> Any:
    return L.inv(whole(factor, upper))


def cholesky_solve(b: Any, factor: Any, upper: bool = False) -> Any:
    return L.solve(whole(factor, upper), b)


def solve(a: Any, b: Any, *, left: bool = True, check_errors: bool = False) -> Any:
    """torch takes b as vectors where it lacks one axis, NumPy where it has one."""
    vectors = b.ndim == 1 or (a.ndim - 1 == b.ndim and b.shape == a.shape[:-1])
    if vectors:
        refuses(not left, "vectors from the right")
        return nm.squeeze(L.solve(a, nm.expand_dims(b, -1)), -1)
    if left:
        return L.solve(a, b)
    turned = L.solve(L.matrix_transpose(a), L.matrix_transpose(b))
    return L.matrix_transpose(turned)


def solve_triangular(
    a: Any, b: Any, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Any:
    a = nm.triu(a, int(unitriangular)) if upper else nm.tril(a, -int(unitriangular))
    if unitriangular:
        a = a + nm.eye(a.shape[-1], dtype=a.dtype)
    return solve(a, b, left=left)


def triangular_solve(
    b: Any, a: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    own = nm.triu(a, int(unitriangular)) if upper else nm.tril(a, -int(unitriangular))
    if unitriangular:
        own = own + nm.eye(a.shape[-1], dtype=a.dtype)
    return L.solve(L.matrix_transpose(own) if transpose else own, b)


def inv_ex(x: Any, *, check_errors: bool = False) -> Any:
    return L.inv(x)


def logdet(x: Any) -> Any:
    sign, size = L.slogdet(x)
    # the logarithm of a negative determinant is not a number
    return (
        nm.where(nm.less(sign, 0), np.nan, size) if sign.dtype.kind == "f" else nm.log(sign) + size
    )


def lstsq(a: Any, b: Any, rcond: Any = None, *, driver: Any = None) -> Any:
    refuses(a.ndim > 2, "many systems at once")
    return L.lstsq(a, b, rcond)[0]


def matrix_rank(
    x: Any, tol: Any = None, *, atol: Any = None, rtol: Any = None, hermitian: bool = False
) -> Any:
    refuses(atol is not None, "an absolute tolerance beside a relative one")
    more = {} if rtol is None else {"rtol": rtol}
    return L.matrix_rank(x, tol=tol, hermitian=hermitian, **more)


def pinv(
    x: Any, rcond: Any = None, *, atol: Any = None, rtol: Any = None, hermitian: bool = False
) -> Any:
    refuses(atol is not None, "an absolute tolerance")
    eps = max(x.shape[-2:]) * float(np.finfo(x.dtype).eps)
    tolerance = rcond if rcond is not None else rtol if rtol is not None else eps
    return L.pinv(x, tolerance, hermitian)


def matrix_power(x: Any, n: int) -> Any:
    return L.matrix_power(x, n)


def tensorsolve(a: Any, b: Any, dims: Any = None) -> Any:
    return L.tensorsolve(a, b, dims)


def vander(x: Any, *, N: Any = None) -> Any:
    if x.ndim == 0:
        return nm.vander(nm.reshape(x, (1,)), N, increasing=True)
    if x.ndim == 1:
        return nm.vander(x, N, increasing=True)
    count = x.shape[-1] if N is None else N
    powers = [nm.ones(x.shape, x.dtype)]
    for _ in range(count - 1):
        powers.append(powers[-1] * x)
    return nm.stack(powers[:count], -1)


LINEAR_ALGEBRA: dict[str, Any] = {
    "matmul": nm.matmul,
    "mm": nm.matmul,
    "bmm": nm.matmul,
    "mv": nm.matmul,
    "dot": nm.dot,
    "vdot": nm.vdot,
    "inner": nm.inner,
    "outer": nm.outer,
    "kron": nm.kron,
    "addmm": weighted(nm.matmul),
    "addmm.decomposed": weighted(nm.matmul),
    "addmv": weighted(nm.matmul),
    "baddbmm": weighted(nm.matmul),
    "addbmm": weighted(summed_matmul),
    "addr": weighted(nm.outer),
    "tensordot": tensordot,
    "einsum": einsum_of,
    "cross": cross,
    "linalg.cross": lambda a, b, *, dim=-1: nm.cross(a, b, axis=dim),
    "linalg.vecdot": vecdot,
    "linalg.multi_dot": multi_dot,
    "linalg.vector_norm": vector_norm,
    "linalg.matrix_norm": matrix_norm,
    "linalg.norm": norm,
    "linalg.norm.subgradients_at_zero": norm,
    "norm": old_norm,
    "norm.nuc": old_norm,
    "norm.fro": old_norm,
    "norm.inf": old_norm,
    "linalg.cond": cond,
    "linalg.det": L.det,
    "linalg.slogdet": L.slogdet,
    "logdet": logdet,
    "linalg.inv": L.inv,
    "linalg.inv_ex": Counterpart(inv_ex, first),
    "linalg.solve": solve,
    "linalg.solve_ex": Counterpart(solve, first),
    "linalg.solve_triangular": solve_triangular,
    "triangular_solve": Counterpart(triangular_solve, first),
    "cholesky": cholesky,
    "linalg.cholesky": cholesky,
    "linalg.cholesky_ex": Counterpart(cholesky_ex, first),
    "cholesky_inverse": cholesky_inverse,
    "cholesky_solve": cholesky_solve,
    "linalg.lstsq": Counterpart(lstsq, first),
    "linalg.lstsq.grad_oriented": Counterpart(lstsq, first),
    "linalg.matrix_rank": matrix_rank,
    "linalg.matrix_rank.hermitian": matrix_rank,
    "linalg.pinv": pinv,
    "linalg.pinv.hermitian": pinv,
    "linalg.pinv.singular": lambda a, b: pinv(nm.matmul(a, b.mT)),
    "pinverse": pinv,
    "linalg.matrix_power": matrix_power,
    "linalg.tensorinv": lambda a, ind=2: L.tensorinv(a, ind),
    "linalg.tensorsolve": tensorsolve,
    "linalg.vander": vander,
}
