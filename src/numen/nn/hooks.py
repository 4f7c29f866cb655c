"""Hooks of modules: what runs before and after `forward`, and when gradients pass.

A module keeps its hooks in tuples of (number, hook, takes keywords), so that adding one is a plain
change of an attribute. `call` is the way of a call with hooks; `module.py` takes it only where
there are any. Backward hooks see gradients through identities put around the module.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from numen.dispatch import core, modes
from numen.dispatch.core import ArrayCore
from numen.dispatch.primitive import Primitive
from numen.errors import GradientError

Hook = Callable[..., Any]

_numbers = count()


class RemovableHandle:
    """What registering a hook returns: `remove()` takes the hook away; also a context manager."""

    def __init__(self, module: Any, place: str, number: int) -> None:
        self._module = weakref.ref(module)
        self._place = place
        self._number = number

    def remove(self) -> None:
        """Take the hook away; a second call does nothing."""
        module = self._module()
        if module is not None:
            kept = [entry for entry in getattr(module, self._place) if entry[0] != self._number]
            setattr(module, self._place, (*kept,))
            module._hooked = any(getattr(module, place) for place in PLACES)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


PLACES = ("_pre_hooks", "_post_hooks", "_backward_pre_hooks", "_backward_hooks")


def register(module: Any, place: str, hook: Hook, keywords: bool, first: bool) -> RemovableHandle:
    """Add a hook to one of a module's tuples.

    Raises
    ------
    TypeError
        If it can't be called.
    """
    if not callable(hook):
        raise TypeError(f"{type(module).__name__}: expected a callable hook, got {hook!r}")
    number = next(_numbers)
    entry = (number, hook, keywords)
    present = getattr(module, place)
    setattr(module, place, (entry, *present) if first else (*present, entry))
    module._hooked = True
    return RemovableHandle(module, place, number)


def call(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """forward between a module's hooks."""
    for _, hook, keywords in module._pre_hooks:
        if keywords:
            changed = hook(module, args, kwargs)
            if changed is not None:
                args, kwargs = changed
            continue
        changed = hook(module, args)
        if changed is not None:
            args = changed if isinstance(changed, tuple) else (changed,)
    watch = None
    if module._backward_pre_hooks or module._backward_hooks:
        if modes.ACTIVE and modes.state.recorder is not None:
            modes.state.recorder.refuse(f"a backward hook of {type(module).__name__}")
        watch = _Watch(module)
        args = watch.inputs(args)
    result = module.forward(*args, **kwargs)
    for _, hook, keywords in module._post_hooks:
        changed = hook(module, args, kwargs, result) if keywords else hook(module, args, result)
        if changed is not None:
            result = changed
    return result if watch is None else watch.outputs(result)


class _Watch:
    """The gradients of one call of a module, collected until its backward hooks can run."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.before: list[Any] = []  # of the outputs
        self.after: list[Any] = []  # of the inputs
        self.missing = 0  # inputs whose gradients have not come yet
        self.waits = False  # whether there are any such inputs

    def inputs(self, args: Sequence[Any]) -> tuple[Any, ...]:
        self.after = [None] * len(args)
        watched = list(args)
        if modes.grad_enabled():
            for i, a in enumerate(args):
                if isinstance(a, ArrayCore) and a._n is not None:
                    self.missing += 1
                    self.waits = True
                    watched[i] = _identity(a, functools.partial(self._input, i))
        return tuple(watched)

    def outputs(self, result: Any) -> Any:
        several = isinstance(result, (tuple, list))
        values = list(result) if several else [result]
        self.before = [None] * len(values)
        for i, y in enumerate(values):
            if isinstance(y, ArrayCore) and y._n is not None:
                values[i] = _identity(y, functools.partial(self._output, i))
        return type(result)(values) if several else values[0]

    def _output(self, i: int, g: Any) -> Any:
        self.before[i] = g
        for _, hook, _ in self.module._backward_pre_hooks:
            changed = hook(self.module, tuple(self.before))
            if changed is not None:
                self.before[:] = changed if isinstance(changed, tuple) else (changed,)
        if not self.waits:
            self._run()
        return self.before[i]

    def _input(self, i: int, g: Any) -> Any:
        self.after[i] = g
        self.missing -= 1
        if not self.missing:
            self._run()
        return self.after[i]

    def _run(self) -> None:
        for _, hook, _ in self.module._backward_hooks:
            changed = hook(self.module, tuple(self.after), tuple(self.before))
            if changed is None:
                continue
            if len([g for g in self.after if g is not None]) != 1:
                raise GradientError(
                    f"backward hook of {type(self.module).__name__}: gradients can be replaced "
                    "where one input has one; return None here"
                )
            self.after[:] = changed if isinstance(changed, tuple) else (changed,)


def _identity(x: Any, seen: Callable[[Any], Any]) -> Any:
    """x, whose cotangent goes through `seen` on its way back; in memory of its own, so that a write
    in place concerns one of the two."""

    def vjp(needs: Sequence[bool], g: Any, out: Any, a: Any) -> tuple[Any, ...]:
        if isinstance(g, ArrayCore):
            return (seen(g),)
        return (core.unwrap(seen(core.wrap(g))),)

    row = Primitive("backward_hook", lambda a: a, vjp=vjp)
    if x._v is core.SCALAR:
        result = core.ARRAY(x._d, None, x._v)
    else:
        result = core.ARRAY(x._d.copy())
    result._n = row.node((x,), (x._n,), {}, x._d)
    return result
