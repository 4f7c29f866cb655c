"""`jit`: an eager run with a recorder attached, then replays of what it recorded.

A call looks up the trees of its key (argument structure, shapes, dtypes, flags, modes), checks the
Python state the tree was recorded with, and replays; an unseen outcome, a new state or the second
call records again. What can't be compiled runs eagerly with the engine "kernels", which has the
same bits. Next: `recorder.py`, `tree.py`.
"""

from __future__ import annotations

import copy
import functools
import inspect
import threading
import types
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numen.dispatch import core, modes
from numen.dispatch.core import SCALAR, ArrayCore, Leaf
from numen.errors import CompileError, TraceError
from numen.runtime import platforms, profile
from numen.settings import config
from numen.tracing.call import PROBING, Call, flatten
from numen.tracing.entry import MISS, make_entry
from numen.tracing.finish import Finisher
from numen.tracing.guards import Guards
from numen.tracing.host import HostScalar, plain
from numen.tracing.leftovers import replace_proxies
from numen.tracing.method import BoundJit, WeakMethod
from numen.tracing.notes import new_scalar_input
from numen.tracing.pull import Context
from numen.tracing.recorder import Recorder
from numen.tracing.snapshot import SCALARS, Snapshot, same_scalar
from numen.tracing.trace import End, External
from numen.tracing.tree import Tree, answer, outcome_key
from numen.tracing.watch import global_random_state

MAX_TREES = 32
"""Most state variants kept for one key; the oldest goes first."""

MAX_QUICK = 4
"""Generated entry functions that a call tries before the general path: the latest used ones."""

MAX_KEYS = 256
"""Most keys (shapes, strings, objects) of one function; calls with further ones run eagerly."""

_UNSEEN = object()


class Entry:
    """A tree and the guards of the state it was recorded with.

    quick: the generated entry function; None before one was tried, MISS where there can be none.
    """

    __slots__ = ("guards", "quick", "tree")

    def __init__(self, tree: Tree, guards: Guards) -> None:
        self.tree = tree
        self.guards = guards
        self.quick: Any = None


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
        self._exchanged = core.EXCHANGED
        self._fast: tuple[Callable[[tuple[Any, ...]], Any], ...] = ()
        self._unfit = _why_unfit(function)

    def __deepcopy__(self, memo: dict[int, Any]) -> Jit:
        return Jit(copy.deepcopy(self._function, memo))

    def __copy__(self) -> Jit:
        return Jit(self._function)

    def __reduce__(self) -> Any:
        return Jit, (self._function,)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        method = types.MethodType(self._function, instance)
        key = id(instance)
        known = self._bound.get(key)
        if known is None or known[0]() is not instance:
            try:
                reference = weakref.ref(instance, lambda _: self._bound.pop(key, None))
            except (
                TypeError
            ):  # the instance allows no weak references: recorded anew for each lookup
                return Jit(method)
            known = self._bound[key] = (reference, Jit(WeakMethod(self._function, instance)))
        return BoundJit(known[1], method)

    def __repr__(self) -> str:
        return f"<jit {getattr(self._function, '__qualname__', self._function)}>"

    # ---------------------------------------------------------------------------------------- calls
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._exchanged != core.EXCHANGED:
            self._forget()
        if not kwargs:
            for quick in self._fast:
                try:
                    result = quick(args)
                except Exception:
                    break  # nothing was written: Python runs again and raises what eager raises
                if result is not MISS:
                    return result
        if modes.ACTIVE and (modes.state.recorder is not None or modes.state.level):
            return self._function(*args, **kwargs)
        if config.engine == "numpy" or not platforms.available() or modes.errstate_is_strict():
            return self._function(*args, **kwargs)
        if modes.ACTIVE and modes.state.anomaly is not None:
            return self._eagerly(args, kwargs)
        leaves: list[Any] = []
        structure = flatten((args, kwargs), leaves)
        key, scalars, numbers = self._key(structure, leaves)
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
                    if not kwargs and entry.quick is not MISS:
                        self._specialise(entry, structure, leaves, set(numbers))
                    return result
        return self._trace(Call(args, kwargs, structure, leaves, key, scalars, numbers))

    def _forget(self) -> None:
        """Forget the recordings: an array may have other memory than when it was captured."""
        self._exchanged = core.EXCHANGED
        self._fast = ()
        self._entries.clear()

    def _eagerly(self, args: Any, kwargs: Any) -> Any:
        with config(engine="kernels"):
            return self._function(*args, **kwargs)

    def _key(self, structure: Any, leaves: Sequence[Any]) -> tuple[Any, list[Any], list[int]]:
        """The call's key, its changing Python scalars, and their positions among the leaves."""
        parts: list[Any] = []
        scalars: list[Any] = []
        numbers: list[int] = []
        for i, x in enumerate(leaves):
            if isinstance(x, ArrayCore):
                d = x._d
                node = x._n
                mark = None if node is None else type(node)
                memory = d.flags.writeable if type(d) is np.ndarray else type(d)
                parts.append((d.shape, d.dtype, d.strides, mark, memory, x._v is SCALAR))
                parts.append((_first(leaves, x, i), type(x)))
                continue
            kind = type(x)
            if kind in (float, int) and (structure, i) in self._dynamic_arguments:
                parts.append(kind)
                scalars.append(x)
                numbers.append(i)
            elif kind in SCALARS:
                known = self._seen_arguments.setdefault((structure, i), x)
                if kind in (float, int) and type(known) is kind and not same_scalar(known, x):
                    self._dynamic_arguments.add((structure, i))
                    parts.append(kind)
                    scalars.append(x)
                    numbers.append(i)
                else:
                    parts.append((kind, repr(x) if kind in (float, complex) else x))
            elif isinstance(x, np.generic):
                parts.append((kind, x.dtype, x.tobytes()))
            else:
                parts.append(id(x))
        grad = not modes.NO_GRAD or modes.state.grad
        return (structure, tuple(parts), grad), scalars, numbers

    # --------------------------------------------------------------------------------------- replay
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
            if end is not None and _collide(end, objects):
                return _UNSEEN  # the recording finds the alias and gives the key up
            try:
                program, graph = tree.program(segment)
            except CompileError as error:
                tree.eager = f"no machine code: {error}"
                self._note(tree.eager)
                return _UNSEEN
            try:
                inputs = [
                    registers[x] if kind == "register" else x.evaluate(scalars, registers)
                    for kind, x in graph.inputs
                ]
                for expr in segment.risky:
                    expr.evaluate(scalars, registers)
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
                    function: Any = self._function
                    if isinstance(function, WeakMethod):
                        function = function.method()
                    again = functools.partial(function, *args, **kwargs)
                    context = Context(tree, segment, registers, objects, scalars, again)
                finisher = Finisher(registers, objects, scalars, leaves, guards.containers, context)
                return finisher.commit(end)
            assert segment.query is not None
            try:
                outcome = answer(segment.query, scalars, registers)
            except Exception:
                return _UNSEEN
            child = segment.children.get(outcome_key(outcome))
            if child is None:
                return _UNSEEN
            segment = child

    def _specialise(
        self, entry: Entry, structure: Any, leaves: Sequence[Any], dynamic: set[int]
    ) -> None:
        """Put the entry function of a straight path first among those that a call tries."""
        if entry.quick is None:
            nested = any(part is not None for part in structure[1][0][1])
            grad = not modes.NO_GRAD or modes.state.grad
            made = None
            if not nested:
                made = make_entry(entry.tree, entry.guards, leaves, dynamic, grad, self._function)
            entry.quick = MISS if made is None else made
        if entry.quick is not MISS:
            others = [quick for quick in self._fast if quick is not entry.quick]
            self._fast = (entry.quick, *others[: MAX_QUICK - 1])

    # -------------------------------------------------------------------------------------- tracing
    def _trace(self, call: Call) -> Any:
        if not self._lock.acquire(
            blocking=False
        ):  # another thread records; waiting for it could be for ever
            return self._eagerly(call.args, call.kwargs)
        try:
            if call.key not in self._entries and len(self._entries) >= MAX_KEYS:
                self._note(f"called with more than {MAX_KEYS} different keys")
                return self._eagerly(call.args, call.kwargs)
            for x in call.objects:
                self._keep[id(x)] = x
            entries = self._entries.setdefault(call.key, [])
            entry = None
            for known in entries:
                if known.tree.eager is not None:
                    return self._eagerly(call.args, call.kwargs)
                if known.guards.check(call.scalars, call.leaves) is not None:
                    entry = known
                    break
                self._dynamic_slots.update(known.guards.changed_scalars)
            profile.count("jit_traces")
            return self._record(entries, entry, call)
        finally:
            self._lock.release()

    def _record(self, entries: list[Entry], entry: Entry | None, call: Call) -> Any:
        try:
            if self._unfit is not None:
                raise TraceError(self._unfit)
            snapshot = Snapshot(self._function, call.objects)
            if call.numbers and snapshot.globals & PROBING:
                raise TraceError(
                    "the code uses type() or pow() and is called with changing numbers"
                )
        except TraceError as error:
            entries.insert(0, self._give_up(str(error), Guards.empty()))
            return self._eagerly(call.args, call.kwargs)
        recorder = Recorder(snapshot)
        random_before = global_random_state()
        end = None
        with config(engine="kernels"):
            passed = call.place(recorder)
            changing = self._dynamic_slots if entry is None else entry.guards.changing
            replaced = self._place_proxies(snapshot, recorder, changing)
            if entry is None:
                guards = Guards(snapshot, recorder.host_inputs, self._logs, replaced)
            else:
                guards = entry.guards
            modes.state.recorder = recorder
            try:
                self._bind_arguments(recorder, call.leaves)
                output = self._function(*passed.args, **passed.kwargs)
                reason = recorder.dead
                if reason is None:
                    try:
                        end = recorder.finish(output, call.leaves)
                    except TraceError as error:
                        reason = str(error)
            finally:
                modes.state.recorder = None
                self._restore(replaced, snapshot)
                changed = passed.restore()
                del passed
                replaced.clear()
        if reason is None and changed:
            reason = "a container that was passed in was changed"
        if reason is None and global_random_state() != random_before:
            reason = "global random state was used"
        output = _plain_output(output)
        replace_proxies(recorder.proxies)
        if entry is None:
            entry = Entry(Tree(), guards)
            entries.insert(0, entry)
            del entries[MAX_TREES:]
        if reason is None and end is not None:
            try:
                snapshot.check_random()
                self._take_logs(end, guards, snapshot)
                guards.use(recorder)
                entry.tree.merge(recorder, end)
            except TraceError as error:
                reason = str(error)
        if reason is not None:
            entry.tree.eager = reason
            self._fast = ()
            self._note(reason)
        recorder.close(output)
        return output

    def _take_logs(self, end: Any, guards: Guards, snapshot: Snapshot) -> None:
        """Stop guarding the lists that the call appended to, where the code does nothing else with
        them.
        """
        for store in end.stores:
            if store[0] == "append":
                _, container, name, _ = store
                if not snapshot.appended_only(guards.containers[container]):
                    raise TraceError(f"{name} grew, and the code may read it")
                self._logs.add(container)
                guards.forget_list(container)

    def _bind_arguments(self, recorder: Recorder, leaves: Sequence[Any]) -> None:
        for i, x in enumerate(leaves):
            if isinstance(x, ArrayCore):
                recorder.argument(x, i)

    def _place_proxies(
        self, snapshot: Snapshot, recorder: Recorder, changing: set[Any]
    ) -> list[tuple[Any, Any, HostScalar]]:
        """Put proxies into the state slots whose scalars change from call to call."""
        replaced: list[tuple[Any, Any, HostScalar]] = []
        if snapshot.globals & PROBING:
            return replaced
        for slot in snapshot.slots:
            if slot.place in changing and type(slot.value) in (int, float):
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
            if slot.kind in ("entry", "item", "cell", "attribute"):
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
    """Compile a Python function by recording what it does; the result equals eager/kernels bit for
    bit.

    Plain Python `if`, `while`, `float()`, attribute stores, appended lists, in-place writes and
    `loss.backward()` work. What can't be compiled runs eagerly with the same result; `explain`
    names it.

    Parameters
    ----------
    function : callable
        Any Python function over Arrays, numbers and containers of them.

    Returns
    -------
    callable
        Called like the function. Keyed by exact shapes, dtypes and modes; kernels are shared
        between shapes.

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


def _collide(end: End, objects: dict[int, Any]) -> bool:
    """Whether a written array can't be written or shares memory with another input, or two inputs
    are one leaf.
    """
    for reg, _ in end.writes:
        written = objects[reg]._d
        if not written.flags.writeable:
            return True
        for other, array in objects.items():
            if other == reg:
                continue
            if array._d is written:
                return True
            if array._d.base is not None or written.base is not None:
                if np.may_share_memory(written, array._d):
                    return True
    if end.grads or end.pulls:
        leaves = [id(array._n) for array in objects.values() if array._n is not None]
        return len(set(leaves)) != len(leaves)
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


def _why_unfit(function: Any) -> str | None:
    """Why a kind of function can't be compiled at all, or None."""
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        return "a generator function: its body runs after the call"
    return (
        "a coroutine function: its body runs after the call"
        if inspect.iscoroutinefunction(function)
        else None
    )
