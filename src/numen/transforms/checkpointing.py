"""checkpoint: save a function's arguments instead of what it computes, and compute that again.

The first run's graph is dropped once it has told which nodes it leads to: the arguments' and those
of captured arrays, such as a module's parameters. These become the parents of one node, whose
backward step runs the function again and takes the gradients through the new graph. `rules.py` uses
`connected` for what a custom rule saves. Next: `implicit`.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

from numen.dispatch import backward as _backward
from numen.dispatch import core, modes, slots
from numen.dispatch.core import SCALAR, ArrayCore, Leaf, Node, is_differentiable
from numen.dispatch.frames import level_of, newest_write
from numen.dispatch.primitive import Primitive
from numen.errors import GradientError, ShapeError, describe
from numen.transforms import draws, packs
from numen.transforms.trees import flatten

Leaves = list[Any]

HOLDERS = 7
"""References to a result that nobody but this module holds."""


def checkpoint(
    function: Callable[..., Any] | None = None,
    *args: Any,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """Call a function and keep only its arguments for the backward pass, which runs it again.

    With arguments it is PyTorch's `checkpoint(function, *args)`; without, as in JAX, it returns
    such a function, so it is also a decorator.

    Parameters
    ----------
    function : callable
        Takes and returns arrays, or tuples, lists and dicts of them, and anything else. It may use
        captured arrays that require gradients, as a module's parameters; they get theirs.
    use_reentrant : bool
        Ignored: there is one way.
    preserve_rng_state : bool
        Whether the second run draws the same random numbers, as dropout has to.

    Raises
    ------
    GradientError
        In the backward pass, if an argument was written in place since, or the second run comes to
        other arrays than the first.

    Notes
    -----
    Captured arrays must not be written between the two runs. Inside `vmap` and `jvp` a function
    whose own arguments carry no gradient is called as it is.

    Examples
    --------
    >>> import numen as nm
    >>> x = nm.array([1.0, 2.0], requires_grad=True)
    >>> y = nm.checkpoint(lambda v: nm.sin(nm.exp(v)), x)
    >>> y.sum().backward()
    >>> nm.allclose(x.grad, nm.cos(nm.exp(x)) * nm.exp(x))
    True
    """
    if function is None:
        return functools.partial(
            checkpoint, use_reentrant=use_reentrant, preserve_rng_state=preserve_rng_state
        )
    if args or kwargs:
        return _checkpointed(function, args, kwargs, preserve_rng_state)

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return _checkpointed(function, args, kwargs, preserve_rng_state)

    return wrapped


remat = checkpoint


def _checkpointed(
    function: Callable[..., Any], args: Any, kwargs: dict[str, Any], preserve: bool
) -> Any:
    leaves, structure = flatten((args, kwargs))
    depth = max([level_of(a) for a in leaves], default=0)
    needs = [carries_gradient(a, depth) for a in leaves]
    if not modes.grad_enabled() or (depth and not any(needs)):
        return function(*args, **kwargs)
    name = f"checkpoint of {getattr(function, '__name__', type(function).__name__)}"
    shape: list[Any] = []

    def flat(inner: Leaves) -> Leaves:
        more_args, more_kwargs = structure.unflatten(inner)
        outs, out_structure = flatten(function(*more_args, **more_kwargs))
        shape[:] = [out_structure]
        return outs

    start = core.next_stamp()
    inputs = [alias(a, False) if need else a for a, need in zip(leaves, needs, strict=True)]
    before = draws.snapshot() if preserve else []
    outs = flat(inputs)
    out_structure = shape[0]
    own = {a._n: i for i, a in enumerate(inputs) if needs[i]}
    recorded = [i for i, o in enumerate(outs) if carries_gradient(o, depth)]
    found = boundary([outs[i]._n for i in recorded], start, own)
    captured = [n for n in found if n not in own]
    originals = {id(a): leaf for a, leaf in zip(inputs, leaves, strict=True)}
    values = [outs[i] for i in recorded]
    shared = [v._n in found or packs.shares(v, inputs) for v in values]
    shown = [originals.get(id(o), o) for o in outs]
    again = Again(name, flat, recorded, draws.used(before), values)
    parents = [a._n if need else None for a, need in zip(leaves, needs, strict=True)]
    arrays = _hang(again, leaves, [*parents, *captured], values, shared)
    for i, array in zip(recorded, arrays, strict=True):
        shown[i] = array
    return out_structure.unflatten(shown)


def connected(
    name: str, function: Callable[[Leaves], Leaves], leaves: Leaves, values: Sequence[Any]
) -> Leaves:
    """Arrays of these values, which `function(leaves)` gives, with a node that runs it again."""
    depth = max([level_of(a) for a in leaves], default=0)
    parents = [a._n if carries_gradient(a, depth) else None for a in leaves]
    again = Again(name, function, list(range(len(values))), [], values)
    return _hang(again, leaves, parents, values, [False] * len(values))


def _hang(
    again: Again,
    leaves: Leaves,
    parents: list[Any],
    values: Sequence[Any],
    shared: Sequence[bool],
) -> Leaves:
    """The values with a node for each, over one call node."""
    if not values:
        return []
    again.count = len(leaves)
    again.depth = max([level_of(v) for v in values])
    args = (*[None] * len(parents), Held(leaves))
    raws = [v._d for v in values]
    node = packs.call_node(_AGAIN, (*parents, None), args, {"again": again}, raws)
    again.node = weakref.ref(node)
    return [
        packs.with_node(v, packs.result_node(node, i, len(values), v._d), copied, HOLDERS)
        for i, (v, copied) in enumerate(zip(values, shared, strict=True))
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
        if type(node) is Leaf or node.stamp > start or node in own:
            found[node] = None
        else:
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
            if isinstance(a, ArrayCore) and newest_write(a) < node.stamp:
                raise _backward._overwritten(node, a)


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
        self.metas = [(tuple(v._d.shape), v._d.dtype) for v in values]
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
            [o for o, _ in pairs], [p for _, p in pairs], wrt=wanted, create_graph=create, within=True
        )
        by_node = dict(zip(wanted, cotangents, strict=True))
        nodes: list[Any] = [None] * self.count
        for n, i in own.items():
            nodes[i] = n
        return [
            None if n is None else _as_given(by_node[n], raw) for n in [*nodes, *captured]
        ] + [None]

    def _checked(self, results: Leaves) -> Leaves:
        """The results that have nodes.

        Raises
        ------
        ShapeError
            If they are not what the first run gave.
        """
        outs = [results[i] for i in self.recorded if i < len(results)]
        metas = [
            (tuple(o._d.shape), o._d.dtype) if isinstance(o, ArrayCore) else None for o in outs
        ]
        if metas != self.metas:
            raise ShapeError(
                f"backward: {self.name}: the second run gave {describe(*outs)}; the first gave "
                + ", ".join([f"{dtype} array of shape {shape}" for shape, dtype in self.metas])
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
