"""Per-thread modes and the process-wide hint that fast paths test once.

`ACTIVE` counts the reasons, in any thread, why an op must take the general path (a recorder, a
per-thread engine); it may over-report. `LIMIT` is the least number of elements at which the engine
"auto" uses compiled kernels, `CHEAP_LIMIT` the same for rows that NumPy computes as fast as memory
moves. Written by `no_grad`, `tracing` and `numen.config`; read by `core.py`, `primitive.py` and
`backward.py`.
"""

from __future__ import annotations

import functools
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from numen.settings import config

if TYPE_CHECKING:
    from collections.abc import Callable

NEVER = 1 << 62
KERNEL_THRESHOLD = 16_384
"""Least elements an op's operands hold before "auto" runs a compiled kernel
(benchmarks/threshold.py)."""

CHEAP_THRESHOLD = 262_144
"""The same for cheap rows: only a second thread makes them faster."""

QUICK_LIMIT = 8_192
"""Least elements at which a binary op leaves its fast path: the result of two smaller operands,
at most 512 MiB, needs no check against the memory there is."""

ACTIVE: int = 0
QUICK: int = QUICK_LIMIT
LIMIT: int = KERNEL_THRESHOLD
CHEAP_LIMIT: int = CHEAP_THRESHOLD
NO_GRAD: int = 0

_lock = threading.Lock()


class _State(threading.local):
    """What holds for one thread."""

    grad: bool = True
    recorder: Any = None
    special: int = 0
    anomaly: Any = None
    level: int = 0
    levels: tuple[Any, ...] = ()


state = _State()


def enter_special() -> None:
    """Make every op of this thread take the general path until `leave_special`."""
    global ACTIVE
    with _lock:
        ACTIVE += 1
    state.special += 1


def leave_special() -> None:
    global ACTIVE
    with _lock:
        ACTIVE -= 1
    state.special -= 1


def hint(reasons: int = 1) -> None:
    """Add (or take back) reasons why the ops of every thread take the general path."""
    global ACTIVE
    with _lock:
        ACTIVE += reasons


def engine() -> str:
    """The engine that holds for this thread now."""
    return config.engine


def asks_for_rows() -> bool:
    """Whether a recorder or the engine "kernels" holds for this thread, so that rows compute."""
    if ACTIVE and state.special:
        return state.recorder is not None or config.engine == "kernels"
    return LIMIT == 0


def special() -> bool:
    """Whether anything but anomaly mode makes this thread's ops special."""
    return ACTIVE > 0 and state.special > (state.anomaly is not None)


def numpy_alone() -> bool:
    """Whether this thread's engine "numpy" is the one reason for the general path: NumPy's own
    functions then compute what carries no gradient."""
    if state.recorder is not None or state.anomaly is not None:
        return False
    return state.special == ACTIVE and config.engine == "numpy"


def errstate_is_strict() -> bool:
    """Whether NumPy's error state asks for exceptions or callbacks, which only NumPy gives."""
    return any([v not in ("ignore", "warn") for v in np.geterr().values()])


def grad_enabled() -> bool:
    """Whether ops record gradient nodes in this thread."""
    return not NO_GRAD or state.grad


_before: dict[int, list[str]] = {}


def _on_engine(name: str, per_thread: bool) -> None:
    global LIMIT, CHEAP_LIMIT, QUICK
    if not per_thread:
        QUICK = 0 if name == "kernels" else QUICK_LIMIT
        LIMIT = {"auto": KERNEL_THRESHOLD, "numpy": NEVER, "kernels": 0}[name]
        CHEAP_LIMIT = {"auto": CHEAP_THRESHOLD, "numpy": NEVER, "kernels": 0}[name]
        return
    if state.recorder is not None:
        state.recorder.refuse("config(engine=...) inside the traced function")
    # A per-thread engine makes this thread's ops take the general path for as long as it lasts.
    overriding = config._local.engine is not None
    stack = _before.setdefault(threading.get_ident(), [])
    if overriding and not stack:
        stack.append(name)
        enter_special()
    elif not overriding and stack:
        _before.pop(threading.get_ident())
        leave_special()


config.on_engine(_on_engine)


class set_grad_enabled:
    """Context manager (and decorator) that switches the recording of gradients in this thread.

    Examples
    --------
    >>> import numen as nm
    >>> x = nm.array([1.0, 2.0], requires_grad=True)
    >>> with nm.set_grad_enabled(False):
    ...     (x * 2).requires_grad
    False
    """

    def __init__(self, mode: bool) -> None:
        self.mode = bool(mode)
        self._previous: list[bool] = []

    def __enter__(self) -> None:
        global NO_GRAD
        self._previous.append(state.grad)
        with _lock:
            NO_GRAD += 1
        state.grad = self.mode

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        global NO_GRAD
        state.grad = self._previous.pop()
        with _lock:
            NO_GRAD -= 1

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with set_grad_enabled(self.mode):
                return function(*args, **kwargs)

        return wrapped


class no_grad(set_grad_enabled):
    """Record no gradients inside the block; also a decorator.

    Examples
    --------
    >>> import numen as nm
    >>> x = nm.array([1.0, 2.0], requires_grad=True)
    >>> with nm.no_grad():
    ...     (x * 2).requires_grad
    False
    """

    def __init__(self) -> None:
        super().__init__(False)


class enable_grad(set_grad_enabled):
    """Record gradients inside the block, also within `no_grad`."""

    def __init__(self) -> None:
        super().__init__(True)
