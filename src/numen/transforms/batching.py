"""vmap: a function of one example, run on many at once.

Its arguments become Frames with the examples' axis in front (`dispatch/frames.py`); every op of the
function then runs once for all examples by its row's batch rule. Called by users and by
`jacobians.py`. Next: `forward.py`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from numen.dispatch import core, slots
from numen.dispatch.convert import as_array
from numen.dispatch.core import ArrayCore
from numen.dispatch.frames import VMAP, Frame, Level, below
from numen.errors import ShapeError, TransformError, describe
from numen.transforms.trees import flatten, spread_prefix

RANDOMNESS = ("different", "same", "error")


def vmap(
    f: Callable[..., Any],
    in_axes: Any = 0,
    out_axes: Any = 0,
    randomness: str = "different",
    *,
    axis_size: int | None = None,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """Make a function that applies f to every example of its arguments and stacks the results.

    Parameters
    ----------
    f : callable
        Takes and returns arrays, or tuples, lists and dicts of them, of one example.
    in_axes : int, None, or containers of these
        The examples' axis in each positional argument, None where all examples share it; one entry
        for all arguments, or a tuple with one for each. An entry for a container holds for all
        arrays in it. Keyword arguments have their examples along axis 0.
    out_axes : int, None, or containers of these
        Where the examples' axis goes in the results; None only where all examples agree.
    randomness : {"different", "same", "error"}
        Whether random draws inside f differ between the examples, as in a loop, are the same for
        all, or raise.
    axis_size : int, optional
        Number of examples where no argument tells it.
    chunk_size : int, optional
        Run so many examples at once, to bound the memory; the results are the same.

    Raises
    ------
    ValueError
        If in_axes or out_axes don't fit, or the arguments have different numbers of examples.
    TransformError
        If Python asks for a value that differs between examples (`if x > 0`, `float(x)`), or a
        value is written into an array from outside f.

    Examples
    --------
    >>> import numen as nm
    >>> def distance(a, b):
    ...     return nm.sqrt(((a - b) ** 2).sum())
    >>> points = nm.array([[0.0, 0.0], [3.0, 4.0]])
    >>> nm.vmap(distance, in_axes=(0, None))(points, nm.zeros(2))
    array([0., 5.])
    >>> nm.vmap(nm.grad(lambda x: x**3))(nm.array([1.0, 2.0]))
    array([ 3., 12.])
    """
    if randomness not in RANDOMNESS:
        raise ValueError(f"vmap: randomness must be one of {RANDOMNESS}, got {randomness!r}")
    if chunk_size is not None and chunk_size < 1:
        raise ValueError(f"vmap: chunk_size must be at least 1, got {chunk_size}")

    @functools.wraps(f)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = flatten((args, kwargs))
        axes = _axes_of(in_axes, args, kwargs)
        arrays = [x if axis is None else as_array(x) for x, axis in zip(leaves, axes, strict=True)]
        axes = [_checked(a, axis) for a, axis in zip(arrays, axes, strict=True)]
        size = _count(arrays, axes, axis_size)
        arrays = [_moved(a, axis, 0) for a, axis in zip(arrays, axes, strict=True)]
        mapped = [axis is not None for axis in axes]
        if chunk_size is None or size <= chunk_size:
            return _run(f, arrays, mapped, structure, size, out_axes, randomness)
        parts = []
        for start in range(0, size, chunk_size):
            stop = min(start + chunk_size, size)
            part = [a[start:stop] if m else a for a, m in zip(arrays, mapped, strict=True)]
            parts.append(_run(f, part, mapped, structure, stop - start, out_axes, randomness))
        return _joined(parts, out_axes)

    return wrapped


def _axes_of(in_axes: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[int | None]:
    """The examples' axis of every leaf of the arguments."""
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)
    if isinstance(in_axes, tuple) and len(in_axes) != len(args):
        raise ValueError(
            f"vmap: in_axes has {len(in_axes)} entries for {len(args)} positional arguments"
        )
    return [
        *spread_prefix(in_axes, args, "vmap: in_axes"),
        *spread_prefix(0, kwargs, "vmap: in_axes"),
    ]


def _checked(x: Any, axis: Any) -> int | None:
    """The axis as a non-negative int."""
    if axis is None:
        return None
    if not isinstance(axis, int):
        raise ValueError(f"vmap: in_axes must hold ints and None, got {describe(axis)}")
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"vmap: axis {axis} of in_axes is out of bounds for a {describe(x)}")
    return axis % int(x.ndim)


def _count(arrays: list[Any], axes: list[int | None], axis_size: int | None) -> int:
    """The number of examples.

    Raises
    ------
    ValueError
        If the arguments disagree, or none tells.
    """
    sizes = [a.shape[axis] for a, axis in zip(arrays, axes, strict=True) if axis is not None]
    if axis_size is not None:
        sizes.append(axis_size)
    if not sizes:
        raise ValueError("vmap: no argument has examples. Hint: in_axes or axis_size")
    if len(set(sizes)) > 1:
        raise ShapeError(f"vmap: the arguments have different numbers of examples: {sizes}")
    return int(sizes[0])


def _moved(x: Any, source: int | None, target: int) -> Any:
    """x with an axis moved; a view."""
    if source is None or source == target:
        return x
    order = [i for i in range(x.ndim) if i != source]
    order.insert(target, source)
    return slots.primitive("transpose")(x, axes=tuple(order))


def _run(
    f: Callable[..., Any],
    arrays: list[Any],
    mapped: list[bool],
    structure: Any,
    size: int,
    out_axes: Any,
    randomness: str,
) -> Any:
    """f on all examples at once."""
    with Level(VMAP, size, randomness) as level:
        inner = [
            core.ARRAY(Frame(level, a, True)) if m else a
            for a, m in zip(arrays, mapped, strict=True)
        ]
        args, kwargs = structure.unflatten(inner)
        result = f(*args, **kwargs)
        leaves, out_structure = flatten(result)
        where = spread_prefix(out_axes, result, "vmap: out_axes")
        outputs = [_output(x, axis, level) for x, axis in zip(leaves, where, strict=True)]
    return out_structure.unflatten(outputs)


def _output(x: Any, axis: int | None, level: Level) -> Any:
    """One result with its examples along `axis`."""
    if not isinstance(x, ArrayCore):
        if not isinstance(x, (bool, int, float, complex)):
            raise TransformError(
                f"vmap: f must return arrays, or containers of them, got {describe(x)}"
            )
        x = as_array(x)
    differs = type(x._d) is Frame and x._d.level is level
    value = x._d.value if differs else x
    if differs and x._d.mapped:
        if axis is None:
            raise ValueError(
                f"vmap: out_axes is None for a {describe(x)} that differs between the examples"
            )
    elif axis is None:
        return value
    else:
        shape = (level.size, *value.shape)
        value = slots.primitive("broadcast_to")(value, shape=shape)
        value = slots.primitive("copy")(value)
    if not -value.ndim <= axis < value.ndim:
        raise ValueError(f"vmap: axis {axis} of out_axes is out of bounds for a {describe(value)}")
    return _moved(value, 0, axis % int(value.ndim))


def unbatched(x: Any) -> Any:
    """A value that every example of the innermost vmap has, as one from outside of it.

    Raises
    ------
    TransformError
        If the examples differ in it.
    """
    frame = x._d if isinstance(x, ArrayCore) else None
    return below(frame, "a value") if type(frame) is Frame and frame.level.kind == VMAP else x


def _joined(parts: list[Any], out_axes: Any) -> Any:
    """The results of all chunks as one."""
    leaves = [flatten(part)[0] for part in parts]
    structure = flatten(parts[0])[1]
    axes = spread_prefix(out_axes, parts[0], "vmap: out_axes")
    joined = []
    for i, axis in enumerate(axes):
        column = [row[i] for row in leaves]
        if axis is None:
            joined.append(column[0])
        else:
            joined.append(slots.primitive("concatenate")(*column, axis=axis % int(column[0].ndim)))
    return structure.unflatten(joined)
