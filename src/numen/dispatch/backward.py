"""The backward pass: one loop for `backward()`, `grad`, `vjp` and `create_graph`.

Comes from `Array.backward` and `transforms`; walks nodes newest first (a heap by stamp, so depth is
no matter), calls vjp rules, undoes broadcasting, adds cotangents and hands them to leaves. Rules
run on raw ndarrays unless a graph of the gradient is wanted, a mode is active, or the arrays are
large enough for kernels.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from typing import Any

import numpy as np

from numen.dispatch import backends, core, hooks, modes, places, slots
from numen.dispatch.core import ArrayCore, Leaf, Node
from numen.dispatch.visitor import Visitor, visitor
from numen.errors import GradientError, InternalError, ShapeError, describe

_grad_lock = threading.Lock()
_ones: dict[np.dtype[Any], Any] = {}


def backward(
    outputs: Sequence[ArrayCore],
    seeds: Sequence[Any],
    *,
    wrt: Sequence[Any] | None = None,
    create_graph: bool = False,
    retain_graph: bool = False,
    hooked: bool = True,
    within: bool = False,
) -> list[Any]:
    """Propagate cotangents from outputs to leaves.

    Parameters
    ----------
    outputs : sequence of Array
        Arrays to start from; those without a node contribute nothing.
    seeds : sequence of Array, ndarray or None
        Cotangent of each output, of its shape; None means 1 and needs an output of one element.
    wrt : sequence of nodes, optional
        Stop at these nodes and return their cotangents (None where there is none) instead of
        filling `.grad`.
    create_graph : bool
        Record the backward computation itself, for higher derivatives.
    retain_graph : bool
        Keep what the graph saved, so that it can be walked again.
    hooked : bool
        Whether the user's hooks run.
    within : bool
        The pass is part of another one, which runs the hooks of the nodes in `wrt`.

    Raises
    ------
    GradientError
        If the graph was freed by an earlier pass, or a saved array was written in place since.
    """
    watch = modes.state.anomaly if modes.ACTIVE else None
    wrapped = create_graph or (modes.ACTIVE > 0 and modes.special()) or modes.LIMIT == 0
    if not wrapped and backends.in_use():
        wrapped = backends.backend_of([y._d for y in outputs]) is not None
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
    wanted = None if wrt is None else dict.fromkeys(wrt)
    keep = retain_graph or create_graph
    visits = (
        visitor(wanted, wrapped, within) if hooked and (hooks.LIVE or hooks.retaining) else None
    )
    if watch is not None:
        visits = watch.visits(visits, cotangents.values())
    if wrapped:
        with modes.set_grad_enabled(create_graph):
            _walk(heap, cotangents, wanted, keep, _pull_arrays, visits)
    else:
        _walk(heap, cotangents, wanted, keep, _pull, visits)
    return [] if wrt is None else [wanted[node] for node in wrt]  # type: ignore[index]


def _walk(
    heap: list[tuple[int, int, Any]],
    cotangents: dict[Any, Any],
    wanted: dict[Any, Any] | None,
    keep: bool,
    pull: Callable[[Node, Any], Sequence[Any]],
    visits: Visitor | None,
) -> None:
    """Visit nodes newest first, so that each is reached when its cotangent is complete; fill
    `wanted`, or the leaves. `visits` runs hooks on the way.

    This loop and `_pull` are what a small backward pass costs, hence no `strict` in their zips.
    """
    if visits is not None:
        pull = _visited(visits, pull)
    # Where one way alone leads on, it does not go through the heap.
    node: Any = None
    g: Any = None
    only: Any
    way: Any
    while node is not None or heap:
        if node is None:
            node = heappop(heap)[2]
            g = cotangents.pop(node)
        if visits is not None:
            g = visits.arrived(node, g)
        if wanted is not None and node in wanted:
            wanted[node] = g
            node = None
            continue
        if type(node) is Leaf:
            if wanted is None:
                _accumulate(node, g)
                if visits is not None:
                    visits.accumulated(node)
            node = None
            continue
        only = way = None
        for parent, c in zip(node.parents, pull(node, g)):  # noqa: B905
            if parent is None or c is None:
                continue
            if c.shape != parent.shape:
                c = unbroadcast(c, parent.shape)
            if c.dtype is not parent.dtype and c.dtype != parent.dtype:
                c = _cast(c, parent)
            if parent is only:
                way = way + c
                continue
            if parent in cotangents:
                cotangents[parent] = cotangents[parent] + c
                continue
            if c is g and type(parent) is Leaf:
                c = _copied(c)
            if only is None and not heap:
                only, way = parent, c
                continue
            cotangents[parent] = c
            heappush(heap, (parent.stamp, id(parent), parent))
        if not keep:
            node.args = None
            node.out = None
            node.parents = ()
        if only is not None and heap:
            cotangents[only] = way
            heappush(heap, (only.stamp, id(only), only))
            only = None
        node = only
        if only is not None:
            g = way


def _visited(visits: Visitor, pull: Callable[[Node, Any], Sequence[Any]]) -> Any:
    """`pull` between a node's hooks, which see gradients of the arguments' shapes and dtypes."""

    def visited(node: Node, g: Any) -> Sequence[Any]:
        def fitted(g: Any) -> list[Any]:
            return [_fit(c, p) for c, p in zip(pull(node, g), node.parents, strict=True)]

        return visits.pulled(node, g, fitted)

    return visited


def _fit(c: Any, parent: Any) -> Any:
    if parent is None or c is None:
        return None
    if c.shape != parent.shape:
        c = unbroadcast(c, parent.shape)
    return c if c.dtype == parent.dtype else _cast(c, parent)


def _cast(c: Any, parent: Any) -> Any:
    """A cotangent in its argument's dtype: of a complex one a real argument moves only the real
    part."""
    if c.dtype.kind == "c" and parent.dtype.kind != "c":
        c = slots.primitive("real")(c)
    return c.astype(parent.dtype)


def _seed(y: ArrayCore, seed: Any, wrapped: bool) -> Any:
    if seed is None:
        if y._d.size != 1:
            raise GradientError(
                f"backward: a gradient starts by itself only from one element; got {describe(y)}. "
                "Hint: reduce it (sum, mean) or pass the cotangent"
            )
        dtype = y._d.dtype
        if not wrapped and not y._d.shape and dtype in _ones:
            return _ones[dtype]
        if dtype.kind == "c":
            raise GradientError(
                f"backward: a gradient starts by itself only from a real element; got "
                f"{describe(y)}. Hint: take real(), imag() or abs(), or pass the cotangent"
            )
        seed = backends.module_of(y._d).ones(y._d.shape, dtype)
        if wrapped:
            return core.new_constant(seed)
        if not y._d.shape:
            seed.flags.writeable = False
            _ones[dtype] = seed
        return seed
    shape = core.unwrap(seed).shape if hasattr(seed, "_d") else np.shape(seed)
    if tuple(shape) != y._d.shape:
        raise ShapeError(
            f"backward: cotangent of shape {tuple(shape)} for an output of shape {y._d.shape}"
        )
    if not wrapped:
        seed = np.asarray(core.unwrap(seed))
    elif not isinstance(seed, ArrayCore):
        seed = core.new_constant(np.asarray(seed))
    if seed.dtype == y._d.dtype:
        return seed
    if seed.dtype.kind == "c" and y._d.dtype.kind != "c":
        raise GradientError(
            f"backward: a complex cotangent for a real output; got {describe(seed, y)}"
        )
    return seed.astype(y._d.dtype)


def _pull(node: Node, g: Any) -> Sequence[Any]:
    """Cotangents of one node's arguments, by raw arrays where all of them are small."""
    saved = node.args
    if saved is None:
        raise _freed(node)
    limit = modes.LIMIT
    parents = node.parents
    args: list[Any] = []
    for a, parent in zip(saved, parents):  # noqa: B905
        if a is None:
            args.append(parent)
        elif isinstance(a, ArrayCore):
            memory = a._v
            if memory is not None and memory.t < node.stamp:
                raise overwritten(node, a, a)
            raw = a._d
            if raw.size >= limit:
                break
            args.append(raw)
        else:
            args.append(a)
    else:
        if g.size < limit:
            out = node.out
            if isinstance(out, ArrayCore):
                out = out._d
            if len(parents) == 2:
                needs: tuple[bool, ...] = (parents[0] is not None, parents[1] is not None)
            else:
                needs = tuple([p is not None for p in parents])
            return node.prim.vjp(needs, g, out, *args, **node.params)  # type: ignore[no-any-return]
    with modes.no_grad():
        return [core.unwrap(c) for c in _pull_arrays(node, core.ARRAY(g))]


def _pull_arrays(node: Node, g: Any) -> Sequence[Any]:
    """Cotangents of one node's arguments, as Arrays: kernels, recorders and graphs of gradients see
    the rules' ops."""
    saved = node.args
    if saved is None:
        raise _freed(node)
    args: list[Any] = []
    for a, parent in zip(saved, node.parents, strict=True):
        if isinstance(a, ArrayCore):
            written = written_since(node.stamp, a)
            if written is not None:
                raise overwritten(node, a, written)
        args.append(parent if a is None else a)
    out = None if node.out is None else _out_array(node, node.out)
    needs = tuple([p is not None for p in node.parents])
    return node.prim.vjp(needs, g, out, *args, **node.params)  # type: ignore[no-any-return]


def _freed(node: Node) -> GradientError:
    return GradientError(
        f"backward: the graph through {node.prim.name} was already freed. Hint: retain_graph=True "
        f"keeps it"
    )


def written_since(stamp: int, a: ArrayCore) -> ArrayCore | None:
    """The array, or one below it in `vmap` and `jvp`, whose memory was written after `stamp`."""
    while a._v is None or a._v.t >= stamp:
        if type(a._d) is not backends.FRAME:
            return None
        a = a._d.value
    return a


def overwritten(node: Node, a: ArrayCore, written: ArrayCore) -> GradientError:
    place = None if written._v is None else getattr(written._v.cell, "place", None)
    return GradientError(
        f"backward: {node.prim.name} saved a {describe(a)} that was written in place afterwards\n"
        f"  saved in   {places.describe_place(places.place_of(node))}\n"
        f"  written in {places.describe_place(place)}\n"
        "Hint: write into a copy, or compute a new array instead"
    )


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


def register_of(c: ArrayCore, holder: ArrayCore | None = None) -> Any:
    """The trace register of an array's present value, or None outside a trace.

    holder: the new Array that will hold the value, where it is known to share c's memory.
    """
    recorder = modes.state.recorder if modes.ACTIVE else None
    return None if recorder is None else recorder.tag(c, holder)


def _accumulate(leaf: Leaf, g: Any) -> None:
    """Add a cotangent into a leaf's gradient; the result shares memory with nothing else."""
    if isinstance(g, ArrayCore):
        if g._v is core.SCALAR or g._d.base is not None or not core.is_writeable(g._d):
            g = _copied(g)
    else:
        if g.base is not None or not g.flags.writeable:
            g = np.array(g, order="C")  # also makes an array of a scalar
        g = core.ARRAY(g)
    recorder = modes.state.recorder if modes.ACTIVE else None
    with _grad_lock:
        before = leaf.grad if recorder is None else recorder.read_grad(leaf)
        if before is None:
            after = g
        elif before._n is None:
            after = before + g
        else:
            with modes.set_grad_enabled(g._n is not None):
                after = before + g
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
