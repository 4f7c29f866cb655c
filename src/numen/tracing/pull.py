"""Gradients through a jitted call: the node that a replay hangs on a returned array.

The backward pass of the array was recorded with the call (`Recorder._record_pulls`) and is one
compiled program over the call's registers. A gradient of that gradient runs the plain function
again, which is safe: a call with such a result changes no state. Called by `finish.py`; the rule is
called by dispatch's backward pass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from numen.dispatch import core, modes
from numen.dispatch.backward import backward
from numen.dispatch.core import ArrayCore, Node
from numen.dispatch.primitive import Primitive
from numen.errors import GradientError
from numen.tracing.trace import External, Pull, Reg
from numen.tracing.tree import Segment, Tree


class Context:
    """What the backward pass of one call needs: the call itself and its registers."""

    def __init__(
        self,
        tree: Tree,
        segment: Segment,
        registers: Mapping[Reg, Any],
        objects: Mapping[Reg, ArrayCore],
        scalars: Sequence[Any],
        again: Callable[[], Any],
    ) -> None:
        self.tree = tree
        self.segment = segment
        self.registers = registers
        self.objects = objects
        self.scalars = scalars
        self.again = again

    def node(self, number: int, data: Any) -> Node:
        """The node of the returned array whose recorded backward pass is `number`."""
        assert self.segment.end is not None
        pull = self.segment.end.pulls[number]
        leaves = [self.objects[reg]._n for reg, _ in pull.pairs]
        read = [self.objects[reg] for reg in sorted(pull.used()) if reg in self.objects]
        parents = (*leaves, *[None] * len(read))
        args = (*[None] * len(leaves), *read)
        return Node(PULL, parents, args, {"context": self, "number": number}, None, data)

    def cotangents(self, number: int, g: Any) -> list[Any]:
        """Run the compiled backward pass for the cotangent `g`, an ndarray."""
        assert self.segment.end is not None
        pull = self.segment.end.pulls[number]
        program, graph = self.tree.pull_program(self.segment, number)
        values: dict[Reg, Any] = {reg: array._d for reg, array in self.objects.items()}
        values.update(self.registers)
        for item in pull.items:
            if isinstance(item, External):
                if item.kind == "seed":
                    values[item.reg] = np.ascontiguousarray(g, item.meta.dtype)
                elif item.reg not in values:
                    values[item.reg] = self.tree.objects[(item.kind, item.key)]._d
        inputs = [
            values[x] if kind == "register" else x.evaluate(self.scalars, values)
            for kind, x in graph.inputs
        ]
        found = dict(zip(graph.outputs, program(*inputs), strict=True))
        return [found[cotangent] for _, cotangent in pull.pairs]

    def cotangents_with_graph(self, pull: Pull, g: ArrayCore) -> list[Any]:
        """The same as Arrays that can be differentiated again."""
        result = self.again()
        for key in pull.path:
            result = result[key]
        leaves = [self.objects[reg]._n for reg, _ in pull.pairs]
        return backward([result], [g], wrt=leaves, create_graph=True, hooked=False)


def _vjp(
    needs: Sequence[bool], g: Any, out: Any, *args: Any, context: Context, number: int
) -> list[Any]:
    assert context.segment.end is not None
    pull = context.segment.end.pulls[number]
    rest: list[Any] = [None] * (len(needs) - len(pull.pairs))
    if not isinstance(g, ArrayCore):
        return [*context.cotangents(number, g), *rest]
    if modes.grad_enabled():
        return [*context.cotangents_with_graph(pull, g), *rest]
    if modes.ACTIVE and modes.state.recorder is not None:
        raise GradientError(
            "a jitted call made outside a traced function is differentiated inside it"
        )
    return [*[core.ARRAY(c) for c in context.cotangents(number, g._d)], *rest]


PULL = Primitive("jit", lambda *args, **params: args[0], vjp=_vjp)
"""The row of a jitted call: only its backward pass is ever run."""
