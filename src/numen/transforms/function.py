"""Function: an op with hand-written forward and backward, as PyTorch's `torch.autograd.Function`.

`apply` makes a rule for the call (`rules.py`). What forward saves in its context is held by the
graph's node and put into a fresh context for each backward step. Next: `contexts.py`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numen.dispatch import core, modes, slots
from numen.dispatch.convert import as_array
from numen.dispatch.core import ArrayCore
from numen.dispatch.frames import Level, level_of
from numen.errors import GradientError, TransformError, describe
from numen.transforms import recording, rules
from numen.transforms.contexts import FunctionContext, VmapInfo
from numen.transforms.packs import Form
from numen.transforms.rules import Leaves
from numen.transforms.trees import flatten


class Function:
    """Base of ops whose forward and backward are written by hand; called by `apply`.

    A subclass defines static methods. `forward(ctx, *args)` and `backward(ctx, *gradients)` are
    needed; with `setup_context(ctx, inputs, output)` forward takes no ctx. `jvp(ctx, *tangents)`
    gives forward mode, `vmap(info, in_dims, *args)` -> (result, out_dims) a form for many examples;
    without it vmap runs forward and backward on all examples at once.

    Forward runs without recording gradients; it returns an array, or a tuple of arrays and anything
    else. Backward returns one gradient (or None) for each argument of `apply`. It is written with
    numen's functions, so it can be differentiated again.

    Raises
    ------
    GradientError
        In the backward pass: if backward gives another number of gradients, or one for something
        that is no array, or an array that was saved has been written in place since.
    ShapeError
        If a gradient does not have its argument's shape.

    Examples
    --------
    >>> import numen as nm
    >>> class Cube(nm.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x**3
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         (x,) = ctx.saved_arrays
    ...         return 3 * x**2 * g
    >>> nm.grad(Cube.apply)(nm.array(2.0))
    np.float64(12.0)
    """

    generate_vmap_rule = True
    _row: Any = None

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the results."""
        raise NotImplementedError("Function: a subclass must define forward")

    @staticmethod
    def setup_context(ctx: FunctionContext, inputs: tuple[Any, ...], output: Any) -> None:
        """Save what backward needs, where forward takes no context."""
        raise NotImplementedError("Function: setup_context is not defined")

    @staticmethod
    def backward(ctx: FunctionContext, *gradients: Any) -> Any:
        """Compute the arguments' gradients from those of the results."""
        raise NotImplementedError("Function: a subclass must define backward")

    @staticmethod
    def jvp(ctx: FunctionContext, *tangents: Any) -> Any:
        """Compute the results' tangents from those of the arguments."""
        raise NotImplementedError("Function: jvp is not defined")

    @staticmethod
    def vmap(info: VmapInfo, in_dims: tuple[Any, ...], *args: Any) -> Any:
        """Compute the results for all examples."""
        raise NotImplementedError("Function: vmap is not defined")

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Call the op."""
        rule = _FunctionRule(cls, args)
        outs = rules.call(rule, list(args))
        return outs[0] if rule.single else tuple(outs)


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator of a `backward` that is not to be differentiated: a second derivative raises.

    Backward gets arrays without gradients, so it may compute with `x.numpy()`.

    Raises
    ------
    GradientError
        In a backward pass through its gradients.
    """

    @functools.wraps(backward)
    def wrapped(ctx: FunctionContext, *gradients: Any) -> Any:
        given, structure = flatten((gradients, vars(ctx)))
        sources = [a for a in given if isinstance(a, ArrayCore)]
        gradients, attributes = structure.unflatten([_detached(a) for a in given])
        vars(ctx).update(attributes)
        with modes.no_grad():
            found = backward(ctx, *gradients)
        if not modes.grad_enabled():
            return found
        parents = tuple([a._n for a in sources if a._n is not None])
        message = (
            f"backward: {getattr(backward, '__qualname__', 'a backward')} is marked "
            "once_differentiable, so its gradients have no derivative"
        )
        single = not isinstance(found, (tuple, list))
        results = [
            recording.refusing(as_array(c), parents, message) if c is not None and parents else c
            for c in ([found] if single else found)
        ]
        return results[0] if single else tuple(results)

    return wrapped


def _detached(value: Any) -> Any:
    return core.ARRAY.detach(value) if isinstance(value, ArrayCore) else value


_PRIVATE = ("needs_input_grad", "_saved", "_forward", "_silent", "_dirty", "_materialize")


class _FunctionRule(rules.Rule):
    """One call of a Function."""

    pure = False
    reduces = True

    def __init__(self, cls: type[Function], args: tuple[Any, ...]) -> None:
        if "_row" not in cls.__dict__:
            cls._row = recording.row_of(cls.__qualname__)
        self.cls = cls
        self.name = cls.__qualname__
        self.prim = cls._row
        self.count = len(args)
        self.single = False
        self._silent: frozenset[int] = frozenset()
        self._materialize = True
        self._structure: Any = None

    def primal(self, leaves: Leaves) -> Leaves:
        return self._run(leaves, [False] * len(leaves))[0]

    def forward(self, leaves: Leaves, needs: Sequence[bool]) -> tuple[Leaves, Leaves]:
        outs, ctx = self._run(leaves, needs)
        attributes = {k: v for k, v in vars(ctx).items() if k not in _PRIVATE}
        saved, self._structure = flatten((ctx._saved, ctx._forward, attributes))
        return outs, saved

    def _run(self, leaves: Leaves, needs: Sequence[bool]) -> tuple[Leaves, FunctionContext]:
        """The results, and the context that forward filled."""
        cls, ctx = self.cls, FunctionContext(needs)
        with modes.no_grad():
            if cls.setup_context is not Function.setup_context:
                out = cls.forward(*leaves)
                cls.setup_context(ctx, tuple(leaves), out)
            else:
                out = cls.forward(ctx, *leaves)
        self.single = not isinstance(out, (tuple, list))
        outs = [out] if self.single else list(out)
        outs = [core.ARRAY(o) if isinstance(o, np.ndarray) else o for o in outs]
        self._arrays = [isinstance(a, ArrayCore) for a in leaves]
        self.metas = rules.metas_of(outs)
        self._silent = _places(ctx._silent, outs)
        self._materialize = ctx._materialize
        self.dirty = _places(ctx._dirty, leaves)
        for i in self.dirty:
            if not any([o is leaves[i] for o in outs]):
                raise GradientError(
                    f"{self.name}: argument {i} is marked dirty, so forward must return it"
                )
        return outs, ctx

    def silent(self, index: int) -> bool:
        return index in self._silent

    def _context(self, saved: Leaves, needs: Sequence[bool]) -> FunctionContext:
        """A context as forward left it, with these saved arrays."""
        ctx = FunctionContext(needs)
        ctx._saved, ctx._forward, attributes = self._structure.unflatten(saved)
        vars(ctx).update(attributes)
        return ctx

    def backward(self, saved: Leaves, cotangents: Leaves, needs: Sequence[bool]) -> Leaves:
        given = [
            c if c is not None or meta is None or not self._materialize else meta.zeros()
            for c, meta in zip(cotangents, self.metas, strict=True)
        ]
        found = self.cls.backward(self._context(saved, needs), *given)
        grads = list(found) if isinstance(found, (tuple, list)) else [found]
        while len(grads) > self.count and grads[-1] is None:
            grads.pop()
        if len(grads) != self.count:
            raise GradientError(
                f"backward: {self.name}.backward returned {len(grads)} gradients "
                f"({describe(*grads)}); expected {self.count}, one for each argument of apply"
            )
        for i, g in enumerate(grads):
            if g is not None and not self._arrays[i]:
                raise GradientError(
                    f"backward: {self.name}.backward returned {describe(g)} for argument {i}, "
                    "which is no array; expected None"
                )
        return grads

    def tangent(self, primals: Leaves, tangents: Leaves) -> tuple[Leaves, Leaves]:
        if self.cls.jvp is Function.jvp:
            raise GradientError(
                f"{self.name}: has no rule for forward mode. Hint: define the static method jvp"
            )
        outs, ctx = self._run(primals, [t is not None for t in tangents])
        arrays = [a for a in primals if isinstance(a, ArrayCore)]
        if any([level_of(a) or a._n is not None for a in arrays]):
            # results that outer transforms differentiate; the context holds their values
            shown = rules.call(self, primals)
            known = {id(o): s for o, s in zip(outs, shown, strict=True)}
            outs = shown
            ctx._saved = tuple([known.get(id(a), a) for a in ctx._saved])
            ctx._forward = tuple([known.get(id(a), a) for a in ctx._forward])
        given = [
            Form.of(x).zeros()
            if t is None and self._materialize and isinstance(x, ArrayCore)
            else t
            for x, t in zip(primals, tangents, strict=True)
        ]
        ctx._saved = ctx._forward or ctx._saved
        found = self.cls.jvp(ctx, *given)
        touts = list(found) if isinstance(found, (tuple, list)) else [found]
        if len(touts) != len(outs):
            raise GradientError(
                f"{self.name}.jvp returned {len(touts)} tangents; expected {len(outs)}, one for "
                "each result of forward"
            )
        return outs, [
            None if t is None or self.silent(i) else as_array(t) for i, t in enumerate(touts)
        ]

    def batch(self, level: Level, leaves: Leaves, axes: Sequence[bool]) -> Leaves:
        if self.cls.vmap is Function.vmap:
            return super().batch(level, leaves, axes)
        info = VmapInfo(level.size, level.randomness)
        result = self.cls.vmap(info, tuple([0 if a else None for a in axes]), *leaves)
        if not isinstance(result, tuple) or len(result) != 2:
            raise TransformError(
                f"{self.name}.vmap must return (result, out_dims), got {describe(result)}"
            )
        out, dims = result
        self.single = not isinstance(out, (tuple, list))
        outs = [out] if self.single else list(out)
        given = list(dims) if isinstance(dims, (tuple, list)) else [dims] * len(outs)
        if len(given) != len(outs):
            raise TransformError(
                f"{self.name}.vmap returned {len(outs)} results and {len(given)} out_dims"
            )
        return [_in_front(o, d, level.size) for o, d in zip(outs, given, strict=True)]


def _places(chosen: Sequence[Any], values: Sequence[Any]) -> frozenset[int]:
    """Where the chosen arrays are among `values`."""
    if not chosen:
        return frozenset()
    ids = {id(c) for c in chosen}
    return frozenset([i for i, v in enumerate(values) if id(v) in ids])


def _in_front(x: Any, dim: int | None, size: int) -> Any:
    """A result of `vmap` with the examples' axis in front."""
    if not isinstance(x, ArrayCore):
        return x
    if dim is None:
        spread = slots.primitive("broadcast_to")(x, shape=(size, *x._d.shape))
        return slots.primitive("copy")(spread)
    rank = len(x._d.shape)
    order = [i for i in range(rank) if i != dim % rank]
    return slots.primitive("transpose")(x, axes=(dim % rank, *order)) if dim else x
