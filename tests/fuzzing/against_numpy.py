"""Run a random program's statements with numen's NumPy engine and with NumPy itself and compare.

After each statement all names must agree: values, dtypes, scalar or array, writeable, which of them
share memory, and whether the statement raised. Statements about gradients are left out.
"""

from __future__ import annotations

import re
import types
from typing import Any

import numpy as np
from tests.fuzzing.check import DifferenceError
from tests.fuzzing.generate import Program

import numen as nm
from numen.dispatch.core import SCALAR, ArrayCore
from numen.tracing.explain import same_bits

LEFT_OUT = re.compile(r"grad|relu|scatter_add|loss|where=|^w -=")
"""Statements that NumPy has no word for, or leaves undefined values in."""

NUMPY = types.SimpleNamespace(
    **{
        name: getattr(np, name)
        for name in (
            *("array", "exp", "tanh", "sqrt", "absolute", "negative", "log", "where", "maximum"),
            *("minimum", "sum", "concatenate", "take", "add", "multiply", "subtract"),
        )
    }
)


def scope(module: Any, program: Program) -> dict[str, Any]:
    """The names a program's statements use, over numen's or NumPy's arrays."""
    state = types.SimpleNamespace(
        h=module.array(np.zeros(3)),
        n=0,
        items=[module.array(np.zeros(2)), module.array(np.ones(3, np.float32))],
    )
    inputs = [module.array(x.copy()) for x in program.inputs]
    return {
        "nm": module,
        "a": inputs,
        "w": module.array(program.weight.copy()),
        "s": state,
        "k": 0.5,
        "n": 1,
    }


def run(text: str, names: dict[str, Any]) -> type[Exception] | None:
    """Execute a statement; the class of its exception."""
    try:
        exec(text, names)
    except Exception as error:
        return type(error)
    return None


def difference(ours: dict[str, Any], theirs: dict[str, Any]) -> str | None:
    """What tells numen's names from NumPy's, or None."""
    names = [name for name, x in ours.items() if isinstance(x, ArrayCore)]
    for name in names:
        x, y = ours[name], theirs[name]
        scalar, data, expected = isinstance(y, np.generic), x._d, np.asarray(y)
        if data.dtype != expected.dtype or data.shape != expected.shape:
            return f"{name}: {data!r} / {y!r}"
        if not same_bits(data, expected):
            return f"{name}: {data!r} / {y!r}"
        if (x._v is SCALAR) != scalar:
            return f"{name} is a scalar: {x._v is SCALAR} / {scalar}"
        if not scalar and data.flags.writeable != expected.flags.writeable:
            return f"{name} is writeable: {data.flags.writeable} / {expected.flags.writeable}"
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


def compare(program: Program) -> None:
    """Compare a whole program.

    Raises
    ------
    DifferenceError
        At the first statement after which something differs.
    """
    ours, theirs = scope(nm, program), scope(NUMPY, program)
    lines = [line.strip() for line in program.source.splitlines()[1:-1]]
    with np.errstate(all="ignore"), nm.config(engine="numpy"):
        for line in lines:
            if LEFT_OUT.search(line) or ("complex" in line and ">" in line):
                continue
            got, want = run(line, ours), run(line.replace(".detach()", ""), theirs)
            if (got is None) != (want is None) or (got and want and not issubclass(got, want)):
                raise DifferenceError(f"seed {program.seed}: {line}: raises {got} / {want}")
            if ".detach()" in line:  # an ndarray has no such view of itself
                continue
            found = difference(ours, theirs)
            if found is not None:
                raise DifferenceError(f"seed {program.seed}: {line}: {found}")
