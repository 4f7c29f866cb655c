"""Anomaly mode: the first op, forward or backward, that makes NaN or inf of finite numbers raises.

`detect_anomaly` puts a `Watch` into this thread's modes. Ops then take the general path, and
`Primitive.__call__`, NumPy's functions in `namespace/calling.py` and the backward pass show it what
they computed. The error names the op, the user's line, shapes, the first element and parameters.
Next: `findings.py`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from numen.dispatch import core, modes, places
from numen.dispatch.convert import arrays_in
from numen.dispatch.core import ArrayCore, Leaf
from numen.dispatch.visitor import Visitor
from numen.transforms.findings import (
    Found,
    came_with,
    counted,
    error_for,
    has,
    is_array,
    is_finite,
    parts_of,
)

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
        if self.busy or name in UNCHECKED or not any(map(is_array, (*args, *kwargs.values()))):
            return
        for part in result if isinstance(result, (tuple, list)) else (result,):
            if isinstance(part, ArrayCore) and not self.passes(part._d):
                given = {k: v for k, v in kwargs.items() if k != "out"}
                self._blame_forward(name, part._d, args, given)

    def look_before(self, target: Any, args: Sequence[Any]) -> tuple[bool, bool]:
        """Whether there is NaN, and inf, in what an op is to overwrite though it reads it."""
        if not any([a is target for a in args]) or is_finite(target._d):
            return False, False
        return came_with(target)

    def look_at_written(
        self, name: str, target: Any, args: Sequence[Any], came: tuple[bool, bool]
    ) -> None:
        """Look at an array that an op has written in place; came: from `look_before`."""
        if not self.busy and not self.passes(target._d):
            others = came_with([a for a in args if a is not target])
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
        came = came_with((args, params)) if came is None else came
        found = self.found(data, came)
        if found is not None:
            text = f"forward {name}: {counted(found, 'the result', came)}"
            arguments = arrays_in((args, params))
            raise error_for(name, "forward", text, places.here(), found, arguments)

    # ------------------------------------------------------------ backward
    def visits(self, inner: Visitor | None, seeds: Iterable[Any]) -> Any:
        """What looks at the gradients of one backward pass, and runs the hooks of `inner`."""
        return _Visits(self, inner, all([self.passes(core.unwrap(g)) for g in seeds]))

    # ------------------------------------------------------------ numbers
    def passes(self, data: Any) -> bool:
        """Whether an array surely has nothing to report; the cheapest test that never errs so."""
        return is_finite(data) or not any([self._shows(part) for part, _ in parts_of(data)])

    def _shows(self, data: Any) -> bool:
        """Whether an array has what is looked for."""
        return (self.check_nan and has(data, "isnan")) or (self.check_inf and has(data, "isinf"))

    def found(self, data: Any, came: tuple[bool, bool]) -> Found | None:
        """What there is to report in a result; came: whether NaN and inf were in the arguments."""
        for part, tangent in parts_of(data):
            nan = self.check_nan and has(part, "isnan")
            inf = self.check_inf and has(part, "isinf")
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
        came = came_with((core.unwrap(g), saved))
        found = self._watch.found(data, came)
        if found is None:
            if self._clean:  # then it came with g, whose parts all passed, or was saved
                self._look(node, g, SUM)
            self._clean = False
            return
        text = f"backward of {node.name()}: {counted(found, 'a gradient', came)}"
        arguments = [*arrays_in(saved), node.parents[number]]
        raise error_for(node.name(), "backward", text, places.place_of(node), found, arguments)

    def _look(self, node: Any, g: Any, what: str) -> None:
        """At a gradient that is complete: its parts were looked at, the whole was not."""
        found = self._watch.found(core.unwrap(g), (False, False))
        if found is None:
            return
        text = f"backward, before {node.name()}: {counted(found, what)}"
        raise error_for(node.name(), "backward", text, places.place_of(node), found, [node])
