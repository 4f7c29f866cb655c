"""The recorder: an eager run that notes what it does, and describes how it ended.

`jit.py` installs a Recorder as this thread's mode. Values are real: ops run with the engine
"kernels", so the traced call itself returns what a replay will. `registers.py` and `notes.py` hold
what is noted on the way; `finish` compares the Python state with the snapshot and describes
results, writes, gradients and stores. Next: `tree.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from numen.dispatch import core
from numen.dispatch.backward import backward
from numen.dispatch.core import SCALAR, ArrayCore, Leaf, Node, View
from numen.errors import TraceError
from numen.tracing.host import HostExpr, HostScalar, text_of
from numen.tracing.notes import Notes
from numen.tracing.registers import freeze_path
from numen.tracing.snapshot import MISSING, SCALARS, same_scalar
from numen.tracing.trace import Const, End, External, Instr, Pull, Query, Reg, Result


class Recorder(Notes):
    """Notes one call of a traced function."""

    def close(self, output: Any) -> None:
        """Let go of the arrays the recording met."""
        for array in self._keep:
            if isinstance(array, ArrayCore):
                array._t = None
        self._keep.clear()
        self._roots.clear()
        self._written.clear()
        self._grads.clear()
        self._by_id.clear()

    def finish(self, output: Any, arguments: Sequence[Any]) -> End:
        """Describe what the call returned, wrote and stored."""
        self._record_pulls(output)
        groups: dict[int, int] = {}
        spec = self._describe(output, groups, arguments)
        stores = self._stores(groups, arguments)
        if self.formatted and (_has_text(output) or _stores_text(stores)):
            raise TraceError("the function returns or stores text made from traced values")
        self._check_nodes()
        grads = []
        for leaf in self._grad_order:
            if leaf not in self._grads_written or leaf not in self._external_leaf:
                continue
            value = self._grads[leaf]
            described = None if value is None else self._array(value, groups, fresh=True)
            grads.append((self._leaf_register[leaf], described))
        writes = tuple(
            [(self._by_id[i], int(root._t[1])) for i, (root, _) in self._written.items()]
        )
        if writes:
            self._check_aliases([root for root, _ in self._written.values()])
        if self._pulls and (writes or stores or grads):
            raise TraceError("the result carries a gradient graph and the function changes state")
        for expr in host_exprs((spec, stores)):
            if expr.may_raise():
                self._settle(expr)  # it is evaluated before the last segment changes anything
        return End(spec, writes, tuple(grads), stores, tuple(self._pulls))

    def _record_pulls(self, output: Any) -> None:
        """Record the backward pass of a returned array that still carries a graph."""
        for path, array in _arrays_in(output, ()):
            node = array._n
            if type(node) is not Node or node.args is None or id(array) in self._pull_of:
                continue
            if self._pulls:
                # Their cotangents meet inside the graph: one recorded pass can't say in which
                # order.
                raise TraceError("several results carry a gradient graph")
            self._pull_of[id(array)] = len(self._pulls)
            seed = core.ARRAY(np.ones(array._d.shape, array._d.dtype))
            items: list[Instr | External | tuple[Query, Any]] = []
            self.items = items
            try:
                reg = self.bind(seed, "seed", len(self._pulls))
                leaves = [leaf for leaf in self._leaf_register if leaf in self._external_leaf]
                found = backward([array], [seed], wrt=leaves, retain_graph=True, hooked=False)
            finally:
                self.items = self._forward
            pairs = [
                (self._leaf_register[leaf], self.reg(g))
                for leaf, g in zip(leaves, found, strict=True)
                if g is not None
            ]
            steps = tuple([i for i in items if not isinstance(i, tuple)])
            if len(steps) < len(items):
                raise TraceError("the backward pass of the result asks for values")
            self._pulls.append(Pull(path, reg, steps, tuple(pairs)))
            self._keep.append(array)

    def _check_nodes(self) -> None:
        self.snapshot.check_nodes()
        for e, array in self.externals.values():
            if e.kind != "constant" and array._n is not self.nodes[e.reg]:
                raise TraceError("what an input requires for gradients changed")

    def _check_aliases(self, written: list[ArrayCore]) -> None:
        for w in written:
            for e, a in self.externals.values():
                if e.kind == "constant" or e.reg == self._by_id[id(w)]:
                    continue
                if a._d is w._d or np.may_share_memory(w._d, a._d):
                    raise TraceError("an array that is written shares memory with another input")

    def _describe(self, value: Any, groups: dict[int, int], arguments: Sequence[Any]) -> Any:
        kind = type(value)
        if kind is HostScalar:
            return ("host", value.expr)
        if isinstance(value, ArrayCore):
            return self._array(value, groups)
        if kind in SCALARS:
            return Const(kind.__name__, text_of(value), value)
        if id(value) in self.given:
            raise TraceError("a container that was passed in is returned or stored")
        if self.snapshot.known(value):
            return ("same", _Identity(value))
        if kind in (list, tuple) or (isinstance(value, tuple) and hasattr(value, "_fields")):
            return ("sequence", kind, tuple([self._describe(v, groups, arguments) for v in value]))
        if kind is dict:
            if any([type(k) is HostScalar for k in value]):
                raise TraceError("a changing number is the key of a returned dict")
            return (
                "dict",
                tuple([(k, self._describe(v, groups, arguments)) for k, v in value.items()]),
            )
        for i, a in enumerate(arguments):
            if a is value:
                return ("argument", i)
        if isinstance(value, (np.dtype, type)):
            return ("same", value)
        raise TraceError(f"the function returns a {kind.__name__} made inside it")

    def _array(self, array: ArrayCore, groups: dict[int, int], fresh: bool = False) -> Any:
        freed, pull = False, -1
        if id(array) not in self._by_id:
            slot = self.snapshot.arrays.get(id(array))
            if slot is not None:
                self.bind(array, "slot", slot.place)
            else:
                self.reg(array)
        node = array._n
        if type(node) is Node:
            if node.args is not None:
                if fresh or id(array) not in self._pull_of:
                    raise TraceError("stored state carries a gradient graph")
                pull = self._pull_of[id(array)]
            else:
                freed = True
        elif type(node) is Leaf and id(array) not in self._by_id:
            raise TraceError("the function makes and returns a leaf that requires a gradient")
        known = self._by_id.get(id(array))
        if known is not None and self._is_input(known):
            return Result("external", known)
        memory = array._v
        if id(array) in self._foreign:
            raise TraceError("an Array over the memory of an ndarray is returned or stored")
        if type(memory) is View:
            root = self._root(array)
            if root is not None and id(root) in self._foreign:
                raise TraceError("an Array over the memory of an ndarray is returned or stored")
            if root is None:
                self.reg(array)
                return Result("external", self._by_id[id(array)])
            skip = len(root._v.path) if type(root._v) is View else 0
            path = freeze_path(memory.path[skip:])
            if id(root) in self._by_id and self._is_input(self._by_id[id(root)]):
                reg, group = self._by_id[id(root)], -1
            else:
                reg, group = self.reg(root), groups.setdefault(id(memory.cell), len(groups))
            self._keep.append(array)
            serial = groups.setdefault(id(array), len(groups))
            detached, fixed = memory.detached, group >= 0 and not core.is_writeable(root._d)
            return Result("view", reg, path, False, freed, group, pull, detached, serial, fixed)
        reg = self.reg(array)
        group = -1
        if memory is not None and memory is not SCALAR:
            group = groups.setdefault(id(memory.cell), len(groups))
        else:
            group = groups.setdefault(id(array), len(groups))
            self._keep.append(array)
        scalar = array._v is SCALAR
        read_only = not scalar and not core.is_writeable(array._d)
        return Result("value", reg, (), scalar, freed, group, pull, read_only=read_only)

    def _is_input(self, reg: Reg) -> bool:
        return reg in self.externals and self.externals[reg][0].kind != "constant"

    def _stores(self, groups: dict[int, int], arguments: Sequence[Any]) -> tuple[Any, ...]:
        """Compare the Python state with the snapshot: what the function changed in it."""
        stores: list[Any] = []
        grown: dict[int, str] = {}
        for items, before, name in self.snapshot.lists:
            if len(items) > len(before):
                if any(a is not b for a, b in zip(items, before, strict=False)):
                    raise TraceError(f"{name} was rearranged")
                new = tuple(
                    [self._store_value(v, name, groups, arguments) for v in items[len(before) :]]
                )
                stores.append(("append", id(items), name, new))
                grown[id(items)] = name
            elif len(items) < len(before):
                raise TraceError(f"{name} got shorter")
        for slot in self.snapshot.slots:
            now = slot.get()
            if slot.kind == "length":
                continue
            if slot.kind == "contents":
                if now != slot.value:
                    raise TraceError(f"{slot.name} changed")
                continue
            if slot.kind == "keys":
                before, after = slot.value, now
                if before != after:
                    added = [k for k in after if k not in before]
                    if isinstance(slot.container, dict) and after[: len(before)] == before:
                        for key in added:
                            value = slot.container[key]
                            if type(key) is HostScalar or (self.formatted and type(key) is str):
                                raise TraceError(f"{slot.name}: a key made from traced values")
                            described = self._store_value(
                                value, f"{slot.name}: {key!r}", groups, arguments
                            )
                            stores.append(
                                ("slot", ("entry", id(slot.container), key), slot.name, described)
                            )
                        continue
                    raise TraceError(f"{slot.name} changed")
                continue
            if now is slot.value:
                continue
            if (
                type(now) in SCALARS
                and type(slot.value) in SCALARS
                and same_scalar(now, slot.value)
            ):
                continue
            if (
                type(now) is HostScalar
                and type(slot.value) is HostScalar
                and now.expr == slot.value.expr
            ):
                continue
            if now is MISSING:
                raise TraceError(f"{slot.name} was deleted")
            described = self._store_value(now, slot.name, groups, arguments)
            stores.append(("slot", slot.place, slot.name, described))
        return tuple(stores)

    def _store_value(
        self, value: Any, name: str, groups: dict[int, int], arguments: Sequence[Any]
    ) -> Any:
        if isinstance(value, ArrayCore) or type(value) in (HostScalar, tuple, list, *SCALARS):
            return self._describe(value, groups, arguments)
        for i, a in enumerate(arguments):
            if a is value:
                return ("argument", i)
        if self.snapshot.known(value):
            return ("same", _Identity(value))
        raise TraceError(f"{name} was replaced by a {type(value).__name__}")


class _Identity:
    """An object compared by identity."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return type(other) is _Identity and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def _arrays_in(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], ArrayCore]]:
    """Arrays in nested containers, with the keys that lead to them."""
    if type(value) is HostScalar:
        return
    if isinstance(value, ArrayCore):
        yield path, value
    elif isinstance(value, (list, tuple)):
        for i, v in enumerate(value):
            yield from _arrays_in(v, (*path, i))
    elif isinstance(value, dict):
        for k, v in value.items():
            yield from _arrays_in(v, (*path, k))


def _has_text(value: Any) -> bool:
    if isinstance(value, (str, bytes)):
        return True
    if isinstance(value, (list, tuple)):
        return any(_has_text(v) for v in value)
    if isinstance(value, dict):
        return any(_has_text(v) for v in value.values())
    return False


def _stores_text(stores: Sequence[Any]) -> bool:
    """Whether text is among stored values."""
    stack = [described for *_, described in stores]
    while stack:
        part = stack.pop()
        if isinstance(part, Const):
            if part.kind in ("str", "bytes"):
                return True
        elif type(part) is tuple:
            stack.extend(part)
    return False


def host_exprs(parts: Any) -> list[HostExpr]:
    """The host expressions in described outputs and stores."""
    found, stack = [], [parts]
    while stack:
        part = stack.pop()
        if isinstance(part, HostExpr):
            found.append(part)
        elif type(part) is tuple:
            stack.extend(part)
    return found
