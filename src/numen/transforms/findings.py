"""What anomaly mode found: which numbers are NaN or inf, and the error that names them.

`anomaly.py` asks; `AnomalyError` is the answer, with the op, the user's line, shapes and the names
of parameters.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from numen.dispatch import backends, core, places
from numen.dispatch.backends import module_of
from numen.dispatch.convert import arrays_in
from numen.dispatch.core import ArrayCore, Node, View
from numen.errors import AnomalyError, describe


class Found:
    """How many NaN and infinities an array has, and where the first is."""

    def __init__(self, data: Any, tangent: bool) -> None:
        self.data = data
        self.tangent = tangent
        module = module_of(data)
        nan, inf = module.isnan(data), module.isinf(data)
        bad = nan | inf
        self.nan = int(nan.sum())
        self.inf = int(inf.sum())
        position = int(bad.reshape(-1).argmax()) if data.ndim else 0
        self.index = tuple([int(i) for i in np.unravel_index(position, data.shape)])
        self.size = int(data.size)


def counted(found: Found, what: str, came: tuple[bool, bool] = (False, False)) -> str:
    counts = [f"{n} {kind}" for n, kind in ((found.nan, "NaN"), (found.inf, "inf")) if n]
    what = f"the tangent of {what}" if found.tangent else what
    elements = "element" if found.size == 1 else f"{found.size} elements"
    text = f"{' and '.join(counts)} among the {elements} of {what}, a {describe(found.data)}"
    if found.index:
        text += f", the first at index {found.index}"
    if any(came):
        text += f"; {'NaN' if came[0] else 'inf'} was among the arguments"
    return text


def error_for(
    op: str,
    direction: str,
    text: str,
    place: places.Place | None,
    found: Found,
    arguments: Sequence[Any],
) -> AnomalyError:
    lines = [text, f"  called in {places.describe_place(place)}"]
    names = _parameter_names()
    for x in arguments:
        name = _name_of(x, names)
        if isinstance(x, ArrayCore):
            lines.append(f"  argument: {describe(x)}{name}")
        elif name:
            lines.append(f"  gradient of: {describe(x)}{name}")
    error = AnomalyError("\n".join(lines))
    error.op, error.direction = op, direction
    error.count, error.index = found.nan + found.inf, found.index
    if place is not None:
        error.filename, error.lineno = place[0].co_filename, places.line_of(place)
    return error


# ------------------------------------------------------------ numbers


def is_finite(data: Any) -> bool:
    """Whether all numbers are finite; False may also mean that a sum of squares overflowed."""
    if isinstance(data, (float, complex)):
        return math.isfinite(data.real) and math.isfinite(data.imag)
    if type(data) is not np.ndarray:
        if isinstance(data, np.generic):
            data = np.asarray(data)
        else:
            return False  # another device: its own functions tell
    kind = data.dtype.kind
    if kind in "biu":
        return True
    if data.dtype.char in "fdFD" and (data.flags.c_contiguous or data.flags.f_contiguous):
        flat = data.ravel("K")
        return math.isfinite(np.vdot(flat, flat).real)
    return False


def parts_of(data: Any, tangent: bool = False) -> Iterator[tuple[Any, bool]]:
    """The memory of a raw value, and whether it holds tangents: of a Frame all that is below it."""
    if type(data) is not backends.FRAME:
        yield data, tangent
        return
    yield from parts_of(data.value._d, tangent)
    if data.tangent is not None:
        yield from parts_of(data.tangent._d, True)


def has(data: Any, test: str) -> bool:
    """Whether `isnan` or `isinf` is true anywhere."""
    if not core.is_differentiable(data.dtype):
        return False
    return bool(getattr(module_of(data), test)(data).any())


def came_with(given: Any) -> tuple[bool, bool]:
    """Whether there is NaN, and inf, among arguments."""
    nan = inf = False
    for value in _values(given):
        if isinstance(value, (float, complex)):
            parts = (value.real, value.imag)
            nan = nan or any(map(math.isnan, parts))
            inf = inf or any(map(math.isinf, parts))
        else:
            nan = nan or has(value, "isnan")
            inf = inf or has(value, "isinf")
    return nan, inf


def _values(given: Any) -> Iterator[Any]:
    """The arrays and floating numbers in arguments."""
    if isinstance(given, ArrayCore):
        yield from [part for part, _ in parts_of(given._d)]
    elif type(given) is backends.FRAME:
        yield from [part for part, _ in parts_of(given)]
    elif isinstance(given, (list, tuple)):
        for v in given:
            yield from _values(v)
    elif isinstance(given, dict):
        for v in given.values():
            yield from _values(v)
    elif isinstance(given, (float, complex, np.ndarray, np.generic)):
        yield given


def is_array(value: Any) -> bool:
    return bool(arrays_in(value))


# ------------------------------------------------------------ parameters


def _parameter_names() -> dict[int, str]:
    """Names of the parameters (by array and by leaf) of all modules that running functions see."""
    module = getattr(sys.modules.get("numen.nn.module"), "Module", None)
    names: dict[int, str] = {}
    if module is None:
        return names
    seen: set[int] = set()
    frame = sys._getframe(1)
    while frame is not None:
        for value in (*frame.f_locals.values(), *frame.f_globals.values()):
            if isinstance(value, module) and id(value) not in seen:
                seen.add(id(value))
                for path, p in value.named_parameters():
                    name = f"parameter {path!r} of {type(value).__name__}"
                    for key in (id(p), id(p._n)):
                        if len(name) > len(names.get(key, "")):
                            names[key] = name
        frame = frame.f_back  # type: ignore[assignment]
    return names


def _name_of(x: Any, names: dict[int, str]) -> str:
    """A comma and the name of a parameter, also for a view or the node of one; else nothing."""
    while True:
        if isinstance(x, ArrayCore):
            name = names.get(id(x))
            if name is None and type(x._v) is View:
                name = names.get(id(x._v.base))
            return f", {name}" if name else ""
        if type(x) is Node and x.prim.view and x.parents:
            x = x.parents[0]
            continue
        name = names.get(id(x)) if x is not None else None
        return f", {name}" if name else ""
