"""`jit`: an eager run with a recorder attached, then replays of what it recorded.

A call looks up the trees of its key (argument structure, shapes, dtypes, flags, modes), checks the Python state the
tree was recorded with, and replays; an unseen outcome, a new state or the second call records again. What can't be
compiled runs eagerly with the engine "kernels", which has the same bits. Next: `recorder.py`, `tree.py`.
"""

from __future__ import annotations

import functools
import random
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numen.dispatch import core, modes
from numen.dispatch.core import SCALAR, ArrayCore, Leaf
from numen.errors import TraceError
from numen.runtime import native, profile
from numen.settings import config
from numen.tracing.entry import MISS, make_entry
from numen.tracing.finish import Finisher
from numen.tracing.guards import Guards
from numen.tracing.host import HostScalar, plain
from numen.tracing.pull import Context
from numen.tracing.recorder import Recorder, new_scalar_input
from numen.tracing.snapshot import SCALARS, Snapshot, same_scalar
from numen.tracing.trace import External
from numen.tracing.tree import Segment, Tree, answer, outcome_key

MAX_TREES = 32
"""Most state variants kept for one key; the least recently used one goes first."""

_UNSEEN = object()


class Entry:
    """A tree and the guards of the state it was recorded with."""

    __slots__ = ("guards", "tree")

    def __init__(self, tree: Tree, guards: Guards) -> None:
        self.tree = tree
        self.guards = guards


class Jit:
    """A function compiled as it runs. Made by `jit`; behaves like the function, also as a method.

    Attributes
    ----------
    __wrapped__ : callable
        The plain Python function.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.__wrapped_by_jit__ = function
        self._function = function
        self._entries: dict[Any, list[Entry]] = {}
        self._lock = threading.RLock()
        self._dynamic_arguments: set[Any] = set()
        self._seen_arguments: dict[Any, Any] = {}
        self._dynamic_slots: set[Any] = set()
        self._logs: set[int] = set()
        self._keep: dict[int, Any] = {}
        self._reasons: list[str] = []
        self._bound: dict[int, tuple[Any, Jit]] = {}
        self._fast: tuple[Callable[[tuple[Any, ...]], Any], ...] = ()
        self._fast_trees: list[Tree] = []

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        known = self._bound.get(id(instance))
        if known is not None and known[0]() is instance:
            return known[1]
        bound = Jit(self._function.__get__(instance, owner))
        try:
            self._bound[id(instance)] = (weakref.ref(instance), bound)
        except TypeError:
            pass  # the instance allows no weak references: recorded anew for each lookup
        return bound

    def __repr__(self) -> str:
        return f"<jit {getattr(self._function, '__qualname__', self._function)}>"

    # ------------------------------------------------------------------------------------------ calls
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not kwargs:
            for quick in self._fast:
                try:
                    result = quick(args)
                except Exception:
                    break  # nothing was written: Python runs again and raises what eager raises
                if result is not MISS:
                    return result
        if modes.ACTIVE and modes.state.recorder is not None:
            return self._function(*args, **kwargs)
        if config.engine == "numpy" or not native.available() or _errstate_is_strict():
            return self._function(*args, **kwargs)
        leaves: list[Any] = []
        structure = _flatten((args, kwargs), leaves)
        key, scalars = self._key(structure, leaves)
        entries = self._entries.get(key)
        if entries is not None:
            for entry in entries:
                if entry.tree.eager is not None:
                    return self._eagerly(args, kwargs)
                bound = entry.guards.check(scalars, leaves)
                if bound is not None:
                    result = self._replay(entry, leaves, bound, args, kwargs)
                    if result is _UNSEEN:
                        break
                    if not kwargs and entry.tree not in self._fast_trees:
                        self._specialise(entry, structure, leaves)
                    return result
        return self._trace(key, structure, leaves, scalars)

    def _eagerly(self, args: Any, kwargs: Any) -> Any:
        with config(engine="kernels"):
            return self._function(*args, **kwargs)

    def _key(self, structure: Any, leaves: Sequence[Any]) -> tuple[Any, list[Any]]:
        """The call's key, and the values of its changing Python scalars by position."""
        parts: list[Any] = []
        scalars: list[Any] = []
        for i, x in enumerate(leaves):
            if isinstance(x, ArrayCore):
                d = x._d
                node = x._n
                mark = None if node is None else type(node)
                parts.append((d.shape, d.dtype, d.strides, mark, d.flags.writeable, x._v is SCALAR))
                parts.append(_first(leaves, x, i))
                continue
            kind = type(x)
            if kind in (float, int) and (structure, i) in self._dynamic_arguments:
                parts.append(kind)
                scalars.append(x)
            elif kind in SCALARS:
                known = self._seen_arguments.setdefault((structure, i), x)
                if kind in (float, int) and type(known) is kind and not same_scalar(known, x):
                    self._dynamic_arguments.add((structure, i))
                    parts.append(kind)
                    scalars.append(x)
                else:
                    parts.append((kind, repr(x)))
            else:
                self._keep[id(x)] = x
                parts.append(id(x))
        grad = not modes.NO_GRAD or modes.state.grad
        return (structure, tuple(parts), grad), scalars

    # ------------------------------------------------------------------------------------------ replay
    def _replay(
        self, entry: Entry, leaves: Sequence[Any], bound: Any, args: Any, kwargs: Any
    ) -> Any:
        tree, guards = entry.tree, entry.guards
        segment = tree.root
        if segment is None:
            return _UNSEEN
        scalars, slots = bound
        registers: dict[int, Any] = {}
        objects: dict[int, Any] = {}
        while True:
            if segment.end is not None and not segment.verified:
                return _UNSEEN
            for e in segment.externals:
                array = _resolve(e, leaves, slots, guards, objects, tree)
                if array is None:
                    return _UNSEEN
                objects[e.reg] = array
                registers[e.reg] = array._d
            end = segment.end
            if end is not None and end.writes and _aliased(end.writes, objects):
                return _UNSEEN  # the recording finds the alias and gives the key up
            program, graph = tree.program(segment)
            inputs = [
                registers[x] if kind == "register" else x.evaluate(scalars, registers)
                for kind, x in graph.inputs
            ]
            try:
                values = program(*inputs)
            except Exception:
                return _UNSEEN  # Python runs again and raises what eager raises
            for reg, value in zip(graph.outputs, values, strict=True):
                registers[reg] = value
            if end is not None:
                tree.replays += 1
                profile.count("jit_replays")
                context = None
                if end.pulls:
                    again = functools.partial(self._function, *args, **kwargs)
                    context = Context(tree, segment, registers, objects, scalars, again)
                finisher = Finisher(
                    registers, objects, scalars, leaves, guards.containers, context
                )
                return finisher.commit(end)
            assert segment.query is not None
            child = segment.children.get(outcome_key(answer(segment.query, scalars, registers)))
            if child is None:
                return _UNSEEN
            segment = child

    def _specialise(self, entry: Entry, structure: Any, leaves: Sequence[Any]) -> None:
        """Give a straight path its generated entry function; the two newest are kept."""
        self._fast_trees.append(entry.tree)
        if any(part is not None for part in structure[1][0][1]):
            return  # nested arguments
        dynamic = {i for i in range(len(leaves)) if (structure, i) in self._dynamic_arguments}
        grad = not modes.NO_GRAD or modes.state.grad
        made = make_entry(entry.tree, entry.guards, leaves, dynamic, grad, self._function)
        if made is not None:
            self._fast = (made, *self._fast[:1])

    # ------------------------------------------------------------------------------------------ tracing
    def _trace(self, key: Any, structure: Any, leaves: list[Any], scalars: list[Any]) -> Any:
        with self._lock:
            entries = self._entries.setdefault(key, [])
            entry = None
            for known in entries:
                if known.tree.eager is not None:
                    args, kwargs = _unflatten(structure, iter(leaves))
                    return self._eagerly(args, kwargs)
                bound = known.guards.check(scalars, leaves)
                if bound is not None:
                    entry = known
                    break
                self._dynamic_slots.update(known.guards.changed_scalars)
            profile.count("jit_traces")
            return self._record(entries, entry, structure, leaves, scalars)

    def _record(
        self,
        entries: list[Entry],
        entry: Entry | None,
        structure: Any,
        leaves: list[Any],
        scalars: list[Any],
    ) -> Any:
        objects = [x for x in leaves if not isinstance(x, ArrayCore)]
        try:
            snapshot = Snapshot(self._function, objects)
        except TraceError as error:
            entries.insert(0, self._give_up(str(error), Guards.empty()))
            args, kwargs = _unflatten(structure, iter(leaves))
            return self._eagerly(args, kwargs)
        recorder = Recorder(snapshot)
        given: list[Any] = []
        for i, x in enumerate(leaves):
            if isinstance(x, ArrayCore):
                given.append(x)
            elif type(x) in (float, int) and (structure, i) in self._dynamic_arguments:
                given.append(new_scalar_input(recorder, x, ("argument", i)))
            else:
                given.append(x)
        replaced = self._place_proxies(snapshot, recorder)
        guards = (
            entry.guards
            if entry is not None
            else Guards(snapshot, recorder.host_inputs, self._logs, replaced)
        )
        random_before = _random_state()
        args, kwargs = _unflatten(structure, iter(given))
        modes.state.recorder = recorder
        modes.enter_special()
        end = None
        try:
            self._bind_arguments(recorder, leaves)
            output = self._function(*args, **kwargs)
            reason = recorder.dead
            if reason is None:
                try:
                    end = recorder.finish(output, leaves)
                except TraceError as error:
                    reason = str(error)
        finally:
            modes.leave_special()
            modes.state.recorder = None
            self._restore(replaced, snapshot)
        if reason is None and _random_state() != random_before:
            reason = "global random state was used"
        output = _plain_output(output)
        if entry is None:
            entry = Entry(Tree(), guards)
            entries.insert(0, entry)
            del entries[MAX_TREES:]
        if reason is None and end is not None:
            for store in end.stores:
                if store[0] == "append":
                    self._logs.add(store[1])
                    guards.forget_list(store[1])
            guards.use(recorder)
            try:
                entry.tree.merge(recorder, end)
            except TraceError as error:
                reason = str(error)
        if reason is not None:
            entry.tree.eager = reason
            self._note(reason)
        recorder.close(output)
        return output

    def _bind_arguments(self, recorder: Recorder, leaves: Sequence[Any]) -> None:
        for i, x in enumerate(leaves):
            if isinstance(x, ArrayCore):
                recorder.argument(x, i)

    def _place_proxies(
        self, snapshot: Snapshot, recorder: Recorder
    ) -> list[tuple[Any, Any, HostScalar]]:
        """Put proxies into the state slots whose scalars change from call to call."""
        replaced = []
        for slot in snapshot.slots:
            if slot.place in self._dynamic_slots and type(slot.value) in (int, float):
                proxy = new_scalar_input(recorder, slot.value, ("slot", slot.place))
                replaced.append((slot, slot.value, proxy))
                slot.set(proxy)
                slot.value = proxy
        return replaced

    def _restore(self, replaced: list[tuple[Any, Any, HostScalar]], snapshot: Snapshot) -> None:
        for slot, before, proxy in replaced:
            if slot.get() is proxy:
                slot.set(before)
            slot.value = before
        for slot in snapshot.slots:
            if slot.kind in ("entry", "item", "cell"):
                now = slot.get()
                if type(now) is HostScalar:
                    slot.set(plain(now))
        for items, _, _ in snapshot.lists:
            for i, value in enumerate(items):
                if type(value) is HostScalar:
                    items[i] = plain(value)
        for slot in snapshot.slots:
            if slot.kind == "keys" and isinstance(slot.container, dict):
                for k, value in list(slot.container.items()):
                    if type(value) is HostScalar:
                        slot.container[k] = plain(value)

    def _give_up(self, reason: str, guards: Guards) -> Entry:
        tree = Tree()
        tree.eager = reason
        self._note(reason)
        return Entry(tree, guards)

    def _note(self, reason: str) -> None:
        profile.count("jit_eager_keys")
        self._reasons.append(reason)


def jit(function: Callable[..., Any]) -> Any:
    """Compile a Python function by recording what it does; the result equals eager/kernels bit for bit.

    Plain Python `if`, `while`, `float()`, attribute stores, appended lists, in-place writes and `loss.backward()`
    work. What can't be compiled runs eagerly with the same result; `explain` names it.

    Parameters
    ----------
    function : callable
        Any Python function over Arrays, numbers and containers of them.

    Returns
    -------
    callable
        Called like the function. Keyed by exact shapes, dtypes and modes; kernels are shared between shapes.

    Examples
    --------
    >>> import numen as nm
    >>> @nm.jit
    ... def f(x):
    ...     return (x * 2 + 1).sum()
    >>> for _ in range(3):
    ...     y = f(nm.arange(4.0))
    >>> y
    np.float64(16.0)
    """
    return Jit(function)


def _flatten(value: Any, leaves: list[Any]) -> Any:
    """Structure of nested tuples, lists and dicts; leaves are appended."""
    kind = type(value)
    if kind is tuple or kind is list:
        return (kind, tuple([_flatten(v, leaves) for v in value]))
    if kind is dict:
        return (dict, tuple([(k, _flatten(v, leaves)) for k, v in value.items()]))
    leaves.append(value)
    return None


def _unflatten(structure: Any, leaves: Any) -> Any:
    if structure is None:
        return next(leaves)
    kind, parts = structure
    if kind is dict:
        return {k: _unflatten(s, leaves) for k, s in parts}
    return kind([_unflatten(s, leaves) for s in parts])


def _first(leaves: Sequence[Any], x: Any, i: int) -> int:
    """The first position of the same object: `f(a, a)` and `f(a, b)` have different keys."""
    for j in range(i):
        if leaves[j] is x:
            return j
    return i


def _resolve(
    e: External,
    leaves: Sequence[Any],
    slots: Any,
    guards: Guards,
    objects: dict[int, Any],
    tree: Tree,
) -> Any:
    """The array that an external stands for on this call; None where it no longer fits."""
    kind = e.kind
    if kind == "arg":
        return leaves[e.key]
    if kind == "slot":
        array = slots.get(e.key)
        return guards.array(e.key) if array is None else array
    if kind == "grad":
        leaf = objects[e.key]._n
        array = leaf.grad if type(leaf) is Leaf else None
        if array is None or array._d.shape != e.meta.shape or array._d.strides != e.meta.strides:
            return None
        return array
    return tree.objects[(kind, e.key)]


def _aliased(writes: Any, objects: dict[int, Any]) -> bool:
    """Whether an array that is written shares memory with another input of this call."""
    for reg, _ in writes:
        written = objects[reg]._d
        for other, array in objects.items():
            if (
                other != reg
                and array._d is not written
                and (array._d.base is not None or written.base is not None)
            ):
                if np.may_share_memory(written, array._d):
                    return True
    return False


def _plain_output(value: Any) -> Any:
    if type(value) is HostScalar:
        return plain(value)
    if type(value) in (list, tuple):
        parts = [_plain_output(v) for v in value]
        return (
            value if all(a is b for a, b in zip(parts, value, strict=True)) else type(value)(parts)
        )
    if type(value) is dict:
        for k, v in value.items():
            value[k] = _plain_output(v)
    return value


def _random_state() -> Any:
    legacy = np.random.get_state(legacy=False)
    state: Any = legacy["state"]
    return (
        random.getstate()[1][-1],
        state["pos"],
        random.getstate()[1][:4],
        state["key"][:4].tobytes(),
    )


def _errstate_is_strict() -> bool:
    """Whether NumPy's error state asks for exceptions or callbacks, which only eager ops give."""
    return any(v in ("raise", "call", "log", "print") for v in np.geterr().values())
