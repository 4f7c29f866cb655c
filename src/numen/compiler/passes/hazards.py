"""The order of the steps: nothing is overwritten before its last reader ran.

Takes groups, their kernels and storages; gives the groups in an order that respects data and
memory, or raises RewriteNeeded with the copy that makes one possible. Next: `schedule.py`.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping

from numen.compiler.passes.build import Kernel
from numen.compiler.passes.fuse import BASE, Fusion, Group
from numen.compiler.passes.layout import disjoint, same_elements
from numen.compiler.passes.prepare import RewriteNeeded
from numen.compiler.passes.storage import Storage
from numen.graph.graph import Value

Edges = dict[Group, set[Group]]


def order_groups(
    fusion: Fusion, kernels: Mapping[Group, Kernel | None], storages: Mapping[int, Storage]
) -> list[Group]:
    """Return the groups in the order in which they run."""
    edges: Edges = {group: set(fusion.consumers(group)) for group in fusion.groups}
    for storage in dict.fromkeys(storages.values()):
        for before, after in zip(storage.versions, storage.versions[1:], strict=False):
            _protect(fusion, kernels, storage, before, after[0], edges)
    _commit_last(fusion, storages, edges)
    return _topological(edges)


def _commit_last(fusion: Fusion, storages: Mapping[int, Storage], edges: Edges) -> None:
    """Let every host call run before an input is written: a call that raises changed nothing."""
    hosts = [group for group in fusion.groups if group.kind == "host"]
    for storage in dict.fromkeys(storages.values()):
        if storage.kind != "input":
            continue
        for after in storage.versions[1:]:
            writer = fusion.owner[after[0].index]
            for host in hosts:
                if host is writer:
                    continue
                if _reaches(edges, writer, host):
                    raise _conflict(storage, after[0])
                edges[host].add(writer)


def _protect(
    fusion: Fusion,
    kernels: Mapping[Group, Kernel | None],
    storage: Storage,
    before: list[Value],
    after: Value,
    edges: Edges,
) -> None:
    """Let every reader of a version run before the step that overwrites it."""
    writer = fusion.owner[after.index]
    for value in before:
        for use in fusion.uses[value.index]:
            if use.moves == (BASE,) and use.group is writer:
                continue
            if use.group is not writer:
                if _reaches(edges, writer, use.group):
                    raise _conflict(storage, after)
                edges[use.group].add(writer)
    kernel = kernels[writer]
    if kernel is not None and not _is_safe(kernel, before, after):
        if after.op == "setitem":
            raise RewriteNeeded("barrier", after, 1)
        raise _conflict(storage, after)


def _conflict(storage: Storage, after: Value) -> RewriteNeeded:
    if storage.kind == "input":
        return RewriteNeeded("commit", ("write", storage.number))
    return RewriteNeeded("copy", after, 0)


def _is_safe(kernel: Kernel, before: list[Value], after: Value) -> bool:
    """Whether the kernel reads the old version only where it writes at that point, or elsewhere."""
    (store,) = (store for store in kernel.stores if store.value is after)
    return all(
        same_elements(load.layout, store.layout)
        or disjoint(load.layout, store.layout, after.dtype.itemsize)
        for load in kernel.loads
        if load.value in before
    )


def _reaches(edges: Edges, start: Group, goal: Group) -> bool:
    seen = {start}
    pending = [start]
    while pending:
        for following in edges[pending.pop()]:
            if following is goal:
                return True
            if following not in seen:
                seen.add(following)
                pending.append(following)
    return False


def _topological(edges: Edges) -> list[Group]:
    """Graph order where possible, but host calls and native steps in runs as long as can be."""
    missing = dict.fromkeys(edges, 0)
    for followers in edges.values():
        for group in followers:
            missing[group] += 1
    ready: dict[bool, list[tuple[int, int, Group]]] = {True: [], False: []}

    def push(group: Group) -> None:
        first = min(root.index for root in group.roots)
        heapq.heappush(ready[group.kind == "host"], (first, id(group), group))

    for group, count in missing.items():
        if not count:
            push(group)
    order: list[Group] = []
    host = False
    while ready[True] or ready[False]:
        if not ready[host]:
            host = not host
        group = heapq.heappop(ready[host])[2]
        order.append(group)
        for following in edges[group]:
            missing[following] -= 1
            if not missing[following]:
                push(following)
    assert len(order) == len(edges)
    return order
