"""Run a random program's statements with numen and with NumPy itself and compare after each.

Four ways: "plain" and the engine "numpy" must give NumPy's bits; the engine "kernels", and arrays
with gradients, may round differently. What must always agree: dtypes, shapes, scalar or array,
writeable, which arrays share memory, and whether a statement raises. Where values may differ, numen
goes on from NumPy's. Statements that NumPy has no word for are left out.
"""

from __future__ import annotations

import contextlib
import re
import types
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from tests.fuzzing.check import NUMBERS, DifferenceError
from tests.fuzzing.generate import Program

import numen as nm
from numen.dispatch.core import SCALAR, ArrayCore
from numen.errors import GradientError
from numen.tracing.explain import same_bits

WAYS = ("plain", "numpy", "kernels", "gradient")

LEFT_OUT = re.compile(r"grad|relu|scatter_add|loss|\.sum\(\)\.item|= nm\.\w+\(\w+, [^=]+, where=")
"""Statements that NumPy has no word for, or leaves undefined values in; rounding that gets into
Python numbers."""

CLOSE = {"e": 3e-2, "f": 1e-3, "F": 1e-3}
"""How far values may lie apart, by dtype, as a share of the largest in sight; 1e-8 for others."""


def scope(module: Any, program: Program, gradient: bool = False) -> dict[str, Any]:
    """The names a program's statements use, over numen's or NumPy's arrays."""
    state = types.SimpleNamespace(
        h=module.array(np.zeros(3)),
        n=0,
        items=[module.array(np.zeros(2)), module.array(np.ones(3, np.float32))],
        losses=[],
    )
    weight = module.array(program.weight.copy())
    k, n = NUMBERS[program.seed % len(NUMBERS)]
    return {
        "nm": module,
        "a": [module.array(x.copy()) for x in program.inputs],
        "w": weight.requires_grad_() if gradient else weight,
        "s": state,
        "k": k,
        "n": n,
    }


def run(text: str, names: dict[str, Any]) -> type[Exception] | None:
    """Execute a statement; the class of its exception."""
    try:
        exec(text, names)
    except Exception as error:
        return type(error)
    return None


def compare_values(name: str, x: Any, y: Any, exact: bool, before: float) -> str | None:
    """What tells an Array from NumPy's array or scalar, or None."""
    data, expected = x._d, np.asarray(y)
    if data.dtype != expected.dtype or data.shape != expected.shape:
        return f"{name}: {data!r} / {y!r}"
    if not same_bits(data, expected) and (exact or not close(data, expected, before)):
        return f"{name}: {data!r} / {y!r}"
    scalar = isinstance(y, np.generic)
    if (x._v is SCALAR) != scalar:
        return f"{name} is a scalar: {x._v is SCALAR} / {scalar}"
    if not scalar and data.flags.writeable != expected.flags.writeable:
        return f"{name} is writeable: {data.flags.writeable} / {expected.flags.writeable}"
    return None


def close(data: np.ndarray[Any, Any], expected: np.ndarray[Any, Any], before: float) -> bool:
    """Whether floats agree but for rounding, the terms of sums being at most `before`."""
    if data.dtype.kind not in "fc":
        return False  # what is discrete is computed from the same values
    if not np.isfinite(before):
        return True  # inf - inf depends on the order of a sum
    tolerance = CLOSE.get(data.dtype.char, 1e-8)
    near = np.abs(np.where(np.isfinite(expected), expected, 0)).max(initial=before)
    agree = np.isclose(data, expected, tolerance, tolerance * near, equal_nan=True)
    return bool(agree.all())


def difference(
    ours: dict[str, Any], theirs: dict[str, Any], exact: bool, before: float
) -> str | None:
    """What tells numen's names from NumPy's, or None."""
    names = [name for name, x in ours.items() if isinstance(x, ArrayCore)]
    for name in names:
        found = compare_values(name, ours[name], theirs[name], exact, before)
        if found is not None:
            return found
    for j, b in enumerate(names):
        for a in names[:j]:
            both = [ours[name] for name in (a, b)]
            shared = SCALAR not in [x._v for x in both] and np.shares_memory(both[0]._d, both[1]._d)
            if shared != (
                isinstance(theirs[a], np.ndarray)
                and isinstance(theirs[b], np.ndarray)
                and np.shares_memory(theirs[a], theirs[b])
            ):
                return f"{a} and {b} share memory: {shared}"
    return None


def adopt(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    """Put NumPy's values into numen's arrays, so that rounding does not add up."""
    for name, x in ours.items():
        if not isinstance(x, ArrayCore) or same_bits(x._d, np.asarray(theirs[name])):
            continue
        kept = x._d.flags.writeable
        with contextlib.suppress(ValueError):  # a broadcast view: its base is written
            x._d.setflags(write=True)
            x._d[...] = theirs[name]
            x._d.setflags(write=kept)


def largest(names: dict[str, Any]) -> float:
    """The largest magnitude among arrays: what the terms of the next statement may cancel from."""
    found = [np.abs(x).max(initial=1.0) for x in names.values() if isinstance(x, np.ndarray)]
    finite = all([np.isfinite(m) for m in found])
    return min(float(max([*found, 1.0])), 1e150) ** 2 if finite else np.inf


@contextlib.contextmanager
def _running(way: str) -> Iterator[None]:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if way in ("numpy", "kernels"):
            with nm.config(engine=way):
                yield
        else:
            yield


def into_read_only(line: str, theirs: dict[str, Any]) -> bool:
    """Whether `ufunc.at` or `copyto` writes into a read-only array, which NumPy may let pass."""
    found = re.match(r"nm\.(?:\w+\.at|copyto)\((\w+)", line)
    target = theirs.get(found[1]) if found is not None else None
    return target is not None and not target.flags.writeable


def compare(program: Program, way: str = "plain") -> None:
    """Compare a whole program, run one of the WAYS.

    Raises
    ------
    DifferenceError
        At the first statement after which something differs.
    """
    ours, theirs = scope(nm, program, way == "gradient"), scope(np, program)
    exact = way in ("plain", "numpy")
    with _running(way):
        for line in program.trials:
            if LEFT_OUT.search(line) or into_read_only(line, theirs):
                continue
            before = 1.0 if exact else largest(theirs)
            try:
                exec(line, ours)
                got: type[Exception] | None = None
            except GradientError:
                continue  # refused before anything was written
            except Exception as error:
                got = type(error)
            want = run(line.replace(".detach()", ""), theirs)
            if (got is None) != (want is None) or (got and want and not issubclass(got, want)):
                raise DifferenceError(f"seed {program.seed}, {way}: {line}: raises {got} / {want}")
            if got is not None:
                adopt(ours, theirs)  # NumPy may have written a part
            if ".detach()" in line:  # an ndarray has no such view of itself
                continue
            found = difference(ours, theirs, exact, before)
            if found is not None:
                raise DifferenceError(f"seed {program.seed}, {way}: {line}: {found}")
            if not exact:
                adopt(ours, theirs)
