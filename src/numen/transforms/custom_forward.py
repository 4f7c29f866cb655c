"""custom_jvp: a function whose derivative the user gives as a rule for tangents, as in JAX.

Reverse mode runs the rule with tangents that carry a graph and pulls through that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numen.dispatch import backward as _backward
from numen.dispatch import core, frames, modes
from numen.dispatch.convert import as_array
from numen.dispatch.core import ArrayCore, Leaf, is_differentiable
from numen.errors import DTypeError, GradientError, ShapeError, describe
from numen.transforms import rules
from numen.transforms.custom import Custom, TreeRule, matched
from numen.transforms.packs import Form
from numen.transforms.recording import without_node
from numen.transforms.rerunning import alias
from numen.transforms.rules import Leaves
from numen.transforms.trees import flatten


class custom_jvp(Custom):  # noqa: N801 (JAX's name)
    """A function whose derivative is given as a rule for tangents; also a decorator.

    The rule must be linear in the tangents; reverse mode transposes it.

    Parameters
    ----------
    fun : callable
        Takes and returns arrays, or tuples, lists and dicts of them.
    nondiff_argnums : sequence of int
        Positions of arguments that are not differentiated; the rule gets them first.

    Raises
    ------
    GradientError, ShapeError
        When differentiated: if no rule was given, the rule returns something of another form or
        shape, or the result depends on a captured array that carries a gradient.

    Examples
    --------
    >>> import numen as nm
    >>> @nm.custom_jvp
    ... def clipped(x):
    ...     return nm.clip(x, 0, 1)
    >>> @clipped.defjvp
    ... def straight_through(primals, tangents):
    ...     return clipped(*primals), tangents[0]
    >>> nm.grad(clipped)(nm.array(3.0)).item()
    1.0
    """

    def __init__(self, fun: Callable[..., Any], nondiff_argnums: Sequence[int] = ()) -> None:
        super().__init__(fun, nondiff_argnums, "custom_jvp")
        self.jvp: Callable[..., Any] | None = None

    def defjvp(self, jvp: Callable[..., Any]) -> Callable[..., Any]:
        """Give the rule; returns it, so it is also a decorator.

        Parameters
        ----------
        jvp : callable
            Takes the arguments of `nondiff_argnums`, the tuple of the other arguments and the tuple
            of their tangents (zeros where there is none); returns (result, tangent).
        """
        self.jvp = jvp
        return jvp

    def defjvps(self, *jvps: Callable[..., Any] | None) -> None:
        """Give one rule for each argument: jvp(tangent, result, *arguments) -> its share of the
        result's tangent; None where that is zero."""
        if self.nondiff_argnums:
            raise TypeError("defjvps: does not go with nondiff_argnums. Hint: defjvp")

        def jvp(primals: Any, tangents: Any) -> Any:
            result = self(*primals)
            leaves, structure = flatten(result)
            total = [rules.zeros(meta) if meta else None for meta in rules.metas_of(leaves)]
            for rule, t in zip(jvps, tangents, strict=True):
                if rule is not None:
                    share = matched(structure, rule(t, result, *primals), f"rule of {self.name}")
                    total = [b if a is None else a + b for a, b in zip(total, share, strict=True)]
            return result, structure.unflatten(total)

        self.jvp = jvp

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.jvp is None:
            raise AttributeError(f"{self.name}: has no rule. Hint: defjvp(jvp)")
        given = self.positional(args, kwargs)
        return _JvpRule(self, given).run(given)


class _JvpRule(TreeRule):
    """One call of a custom_jvp."""

    custom: custom_jvp

    def forward(self, leaves: Leaves, needs: Sequence[bool]) -> tuple[Leaves, Leaves]:
        return self.primal(leaves), list(leaves)

    def tangent(self, primals: Leaves, tangents: Leaves) -> tuple[Leaves, Leaves]:
        assert self.custom.jvp is not None
        filled = [
            _zero_tangent(x) if t is None else t for x, t in zip(primals, tangents, strict=True)
        ]
        pair = self.custom.jvp(
            *self.fixed, self.structure.unflatten(primals), self.structure.unflatten(filled)
        )
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise GradientError(
                f"{self.name}: its jvp must return (result, tangent), got {describe(pair)}"
            )
        outs = self.results(pair[0], "its jvp")
        touts = matched(self.out_structure, pair[1], f"{self.name}: its jvp")
        return outs, [self._checked(o, t) for o, t in zip(outs, touts, strict=True)]

    def _checked(self, out: Any, t: Any) -> Any:
        """A result's tangent, of its shape and dtype."""
        if t is None or not isinstance(out, ArrayCore) or not is_differentiable(out._d.dtype):
            return None
        t = as_array(t)
        if tuple(t._d.shape) != tuple(out._d.shape):
            raise ShapeError(
                f"{self.name}: its jvp gave a tangent of shape {tuple(t._d.shape)} for a result "
                f"of shape {tuple(out._d.shape)}"
            )
        if t._d.dtype == out._d.dtype:
            return t
        if t._d.dtype.kind == "c" and out._d.dtype.kind != "c":
            raise DTypeError(f"{self.name}: its jvp gave a complex tangent for a {describe(out)}")
        return t.astype(out._d.dtype)

    def backward(self, saved: Leaves, cotangents: Leaves, needs: Sequence[bool]) -> Leaves:
        create = modes.grad_enabled()
        with modes.set_grad_enabled(True):
            above = [isinstance(x, ArrayCore) and x._n is not None for x in saved]
            primals = [
                x if not a else alias(x, True) if create else without_node(x)
                for x, a in zip(saved, above, strict=True)
            ]
            tangents = [
                _fresh_tangent(x) if need else None for x, need in zip(saved, needs, strict=True)
            ]
            _, touts = self.tangent(primals, tangents)
        leaves = [t._n for t in tangents if t is not None]
        stops = [p._n for p, a in zip(primals, above, strict=True) if a and create]
        pairs = [
            (t, c)
            for t, c in zip(touts, cotangents, strict=True)
            if t is not None and c is not None and t._n is not None
        ]
        found = _backward.backward(
            [t for t, _ in pairs],
            [c for _, c in pairs],
            wrt=[*leaves, *stops],
            create_graph=create,
            within=True,
        )
        cotangent = iter(found)
        return [None if t is None else next(cotangent) for t in tangents]


def _zero_tangent(x: Any) -> Any:
    """Zeros for an argument without tangent."""
    if isinstance(x, ArrayCore):
        return rules.zeros(Form.of(x))
    if isinstance(x, np.ndarray):
        return rules.zeros(Form(x.shape, x.dtype, None))
    return type(x)(0) if type(x) in (bool, int, float, complex) else None


def _fresh_tangent(x: Any) -> Any:
    """Zeros with a leaf of the innermost transform: the rule's result is linear in them."""
    t = Form.of(x).zeros()
    if modes.state.level:
        t = frames.lifted(t)
    fresh = core.ARRAY(t._d, Leaf(tuple(x._d.shape), x._d.dtype))
    fresh._t = t._t
    return fresh
