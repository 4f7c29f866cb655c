"""Joining kernels side by side: groups over the same points that share an operand become one.

So the three updates of an Adam step read the gradient once. Only where no third step lies between
the two, and where one reads the other's result point by point. Called by `schedule.py` after
`fuse.py`. Next: `build.py`.
"""

from __future__ import annotations

from numen.compiler.passes.fuse import GROUP_OPERANDS, GROUP_WEIGHT, Fusion, Group, Use

CANDIDATES = 8
"""How many of the latest groups over the same points are tried."""


def merge(fusion: Fusion) -> None:
    """Join groups in place."""
    reads = group_reads(fusion)
    latest: dict[object, list[Group]] = {}
    for group in list(fusion.groups):
        if group.kind != "nest" or group.closed:
            continue
        rivals = latest.setdefault((group.space, group.reduced), [])
        for other in reversed(rivals[-CANDIDATES:]):
            if _joinable(fusion, reads, other, group):
                _join(fusion, reads, other, group)
                break
        else:
            rivals.append(group)


def group_reads(fusion: Fusion) -> dict[Group, set[int]]:
    """The inputs and stored values that each group reads."""
    reads: dict[Group, set[int]] = {group: set() for group in fusion.groups}
    for value in fusion.graph.values:
        is_input = value.op == "input" and value.param("kind") == "array"
        if is_input or value.index in fusion.owner:
            for use in fusion.uses[value.index]:
                if value.index not in fusion.owner or fusion.owner[value.index] is not use.group:
                    reads[use.group].add(value.index)
    return reads


def _joinable(fusion: Fusion, reads: dict[Group, set[int]], a: Group, b: Group) -> bool:
    results = {root.index for root in (*a.roots, *b.roots)}
    shared = {
        index
        for index in (reads[a] & reads[b]) | ((reads[a] | reads[b]) & results)
        if fusion.graph.values[index].type.rank
    }
    if not shared and a.space:
        return False
    operands = len(reads[a] | reads[b]) + len(a.roots) + len(b.roots)
    if operands > GROUP_OPERANDS or a.weight + b.weight > GROUP_WEIGHT:
        return False
    for first, second in ((a, b), (b, a)):
        for root in first.roots:
            uses = [use for use in fusion.uses[root.index] if use.group is second]
            if any(not use.direct for use in uses):
                return False
        others = {consumer for consumer in fusion.consumers(first) if consumer is not second}
        if any(fusion.reaches(other, {second}) for other in others):
            return False
    return True


def _join(fusion: Fusion, reads: dict[Group, set[int]], kept: Group, gone: Group) -> None:
    kept.roots += gone.roots
    kept.reductions += gone.reductions
    kept.weight += gone.weight
    reads[kept] |= reads.pop(gone)
    for root in gone.roots:
        fusion.owner[root.index] = kept
    for position, uses in enumerate(fusion.uses):
        if any(use.group is gone for use in uses):
            moved = [Use(kept, u.inside, u.moves, u.direct) if u.group is gone else u for u in uses]
            fusion.uses[position] = list(dict.fromkeys(moved))
    fusion.groups.remove(gone)
