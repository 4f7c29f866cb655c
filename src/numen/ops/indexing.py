"""Basic indexing: getitem picks a view, setitem is the functional form of a write into one.

A path is what `dispatch/views.py` records: (primitive, params) steps that lead from a base to one
of its views. setitem(base, value, path=...) is the base's next version. Next: `gathering.py` for
index arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numen.dispatch import core
from numen.dispatch.backends import module_of
from numen.dispatch.convert import even_value
from numen.dispatch.derived import linear
from numen.dispatch.primitive import Primitive
from numen.errors import ShapeError, describe
from numen.ops.common import ndim, zeros
from numen.ops.samples import DType, Errors, Inputs, Rng, draw
from numen.ops.shape import broadcast_to, reshape, transpose

Index = tuple[int | slice | None, ...]
Path = tuple[tuple[Primitive, dict[str, Any]], ...]


# getitem


def _getitem(a: Any, index: Index) -> Any:
    return a[index] if hasattr(a, "shape") else np.asarray(a)[index]


def _getitem_transpose(g: Any, a: Any, index: Index) -> Any:
    return setitem(zeros(a.shape, g.dtype, g), g, path=((getitem, {"index": index}),))


def _getitem_batch(size: int, a: Any, index: Index) -> Any:
    return getitem(a, index=(slice(None), *index))


def _getitem_samples(rng: Rng, dtype: DType) -> Inputs:
    a = draw(rng, (4, 3, 5), dtype)
    indices: list[Index] = [
        (1,),
        (slice(1, 3, 1), slice(None), 2),
        (slice(None, None, -1), None, slice(0, 3, 2)),
        (0, slice(2, 0, -1), slice(4, None, -2), None),
        (2, 1, 0),
        (slice(0, 0, 1),),
        (),
    ]
    return [((a,), {"index": index}) for index in indices]


def _getitem_errors() -> Errors:
    return [
        ((np.ones(3),), {"index": (3,)}, IndexError),
        ((np.ones(3),), {"index": (0, 0)}, IndexError),
    ]


class _Picking(Primitive):
    """A row that gives back text, dates, records and Python objects as they are."""

    def gives_scalar(self, source: Any, params: dict[str, Any]) -> bool:
        return all([type(i) is int for i in params["index"]])

    def finish(self, args: tuple[Any, ...], params: dict[str, Any], data: Any) -> Any:
        source = core.unwrap(args[0])
        if type(data) in core.KEPT_SCALARS:
            return data
        if source.dtype.kind == "O":
            index = params["index"]
            if len(index) == source.ndim and all([type(i) is int for i in index]):
                return data  # an element, even where that is an array
        return super().finish(args, params, data)


getitem = linear(
    "getitem",
    _getitem,
    _getitem_transpose,
    _getitem_batch,
    kind=_Picking,
    view=True,
    samples=_getitem_samples,
    errors=_getitem_errors,
)


# setitem


def follow(x: Any, path: Path) -> Any:
    """The view of x, raw or Array, that a path leads to."""
    for step, params in path:
        x = step(x, **params)
    return x


def _setitem(base: Any, value: Any, path: Path) -> Any:
    xp = module_of(base, value)
    out = xp.array(base, order="K")
    region = out
    try:
        for step, params in path[:-1]:
            region = _view(step, region, params)
        if path and path[-1][0] is getitem:
            region[path[-1][1]["index"]] = value
        elif path:
            _view(path[-1][0], region, path[-1][1])[...] = value
        else:
            out[...] = value
    except _CopiedError:
        return _setitem_by_position(base, value, path)
    except ValueError as error:
        shape = follow(xp.asarray(base), path).shape
        raise ShapeError(
            f"setitem: could not broadcast {describe(value)} into the view of shape {shape} "
            f"of the {describe(base)}"
        ) from error
    return out


class _CopiedError(Exception):
    """A step of a path that was a view of the written array is a copy of the functional one."""


def _view(step: Primitive, x: Any, params: dict[str, Any]) -> Any:
    result = step.impl(x, **params)
    if result.size and not module_of(x).may_share_memory(result, x):
        raise _CopiedError
    return result


def _setitem_by_position(base: Any, value: Any, path: Path) -> Any:
    """setitem by flat positions, where the copy's layout has no such view."""
    xp = module_of(base, value)
    out = xp.array(base, order="C")
    positions = xp.arange(out.size).reshape(out.shape)
    out.reshape(-1)[follow(positions, path)] = value
    return out


def _region_of_value(region: Any, value: Any) -> Any:
    """A region's cotangent for the value, with the leading ones that assignment ignores."""
    extra = ndim(value) - len(region.shape)
    return region.reshape((*(1,) * extra, *region.shape)) if extra > 0 else region


def _setitem_vjp(
    needs: Sequence[bool], g: Any, out: Any, base: Any, value: Any, path: Path
) -> tuple[Any, ...]:
    # d/d base = g with the region zeroed; d/d value = the region of g
    return (
        setitem(g, 0, path=path) if needs[0] else None,
        _region_of_value(follow(g, path), value) if needs[1] else None,
    )


def _setitem_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any], path: Path) -> Any:
    tb, tv = tangents
    if tb is None:
        tb = zeros(out.shape, out.dtype, out)
    return setitem(tb, 0 if tv is None else tv, path=path)


def _setitem_batch(size: int, args: Sequence[Any], axes: Sequence[bool], path: Path) -> Any:
    base, value = args
    shape = tuple(base.shape[1:]) if axes[0] else tuple(base.shape)
    if not axes[0]:
        base = broadcast_to(base, shape=(size, *shape))
    region = follow(np.broadcast_to(np.zeros(()), shape), path)
    if axes[1]:
        value = even_value(value, ndim(region))
    elif ndim(value) > ndim(region):  # must not meet the batch axis
        value = even_value(value.reshape((1, *value.shape)), ndim(region))[0]
    return setitem(base, value, path=tuple([_batched_step(size, *step) for step in path]))


def _batched_step(
    size: int, step: Primitive, params: dict[str, Any]
) -> tuple[Primitive, dict[str, Any]]:
    """A path's step with a batch axis in front."""
    if step is getitem:
        return step, {"index": (slice(None), *params["index"])}
    if step is transpose:
        return step, {"axes": (0, *[axis + 1 for axis in params["axes"]])}
    if step.name == "diagonal":
        return step, {**params, "axis1": params["axis1"] + 1, "axis2": params["axis2"] + 1}
    if step.name in ("view_dtype", "real", "imag"):
        return step, params
    if step.name == "as_strided":
        raise NotImplementedError("setitem: a write through as_strided has no batched form")
    return step, {"shape": (size, *params["shape"])}  # reshape; no write goes through broadcast_to


def _setitem_samples(rng: Rng, dtype: DType) -> Inputs:
    def value(*shape: int) -> Any:
        return draw(rng, shape, dtype)

    base = value(4, 6)
    row = (getitem, {"index": (1,)})
    corner = (getitem, {"index": (slice(0, 2, 1), slice(5, 1, -2))})
    flat = (reshape, {"shape": (24,)})
    turned = (transpose, {"axes": (1, 0)})
    return [
        ((base, value(6)), {"path": (row,)}),
        ((base, value()), {"path": (corner,)}),
        ((base, value(1, 1, 2, 1)), {"path": (corner,)}),
        ((base, value(3)), {"path": (row, (getitem, {"index": (slice(0, 3, 1),)}))}),
        ((base, value(24)), {"path": (flat,)}),
        ((base, value(6, 4)), {"path": (turned,)}),
        ((base.T.copy().T, value(24)), {"path": (turned, flat)}),
        ((base.T.copy().T, value(24)), {"path": (flat,)}),
        ((base, value(4, 6)), {"path": ()}),
        ((base, value()), {"path": (row, (getitem, {"index": (2,)}))}),
        ((base, 1), {"path": (row,)}),
    ]


def _setitem_errors() -> Errors:
    path = ((getitem, {"index": (1,)}),)
    return [((np.ones((2, 3)), np.ones(4)), {"path": path}, ValueError)]


setitem = Primitive(
    "setitem",
    _setitem,
    vjp=_setitem_vjp,
    jvp=_setitem_jvp,
    batch=_setitem_batch,
    samples=_setitem_samples,
    errors=_setitem_errors,
)

ROWS = (getitem, setitem)
