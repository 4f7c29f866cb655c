"""Run a program every way and compare: eager/kernels, jit (three calls), the Python target, NumPy
op by op.

The numerics contract: jit, eager/kernels and the Python target have equal bits over whole programs;
each single op's kernel agrees with NumPy on the same inputs, exactly or within its bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from tests.fuzzing.generate import Program, State

import numen as nm
from numen.compiler.program import compile_graph
from numen.dispatch.core import SCALAR, ArrayCore
from numen.dispatch.primitive import Primitive
from numen.tracing import tree as tree_module
from numen.tracing.explain import same_bits

REDUCED = {"sum", "mean", "matmul", "vecdot", "matvec", "vecmat"}
"""Rows that add up: the order of the terms is theirs."""


class DifferenceError(AssertionError):
    """Two ways of running a program disagree."""


def bits_equal(a: Any, b: Any) -> bool:
    """Equal dtype, shape and bits; NaN payloads aside."""
    if isinstance(a, ArrayCore):
        if not isinstance(b, ArrayCore):
            return False
        x, y = np.asarray(a._d), np.asarray(b._d)
        return x.dtype == y.dtype and x.shape == y.shape and same_bits(x, y)
    if type(a) is not type(b):
        return False
    return bool(a == b or (a != a and b != b))


NUMBERS = ((0.5, 1), (0.5, 1), (0.75, 2), (1.25, 3), (2.0, 4), (-1.5, 5))
"""k and n of the calls: at first the same, then others each time."""


def flags(arrays: list[Any]) -> list[Any]:
    """What can be seen of arrays besides their values; which of them share memory."""
    seen: list[Any] = [(x.requires_grad, x._v is SCALAR, x._d.flags.writeable) for x in arrays]
    for j, y in enumerate(arrays):
        for i, x in enumerate(arrays[:j]):
            scalar = SCALAR in (x._v, y._v)  # it has no memory to share
            if not scalar and np.may_share_memory(x._d, y._d):
                seen.append((i, j, x is y))
    return seen


def results(f: Any, program: Program) -> list[list[Any]]:
    """What each of several calls in a row returns, with the state it leaves."""
    arguments, w, state = program.arguments()
    saved = (
        [x._d.copy() for x in arguments],
        w._d.copy(),
        state.h,
        [x._d.copy() for x in state.items],
    )
    out = []
    for k, n in NUMBERS if program.numbers else NUMBERS[:1] * 4:
        for x, data in zip(arguments, saved[0], strict=True):
            x._d[...] = data
        w._d[...] = saved[1]
        state.h = saved[2]
        state.items[:] = [nm.array(data) for data in saved[3]]
        try:
            returned = f(arguments, w, state, k, n)
        except Exception as error:  # the same class must come from every way
            out.append([type(error).__name__])
            continue
        held = [
            x for x in [*returned, *arguments, w, state.h, *state.items] if isinstance(x, ArrayCore)
        ]
        seen = flags(held)
        returned = [nm.array(r) if isinstance(r, ArrayCore) else r for r in returned]
        out.append(
            [
                *returned,
                *[nm.array(x) for x in arguments],
                nm.array(w.detach()),
                nm.array(state.h),
                *[nm.array(x) for x in state.items],
                state.n,
                *state.losses,
                seen,
            ]
        )
    return out


def same_numpy(row: Primitive, got: Any, want: Any, raw: list[Any]) -> bool:
    """Whether a kernel's result agrees with NumPy's as the contract says."""
    got, want = np.asarray(got), np.asarray(want)
    if got.dtype != want.dtype or got.shape != want.shape:
        return False
    if got.dtype.kind == "c":
        return bool(np.array_equal(got, want, equal_nan=True))
    if got.dtype.kind != "f":
        return bool(np.array_equal(got, want))
    nan = np.isnan(want)
    if not np.array_equal(np.isnan(got), nan):
        return row.name in REDUCED  # inf - inf depends on the order of a sum
    ok = nan | (got == want)
    if row.name not in REDUCED and row.ufunc is not None and not row.exact:
        ok |= np.abs(got - want) <= 4 * np.spacing(
            np.maximum(np.abs(want), np.finfo(want.dtype).tiny)
        )
    elif row.name in REDUCED:
        finite = [np.asarray(r) for r in raw if isinstance(r, np.ndarray)]
        if not all(np.isfinite(r).all() for r in finite if r.dtype.kind == "f"):
            return True
        product = row.name not in ("sum", "mean")
        count = max([r.size for r in finite] + [1])
        scale = np.prod(
            [
                np.abs(r).max(initial=0) if product else np.abs(r).sum(dtype=np.float64)
                for r in finite
            ]
        ) * (count if product else 1)
        bound = (count + 4) * np.finfo(want.dtype).eps * scale
        ok |= np.abs(got.astype(np.float64) - want) <= bound
    return bool(np.all(ok))


@contextmanager
def each_op_against_numpy(differences: list[str]) -> Iterator[None]:
    """Compare every op that runs a kernel with NumPy on the same inputs."""
    original = Primitive.compute

    def compute(self: Primitive, raw: Any, params: dict[str, Any]) -> Any:
        got = original(self, raw, params)
        want = self.impl(*raw, **params)
        if not same_numpy(self, got, want, list(raw)):
            differences.append(f"{self.name}{params}: {got!r} / NumPy {want!r} for {raw!r}")
        return got

    Primitive.compute = compute  # type: ignore[method-assign]
    try:
        yield
    finally:
        Primitive.compute = original  # type: ignore[method-assign]


@contextmanager
def native_against_python(differences: list[str]) -> Iterator[None]:
    """Run every compiled segment by the Python target too and compare bits."""

    class Both:
        def __init__(self, graph: Any, orders: Any) -> None:
            self.graph = graph
            self.native = compile_graph(graph, orders=orders)
            self.python = compile_graph(graph, target="python", orders=orders)

        def text(self) -> str:
            return self.native.text()

        def __call__(self, *inputs: Any) -> Any:
            copies = [_copied(x) for x in inputs]
            want = self.python(*copies)
            got = self.native(*inputs)
            for i, (x, y) in enumerate(zip(got, want, strict=True)):
                if x.dtype != y.dtype or not same_bits(np.asarray(x), np.asarray(y)):
                    differences.append(
                        f"native and Python differ in output {i} of\n{self.graph}\n{x!r}\n{y!r}"
                    )
            for index, _ in self.graph.writes:
                if not same_bits(inputs[index], copies[index]):
                    differences.append(
                        f"native and Python differ in the write to input {index} of\n{self.graph}"
                    )
            return got

    def both(graph: Any, target: str = "native", orders: Any = None) -> Any:
        return Both(graph, orders)

    original = tree_module.compile_graph
    tree_module.compile_graph = both  # type: ignore[assignment]
    try:
        yield
    finally:
        tree_module.compile_graph = original


def _copied(x: Any) -> Any:
    """A copy with the same strides."""
    if not isinstance(x, np.ndarray):
        return x
    if x.base is None and x.flags.c_contiguous:
        return x.copy()
    lo, hi = np.lib.array_utils.byte_bounds(x)
    start = x.__array_interface__["data"][0] - lo
    memory = np.empty(max(hi - lo, 1), np.uint8)
    view = np.ndarray(x.shape, x.dtype, memory, start, x.strides)
    view[...] = x
    return view


def check(program: Program) -> tuple[str, bool]:
    """Compare all ways; returns (how jit ran it, whether anything was compiled).

    Raises
    ------
    DifferenceError
        With the program's text, where two ways disagree.
    """
    f = program.function()
    found: list[str] = []
    with np.errstate(all="ignore"):
        with nm.config(engine="kernels"), each_op_against_numpy(found):
            eager = results(f, program)
        jitted = nm.jit(f)
        with native_against_python(found):
            compiled = results(jitted, program)
    for call, (got, want) in enumerate(zip(compiled, eager, strict=True)):
        if len(got) != len(want):
            found.append(f"call {call}: jit {got!r} / eager {want!r}")
            continue
        for i, (x, y) in enumerate(zip(got, want, strict=True)):
            if not bits_equal(x, y):
                found.append(f"call {call}, result {i}: jit {x!r} / eager {y!r}")
    if found:
        raise DifferenceError(f"seed {program.seed}\n{program.source}\n" + "\n".join(found[:4]))
    reasons = nm.explain(jitted).reasons
    return (reasons[0] if reasons else "compiled"), not reasons


__all__ = ["DifferenceError", "State", "check"]
