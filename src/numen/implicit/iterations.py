"""Solvers of equations: Newton's method for f(x) = 0, Anderson's for x = f(x).

Each takes a function of a list of arrays and the list to start from. Under `vmap` they solve for
all examples at once. Called by `equations.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

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
from numen.namespace import isfinite, maximum, minimum, stack, where
from numen.transforms.packs import Form
from numen.transforms.reverse import vjp

Equation = Callable[[Leaves], Leaves]


def newton(
    f: Equation, start: Leaves, tol: float | None, maxiter: int, name: str = "root"
) -> Leaves:
    """A root of f by Newton's method; steps are halved until the residual falls.

    It stops where steps no longer change x, or the residual's norm is at most `tol`.

    Raises
    ------
    ConvergenceError
        If it does not get there.
    """
    packing = Packing(start)
    flat = packing.flat(f, f"{name}: f")
    x = packing.join(start, name)
    fine = resolution(packing.dtype)
    r = flat(x)
    size = norm(r)
    for count in range(maxiter):
        step = _newton_step(flat, x, r, count, name)
        scale = norm(x) + 1
        done = norm(step) <= 8 * fine * scale
        if tol is not None:
            done = done | (size <= tol)
        done = done | (size == 0)
        stalled = norm(step) <= fine**0.5 * scale
        x, r, new, fell = _line_search(flat, x, r, size, step, done)
        if greatest(where(done | (stalled & ~fell), 0, 1)) == 0:
            return packing.split(x)
        if greatest(where(done | fell, 0, 1)) > 0:
            raise _lost(name, "Newton steps no longer lower the residual", new, count + 1)
        size = new
    raise _lost(name, "no convergence", size, maxiter)


def _newton_step(
    flat: Callable[[Vector], Vector], x: Vector, r: Vector, count: int, name: str
) -> Vector:
    """The solution of J step = r."""
    _, pull = vjp(flat, x)
    form = Form.of(x)
    rows = []
    for i in range(int(x.shape[0])):
        unit = np.zeros(x.shape[0], x.dtype)
        unit[i] = 1
        rows.append(pull(form.placed(unit))[0].conj())
    try:
        step = solve_dense(stack(rows), r[:, None])[:, 0]
    except np.linalg.LinAlgError as error:
        raise _lost(name, "the Jacobian is singular", norm(r), count) from error
    if greatest(where(isfinite(step), 0, 1)) > 0:
        raise _lost(name, "a Newton step is not finite", norm(r), count)
    return step


def _line_search(
    flat: Callable[[Vector], Vector], x: Vector, r: Vector, size: Any, step: Vector, done: Any
) -> tuple[Vector, Vector, Any, Any]:
    """The point where the residual is smaller, its residual and norm, and whether there is one."""
    t = where(done, 1, 1.0).astype(size.dtype)
    for _ in range(30):
        at = x - t * step
        new = flat(at)
        length = norm(new)
        fell = length < size
        if greatest(where(fell | done, 0, 1)) == 0:
            break
        t = where(fell | done, t, t / 2)
    keep = fell | (done & (length <= size))
    return where(keep, at, x), where(keep, new, r), where(keep, length, size), fell


def anderson(
    f: Equation, start: Leaves, tol: float | None, maxiter: int, name: str = "fixed_point"
) -> Leaves:
    """A fixed point of f by Anderson's acceleration over the last steps.

    Anderson (1965), in the form of Walker and Ni (2011). It stops where f(x) - x is at most `tol`
    times 1 + the norm of x; by default some thousand times the dtype's resolution.

    Raises
    ------
    ConvergenceError
        If it does not get there.
    """
    packing = Packing(start)
    flat = packing.flat(f, f"{name}: f")
    x = packing.join(start, name)
    allowed = 1000 * resolution(packing.dtype) if tol is None else tol
    xs: list[Vector] = []
    gs: list[Vector] = []
    best: Any = None
    for count in range(maxiter):
        g = flat(x) - x
        size = norm(g)
        if greatest(size - allowed * (norm(x) + 1)) <= 0:
            return packing.split(x + g)
        if greatest(where(isfinite(size), 0, 1)) > 0:
            raise _lost(name, "the iteration diverges", size, count)
        best = size if best is None else minimum(best, size)
        if greatest(size / maximum(best, resolution(packing.dtype))) > 1e3:
            xs, gs = [], []  # what was learnt there misleads
        xs, gs = [*xs[-MEMORY:], x], [*gs[-MEMORY:], g]
        x = x + g - _acceleration(xs, gs)
    raise _lost(name, "no convergence", size, maxiter)


MEMORY = 5
"""How many earlier steps Anderson's method looks at."""


def _acceleration(xs: list[Vector], gs: list[Vector]) -> Any:
    """What the last steps say the plain step misses."""
    if len(xs) < 2:
        return 0
    dx = stack([b - a for a, b in pairwise(xs)])
    dg = stack([b - a for a, b in pairwise(gs)])
    gram = dg.conj() @ dg.T
    count = len(xs) - 1
    eye = Form.of(gram).placed(np.eye(count, dtype=gram.dtype))
    trace = (gram * eye).sum()
    ridge = (trace * 10 * resolution(gram.dtype) + np.finfo(gram.dtype).tiny * 1e10) * eye
    weights = solve_dense(gram + ridge, (dg.conj() @ gs[-1])[:, None])
    return ((dx + dg) * weights).sum(axis=0)


def _lost(name: str, what: str, size: Any, count: int) -> ConvergenceError:
    left = greatest(size)
    return ConvergenceError(
        f"{name}: {what} after {count} iterations; the residual is {left:.3g}. Hint: another "
        "start, solver or maxiter",
        left,
        count,
    )
