"""The trace tree: segments between queries, merged from traces, replayed by compiled programs.

A Tree belongs to one key of a traced function (`jit.py`). `merge` adds a recorded path or verifies
a known one; `replay` runs segments until a query's outcome is unseen (then the caller records
again: nothing has been committed, because writes and stores happen in the last segment). Next:
`build.py`, `finish.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from numen.compiler import compile_graph
from numen.dispatch.core import ArrayCore
from numen.errors import TraceError
from numen.tracing.build import SegmentGraph, build
from numen.tracing.host import HostExpr
from numen.tracing.notes import CONVERSIONS
from numen.tracing.recorder import Recorder, host_exprs
from numen.tracing.trace import Const, End, External, Host, Instr, Meta, Query, Reg, Result

if TYPE_CHECKING:
    from numen.compiler.program import Program

MAX_OUTCOMES = 4
MAX_SEGMENTS = 256


class Segment:
    """Instructions up to a query or to the end of the path."""

    __slots__ = (
        "children",
        "end",
        "externals",
        "items",
        "metas",
        "needed",
        "outcome",
        "parent",
        "program",
        "pull_programs",
        "query",
        "risky",
        "verified",
    )

    def __init__(self, parent: Segment | None) -> None:
        self.parent = parent
        self.items: list[Instr | External] = []
        self.externals: list[External] = []
        self.query: Query | None = None
        self.end: End | None = None
        self.children: dict[Any, Segment] = {}
        self.metas: dict[Reg, Meta] = {}
        self.risky: list[HostExpr] = []
        self.verified = False
        self.program: tuple[Program, SegmentGraph] | None = None
        self.pull_programs: dict[int, tuple[Program, SegmentGraph]] = {}
        self.needed: frozenset[Reg] = frozenset()

    def defined(self) -> set[Reg]:
        return {i.out for i in self.items if isinstance(i, Instr)}

    def used(self) -> set[Reg]:
        """Registers that this segment reads, its query and its end included."""
        found: set[Reg] = set()
        for item in self.items:
            if isinstance(item, Instr):
                for ref in item.args:
                    if isinstance(ref, Host):
                        found |= ref.expr.registers()
                    elif not isinstance(ref, Const):
                        found.add(ref)
        if self.query is not None:
            subject = self.query.subject
            found |= subject.registers() if isinstance(subject, HostExpr) else {subject}
        if self.end is not None:
            found |= end_registers(self.end)
        return found


def end_registers(end: End) -> set[Reg]:
    """Registers whose values an end returns, stores or writes."""
    found: set[Reg] = set()
    for pull in end.pulls:
        found |= pull.used()
    stack: list[Any] = [end.output, *end.stores, *[d for _, d in end.grads]]
    while stack:
        part = stack.pop()
        if isinstance(part, Result):
            if part.kind == "value" or (part.kind == "view" and part.group >= 0):
                found.add(part.reg)
        elif isinstance(part, HostExpr):
            found |= part.registers()
        elif isinstance(part, tuple):
            stack.extend(part)
    return found


def outcome_key(outcome: Any) -> Any:
    """Outcomes that compare equal but are not the same value (True and 1, 0.0 and -0.0) get
    different keys.
    """
    if type(outcome) is bool:
        return outcome
    return (type(outcome).__name__, repr(outcome))


class Tree:
    """Segments of one key; `eager` says why the key can't be compiled, or is None."""

    def __init__(self) -> None:
        self.root: Segment | None = None
        self.eager: str | None = None
        self.objects: dict[Any, ArrayCore] = {}
        self.segments = 0
        self.replays = 0

    # -------------------------------------------------------------------------------------- merging
    def merge(self, recorder: Recorder, end: End) -> None:
        """Add a recorded path, or verify the part that is known.

        Raises
        ------
        TraceError
            If the recording differs from what an earlier call with the same key and outcomes did.
        """
        parts = _split(recorder, end)
        segment, created = self.root, False
        if segment is None:
            segment = self.root = self._adopt(parts[0], None)
            created = True
        else:
            _verify(segment, parts[0])
        for (key, _), part in zip([p[1] for p in parts[:-1]], parts[1:], strict=True):
            child = segment.children.get(key)
            if child is None:
                if segment.query is not None and len(segment.children) >= MAX_OUTCOMES:
                    raise TraceError(
                        f"a {segment.query.kind} of an array had more than {MAX_OUTCOMES} outcomes"
                    )
                child = self._adopt(part, segment)
                segment.children[key] = child
                created = True
            else:
                _verify(child, part)
            segment = child
        if not created:
            segment.verified = True
        for external, array in recorder.externals.values():
            if external.kind in ("object", "constant"):
                self.objects.setdefault((external.kind, external.key), array)
        node: Segment | None = segment
        while node is not None:
            self._renew(node)
            node = node.parent

    def _adopt(self, part: tuple[Segment, Any], parent: Segment | None) -> Segment:
        segment = part[0]
        segment.parent = parent
        self.segments += 1
        if self.segments > MAX_SEGMENTS:
            raise TraceError(f"the calls take more than {MAX_SEGMENTS} different paths")
        return segment

    def _renew(self, segment: Segment) -> None:
        """Recompute what later segments need from this one; drop its program where that grew."""
        needed: set[Reg] = set()
        if segment.query is not None:
            subject = segment.query.subject
            needed |= subject.registers() if isinstance(subject, HostExpr) else {subject}
        if segment.end is not None:
            needed |= end_registers(segment.end)
        stack = list(segment.children.values())
        while stack:
            child = stack.pop()
            needed |= child.used()
            if child.end is not None:
                needed |= {final for _, final in child.end.writes}
            stack.extend(child.children.values())
        wanted = frozenset(needed & segment.defined())
        if not wanted <= segment.needed or segment.program is None:
            segment.needed = segment.needed | wanted
            segment.program = None

    # ------------------------------------------------------------------------------------ compiling
    def program(self, segment: Segment) -> tuple[Program, SegmentGraph]:
        """The segment's compiled program."""
        ready = segment.program
        if ready is None:
            metas, externals = _known(segment)
            writes = segment.end.writes if segment.end is not None else ()
            graph = build(segment.items, metas, externals, sorted(segment.needed), writes)
            ready = segment.program = (compile_graph(graph.graph, orders=graph.orders), graph)
        return ready

    def pull_program(self, segment: Segment, number: int) -> tuple[Program, SegmentGraph]:
        """The compiled backward pass of one of the path's results."""
        ready = segment.pull_programs.get(number)
        if ready is None:
            assert segment.end is not None
            pull = segment.end.pulls[number]
            metas, externals = _known(segment)
            for item in pull.items:
                if isinstance(item, External):
                    externals.add(item.reg)
                    metas[item.reg] = item.meta
                else:
                    metas[item.out] = item.meta
            outputs = list(dict.fromkeys(cotangent for _, cotangent in pull.pairs))
            graph = build(pull.items, metas, externals, outputs, ())
            ready = (compile_graph(graph.graph, orders=graph.orders), graph)
            segment.pull_programs[number] = ready
        return ready


def _known(segment: Segment) -> tuple[dict[Reg, Meta], set[Reg]]:
    """Descriptions of the registers on the path to a segment, and which of them are externals."""
    metas: dict[Reg, Meta] = {}
    externals: set[Reg] = set()
    node: Segment | None = segment
    while node is not None:
        metas.update(node.metas)
        externals |= {e.reg for e in node.externals}
        node = node.parent
    return metas, externals


def _split(recorder: Recorder, end: End) -> list[tuple[Segment, Any]]:
    """Cut a recording at its queries: (segment, (outcome key, outcome)) parts, the last one with
    the end.
    """
    parts: list[tuple[Segment, Any]] = []
    current = Segment(None)
    for item in recorder.items:
        if isinstance(item, tuple):
            query, outcome = item
            current.query = query
            parts.append((current, (outcome_key(outcome), outcome)))
            current = Segment(None)
        else:
            current.items.append(item)
            if isinstance(item, External):
                current.externals.append(item)
                current.metas[item.reg] = item.meta
            else:
                current.metas[item.out] = item.meta
    current.end = end
    current.risky = [e for e in host_exprs((end.output, end.stores)) if e.may_raise()]
    parts.append((current, None))
    return parts


def _verify(known: Segment, part: tuple[Segment, Any]) -> None:
    """Compare a segment with a new recording of it."""
    new = part[0]
    for a, b in zip(known.items, new.items, strict=False):
        if a != b:
            raise TraceError(f"two calls with the same key differ: {_brief(a)} / {_brief(b)}")
    if len(known.items) != len(new.items):
        raise TraceError("two calls with the same key differ in their number of operations")
    if known.query != new.query:
        raise TraceError("two calls with the same key ask for different values")
    if (known.end is None) != (new.end is None) or (
        known.end is not None and new.end is not None and not known.end.same(new.end)
    ):
        raise TraceError("two calls with the same key return or store different things")


def _brief(item: Instr | External) -> str:
    if isinstance(item, External):
        return f"{item.kind} {item.meta.dtype}{list(item.meta.shape)}"
    return f"{item.name}{item.args}"


def answer(query: Query, scalars: Sequence[Any], registers: Any) -> Any:
    """The outcome of a query on replay."""
    if query.kind == "value":
        return None
    if isinstance(query.subject, HostExpr):
        return query.subject.evaluate(scalars, registers)
    return CONVERSIONS[query.kind](registers[query.subject])
