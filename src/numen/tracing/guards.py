"""Guards: is the Python state still the one a tree was recorded with?

Made from a Snapshot; `check` runs on every call. Identity first; an array slot accepts another
array of the same description, a slot whose scalar is an input accepts any number of its type.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from numen.dispatch.core import ArrayCore, Leaf, View
from numen.tracing.recorder import Recorder
from numen.tracing.registers import meta_of
from numen.tracing.snapshot import MISSING, SCALARS, Slot, Snapshot, same_scalar
from numen.tracing.trace import Meta

Bound = tuple[list[Any], dict[Any, ArrayCore]]


class Guards:
    """The slots of a tree's snapshot with what each must hold.

    changed_scalars: places where the last failed `check` found another number of the same type.
    """

    def __init__(
        self,
        snapshot: Snapshot | None,
        host_inputs: Sequence[tuple[str, Any]],
        logs: set[int],
        replaced: Sequence[tuple[Slot, Any, Any]],
    ) -> None:
        self.containers: dict[int, Any] = {}
        self.changed_scalars: list[Any] = []
        self.inputs = list(host_inputs)
        self._slots: list[Slot] = []
        self._used: set[Any] = set()
        self._arrays: dict[Any, Slot] = {}
        self._grads: dict[tuple[str, Any], Meta | None] = {}
        self._objects: dict[Any, ArrayCore] = {}
        self._shared: set[Any] = set()
        self._nodes: list[tuple[Slot, type]] = []
        self._views: set[Any] = set()
        self._doubles = 0
        self._arguments: dict[int, list[Slot]] = {}
        dynamic = {slot.place for slot, _, _ in replaced}
        self._dynamic: list[Slot] = [slot for slot, _, _ in replaced]
        if snapshot is None:
            return
        for slot in snapshot.slots:
            self.containers[id(slot.container)] = slot.container
            if isinstance(slot.value, ArrayCore):
                self._arrays[slot.place] = slot
            if slot.place in dynamic or (
                slot.kind in ("item", "length") and id(slot.container) in logs
            ):
                continue
            self._slots.append(slot)
        for slot in snapshot.arrays.values():
            self._arrays.setdefault(slot.place, slot)
        for places in snapshot.places.values():
            if len(places) > 1:
                self._shared.update(places)
        before = {id(array): type(node) for array, node, _ in snapshot.nodes}
        self._nodes = [(slot, before[id(slot.value)]) for slot in self._arrays.values()]
        self._doubles = len(self._nodes) - len({id(slot.value) for slot, _ in self._nodes})
        self._views = {slot.place for slot, _ in self._nodes if type(slot.value._v) is View}

    @classmethod
    def empty(cls) -> Guards:
        """Guards that always hold."""
        return cls(None, (), set(), ())

    def use(self, recorder: Recorder) -> None:
        """Note which array slots the recorded path reads."""
        for external, _ in recorder.externals.values():
            if external.kind == "slot":
                self._used.add(external.key)
        self._shared |= recorder.fixed
        for external, array in recorder.externals.values():
            if external.kind == "arg":
                known = recorder.snapshot.arrays.get(id(array))
                held = (
                    []
                    if known is None
                    else [s for s in recorder.snapshot.slots if s.value is array]
                )
                self._arguments[external.key] = held or ([] if known is None else [known])
        for register, meta in recorder.grad_states:
            external, array = recorder.externals[register]
            if external.kind == "object":
                self._objects[external.key] = array
            self._grads[(external.kind, external.key)] = meta

    def forget_list(self, container: int) -> None:
        """Stop guarding a list that the function only appends to."""
        self._slots = [
            s
            for s in self._slots
            if not (id(s.container) == container and s.kind in ("item", "length"))
        ]
        self._nodes = [(s, kind) for s, kind in self._nodes if id(s.container) != container]
        self._doubles = len(self._nodes) - len({id(s.value) for s, _ in self._nodes})

    @property
    def changing(self) -> set[Any]:
        """Places whose numbers are inputs."""
        return {slot.place for slot in self._dynamic}

    def array(self, place: Any) -> Any:
        """The array an unchanged slot holds."""
        slot = self._arrays[place]
        value = slot.get()
        return value if isinstance(value, ArrayCore) else None

    def check(self, scalars: list[Any], leaves: Sequence[Any]) -> Bound | None:
        """The call's scalar inputs and the arrays of slots that changed, or None if the state does
        not fit.
        """
        changed: dict[Any, ArrayCore] = {}
        moved = False
        for slot in self._slots:
            now = slot.get()
            before = slot.value
            if now is before:
                continue
            kind = type(now)
            if slot.kind in ("length", "keys", "contents"):
                if now == before:
                    continue
                return None
            if kind in SCALARS:
                if same_scalar(now, before):
                    continue
                if kind is type(before) and kind in (int, float):
                    self.changed_scalars = [slot.place]
                return None
            if isinstance(now, ArrayCore) and isinstance(before, ArrayCore):
                if slot.place in self._shared or meta_of(now) != meta_of(before):
                    return None
                if (type(now._v) is View) != (slot.place in self._views):
                    return None
                moved = True
                if slot.place in self._used:
                    changed[slot.place] = now
                continue
            return None
        seen: dict[int, ArrayCore] = {}
        for slot, wanted in self._nodes:
            now = slot.get()
            if not isinstance(now, ArrayCore) or type(now._n) is not wanted:
                return None
            seen[id(now)] = now
        if moved and self._alias_changed(seen):
            return None
        if not self._arguments_fit(leaves, changed):
            return None
        for (place_kind, key), meta in self._grads.items():
            array = leaves[key] if place_kind == "arg" else self._objects.get(key)
            if array is None:
                array = changed.get(key)
            if array is None:
                array = self.array(key)
            node = array._n if array is not None else None
            grad = node.grad if type(node) is Leaf else None
            if (grad is None) != (meta is None) or (
                meta is not None and grad is not None and meta_of(grad) != meta
            ):
                return None
        values: list[Any] = []
        given = iter(scalars)
        dynamic = iter(self._dynamic)
        for kind_of_input, _ in self.inputs:
            if kind_of_input == "argument":
                values.append(next(given))
            else:
                slot = next(dynamic)
                value = slot.get()
                if value is MISSING or type(value) is not type(slot.value):
                    return None
                values.append(value)
        return values, changed

    def _arguments_fit(self, leaves: Sequence[Any], changed: dict[Any, ArrayCore]) -> bool:
        """Whether the arguments that were also captured arrays still are, and no others."""
        used: set[int] | None = None
        for i, held in self._arguments.items():
            if held:
                if any(slot.get() is not leaves[i] for slot in held):
                    return False
                continue
            if used is None:
                used = {id(changed[p] if p in changed else self.array(p)) for p in self._used}
            if id(leaves[i]) in used:
                return False
        return True

    def _alias_changed(self, now: dict[int, ArrayCore]) -> bool:
        """Whether an array that came into a place is in another place too."""
        return len(now) < len(self._nodes) - self._doubles

    def array_name(self, w: Any, place: Any) -> str:
        """In a generated entry: the array that a used slot holds; its identity was checked."""
        return str(w.name("A", self._arrays[place].value))

    def write_checks(self, w: Any, given: list[str]) -> bool:
        """Write this state's checks, by identity, into a generated entry; append its scalar inputs
        to `given`.

        Returns False where only `check` itself can decide.
        """
        entries: list[Any] = []
        for slot in self._slots:
            value = slot.value
            if slot.kind == "entry":
                entries.append((slot.container.get, slot.key, value))
            elif slot.kind == "attribute":
                owner = slot.container
                get = (
                    vars(owner).get
                    if isinstance(owner, type)
                    else functools.partial(getattr, owner)
                )
                entries.append((get, slot.key, value))
            elif slot.kind == "cell":
                w.unless(f"{w.name('c', slot.container)}.cell_contents is {w.name('v', value)}")
            elif slot.kind == "item":
                w.unless(f"{w.name('l', slot.container)}[{slot.key}] is {w.name('v', value)}")
            elif slot.kind == "length" or isinstance(slot.container, dict):
                n = value if slot.kind == "length" else len(value)
                w.lines.append(f"if len({w.name('l', slot.container)}) != {n}: return MISS")
            else:
                return False
        if entries:
            table = w.name("R", tuple(entries))
            w.scope["MISSING"] = MISSING
            w.lines.append(f"for get, key, value in {table}:")
            w.lines.append("    if get(key, MISSING) is not value: return MISS")
        if self._nodes:
            kinds = w.name("N", tuple([(slot.value, kind) for slot, kind in self._nodes]))
            w.lines.append(f"for array, kind in {kinds}:")
            w.lines.append("    if type(array._n) is not kind: return MISS")
        arrays = ""
        if self._used:
            arrays = w.name("I", frozenset([id(self._arrays[p].value) for p in self._used]))
        for i, held in self._arguments.items():
            for slot in held:
                w.unless(f"a{i} is {w.name('A', slot.value)}")
            if not held and arrays:
                w.unless(f"id(a{i}) not in {arrays}")
        number = 0
        for kind, _ in self.inputs:
            if kind == "argument":
                continue
            slot = self._dynamic[number]
            name = f"s{number}"
            number += 1
            holder = w.name("h", slot.container)
            if slot.kind == "entry":
                w.lines.append(f"{name} = {holder}.get({w.name('k', slot.key)})")
            elif slot.kind == "item":
                w.lines.append(f"{name} = {holder}[{slot.key}]")
            elif slot.kind == "attribute":
                w.lines.append(f"{name} = {w.name('g', slot.get)}()")
            else:
                w.lines.append(f"{name} = {holder}.cell_contents")
            w.unless(f"type({name}) is {type(slot.value).__name__}")
            given.append(name)
        for (kind, key), meta in self._grads.items():
            if kind == "arg":
                leaf = f"a{key}._n"
            elif kind == "object":
                leaf = f"{w.name('o', self._objects[key])}._n"
            else:
                leaf = f"{self.array_name(w, key)}._n"
            w.unless(f"type({leaf}) is {w.name('L', Leaf)}")
            if meta is None:
                w.unless(f"{leaf}.grad is None")
            else:
                w.scope["meta_of"] = meta_of
                w.unless(f"{leaf}.grad is not None and meta_of({leaf}.grad) == {w.name('m', meta)}")
        return True
