"""Methods shown as NumPy shows them: its signatures for `inspect.signature`.

`show_as_numpy` is called once by `array.py` with the class Array. Annotations are for type checkers
alone: without them most methods already have NumPy's signature. Next: `methods.py`.
"""

from __future__ import annotations

import inspect
from inspect import Parameter
from typing import Any

import numpy as np

_SELF = [Parameter("self", Parameter.POSITIONAL_ONLY)]


def _shown(
    rest: str | None = None,
    more: dict[str, Any] | None = None,
    first: tuple[str, ...] = (),
    /,
    **named: Any,
) -> inspect.Signature:
    """A method's signature: self and `first` by position, named ones, keywords alone, `**rest`."""
    either = Parameter.POSITIONAL_OR_KEYWORD
    parameters = [Parameter(n, Parameter.POSITIONAL_ONLY) for n in first]
    parameters += [Parameter(n, either, default=d) for n, d in named.items()]
    only = (more or {}).items()
    parameters += [Parameter(n, Parameter.KEYWORD_ONLY, default=d) for n, d in only]
    if rest is not None:
        parameters.append(Parameter(rest, Parameter.VAR_KEYWORD))
    return inspect.Signature(_SELF + parameters)


_EXTREME = _shown("kwargs", axis=None, out=None)
_TOTAL = _shown("kwargs", axis=None, dtype=None, out=None)
_SPREAD = _shown("kwargs", axis=None, dtype=None, out=None, ddof=0)
_ANYTHING = inspect.Signature(
    [
        *_SELF,
        Parameter("args", Parameter.VAR_POSITIONAL),
        Parameter("kwargs", Parameter.VAR_KEYWORD),
    ]
)
_PARTITION = _shown(None, None, ("kth",), axis=-1, kind="introselect", order=None)
_TEST = _shown(None, {"where": True}, axis=None, out=None, keepdims=False)

DIFFERENT = {
    "all": _TEST, "any": _TEST, "max": _EXTREME, "min": _EXTREME, "sum": _TOTAL, "prod": _TOTAL,
    "mean": _TOTAL, "std": _SPREAD, "var": _SPREAD, "conj": _shown(),
    "choose": _shown(None, None, choices=Parameter.empty, out=None, mode="raise"),
    "setflags": _shown(None, {"write": None, "align": None, "uic": None}),
    "view": _ANYTHING, "partition": _PARTITION, "argpartition": _PARTITION,
    "dot": _shown(None, None, ("other",), out=None),
    "repeat": _shown(None, None, ("repeats",), axis=None),
    "take": _shown(None, None, ("indices",), axis=None, out=None, mode="raise"),
    "put": _shown(None, None, ("indices", "values"), mode="raise"),
    "searchsorted": _shown(None, None, ("v",), side="left", sorter=None),
    "setfield": _shown(None, None, ("val",), dtype=Parameter.empty, offset=0),
    "tofile": _shown(None, None, ("fid",), sep="", format="%s"),
}  # fmt: skip
"""Methods that name parameters where NumPy shows `**kwargs`, or take more than NumPy shows,
such as keywords for what it shows as positional."""

_SPECIAL = (
    "__array__", "__array_function__", "__array_namespace__", "__array_ufunc__", "__copy__",
    "__deepcopy__", "__dlpack__", "__dlpack_device__", "__format__", "__reduce__", "__setstate__",
)  # fmt: skip


def show_as_numpy(cls: type) -> None:
    """Give the methods of a class the signatures of ndarray's methods of the same name."""
    for base in cls.__mro__:
        for name, value in vars(base).items():
            shown = not name.startswith("_") or name in _SPECIAL
            if shown and inspect.isfunction(value) and hasattr(np.ndarray, name):
                value.__annotations__ = {}
    for name, signature in DIFFERENT.items():
        getattr(cls, name).__signature__ = signature
