"""Rules: ops whose derivative the user wrote, on flat lists of arguments.

`custom.py` and `function.py` make a Rule for a call; `call` evaluates it under whatever transform
holds. With a gradient it hangs one node above the results, whose backward step calls the user's
code with Arrays. In `vmap` and `jvp` it runs the rule on the values one level below, so that outer
gradients meet the user's rule as well. A recorder sees the ops inside. Next: `recording.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numen.dispatch import core, modes, slots
from numen.dispatch.backward import unbroadcast
from numen.dispatch.convert import as_array
from numen.dispatch.core import SCALAR, ArrayCore, is_differentiable
from numen.dispatch.frames import VMAP, Frame, Level, level_of
from numen.dispatch.frames.looking import top_level
from numen.dispatch.primitive import Primitive
from numen.errors import GradientError, ShapeError, describe
from numen.transforms import packs
from numen.transforms.recording import captured, recorded
from numen.transforms.rerunning import carries_gradient

Leaves = list[Any]


class Rule:
    """One call of a custom op.

    Leaves are the arguments in a flat list: Arrays and anything else. A rule serves one call.

    Attributes
    ----------
    name : str
        For error texts, and the name of the nodes.
    prim : Primitive
        The row of its nodes, made once for all calls by `recording.row_of`.
    pure : bool
        Running `forward` again gives the same, so saved results that are neither arguments nor
        results can be differentiated by that.
    reduces : bool
        A cotangent may have the shape of a broadcast argument; it is summed.
    captures : bool
        The rule itself sees to captured arrays that carry gradients.
    dirty : set of int
        Leaves that `forward` writes in place and returns.
    metas : list
        The form of each result, None where it is no array; set by `primal` and `forward`.
    """

    name: str
    prim: Primitive
    pure = True
    reduces = False
    captures = False
    dirty: frozenset[int] = frozenset()
    metas: list[Any]

    def primal(self, leaves: Leaves) -> Leaves:
        """The results."""
        raise NotImplementedError

    def forward(self, leaves: Leaves, needs: Sequence[bool]) -> tuple[Leaves, Leaves]:
        """The results, and what `backward` needs; called without gradients of the leaves."""
        raise NotImplementedError

    def backward(self, saved: Leaves, cotangents: Leaves, needs: Sequence[bool]) -> Leaves:
        """A cotangent or None for each leaf, from one or None for each result."""
        raise NotImplementedError

    def tangent(self, primals: Leaves, tangents: Leaves) -> tuple[Leaves, Leaves]:
        """The results and their tangents, from tangents or None of the leaves."""
        raise NotImplementedError

    def batch(self, level: Level, leaves: Leaves, axes: Sequence[bool]) -> Leaves:
        """The results for all examples, their axis in front."""
        return call(Mapped(self, level, axes), leaves)

    def record(self, leaves: Leaves, depth: int) -> Leaves:
        """The results with nodes, where leaves have nodes of the transform at `depth`."""
        return recorded(self, leaves, depth)

    def silent(self, index: int) -> bool:
        """Whether a result takes no part in gradients."""
        return False

    def fitting(self, c: Any, shape: tuple[int, ...], index: int) -> Any:
        """A cotangent that the user's code gave for leaf `index`, of its shape.

        Raises
        ------
        ShapeError
            If it has another shape.
        GradientError
            If it is no array of numbers.
        """
        c = as_array(c)
        given = tuple(c._d.shape)
        if c._d.dtype.kind not in "fciub" and not is_differentiable(c._d.dtype):
            raise GradientError(f"backward: {self.name} gave {describe(c)} as a gradient")
        if given == shape:
            return c
        if self.reduces and _reducible(given, shape):
            return unbroadcast(c, shape)
        raise ShapeError(
            f"backward: {self.name} gave a gradient of shape {given} for argument {index} of "
            f"shape {shape}"
        )


def _reducible(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether summing takes `shape` to `target`."""
    extra = len(shape) - len(target)
    return extra >= 0 and all([n in (1, m) for n, m in zip(target, shape[extra:], strict=True)])


def metas_of(outs: Sequence[Any]) -> list[Any]:
    """The form of each result, None for what is no array."""
    return [packs.Form.of(o) if isinstance(o, ArrayCore) else None for o in outs]


def zeros(form: packs.Form) -> Any:
    """Zeros; False where the dtype carries no derivative, as it leaves other dtypes alone."""
    return form.zeros(None if is_differentiable(form.dtype) else np.bool_)


# ------------------------------------------------------------ evaluating


def call(rule: Rule, leaves: Leaves) -> Leaves:
    """Evaluate a rule on its flat arguments; returns its flat results.

    Raises
    ------
    GradientError
        If the function's result depends on a captured array that carries a gradient.
    TransformError
        If it depends on a captured value of a running vmap or jvp.
    """
    arrays = [a for a in leaves if isinstance(a, ArrayCore)]
    depth = max([level_of(a) for a in arrays], default=0)
    grad = modes.grad_enabled()
    if grad and any([carries_gradient(a, depth) for a in arrays]):
        return rule.record(leaves, depth)
    if depth:
        level = top_level(arrays, rule.name)
        here = [level_of(a) == depth for a in leaves]
        low = [a._d.value if t else a for a, t in zip(leaves, here, strict=True)]
        if level.kind == VMAP:
            return _for_examples(rule, level, leaves, low, here)
        return _with_tangents(rule, level, leaves, low, here)
    outs = rule.primal(leaves)
    if not grad or rule.captures:
        return outs
    return [captured(rule, o) if carries_gradient(o, level_of(o)) else o for o in outs]


def _for_examples(
    rule: Rule, level: Level, leaves: Leaves, low: Leaves, here: Sequence[bool]
) -> Leaves:
    """The results of a rule some of whose arguments are Frames of a vmap."""
    axes = [t and a._d.mapped for a, t in zip(leaves, here, strict=True)]
    mapped = any(axes)
    with packs.at_level(level.depth - 1):
        outs = rule.batch(level, low, axes) if mapped else call(rule, low)
    return [
        core.ARRAY(Frame(level, o, mapped), None, _scalar_mark(o, mapped))
        if isinstance(o, ArrayCore)
        else o
        for o in outs
    ]


def _scalar_mark(value: Any, mapped: bool) -> Any:
    return SCALAR if (value._d.ndim == 1 if mapped else value._v is SCALAR) else None


def _with_tangents(
    rule: Rule, level: Level, leaves: Leaves, low: Leaves, here: Sequence[bool]
) -> Leaves:
    """The results of a rule some of whose arguments are Frames of a jvp."""
    tangents = [a._d.tangent if t else None for a, t in zip(leaves, here, strict=True)]
    with packs.at_level(level.depth - 1):
        if all([t is None for t in tangents]):
            outs, touts = call(rule, low), None
        else:
            outs, touts = rule.tangent(low, tangents)
    made = []
    for i, o in enumerate(outs):
        if isinstance(o, ArrayCore):
            tangent = None if touts is None or not is_differentiable(o._d.dtype) else touts[i]
            o = core.ARRAY(Frame(level, o, False, tangent), None, _scalar_mark(o, False))
        made.append(o)
    return made


# ------------------------------------------------------------ examples of a vmap


class Mapped(Rule):
    """A rule on all examples of a vmap: itself a rule one level below, so that what lies outside of
    the vmap meets the user's rule."""

    def __init__(self, rule: Rule, level: Level, axes: Sequence[bool]) -> None:
        self.rule = rule
        self.name = rule.name
        self.prim = rule.prim
        self.pure = rule.pure
        self.level = level
        self.axes = list(axes)
        self.saved_axes: list[bool] = []
        self.shapes: list[Any] = []

    def primal(self, leaves: Leaves) -> Leaves:
        outs, _ = self._run(lambda inner: (self.rule.primal(inner), []), leaves, self.axes)
        return self._all(outs)

    def forward(self, leaves: Leaves, needs: Sequence[bool]) -> tuple[Leaves, Leaves]:
        inside: Leaves = []
        found: Leaves = []

        def run(inner: Leaves) -> tuple[Leaves, Leaves]:
            inside.extend(inner)
            self.shapes = [tuple(x._d.shape) if isinstance(x, ArrayCore) else None for x in inner]
            outs, saved = self.rule.forward(inner, needs)
            found.extend([*outs, *saved])
            return outs, saved

        outs, saved = self._run(run, leaves, self.axes)
        known = {id(x): leaf for x, leaf in zip(inside, leaves, strict=True)}
        shown = self._all(outs)
        results = {id(x): shown[i] for i, x in enumerate(found[: len(outs)])}
        self.saved_axes = [mapped for _, mapped in saved]
        values = []
        for i, (x, (value, _)) in enumerate(zip(found[len(outs) :], saved, strict=True)):
            if isinstance(x, ArrayCore) and id(x) in known:
                value = known[id(x)]
            elif isinstance(x, ArrayCore) and id(x) in results:
                value = results[id(x)]
                self.saved_axes[i] = True
            values.append(value)
        return shown, values

    def backward(self, saved: Leaves, cotangents: Leaves, needs: Sequence[bool]) -> Leaves:
        count = len(saved)

        def run(inner: Leaves) -> tuple[Leaves, Leaves]:
            found = self.rule.backward(inner[:count], inner[count:], needs)
            return [
                c if c is None or not need else self.rule.fitting(c, shape, i)
                for i, (c, shape, need) in enumerate(zip(found, self.shapes, needs, strict=True))
            ], []

        given = [c is not None for c in cotangents]
        found, _ = self._run(run, [*saved, *cotangents], [*self.saved_axes, *given])
        results: Leaves = []
        for (c, mapped), axis in zip(found, self.axes, strict=True):
            if c is None or not isinstance(c, ArrayCore):
                results.append(None)
                continue
            c = spread(c, mapped, self.level.size)
            results.append(c if axis else slots.primitive("sum")(c, axis=(0,), keepdims=False))
        return results

    def tangent(self, primals: Leaves, tangents: Leaves) -> tuple[Leaves, Leaves]:
        count = len(primals)
        axes = [
            *self.axes,
            *[a and t is not None for a, t in zip(self.axes, tangents, strict=True)],
        ]

        def run(inner: Leaves) -> tuple[Leaves, Leaves]:
            return self.rule.tangent(inner[:count], inner[count:])

        outs, touts = self._run(run, [*primals, *tangents], axes)
        return self._all(outs), [
            None if t is None else spread(t, mapped, self.level.size) for t, mapped in touts
        ]

    def silent(self, index: int) -> bool:
        return self.rule.silent(index)

    def _run(
        self, function: Callable[[Leaves], tuple[Leaves, Leaves]], leaves: Leaves, axes: Any
    ) -> tuple[list[tuple[Any, bool]], list[tuple[Any, bool]]]:
        """function on all examples: its values, each with whether it has the examples' axis."""
        with Level(VMAP, self.level.size, self.level.randomness) as level:
            inner = [
                core.ARRAY(Frame(level, a, True)) if mapped else a
                for a, mapped in zip(leaves, axes, strict=True)
            ]
            first, second = function(inner)
            return [value_at(x, level) for x in first], [value_at(x, level) for x in second]

    def _all(self, outs: Sequence[tuple[Any, bool]]) -> Leaves:
        """Results that all have the examples' axis."""
        shown = [
            spread(x, mapped, self.level.size) if isinstance(x, ArrayCore) else x
            for x, mapped in outs
        ]
        self.metas = metas_of(shown)
        return shown


def value_at(x: Any, level: Level) -> tuple[Any, bool]:
    if isinstance(x, ArrayCore) and type(x._d) is Frame and x._d.level is level:
        return x._d.value, x._d.mapped
    return x, False


def spread(x: Any, mapped: bool, size: int) -> Any:
    """x with the examples' axis in front."""
    if mapped:
        return x
    return slots.primitive("copy")(slots.primitive("broadcast_to")(x, shape=(size, *x._d.shape)))
