"""After a trace: puts plain numbers where the traced function left proxies in objects it made or
returned.

Called by `jit.py` with the proxies of a recording. Places known to the snapshot are restored there
already; this looks for the rest through the garbage collector, which is slow and rare.
"""

from __future__ import annotations

import gc
import types
from typing import Any

from numen.tracing.host import HostScalar
from numen.tracing.snapshot import slot_names
from numen.tracing.watch import dict_of

DEEPEST = 8
"""Nested tuples that are made anew around a number."""


def replace_proxies(proxies: list[Any]) -> None:
    """Replace every living proxy by its number wherever something still holds it."""
    for reference in proxies:
        proxy = reference()
        if proxy is not None:
            _replace(proxy, proxy.value, 0)


def _replace(old: Any, new: Any, depth: int) -> None:
    for holder in gc.get_referrers(old):
        kind = type(holder)
        if isinstance(holder, dict):
            _replace_in_dict(holder, old, new)
        elif isinstance(holder, list):
            for i, item in enumerate(holder):
                if item is old:
                    holder[i] = new
        elif isinstance(holder, set):
            holder.discard(old)
            holder.add(new)
        elif kind is types.CellType:
            holder.cell_contents = new
        elif isinstance(holder, (tuple, frozenset)) and depth < DEEPEST:
            parts = _with(list(holder), old, new)
            made = kind._make(parts) if hasattr(kind, "_make") else kind(parts)
            _replace(holder, made, depth + 1)
        elif kind is not HostScalar and not isinstance(holder, types.FrameType):
            _replace_attributes(holder, old, new)


def _with(items: list[Any], old: Any, new: Any) -> list[Any]:
    """The list with `old` replaced. A loop: a comprehension would keep `old` in a cell, which the
    search for its holders would find and overwrite.
    """
    for i, item in enumerate(items):
        if item is old:
            items[i] = new
    return items


def _replace_in_dict(holder: dict[Any, Any], old: Any, new: Any) -> None:
    keys = list(holder)
    changed = _with(list(keys), old, new)
    for before, after in zip(keys, changed, strict=True):
        if before is not after:
            values = _with(list(holder.values()), old, new)
            holder.clear()
            holder.update(zip(changed, values, strict=True))
            return
    for key, value in holder.items():
        if value is old:
            holder[key] = new


def _replace_attributes(holder: Any, old: Any, new: Any) -> None:
    attributes = dict_of(holder)
    if type(attributes) is dict:
        _replace_in_dict(attributes, old, new)
    for name in slot_names(type(holder)):
        if getattr(holder, name, None) is old:
            object.__setattr__(holder, name, new)
