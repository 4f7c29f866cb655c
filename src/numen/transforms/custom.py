"""custom_vjp and custom_jvp: functions whose derivative the user gives, as in JAX.

Arguments and results may be tuples, lists and dicts of arrays. `rules.py` evaluates and records the
calls. Next: `function.py`.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numen.dispatch import backward as _backward
from numen.dispatch import core, frames, modes
from numen.dispatch.convert import as_array
from numen.dispatch.core import ArrayCore, Leaf, is_differentiable
from numen.errors import DTypeError, GradientError, ShapeError, describe
from numen.transforms import rules
from numen.transforms.checkpointing import alias
from numen.transforms.rules import Leaves
from numen.transforms.trees import _LEAF, Structure, flatten


class _Custom:
    """What both kinds share: the function, and which arguments are not differentiated."""

    def __init__(
        self, fun: Callable[..., Any], nondiff_argnums: Sequence[int] = (), what: str = ""
    ) -> None:
        functools.update_wrapper(self, fun)
        self.fun = fun
        given = (nondiff_argnums,) if isinstance(nondiff_argnums, int) else tuple(nondiff_argnums)
        self.nondiff_argnums = given
        self.name = f"{what} {getattr(fun, '__name__', type(fun).__name__)}"
        self.row = rules.row_of(self.name)
        try:
            self._signature: inspect.Signature | None = inspect.signature(fun)
        except (TypeError, ValueError):
            self._signature = None

    def __repr__(self) -> str:
        return f"<{self.name}>"

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def _positional(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """All arguments by position, defaults filled in."""
        if self._signature is None:
            if kwargs:
                raise TypeError(f"{self.name}: has no signature, so it takes no keyword arguments")
            return args
        bound = self._signature.bind(*args, **kwargs)
        if bound.kwargs:
            raise TypeError(
                f"{self.name}: keyword-only arguments {sorted(bound.kwargs)} have no position"
            )
        bound.apply_defaults()
        return bound.args

    def _split(self, args: tuple[Any, ...]) -> tuple[list[Any], list[int]]:
        """The arguments that are not differentiated, and the positions of the others."""
        count = len(args)
        fixed = []
        for i in self.nondiff_argnums:
            if not -count <= i < count:
                raise TypeError(
                    f"{self.name}: nondiff_argnums {self.nondiff_argnums} for {count} arguments"
                )
            fixed.append(i % count)
        return [args[i] for i in fixed], [i for i in range(count) if i not in fixed]


class _TreeRule(rules.Rule):
    """A rule of a function of containers: flattens what goes in and out."""

    def __init__(self, custom: _Custom, args: tuple[Any, ...]) -> None:
        self.custom = custom
        self.name = custom.name
        self.prim = custom.row
        self.args = args
        self.fixed, self.positions = custom._split(args)
        self.leaves, self.structure = flatten(tuple([args[i] for i in self.positions]))
        self.out_structure: Any = None

    def __call__(self) -> Any:
        outs = rules.call(self, self.leaves)
        return self.out_structure.unflatten(outs)

    def all_args(self, leaves: Leaves) -> list[Any]:
        """All arguments, with these leaves in the differentiated ones."""
        args = list(self.args)
        for i, value in zip(self.positions, self.structure.unflatten(leaves), strict=True):
            args[i] = value
        return args

    def results(self, out: Any, what: str) -> Leaves:
        """The flat results of the function or one of its rules.

        Raises
        ------
        GradientError
            If their form is not that of an earlier run.
        """
        leaves, structure = flatten(out)
        if self.out_structure is not None and structure != self.out_structure:
            raise GradientError(
                f"{self.name}: {what} gave {structure!r}; expected {self.out_structure!r}"
            )
        self.out_structure = structure
        self.metas = rules.metas_of(leaves)
        return leaves

    def primal(self, leaves: Leaves) -> Leaves:
        return self.results(self.custom.fun(*self.all_args(leaves)), "the function")

    def full(self, cotangents: Leaves) -> Any:
        """The cotangents of all results, zeros where there is none."""
        filled = [
            None if meta is None else rules.zeros(meta) if c is None else c
            for c, meta in zip(cotangents, self.metas, strict=True)
        ]
        return self.out_structure.unflatten(filled)


# ------------------------------------------------------------ reverse


class custom_vjp(_Custom):
    """A function whose reverse-mode derivative is given by `defvjp`; also a decorator.

    Parameters
    ----------
    fun : callable
        Takes and returns arrays, or tuples, lists and dicts of them.
    nondiff_argnums : sequence of int
        Positions of arguments that are not differentiated (functions, options); the backward rule
        gets them first.

    Raises
    ------
    GradientError
        When differentiated: if no rule was given, a rule returns something of another form, the
        function's result depends on a captured array that carries a gradient, or in forward mode,
        for which `custom_jvp` is made.

    Notes
    -----
    Higher derivatives differentiate what `fwd` and `bwd` do. What `fwd` saves beside its arguments
    and results is computed again where it is differentiated.

    Examples
    --------
    >>> import numen as nm
    >>> @nm.custom_vjp
    ... def log1pexp(x):
    ...     return nm.log(1 + nm.exp(x))
    >>> def fwd(x):
    ...     return log1pexp(x), x
    >>> def bwd(x, g):
    ...     return (g / (1 + nm.exp(-x)),)
    >>> log1pexp.defvjp(fwd, bwd)
    >>> nm.grad(log1pexp)(nm.array(100.0))
    np.float64(1.0)
    """

    def __init__(self, fun: Callable[..., Any], nondiff_argnums: Sequence[int] = ()) -> None:
        super().__init__(fun, nondiff_argnums, "custom_vjp")
        self.fwd: Callable[..., Any] | None = None
        self.bwd: Callable[..., Any] | None = None

    def defvjp(self, fwd: Callable[..., Any], bwd: Callable[..., Any]) -> None:
        """Give the rules.

        Parameters
        ----------
        fwd : callable
            Takes the function's arguments, returns (result, residuals): what `bwd` needs.
        bwd : callable
            Takes the arguments of `nondiff_argnums`, the residuals and the result's cotangent;
            returns a tuple with one cotangent for each of the other arguments, of its form; None
            stands for zeros.
        """
        self.fwd, self.bwd = fwd, bwd

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.fwd is None or self.bwd is None:
            raise AttributeError(f"{self.name}: has no rules. Hint: defvjp(fwd, bwd)")
        return _VjpRule(self, self._positional(args, kwargs))()


class _VjpRule(_TreeRule):
    """One call of a custom_vjp."""

    custom: custom_vjp

    def forward(self, leaves: Leaves, needs: Sequence[bool]) -> tuple[Leaves, Leaves]:
        assert self.custom.fwd is not None
        pair = self.custom.fwd(*self.all_args(leaves))
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise GradientError(
                f"{self.name}: fwd must return (result, residuals), got {describe(pair)}"
            )
        saved, self.saved_structure = flatten(pair[1])
        return self.results(pair[0], "fwd"), saved

    def backward(self, saved: Leaves, cotangents: Leaves, needs: Sequence[bool]) -> Leaves:
        assert self.custom.bwd is not None
        residuals = self.saved_structure.unflatten(saved)
        found = self.custom.bwd(*self.fixed, residuals, self.full(cotangents))
        count = len(self.positions)
        if not isinstance(found, (tuple, list)) or len(found) != count:
            got = (
                f"{type(found).__name__} of {len(found)}"
                if isinstance(found, (tuple, list))
                else describe(found)
            )
            raise GradientError(
                f"backward: bwd of {self.name} must return a tuple with a cotangent for each of "
                f"{count} arguments; got a {got}"
            )
        return matched(self.structure, tuple(found), f"backward: bwd of {self.name}")

    def tangent(self, primals: Leaves, tangents: Leaves) -> tuple[Leaves, Leaves]:
        raise GradientError(
            f"{self.name}: has no rule for forward mode (jvp). Hint: custom_jvp gives both modes"
        )


def matched(structure: Structure, tree: Any, what: str) -> Leaves:
    """The leaves of `tree`, None for each leaf of `structure` that a None in it stands for.

    Raises
    ------
    GradientError
        If the two do not fit.
    """
    if tree is None:
        return [None] * structure.count
    if structure.kind is _LEAF:
        if isinstance(tree, (tuple, list, dict)):
            raise GradientError(f"{what} gave a {type(tree).__name__} for an array")
        return [tree]
    if structure.kind is None:
        return []
    keys = structure.parts[0] if structure.parts is not None else None
    if keys is not None:
        fits = isinstance(tree, dict) and set(tree) == set(keys)
        values = [tree[key] for key in keys] if fits else []
    else:
        fits = isinstance(tree, (tuple, list)) and len(tree) == len(structure.children)
        values = list(tree) if fits else []
    if not fits:
        raise GradientError(f"{what} gave {flatten(tree)[1]!r}; expected {structure!r}")
    return [
        leaf
        for child, value in zip(structure.children, values, strict=True)
        for leaf in matched(child, value, what)
    ]


# ------------------------------------------------------------ forward


class custom_jvp(_Custom):
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
    >>> nm.grad(clipped)(nm.array(3.0))
    np.float64(1.0)
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
        return _JvpRule(self, self._positional(args, kwargs))()


class _JvpRule(_TreeRule):
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
            above = [create and isinstance(x, ArrayCore) and x._n is not None for x in saved]
            primals = [alias(x, True) if a else x for x, a in zip(saved, above, strict=True)]
            tangents = [
                _fresh_tangent(x) if need else None for x, need in zip(saved, needs, strict=True)
            ]
            outs, touts = self.tangent(primals, tangents)
        leaves = [t._n for t in tangents if t is not None]
        stops = [p._n for p, a in zip(primals, above, strict=True) if a]
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
        return rules.zeros((tuple(x._d.shape), x._d.dtype))
    if isinstance(x, np.ndarray):
        return rules.zeros((x.shape, x.dtype))
    return type(x)(0) if type(x) in (bool, int, float, complex) else None


def _fresh_tangent(x: Any) -> Any:
    """Zeros with a leaf of the innermost transform: the rule's result is linear in them."""
    t = core.new_constant(np.zeros(tuple(x._d.shape), x._d.dtype))
    if modes.state.level:
        t = frames.lifted(t)
    fresh = core.ARRAY(t._d, Leaf(tuple(x._d.shape), x._d.dtype))
    fresh._t = t._t
    return fresh
