"""Process-wide and per-thread settings: `numen.config`.

Read by dispatch (engine) and by the compiler (threads). `config.engine = ...` sets the process
default; `with config(engine=...)` overrides it for the current thread. dispatch registers a
listener to keep its fast-path limit in step (see `dispatch/modes.py`).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

ENGINES = ("auto", "numpy", "kernels")


class _Local(threading.local):
    engine: str | None = None


class Config:
    """Settings of numen.

    Attributes
    ----------
    engine : {"auto", "numpy", "kernels"}
        What computes eager ops: NumPy for small arrays and compiled kernels for large ones
        ("auto"), NumPy alone, or compiled kernels for every op whose bits they define ("kernels":
        what `jit` equals bit for bit).

    Examples
    --------
    >>> import numen as nm
    >>> with nm.config(engine="kernels"):
    ...     nm.config.engine
    'kernels'
    >>> nm.config.engine
    'auto'
    """

    def __init__(self) -> None:
        self._engine = _checked(os.environ.get("NUMEN_ENGINE", "auto"))
        self._local = _Local()
        self._listeners: list[Callable[[str, bool], None]] = []

    @property
    def engine(self) -> str:
        return self._local.engine or self._engine

    @engine.setter
    def engine(self, value: str) -> None:
        self._engine = _checked(value)
        for listener in self._listeners:
            listener(self._engine, False)

    def on_engine(self, listener: Callable[[str, bool], None]) -> None:
        """Call `listener(engine, per_thread)` now and at each change."""
        self._listeners.append(listener)
        listener(self._engine, False)

    @contextmanager
    def __call__(self, **values: Any) -> Iterator[Config]:
        unknown = set(values) - {"engine"}
        if unknown:
            raise TypeError(f"config: unknown setting {sorted(unknown)}; known: ['engine']")
        before = self._local.engine
        self._local.engine = _checked(values["engine"]) if "engine" in values else before
        for listener in self._listeners:
            listener(self.engine, True)
        try:
            yield self
        finally:
            self._local.engine = before
            for listener in self._listeners:
                listener(self.engine, True)

    def __repr__(self) -> str:
        return f"config(engine={self.engine!r})"


def _checked(engine: str) -> str:
    if engine not in ENGINES:
        raise ValueError(f"config.engine: expected one of {ENGINES}, got {engine!r}")
    return engine


config = Config()
