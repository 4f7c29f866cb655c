"""In-place writes where the array or the value is a Frame.

A write goes into the values below, in place; tangents follow. Memory made inside the transform
becomes batched or gets a tangent when such a value is written into it, and its views with it;
memory from outside can't. Called by `views.write`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch import core, modes, slots, views
from numen.dispatch.backward import register_of
from numen.dispatch.convert import even_value
from numen.dispatch.core import ArrayCore, Cell, View, is_differentiable
from numen.dispatch.frames.frame import Frame
from numen.dispatch.frames.level import VMAP, Level
from numen.dispatch.frames.looking import detached, level_of, top_level
from numen.errors import TransformError, describe


def write(x: ArrayCore, value: Any, op: str, casting: str) -> None:
    """Put `value` into x's memory, where either is a Frame; `views.write` does the rest.

    Raises
    ------
    TransformError
        If a batched value or a tangent is written into an array from outside the transform.
    """
    level = top_level([a for a in (x, value) if isinstance(a, ArrayCore)], op)
    given = value._d if level_of(value) == level.depth else None
    # an integer array takes no tangent
    tangent = given.tangent if given is not None and is_differentiable(x._d.dtype) else None
    differs = given is not None and (given.mapped or tangent is not None)
    if level_of(x) < level.depth or (given is not None and given.mapped and not x._d.mapped):
        if not differs:
            views.write(x, given.value if given is not None else value, op, casting)
            return
        _lift_memory(x, level, op)
    frame = x._d
    low = given.value if given is not None else value
    if level.kind == VMAP:
        if isinstance(low, ArrayCore):
            low = _even(low, given is not None and given.mapped, frame.ndim)
        views.write(frame.value, low, op, casting)
        return
    if frame.tangent is not None or tangent is not None:
        _own_tangent(x)
        views.write(x._d.tangent, 0 if tangent is None else tangent, op, "unsafe")
    views.write(x._d.value, low, op, casting)


def _even(value: Any, mapped: bool, rank: int) -> Any:
    """A value with `rank` axes behind its batch axis, or without one with at most so many."""
    if mapped:
        return even_value(value, rank)
    if value._d.ndim <= rank:
        return value
    return even_value(value.reshape((1, *value._d.shape)), rank)[0]


def _lift_memory(x: ArrayCore, level: Level, op: str) -> None:
    """Make x, its base and the base's views values of `level`, each example with memory of its
    own."""
    base = x._v.base if type(x._v) is View else x
    if level_of(base) < level.depth:
        if not any([lv.made.get(id(base)) is base for lv in modes.state.levels[level.depth - 1 :]]):
            raise TransformError(
                f"{op}: a value of the {level.kind} is written into a {describe(base)} from "
                "outside of it. Hint: make the array inside the function, or return the value"
            )
        inner = core.ARRAY(base._d, base._n)
        inner._t = register_of(base, inner)
        base._n = None
        for between in modes.state.levels[level_of(base) : level.depth - 1]:
            inner = core.ARRAY(Frame(between, inner))
        base._d = Frame(level, inner)
        base._t = None
    frame = base._d
    if level.kind == VMAP and not frame.mapped:
        shape = (level.size, *frame.shape)
        spread = slots.primitive("broadcast_to")(frame.value, shape=shape)
        base._d = Frame(level, slots.primitive("copy")(spread), True)
    _renew(base)


def _own_tangent(x: ArrayCore) -> None:
    """Give x's base a tangent that writes may change, zeros where there was none."""
    base = x._v.base if type(x._v) is View else x
    frame = base._d
    if frame.owned:
        return
    if frame.tangent is None:
        zero = core.new_constant(np.zeros((), frame.dtype))
        tangent = slots.primitive("broadcast_to")(zero, shape=frame.shape)
    else:
        tangent = frame.tangent
    base._d = Frame(frame.level, frame.value, False, slots.primitive("copy")(tangent), True)
    _renew(base)


def _renew(base: ArrayCore) -> None:
    """Derive the values of the base's live views again."""
    memory = base._v
    if type(memory) is not Cell:
        return
    level = base._d.level
    for ref in list(memory.views):
        view = ref()
        if view is None or type(view._v) is not View:
            continue
        with modes.no_grad():
            found = core.ARRAY(base._d)
            for prim, params in view._v.path:
                found = prim(found, **params)
        old_level = level_of(view)
        view._d = detached(found._d) if view._v.detached else found._d
        if old_level < level.depth:
            view._n = None
            view._t = None


views.write_frames = write
