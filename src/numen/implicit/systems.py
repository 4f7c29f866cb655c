"""Linear systems of which only products are known: dense, conjugate gradients, GMRES.

Each solver takes matvec (list of arrays -> list of arrays) and the right side, and returns a list.
Used by `problem.py` for derivatives and by `equations.linear_solve`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from numen.implicit.vectors import (
    ConvergenceError,
    Leaves,
    Packing,
    Vector,
    greatest,
    norm,
    resolution,
)
from numen.linalg import solve as solve_dense
from numen.namespace import stack, where
from numen.transforms.packs import Form

MatVec = Callable[[Leaves], Leaves]
LinearSolver = Callable[[MatVec, Leaves], Leaves]

MOST_DENSE = 600
"""Up to how many unknowns the matrix is made and factored."""


class Systems(NamedTuple):
    """A solver of A x = b, and one for the transposed systems."""

    solve: LinearSolver
    transposed: LinearSolver


def default_solver(symmetric: bool = False) -> LinearSolver:
    """Dense elimination for few unknowns, else conjugate gradients (of a symmetric positive
    definite matrix) or GMRES."""

    def solve(matvec: MatVec, b: Leaves) -> Leaves:
        packing = Packing(b)
        if packing.size <= MOST_DENSE:
            return dense(matvec, b)
        return conjugate_gradients(matvec, b) if symmetric else gmres(matvec, b)

    return solve


def dense(matvec: MatVec, b: Leaves) -> Leaves:
    """The solution by the matrix, made column by column.

    Raises
    ------
    ConvergenceError
        If the matrix is singular to working precision.
    """
    packing = Packing(b)
    right = packing.join(b, "linear_solve")
    product = packing.flat(matvec, "linear_solve: matvec")
    if not packing.size:
        return b
    columns, form = [], Form.of(right)
    for i in range(packing.size):
        unit = np.zeros(packing.size, packing.dtype)
        unit[i] = 1
        columns.append(product(form.placed(unit)))
    try:
        x = solve_dense(stack(columns, axis=1), right[:, None])[:, 0]
    except np.linalg.LinAlgError as error:
        raise ConvergenceError(
            f"linear_solve: the matrix of {packing.size} unknowns is singular", np.inf, 0
        ) from error
    _check(product, x, right, resolution(packing.dtype) ** 0.5, packing.size)
    return packing.split(x)


def conjugate_gradients(matvec: MatVec, b: Leaves) -> Leaves:
    """The solution for a symmetric (Hermitian) positive definite matrix.

    Hestenes and Stiefel (1952).

    Raises
    ------
    ConvergenceError
        If the residual does not fall, as for a matrix of another kind.
    """
    packing = Packing(b)
    right = packing.join(b, "linear_solve")
    product = packing.flat(matvec, "linear_solve: matvec")
    x = right * 0
    r = p = right
    square = norm(r) ** 2
    allowed = (_accuracy(packing) * norm(right)) ** 2
    count = 0
    while greatest(square - allowed) > 0:
        if count >= 10 * packing.size:
            break
        ap = product(p)
        curvature = (p.conj() * ap).sum().real
        if greatest(where((curvature <= 0) & (square > allowed), 1, 0)) > 0:
            break  # not positive definite
        alpha = square / where(curvature == 0, 1, curvature)
        x = x + alpha * p
        r = r - alpha * ap
        new = norm(r) ** 2
        p = r + new / where(square == 0, 1, square) * p
        square = new
        count += 1
    _check(product, x, right, 100 * _accuracy(packing), count)
    return packing.split(x)


def gmres(matvec: MatVec, b: Leaves, restart: int = 40) -> Leaves:
    """The solution for any matrix, by minimal residuals in Krylov spaces.

    Saad and Schultz (1986), restarted; the small least-squares problem by normal equations of
    triangular form is solved densely.

    Raises
    ------
    ConvergenceError
        If the residual does not fall.
    """
    packing = Packing(b)
    right = packing.join(b, "linear_solve")
    product = packing.flat(matvec, "linear_solve: matvec")
    x = right * 0
    allowed = _accuracy(packing) * norm(right)
    count, before = 0, np.inf
    while True:
        r = right - product(x)
        left = greatest(norm(r) - allowed)
        if left <= 0 or not left < before or count >= 10 * packing.size:
            break
        before = left
        step, used = _krylov(product, r, min(restart, packing.size))
        x = x + step
        count += used
    _check(product, x, right, 100 * _accuracy(packing), count)
    return packing.split(x)


def _krylov(product: Callable[[Vector], Vector], r: Vector, most: int) -> tuple[Vector, int]:
    """The correction from one Krylov space of r."""
    length = norm(r)
    safe = where(length == 0, 1, length)
    basis, images = [r / safe], []
    for _ in range(most):
        image = product(basis[-1])
        images.append(image)
        w = image
        for _ in range(2):  # twice is enough to be orthogonal
            for q in basis:
                w = w - (q.conj() * w).sum() * q
        size = norm(w)
        if greatest(size / where(norm(image) == 0, 1, norm(image))) <= resolution(r.dtype):
            break
        basis.append(w / where(size == 0, 1, size))
    # minimise |r - sum y_j A q_j| over y: a small dense problem in an orthonormal frame
    frame = stack(basis)
    columns = stack([(frame.conj() * image[None]).sum(axis=1) for image in images], axis=1)
    target = (frame.conj() * r[None]).sum(axis=1)
    adjoint = columns.conj().T
    gram = adjoint @ columns
    ridge = resolution(r.dtype) ** 2 * np.eye(len(images), dtype=r.dtype)
    y = solve_dense(gram + Form.of(gram).placed(ridge), (adjoint @ target)[:, None])
    return (y * frame[: len(images)]).sum(axis=0), len(images)


def _accuracy(packing: Packing) -> float:
    return 20 * resolution(packing.dtype)


def _check(
    product: Callable[[Vector], Vector], x: Vector, right: Vector, relative: float, count: int
) -> None:
    """Refuse what is no solution.

    Raises
    ------
    ConvergenceError
        If the residual is too large.
    """
    residual = norm(right - product(x))
    scale = norm(right)
    excess = greatest(residual - relative * scale)
    if not excess <= 0:
        left = greatest(residual)
        raise ConvergenceError(
            f"linear_solve: no solution after {count} steps: the residual is {left:.3g}, allowed "
            f"were {relative:.3g} of the right side's {greatest(scale):.3g}. Hint: the matrix may "
            "be singular, or not positive definite",
            left,
            count,
        )
