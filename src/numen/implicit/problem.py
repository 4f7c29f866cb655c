"""The rule that differentiates solutions: the implicit function theorem.

x solves r(x, args) = 0. Backwards: the cotangent g of x gives the solution w of J^T w = g, with J
the derivative of r by x, and -w goes back through r to everything that r was computed from.
Forward: the tangent solves J t = -dr. These linear problems are such rules again, so derivatives of
any order exist. Called by `equations.py`.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numen.dispatch import backward as _backward
from numen.dispatch import core, modes
from numen.dispatch.core import ArrayCore
from numen.dispatch.frames import VMAP, Frame, Level, level_of
from numen.dispatch.primitive import Primitive
from numen.errors import GradientError, ShapeError, TransformError, describe
from numen.implicit.systems import LinearSolver, MatVec, Systems
from numen.transforms import packs, rules
from numen.transforms.forward import jvp, linearize
from numen.transforms.recording import at_depth, without_node
from numen.transforms.rerunning import Held, alias, boundary, carries_gradient
from numen.transforms.reverse import vjp
from numen.transforms.rules import Leaves

Residual = Callable[[Leaves, Leaves], Leaves]
"""r(x, args), both in flat lists."""

Solver = Callable[[Callable[[Leaves], Leaves], Leaves, Leaves], Leaves]
"""(function of x, start, args) -> x."""


def solved(
    name: str, residual: Residual, solve: Solver, systems: Systems, args: Leaves, start: Leaves
) -> Leaves:
    """A solution x of r(x, args) = 0, which can be differentiated by args and captured arrays."""
    bare = [_detached(x) for x in start]
    rule = Solution(name, residual, solve, systems, len(args))
    return rules.call(rule, [*args, *bare])


def _detached(x: Any) -> Any:
    return core.ARRAY.detach(x) if isinstance(x, ArrayCore) else x


class Solution(rules.Rule):
    """One solution. Its leaves are the args and the start, whose derivative is zero."""

    captures = True

    def __init__(
        self, name: str, residual: Residual, solve: Solver, systems: Systems, count: int
    ) -> None:
        self.name = name
        self.residual = residual
        self.solve = solve
        self.systems = systems
        self.count = count

    def primal(self, leaves: Leaves) -> Leaves:
        args, start = leaves[: self.count], leaves[self.count :]
        depth = max([level_of(a) for a in leaves], default=0)
        with modes.no_grad(), packs.at_level(depth):
            x = self.solve(lambda x: self.residual(x, args), start, args)
        return self._attached([_detached(v) for v in x], leaves)

    def record(self, leaves: Leaves, depth: int) -> Leaves:
        needs = [carries_gradient(a, depth) for a in leaves]
        bare = [without_node(a) if n else a for a, n in zip(leaves, needs, strict=True)]
        return self._attached(rules.call(self, bare), leaves)

    def _attached(self, x: Leaves, leaves: Leaves) -> Leaves:
        """The solution with a node above everything that the residual is computed from."""
        if not modes.grad_enabled():
            return x
        args = leaves[: self.count]
        depth = max([level_of(a) for a in (*args, *x)], default=0)
        values = [_bare(at_depth(v, depth)) for v in x]
        begin = core.next_stamp()
        inputs = [alias(v, False) for v in values]
        with packs.at_level(depth):
            r = self.residual(inputs, args)
        _check_residual(self.name, r, values)
        if any([level_of(o) > depth for o in r]):
            raise TransformError(
                f"{self.name}: the function uses a captured value of a vmap or jvp. Hint: make it "
                "an argument"
            )
        own = {v._n: None for v in inputs}
        found = boundary([o._n for o in r if carries_gradient(o, depth)], begin, own)
        captured = [n for n in found if n not in own]
        if not captured:
            return x
        held = Held([*args, *values])
        step = _Backward(self, len(x))
        nothing = [None] * len(captured)
        node = packs.call_node(
            _ROW, (*captured, None), (*nothing, held), {"step": step}, [v._d for v in values]
        )
        step.node = weakref.ref(node)
        raws = [v._d for v in values]
        return [
            packs.with_node(values, i, packs.result_node(node, i, len(x), raws[i]), False)
            for i in range(len(x))
        ]

    # ------------------------------------------------------------ linear problems
    def transposed(self, x: Leaves, args: Leaves, g: Leaves) -> Leaves:
        """The solution w of J^T w = g."""
        count, many = len(x), len(args)

        def residual(w: Leaves, given: Leaves) -> Leaves:
            at, inner, right = given[:count], given[count : count + many], given[count + many :]
            pull = vjp(self._of_x(inner), *at)[1]
            return [a - b for a, b in zip(pull(tuple(w)), right, strict=True)]

        def solve(f: Any, start: Leaves, given: Leaves) -> Leaves:
            at, inner, right = given[:count], given[count : count + many], given[count + many :]
            pull = vjp(self._of_x(inner), *at)[1]
            return self.systems.transposed(lambda w: list(pull(tuple(w))), right)

        turned = Systems(self.systems.transposed, self.systems.solve)
        start = [packs.Form.of(v).zeros() for v in g]
        return solved(self.name, residual, solve, turned, [*x, *args, *g], start)

    def tangent(self, primals: Leaves, tangents: Leaves) -> tuple[Leaves, Leaves]:
        x = rules.call(self, primals)
        args = primals[: self.count]
        moving = [i for i in range(self.count) if tangents[i] is not None]
        if not moving:
            return x, [None] * len(x)

        def of_args(*values: Any) -> Any:
            inner = list(args)
            for i, value in zip(moving, values, strict=True):
                inner[i] = value
            return tuple(self.residual(x, inner))

        points = tuple([args[i] for i in moving])
        dr = jvp(of_args, points, tuple([tangents[i] for i in moving]))[1]
        count, many = len(x), len(args)

        def residual(t: Leaves, given: Leaves) -> Leaves:
            at, inner, right = given[:count], given[count : count + many], given[count + many :]
            image = jvp(self._of_x(inner), tuple(at), tuple(t))[1]
            return [a + b for a, b in zip(image, right, strict=True)]

        def solve(f: Any, start: Leaves, given: Leaves) -> Leaves:
            at, inner, right = given[:count], given[count : count + many], given[count + many :]
            image = linearize(self._of_x(inner), *at)[1]
            return self.systems.solve(lambda t: list(image(*t)), [-v for v in right])

        start = [packs.Form.of(v).zeros() for v in x]
        given = [*x, *args, *dr]
        return x, solved(self.name, residual, solve, self.systems, given, start)

    def _of_x(self, args: Leaves) -> Callable[..., Any]:
        return lambda *x: tuple(self.residual(list(x), args))

    # ------------------------------------------------------------ examples of a vmap
    def batch(self, level: Level, leaves: Leaves, axes: Sequence[bool]) -> Leaves:
        shape = _Examples(self, level, axes)
        start = [
            rules.spread(v, mapped, level.size)
            for v, mapped in zip(leaves[self.count :], axes[self.count :], strict=True)
        ]
        rule = Solution(self.name, shape.residual, shape.solve, shape.systems(), self.count)
        return rules.call(rule, [*leaves[: self.count], *start])


def _bare(v: Any) -> Any:
    """An Array of the same values without a node."""
    bare = core.ARRAY(v._d, None, v._v)
    bare._t = _backward.register_of(v, bare)
    return bare


def _check_residual(name: str, r: Leaves, x: Leaves) -> None:
    """Refuse a residual that does not fit the unknowns.

    Raises
    ------
    ShapeError
        If it has other shapes.
    """
    shapes = [tuple(getattr(o, "shape", ())) for o in r]
    if shapes != [tuple(v.shape) for v in x]:
        raise ShapeError(
            f"{name}: the function must return arrays of the unknowns' shapes; got "
            f"{describe(*r)} for {describe(*x)}"
        )


class _Backward:
    """The backward step of a solution."""

    def __init__(self, rule: Solution, count: int) -> None:
        self.rule = rule
        self.count = count
        self.node: Any = None

    def pull(self, g: Any, held: Held) -> list[Any]:
        """The cotangents of what the residual was computed from."""
        node, rule = self.node(), self.rule
        held.check(node)
        parts, raw = packs.cotangents_of(g)
        create = not raw and modes.grad_enabled()
        args, x = held.leaves[: rule.count], held.leaves[rule.count :]
        seeds = [
            packs.Form.of(v).zeros() if p is None else _array(p)
            for p, v in zip(parts, x, strict=True)
        ]
        if create:
            x = [self._result(v, i, node) for i, v in enumerate(x)]
        depth = max([level_of(a) for a in (*args, *x)], default=0)
        if not create:
            args = [without_node(a) if carries_gradient(a, depth) else a for a in args]
        with modes.set_grad_enabled(create):
            w = rule.transposed(x, args, seeds)
        with modes.set_grad_enabled(True), packs.at_level(depth):
            inputs = [alias(v, create) for v in x]
            r = rule.residual(inputs, held.leaves[: rule.count])
        with modes.set_grad_enabled(create):
            minus = [-v for v in w]
        captured = node.parents[:-1]
        found = _backward.backward(
            [o for o in r if o._n is not None],
            [m for m, o in zip(minus, r, strict=True) if o._n is not None],
            wrt=[*captured, *[v._n for v in inputs]],
            create_graph=create,
            within=True,
        )
        given = found[: len(captured)]
        if raw:
            return [*[core.unwrap(c) for c in given], None]
        return [*[c if c is None else _array(c) for c in given], None]

    def _result(self, v: Any, index: int, node: Any) -> Any:
        """The solution as an Array that leads back to its node."""
        array = core.ARRAY(v._d, None, v._v)
        array._t = v._t
        array._n = packs.result_node(node, index, self.count, v._d)
        return array


def _array(value: Any) -> Any:
    return value if isinstance(value, ArrayCore) else core.ARRAY(np.asarray(value))


def _vjp(needs: Sequence[bool], g: Any, out: Any, *args: Any, step: _Backward) -> list[Any]:
    return step.pull(g, args[-1])


def _no_row(*args: Any, **params: Any) -> Any:
    raise GradientError("implicit solution: has no row")


_ROW = Primitive("implicit solution", _no_row, vjp=_vjp)


class _Examples:
    """A problem for all examples of a vmap, as a problem one level below."""

    def __init__(self, rule: Solution, level: Level, axes: Sequence[bool]) -> None:
        self.rule = rule
        self.size = level.size
        self.randomness = level.randomness
        self.axes = list(axes[: rule.count])

    def _level(self) -> Level:
        return Level(VMAP, self.size, self.randomness)

    def _frames(self, level: Level, leaves: Leaves) -> Leaves:
        return [core.ARRAY(Frame(level, v, True)) for v in leaves]

    def _args(self, level: Level, args: Leaves) -> Leaves:
        return [
            core.ARRAY(Frame(level, v, True)) if mapped else v
            for v, mapped in zip(args, self.axes, strict=True)
        ]

    def _values(self, level: Level, leaves: Leaves) -> Leaves:
        return [rules.spread(*rules.value_at(v, level), self.size) for v in leaves]

    def residual(self, x: Leaves, args: Leaves) -> Leaves:
        with self._level() as level:
            r = self.rule.residual(self._frames(level, x), self._args(level, args))
            return self._values(level, r)

    def solve(self, f: Any, start: Leaves, args: Leaves) -> Leaves:
        with self._level() as level:
            inner = self._args(level, args)
            x = self.rule.solve(
                lambda v: self.rule.residual(v, inner), self._frames(level, start), inner
            )
            return self._values(level, x)

    def systems(self) -> Systems:
        return Systems(
            self._solver(self.rule.systems.solve), self._solver(self.rule.systems.transposed)
        )

    def _solver(self, solver: LinearSolver) -> LinearSolver:
        """A linear solver for all examples: runs the one of an example on Frames."""

        def solve(matvec: MatVec, b: Leaves) -> Leaves:
            with self._level() as level:

                def product(v: Leaves) -> Leaves:
                    low = self._values(level, v)
                    with packs.at_level(level.depth - 1):
                        image = matvec(low)
                    return self._frames(level, image)

                return self._values(level, solver(product, self._frames(level, b)))

        return solve
