"""Anomaly mode: the first op, forward or backward, that makes NaN or inf of finite numbers raises.

`detect_anomaly` puts a `Watch` into this thread's modes. Ops then take the general path, and
`Primitive.__call__`, NumPy's functions in `namespace/calling.py` and the backward pass show it what
they computed. The error names the op, the user's line, shapes, the first element and parameters.
Next: `dispatch/places.py` for lines.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from numen.dispatch import backends, core, modes, places
from numen.dispatch.backends import module_of
from numen.dispatch.core import ArrayCore, Leaf, Node, View
from numen.dispatch.visitor import Visitor
from numen.errors import AnomalyError, describe

UNCHECKED = frozenset(("empty_like", "view", "getfield", "byteswap"))
"""NumPy's functions whose results are bits that they do not compute."""

SUM = "the sum of several gradients"


class set_detect_anomaly:  # noqa: N801 - PyTorch's name
    """Switch anomaly mode on or off in this thread; also a context manager that switches it back.

    Parameters
    ----------
    mode : bool
        On or off.
    check_nan, check_inf : bool
        What is looked for.
    check_inputs : bool
        Whether NaN (or inf) that an op already gets in its arguments is reported too.

    Examples
    --------
    >>> import numen as nm
    >>> with nm.errstate(all="ignore"), nm.set_detect_anomaly(True, check_inf=False):
    ...     1 / nm.array([1.0, 0.0])
    array([ 1., inf])
    """

    def __init__(
        self,
        mode: bool,
        check_nan: bool = True,
        check_inf: bool = True,
        check_inputs: bool = False,
    ) -> None:
        self._before = modes.state.anomaly
        _set(Watch(check_nan, check_inf, check_inputs) if mode else None)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        _set(self._before)


class detect_anomaly:  # noqa: N801 - PyTorch's name
    """Context manager: the first op that makes NaN or inf of numbers without any raises.

    Ops are checked forward and backward, of every kind: eager, NumPy's functions, and those of
    jitted functions, which run eagerly here. The error names the op and the line of the program
    that called it, also for what goes wrong on the way back. Costs less than the ops themselves;
    outside the block nothing is checked. Also a decorator.

    Parameters
    ----------
    check_nan, check_inf : bool
        What is looked for. An inf that a program puts in by itself (a mask) is not reported, nor is
        what follows from it, except NaN.
    check_inputs : bool
        Whether NaN (or inf) that an op already gets in its arguments is reported too.

    Raises
    ------
    AnomalyError
        With the attributes `op`, `direction` ("forward" or "backward"), `filename`, `lineno`,
        `count` and `index`, the place of the first such element.

    Examples
    --------
    >>> import numen as nm
    >>> x = nm.array([4.0, 0.0], requires_grad=True)
    >>> try:
    ...     with nm.errstate(all="ignore"), nm.detect_anomaly():
    ...         nm.sqrt(x).sum().backward()
    ... except nm.AnomalyError as error:
    ...     print(error.direction, error.op, error.index)
    backward sqrt (1,)
    """

    def __init__(
        self, check_nan: bool = True, check_inf: bool = True, check_inputs: bool = False
    ) -> None:
        self._options = (check_nan, check_inf, check_inputs)
        self._before: list[Any] = []

    def __enter__(self) -> None:
        self._before.append(modes.state.anomaly)
        _set(Watch(*self._options))

    def __exit__(self, *error: object) -> None:
        _set(self._before.pop())

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with detect_anomaly(*self._options):
                return function(*args, **kwargs)

        return wrapped


def _set(watch: Watch | None) -> None:
    state = modes.state
    if state.recorder is not None:
        state.recorder.refuse("anomaly mode is switched inside the traced function")
    if (watch is None) != (state.anomaly is None):
        if watch is None:
            modes.leave_special()
        else:
            modes.enter_special()
    state.anomaly = watch


class Watch:
    """What one thread looks for.

    busy: inside an op or a derivative rule, whose own ops are not looked at.
    """

    def __init__(self, check_nan: bool, check_inf: bool, check_inputs: bool) -> None:
        self.check_nan = check_nan
        self.check_inf = check_inf
        self.check_inputs = check_inputs
        self.busy = False

    # ------------------------------------------------------------ forward
    def apply(self, prim: Any, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """Run an op and look at its result."""
        self.busy = True
        try:
            result = prim(*args, **params)
        finally:
            self.busy = False
        if not isinstance(result, ArrayCore):
            return result
        if not prim.view and not self.passes(result._d):
            self._blame_forward(prim.name, result._d, args, params)
        return result

    def look(self, name: str, result: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        """Look at what a function of NumPy's returned."""
        if self.busy or name in UNCHECKED or not any(map(_is_array, (*args, *kwargs.values()))):
            return
        for part in result if isinstance(result, (tuple, list)) else (result,):
            if isinstance(part, ArrayCore) and not self.passes(part._d):
                given = {k: v for k, v in kwargs.items() if k != "out"}
                self._blame_forward(name, part._d, args, given)

    def look_before(self, target: Any, args: Sequence[Any]) -> tuple[bool, bool]:
        """Whether there is NaN, and inf, in what an op is to overwrite though it reads it."""
        if not any([a is target for a in args]) or _is_finite(target._d):
            return False, False
        return _came(target)

    def look_at_written(
        self, name: str, target: Any, args: Sequence[Any], came: tuple[bool, bool]
    ) -> None:
        """Look at an array that an op has written in place; came: from `look_before`."""
        if not self.busy and not self.passes(target._d):
            others = _came([a for a in args if a is not target])
            came = (came[0] or others[0], came[1] or others[1])
            self._blame_forward(name, target._d, args, {}, came)

    def _blame_forward(
        self,
        name: str,
        data: Any,
        args: Sequence[Any],
        params: dict[str, Any],
        came: tuple[bool, bool] | None = None,
    ) -> None:
        came = _came((args, params)) if came is None else came
        found = self.found(data, came)
        if found is not None:
            text = f"forward {name}: {_counted(found, 'the result', came)}"
            arguments = _arrays((args, params))
            raise _error(name, "forward", text, places.here(), found, arguments)

    # ------------------------------------------------------------ backward
    def visits(self, inner: Visitor | None, seeds: Iterable[Any]) -> Any:
        """What looks at the gradients of one backward pass, and runs the hooks of `inner`."""
        return _Visits(self, inner, all([self.passes(core.unwrap(g)) for g in seeds]))

    # ------------------------------------------------------------ numbers
    def passes(self, data: Any) -> bool:
        """Whether an array surely has nothing to report; the cheapest test that never errs so."""
        return _is_finite(data) or not any([self._shows(part) for part, _ in _parts(data)])

    def _shows(self, data: Any) -> bool:
        """Whether an array has what is looked for."""
        return (self.check_nan and _has(data, "isnan")) or (self.check_inf and _has(data, "isinf"))

    def found(self, data: Any, came: tuple[bool, bool]) -> Found | None:
        """What there is to report in a result; came: whether NaN and inf were in the arguments."""
        for part, tangent in _parts(data):
            nan = self.check_nan and _has(part, "isnan")
            inf = self.check_inf and _has(part, "isinf")
            if not self.check_inputs:
                nan = nan and not came[0]
                inf = inf and not any(came)
            if nan or inf:
                return Found(part, tangent)
        return None


class _Visits:
    """Looks at each gradient of a backward pass, as `Visitor` runs hooks.

    clean: whether all that went around so far was finite, or at least reported.
    """

    def __init__(self, watch: Watch, inner: Visitor | None, clean: bool) -> None:
        self._watch = watch
        self._inner = inner
        self._clean = clean

    def arrived(self, node: Any, g: Any) -> Any:
        given = g
        if self._inner is not None:
            g = self._inner.arrived(node, g)
        if self._clean and (g is not given or type(node) is Leaf):
            self._look(node, g, "a hook's result" if g is not given else SUM)
        return g

    def pulled(self, node: Any, g: Any, pull: Callable[[Any], Sequence[Any]]) -> Sequence[Any]:
        watch = self._watch

        def watched(g: Any) -> Sequence[Any]:
            saved = (node.args, node.out)
            before, watch.busy = watch.busy, True
            try:
                found = pull(g)
            finally:
                watch.busy = before
            for number, c in enumerate(found):
                if c is not None and not watch.passes(core.unwrap(c)):
                    self._blame(node, g, number, core.unwrap(c), saved)
            return found

        return watched(g) if self._inner is None else self._inner.pulled(node, g, watched)

    def accumulated(self, leaf: Any) -> None:
        if self._inner is not None:
            self._inner.accumulated(leaf)

    def _blame(self, node: Any, g: Any, number: int, data: Any, saved: Any) -> None:
        came = _came((core.unwrap(g), saved))
        found = self._watch.found(data, came)
        if found is None:
            if self._clean:  # then it came with g, whose parts all passed, or was saved
                self._look(node, g, SUM)
            self._clean = False
            return
        text = f"backward of {node.name()}: {_counted(found, 'a gradient', came)}"
        arguments = [*_arrays(saved), node.parents[number]]
        raise _error(node.name(), "backward", text, places.place_of(node), found, arguments)

    def _look(self, node: Any, g: Any, what: str) -> None:
        """At a gradient that is complete: its parts were looked at, the whole was not."""
        found = self._watch.found(core.unwrap(g), (False, False))
        if found is None:
            return
        text = f"backward, before {node.name()}: {_counted(found, what)}"
        raise _error(node.name(), "backward", text, places.place_of(node), found, [node])


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


def _counted(found: Found, what: str, came: tuple[bool, bool] = (False, False)) -> str:
    counts = [f"{n} {kind}" for n, kind in ((found.nan, "NaN"), (found.inf, "inf")) if n]
    what = f"the tangent of {what}" if found.tangent else what
    elements = "element" if found.size == 1 else f"{found.size} elements"
    text = f"{' and '.join(counts)} among the {elements} of {what}, a {describe(found.data)}"
    if found.index:
        text += f", the first at index {found.index}"
    if any(came):
        text += f"; {'NaN' if came[0] else 'inf'} was among the arguments"
    return text


def _error(
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


def _is_finite(data: Any) -> bool:
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


def _parts(data: Any, tangent: bool = False) -> Iterator[tuple[Any, bool]]:
    """The memory of a raw value, and whether it holds tangents: of a Frame all that is below it."""
    if type(data) is not backends.FRAME:
        yield data, tangent
        return
    yield from _parts(data.value._d, tangent)
    if data.tangent is not None:
        yield from _parts(data.tangent._d, True)


def _has(data: Any, test: str) -> bool:
    """Whether `isnan` or `isinf` is true anywhere."""
    if not core.is_differentiable(data.dtype):
        return False
    return bool(getattr(module_of(data), test)(data).any())


def _came(given: Any) -> tuple[bool, bool]:
    """Whether there is NaN, and inf, among arguments."""
    nan = inf = False
    for value in _values(given):
        if isinstance(value, (float, complex)):
            parts = (value.real, value.imag)
            nan = nan or any(map(math.isnan, parts))
            inf = inf or any(map(math.isinf, parts))
        else:
            nan = nan or _has(value, "isnan")
            inf = inf or _has(value, "isinf")
    return nan, inf


def _values(given: Any) -> Iterator[Any]:
    """The arrays and floating numbers in arguments."""
    if isinstance(given, ArrayCore):
        yield from [part for part, _ in _parts(given._d)]
    elif type(given) is backends.FRAME:
        yield from [part for part, _ in _parts(given)]
    elif isinstance(given, (list, tuple)):
        for v in given:
            yield from _values(v)
    elif isinstance(given, dict):
        for v in given.values():
            yield from _values(v)
    elif isinstance(given, (float, complex, np.ndarray, np.generic)):
        yield given


def _arrays(given: Any) -> list[Any]:
    """The Arrays in arguments."""
    if isinstance(given, ArrayCore):
        return [given]
    if isinstance(given, dict):
        given = tuple(given.values())
    return [a for v in given for a in _arrays(v)] if isinstance(given, (list, tuple)) else []


def _is_array(value: Any) -> bool:
    return bool(_arrays(value))


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
