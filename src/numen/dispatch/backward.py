"""The backward pass: one loop for `backward()`, `grad`, `vjp` and `create_graph`.

Comes from `Array.backward` and `transforms`; walks nodes newest first (a heap by stamp, so depth is no matter), calls
vjp rules, undoes broadcasting, adds cotangents and hands them to leaves. Rules run on raw ndarrays unless a graph of
the gradient is wanted, a mode is active, or the arrays are large enough for kernels.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Any

import numpy as np

from numen.dispatch import core, modes, slots
from numen.dispatch.core import ArrayCore, Leaf, Node
from numen.errors import GradientError, InternalError, ShapeError, describe

_grad_lock = threading.Lock()


def backward(
    outputs: Sequence[ArrayCore],
    seeds: Sequence[Any],
    *,
    wrt: Sequence[Any] | None = None,
    create_graph: bool = False,
    retain_graph: bool = False,
) -> list[Any]:
    """Propagate cotangents from outputs to leaves.

    Parameters
    ----------
    outputs : sequence of Array
        Arrays to start from; those without a node contribute nothing.
    seeds : sequence of Array, ndarray or None
        Cotangent of each output, of its shape; None means 1 and needs an output of one element.
    wrt : sequence of nodes, optional
        Stop at these nodes and return their cotangents (None where there is none) instead of filling `.grad`.
    create_graph : bool
        Record the backward computation itself, for higher derivatives.
    retain_graph : bool
        Keep what the graph saved, so that it can be walked again.

    Raises
    ------
    GradientError
        If the graph was freed by an earlier pass, or a saved array was written in place since.
    """
    wrapped = create_graph or (modes.ACTIVE and modes.state.special > 0) or modes.LIMIT == 0
    heap: list[tuple[int, int, Any]] = []
    cotangents: dict[Any, Any] = {}
    for y, seed in zip(outputs, seeds, strict=True):
        node = y._n
        if node is None:
            continue
        g = _seed(y, seed, wrapped)
        if node in cotangents:
            cotangents[node] = cotangents[node] + g
        else:
            cotangents[node] = g
            heappush(heap, (node.stamp, id(node), node))
    wanted = None if wrt is None else {node: None for node in wrt}
    found: dict[Any, Any] = {}
    with modes.set_grad_enabled(create_graph):
        while heap:
            node = heappop(heap)[2]
            g = cotangents.pop(node)
            if wanted is not None and node in wanted:
                found[node] = g
                continue
            if type(node) is Leaf:
                if wanted is None:
                    _accumulate(node, g, wrapped)
                continue
            parents = node.parents
            for parent, c in zip(parents, _pull(node, g, wrapped), strict=True):
                if parent is None or c is None:
                    continue
                if c.shape != parent.shape:
                    c = unbroadcast(c, parent.shape)
                if c.dtype != parent.dtype:
                    if c.dtype.kind == "c" and parent.dtype.kind != "c":
                        raise GradientError(
                            f"backward: {node.prim.name} gives a complex gradient for a {parent.dtype} "
                            "argument; gradients through complex values are not supported yet"
                        )
                    c = c.astype(parent.dtype)
                if parent in cotangents:
                    cotangents[parent] = cotangents[parent] + c
                else:
                    if c is g and type(parent) is Leaf:
                        c = _copied(c)
                    cotangents[parent] = c
                    heappush(heap, (parent.stamp, id(parent), parent))
            if not (retain_graph or create_graph):
                node.args = None
                node.out = None
                node.parents = ()
    return [] if wrt is None else [found.get(node) for node in wrt]


def _seed(y: ArrayCore, seed: Any, wrapped: bool) -> Any:
    if seed is None:
        if y._d.size != 1:
            raise GradientError(
                f"backward: a gradient starts by itself only from one element; got {describe(y)}. "
                "Hint: reduce it (sum, mean) or pass the cotangent"
            )
        seed = np.ones(y._d.shape, y._d.dtype)
        return core.new_constant(seed) if wrapped else seed
    shape = np.shape(core.unwrap(seed))
    if tuple(shape) != y._d.shape:
        raise ShapeError(
            f"backward: cotangent of shape {tuple(shape)} for an output of shape {y._d.shape}"
        )
    if wrapped:
        return seed if isinstance(seed, ArrayCore) else core.new_constant(np.asarray(seed))
    return np.asarray(core.unwrap(seed))


def _pull(node: Node, g: Any, wrapped: bool) -> Sequence[Any]:
    """Cotangents of one node's arguments."""
    prim, saved = node.prim, node.args
    if saved is None:
        raise GradientError(
            f"backward: the graph through {prim.name} was already freed. Hint: retain_graph=True keeps it"
        )
    parents = node.parents
    stamp = node.stamp
    large = not wrapped and g.size >= modes.LIMIT
    args: list[Any] = []
    for a, parent in zip(saved, parents, strict=True):
        if a is None:
            args.append(parent)
        elif isinstance(a, ArrayCore):
            memory = a._v
            if memory is not None and memory.t < stamp:
                raise GradientError(
                    f"backward: {prim.name} saved a {describe(a)} that was written in place afterwards. "
                    "Hint: write into a copy"
                )
            if not wrapped and not large and a._d.size >= modes.LIMIT:
                large = True
            args.append(a)
        else:
            args.append(a)
    needs = tuple([p is not None for p in parents])
    out = node.out
    if wrapped:
        if out is not None:
            out = _out_array(node, out)
        return prim.vjp(needs, g, out, *args, **node.params)  # type: ignore[no-any-return]
    if large:
        if out is not None and not isinstance(out, ArrayCore):
            out = core.ARRAY(out)
        rules = prim.vjp(needs, core.ARRAY(g), out, *args, **node.params)
        return [core.unwrap(c) for c in rules]
    if isinstance(out, ArrayCore):
        out = out._d
    args = [a._d if isinstance(a, ArrayCore) else a for a in args]
    cotangents: Sequence[Any] = prim.vjp(needs, g, out, *args, **node.params)
    return [np.asarray(c) if isinstance(c, np.generic) else c for c in cotangents]


def _out_array(node: Node, out: Any) -> Any:
    """The saved result as an Array that leads back to its node."""
    array = core.ARRAY(core.unwrap(out))
    array._n = node
    if isinstance(out, ArrayCore):
        array._t = out._t
    return array


def _copied(c: Any) -> Any:
    if isinstance(c, ArrayCore):
        fresh = core.ARRAY(c._d.copy(), c._n)
        fresh._t = register_of(c)
        return fresh
    return c.copy()


def register_of(c: ArrayCore) -> Any:
    """The trace register of an array's present value, or None outside a trace."""
    recorder = modes.state.recorder if modes.ACTIVE else None
    return None if recorder is None else recorder.tag(c)


def _accumulate(leaf: Leaf, g: Any, wrapped: bool) -> None:
    """Add a cotangent into a leaf's gradient; the result shares memory with nothing else."""
    if isinstance(g, ArrayCore):
        if g._v is core.SCALAR or g._d.base is not None or not g._d.flags.writeable:
            g = _copied(g)
    else:
        if g.base is not None or not g.flags.writeable:
            g = g.copy()
        g = core.ARRAY(g)
    recorder = modes.state.recorder if modes.ACTIVE else None
    with _grad_lock:
        before = leaf.grad if recorder is None else recorder.read_grad(leaf)
        after = g if before is None else before + g
        if recorder is not None:
            recorder.write_grad(leaf, after)
        leaf.grad = after


def unbroadcast(g: Any, shape: tuple[int, ...]) -> Any:
    """Sum g over the axes that broadcasting added or stretched, back to `shape`."""
    have = g.shape
    extra = len(have) - len(shape)
    if extra < 0:
        raise InternalError(
            f"backward: cotangent of shape {tuple(have)} for an argument of shape {shape}"
        )
    axes = tuple([i for i, n in enumerate(have) if i < extra or (shape[i - extra] == 1 and n != 1)])
    if isinstance(g, ArrayCore):
        reduced = slots.primitive("sum")(g, axis=axes, keepdims=False) if axes else g
        return slots.primitive("reshape")(reduced, shape=tuple(shape))
    return np.add.reduce(g, axis=axes).reshape(shape) if axes else g.reshape(shape)
