"""What has no form for all examples at once: functions without rows, and random draws.

`on_host` is called by `namespace/calling.py`, `draw_by_example` by `random/`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from numen.dispatch import core, modes, slots
from numen.dispatch.convert import arrays_in
from numen.dispatch.core import SCALAR, ArrayCore, is_differentiable
from numen.dispatch.frames.frame import Frame, below
from numen.dispatch.frames.level import JVP, VMAP, Level
from numen.dispatch.frames.looking import level_of, top_level
from numen.errors import GradientError, TransformError, describe


def on_host(function: Callable[..., Any], name: str, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run a function of Arrays that has no rows on the values below: of a jvp the primals', of a
    vmap each example's.

    Raises
    ------
    GradientError
        If a tangent reaches a floating result: the function has no derivative.
    """
    arrays = arrays_in((args, kwargs))
    level = top_level(arrays, name)
    if level.kind == VMAP and (name.startswith("save") or any([hasattr(a, "write") for a in args])):
        below(next(a._d for a in arrays if type(a._d) is Frame), f"{name}()")  # a file's
    if level.kind == JVP:
        tangents = [a for a in arrays if level_of(a) == level.depth and a._d.tangent is not None]
        result = function(*_at(args, level, None), **_at(kwargs, level, None))
        found = [a for a in arrays_in(result) if is_differentiable(a._d.dtype)]
        if tangents and found:
            raise GradientError(
                f"jvp: {name} has no derivative here; got {describe(*tangents)}. Hint: detach() "
                "its argument if no tangent should flow through it"
            )
        return result
    if not any([level_of(a) == level.depth and a._d.mapped for a in arrays]):
        return function(*_at(args, level, None), **_at(kwargs, level, None))
    results = [function(*_at(args, level, i), **_at(kwargs, level, i)) for i in range(level.size)]
    return _stacked(results, level, name)


def _at(value: Any, level: Level, i: int | None) -> Any:
    """`value` with the Arrays below for those of `level`: of example i where the examples
    differ."""
    if isinstance(value, ArrayCore):
        if level_of(value) != level.depth:
            return value
        if value._d.mapped:
            one = slots.primitive("getitem")(value._d.value, index=(i,))
            if one._v is SCALAR and value._v is not SCALAR:
                return slots.primitive("reshape")(one, shape=())
            return one
        return value._d.value
    if type(value) in (list, tuple):
        return type(value)([_at(v, level, i) for v in value])
    if type(value) is dict:
        return {k: _at(v, level, i) for k, v in value.items()}
    return value


def _stacked(results: list[Any], level: Level, name: str) -> Any:
    """One result for all examples."""
    if not results:
        raise TransformError(f"vmap: {name} has no form for 0 examples")
    first = results[0]
    if isinstance(first, ArrayCore):
        shapes = {tuple(r._d.shape) for r in results}
        if len(shapes) > 1:
            raise TransformError(
                f"vmap: the shape of {name}'s result depends on the values: {sorted(shapes)}"
            )
        rows = [slots.primitive("reshape")(r, shape=(1, *r._d.shape)) for r in results]
        value = slots.primitive("concatenate")(*rows, axis=0)
        return core.ARRAY(Frame(level, value, True), None, SCALAR if first._v is SCALAR else None)
    if isinstance(first, (tuple, list)):
        parts = [_stacked(list(p), level, name) for p in zip(*results, strict=True)]
        return type(first)(*parts) if hasattr(first, "_fields") else type(first)(parts)
    if all([r == first for r in results]):
        return first
    raise TransformError(f"vmap: {name} gives Python values that differ between the examples")


# ------------------------------------------------------------ random draws


def differing(op: str) -> list[Level]:
    """The running vmaps whose examples draw numbers of their own, outermost first.

    Raises
    ------
    TransformError
        If one of them takes a draw for an error.
    """
    batched = [level for level in modes.state.levels if level.kind == VMAP]
    if any([level.randomness == "error" for level in batched]):
        raise TransformError(
            f"vmap: {op} draws random numbers, and randomness='error'. Hint: randomness="
            "'different' or 'same'"
        )
    return [level for level in batched if level.randomness == "different"]


def spread_draws(value: Any, levels: Sequence[Level]) -> Any:
    """Drawn numbers, with an axis for each of `levels` in front, as values of those levels."""
    for level in levels:
        scalar = SCALAR if value._d.ndim == 1 else None
        value = core.ARRAY(Frame(level, value, True), None, scalar)
    return value


def draw_by_example(draw: Callable[[], Any], op: str, made_in: Sequence[Level] = ()) -> Any:
    """What `draw()` gives, drawn once for each example in the order of a loop.

    made_in: the levels in which the generator was made: in each, every example has a generator of
    its own, in the same state.
    """
    levels = [level for level in differing(op) if level not in made_in]
    if not levels:
        return draw()
    sizes = tuple([level.size for level in levels])
    rows = [draw() for _ in range(math.prod(sizes))]
    if not rows or not isinstance(rows[0], ArrayCore):
        raise TransformError(f"vmap: {op} has no form for {describe(*rows[:1])}")
    shape = rows[0]._d.shape
    parts = [slots.primitive("reshape")(r, shape=(1, *shape)) for r in rows]
    value = slots.primitive("concatenate")(*parts, axis=0)
    return spread_draws(slots.primitive("reshape")(value, shape=(*sizes, *shape)), levels)
