"""Where results go: `out=`, `where=` and in-place operators.

Where no gradient, trace or inexact kernel is concerned, NumPy writes straight into the memory; else
the result is computed and then written, with what `dispatch/views.py` does for gradients. Used by
`ufunc_calls.py`, `operators.py` and the files of functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numen.dispatch import backends, backward, core, modes, views
from numen.dispatch.core import SCALAR, ArrayCore, View
from numen.dispatch.primitive import Primitive
from numen.errors import describe
from numen.ops import table


def target_of(out: Any, op: str) -> Any:
    """The Array that `out=` names: itself, alone in a tuple, or over the memory of an ndarray.

    Raises
    ------
    TypeError
        If it is no Array that can be written.
    """
    target = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    if isinstance(target, np.ndarray):
        return core.ARRAY(target)
    if not isinstance(target, ArrayCore) or target._v is SCALAR:
        raise TypeError(f"{op}: return arrays must be of ArrayType; out is {describe(target)}")
    return target


def into(out: Any, result: Any, op: str) -> Any:
    """Write a result into `out`, which has its shape, and return that; the result itself without
    one.

    Raises
    ------
    ValueError
        If the shapes differ, or `out` is read-only.
    TypeError
        If the result can't be cast to `out`'s dtype by "same_kind".
    """
    if out is None:
        return result
    target = target_of(out, op)
    if target._d.shape != result._d.shape:
        raise no_fit(target, result._d.shape, op)
    views.write(target, result, op)
    return target


def write_out(result: Any, out: Any, mask: Any, op: str, casting: str = "same_kind") -> Any:
    """Put a ufunc's result into `out` where the mask holds, and return that; without an out the
    elements that the mask skips are 0, with gradient 0.

    Raises
    ------
    ValueError
        If the result does not broadcast to `out`'s shape, or `out` is read-only.
    TypeError
        If `casting` forbids the cast.
    """
    if out is None:
        return result if mask is None else table["where"](mask, result, 0)
    target = target_of(out, op)
    shape = target._d.shape
    if np.broadcast_shapes(shape, result._d.shape) != shape:
        raise no_fit(target, result._d.shape, op)
    if mask is not None:
        cast = core.ARRAY.astype(result, target._d.dtype, casting=casting, copy=False)
        result = table["where"](mask, cast, target)
        if result._d.shape != shape:
            raise no_fit(target, result._d.shape, op)
    views.write(target, result, op, casting)
    return target


def masked(operand: Any, mask: Any) -> Any:
    """The operand with 1 where the mask skips it: a skipped element neither warns nor makes its
    gradient, which is 0, a product of 0 and inf."""
    if not isinstance(operand, ArrayCore):
        return operand
    one = core.new_constant(np.ones((), operand._d.dtype))
    return table["where"](mask, operand, one)


def operand_copy(a: Any, prim: Primitive) -> Any:
    """`a` as an operand of an op whose result is written back into it: a copy where the op's rule
    saves it."""
    if a._n is None and not (modes.ACTIVE and modes.state.special):
        saved = prim.saves_for is not None and any(0 in s for s in prim.saves_for)
        if not saved and not prim.saves:
            return a
    fresh = core.ARRAY(a._d.copy(), a._n)
    fresh._t = backward.register_of(a)
    return fresh


def writes_directly(prim: Primitive, target: Any, args: Sequence[Any]) -> bool:
    """Whether NumPy may write a row's result into the target's memory, nobody else having to
    know."""
    if (
        prim.ufunc is None
        or not core.is_writeable(target._d)
        or (modes.ACTIVE and (modes.special() or backends.in_use()))
    ):
        return False
    if not prim.exact and target._d.size >= modes.LIMIT:
        return False
    if modes.NO_GRAD and not modes.state.grad:
        return True
    if target._n is not None or (type(target._v) is View and target._v.base._n is not None):
        return False
    return not any([isinstance(a, ArrayCore) and a._n is not None for a in args])


def write_directly(prim: Primitive, target: Any, args: Sequence[Any]) -> None:
    """Let the row's ufunc write into the target."""
    assert prim.ufunc is not None
    watch = modes.state.anomaly if modes.ACTIVE else None
    came = None if watch is None else watch.look_before(target, args)
    views.keep_saved_result(target)
    prim.ufunc(*[core.unwrap(a) for a in args], out=target._d)
    views.wrote(target, None)
    if watch is not None:
        watch.look_at_written(prim.name, target, args, came)


def no_fit(target: Any, shape: tuple[int, ...], op: str) -> ValueError:
    """The error for a result that does not have its target's shape."""
    return ValueError(
        f"{op}: non-broadcastable output operand with shape {target._d.shape} doesn't match the "
        f"broadcast shape {shape}"
    )
