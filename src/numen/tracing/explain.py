"""`explain` and `verify`: what a jitted function became, and whether it still equals eager."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from numen.dispatch.core import ArrayCore
from numen.errors import TraceError
from numen.settings import config
from numen.tracing.jit import Jit
from numen.tracing.tree import Segment, Tree


class Explanation:
    """A report: `str()` prints it.

    Attributes
    ----------
    keys : int
        Keys (shapes, dtypes, modes) the function was called with.
    compiled, eager : int
        Variants that are compiled, and that run eagerly.
    reasons : list of str
        Why variants run eagerly.
    """

    def __init__(self, function: Jit, stages: bool) -> None:
        entries = [e for entries in function._entries.values() for e in entries]
        self.keys = len(function._entries)
        self.compiled = sum(e.tree.eager is None for e in entries)
        self.eager = len(entries) - self.compiled
        self.reasons = [e.tree.eager for e in entries if e.tree.eager is not None]
        lines = [f"{function!r}: {self.keys} key(s), {self.compiled} compiled, {self.eager} eager"]
        lines += [f"  eager: {reason}" for reason in self.reasons]
        for number, entry in enumerate(entries):
            if entry.tree.eager is None:
                lines += _tree_lines(number, entry.tree, stages)
        self._text = "\n".join(lines)

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__


def _tree_lines(number: int, tree: Tree, stages: bool) -> list[str]:
    lines = [f"  variant {number}: {tree.segments} segment(s), {tree.replays} replay(s)"]
    stack: list[tuple[Segment, int, Any]] = [(tree.root, 0, None)] if tree.root else []
    while stack:
        segment, depth, outcome = stack.pop()
        if depth:
            lines.append("    " + "  " * (depth - 1) + f"outcome {outcome}:")
        pad = "    " + "  " * depth
        what = "end" if segment.query is None else f"query {segment.query.kind}"
        lines.append(f"{pad}segment: {len(segment.items)} steps, then {what}")
        if stages:
            program, _ = tree.program(segment)
            lines += [pad + "  " + line for line in program.text().splitlines()]
        children = [(child, depth + 1, key) for key, child in segment.children.items()]
        stack += reversed(children)
    return lines


def explain(function: Any, stages: bool = False) -> Explanation:
    """Report what `jit` made of a function, and why the rest runs eagerly.

    Parameters
    ----------
    function : callable
        The result of `jit`.
    stages : bool
        Print each segment's graph, kernels and plan too.

    Raises
    ------
    TypeError
        If the function was not made by `jit`.

    Examples
    --------
    >>> import numen as nm
    >>> f = nm.jit(lambda x: x.tolist())
    >>> _ = f(nm.zeros(2))
    >>> nm.explain(f).reasons
    ['tolist() of an array inside the traced function']
    """
    function = getattr(function, "_jit", function)
    if not isinstance(function, Jit):
        raise TypeError(f"explain: expected a function made by jit, got {type(function).__name__}")
    return Explanation(function, stages)


def verify(function: Any, *args: Any, **kwargs: Any) -> None:
    """Run a jitted function and its plain Python on equal copies of the arguments and compare bit
    for bit.

    State that the function writes besides its arguments changes twice.

    Raises
    ------
    TraceError
        If a result differs.

    Examples
    --------
    >>> import numen as nm
    >>> nm.verify(nm.jit(lambda x: nm.exp(x).sum()), nm.linspace(0.0, 1.0, 5))
    """
    function = getattr(function, "_jit", function)
    if not isinstance(function, Jit):
        raise TypeError(f"verify: expected a function made by jit, got {type(function).__name__}")
    results = []
    for run in (function, function, function):
        results.append(run(*copy.deepcopy(args), **copy.deepcopy(kwargs)))
    with config(engine="kernels"):
        expected = function._function(*copy.deepcopy(args), **copy.deepcopy(kwargs))
    for got in results:
        _compare(got, expected, "result")


def _compare(a: Any, b: Any, where: str) -> None:
    if isinstance(a, ArrayCore) and isinstance(b, ArrayCore):
        x, y = np.asarray(a._d), np.asarray(b._d)
        if x.dtype != y.dtype or x.shape != y.shape or not same_bits(x, y):
            raise TraceError(f"verify: {where} differs: jit {x!r}, eager {y!r}")
    elif isinstance(a, (list, tuple)):
        for i, (p, q) in enumerate(zip(a, b, strict=True)):
            _compare(p, q, f"{where}[{i}]")
    elif isinstance(a, dict):
        for key in a:
            _compare(a[key], b[key], f"{where}[{key!r}]")
    elif a is not b and not (type(a) is type(b) and (a == b or (a != a and b != b))):
        raise TraceError(f"verify: {where} differs: jit {a!r}, eager {b!r}")


def same_bits(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> bool:
    """Equal bits, NaN equal to NaN whatever its payload."""
    if x.dtype.kind in "fc":
        nan = np.isnan(x)
        if not np.array_equal(nan, np.isnan(y)):
            return False
        x, y = np.where(nan, 0, x), np.where(nan, 0, y)
        return np.ascontiguousarray(x).tobytes() == np.ascontiguousarray(y).tobytes()
    return bool(np.array_equal(x, y))
