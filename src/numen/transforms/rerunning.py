"""Rerunning: graph nodes whose backward step runs a function again and pulls through its graph.

`checkpointing.py` makes them for the user's function, `recording.py` for arrays that a custom
rule saved, so that these can be differentiated.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

from numen.dispatch import backward as _backward
from numen.dispatch import core, modes, slots
from numen.dispatch.core import SCALAR, ArrayCore, Leaf, Node, is_differentiable
from numen.dispatch.frames import level_of
from numen.dispatch.primitive import Primitive
from numen.errors import GradientError, ShapeError, describe
from numen.transforms import draws, packs

Leaves = list[Any]


def connected(
    name: str, function: Callable[[Leaves], Leaves], leaves: Leaves, values: Leaves
) -> Leaves:
    """Arrays of these values, which `function(leaves)` gives, with a node that runs it again."""
    depth = max([level_of(a) for a in leaves], default=0)
    parents = [a._n if carries_gradient(a, depth) else None for a in leaves]
    again = Again(name, function, list(range(len(values))), [], values)
    return hang(again, leaves, parents, values, [False] * len(values))


def hang(
    again: Again,
    leaves: Leaves,
    parents: list[Any],
    values: Leaves,
    shared: Sequence[bool],
) -> Leaves:
    """The values with a node for each, over one call node; empties `values`."""
    if not values:
        return []
    again.count = len(leaves)
    again.depth = max([level_of(v) for v in values])
    args = (*[None] * len(parents), Held(leaves))
    raws = [v._d for v in values]
    node = packs.call_node(_AGAIN, (*parents, None), args, {"again": again}, raws)
    again.node = weakref.ref(node)
    count = len(values)
    return [
        packs.with_node(values, i, packs.result_node(node, i, count, raws[i]), shared[i])
        for i in range(count)
    ]


def carries_gradient(x: Any, depth: int) -> bool:
    """Whether x has a node that belongs to the transform at `depth`."""
    return (
        isinstance(x, ArrayCore)
        and x._n is not None
        and level_of(x) == depth
        and is_differentiable(x._d.dtype)
    )


def alias(a: Any, create: bool) -> Any:
    """An Array of a's values with a node of its own: a leaf, or with `create` above a's node."""
    array = core.ARRAY(a._d, None, SCALAR if a._v is SCALAR else None)
    array._t = _backward.register_of(a)
    if create and a._n is not None:
        array._n = Node(slots.primitive("copy"), (a._n,), (None,), {}, None, a._d)
    else:
        array._n = Leaf(tuple(a._d.shape), a._d.dtype)
        array._n.stamp = core.next_stamp()
    return array


def boundary(nodes: Sequence[Any], start: int, own: Any) -> dict[Any, None]:
    """The nodes made before `start`, and those of `own`, that a graph made since then leads to."""
    found: dict[Any, None] = {}
    seen: set[Any] = set()
    stack = list(nodes)
    while stack:
        node = stack.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if node.stamp > start or node in own:
            found[node] = None
        elif type(node) is not Leaf:  # not one of a transform that ran inside
            stack.extend(node.parents)
    return found


class Held:
    """What a call saved, by itself in its node's `args`: freed with the node.

    leaves: arrays and anything else; again: the arguments of a call that may run again to
    differentiate the leaves.
    """

    __slots__ = ("again", "leaves")

    def __init__(self, leaves: Leaves) -> None:
        self.leaves = leaves
        self.again: Held | None = None

    def check(self, node: Node) -> None:
        """Refuse arrays that were written in place after the call.

        Raises
        ------
        GradientError
            If there is one.
        """
        for a in self.leaves:
            written = _backward.written_since(node.stamp, a) if isinstance(a, ArrayCore) else None
            if written is not None:
                raise _backward.overwritten(node, a, written)


class Again:
    """The backward step of a call that runs its function again."""

    def __init__(
        self,
        name: str,
        function: Callable[[Leaves], Leaves],
        recorded: Sequence[int],
        states: draws.Snapshot,
        values: Sequence[Any],
    ) -> None:
        self.name = name
        self.function = function
        self.recorded = recorded
        self.states = states
        self.metas = [packs.Form.of(v) for v in values]
        self.count = 0
        self.depth = 0
        self.node: Any = None

    def pull(self, needs: Sequence[bool], g: Any, held: Held) -> list[Any]:
        """The cotangents of the arguments and captured nodes, raw or Arrays as g is."""
        node = self.node()
        held.check(node)
        parts, raw = packs.cotangents_of(g)
        create = not raw and modes.grad_enabled()
        inputs: Leaves = []
        own: dict[Any, int] = {}
        start = core.next_stamp()
        for i, a in enumerate(held.leaves):
            if needs[i]:
                a = alias(a, create)
                own[a._n] = i
            inputs.append(a)
        captured = node.parents[self.count : -1]
        with (
            modes.set_grad_enabled(True),
            packs.at_level(self.depth),
            draws.replayed(self.states) if self.states else nullcontext(),
        ):
            results = self.function(inputs)
        outs = self._checked(results)
        pairs = [
            (o, p) for o, p in zip(outs, parts, strict=True) if p is not None and o._n is not None
        ]
        known = {*own, *captured}
        found = boundary([o._n for o, _ in pairs], start, own)
        if not all([n in known for n in found]):
            raise GradientError(
                f"backward: {self.name}: the second run used an array that carries a gradient and "
                "that the first run did not use. Hint: the function must compute the same again"
            )
        wanted = [*own, *captured]
        cotangents = _backward.backward(
            [o for o, _ in pairs],
            [p for _, p in pairs],
            wrt=wanted,
            create_graph=create,
            within=True,
        )
        by_node = dict(zip(wanted, cotangents, strict=True))
        nodes: list[Any] = [None] * self.count
        for n, i in own.items():
            nodes[i] = n
        return [None if n is None else _as_given(by_node[n], raw) for n in [*nodes, *captured]] + [
            None
        ]

    def _checked(self, results: Leaves) -> Leaves:
        """The results that have nodes.

        Raises
        ------
        ShapeError
            If they are not what the first run gave.
        """
        outs = [results[i] for i in self.recorded if i < len(results)]
        metas = [packs.Form.of(o) if isinstance(o, ArrayCore) else None for o in outs]
        if metas != self.metas:
            raise ShapeError(
                f"backward: {self.name}: the second run gave {describe(*outs)}; the first gave "
                + ", ".join([f"{m.dtype} array of shape {m.shape}" for m in self.metas])
            )
        return outs


def _as_given(c: Any, raw: bool) -> Any:
    if c is None or not raw:
        return c if c is None or isinstance(c, ArrayCore) else core.ARRAY(c)
    return core.unwrap(c)


def _again_vjp(needs: Sequence[bool], g: Any, out: Any, *args: Any, again: Again) -> list[Any]:
    return again.pull(needs, g, args[-1])


def _no_row(*args: Any, **params: Any) -> Any:
    raise GradientError("checkpoint: has no row")


_AGAIN = Primitive("checkpoint", _no_row, vjp=_again_vjp)
