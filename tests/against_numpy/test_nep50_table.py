"""The whole promotion table: dtypes of binary operations, or the class of the error, as NumPy's."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numen as nm

DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
OPERATIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "+": lambda np, x, y: x + y,
    "-": lambda np, x, y: x - y,
    "*": lambda np, x, y: x * y,
    "/": lambda np, x, y: x / y,
    "//": lambda np, x, y: x // y,
    "%": lambda np, x, y: x % y,
    "**": lambda np, x, y: x**y,
    "&": lambda np, x, y: x & y,
    "|": lambda np, x, y: x | y,
    "<<": lambda np, x, y: x << y,
    "maximum": lambda np, x, y: np.maximum(x, y),
    "less": lambda np, x, y: np.less(x, y),
}
IN_PLACE = {"+": operator.iadd, "*": operator.imul, "/": operator.itruediv, "&": operator.iand}
PYTHON = [True, 1, 0, -1, 300, 2**40, 1.5, 1e300, 1 + 2j]
"""Python scalars; some do not fit every dtype."""


def result(module: Any, operation: Callable[..., Any], x: Any, y: Any) -> Any:
    """The dtype and shape, or the public class of the error."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            out = operation(module, x, y)
        except Exception as error:
            return next(c for c in type(error).__mro__ if c.__module__ == "builtins")
    return str(out.dtype), out.shape


def differences(operation: Callable[..., Any], left: list[Any], right: list[Any]) -> list[str]:
    """Where numen's result differs; the operands are ndarrays, NumPy scalars or Python scalars."""
    found = []
    ours = {id(x): nm.asarray(x) if hasattr(x, "dtype") else x for x in [*left, *right]}
    for x in left:
        for y in right:
            expected = result(np, operation, x, y)
            actual = result(nm, operation, ours[id(x)], ours[id(y)])
            if actual != expected:
                found.append(f"{x!r}, {y!r}: {actual}, NumPy gives {expected}")
    return found


@pytest.mark.parametrize("name", OPERATIONS)
def test_arrays(name: str) -> None:
    arrays = [np.ones(2, dtype) for dtype in DTYPES]
    assert not differences(OPERATIONS[name], arrays, arrays)


@pytest.mark.parametrize("name", OPERATIONS)
def test_arrays_with_python_scalars(name: str) -> None:
    arrays = [np.ones(2, dtype) for dtype in DTYPES]
    assert not differences(OPERATIONS[name], arrays, PYTHON)
    assert not differences(OPERATIONS[name], PYTHON, arrays)


@pytest.mark.parametrize("name", OPERATIONS)
def test_zero_dimensional_arrays(name: str) -> None:
    arrays = [np.ones(2, dtype) for dtype in DTYPES]
    small = [np.array(1, dtype) for dtype in DTYPES]
    assert not differences(OPERATIONS[name], arrays, small)
    assert not differences(OPERATIONS[name], small, small + PYTHON)


@pytest.mark.parametrize("name", OPERATIONS)
def test_scalars(name: str) -> None:
    found = []
    for x in DTYPES:
        theirs, ours = np.ones(1, x)[0], nm.ones(1, x)[0]
        for other in [*DTYPES, *PYTHON]:
            if isinstance(other, str):
                y, z = np.ones(1, other)[0], nm.ones(1, other)[0]
            else:
                y = z = other
            expected = result(np, OPERATIONS[name], theirs, y)
            actual = result(nm, OPERATIONS[name], ours, z)
            if actual != expected:
                found.append(f"{theirs!r}, {y!r}: {actual}, NumPy gives {expected}")
    assert not found


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place(name: str) -> None:
    operation = IN_PLACE[name]
    found = []
    for x in DTYPES:
        for other in [*DTYPES, *PYTHON]:
            y = np.ones(2, other) if isinstance(other, str) else other
            z = nm.asarray(y) if isinstance(other, str) else other
            expected = result(np, lambda _, a, b: operation(a, b), np.ones(2, x), y)
            actual = result(nm, lambda _, a, b: operation(a, b), nm.ones(2, x), z)
            if actual != expected:
                found.append(f"{x}, {y!r}: {actual}, NumPy gives {expected}")
    assert not found
