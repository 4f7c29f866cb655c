"""Recording: the node of a custom op's call, and what its backward step gives the user's code.

The node holds what the forward function saved; saved arguments and results are part of the graph
when the backward pass is recorded, other saved arrays are by running the forward function again.
Called by `rules.py`. Next: `rerunning.py`.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from numen.dispatch import core, modes, views
from numen.dispatch.backward import register_of
from numen.dispatch.core import ArrayCore, Cell, Node, is_differentiable
from numen.dispatch.frames import Frame, level_of, newest_write
from numen.dispatch.primitive import Primitive
from numen.errors import GradientError, TransformError, describe
from numen.transforms import packs, rerunning
from numen.transforms.rerunning import carries_gradient

if TYPE_CHECKING:
    from numen.transforms.rules import Rule

Leaves = list[Any]


def row_of(name: str) -> Primitive:
    """The row of a custom op's nodes: only its backward pass is ever run."""

    def impl(*args: Any, **params: Any) -> Any:
        raise GradientError(f"{name}: has no row")

    return Primitive(name, impl, vjp=_vjp)


def _vjp(needs: Sequence[bool], g: Any, out: Any, *args: Any, call: Call) -> list[Any]:
    return call.pull(needs, g, args)


INPUT, OUTPUT, BETWEEN, OTHER = range(4)
"""What a saved thing is: an argument, a result, an array that is neither, no array."""


class Call:
    """What the backward step of a recorded call needs beside the arrays that its node holds."""

    def __init__(self, rule: Rule, count: int, recorded: Sequence[int], kinds: Any) -> None:
        self.rule = rule
        self.count = count  # of leaves
        self.recorded = recorded  # which results have nodes
        self.kinds = kinds  # for each saved thing: what it is, which result
        self.node: Any = None

    def pull(self, needs: Sequence[bool], g: Any, args: Sequence[Any]) -> list[Any]:
        """The cotangents of the arguments, raw or Arrays as g is."""
        parts, raw = packs.cotangents_of(g)
        create = not raw and modes.grad_enabled()
        cotangents: Leaves = [None] * len(self.rule.metas)
        for index, part in zip(self.recorded, parts, strict=True):
            cotangents[index] = part if part is None or not raw else _array(part)
        saved = self._saved(args[-1], create)
        needed = needs[: self.count]
        with modes.set_grad_enabled(create):
            found = self.rule.backward(saved, cotangents, needed)
        results: list[Any] = [None] * len(args)
        parents = self.node().parents
        for i, c in enumerate(found):
            if c is not None and needed[i]:
                c = self.rule.fitting(c, tuple(parents[i].shape), i)
                results[i] = core.unwrap(c) if raw else c
        return results

    def _saved(self, held: Any, create: bool) -> Leaves:
        """The saved things as the user's code gets them; with `create`, as part of the graph."""
        held.check(self.node())
        saved = list(held.leaves)
        if not create:
            return saved
        between = []
        for place, (kind, index) in enumerate(self.kinds):
            value = saved[place]
            if kind == OUTPUT and index in self.recorded:
                saved[place] = self._result(value, self.recorded.index(index))
            elif kind == BETWEEN and value._n is None and is_differentiable(value._d.dtype):
                between.append(place)
        if between:
            self._connect(saved, between, held.again)
        return saved

    def _result(self, value: Any, number: int) -> Any:
        """A saved result as an Array that leads back to the call."""
        array = core.ARRAY(value._d, None, value._v)
        array._t = value._t
        array._n = packs.result_node(self.node(), number, len(self.recorded), value._d)
        return array

    def _connect(self, saved: Leaves, between: Sequence[int], leaves: Any) -> None:
        """Give saved arrays that are neither arguments nor results nodes of their own, which run
        the forward function once more."""
        rule, needs = self.rule, tuple([p is not None for p in self.node().parents[: self.count]])
        if not rule.pure:
            for place in between:
                parents = tuple([p for p in self.node().parents[: self.count] if p is not None])
                saved[place] = refusing(
                    saved[place],
                    parents,
                    f"{rule.name}: its backward uses an array that forward computed and saved, "
                    "which has no derivative of its own. Hint: return it from forward, or compute "
                    "it in backward from saved arguments",
                )
            return
        leaves.check(self.node())

        def again(inner: Leaves) -> Leaves:
            everything = rule.forward(inner, needs)[1]
            return [everything[place] for place in between]

        values = [saved[place] for place in between]
        connected = rerunning.connected(rule.name, again, leaves.leaves, values)
        for place, value in zip(between, connected, strict=True):
            saved[place] = value


def _array(raw: Any) -> Any:
    if isinstance(raw, ArrayCore):
        return raw
    return core.ARRAY(raw if type(raw) is np.ndarray else np.asarray(raw))


def recorded(rule: Rule, leaves: Leaves, depth: int) -> Leaves:
    """The results of a rule, with a node above the arguments' nodes."""
    needs = tuple([carries_gradient(a, depth) for a in leaves])
    bare = [without_node(a) if need else a for a, need in zip(leaves, needs, strict=True)]
    before = [newest_write(a) if need else 0 for a, need in zip(bare, needs, strict=True)]
    outs, saved = rule.forward(bare, needs)
    _check_writes(rule, bare, needs, before)
    inputs = {id(b): i for i, b in enumerate(bare) if isinstance(b, ArrayCore)}
    chosen = _chosen(rule, outs, inputs, depth)
    if not chosen:
        return outs
    kinds, held = _kept(rule, saved, outs, inputs, leaves)
    del saved  # see packs.with_node
    given = {i: inputs.get(id(outs[i])) for i in chosen}
    copied = {i: given[i] is not None or packs.shares(outs[i], bare) for i in chosen}
    for i in chosen:
        outs[i] = at_depth(outs[i], depth)
    raws = [outs[i]._d for i in chosen]
    parents = [a._n if need else None for a, need in zip(leaves, needs, strict=True)]
    args = (*[None] * len(leaves), held)
    info = Call(rule, len(leaves), chosen, kinds)
    node = packs.call_node(rule.prim, (*parents, None), args, {"call": info}, raws)
    info.node = weakref.ref(node)
    for number, i in enumerate(chosen):
        own = packs.result_node(node, number, len(chosen), raws[number])
        place = given[i]
        if place is not None and place in rule.dirty:
            outs[i] = _written(leaves[place], own, rule.name)
        else:
            outs[i] = packs.with_node(outs, i, own, copied[i])
    return outs


def _check_writes(rule: Rule, bare: Leaves, needs: Sequence[bool], before: Sequence[int]) -> None:
    """Refuse arguments that the forward function wrote in place without saying so.

    Raises
    ------
    GradientError
        If there is one.
    """
    for i, (b, need) in enumerate(zip(bare, needs, strict=True)):
        if need and i not in rule.dirty and newest_write(b) != before[i]:
            raise GradientError(
                f"{rule.name}: wrote into argument {i}, a {describe(b)}, in place; the rule gives "
                "no gradient of that. Hint: write into a copy"
            )


def _chosen(rule: Rule, outs: Leaves, inputs: dict[int, int], depth: int) -> list[int]:
    """The positions of the results that get nodes.

    Raises
    ------
    GradientError, TransformError
        If a result depends on a captured array that carries a gradient, or on a captured value of
        an inner transform.
    """
    chosen = []
    for i, o in enumerate(outs):
        if isinstance(o, ArrayCore):
            if level_of(o) > depth:
                raise TransformError(
                    f"{rule.name}: the result depends on a captured value of a vmap or jvp inside "
                    "of which it is called. Hint: make it an argument"
                )
            if o._n is not None and level_of(o) == depth and id(o) not in inputs:
                raise GradientError(capture_text(rule, o))
            if is_differentiable(o._d.dtype) and not rule.silent(i):
                chosen.append(i)
    return chosen


def _kept(
    rule: Rule, saved: Leaves, outs: Leaves, inputs: dict[int, int], leaves: Leaves
) -> tuple[list[tuple[int, int]], rerunning.Held]:
    """What each saved thing is and which result, and what the node holds of them."""
    results = {id(o): i for i, o in enumerate(outs) if isinstance(o, ArrayCore)}
    kinds, kept = [], []
    for value in saved:
        if not isinstance(value, ArrayCore):
            kinds.append((OTHER, 0))
        elif id(value) in inputs:
            kinds.append((INPUT, 0))
            value = leaves[inputs[id(value)]]
        else:
            kind = OUTPUT if id(value) in results else BETWEEN
            kinds.append((kind, results.get(id(value), 0)))
        kept.append(value)
    held = rerunning.Held(kept)
    if rule.pure and any([kind == BETWEEN for kind, _ in kinds]):
        held.again = rerunning.Held(leaves)
    return kinds, held


def _written(x: Any, node: Node, name: str) -> Any:
    """The argument that forward wrote in place and returned, now with the result's node."""
    views.check_writable(x, name)
    if x._v is None:
        x._v = Cell()
    stamp = x._v.cell.t
    views.wrote(x, core.ARRAY(x._d, node))
    x._v.cell.t = stamp  # the write came before the node was made
    return x


def without_node(a: Any) -> Any:
    """An Array of the same memory without a node."""
    bare = core.ARRAY(a._d)
    views.register_detached(bare, a)
    bare._t = register_of(a, bare)
    return bare


def at_depth(out: Any, depth: int) -> Any:
    """A result as a value of the transform that the arguments belong to."""
    if level_of(out) == depth:
        return out
    for level in modes.state.levels[level_of(out) : depth]:
        out = core.ARRAY(Frame(level, out))
    return out


# ------------------------------------------------------------ what can't be differentiated


def captured(rule: Rule, out: Any) -> Any:
    """The result with a node whose backward pass says that the rule knows arguments alone."""
    result = core.ARRAY(out._d, None, out._v)
    result._t = register_of(out, result)
    result._n = Node(
        _CAPTURED, (out._n,), (None,), {"message": capture_text(rule, out)}, None, out._d
    )
    return result


def capture_text(rule: Rule, out: Any) -> str:
    return (
        f"{rule.name}: the result, a {describe(out)}, depends on a captured array that carries a "
        "gradient; the rule gives gradients of arguments alone. Hint: make it an argument, or "
        "detach() it"
    )


def _refuse(needs: Sequence[bool], g: Any, out: Any, *args: Any, message: str) -> Any:
    raise GradientError(message)


_CAPTURED = Primitive("custom rule", lambda a, message: a, vjp=_refuse)


def refusing(array: Any, parents: tuple[Any, ...], message: str) -> Any:
    """An Array of the same values whose backward pass raises a GradientError."""
    args = (None,) * len(parents)
    node = Node(_CAPTURED, parents, args, {"message": message}, None, array._d)
    return core.ARRAY(array._d, node)
