"""root, fixed_point and linear_solve: solutions that can be differentiated.

Unknowns and arguments may be tuples, lists and dicts of arrays. Next: `problem.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numen.dispatch.convert import as_array
from numen.dispatch.core import ArrayCore, is_differentiable
from numen.errors import DTypeError, ShapeError, describe
from numen.implicit.iterations import anderson, newton
from numen.implicit.problem import solved
from numen.implicit.systems import LinearSolver, Systems, default_solver
from numen.implicit.vectors import Leaves
from numen.transforms.trees import Structure, flatten


def root(
    f: Callable[..., Any],
    init: Any,
    *args: Any,
    solve: Callable[..., Any] | None = None,
    tangent_solve: Callable[..., Any] | None = None,
    tol: float | None = None,
    maxiter: int = 50,
) -> Any:
    """Find x with f(x, *args) = 0; its derivatives come from that equation, not from the solver.

    Parameters
    ----------
    f : callable
        Returns arrays of x's shapes.
    init : array_like, or container of them
        Where the solver starts; x has its form. Its derivative is zero.
    *args
        What f gets beside x: arrays or containers of them, and anything else.
    solve : callable, optional
        solve(g, init) -> x with g(x) = 0; by default Newton's method with the whole Jacobian.
    tangent_solve : callable, optional
        tangent_solve(matvec, b) -> v with matvec(v) = b, for the derivatives; by default the dense
        system up to 600 unknowns, GMRES above.
    tol : float, optional
        The default solver stops where the norm of f is at most this; by default where steps no
        longer change x.
    maxiter : int
        Most iterations of the default solver.

    Raises
    ------
    ConvergenceError
        If the default solver finds no root; has `residual` and `iterations`.
    ShapeError
        If f returns other shapes.

    Notes
    -----
    In reverse mode gradients go to args and to captured arrays (a module's parameters); in forward
    mode and `vmap` what is batched or has a tangent must be an argument. A solver of your own runs
    under `vmap` for all examples at once, so it can't ask for values.

    Examples
    --------
    >>> import numen as nm
    >>> def square_root(a):
    ...     return nm.implicit.root(lambda x, a: x * x - a, nm.array(1.0), a)
    >>> square_root(nm.array(4.0)).item(), nm.grad(square_root)(nm.array(4.0)).item()
    (2.0, 0.25)
    """
    start, structure = _unknowns(init, "root")

    def equation(x: Any, *more: Any) -> Any:
        return f(x, *more)

    return _solution(
        "root",
        equation,
        start,
        structure,
        args,
        lambda g, x: newton(g, x, tol, maxiter),
        solve,
        _systems(tangent_solve, None, False, structure),
    )


def fixed_point(
    f: Callable[..., Any],
    init: Any,
    *args: Any,
    solve: Callable[..., Any] | None = None,
    tangent_solve: Callable[..., Any] | None = None,
    tol: float | None = None,
    maxiter: int = 500,
) -> Any:
    """Find x with x = f(x, *args); its derivatives come from that equation, not from the solver.

    Parameters
    ----------
    f : callable
        Returns arrays of x's shapes.
    init, *args, tangent_solve
        As in `root`.
    solve : callable, optional
        solve(g, init) -> x with x = g(x); by default Anderson's acceleration.
    tol : float, optional
        The default solver stops where the norm of f(x) - x is at most this times 1 + that of x.
    maxiter : int
        Most iterations of the default solver.

    Raises
    ------
    ConvergenceError
        If the default solver finds no fixed point.
    ShapeError
        If f returns other shapes.

    Examples
    --------
    >>> import numen as nm
    >>> x = nm.implicit.fixed_point(lambda x, a: nm.cos(a * x), nm.array(0.5), nm.array(1.0))
    >>> round(float(x), 6)
    0.739085
    """
    start, structure = _unknowns(init, "fixed_point")

    def equation(x: Any, *more: Any) -> Any:
        image, form = flatten(f(x, *more))
        if form.count != structure.count:
            raise ShapeError(f"fixed_point: f returned {form!r} for {structure!r}")
        pairs = zip(image, flatten(x)[0], strict=True)
        return structure.unflatten([_difference(a, b, "fixed_point") for a, b in pairs])

    def plain(g: Callable[[Leaves], Leaves]) -> Callable[[Leaves], Leaves]:
        return lambda x: [r + v for r, v in zip(g(x), x, strict=True)]

    own = None
    if solve is not None:
        given = solve

        def own(g: Any, x: Any) -> Any:
            def step(v: Any) -> Any:
                return structure.unflatten(
                    plain(lambda u: flatten(g(structure.unflatten(u)))[0])(flatten(v)[0])
                )

            return given(step, x)

    return _solution(
        "fixed_point",
        equation,
        start,
        structure,
        args,
        lambda g, x: anderson(plain(g), x, tol, maxiter),
        own,
        _systems(tangent_solve, None, False, structure),
    )


def linear_solve(
    matvec: Callable[..., Any],
    b: Any,
    *args: Any,
    solve: Callable[..., Any] | None = None,
    transpose_solve: Callable[..., Any] | None = None,
    symmetric: bool = False,
) -> Any:
    """Find x with matvec(x, *args) = b for a linear matvec; differentiable by b and args.

    Parameters
    ----------
    matvec : callable
        Linear in x; returns arrays of b's shapes.
    b : array_like, or container of them
        The right side; x has its form.
    *args
        What matvec gets beside x.
    solve : callable, optional
        solve(matvec, b) -> x; by default the dense system up to 600 unknowns, above conjugate
        gradients with `symmetric`, else GMRES.
    transpose_solve : callable, optional
        The same for the transposed systems of the derivatives; by default `solve`.
    symmetric : bool
        matvec is symmetric (Hermitian) and, for more than 600 unknowns, positive definite.

    Raises
    ------
    ConvergenceError
        If a default solver finds no solution, as for a singular matvec.

    Examples
    --------
    >>> import numen as nm
    >>> a, b = nm.array([[2.0, 1.0], [0.0, 4.0]]), nm.array([4.0, 8.0])
    >>> nm.implicit.linear_solve(lambda x, a: a @ x, b, a)
    array([1., 2.])
    """
    right, structure = _unknowns(b, "linear_solve")
    systems = _systems(solve, transpose_solve, symmetric, structure)
    count = len(right)

    def equation(x: Any, *more: Any) -> Any:
        given, wanted = more[:-1], more[-1]
        image, form = flatten(matvec(x, *given))
        if form.count != structure.count:
            raise ShapeError(f"linear_solve: matvec returned {form!r} for {structure!r}")
        pairs = zip(image, wanted, strict=True)
        return structure.unflatten([_difference(a, c, "linear_solve") for a, c in pairs])

    def default(g: Callable[[Leaves], Leaves], x: Leaves, leaves: Leaves) -> Leaves:
        wanted = leaves[len(leaves) - count :]
        return systems.solve(lambda v: [r + w for r, w in zip(g(v), wanted, strict=True)], wanted)

    start = [v * 0 for v in right]
    return _solution(
        "linear_solve", equation, start, structure, (*args, right), None, None, systems, default
    )


# ------------------------------------------------------------ between containers and lists


def _unknowns(tree: Any, name: str) -> tuple[Leaves, Structure]:
    leaves, structure = flatten(tree)
    arrays = [as_array(x) for x in leaves]
    for a in arrays:
        if not isinstance(a, ArrayCore) or not is_differentiable(a._d.dtype):
            raise DTypeError(f"{name}: the unknowns must be floating arrays, got {describe(a)}")
    return arrays, structure


def _difference(a: Any, b: Any, name: str) -> Any:
    a = as_array(a)
    if tuple(a.shape) != tuple(b.shape):
        raise ShapeError(
            f"{name}: the function must return arrays of the unknowns' shapes; got {describe(a)} "
            f"for {describe(b)}"
        )
    return a - b


def _systems(solve: Any, transpose_solve: Any, symmetric: bool, structure: Structure) -> Systems:
    """The user's linear solvers, or the default ones, on flat lists."""
    forward = default_solver(symmetric) if solve is None else _on_lists(solve, structure)
    if transpose_solve is None:
        return Systems(forward, forward)
    return Systems(forward, _on_lists(transpose_solve, structure))


def _on_lists(solve: Any, structure: Structure) -> LinearSolver:
    def on_lists(matvec: Any, b: Leaves) -> Leaves:
        def product(v: Any) -> Any:
            return structure.unflatten(matvec(flatten(v)[0]))

        return [as_array(x) for x in flatten(solve(product, structure.unflatten(b)))[0]]

    return on_lists


def _solution(
    name: str,
    equation: Callable[..., Any],
    start: Leaves,
    structure: Structure,
    args: tuple[Any, ...],
    default: Any,
    solve: Any,
    systems: Systems,
    linear: Any = None,
) -> Any:
    """The solution in the unknowns' form."""
    leaves, form = flatten(args)

    def residual(x: Leaves, given: Leaves) -> Leaves:
        found, out = flatten(equation(structure.unflatten(x), *form.unflatten(given)))
        if out.count != structure.count:
            raise ShapeError(f"{name}: the function returned {out!r} for {structure!r}")
        return [as_array(r) for r in found]

    def run(g: Callable[[Leaves], Leaves], x: Leaves, given: Leaves) -> Leaves:
        if linear is not None:
            return list(linear(g, x, given))
        if solve is None:
            return list(default(g, x))

        def on_trees(v: Any) -> Any:
            return structure.unflatten(g(flatten(v)[0]))

        found, out = flatten(solve(on_trees, structure.unflatten(x)))
        if out.count != structure.count:
            raise ShapeError(f"{name}: solve returned {out!r} for {structure!r}")
        return [as_array(v) for v in found]

    return structure.unflatten(solved(name, residual, run, systems, leaves, start))
