"""One operation of torch's table on its sample inputs: values and gradients of both libraries.

The gradient is that of sum(result * cotangent) with a fixed random cotangent (its real part where
it is complex), with respect to every input that carries one. Next: `cases.py`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from tests.oracle import compare, convert
from tests.oracle.cases import Case, Tally, quiet, seed
from tests.oracle.convert import LeftOutError, Pair, as_values, flat
from tests.oracle.counterparts import Counterpart

import numen as nm
from numen.errors import GradientError

POINTWISE = ("UnaryUfuncInfo", "BinaryUfuncInfo")
"""Kinds of entries whose results are compared element by element."""

WANTED = (torch.float64, torch.float32, torch.complex128)
OTHERS = (torch.int64, torch.bool)
"""What an operation runs in that takes no floats."""


def name_of(info: Any) -> str:
    variant = info.variant_test_name
    return f"{info.name}.{variant}" if variant else info.name


def run(info: Any, entry: Counterpart, limit: int | None, jit: bool = False) -> Tally:
    """Every sample of an operation, in each dtype that both have."""
    tally = Tally("operations", name_of(info))
    supported = info.supported_dtypes("cpu")
    dtypes = [d for d in WANTED if d in supported] or [d for d in OTHERS if d in supported][:1]
    for dtype in dtypes:
        seed(tally.name)
        grads = dtype in WANTED and info.supports_autograd
        grads = grads and dtype in info.supported_backward_dtypes("cpu")
        samples = info.sample_inputs("cpu", dtype, requires_grad=grads)
        for i, sample in enumerate(itertools.islice(samples, limit)):
            case = Case(
                "operations",
                tally.name,
                str(dtype).removeprefix("torch."),
                i,
                (sample.input, *sample.args),
                dict(sample.kwargs),
            )
            with quiet():
                one_sample(info, entry, case, tally, jit, type(info).__name__ in POINTWISE)
    with quiet():
        error_samples(info, entry, tally)
    return tally


def one_sample(
    call: Any,
    entry: Counterpart,
    case: Case,
    tally: Tally,
    jit: bool,
    elementwise: bool = False,
    parameters: Sequence[tuple[Any, Any]] = (),
) -> None:
    """Compare torch's `call` with the entry's function and count what came of it.

    `parameters` are pairs of leaves beside those among the arguments.
    """
    tally.counts["samples"] += 1
    try:
        pair = Pair(case.args, case.kwargs)
        pair.leaves.extend(parameters)
        args, kwargs = pair.theirs
        theirs = list(flat(invariant(entry, call(*args, **kwargs))))
        case.theirs = [as_values(t) for t in theirs]
    except LeftOutError as why:
        tally.left_out[str(why)] += 1
        return
    except Exception as error:
        tally.left_out[f"torch raises {type(error).__name__}"] += 1
        return
    seeds = convert.cotangents(theirs, case.index)
    expected = torch_gradients(theirs, seeds, pair)

    tally.counts["compared"] += 1
    found = None
    for backwards in (True, False) if expected is not None else (False,):
        try:
            found = numen_results(entry, pair, seeds if backwards else [], jit)
            break
        except LeftOutError as why:
            tally.counts["compared"] -= 1
            tally.left_out[str(why)] += 1
            return
        except Exception as error:
            first = (str(error).splitlines() or [""])[0]
            no_gradient = backwards and isinstance(error, GradientError)
            kind = "no gradient" if no_gradient else "raises"
            tally.disagree(case, kind, f"{type(error).__name__}: {first}")
            if not no_gradient:
                return
            tally.counts["with gradients"] += 1
            expected = None
    case.ours = [as_values(f) for f in found]
    if compare_values(entry, case, tally, elementwise):
        tally.counts["equal values"] += 1
    if expected is not None:
        tally.counts["with gradients"] += 1
        if compare_gradients(pair, expected, case, tally, elementwise):
            tally.counts["equal gradients"] += 1


def numen_results(
    entry: Counterpart, pair: Pair, seeds: list[np.ndarray | None], jit: bool
) -> list[Any]:
    """The results of a sample; its leaves then hold their gradients where there are seeds."""

    def program(args: Any, kwargs: Any) -> list[Any]:
        found = list(flat(invariant(entry, entry.function(*args, **kwargs))))
        parts = [loss(f, s) for f, s in zip(found, seeds, strict=False) if s is not None]
        parts = [p for p in parts if isinstance(p, nm.Array) and p.requires_grad]
        if parts:
            total = parts[0]
            for p in parts[1:]:
                total = total + p
            total.backward()
        return found

    args, kwargs = pair.ours
    if not jit:
        return program(args, kwargs)
    compiled = nm.jit(program)
    for _ in range(3):  # traced; run and compared with a second trace; run
        for _, array in pair.leaves:
            array.zero_grad()
        found = compiled(args, kwargs)
    return found


def invariant(entry: Counterpart, result: Any) -> Any:
    return result if entry.invariant is None else entry.invariant(result)


def loss(result: Any, seed: np.ndarray) -> Any:
    """sum(result * cotangent), its real part."""
    if not isinstance(result, nm.Array) or result.dtype.kind in "biu":
        return None
    total = nm.sum(result * nm.asarray(seed))
    return nm.real(total) if total.dtype.kind == "c" else total


def torch_gradients(
    results: list[Any], seeds: list[np.ndarray | None], pair: Pair
) -> list[np.ndarray] | None:
    """torch's gradient of every leaf; None where it has none."""
    chosen = [(r, s) for r, s in zip(results, seeds, strict=True) if s is not None]
    if not chosen or not pair.leaves:
        return None
    total: Any = 0
    for r, s in chosen:
        if s.dtype.name == "bfloat16":
            seed = torch.tensor(s.astype(np.float32)).to(torch.bfloat16)
        else:
            seed = torch.tensor(s)
        part = (r * seed).sum()
        total = total + (part.real if part.is_complex() else part)
    try:
        found = torch.autograd.grad(total, [t for t, _ in pair.leaves], allow_unused=True)
    except (RuntimeError, NotImplementedError):
        return None
    return [
        as_values(torch.zeros_like(t) if g is None else g)
        for g, (t, _) in zip(found, pair.leaves, strict=True)
    ]


def compare_values(entry: Counterpart, case: Case, tally: Tally, elementwise: bool) -> bool:
    if len(case.ours) != len(case.theirs):
        tally.disagree(case, "results", f"{len(case.ours)} here, {len(case.theirs)} in torch")
        return False
    equal = True
    for i, (a, b) in enumerate(zip(case.ours, case.theirs, strict=True)):
        which = f"result {i}: " if len(case.ours) > 1 else ""
        if a.shape != b.shape:
            tally.disagree(case, "shape", f"{which}{a.shape} here, {b.shape} in torch")
            equal = False
            continue
        if a.dtype != b.dtype:
            tally.disagree(case, "dtype", f"{which}{a.dtype} here, {b.dtype} in torch")
            equal = False
        if entry.shapes_only:
            continue
        why = compare.close(a, b, elementwise)
        if why:
            tally.disagree(case, "value", which + why)
            equal = False
    return equal


def compare_gradients(
    pair: Pair, expected: list[np.ndarray], case: Case, tally: Tally, elementwise: bool
) -> bool:
    equal = True
    case.their_gradients = expected
    case.our_gradients = [
        np.zeros_like(b) if array.grad is None else as_values(array.grad)
        for (_, array), b in zip(pair.leaves, expected, strict=True)
    ]
    for i, (a, b) in enumerate(zip(case.our_gradients, expected, strict=True)):
        which = f"gradient {i}: " if len(expected) > 1 else ""
        if a.shape != b.shape or a.dtype != b.dtype:
            here = f"{which}{a.dtype}{a.shape} here, {b.dtype}{b.shape} in torch"
            tally.disagree(case, "gradient", here)
            equal = False
            continue
        why = compare.close(a, b, elementwise and b.shape == case.theirs[0].shape)
        if why:
            tally.disagree(case, "gradient", which + why)
            equal = False
    return equal


def error_samples(info: Any, entry: Counterpart, tally: Tally) -> None:
    """What torch refuses: whether numen raises something too (a count, no verdict)."""
    if info.error_inputs_func is None:
        return
    try:
        samples = list(info.error_inputs("cpu"))
    except Exception:
        return
    for error in samples:
        sample = error.sample_input
        try:
            pair = Pair((sample.input, *sample.args), dict(sample.kwargs))
            args, kwargs = pair.theirs
            info(*args, **kwargs)
        except LeftOutError:
            continue
        except Exception:
            tally.counts["refused by torch"] += 1
        else:
            continue
        try:
            args, kwargs = pair.ours
            entry.function(*args, **kwargs)
        except Exception:
            tally.counts["refused here too"] += 1
