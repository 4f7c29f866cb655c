"""Views and in-place writes: which memory is shared, and what a write does to the nodes of
everything that shares it.

A write into an array is a functional update of its base (`setitem` along the view's path): the base
gets a new node and every live view's node is derived again from it. Called by `primitive.py` (new
views) and by Array's in-place methods; the algorithm follows PyTorch's view + in-place semantics.
Next: `backward.py`.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from numen.dispatch import backends, core, modes, places, slots
from numen.dispatch.core import SCALAR, ArrayCore, Cell, Leaf, Node, Twin, View
from numen.errors import BackendError, GradientError, LeafWriteError, ShapeError, describe

if TYPE_CHECKING:
    from numen.dispatch.primitive import Primitive


def register(result: ArrayCore, source: ArrayCore, prim: Primitive, params: dict[str, Any]) -> None:
    """Make `result` a view of `source`, made by `prim(source, **params)`."""
    memory = source._v
    if memory is None:
        memory = source._v = Cell()
    cell = memory.cell
    if type(memory) is View:
        result._v = View(memory.base, cell, (*memory.path, (prim, params)), memory.detached)
    else:
        result._v = View(source, cell, ((prim, params),))
    remember(cell, result)


def register_detached(result: ArrayCore, source: ArrayCore) -> None:
    """Make `result` share `source`'s memory without sharing its gradient."""
    memory = source._v
    if memory is SCALAR:
        result._v = SCALAR
        return
    if memory is None:
        memory = source._v = Cell()
    if type(memory) is View:
        result._v = View(memory.base, memory.cell, memory.path, True)
    else:
        result._v = View(source, memory.cell, (), True)


def register_twin(result: ArrayCore, source: ArrayCore) -> None:
    """Make `result`, which has `source`'s memory and a gradient of its own, know of its writes."""
    memory = source._v
    if memory is SCALAR:
        return  # nobody writes it
    if memory is None:
        source._v = Cell()
    result._v = Twin(source)


def share_memory(a: Any, b: Any) -> bool:
    """Whether two operands are one Array, or Arrays over one base."""
    if a is b:
        return True
    if not isinstance(a, ArrayCore) or not isinstance(b, ArrayCore):
        return False
    cells = [getattr(x._v, "cell", None) for x in (a, b)]
    return cells[0] is not None and cells[0] is cells[1]


def remember(cell: Cell, view: ArrayCore) -> None:
    """Add a view to its cell, dropping dead ones now and then."""
    live = cell.views
    live.append(weakref.ref(view))
    if len(live) >= 32 and not len(live) & (len(live) - 1):
        cell.views = [w for w in live if w() is not None]


write_frames: Any = None
"""`frames/writes.py`'s `write`, filled there: where a value of `vmap` or `jvp` is concerned."""


def check_writable(x: ArrayCore, op: str) -> None:
    """Refuse a write that NumPy or the gradient rules refuse.

    Raises
    ------
    ValueError
        If the memory is read-only.
    LeafWriteError
        If `x` is, or is a view of, a leaf that requires a gradient, outside `no_grad`.
    """
    if not core.is_writeable(x._d) or (type(x._v) is View and _is_read_only(x)):
        raise ValueError(
            f"{op}: output array is read-only; got {describe(x)}. Hint: copy() it first"
        )
    if modes.NO_GRAD and not modes.state.grad:
        return
    node = x._n
    base = x._v.base if type(x._v) is View else x
    if type(node) is Leaf or (type(base._n) is Leaf and not x._v.detached):
        raise LeafWriteError(
            f"{op}: in-place write into a leaf that requires a gradient; got {describe(x)}. "
            "Hint: write under no_grad(), or make a new array"
        )


def write(x: ArrayCore, value: Any, op: str, casting: str = "same_kind") -> None:
    """Write `value` (Array, ndarray or scalar) into all of x, with gradients.

    x, its base and their live views see the new values and, where a gradient is recorded, get new
    nodes.

    Raises
    ------
    ValueError, ShapeError
        If x is read-only, or value does not broadcast to x's shape.
    TypeError
        If `casting` forbids the cast, as NumPy's.
    BackendError
        If x and value live on different devices.
    LeafWriteError
        As `check_writable`.
    """
    check_writable(x, op)
    if isinstance(value, ArrayCore) and value._n is not None:
        _check_attached(x, op)
    if modes.state.level and backends.FRAME in (type(x._d), type(core.unwrap(value))):
        keep_saved_result(x)
        write_frames(x, value, op, casting)
        wrote(x, value)
        return
    raw = value._d if isinstance(value, ArrayCore) else getattr(value, "value", value)
    keep_saved_result(x)
    try:
        if backends.in_use() and (backend := backends.backend_of((x._d, raw))) is not None:
            if isinstance(x._d, np.ndarray):
                raise BackendError(
                    f"{op}: a {describe(value)} of device {backend.name!r} can't be written into "
                    "memory of the host. Hint: to_device() moves it"
                )
            backend.module.copyto(x._d, backends.adopted(backend, raw, op), casting=casting)
        else:
            np.copyto(x._d, raw, casting=casting)  # type: ignore[arg-type]
    except ValueError as error:
        raise ShapeError(
            f"{op}: could not broadcast {describe(value)} into shape {x._d.shape}"
        ) from error
    wrote(x, value)


def _check_attached(x: ArrayCore, op: str) -> None:
    """Refuse to write a value with a gradient where the gradient would be lost.

    Raises
    ------
    GradientError
        If x is a view that takes no part in gradients (`detach()`, a function without derivative).
    """
    if type(x._v) is View and x._v.detached and (not modes.NO_GRAD or modes.state.grad):
        raise GradientError(
            f"{op}: a value that carries a gradient is written through a view that takes no part "
            f"in gradients; got {describe(x)}. Hint: detach() the value, or write into the base"
        )


def _is_read_only(x: ArrayCore) -> bool:
    """Whether a view repeats elements, or shows the bits of an array that has a gradient: NumPy
    marks it read-only, other backends can't."""
    if not backends.in_use():
        return False
    memory = x._v
    names = [prim.name for prim, _ in memory.path]
    other_bits = memory.detached or not core.is_differentiable(x._d.dtype)
    return "broadcast_to" in names or (
        "view_dtype" in names and memory.base._n is not None and other_bits
    )


def keep_saved_result(x: ArrayCore) -> None:
    """Before a write: copy the result that the base's node saved, if it lives in this very
    memory."""
    base = x._v.base if type(x._v) is View else x
    node = base._n
    if type(node) is Node and node.out is not None:
        out = node.out
        if isinstance(out, ArrayCore):
            if out._d is base._d:
                kept = core.ARRAY(out._d.copy())
                kept._t = out._t
                node.out = kept
        elif out is base._d:
            node.out = out.copy()


def wrote(x: ArrayCore, value: Any) -> None:
    """After a write of `value` into x's memory: stamp it, tell a recorder, and renew the nodes."""
    memory = x._v
    if memory is None:
        memory = x._v = Cell()
    cell = memory.cell
    cell.t = core.next_stamp()
    if places.ON:
        cell.place = places.here(2)
    if modes.ACTIVE and modes.state.recorder is not None:
        modes.state.recorder.wrote(x, value)
    if modes.NO_GRAD and not modes.state.grad:
        return
    node = value._n if isinstance(value, ArrayCore) else None
    if node is not None and not core.is_differentiable(x._d.dtype):
        node = None
    if type(memory) is View:
        if memory.detached:
            return
        base = memory.base
        if base._n is None and node is None:
            return
        base._n = _setitem_node(base, node, memory.path)
    else:
        base = x
        if x._n is None and node is None:
            return
        if node is not None and (node.shape != x._d.shape or node.dtype != x._d.dtype):
            node = _setitem_node(x, node, ())
        elif type(node) is Leaf:  # x holds its values, and is no leaf itself
            node = Node(slots.primitive("copy"), (node,), (None,), {}, None, x._d)
        x._n = node
    renew_views(base, cell)


def _setitem_node(base: ArrayCore, node: Any, path: tuple[Any, ...]) -> Node:
    prim = slots.primitive("setitem")
    return Node(
        prim, (base._n if path else None, node), (None, None), {"path": path}, None, base._d
    )


def renew_views(base: ArrayCore, cell: Cell) -> None:
    """Derive the nodes of all live views again from the base's node."""
    live = []
    for ref in cell.views:
        view = ref()
        if view is None:
            continue
        live.append(ref)
        memory = view._v
        if type(memory) is not View or memory.detached:
            continue
        node, data = base._n, base._d
        if node is not None:
            for prim, params in memory.path:
                if type(data) is backends.FRAME:
                    data = prim(core.ARRAY(data), **params)._d
                else:
                    data = prim.impl(data, **params)
                node = Node(prim, (node,), (None,), params, None, data)
            if not core.is_differentiable(view._d.dtype):
                node = None  # the bits of a float seen as an integer
        view._n = node
    cell.views = live


def same_view(x: ArrayCore, value: Any, prim: Primitive, params: dict[str, Any]) -> bool:
    """Whether `value` is the very view `prim(x, **params)`: then `x[i] = value` (the end of `x[i]
    += y`) is done."""
    if not isinstance(value, ArrayCore) or type(value._v) is not View or x._v is None:
        return False
    memory = value._v
    path = x._v.path if type(x._v) is View else ()
    if memory.cell is not x._v.cell or memory.detached != (type(x._v) is View and x._v.detached):
        return False
    if len(memory.path) != len(path) + 1 or memory.path[: len(path)] != path:
        return False
    last_prim, last_params = memory.path[-1]
    return last_prim is prim and bool(last_params == params)
