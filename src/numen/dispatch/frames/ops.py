"""Ops with Frames among their operands: run on the values of the innermost level.

`apply` is called by `primitive.py`. By the row's `batch` or `jvp` rule the op runs one level below,
where it may meet the next level's Frames. Next: `writes.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numen.dispatch import core, modes, places, slots, views
from numen.dispatch.backward import backward, unbroadcast
from numen.dispatch.core import SCALAR, ArrayCore, is_differentiable
from numen.dispatch.frames.frame import Frame
from numen.dispatch.frames.level import VMAP
from numen.dispatch.frames.looking import level_of, lifted, top_level
from numen.errors import TransformError


def apply(prim: Any, args: Sequence[Any], params: dict[str, Any]) -> Any:
    """Run an op that has Frames among its operands.

    Raises
    ------
    TransformError
        If a Frame's transform has ended, or belongs to another thread.
    """
    level = top_level([a for a in args if isinstance(a, ArrayCore)], prim.name)
    here = [isinstance(a, ArrayCore) and type(a._d) is Frame and a._d.level is level for a in args]
    low = [a._d.value if t else a for a, t in zip(args, here, strict=True)]
    if level.kind == VMAP:
        axes = [t and a._d.mapped for a, t in zip(args, here, strict=True)]
        if any(axes):
            frame = Frame(level, batched(prim, level.size, low, axes, params), True)
        else:
            frame = Frame(level, prim(*low, **params))
    else:
        out = prim(*low, **params)
        tangents = [a._d.tangent if t else None for a, t in zip(args, here, strict=True)]
        frame = Frame(level, out, False, tangent_of(prim, out, low, tangents, params))
    if not isinstance(frame.value, ArrayCore):
        return frame.value  # text, a date, a Python object
    return _finished(prim, args, params, frame, low)


def batched(
    prim: Any, size: int, args: Sequence[Any], axes: Sequence[bool], params: dict[str, Any]
) -> Any:
    """The op on all examples: by its batch rule, else one after the other."""
    if prim.least_ndim:
        _check_ndim(prim, args, axes, params)
    try:
        if prim.batch is not None:
            return prim.batch(size, args, axes, **params)
    except NotImplementedError:
        pass
    getitem, reshape = slots.primitive("getitem"), slots.primitive("reshape")
    results = [
        prim(
            *[getitem(a, index=(i,)) if t else a for a, t in zip(args, axes, strict=True)],
            **params,
        )
        for i in range(size)
    ]
    if not results:
        raise TransformError(f"vmap: {prim.name} has no form for 0 examples")
    rows = [reshape(r, shape=(1, *r._d.shape)) for r in results]
    return slots.primitive("concatenate")(*rows, axis=0)


def _check_ndim(
    prim: Any, args: Sequence[Any], axes: Sequence[bool], params: dict[str, Any]
) -> None:
    """Raise what the op raises where an example has too few axes."""
    least = prim.least_ndim(**params) if callable(prim.least_ndim) else prim.least_ndim
    arrays: list[Any] = [a if isinstance(a, ArrayCore) else np.asarray(a) for a in args]
    if any([len(a.shape) - t < n for a, t, n in zip(arrays, axes, least, strict=False)]):
        shapes = [tuple(a.shape[1:] if t else a.shape) for a, t in zip(arrays, axes, strict=True)]
        one = [np.zeros(shape, a.dtype) for shape, a in zip(shapes, arrays, strict=True)]
        prim(*[core.ARRAY(a) for a in one], **params)


def tangent_of(
    prim: Any,
    out: Any,
    args: Sequence[Any],
    tangents: Sequence[Any],
    params: dict[str, Any],
) -> Any:
    """The tangent of an op's result, or None where it is zero.

    Raises
    ------
    GradientError
        If the op has neither a jvp nor a vjp rule, yet a floating result of a floating operand.
    """
    if all([t is None for t in tangents]) or not isinstance(out, ArrayCore):
        return None
    if not is_differentiable(out._d.dtype) or (prim.vjp is None and prim.jvp is None):
        return None
    if prim.jvp is None:
        tangent = _transposed_twice(prim, out, args, tangents, params)
    else:
        tangent = prim.jvp(out, args, tangents, **params)
    if tangent is None:
        return None
    if not isinstance(tangent, ArrayCore):
        tangent = core.new_constant(np.asarray(tangent))
    if tangent._d.dtype != out._d.dtype:
        if tangent._d.dtype.kind == "c" and out._d.dtype.kind != "c":
            tangent = slots.primitive("real")(tangent)
        tangent = slots.primitive("cast")(tangent, dtype=out._d.dtype)
    if tangent._d.shape != out._d.shape:
        tangent = slots.primitive("broadcast_to")(tangent, shape=tuple(out._d.shape))
    return tangent


def _transposed_twice(
    prim: Any,
    out: Any,
    args: Sequence[Any],
    tangents: Sequence[Any],
    params: dict[str, Any],
) -> Any:
    """The tangent by the vjp rule: it is linear in its cotangent, so its own vjp is the jvp."""
    with modes.set_grad_enabled(True):
        g = slots.primitive("broadcast_to")(
            core.new_constant(np.zeros((), out._d.dtype)), shape=tuple(out._d.shape)
        )
        g = lifted(slots.primitive("copy")(g))
        leaf = core.ARRAY(g._d, core.Leaf(out._d.shape, out._d.dtype))
        needs = tuple([t is not None for t in tangents])
        cotangents = prim.vjp(needs, leaf, out, *args, **params)
        pairs = [
            (unbroadcast(c, t._d.shape), t)
            for c, t in zip(cotangents, tangents, strict=True)
            if t is not None and c is not None
        ]
        outputs, seeds = [c for c, _ in pairs], [t for _, t in pairs]
        return backward(outputs, seeds, wrt=[leaf._n], create_graph=True)[0]


def _finished(
    prim: Any, args: Sequence[Any], params: dict[str, Any], frame: Frame, low: Sequence[Any]
) -> Any:
    """Wrap an op's Frame as `Primitive.finish` wraps raw results: scalars, views, nodes."""
    source = args[0]
    if frame.mapped:
        scalar = not frame.shape and prim.gives_scalar(source, params)
    else:
        scalar = frame.value._v is SCALAR
    value = frame.value
    shared = value._v is not None and any([views.share_memory(value, a) for a in low])
    shared = shared or any([value is a for a in low])
    as_view = prim.view and shared and not scalar and source._v is not SCALAR
    if (
        as_view
        and frame.tangent is not None
        and not views.share_memory(frame.tangent, source._d.tangent)
    ):
        as_view = False
    if shared and not as_view:
        if prim.view and not scalar and value is source._d.value:
            return source  # the real part of a real array: itself
        frame.value = slots.primitive("copy")(value)
    if frame.tangent is not None and not as_view:
        if any([_owns(a, frame) and views.share_memory(frame.tangent, a._d.tangent) for a in args]):
            frame.tangent = slots.primitive("copy")(frame.tangent)
    result = core.ARRAY(frame, None, SCALAR if scalar else None)
    if as_view:
        views.register(result, source, prim, params)
    if prim.vjp is not None and (not modes.NO_GRAD or modes.state.grad):
        level = frame.level
        parents = tuple([a._n if level_of(a) == level.depth else None for a in args])
        if any([p is not None for p in parents]) and is_differentiable(frame.dtype):
            result._n = prim.node(args, parents, params, frame)
            if prim.saves_arguments:
                places.mark(result._n, 2)
    return result


def _owns(a: Any, frame: Frame) -> bool:
    """Whether writes into an operand go into its tangent's memory."""
    if level_of(a) != frame.level.depth:
        return False
    base = a._v.base if type(a._v) is core.View else a
    return bool(base._d.owned)
