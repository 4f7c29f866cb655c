"""Generated entry functions: the whole replay of a straight path as one Python function.

A tree whose path has no query gets a function that checks the arguments and the Python state by
identity, calls the program and wraps the results; anything unusual returns MISS and the general
path of `jit.py` decides. Called by `jit.py`; the guards' meaning is `guards.py`'s.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numen.dispatch import core, modes
from numen.dispatch.core import SCALAR, ArrayCore, Leaf
from numen.settings import config
from numen.tracing.finish import Finisher
from numen.tracing.guards import Guards
from numen.tracing.pull import Context
from numen.tracing.trace import Const, Result
from numen.tracing.tree import Tree

MISS = object()
_MAX_ARGUMENTS = 16

errstate_token: Callable[[], Any]
try:
    from numpy._core.umath import _extobj_contextvar

    errstate_token = _extobj_contextvar.get
except ImportError:  # another NumPy: compare the settings themselves

    def errstate_token() -> Any:
        return tuple(np.geterr().items())


class _Writer:
    """Collects the lines and the globals of an entry function."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.scope: dict[str, Any] = {
            "MISS": MISS,
            "ARRAY": core.ARRAY,
            "NEW": object.__new__,
            "SCALAR": SCALAR,
            "modes": modes,
            "config": config,
        }

    def name(self, prefix: str, value: Any) -> str:
        """A global that holds `value`."""
        name = f"{prefix}{len(self.scope)}"
        self.scope[name] = value
        return name

    def unless(self, condition: str) -> None:
        self.lines.append(f"if not ({condition}): return MISS")


def make_entry(
    tree: Tree,
    guards: Guards,
    leaves: Sequence[Any],
    dynamic: set[int],
    grad: bool,
    function: Callable[..., Any],
) -> Any:
    """The entry function of a verified straight path, or None where the general path must serve.

    leaves: the arguments of a call that fits (all positional, none nested); dynamic: positions of
    changing scalars.
    """
    segment = tree.root
    if (
        segment is None
        or segment.end is None
        or not segment.verified
        or len(leaves) > _MAX_ARGUMENTS
    ):
        return None
    w = _Writer()
    w.unless(f"len(args) == {len(leaves)}")
    w.unless(
        "modes.NO_GRAD == 0 or modes.state.grad"
        if grad
        else "modes.NO_GRAD and not modes.state.grad"
    )
    w.unless(f"config._engine == {config._engine!r} and not modes.ACTIVE")
    w.scope["token"] = errstate_token
    token = w.name("T", errstate_token())
    w.unless(f"token() {'is' if not isinstance(errstate_token(), tuple) else '=='} {token}")
    if leaves:
        w.lines.append(f"{', '.join(f'a{i}' for i in range(len(leaves)))}, = args")
    given: list[str] = []
    targets = {reg for reg, _ in segment.end.writes}
    written = {e.key for e in segment.externals if e.kind == "arg" and e.reg in targets}
    for i, x in enumerate(leaves):
        if not _argument(w, i, x, i in dynamic, i in written, given):
            return None
    arrays = [i for i, x in enumerate(leaves) if isinstance(x, ArrayCore)]
    for k, i in enumerate(arrays):
        for j in arrays[:k]:
            w.unless(f"a{i} {'is' if leaves[i] is leaves[j] else 'is not'} a{j}")
    if not guards.write_checks(w, given):
        return None
    objects: dict[int, str] = {}
    for e in segment.externals:
        if e.kind == "arg":
            objects[e.reg] = f"a{e.key}"
        elif e.kind == "slot":
            objects[e.reg] = guards.array_name(w, e.key)
        elif e.kind == "grad":
            objects[e.reg] = f"{objects[e.key]}._n.grad"
        else:
            objects[e.reg] = w.name("O", tree.objects[(e.kind, e.key)])
    if segment.end.writes and not _cannot_alias(w, tree, guards, objects):
        return None
    program, graph = tree.program(segment)
    scalars = f"({', '.join(given)}{',' if given else ''})"
    inputs = []
    for kind, x in graph.inputs:
        if kind == "register":
            name = objects[x]
            inputs.append(f"d{name[1:]}" if name[0] == "a" and name[1:].isdigit() else f"{name}._d")
        elif x.op == "input":
            inputs.append(given[x.args[0]])
        else:
            inputs.append(f"{w.name('E', x.evaluate)}({scalars}, None)")
    w.scope["call"] = program.call
    for expr in segment.risky:  # raises before anything is written
        w.lines.append(f"{w.name('E', expr.evaluate)}({scalars}, None)")
    w.lines.append(f"values = call({', '.join(inputs)})")
    w.scope["tree"] = tree
    w.lines.append("tree.replays += 1")
    _results(w, tree, graph.outputs, objects, scalars, guards, function)
    body = "\n    ".join(w.lines)
    exec(compile(f"def entry(args):\n    {body}\n", "<numen jit entry>", "exec"), w.scope)
    return w.scope["entry"]


def _argument(w: _Writer, i: int, x: Any, dynamic: bool, written: bool, given: list[str]) -> bool:
    """Check argument i; False where only the general path can."""
    if isinstance(x, ArrayCore):
        d = x._d
        w.unless(f"type(a{i}) is {w.name('C', type(x))}")
        w.lines.append(f"d{i} = a{i}._d")
        shape, strides = w.name("S", d.shape), w.name("S", d.strides)
        w.unless(
            f"d{i}.shape == {shape} and d{i}.dtype is {w.name('D', d.dtype)}"
            f" and d{i}.strides == {strides}"
        )
        w.unless(f"a{i}._n is None" if x._n is None else f"type(a{i}._n) is {w.name('L', Leaf)}")
        if not d.ndim:
            w.unless(f"a{i}._v {'is' if x._v is SCALAR else 'is not'} SCALAR")
        if written:
            w.unless(f"d{i}.flags.writeable is {d.flags.writeable}")
        return True
    kind = type(x)
    if dynamic:
        w.unless(f"type(a{i}) is {kind.__name__}")
        given.append(f"a{i}")
        return True
    if kind is complex:
        return False
    if kind is float:
        if x != x or x == 0:
            return False
        w.unless(f"type(a{i}) is {kind.__name__} and a{i} == {w.name('V', x)}")
    elif isinstance(x, np.generic):
        return False
    elif kind in (int, str, bytes):
        w.unless(f"type(a{i}) is {kind.__name__} and a{i} == {w.name('V', x)}")
    else:
        w.unless(f"a{i} is {w.name('V', x)}")
    return True


def _cannot_alias(w: _Writer, tree: Tree, guards: Guards, objects: dict[int, str]) -> bool:
    """Make sure that no argument views an array that is written; False where only the general path
    can.
    """
    assert tree.root is not None and tree.root.end is not None
    externals = {e.reg: e for e in tree.root.externals}
    written = []
    for reg, _ in tree.root.end.writes:
        e = externals[reg]
        if e.kind == "slot":
            written.append(guards.array(e.key))
        elif e.kind == "object":
            written.append(tree.objects[(e.kind, e.key)])
        else:
            return False
    if any(array is None or array._d.base is not None for array in written):
        return False
    for reg, _ in tree.root.end.writes:
        w.unless(f"{objects[reg]}._d.flags.writeable")
    memories = w.name("M", frozenset(id(array._d) for array in written))
    for e in externals.values():
        if e.kind in ("arg", "grad"):
            w.unless(f"id({objects[e.reg]}._d.base) not in {memories}")
            w.unless(f"id({objects[e.reg]}._d) not in {memories}")
    return True


def _results(
    w: _Writer,
    tree: Tree,
    registers: list[int],
    objects: dict[int, str],
    scalars: str,
    guards: Guards,
    function: Callable[..., Any],
) -> None:
    """Write the lines that make the call's output."""
    assert tree.root is not None
    end = tree.root.end
    assert end is not None
    output = end.output
    simple = not end.grads and not end.stores and not end.writes and not end.pulls
    if (
        simple
        and type(output) is Result
        and output.kind == "value"
        and not (output.freed or output.read_only)
    ):
        w.lines.append(f"o = values[{registers.index(output.reg)}]")
        if output.scalar:
            w.lines.append("o.flags.writeable = False")
        # Array's constructor, inline: it takes a tenth of a call
        w.lines += ["r = NEW(ARRAY)", "r._d = o", "r._n = r._t = None"]
        w.lines += [f"r._v = {'SCALAR' if output.scalar else 'None'}", "return r"]
        return
    if simple and type(output) is Const:
        w.lines.append(f"return {w.name('V', output.value)}")
        return
    w.scope["Finisher"] = Finisher
    w.lines.append(
        f"registers = {{{', '.join(f'{reg}: values[{k}]' for k, reg in enumerate(registers))}}}"
    )
    w.lines.append(f"objects = {{{', '.join(f'{reg}: {name}' for reg, name in objects.items())}}}")
    ending, containers = w.name("END", end), w.name("K", guards.containers)
    context = "None"
    if end.pulls:
        w.scope["Context"], w.scope["partial"] = Context, functools.partial
        again = f"partial({w.name('F', function)}, *args)"
        segment = w.name("G", tree.root)
        context = f"Context(tree, {segment}, registers, objects, {scalars}, {again})"
    w.lines.append(
        f"return Finisher(registers, objects, {scalars}, args, {containers}, {context})"
        f".commit({ending})"
    )
