"""Run a random program's statements inside `vmap` and `jvp` and compare with plain runs.

vmap: after each statement every array must hold what the plain runs of the examples hold. jvp: the
values must be the plain ones, and at the end <c, J t> must equal <J^T c, t> of reverse mode.
Statements that a transform refuses with its own error are left out of the plain runs as well.
"""

from __future__ import annotations

import types
import warnings
from typing import Any

import numpy as np
from tests.fuzzing.against_numpy import LEFT_OUT, close, largest, run
from tests.fuzzing.check import NUMBERS, DifferenceError
from tests.fuzzing.generate import Program

import numen as nm
from numen.dispatch import modes
from numen.dispatch.core import ArrayCore
from numen.dispatch.frames import VMAP, Frame, Level
from numen.errors import GradientError, TransformError

COUNT = 3
Names = dict[str, Any]


def example(program: Program, k: int) -> list[np.ndarray[Any, Any]]:
    """The inputs and the weight of example k: rolled, so that their kinds stay."""
    return [np.roll(x, k, 0) if x.ndim else np.array(x) for x in (*program.inputs, program.weight)]


def names_of(program: Program, arrays: list[Any]) -> Names:
    """What a program's statements use."""
    state = types.SimpleNamespace(
        h=nm.array(np.zeros(3)),
        n=0,
        items=[nm.array(np.zeros(2)), nm.array(np.ones(3, np.float32))],
        losses=[],
    )
    k, n = NUMBERS[program.seed % len(NUMBERS)]
    return {"nm": nm, "a": arrays[:-1], "w": arrays[-1], "s": state, "k": k, "n": n}


def arrays_of(names: Names) -> dict[str, Any]:
    return {name: x for name, x in names.items() if isinstance(x, ArrayCore)}


def rows_of(x: Any) -> np.ndarray[Any, Any]:
    """The values of all examples."""
    if type(x._d) is Frame:
        data = x._d.value._d
        return data if x._d.mapped else np.stack([data] * COUNT)
    return np.stack([x._d] * COUNT)


def compare_vmap(program: Program) -> int:
    """Compare a program inside vmap with its plain runs; the number of compared statements.

    Raises
    ------
    DifferenceError
        At the first statement after which something differs.
    """
    plain = [names_of(program, [nm.array(x) for x in example(program, k)]) for k in range(COUNT)]
    stacked = [np.stack(x) for x in zip(*[example(program, k) for k in range(COUNT)], strict=True)]
    compared = 0
    with np.errstate(all="ignore"), warnings.catch_warnings(), Level(VMAP, COUNT) as level:
        warnings.simplefilter("ignore")
        inputs = [nm.Array(Frame(level, nm.array(x), True)) for x in stacked]
        ours = names_of(program, inputs)
        for line in program.trials:
            if LEFT_OUT.search(line):
                continue
            before = max([largest({n: x._d for n, x in arrays_of(p).items()}) for p in plain])
            error = run(line, ours)
            if error is TransformError:
                if "=" in line and not line.split("=")[0].strip().isidentifier():
                    break  # a write that may have been done in part
                continue
            errors = {_plain_run(line, names) for names in plain}
            if len(errors) > 1:
                break  # whether it raises depends on the values
            if (error is None) != (None in errors):
                raise DifferenceError(f"seed {program.seed}, {line!r}: {error} / {errors}")
            if error is not None:
                continue
            for name, x in arrays_of(ours).items():
                each = [np.asarray(p[name]._d) for p in plain]
                if len({e.shape for e in each}) > 1:
                    return compared
                want, got = np.stack(each), rows_of(x)
                same = want.dtype == got.dtype and want.shape == got.shape
                if not same or not _agree(got, want, before):
                    raise DifferenceError(
                        f"seed {program.seed}, after {line!r}, {name}: {got!r} / {want!r}"
                    )
            compared += 1
    return compared


def _plain_run(line: str, names: Names) -> Any:
    """Run a statement outside the transform."""
    levels, modes.state.levels, modes.state.level = modes.state.levels, (), 0
    try:
        return run(line, names)
    finally:
        modes.state.levels, modes.state.level = levels, len(levels)


def _agree(got: Any, want: Any, before: float) -> bool:
    if got.dtype.kind not in "fc":
        return bool((got == want).all())
    return close(got, want, before)


def compare_jvp(program: Program) -> bool:
    """Compare forward with reverse mode; whether there was something to compare.

    Raises
    ------
    DifferenceError
        If values or derivatives differ.
    """
    inputs = [nm.array(x) for x in example(program, 0)]
    floats = [i for i, x in enumerate(inputs) if x.dtype == np.float64]
    if not floats or not all(np.isfinite(inputs[i]._d).all() for i in floats):
        return False
    kept: list[str] = []

    def trial(*chosen: Any) -> list[Any]:
        return _results(program, inputs, floats, chosen, program.trials, kept)

    def again(*chosen: Any) -> list[Any]:
        return _results(program, inputs, floats, chosen, list(kept), None)

    primals = tuple([inputs[i] for i in floats])
    rng = np.random.default_rng(program.seed)
    tangents = tuple([nm.array(rng.normal(size=p.shape)) for p in primals])
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            trial(*[x.copy() for x in primals])
            outs, pull = nm.vjp(again, *primals)
            seeds = [nm.array(rng.normal(size=y.shape).astype(y.dtype)) for y in outs]
            pulled = pull(seeds)
        except (GradientError, TransformError):
            return False
        try:
            values, pushed = nm.jvp(again, [x.copy() for x in primals], tangents)
        except GradientError as error:
            if "has no derivative" in str(error):
                return False
            raise
        except TransformError:
            return False
    for got, want in zip(values, outs, strict=True):
        if got.dtype != want.dtype or not close(got._d, want._d, 1.0):
            raise DifferenceError(f"seed {program.seed}: values {got!r} / {want!r}")
    with np.errstate(all="ignore"):
        forward = [float((a._d * b._d).sum()) for a, b in zip(seeds, pushed, strict=True)]
        reverse = [float((a._d * b._d).sum()) for a, b in zip(pulled, tangents, strict=True)]
    total = sum(forward), sum(reverse)
    terms = sum([abs(x) for x in (*forward, *reverse)])
    if np.isfinite(terms) and abs(total[0] - total[1]) > 1e-4 * max(terms, 1.0):
        raise DifferenceError(f"seed {program.seed}: <c, J t> {total[0]} / <J^T c, t> {total[1]}")
    return True


def _results(
    program: Program,
    inputs: list[Any],
    floats: list[int],
    chosen: Any,
    lines: list[str],
    kept: list[str] | None,
) -> list[Any]:
    """The floating arrays that the statements leave."""
    arrays = [x.copy() for x in inputs]
    for i, x in zip(floats, chosen, strict=True):
        arrays[i] = x * 1.0
    names = names_of(program, arrays)
    for line in lines:
        if LEFT_OUT.search(line) or "astype" in line:
            continue
        error = run(line, names)
        if kept is None:
            if error is not None:
                raise (error if error is TransformError else GradientError)(f"{line}: {error}")
        elif error is None:
            kept.append(line)
        elif "=" in line and not line.split("=")[0].strip().isidentifier():
            break
    found = [x for x in arrays_of(names).values() if x.dtype == np.float64]
    return [x * 1.0 for x in found]
